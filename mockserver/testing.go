package mockserver

import (
	"fmt"
	"strings"
)

// The checks below are for the end of a test. Each returns true when it holds; otherwise
// it reports a failure with the payment's timeline, and the test goes on.
// They do not wait: call Advance(0) first where a webhook may be in flight.

// CheckStatus asserts that the payment has the status.
func (s *Server) CheckStatus(t TB, payToken string, want Status) bool {
	t.Helper()
	p, ok := checked(s, t, payToken)
	if ok && p.Status != want {
		t.Errorf("payment %s is %s, not %s%s", payToken, p.Status, want, story(s, payToken))
		return false
	}
	return ok
}

// CheckCompletedOnce asserts that the record of the payment was handed out as newly
// completed exactly once, by a poll or a confirmation. Never means that the merchant
// missed the payment; more than once, that the merchant may have fulfilled it twice.
func (s *Server) CheckCompletedOnce(t TB, payToken string) bool {
	t.Helper()
	p, ok := checked(s, t, payToken)
	if ok && p.Completions != 1 {
		t.Errorf("payment %s was completed %d times, not once; it is %s%s", payToken, p.Completions, p.Status, story(s, payToken))
		return false
	}
	return ok
}

// CheckDelivered asserts that the webhook of the payment was delivered.
func (s *Server) CheckDelivered(t TB, payToken string) bool {
	t.Helper()
	if _, ok := checked(s, t, payToken); !ok {
		return false
	}
	status, ok := deliveryStatus(s, payToken)
	switch {
	case !ok:
		t.Errorf("payment %s has no webhook delivery: it was not paid, or its application had no webhook URI then%s",
			payToken, story(s, payToken))
	case status != DeliveryDelivered:
		t.Errorf("the webhook of payment %s is %s, not delivered%s", payToken, status, story(s, payToken))
	default:
		return true
	}
	return false
}

// maxOffenders is how many payments CheckNothingWaiting describes.
const maxOffenders = 5

// CheckNothingWaiting asserts that every paid payment of every application is COMPLETE,
// and that no webhook delivery is pending or failed.
func (s *Server) CheckNothingWaiting(t TB) bool {
	t.Helper()
	var waiting []string
	for _, p := range s.Payments() {
		status, _ := deliveryStatus(s, p.ID)
		if p.Status == StatusProgress || status == DeliveryPending || status == DeliveryFailed {
			waiting = append(waiting, p.ID)
		}
	}
	if len(waiting) == 0 {
		return true
	}
	var b strings.Builder
	for _, id := range waiting[:min(len(waiting), maxOffenders)] {
		p, _ := s.Payment(id)
		status, _ := deliveryStatus(s, id)
		fmt.Fprintf(&b, "\npayment %s is %s", id, p.Status)
		if status != "" {
			fmt.Fprintf(&b, ", its webhook is %s", status)
		}
		b.WriteString(story(s, id))
	}
	if more := len(waiting) - maxOffenders; more > 0 {
		fmt.Fprintf(&b, "\nand %d more", more)
	}
	t.Errorf("%d payments are not settled:%s", len(waiting), b.String())
	return false
}

func checked(s *Server, t TB, payToken string) (Payment, bool) {
	t.Helper()
	p, ok := s.Payment(payToken)
	if !ok {
		t.Errorf("no payment has the payToken %.60q; the mock knows %d payments", payToken, len(s.Payments()))
	}
	return p, ok
}

func deliveryStatus(s *Server, payToken string) (status DeliveryStatus, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.book.byID[payToken]; p != nil && p.delivery != nil {
		return p.delivery.status, true
	}
	return "", false
}

// story is the timeline of a payment for the message of a failed check.
func story(s *Server, payToken string) string {
	events, err := s.Timeline(payToken)
	if err != nil {
		return ""
	}
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "\n  %s  %-9s  %s", formatTime(e.At), e.Kind, e.Text)
	}
	return b.String()
}

// TB is what [RunT] and the checks, such as [Server.CheckDelivered], need of a test:
// *testing.T, *testing.B, *testing.F and the tests of other frameworks implement it.
type TB interface {
	// Helper marks the caller as a helper of the test.
	Helper()
	// Cleanup registers a function to call when the test is over.
	Cleanup(func())
	// Errorf reports a failure.
	Errorf(format string, args ...any)
	// Fatalf reports a failure and ends the test.
	Fatalf(format string, args ...any)
	// Logf reports a fact.
	Logf(format string, args ...any)
}

// RunT starts a server for the length of one test, on a loopback port that the
// system chooses, and closes it when the test is over. At most one Config is
// given; without one the defaults count.
//
// It opens a socket, which a testing/synctest bubble cannot wait for: use [New]
// and [Server.Transport] there.
func RunT(t TB, cfg ...Config) *Server {
	t.Helper()
	if len(cfg) > 1 {
		t.Fatalf("mockserver: RunT takes at most one Config, not %d", len(cfg))
		return nil
	}
	s, err := New(append(cfg, Config{})[0])
	if err == nil {
		err = s.Start()
	}
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Logf("%v", err)
		}
	})
	return s
}
