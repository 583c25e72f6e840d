package webhook

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/internal/api"
	"github.com/depositpay/depositpay-go/internal/safecall"
)

// Outcome is how a delivery ended.
type Outcome string

// Outcomes, with the status that answers them.
const (
	OutcomeAccepted    Outcome = "accepted"    // 200: confirmed and handed over by this delivery
	OutcomeRepeated    Outcome = "repeated"    // 200: stored before, or by another delivery at the same time
	OutcomeForbidden   Outcome = "forbidden"   // 403, 404: source or path secret
	OutcomeMalformed   Outcome = "malformed"   // 400, 405, 408, 413, 415
	OutcomeLimited     Outcome = "limited"     // 429: MaxConcurrent, ConfirmRate, RefusedInterval or ErrFull
	OutcomeUnconfirmed Outcome = "unconfirmed" // 429: unknown, not paid, or the service failed
	OutcomeSinkFailed  Outcome = "sink_failed" // 503: a method of the Sink failed
	// OutcomeAmbiguous: the response to the confirm was lost or unreadable, so the payment may
	// be complete. 429, or 503 if the id could not be recorded.
	OutcomeAmbiguous Outcome = "ambiguous"
	// OutcomeTimeout: the budget ended during the confirm (429) or in the Sink (503).
	OutcomeTimeout Outcome = "timeout"
)

// Event is one request to the Handler.
type Event struct {
	// PaymentID is the payment_id; uuid.Nil if the request was rejected before it was read.
	// Until it is confirmed it is only what the sender claims.
	PaymentID uuid.UUID
	// WebhookID is the X-Webhook-ID header (interface §6.2): at most 128 characters of
	// printable ASCII, others replaced by "?"; empty if absent.
	WebhookID string
	// RetryCount is the X-Retry-Count header, which counts from 0; -1 if it is absent or
	// not a small whole number.
	RetryCount int
	// Source is the address that the request came from, as Config.TrustedProxies defines it;
	// the zero Addr if it has none.
	Source netip.Addr
	// Status is the HTTP status of the answer.
	Status int
	// Outcome is how the delivery ended.
	Outcome Outcome
	// Duration is the time from the request's header to the answer.
	Duration time.Duration
	// Err is the cause if Outcome is neither accepted nor repeated; nil otherwise. The
	// sender does not see it.
	Err error
}

const (
	maxHeaderValue = 128
	maxRetryDigits = 6
)

func newEvent(header http.Header) Event {
	return Event{
		WebhookID:  printable(header.Get("X-Webhook-ID")),
		RetryCount: retryCount(header.Get("X-Retry-Count")),
	}
}

// printable bounds s, which comes from the sender, and makes it harmless in a log.
func printable(s string) string {
	s = s[:min(len(s), maxHeaderValue)]
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}

func retryCount(s string) int {
	if len(s) > maxRetryDigits || strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' }) {
		return -1
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// report logs the event and calls the hook. The answer has been sent by now.
func (h *Handler) report(ctx context.Context, e Event) {
	h.log(ctx, e)
	if h.cfg.OnDelivery == nil {
		return
	}
	if err := safecall.Do("webhook: Config.OnDelivery", func() error { h.cfg.OnDelivery(e); return nil }); err != nil {
		h.cfg.Logger.LogAttrs(ctx, slog.LevelError, "depositpay: webhook hook failed", safecall.Attrs(err)...)
	}
}

func (h *Handler) log(ctx context.Context, e Event) {
	level := slog.LevelDebug
	switch e.Outcome {
	case OutcomeSinkFailed:
		level = slog.LevelError
	case OutcomeAmbiguous:
		level = slog.LevelError
		if h.cfg.Ledger != nil && e.Status != http.StatusServiceUnavailable { // it confirms the recorded id again
			level = slog.LevelWarn
		}
	case OutcomeTimeout:
		level = slog.LevelWarn
	case OutcomeAccepted, OutcomeRepeated, OutcomeForbidden, OutcomeMalformed, OutcomeLimited, OutcomeUnconfirmed:
		// Strangers can cause these at any rate.
	}
	if api.TokenFails(e.Err) { // nothing is confirmed meanwhile
		h.tokenFails.Do(func() { level = slog.LevelError })
	}
	if !h.cfg.Logger.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("outcome", string(e.Outcome)),
		slog.Int("status", e.Status),
		slog.String("payment_id", e.PaymentID.String()),
		slog.String("webhook_id", e.WebhookID),
		slog.Int("retry_count", e.RetryCount),
		slog.String("source", e.Source.String()),
		slog.Duration("took", e.Duration),
	}
	h.cfg.Logger.LogAttrs(ctx, level, "depositpay: webhook", append(attrs, safecall.Attrs(e.Err)...)...)
}
