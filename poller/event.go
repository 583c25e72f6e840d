package poller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/depositpay/depositpay-go/internal/safecall"
	"github.com/depositpay/depositpay-go/payments"
)

// Kind says what an Event is about.
type Kind string

// Kinds of events.
const (
	// KindReceived: a poll returned Payment, which goes to the Sink next.
	KindReceived Kind = "received"
	// KindHandedOver: the Sink has taken Payment.
	KindHandedOver Kind = "handed_over"
	// KindSinkFailed: the Sink has not taken Payment; Err says why. Payment waits, and is
	// offered again after Wait (0 while Run is stopping).
	KindSinkFailed Kind = "sink_failed"
	// KindAmbiguous: a response may have been lost, and a payment with it. Err is the
	// error of the poll, usually a *payments.Error with the bytes that arrived in Raw.
	KindAmbiguous Kind = "ambiguous"
	// KindUnverified: a poll returned Payment with a status that is not COMPLETE. It is
	// not given to the Sink, and the Poller does not keep it.
	KindUnverified Kind = "unverified"
	// KindError: a poll failed without taking a payment.
	KindError Kind = "error"
	// KindTokenRefused: the service refused the API token, or a gateway in front of it
	// answered 401, or payments.Config.TokenSource gave none (payments.ErrTokenSource).
	// Nothing was taken. Run polls again after Wait, BackoffMax, unless
	// Config.StopOnTokenRefused is set and Err is payments.ErrTokenRefused (Wait is 0 then).
	// Every such poll is an event.
	KindTokenRefused Kind = "token_refused"
	// KindTokenAccepted: the service accepts a token again, after KindTokenRefused.
	KindTokenAccepted Kind = "token_accepted"
	// KindPendingFull: MaxPending payments wait for the Sink, so polling stops.
	KindPendingFull Kind = "pending_full"
	// KindSinkDown: the Ledger cannot take a payment now. Nothing is polled until it can; Err
	// says why.
	KindSinkDown Kind = "sink_down"
	// KindResumed: there is room again, and polling goes on.
	KindResumed Kind = "resumed"
	// KindUnhanded: Run returns and the Sink has not taken Payment. It is in Run's error.
	KindUnhanded Kind = "unhanded"
)

// Event is something that happened to a Poller.
type Event struct {
	Kind Kind
	// Payment is the payment it is about; the zero Payment for KindAmbiguous, KindError,
	// KindTokenRefused, KindTokenAccepted, KindPendingFull and KindResumed.
	Payment payments.Payment
	// Err is the cause; nil for KindReceived, KindHandedOver, KindTokenAccepted,
	// KindPendingFull, KindResumed.
	Err error
	// Attempt is how often Payment was offered to the Sink, from 1; 0 for other events.
	Attempt int
	// Wait is the time until the next poll (KindAmbiguous, KindUnverified, KindError,
	// KindTokenRefused, KindSinkDown) or the next offer to the Sink (KindSinkFailed).
	Wait time.Duration
	// Pending is how many payments wait for the Sink.
	Pending int
}

// emit logs the event and calls the hook. A panic of the hook is contained.
func (r *run) emit(ctx context.Context, e Event) {
	e.Pending = len(r.pending)
	r.log(ctx, e)
	if r.cfg.OnEvent == nil {
		return
	}
	if err := safecall.Do("poller: Config.OnEvent", func() error { r.cfg.OnEvent(e); return nil }); err != nil {
		r.cfg.Logger.LogAttrs(ctx, slog.LevelError, "depositpay: poller hook failed", safecall.Attrs(err)...)
	}
}

func (r *run) log(ctx context.Context, e Event) {
	level := slog.LevelDebug
	switch e.Kind {
	case KindUnverified, KindUnhanded:
		level = slog.LevelError
	case KindAmbiguous:
		level = slog.LevelError
		if r.cfg.Ledger != nil { // it records the loss, looks for the payment, and reports an open loss
			level = slog.LevelWarn
		}
	case KindSinkFailed, KindSinkDown, KindError, KindPendingFull:
		level = slog.LevelWarn
	case KindTokenRefused:
		level = r.refusal.level()
	case KindTokenAccepted:
		level = slog.LevelInfo
	case KindReceived, KindHandedOver, KindResumed:
	}
	if !r.cfg.Logger.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{slog.String("kind", string(e.Kind)), slog.Int("pending", e.Pending)}
	switch e.Kind {
	case KindUnverified, KindUnhanded: // the log may be the only trace of the payment
		attrs = append(attrs, slog.String("identifier", e.Payment.Identifier),
			slog.String("status", string(e.Payment.Status)), slog.String("method", string(e.Payment.Method)),
			slog.String("paid_amount", e.Payment.PaidAmount.String()), slog.Time("verified_ts", e.Payment.VerifiedAt))
		fallthrough
	case KindReceived, KindHandedOver, KindSinkFailed:
		attrs = append(attrs, slog.String("payment_id", e.Payment.ID.String()))
	case KindAmbiguous:
		attrs = append(attrs, rawAttrs(e.Err)...)
	case KindTokenRefused, KindTokenAccepted:
		attrs = append(attrs, slog.Time("refused_since", r.refusal.since))
	case KindError, KindSinkDown, KindPendingFull, KindResumed:
	}
	if e.Attempt > 0 {
		attrs = append(attrs, slog.Int("attempt", e.Attempt))
	}
	if e.Wait > 0 {
		attrs = append(attrs, slog.Duration("wait", e.Wait))
	}
	r.cfg.Logger.LogAttrs(ctx, level, "depositpay: poller", append(attrs, safecall.Attrs(e.Err)...)...)
}

const (
	maxLoggedRaw  = 2 << 10
	maxLoggedPage = 200 // of a response that holds no part of a record
)

func rawAttrs(err error) []slog.Attr {
	e, ok := errors.AsType[*payments.Error](err)
	if !ok || len(e.Raw) == 0 {
		return nil
	}
	limit := maxLoggedPage
	if e.MayHoldRecord() {
		limit = maxLoggedRaw
	}
	return []slog.Attr{slog.String("raw", fmt.Sprintf("%q", e.Raw[:min(len(e.Raw), limit)]))}
}
