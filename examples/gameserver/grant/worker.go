package grant

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

const (
	lookEvery    = 100 * time.Millisecond // between two looks for due units
	failurePause = time.Second            // after a failure of the game
	gameTimeout  = 10 * time.Second       // of one call
	// retryEvery is when a unit that was not given is tried again, in microseconds, unless
	// Joined is called before.
	retryEvery = int64(time.Minute / time.Microsecond)
)

// ErrRunning is the error of a second Run: only one worker may give units.
var ErrRunning = errors.New("grant: Run is running already")

// Run gives due units to game, one at a time, until ctx ends. Then it lets the call in flight
// finish and returns nil. Failures of the game and of the ledger are logged and retried.
func (b *Book) Run(ctx context.Context, game Game) error {
	if !b.running.CompareAndSwap(false, true) {
		return ErrRunning
	}
	defer b.running.Store(false)
	w := &worker{Book: b, game: game, stale: true}
	for ctx.Err() == nil {
		wait := lookEvery
		if err := w.giveAll(ctx); err != nil {
			slog.WarnContext(ctx, "grant: a unit was not given", slog.Any("error", err))
			wait = failurePause
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	return nil
}

// worker is one call of Run.
type worker struct {
	*Book
	game  Game
	stale bool   // a unit may have been left in granting
	last  string // the account that was served last
}

// giveAll gives what is due, one unit to each player in turn, until nothing is due.
func (w *worker) giveAll(ctx context.Context) error {
	if err := w.recover(ctx); err != nil {
		return err
	}
	for ctx.Err() == nil {
		due, err := w.query(ctx, sqlDue, w.last, now())
		if err != nil {
			return err
		}
		switch {
		case len(due) > 0:
			w.last = due[0].Account
			if err := w.give(ctx, due[0]); err != nil {
				return err
			}
		case w.last == "":
			return nil
		default:
			w.last = "" // the next turn
		}
	}
	return nil
}

// recover settles what an earlier worker, or a failure of the ledger, left in granting.
func (w *worker) recover(ctx context.Context) error {
	if !w.stale {
		return nil
	}
	to, reason := Review, "the process ended during the game's call: check whether the player has it"
	if w.game.Refuses() {
		to, reason = Pending, "the process ended during the game's call"
	}
	n, err := change(ctx, w.ledger.Writer, sqlRecover, to, reason, now())
	if n > 0 {
		slog.WarnContext(ctx, "grant: "+reason, slog.Int64("units", n), slog.String("state", string(to)))
	}
	w.stale = err != nil
	return err
}

// give gives one unit. Its error means that the game or the ledger failed.
func (w *worker) give(ctx context.Context, unit Grant) error {
	ctx = context.WithoutCancel(ctx) // a call that is cut short has an unknown outcome
	joins := w.joins.Load()
	moved, err := move(ctx, w.ledger.Writer, unit.Key, Pending, Granting, "")
	if err != nil || !moved {
		w.stale = err != nil
		return err
	}
	answer, failed := w.ask(ctx, Delivery{Key: unit.Key, Account: unit.Account, Item: unit.Item})
	to, reason := w.outcome(answer, failed)
	if to == Review {
		slog.ErrorContext(ctx, "grant: a unit needs review", slog.String("key", unit.Key),
			slog.String("account", unit.Account), slog.String("item", unit.Item), slog.String("reason", reason))
	}
	_, err = move(ctx, w.ledger.Writer, unit.Key, Granting, to, reason)
	switch {
	case err != nil:
		w.stale = true
		return err
	case failed != nil:
		return fmt.Errorf("unit %s: %w", unit.Key, failed)
	case to == Pending:
		return w.postpone(ctx, unit, answer, reason, joins)
	}
	return nil
}

// postpone defers what else is due to a player who is offline, or has no room for the item.
func (w *worker) postpone(ctx context.Context, unit Grant, answer Answer, reason string, joins int64) error {
	item := ""
	if answer == Full {
		item = unit.Item
	}
	_, err := change(ctx, w.ledger.Writer, sqlDefer, reason, now()+retryEvery, unit.Account, now(), item)
	if err == nil && w.joins.Load() != joins { // the player may have joined during the call
		_, err = change(ctx, w.ledger.Writer, sqlJoined, now(), unit.Account)
	}
	return err
}

// outcome is where a unit goes after the call. If its outcome is unknown it goes back to
// pending only with a game that refuses a key twice.
func (w *worker) outcome(answer Answer, failed error) (to State, reason string) {
	switch {
	case failed != nil && (w.game.Refuses() || errors.Is(failed, ErrNotGiven)):
		return Pending, failed.Error()
	case failed != nil:
		return Review, "it is unknown whether the player has it: " + failed.Error()
	case answer == Given:
		return Granted, ""
	case answer == AlreadyGranted:
		return Granted, "the game had it already"
	case answer == Offline:
		return Pending, "the player is offline"
	case answer == Full:
		return Pending, "the inventory is full"
	case answer == Refused:
		return Review, "the game refuses it: no such account or item"
	}
	return Review, fmt.Sprintf("it is unknown whether the player has it: the game answered %q", answer)
}

// ask calls the game, bounded in time.
func (w *worker) ask(ctx context.Context, d Delivery) (answer Answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, gameTimeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the game panicked: %v", v)
		}
	}()
	return w.game.Give(ctx, d)
}
