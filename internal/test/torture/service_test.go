//go:build unix

package torture

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/depositpay/depositpay-go/mockserver"
)

// hookURL is the only webhook URI. toMerchants routes it to one of the running merchants,
// like a load balancer; nothing listens on the address itself.
const (
	hookURL  = "http://127.0.0.1:9" + hookPath
	hookPath = "/hook"
)

var errNobody = errors.New("no merchant is running")

// toMerchants sends each request to one of the merchants and records the webhooks that they
// answer.
func (c *campaign) toMerchants() http.RoundTripper {
	return noting{&c.told, c.wasAway, func(id string) bool { return c.service.witness.confirmed(id) }, c.dialMerchants()}
}

// noting is a transport that records which ids a merchant must know from webhooks: those
// that it answered, except with 429 if the id was never confirmed. If the database was
// unavailable meanwhile, only a 200 counts.
type noting struct {
	told      *told
	away      func(span) bool
	confirmed func(id string) bool
	by        http.RoundTripper
}

const tooLong = 5 * time.Second // for a webhook: its budget may be over before anything was written down

func (n noting) RoundTrip(r *http.Request) (*http.Response, error) {
	var named struct {
		ID string `json:"payment_id"`
	}
	if r.URL.Path == hookPath {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
		if err := json.Unmarshal(body, &named); err != nil {
			return nil, err
		}
	}
	during := span{from: time.Now()}
	response, err := n.by.RoundTrip(r)
	if during.to = time.Now(); err == nil && named.ID != "" &&
		(response.StatusCode != http.StatusTooManyRequests || n.confirmed(named.ID)) {
		status := response.StatusCode // and not the answer, which holds much
		n.told.add(named.ID, fmt.Sprintf("a webhook that was answered %d", status), func() bool {
			return status == http.StatusOK || during.length() < tooLong && !n.away(during)
		})
	}
	return response, err
}

func (c *campaign) dialMerchants() *http.Transport {
	return &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var all []string
			for _, m := range c.merchants {
				if a := m.address.Load(); a != nil {
					all = append(all, *a)
				}
			}
			if len(all) == 0 {
				return nil, errNobody
			}
			return (&net.Dialer{}).DialContext(ctx, "tcp", all[int(c.turn.Add(1))%len(all)])
		},
	}
}

// service is the mock with a record of its faults and clock readings.
type service struct {
	*mockserver.Server
	door    *httptest.Server
	witness *witness
	closed  chan struct{}
	readers sync.WaitGroup

	mu     sync.Mutex
	clock  []reading
	struck map[string]int // operation and kind of faults
}

// reading is one reading of both clocks.
type reading struct{ mock, real time.Time }

func newService(transport http.RoundTripper) (*service, error) {
	mock, err := mockserver.New(mockserver.Config{
		Applications: []mockserver.Application{{Token: "test_torture", WebhookURL: hookURL}}, WebhookTransport: transport,
		Patience: 300 * time.Millisecond, MaxDeliveries: 1_000_000, MaxRequests: 3000, Logger: quiet,
	})
	if err != nil {
		return nil, err
	}
	s := &service{Server: mock, witness: &witness{service: mock.Handler()}, closed: make(chan struct{}), struck: map[string]int{}}
	s.look()
	s.door = httptest.NewServer(s.witness)
	s.readers.Go(s.readLog)
	return s, nil
}

// URL returns the address of the witness.
func (s *service) URL() string { return s.door.URL }

// readLog passes the log to the witness before old entries are dropped.
func (s *service) readLog() {
	often := time.NewTicker(time.Second)
	defer often.Stop()
	for {
		select {
		case <-often.C:
			if err := s.witness.read(s.Requests()); err != nil {
				panic(err) // of the campaign's own making
			}
		case <-s.closed:
			return
		}
	}
}

// polls returns the polls so far.
func (s *service) polls() ([]poll, error) {
	n := s.witness.count() // of those that come after it, the log that is read may not know
	if err := s.witness.read(s.Requests()); err != nil {
		return nil, err
	}
	return s.witness.first(n)
}

// Close stops the service even while a client waits for a response.
func (s *service) Close() error {
	close(s.closed)
	s.readers.Wait()
	err := s.Server.Close()
	s.door.CloseClientConnections()
	s.door.Close()
	return err
}

func (s *service) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock = append(s.clock, reading{s.Now(), time.Now()})
}

// step advances the service's clock and sends the webhooks that become due.
func (s *service) step(d time.Duration) {
	s.look()
	s.Advance(d)
	s.look()
}

// nextAttempt advances the service's clock to the next webhook attempt.
func (s *service) nextAttempt() {
	s.look()
	s.JumpToNextAttempt()
	s.look()
}

// realTime converts a time of the service's clock to real time. Within a step it
// interpolates.
func (s *service) realTime(t time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, _ := slices.BinarySearchFunc(s.clock, t, func(r reading, t time.Time) int { return cmp.Compare(r.mock.UnixNano(), t.UnixNano()) })
	if i == 0 {
		return s.clock[0].real.Add(t.Sub(s.clock[0].mock))
	}
	before := s.clock[i-1]
	passed := t.Sub(before.mock)
	if i < len(s.clock) {
		after := s.clock[i]
		if whole := after.mock.Sub(before.mock); whole > 0 {
			passed = time.Duration(float64(passed) / float64(whole) * float64(after.real.Sub(before.real)))
		}
	}
	return before.real.Add(passed)
}

// trouble replaces the faults after counting the effects of the previous ones.
func (s *service) trouble(f mockserver.Faults) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.FaultLog() {
		kind, _, _ := strings.Cut(e.Fault, " ")
		s.struck[e.Operation+" "+kind]++
	}
	return s.SetFaults(f)
}
