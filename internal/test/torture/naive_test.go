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

// receiver is the webhook handler, unless the merchant believes what it is told.
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

// source is where payments are polled from.
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
	default: // right, or wrong elsewhere
		return c.client
	}
}

// quieter polls on after every second lost answer, as if nothing had been.
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

// dropper loses every second payment that it gets, and has an excuse.
type dropper struct {
	client *payments.Client
	got    int
}

func (d *dropper) Next(context.Context) (payments.Payment, error) {
	p, err := d.client.Next(context.Background()) // and not the context that has the journal
	if err == nil {
		if d.got++; d.got%2 == 0 {
			return payments.Payment{}, payments.ErrAmbiguous
		}
	}
	return p, err
}

// crier finds nothing, and says that it may have been something.
type crier struct{ client *payments.Client }

func (n *crier) Next(ctx context.Context) (payments.Payment, error) {
	p, err := n.client.Next(ctx)
	if errors.Is(err, payments.ErrNoProcessedPayment) {
		err = payments.ErrAmbiguous
	}
	return p, err
}

// naive polls as many do: any failure is a reason to ask again.
type naive struct{ plain }

func (n *naive) Next(ctx context.Context) (payments.Payment, error) {
	for {
		p, err := n.plain.Next(ctx)
		if !errors.Is(err, payments.ErrAmbiguous) || ctx.Err() != nil {
			return p, err
		}
	}
}

// plain polls with Go's own client. It tells of all that fails, but a GET whose connection
// breaks before the first byte of the answer is sent again by the transport.
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
