package inbox

import "context"

// LookAtClock is one look for waits that begin in the future.
func LookAtClock(b *Inbox) error {
	_, err := (&clockWatch{b: b.core}).look(context.Background())
	return err
}

// ClockLooks is a function that looks on where its last call ended.
func ClockLooks(b *Inbox) func() error {
	watch := &clockWatch{b: b.core}
	return func() error {
		_, err := watch.look(context.Background())
		return err
	}
}

// ClockWindow is how many payments one look reads.
const ClockWindow = clockWindow
