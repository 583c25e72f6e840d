package matrix_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// verdict is the result of a poll that a fault hits, for a client without retries.
type verdict struct {
	granted, ambiguous, undecodable bool
	done                            bool // what the service did
}

var verdicts = map[string]verdict{
	"drop-before":   {ambiguous: true},
	"drop-after":    {ambiguous: true, done: true},
	"reset-before":  {ambiguous: true},
	"reset-after":   {ambiguous: true, done: true},
	"delay-before":  {granted: true, done: true},
	"delay-after":   {granted: true, done: true},
	"status-before": {ambiguous: true},
	"status-after":  {ambiguous: true, done: true},
	"cut":           {ambiguous: true, done: true},
	"drip":          {granted: true, done: true},
	"malformed":     {ambiguous: true, undecodable: true, done: true},
	"html":          {ambiguous: true, undecodable: true, done: true},
	"content-type":  {granted: true, done: true},
}

// TestFaultsAreNeverSilent: whatever happens to the response of a poll, the client has the
// payment or reports that it may be lost.
func TestFaultsAreNeverSilent(t *testing.T) {
	t.Parallel()
	kinds := mockserver.FaultKinds("next")
	require.Len(t, verdicts, len(kinds))
	for _, kind := range kinds {
		for _, d := range few(t)[:3] {
			t.Run(kind+" "+d.String(), func(t *testing.T) {
				t.Parallel()
				inBubble(t, d, func(t *testing.T, s *service) { struck(t, s, kind) })
				struck(t, overLoopback(t, d), kind)
			})
		}
	}
}

func struck(t *testing.T, s *service, kind string) {
	t.Helper()
	f := mockserver.Fault{Operation: "next", Kind: kind, Nth: 1}
	switch kind {
	case "delay-before", "delay-after", "drip":
		f.Delay = time.Millisecond
	case "status-before", "status-after":
		f.Status = 502
	case "cut":
		f.Bytes = 60
	}
	require.NoError(t, s.mock.AddFault(f))
	id := s.create(t, order("order-1"))
	s.deposit(t, id, mockserver.Deposit{})
	got, err := s.client.Next(t.Context())
	want := verdicts[kind]
	assert.Equal(t, want, verdict{
		granted: err == nil, ambiguous: errors.Is(err, payments.ErrAmbiguous), undecodable: errors.Is(err, payments.ErrUndecodable),
		done: s.mock.Payments()[0].Status == mockserver.StatusComplete,
	})
	log := s.mock.Requests()
	entry := log[len(log)-1]
	if want.granted {
		sameRecord(t, s, s.polled(recorded(id, "order-1")), got)
	} else {
		e, ok := errors.AsType[*payments.Error](err)
		require.True(t, ok)
		assert.Equal(t, entry.SentStatus, statusOf(e, kind))
		if kind == "cut" || want.undecodable {
			assert.Equal(t, entry.Sent, string(e.Raw), "what did arrive is kept")
		}
	}
	got, err = s.client.Confirm(t.Context(), id)
	require.NoError(t, err)
	sameRecord(t, s, recorded(id, "order-1"), got)
}

// statusOf returns the status that the client saw. The error has the status of complete
// responses only, so it lacks that of a truncated one.
func statusOf(e *payments.Error, kind string) int {
	if kind == "cut" {
		return http.StatusOK
	}
	return e.HTTPStatus
}

// TestRefusalsAreTriedAgain: a 429, and a 503 with Retry-After, are retried.
func TestRefusalsAreTriedAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Dialect{}, func(t *testing.T, s *service) {
		client, err := payments.New(payments.Config{BaseURL: s.mock.URL(), Token: token, Transport: s.by})
		require.NoError(t, err)
		for _, f := range []mockserver.Fault{{Status: 429}, {Status: 503, RetryAfter: 7}} {
			id := s.create(t, order("order-1"))
			s.deposit(t, id, mockserver.Deposit{})
			f.Operation, f.Kind, f.First = "next", "status-before", 2
			require.NoError(t, s.mock.SetFaults(mockserver.Faults{Rules: []mockserver.Fault{f}}))
			begin := time.Now()
			got, err := client.Next(t.Context())
			require.NoError(t, err)
			assert.Equal(t, id, got.ID)
			assert.GreaterOrEqual(t, time.Since(begin), 2*time.Duration(f.RetryAfter)*time.Second)
			assert.Len(t, s.mock.FaultLog(), 2)
		}
	})
}

