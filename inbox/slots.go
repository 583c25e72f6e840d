package inbox

import "context"

// handlerSlots bounds how many handlers run at once.
type handlerSlots chan struct{}

// slotMisused is called when a slot is returned that nobody holds. Tests make it panic. In production
// the slot is ignored: one handler too many is better than no dispatch at all.
var slotMisused = func() {}

// take waits for a free slot, takes the other free ones too, and returns how many it took: 0 if ctx
// ended.
func (s handlerSlots) take(ctx context.Context) (n int) {
	select {
	case s <- struct{}{}:
	case <-ctx.Done():
		return 0
	}
	for n = 1; n < cap(s); n++ {
		select {
		case s <- struct{}{}:
		default:
			return n
		}
	}
	return n
}

// giveBack frees n slots. It never waits: the slots are taken.
func (s handlerSlots) giveBack(n int) {
	if n < 0 {
		slotMisused()
	}
	for range n {
		select {
		case <-s:
		default:
			slotMisused()
		}
	}
}
