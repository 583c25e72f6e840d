//go:build unix

package torture

import (
	"github.com/depositpay/depositpay-go/mockserver"
)

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
		if p.Status == mockserver.StatusCreated && p.ID[0]%4 != 0 {
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
