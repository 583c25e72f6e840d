//go:build unix

package torture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/depositpay/depositpay-go/mockserver"
)

// poll is a call of GET /callback/rest as the service saw it.
type poll struct {
	n       int
	process int       // of the merchant's, which one sent it
	at      time.Time // when it came
	payment string    // that it completed; "" if none
	whole   bool      // the answer was sent as the service made it
	fault   string    // that struck it

	logged bool
	proven bool // its report was settled by a proof that it took nothing
}

func (p poll) String() string {
	return fmt.Sprintf("poll %d at %s (fault %q)", p.n, clock(p.at), p.fault)
}

// witness is an HTTP handler in front of the service that records all polls and what became
// of their responses, to check the merchants' reports against. It numbers each poll by a
// query parameter, which identifies the poll in the service's log. Each merchant process
// uses an address of its own; see addressOf.
type witness struct {
	service http.Handler
	mu      sync.Mutex
	polls   []poll
	asked   map[string]bool // ids that a merchant has asked the service to confirm
}

func (w *witness) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	process := 0
	if rest, ok := strings.CutPrefix(r.URL.Path, processPrefix); ok {
		number, path, _ := strings.Cut(rest, "/")
		process, _ = strconv.Atoi(number)
		r.URL.Path, r.URL.RawPath = "/"+path, ""
	}
	if r.URL.Path == pollPath {
		w.mu.Lock()
		n := len(w.polls)
		w.polls = append(w.polls, poll{n: n, process: process, at: time.Now()})
		w.mu.Unlock()
		r.URL.RawQuery += "&" + pollParameter + "=" + strconv.Itoa(n)
	}
	if r.URL.Path == confirmPath {
		w.ask(r)
	}
	w.service.ServeHTTP(to, r)
}

// ask records the id of a confirm: a merchant stores an id before confirming it.
func (w *witness) ask(r *http.Request) {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var named struct {
		ID string `json:"payToken"`
	}
	if err != nil || json.Unmarshal(body, &named) != nil {
		return // the service says what is wrong with it
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked == nil {
		w.asked = map[string]bool{}
	}
	w.asked[named.ID] = true
}

// confirmed reports whether a merchant has confirmed the id.
func (w *witness) confirmed(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked[id]
}

const (
	pollPath      = "/callback/rest"
	confirmPath   = "/payments/confirm"
	pollParameter = "poll"
	processPrefix = "/process-"
)

// addressOf returns the service's address for the n-th process of a merchant, counted from
// 0.
func addressOf(service string, n int) string { return service + processPrefix + strconv.Itoa(n) }

// read copies the polls from the service's log. The log is bounded: call read often.
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
		p.payment = idOf(r.Response)
	}
	return nil
}

func (w *witness) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.polls)
}

// first returns the first n polls in order of arrival, without a last one that is still
// running. A poll that fell out of the log before it was read is an error.
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

// of returns the poll that completed a payment, if one did.
func (w *witness) of(payment string) (poll, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.polls, func(p poll) bool { return p.payment == payment })
	if payment == "" || i < 0 {
		return poll{}, false
	}
	return w.polls[i], true
}

// told holds the payment ids that a merchant must know: from a webhook that it answered, or
// from an order whose link it returned.
type told struct {
	mu  sync.Mutex
	ids map[string][]telling
}

type telling struct {
	by     string
	counts func() bool // at the end, when it is known what happened meanwhile; nil: it does
}

func (k *told) add(id, by string, counts func() bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ids == nil {
		k.ids = map[string][]telling{}
	}
	k.ids[id] = append(k.ids[id], telling{by, counts})
}

// by returns how the id became known, or "" if nobody can know it.
func (k *told) by(id string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range k.ids[id] {
		if t.counts == nil || t.counts() {
			return t.by
		}
	}
	return ""
}

// span is a period, ends included.
type span struct{ from, to time.Time }

func (s span) length() time.Duration { return s.to.Sub(s.from) }

func (s span) overlaps(other span) bool { return !s.from.After(other.to) && !other.from.After(s.to) }

// wasAway reports whether the database was unavailable in that period or had just come back.
func (c *campaign) wasAway(in span) bool {
	const settling = 2 * time.Second
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.away, func(gone span) bool {
		return in.overlaps(span{gone.from, gone.to.Add(settling)})
	})
}
