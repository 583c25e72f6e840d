package grant

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
)

// batch gives one player what is due; full tells that it may not be all. It looks at the
// player before each unit and stops when the player has left. An errSilent means that the
// game tells nothing about the player, any other error that the ledger failed.
func (b *Book) batch(ctx context.Context, g contained, account string) (full bool, err error) {
	due, err := b.query(ctx, sqlDueTo, account, now(), batchSize)
	if err != nil {
		return false, err
	}
	for i := 0; i < len(due) && ctx.Err() == nil; i++ {
		joins := b.joins.Load()
		online, err := b.one(ctx, g, due[i])
		if err != nil {
			return false, err
		}
		if !online {
			return false, b.box(ctx, account, joins)
		}
	}
	return len(due) == batchSize, nil
}

// box puts what is due to a player who is offline into the claim box. Somebody has joined
// since the look at the player, if joins has changed: then the box is tried at once.
func (b *Book) box(ctx context.Context, account string, joins int64) error {
	_, err := b.moveAll(ctx, account, Pending, Claimable, "the player is offline")
	if err == nil && b.joins.Load() != joins {
		_, err = b.unbox(ctx, account)
	}
	return err
}

// one gives one unit, if the player is online and has room for it.
func (b *Book) one(ctx context.Context, g contained, unit Grant) (online bool, err error) {
	p, err := b.ask(ctx, g, unit.Account)
	if err != nil {
		return false, err
	}
	if !p.Online {
		return false, nil
	}
	if p.Free >= 0 && p.Free < unit.Slots {
		_, err := b.move(ctx, unit.Key, Pending, Claimable, "the inventory is full", time.Now())
		return true, err
	}
	// From here on it is known that the game may have it.
	mine, err := b.move(ctx, unit.Key, Pending, Granting, "", time.Now())
	if err != nil || !mine {
		return true, err
	}
	answer, failed := g.give(ctx, delivery(unit))
	return b.settle(context.WithoutCancel(ctx), g, unit, answer, failed)
}

func delivery(unit Grant) Delivery {
	id, _ := uuid.Parse(unit.Payment) // the book wrote it
	return Delivery{Key: unit.Key, Payment: id, Account: unit.Account, Item: unit.Item, Slots: unit.Slots, Attempt: unit.Attempts + 1}
}

// settle writes down what became of a unit in the game's hands.
func (b *Book) settle(ctx context.Context, g contained, unit Grant, answer Answer, failed error) (online bool, err error) {
	to, reason, due := b.verdict(g, unit, answer, failed)
	level := slog.LevelDebug
	if to == Review {
		level = slog.LevelError
	}
	b.cfg.Logger.LogAttrs(ctx, level, "grant: "+string(to), slog.String("key", unit.Key), slog.String("account", unit.Account),
		slog.String("item", unit.Item), slog.String("reason", reason))
	_, err = b.move(ctx, unit.Key, Granting, to, reason, due)
	return answer != Offline, err
}

// verdict is where a unit goes after the game was asked. In doubt it never goes back to
// pending, unless the game refuses a second time.
func (b *Book) verdict(g contained, unit Grant, answer Answer, failed error) (State, string, time.Time) {
	at := time.Now()
	if failed == nil {
		switch answer {
		case Given:
			return Granted, "", at
		case AlreadyGranted:
			return Granted, "the game had it already", at
		case Offline:
			return Claimable, "the player is offline", at
		case Full:
			return Claimable, "the inventory is full", at
		case Refused:
			return Review, "the game refuses it: no such account or item", at
		default:
			failed = fmt.Errorf("the game answered %q", answer)
		}
	}
	again := g.game.Refuses() || errors.Is(failed, ErrNotGiven)
	switch {
	case !again:
		return Review, "nobody knows whether the player has it: " + failed.Error(), at
	case unit.Attempts+1 >= b.cfg.MaxAttempts:
		return Review, fmt.Sprintf("given up after %d attempts: %v", unit.Attempts+1, failed), at
	}
	return Pending, failed.Error(), at.Add(backoff(b.cfg.BackoffMin, b.cfg.BackoffMax, unit.Attempts))
}