// TestSeededStorm: a merchant with both channels under faults of all kinds grants nothing
// twice, and grants or reports as lost every complete payment.
func TestSeededStorm(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			inBubble(t, mockserver.Dialect{}, func(t *testing.T, s *service) { storm(t, s, seed) }, func(c *mockserver.Config) {
				c.Clock, c.MaxRequests = mockserver.NewAcceleratedClock(start, 60), 10_000
			})
		})
	}
}

func storm(t *testing.T, s *service, seed uint64) {
	t.Helper()
	granted := map[uuid.UUID]int{}
	var mu sync.Mutex // a delayed webhook may come while the poller is at work
	sink, err := webhook.NewMemory(func(_ context.Context, p payments.Payment) error {
		mu.Lock()
		defer mu.Unlock()
		granted[p.ID]++
		return nil
	}, nil)
	require.NoError(t, err)
	hook, err := webhook.New(webhook.Config{Client: s.client, Sink: sink, Logger: quiet})
	require.NoError(t, err)
	ids := make([]uuid.UUID, 30)
	for i := range ids {
		ids[i] = s.create(t, order("order"))
	}
	require.NoError(t, s.mock.SetFaults(mockserver.Faults{Seed: seed, Rate: 0.5, MaxDelay: time.Second}))
	told := 0
	p, err := poller.New(poller.Config{Client: s.client, Sink: sink, Logger: quiet, OnEvent: func(e poller.Event) {
		if e.Kind == poller.KindAmbiguous {
			told++
		}
	}})
	require.NoError(t, err)
	for i, id := range ids {
		s.hooks.Handler = http.NotFoundHandler()
		if i%2 == 0 {
			s.hooks.Handler = hook
		}
		_, err := s.mock.Deposit(id.String(), mockserver.Deposit{})
		require.NoError(t, err)
		<-time.After(20 * time.Second) // of the bubble
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		require.NoError(t, p.Run(ctx))
		cancel()
	}
	unsure, lost := lostAnswers(s)
	assert.Equal(t, unsure, told, "each poll that may have taken a payment was told, and no other")
	for _, id := range ids {
		assert.LessOrEqual(t, granted[id], 1)
		assert.True(t, granted[id] == 1 || strings.Contains(lost, id.String()), "what is not granted was lost on the way")
	}
	for _, paid := range s.mock.Payments() {
		assert.Equal(t, mockserver.StatusComplete, paid.Status)
	}
	assert.NotEmpty(t, s.mock.FaultLog())
}

// lostAnswers returns how many polls a client cannot be sure of, and the records that did
// not arrive complete.
func lostAnswers(s *service) (unsure int, records string) {
	for _, r := range s.mock.Requests() {
		kind, _, _ := strings.Cut(r.Fault, " ")
		kind = strings.TrimSuffix(kind, ":")
		if r.Path == "/callback/rest" && verdicts[kind].ambiguous && r.SentStatus != http.StatusTooManyRequests {
			unsure++
		}
		if r.Fault != "" && r.Sent != r.Response {
			records += r.Response
		}
	}
	return unsure, records
}

// TestCutAnswers: in every dialect, no prefix of "no payment" may hold part of a record, and
// a record is recognized from the first byte of its first value on.
func TestCutAnswers(t *testing.T) {
	t.Parallel()
	for _, d := range mockserver.Dialects() {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			inBubble(t, d, func(t *testing.T, s *service) {
				empty := s.next(t)
				for n := range len(empty) + 1 {
					assert.False(t, (&payments.Error{Raw: []byte(empty[:n])}).MayHoldRecord(), "%q", empty[:n])
				}
				s.deposit(t, s.create(t, payments.CreateRequest{Title: "T", Identifier: "player", Amount: payments.NewAmount(7)}), mockserver.Deposit{})
				record := s.next(t)
				first := strings.Index(record, `player`)
				for _, name := range []string{`"id":"`, `"method":"`, `"paidAmount":`, `"paid_amount":`, `"status":"`, `"verified_ts":"`} {
					if at := strings.Index(record, name); at >= 0 {
						first = min(first, at+len(name))
					}
				}
				require.Positive(t, first, record)
				for n := first + 1; n <= len(record); n++ {
					assert.True(t, (&payments.Error{Raw: []byte(record[:n])}).MayHoldRecord(), "%q", record[:n])
				}
			})
		})
	}
}

// next returns the raw body of a poll.
func (s *service) next(t *testing.T) string {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, s.mock.URL()+"/callback/rest?token="+token, nil)
	require.NoError(t, err)
	resp, err := s.by.RoundTrip(req)
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return string(body)
}
