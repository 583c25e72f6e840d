package inbox

import "context"

// handlerSlots bounds how many handlers run at once.
type handlerSlots chan struct{}

// slotMisused is called when a slot is given back that nobody holds. Tests make it panic.
// Otherwise the slot is passed over: a handler too many is better than no hand-over at all.
var slotMisused = func() {}

// take waits for a free slot, takes the other free ones too, and returns how many it has
// taken: 0 after ctx's end.
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

// giveBack frees n slots. It never waits: a slot that is taken is there to be freed.
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
