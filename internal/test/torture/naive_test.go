//go:build unix

package torture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
)

// receiver returns the webhook handler, unless a mutant replaces it.
func (c *shop) receiver(hook http.Handler) http.Handler {
	if c.Mutant == deaf {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "not now", http.StatusServiceUnavailable)
		})
	}
	if c.Mutant != believer {
		return hook
	}
	var mu sync.Mutex
	granted := map[string]bool{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var ask struct {
			ID string `json:"payment_id"`
		}
		if err != nil || json.Unmarshal(body, &ask) != nil {
			http.Error(w, "unreadable", http.StatusBadRequest)
			return
		}
		mu.Lock()
		id, err := uuid.Parse(ask.ID)
		if err == nil && !granted[ask.ID] && c.effect(r.Context(), c.ledger, payments.Payment{ID: id}) == nil {
			granted[ask.ID] = true
		}
		mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		hook.ServeHTTP(w, r)
	})
}

// source returns the client that the poller uses, unless a mutant replaces it.
func (c *shop) source() poller.Source {
	switch c.Mutant {
	case again:
		return &naive{plain{c}}
	case hushing:
		return &quieter{client: c.client}
	case careless:
		return &dropper{client: c.client}
	case replaying:
		return &plain{c}
	case timid:
		return &crier{client: c.client}
	default: // correct, or broken elsewhere
		return c.client
	}
}

// quieter ignores every second lost response and polls again.
type quieter struct {
	client *payments.Client
	lost   int
}

func (q *quieter) Next(ctx context.Context) (payments.Payment, error) {
	for {
		p, err := q.client.Next(ctx)
		if errors.Is(err, payments.ErrAmbiguous) {
			if q.lost++; q.lost%2 == 1 && ctx.Err() == nil {
				continue
			}
		}
		return p, err
	}
}

// dropper drops every second payment and reports its response as lost.
type dropper struct {
	client *payments.Client
	got    int
}

func (d *dropper) Next(context.Context) (payments.Payment, error) {
	p, err := d.client.Next(context.Background()) // not ctx: it carries the journal
	if err == nil {
		if d.got++; d.got%2 == 0 {
			return payments.Payment{}, payments.ErrAmbiguous
		}
	}
	return p, err
}

// crier reports every empty poll as a possible loss.
type crier struct{ client *payments.Client }

func (n *crier) Next(ctx context.Context) (payments.Payment, error) {
	p, err := n.client.Next(ctx)
	if errors.Is(err, payments.ErrNoProcessedPayment) {
		err = payments.ErrAmbiguous
	}
	return p, err
}

// naive retries a poll after any failure, as many programs do.
type naive struct{ plain }

func (n *naive) Next(ctx context.Context) (payments.Payment, error) {
	for {
		p, err := n.plain.Next(ctx)
		if !errors.Is(err, payments.ErrAmbiguous) || ctx.Err() != nil {
			return p, err
		}
	}
}

// plain polls with net/http alone. It reports every failure, but the transport re-sends a GET
// whose connection breaks before the first byte of the response.
type plain struct{ shop *shop }

func (n *plain) Next(ctx context.Context) (payments.Payment, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, n.shop.Service+"/callback/rest?token="+n.shop.Token, nil)
	if err != nil {
		return payments.Payment{}, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return payments.Payment{}, errors.Join(payments.ErrAmbiguous, err)
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if strings.Contains(string(body), "NO_PROCESSED_PAYMENT") {
		return payments.Payment{}, payments.ErrNoProcessedPayment
	}
	p, decodeErr := n.shop.client.Decode(body)
	if err != nil || decodeErr != nil || p.ID == uuid.Nil {
		return payments.Payment{}, errors.Join(payments.ErrAmbiguous, err, decodeErr)
	}
	return p, nil
}
