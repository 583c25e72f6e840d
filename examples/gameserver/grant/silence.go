package grant

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// errSilent is wrapped by the error for a player whom the game tells nothing about. It may
// be about this player alone, so the others go on.
var errSilent = errors.New("the game does not tell")

// silentInARow is after how many players in a row the game counts as down, for now.
const silentInARow = 3

// silence is what is kept of an account that the game tells nothing about. Only the worker
// reads and writes it.
type silence struct {
	tries int   // in a row
	alone int   // how many of them while the game told about others
	heard int64 // Book.heard at the last of them
}

// ask is Game.Player, and keeps for whom the game has an answer.
func (b *Book) ask(ctx context.Context, g contained, account string) (Player, error) {
	p, err := g.player(ctx, account)
	if err != nil {
		return p, fmt.Errorf("%w whether %s is online: %w", errSilent, account, err)
	}
	b.heard++
	delete(b.silent, account)
	return p, nil
}

// postpone puts off what is due to an account that the game tells nothing about. A game
// that tells about others may never tell about this one, so in the end a person has to
// look; while it is down for everybody, nothing is given up.
func (b *Book) postpone(ctx context.Context, account string, failed error) error {
	s := b.silent[account]
	if s.tries > 0 && b.heard > s.heard {
		s.alone++
	}
	wait := backoff(b.cfg.BackoffMin, b.cfg.BackoffMax, s.tries)
	s.tries, s.heard = s.tries+1, b.heard
	b.silent[account] = s
	if s.alone >= b.cfg.MaxAttempts {
		delete(b.silent, account)
		b.cfg.Logger.LogAttrs(ctx, slog.LevelError, "grant: a player's items need review", slog.String("account", account), slog.Any("error", failed))
		_, err := b.moveAll(ctx, account, Pending, Review, fmt.Sprintf("given up after %d attempts: %v", s.tries, failed))
		return err
	}
	b.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "grant: a player gets nothing now", slog.String("account", account), slog.Any("error", failed), slog.Duration("next", wait))
	return b.putOff(ctx, account, failed.Error(), time.Now().Add(wait))
}
