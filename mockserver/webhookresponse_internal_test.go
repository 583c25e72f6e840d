package mockserver

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestResponsesAreBounded: the oldest answer goes for the newest, and empty ones count
// for nothing.
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
