//go:build unix

package torture

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/mockserver"
)

// customers are everyone except the merchant: buyers, payers and forgers.
type customers struct {
	c        *campaign
	products []mockserver.Product
	users    []mockserver.StoreUser
	merchant *http.Client

	mu      sync.Mutex
	paid    []string        // the last ones, whose webhooks are repeated
	without map[string]bool // identifiers of orders whose link did not arrive
	counts  map[string]int  // of what they did
}

const price = 1000 // and twice and three times as much

func newCustomers(c *campaign) (*customers, error) {
	k := &customers{c: c, without: map[string]bool{}, counts: map[string]int{},
		merchant: &http.Client{Transport: c.toMerchants(), Timeout: 3 * time.Second}}
	for i, name := range []string{"Sword", "Shield"} {
		product, err := c.service.SaveProduct(mockserver.Product{Name: name, Price: priceOf(i)})
		if err != nil {
			return nil, err
		}
		user, err := c.service.SaveStoreUser(mockserver.StoreUser{Name: "Kim " + name})
		if err != nil {
			return nil, err
		}
		k.products, k.users = append(k.products, product), append(k.users, user)
	}
	return k, nil
}

func priceOf(i int) int64 { return price * int64(1+i%3) }

// catalogue returns the products of the store.
func (k *customers) catalogue() map[string]int64 {
	all := map[string]int64{}
	for _, p := range k.products {
		all[p.ID] = p.Price
	}
	return all
}

// run starts customers at the profile's rate until ctx ends, and waits for them.
func (k *customers) run(ctx context.Context) {
	next := make(chan int)
	var all sync.WaitGroup
	for range 48 {
		all.Go(func() {
			for i := range next {
				k.one(i)
			}
		})
	}
	pace := time.NewTicker(time.Second / time.Duration(k.c.profile.Rate))
	defer pace.Stop()
	look := time.NewTicker(5 * time.Second)
	defer look.Stop()
	for i := 0; ctx.Err() == nil; {
		select {
		case <-pace.C:
			select {
			case next <- i:
				i++
			default: // all are busy with a merchant who does not answer
			}
		case <-look.C:
			k.payWithout(false)
		case <-ctx.Done():
		}
	}
	close(next)
	all.Wait()
}

func (k *customers) count(what string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.counts[what]++
}

// one runs customer i: a function of the seed, of i, and of what other customers have made
// public so far.
func (k *customers) one(i int) {
	r := rand.New(rand.NewPCG(k.c.seed, 1<<32+uint64(i)))
	n := r.IntN(1000)
	store := n < 280 && !k.c.profile.OnlyCreated
	id, due := k.begin(i, store)
	if id == "" {
		return
	}
	switch d := r.IntN(100); {
	case d < k.c.profile.Forged:
		k.forge(id, 2) // before it is paid, to have the merchant hear a "no"
		<-time.After(time.Duration(r.IntN(300)) * time.Millisecond)
		k.deposit(id, mockserver.Deposit{})
	case d < 4:
		k.forge(id, 1) // and never paid
		k.count("not paid")
		return
	case d < 4+k.c.profile.Half:
		k.deposit(id, mockserver.Deposit{Amount: due / 2})
	case d < 7:
		k.deposit(id, mockserver.Deposit{Failed: true})
	case d < 22:
		k.checkout(id, i, due)
	default:
		k.deposit(id, mockserver.Deposit{})
	}
	switch d := r.IntN(100); {
	case !k.c.profile.uses(inbox.ChannelWebhook):
	case d < 6:
		k.flood(r, 2+r.IntN(8))
	case d < 8:
		k.count("forged, of no payment")
		k.post(uuid.Must(uuid.NewRandomFromReader(&seeded{r})).String())
	}
}

// begin creates a payment and returns its id (or "" if the customer got no link) and the
// amount due.
func (k *customers) begin(i int, store bool) (id string, due int64) {
	if store {
		p, err := k.c.service.Buy(k.products[i%2].ID, k.users[i/2%2].ID)
		k.c.check(err)
		return p.ID, p.Amount
	}
	identifier := fmt.Sprint("order-", i)
	id, err := k.order(identifier, priceOf(i))
	if err != nil {
		k.mu.Lock()
		k.without[identifier] = true
		k.mu.Unlock()
		k.count("no link")
		return "", 0
	}
	return id, priceOf(i)
}

// order creates a payment through a merchant.
func (k *customers) order(identifier string, due int64) (string, error) {
	ask, err := json.Marshal(map[string]any{"Identifier": identifier, "Amount": due})
	if err != nil {
		return "", err
	}
	response, err := k.merchant.Post("http://127.0.0.1:9/order", "application/json", bytes.NewReader(ask))
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	id, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("HTTP %d: %s", response.StatusCode, id)
	}
	if err == nil {
		k.c.told.add(string(id), "the link of an order", nil)
	}
	return string(id), err
}

func (k *customers) deposit(id string, d mockserver.Deposit) {
	_, err := k.c.service.Deposit(id, d)
	k.c.check(err)
	k.c.waits.paid(id)
	k.remember(id)
}

// checkout pays like most customers: a name on the checkout page, then a transfer that the
// phone reports.
func (k *customers) checkout(id string, i int, due int64) {
	name := fmt.Sprint("P", i)
	_, err := k.c.service.GivePayer(id, name, 0)
	k.c.check(err)
	_, err = k.c.service.SendNotification("com.kbstar.kbbank", name, due)
	k.c.check(err)
	k.count("paid at the checkout page")
	k.c.waits.paid(id)
	k.remember(id)
}

const remembered = 300

func (k *customers) remember(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.paid = append(k.paid, id); len(k.paid) > 2*remembered {
		k.paid = append([]string(nil), k.paid[remembered:]...)
	}
}

// The rest needs nothing but the webhook URI.

// flood repeats the webhook of an earlier payment.
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

// post sends a webhook that anybody could send, and ignores the response.
func (k *customers) post(id string) {
	response, err := k.merchant.Post(hookURL, "application/json", bytes.NewReader([]byte(`{"payment_id":"`+id+`"}`)))
	if err == nil {
		_ = response.Body.Close()
	}
}

// seeded is a random source as an io.Reader.
type seeded struct{ r *rand.Rand }

func (s *seeded) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(s.r.Uint32())
	}
	return len(p), nil
}

// paysWithout reports whether a customer pays without a link: three in four do, decided by
// the seed and the order.
func (k *customers) paysWithout(identifier string) bool {
	sum := fnv.New64a()
	_, _ = io.WriteString(sum, identifier) // it never fails
	return rand.New(rand.NewPCG(k.c.seed, sum.Sum64())).IntN(4) != 0
}

// payWithout pays orders whose link did not arrive: the service has created the payment, and
// the merchant may not know its id. With last, all remaining ones are paid or dropped.
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
