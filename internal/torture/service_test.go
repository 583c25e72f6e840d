//go:build unix

package torture

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/depositpay/depositpay-go/mockserver"
)

// hookURL is the one webhook URI there is: whoever sends to it reaches one of the
// merchants that run, as through a balancer. It is not the address of anything.
const hookURL = "http://127.0.0.1:9/hook"

var errNobody = errors.New("no merchant is running")

// toMerchants reaches one of the merchants with each connection.
func (c *campaign) toMerchants() *http.Transport {
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

// service is the mock, what was done to it, and when.
type service struct {
	*mockserver.Server
	mu     sync.Mutex
	clock  []reading
	struck map[string]int // operation and kind of faults
}

// reading is one look at both clocks.
type reading struct{ mock, real time.Time }

func newService(transport http.RoundTripper) (*service, error) {
	mock, err := mockserver.New(mockserver.Config{
		Applications: []mockserver.Application{{Token: "test_torture", WebhookURL: hookURL}}, WebhookTransport: transport,
		Patience: 300 * time.Millisecond, MaxDeliveries: 1_000_000, Logger: quiet,
	})
	if err != nil {
		return nil, err
	}
	s := &service{Server: mock, struck: map[string]int{}}
	s.look()
	return s, mock.Start()
}

func (s *service) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock = append(s.clock, reading{s.Now(), time.Now()})
}

// step lets the service's time go on, and the webhooks that fall due be sent.
func (s *service) step(d time.Duration) {
	s.look()
	s.Advance(d)
	s.look()
}

// realTime is when the service's clock showed t. Within a step it is spread evenly.
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

// trouble replaces the faults, after counting what the last ones did.
func (s *service) trouble(f mockserver.Faults) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.FaultLog() {
		kind, _, _ := strings.Cut(e.Fault, " ")
		s.struck[e.Operation+" "+kind]++
	}
	return s.SetFaults(f)
}
