package grant

import (
	"context"
	"log/slog"
)

// Joined is called by the game when a player has joined: what is in the player's claim box
// is given now. It returns the number of units and does not wait for them.
func (b *Book) Joined(ctx context.Context, account string) (int, error) {
	b.joins.Add(1)
	return b.unbox(ctx, account)
}

func (b *Book) unbox(ctx context.Context, account string) (int, error) {
	if account == everybody {
		return 0, nil
	}
	n, err := b.moveAll(ctx, account, Claimable, Pending, "")
	if n > 0 {
		b.Wake()
	}
	return n, err
}

// Claim is /claim: what is in the claim box is tried again, now that there may be room.
func (b *Book) Claim(ctx context.Context, account string) (int, error) {
	return b.Joined(ctx, account)
}

// lookAtOnce bounds the players whom one look through the claim box asks for.
const lookAtOnce = 100

// lookThrough asks for some players of the claim box whether they can take something now,
// and goes on from there the next time. It covers games that have no join event.
func (b *Book) lookThrough(ctx context.Context, g contained) error {
	waiting, err := b.query(ctx, sqlInBox, b.looked, lookAtOnce)
	if err != nil {
		return err
	}
	silent := 0 // players in a row
	for _, w := range waiting {
		if ctx.Err() != nil || silent == silentInARow {
			return ctx.Err()
		}
		b.looked = w.Account
		p, err := b.ask(ctx, g, w.Account)
		if err != nil {
			silent++
			b.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "grant: a claim box is not looked through", slog.Any("error", err))
			continue
		}
		silent = 0
		if p.Online && (p.Free < 0 || p.Free >= w.Slots) {
			if _, err := b.unbox(ctx, w.Account); err != nil {
				return err
			}
		}
	}
	if len(waiting) < lookAtOnce {
		b.looked = "" // from the beginning, the next time
	}
	return nil
}
