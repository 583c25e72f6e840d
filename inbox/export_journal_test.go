package inbox

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// AddUnwrittenLoss adds a possible loss as PollLost does after its timeout.
func AddUnwrittenLoss(b *Inbox, err error) {
	b.polls.mu.Lock()
	defer b.polls.mu.Unlock()
	b.polls.unwritten = append(b.polls.unwritten, unwrittenLoss{uuid.NewString(), err})
}

// AgeBeats makes the beats of all open lines due.
func AgeBeats(b *Inbox) {
	b.polls.mu.Lock()
	defer b.polls.mu.Unlock()
	for _, line := range b.polls.ofRun {
		line.beat = time.Time{}
	}
}

func BeatLines(b *Inbox) error { return b.beatLines(context.Background()) }
