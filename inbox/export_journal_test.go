package inbox

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/payments"
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
	for _, line := range b.polls.open {
		line.beat = time.Time{}
	}
}

func BeatLines(b *Inbox) error { return b.polls.beatLines(context.Background()) }

// AcceptGroup takes in, in one group, the service's no to an id, the body of a poll, and a
// payment.
func AcceptGroup(b *Inbox, no, poll string, p payments.Payment) error {
	record, err := recordOp(p, ChannelWebhook)
	if err != nil {
		return err
	}
	return b.intake.commit(0, []op{{Kind: opNo, ID: no}, {Kind: opRaw, ID: poll, Channel: bits(ChannelPoll), Body: "{}"}, record})
}
