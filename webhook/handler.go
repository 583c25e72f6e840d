package webhook

import (
	"context"
	"errors"
	"math"
	"net/http"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"
)

// Handler is the http.Handler of the webhook URI. It is safe for concurrent use. Its
// goroutines end with the deliveries in progress; see Wait.
type Handler struct {
	cfg     Config
	secrets secretHashes
	sources sources

	ledger                    Ledger // Config.Ledger, or a sinkLedger of Config.Sink
	stateMethod, acceptMethod string // for errors

	confirmLimit *rate.Limiter // nil: no limit
	inflight     inflight
	refused      *refusals
	tokenFails   rate.Sometimes // at error level
}

// New checks cfg and returns a Handler. It sends nothing and starts nothing. The error
// names the field.
func New(cfg Config) (*Handler, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	h := &Handler{
		cfg:     cfg,
		secrets: hashSecrets(cfg.PathSecrets),
		sources: sources{allowed: plainPrefixes(cfg.AllowedSources), proxies: plainPrefixes(cfg.TrustedProxies)},

		ledger: cfg.Ledger, stateMethod: "Ledger.State", acceptMethod: "Ledger.Accept",

		inflight:   inflight{max: cfg.MaxConcurrent, calls: make(map[uuid.UUID]*call)},
		refused:    newRefusals(cfg.RefusedInterval),
		tokenFails: rate.Sometimes{Interval: time.Hour},
	}
	h.cfg.PathSecrets = nil
	if cfg.Sink != nil {
		h.ledger, h.stateMethod, h.acceptMethod = sinkLedger{cfg.Sink}, "Sink.Handled", "Sink.Accept"
	}
	if cfg.ConfirmRate > 0 && !math.IsInf(cfg.ConfirmRate, 1) {
		h.confirmLimit = rate.NewLimiter(rate.Limit(cfg.ConfirmRate), cfg.ConfirmBurst)
	}
	return h, nil
}

// ServeHTTP receives one delivery (interface §6.1) and answers it within
// Config.Budget; the package documentation lists the answers. The work goes on if the
// sender hangs up.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), h.cfg.Budget)
	// When ServeHTTP returns the work is done or the budget is over.
	defer cancel()
	e := newEvent(r.Header)
	a := h.admit(r, &e)
	if a.status == 0 {
		a = h.receive(ctx, w, r, &e)
	}
	a.write(w, r)
	e.Status, e.Outcome, e.Err, e.Duration = a.status, a.outcome, a.err, time.Since(began)
	h.report(ctx, e)
}

var (
	errSource      = errors.New("webhook: the source is not in Config.AllowedSources")
	errPath        = errors.New("webhook: the path has none of Config.PathSecrets")
	errMethod      = errors.New("webhook: the method is not POST")
	errContentType = errors.New("webhook: the content type is not application/json")
)

// admit checks everything but the body. The source comes first, so that strangers cannot
// guess path secrets.
func (h *Handler) admit(r *http.Request, e *Event) answer {
	var allowed bool
	e.Source, allowed = h.sources.of(r)
	switch {
	case !allowed:
		return answer{http.StatusForbidden, OutcomeForbidden, errSource}
	case !h.secrets.match(r.URL.Path):
		return answer{http.StatusNotFound, OutcomeForbidden, errPath}
	case r.Method != http.MethodPost:
		return answer{http.StatusMethodNotAllowed, OutcomeMalformed, errMethod}
	case !isJSON(r.Header):
		return answer{http.StatusUnsupportedMediaType, OutcomeMalformed, errContentType}
	}
	return answer{}
}

// receive reads the body and processes the payment that it names.
func (h *Handler) receive(ctx context.Context, w http.ResponseWriter, r *http.Request, e *Event) answer {
	body, err := readBody(ctx, w, r)
	switch {
	case errors.Is(err, errTooLarge):
		return answer{http.StatusRequestEntityTooLarge, OutcomeMalformed, err}
	case errors.Is(err, errSlow):
		return answer{http.StatusRequestTimeout, OutcomeMalformed, err}
	case err != nil:
		return answer{http.StatusBadRequest, OutcomeMalformed, err}
	}
	id, err := parseBody(body, h.cfg.Strict)
	if err != nil {
		return answer{http.StatusBadRequest, OutcomeMalformed, err}
	}
	e.PaymentID = id
	return h.deliver(ctx, id)
}
