package mockserver_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// TestDashFaults: rules are added and removed one by one; the counts of the others stay.
func TestDashFaults(t *testing.T) {
	t.Parallel()
	s := dashServer(t)
	at := "/_mock/ui/faults"
	dashDo(t, s, at, "do", "fault", "operation", "banks", "kind", "drop-after", "calls", "nth", "number", "9")
	dashDo(t, s, at, "do", "fault", "operation", "banks", "kind", "status-after", "status", "503", "calls", "nth", "number", "2")
	_, _ = browse(t, s, "GET", "/mobile/banks", nil)
	body := dashPage(t, s, at)
	assert.Contains(t, body, `name="rule" value="banks nth=9 drop-after"`)
	resp, body := browse(t, s, "POST", at, formOf("do", "fault-remove", "target", "0", "rule", "banks nth=2 status-after status=503"))
	assert.Equal(t, http.StatusNotFound, resp.StatusCode)
	assert.Contains(t, body, "This rule no longer exists", "the list has changed meanwhile")
	dashDo(t, s, at, "do", "fault-remove", "target", "0", "rule", "banks nth=9 drop-after")
	require.Len(t, s.Faults().Rules, 1)
	resp, _ = browse(t, s, "GET", "/mobile/banks", nil)
	assert.Equal(t, http.StatusServiceUnavailable, resp.StatusCode, "the second call is still the second")
	assert.Len(t, s.FaultLog(), 1)
	dashDo(t, s, at, "do", "fault-remove", "target", "0", "rule", "banks nth=2 status-after status=503")
	assert.NotContains(t, dashPage(t, s, at), "Faults are on")
	assert.Len(t, s.FaultLog(), 1, "the log stays")
}

// TestDashChance: random faults are turned on and off, and the rules stay.
func TestDashChance(t *testing.T) {
	t.Parallel()
	s := dashServer(t)
	at := "/_mock/ui/faults"
	dashDo(t, s, at, "do", "fault", "operation", "banks", "kind", "drop-after", "calls", "nth", "number", "9")
	dashDo(t, s, at, "do", "chance", "rate", "0.25", "seed", "7", "max_delay", "20 ms", "operations", "next", "kinds", "cut")
	set := s.Faults()
	assert.Len(t, set.Rules, 1)
	set.Rules = nil
	assert.Equal(t, mockserver.Faults{
		Rate: 0.25, Seed: 7, Operations: []string{"next"}, Kinds: []string{"cut"}, MaxDelay: 20 * time.Millisecond,
	}, set)
	assert.Contains(t, dashPage(t, s, at), "rate=0.25 seed=7 operations=next kinds=cut max_delay=20ms")
	for field, form := range map[string][]string{
		"rate":      {"rate", "0"},
		"seed":      {"rate", "1", "seed", "x"},
		"max_delay": {"rate", "1", "max_delay", "5h"},
		"kinds":     {"rate", "1", "operations", "next", "kinds", "dead-uri"},
	} {
		resp, body := browse(t, s, "POST", at, formOf(append(form, "do", "chance")...))
		assert.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
		assert.Contains(t, body, `id="chance-`+field+`-error"`)
	}
	assert.InDelta(t, 0.25, s.Faults().Rate, 0)
	dashDo(t, s, at, "do", "chance-end")
	assert.Zero(t, s.Faults().Rate)
	assert.Len(t, s.Faults().Rules, 1)
}
