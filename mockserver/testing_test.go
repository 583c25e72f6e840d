package mockserver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// failsWith asserts that a check fails once, with a message that contains all of these.
func failsWith(t *testing.T, check func(mockserver.TB) bool, mentions ...string) {
	t.Helper()
	var tb recordingTB
	assert.False(t, check(&tb))
	require.Len(t, tb.failures, 1)
	for _, text := range mentions {
		assert.Contains(t, tb.failures[0], text)
	}
	assert.NotContains(t, tb.failures[0], "test_demo")
}

func holds(t *testing.T, check func(mockserver.TB) bool) {
	t.Helper()
	var tb recordingTB
	assert.True(t, check(&tb))
	assert.Empty(t, tb.failures)
}

func TestCheckStatus(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	id := create(t, s, "")
	holds(t, func(t mockserver.TB) bool { return s.CheckStatus(t, id, mockserver.StatusCreated) })
	deposit(t, s, id, 5)
	failsWith(t, func(t mockserver.TB) bool { return s.CheckStatus(t, id, mockserver.StatusComplete) },
		id+" is PROGRESS, not COMPLETE", "2025-03-01T12:00:00Z  deposit    Kim paid 5 by DEPOSIT")
	failsWith(t, func(t mockserver.TB) bool { return s.CheckStatus(t, "nobody", mockserver.StatusComplete) }, `"nobody"`, "1 payments")
}

func TestCheckCompletedOnce(t *testing.T) {
	t.Parallel()
	s := stopped(t, func(c *mockserver.Config) { c.ConfirmKeepsState = true })
	id := create(t, s, "")
	deposit(t, s, id, 5)
	once := func(t mockserver.TB) bool { return s.CheckCompletedOnce(t, id) }
	failsWith(t, once, "completed 0 times, not once; it is PROGRESS", "Kim paid 5")
	confirm(t, s, id)
	confirm(t, s, id)
	holds(t, once)
	poll(t, s)
	failsWith(t, once, "completed 2 times", "completed by GET /callback/rest")
	failsWith(t, func(t mockserver.TB) bool { return s.CheckCompletedOnce(t, "nobody") }, "nobody")
}

func TestCheckDelivered(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	listen(t, s, func(n int) int { return []int{500, 200}[n-1] })
	id := create(t, s, "")
	delivered := func(t mockserver.TB) bool { return s.CheckDelivered(t, id) }
	failsWith(t, delivered, "has no webhook delivery", "created with")
	deposit(t, s, id, 5)
	s.Advance(time.Second)
	failsWith(t, delivered, "is pending, not delivered", "answered HTTP 500")
	s.Advance(time.Minute)
	holds(t, delivered)
	failsWith(t, func(t mockserver.TB) bool { return s.CheckDelivered(t, "nobody") }, "nobody")
}

func TestCheckNothingWaiting(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	nothing := s.CheckNothingWaiting
	create(t, s, "")
	holds(t, nothing)
	var ids []string
	for range 7 {
		ids = append(ids, create(t, s, ""))
		deposit(t, s, ids[len(ids)-1], 5)
	}
	failsWith(t, nothing, "7 payments are not settled", ids[4]+" is PROGRESS\n", "and 2 more")
	for range ids {
		poll(t, s)
	}
	holds(t, nothing)

	listen(t, s, func(int) int { return 500 })
	id := create(t, s, "")
	deposit(t, s, id, 5)
	s.Advance(0)
	confirm(t, s, id)
	failsWith(t, nothing, id+" is COMPLETE, its webhook is pending", "answered HTTP 500")
	s.Advance(time.Minute)
	holds(t, nothing)
	id = create(t, s, "")
	deposit(t, s, id, 5)
	s.Advance(200 * time.Hour)
	poll(t, s)
	failsWith(t, nothing, id+" is COMPLETE, its webhook is failed")
}

// The message stays readable with many payments.
func TestCheckNothingWaitingIsBounded(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	for range 300 {
		paid(t, s)
	}
	var tb recordingTB
	assert.False(t, s.CheckNothingWaiting(&tb))
	assert.Less(t, strings.Count(tb.failures[0], "\n"), 30)
}
