//go:build unix

package torture

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/depositpay/depositpay-go/mockserver"
)

// poll is a call of GET /callback/rest as the service saw it.
type poll struct {
	n       int
	at      time.Time // when it came
	payment string    // that it completed; "" if none
	whole   bool      // the answer was sent as the service made it
	fault   string    // that struck it

	logged bool
}

func (p poll) String() string {
	return fmt.Sprintf("poll %d at %s (fault %q)", p.n, p.at.UTC().Format("15:04:05.000"), p.fault)
}

// witness stands at the service's door and knows all polls and what became of their
// answers, so that what the merchants say of them can be held against something. A poll
// gets a number as a parameter, by which the service's log tells it from the others.
type witness struct {
	service http.Handler
	mu      sync.Mutex
	polls   []poll
}

func (w *witness) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	if r.URL.Path == pollPath {
		w.mu.Lock()
		n := len(w.polls)
		w.polls = append(w.polls, poll{n: n, at: time.Now()})
		w.mu.Unlock()
		r.URL.RawQuery += "&" + pollParameter + "=" + strconv.Itoa(n)
	}
	w.service.ServeHTTP(to, r)
}

const (
	pollPath      = "/callback/rest"
	pollParameter = "poll"
)

// read takes what the service's log has of polls. The log forgets: read it often.
func (w *witness) read(log []mockserver.Request) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range log {
		if r.Path != pollPath {
			continue
		}
		query, err := url.ParseQuery(r.Query)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(query.Get(pollParameter))
		if err != nil {
			return fmt.Errorf("a poll past the witness: %q", r.Query)
		}
		p := &w.polls[n]
		if p.logged {
			continue
		}
		p.logged, p.fault = true, r.Fault
		p.whole = r.Fault == "" || r.Status != 0 && r.SentStatus == r.Status && r.Sent == r.Response
		var record struct {
			ID string `json:"id"`
		}
		if json.Unmarshal([]byte(r.Response), &record) == nil {
			p.payment = record.ID
		}
	}
	return nil
}

func (w *witness) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.polls)
}

// first are the first n polls, in the order in which they came, without a last one that is
// under way. One that the log forgot before it was read is an error.
func (w *witness) first(n int) ([]poll, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	polls := slices.Clone(w.polls[:n])
	if n > 0 && !polls[n-1].logged {
		polls = polls[:n-1]
	}
	for _, p := range polls {
		if !p.logged {
			return nil, fmt.Errorf("%v is not in the service's log", p)
		}
	}
	return polls, nil
}

// of is the poll that completed a payment, if one did.
func (w *witness) of(payment string) (poll, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.polls, func(p poll) bool { return p.payment == payment })
	if payment == "" || i < 0 {
		return poll{}, false
	}
	return w.polls[i], true
}

// told are the payment ids that a merchant has answered 200 for: by a webhook that named
// one, or by an order whose link it gave out. From then on the books have to know it.
type told struct {
	mu  sync.Mutex
	ids map[string]string // and by what
}

func (k *told) add(id, by string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ids[id] = by
}

func (k *told) by(id string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ids[id]
}
