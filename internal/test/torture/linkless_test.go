//go:build unix

package torture

import (
	"hash/fnv"
	"io"
	"math/rand/v2"

	"github.com/depositpay/depositpay-go/mockserver"
)

// paysWithout is a function of the seed and the order: three in four pay all the same.
func (k *customers) paysWithout(identifier string) bool {
	sum := fnv.New64a()
	_, _ = io.WriteString(sum, identifier) // it never fails
	return rand.New(rand.NewPCG(k.c.seed, sum.Sum64())).IntN(4) != 0
}

// payWithout pays orders whose link did not arrive: the service has made the payment, and
// the merchant may not know its id. Some of them, and at the end all that are left or never.
func (k *customers) payWithout(last bool) {
	k.mu.Lock()
	missing := k.without
	k.without = map[string]bool{}
	k.mu.Unlock()
	for _, p := range k.c.service.Payments() {
		if p.GameProduct != "" || !missing[p.Identifier] {
			continue
		}
		delete(missing, p.Identifier)
		if p.Status == mockserver.StatusCreated && k.paysWithout(p.Identifier) {
			k.count("paid without a link")
			k.deposit(p.ID, mockserver.Deposit{})
		}
	}
	if last {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for identifier := range missing { // a slow merchant may make it yet
		k.without[identifier] = true
	}
}
