package mockserver

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func anyone(*payment) bool { return true }

// TestPayersDropOldEntries: endless corrections take bounded memory,
// and lose no payment that still waits.
func TestPayersDropOldEntries(t *testing.T) {
	t.Parallel()
	var x payers
	const steady = 500
	for i := range steady {
		x.add(&payment{Payment: Payment{Payer: fmt.Sprintf("가나%d", i)}}, anyone)
	}
	restless := &payment{}
	for i := range 50_000 {
		restless.Payer = fmt.Sprintf("다라%d", i%7)
		x.add(restless, anyone)
	}
	assert.LessOrEqual(t, x.entries, 2*(steady+8)+firstSweep)
	stored := 0
	for _, list := range x.byKey {
		stored += len(list)
	}
	assert.Equal(t, x.entries, stored)
	for i := range steady {
		assert.Len(t, x.find(fmt.Sprintf("가나%d", i), anyone), 1)
	}
	assert.Len(t, x.find("다라*", anyone), 1)
	assert.Len(t, x.find("가나**", anyone), 90)
	assert.Empty(t, x.find("가나1", func(*payment) bool { return false }))
}

// TestResponsesAreBounded: the newest response replaces the oldest one, and empty
// responses do not count.
func TestResponsesAreBounded(t *testing.T) {
	t.Parallel()
	var r responses
	attempts := make([]attempt, maxResponses+2)
	for i := range attempts {
		r.keep(&attempts[i], fmt.Sprint(i))
		r.keep(new(attempt), "")
	}
	assert.Empty(t, attempts[0].Response+attempts[1].Response)
	assert.Equal(t, "2", attempts[2].Response)
	assert.Equal(t, fmt.Sprint(maxResponses+1), attempts[maxResponses+1].Response)
	assert.Len(t, r.ring, maxResponses)
}
