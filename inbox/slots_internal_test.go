package inbox

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestSlotGivenBackTwice: it panics in tests, and otherwise it does not wait for somebody to
// take a slot.
func TestSlotGivenBackTwice(t *testing.T) {
	free := make(handlerSlots, 2)
	assert.Equal(t, 2, free.take(t.Context()))
	free.giveBack(2)
	assert.Panics(t, func() { free.giveBack(1) })
	assert.Panics(t, func() { free.giveBack(-1) })
	panics := slotMisused
	defer func() { slotMisused = panics }()
	slotMisused = func() {}
	free.giveBack(1)
	assert.Equal(t, 2, free.take(t.Context()))
}
