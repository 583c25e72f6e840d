//go:build unix

package torture

import (
	"bytes"
	"math/rand/v2"

	"github.com/depositpay/depositpay-go/inbox"
)

// What anybody can do who knows the webhook URI.

// flood repeats the webhook of a payment that was made before.
func (k *customers) flood(r *rand.Rand, times int) {
	k.mu.Lock()
	id := ""
	if len(k.paid) > 0 {
		id = k.paid[r.IntN(len(k.paid))]
	}
	k.mu.Unlock()
	for range times {
		k.count("repeated webhooks")
		k.post(id)
	}
}

func (k *customers) forge(id string, times int) {
	if !k.c.profile.uses(inbox.ChannelWebhook) {
		return // there is no URI to know
	}
	for range times {
		k.count("forged, before the payment")
		k.post(id)
	}
}

// post sends a webhook as anybody can. What becomes of it is the merchant's affair.
func (k *customers) post(id string) {
	response, err := k.merchant.Post(hookURL, "application/json", bytes.NewReader([]byte(`{"payment_id":"`+id+`"}`)))
	if err == nil {
		_ = response.Body.Close()
	}
}

// seeded makes a random source readable.
type seeded struct{ r *rand.Rand }

func (s *seeded) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(s.r.Uint32())
	}
	return len(p), nil
}
