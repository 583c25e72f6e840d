package grant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// batchSize bounds the units of one player that are given in a row, while others wait.
const batchSize = 64

// Run hands units to game, one at a time, until ctx ends. Then it lets the unit under way
// finish and returns nil. Failures of the game and of the ledger are logged and tried again.
func (b *Book) Run(ctx context.Context, game Game) error {
	if !b.running.CompareAndSwap(false, true) {
		return ErrRunning
	}
	defer b.running.Store(false)
	g := contained{game, b.cfg.GameTimeout}
	recovered, failures, nextLook := false, 0, time.Now().Add(b.cfg.LookEvery)
	for ctx.Err() == nil {
		wait := b.cfg.Every
		err := b.round(ctx, g, &recovered, &nextLook)
		if err == nil {
			failures = 0
		} else if ctx.Err() == nil {
			recovered = false // what this round left in "granting" is stale
			wait = backoff(b.cfg.BackoffMin, b.cfg.BackoffMax, failures)
			failures++
			b.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "grant: nothing can be given now", slog.Any("error", err), slog.Duration("next", wait))
		}
		b.sleep(ctx, wait, err != nil)
	}
	return nil
}

// round gives all that is due.
func (b *Book) round(ctx context.Context, g contained, recovered *bool, nextLook *time.Time) error {
	if !*recovered {
		if err := b.recover(ctx, g); err != nil {
			return err
		}
		*recovered = true
	}
	if b.lookNow.Swap(false) || b.cfg.LookEvery > 0 && time.Now().After(*nextLook) {
		*nextLook = time.Now().Add(b.cfg.LookEvery)
		if err := b.lookThrough(ctx, g); err != nil {
			return err
		}
	}
	return b.giveAll(ctx, g)
}

// giveAll gives a batch to each player in turn, until nothing is due.
func (b *Book) giveAll(ctx context.Context, g contained) error {
	served := []string{} // have had a batch, and let the others go first
	for silent := 0; ctx.Err() == nil; {
		account, found, err := b.next(ctx, served)
		if err != nil || !found && len(served) == 0 {
			return err
		}
		if !found {
			served = served[:0]
			continue
		}
		full, failed := b.batch(ctx, g, account)
		if full {
			served = append(served, account)
		}
		if !errors.Is(failed, errSilent) {
			silent, err = 0, failed
		} else if err = b.postpone(ctx, account, failed); err == nil {
			if silent++; silent == silentInARow {
				err = failed
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// next is the player who has waited longest, but for those who were served.
func (b *Book) next(ctx context.Context, served []string) (account string, found bool, err error) {
	others, err := json.Marshal(served)
	if err != nil {
		return "", false, err
	}
	first, err := b.query(ctx, sqlDue, now(), string(others))
	if err != nil || len(first) == 0 {
		return "", false, err
	}
	return first[0].Account, true, nil
}

// recover settles what a worker before this one left in the game's hands.
func (b *Book) recover(ctx context.Context, g contained) error {
	to, reason := Review, "the process ended while the game was giving it: look whether the player has it"
	if g.game.Refuses() {
		to, reason = Pending, "the process ended while the game was giving it: asking again"
	}
	n, err := b.moveAll(ctx, everybody, Granting, to, reason)
	if n > 0 {
		b.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "grant: "+reason, slog.Int("units", n))
	}
	return err
}

// sleep waits, until it is woken unless the game is failing.
func (b *Book) sleep(ctx context.Context, wait time.Duration, failing bool) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	wake := b.wake
	if failing {
		wake = nil
	}
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-wake:
	}
}

// backoff is the wait after n failures in a row, and one more.
func backoff(from, to time.Duration, n int) time.Duration {
	return min(to, from<<min(n, 20))
}

// contained bounds the calls of a Game in time and turns its panics into errors. A call
// outlives the worker's context, since breaking it off would leave its end unknown.
type contained struct {
	game    Game
	timeout time.Duration
}

func (c contained) player(ctx context.Context, account string) (p Player, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.timeout)
	defer cancel()
	defer contain(&err)
	return c.game.Player(ctx, account)
}

func (c contained) give(ctx context.Context, d Delivery) (a Answer, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.timeout)
	defer cancel()
	defer contain(&err)
	return c.game.Give(ctx, d)
}

func contain(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("grant: the game panicked: %v", v)
	}
}
