package inbox

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/webhook"
)

// An open line is somebody else's living poller as long as it is beaten.
const (
	beatEvery = 20 * time.Second
	beatDead  = 2 * time.Minute
)

const (
	sqlAlive   = `SELECT count(*) FROM {p}polls WHERE poll_id = ?1 AND closed_at IS NULL AND outcome = ''`
	sqlBeat    = `UPDATE {p}polls SET beat_at = {now} WHERE poll_id = ?1 AND closed_at IS NULL AND outcome = ''`
	sqlUnclean = `UPDATE {p}polls SET outcome = 'unclean: the poller ended without closing its journal'
		WHERE closed_at IS NULL AND outcome = '' AND poll_id <> ?1 AND beat_at < {now} - ?2`
	sqlTakenIn = `UPDATE {p}polls SET outcome = 'unclean; what it had received is taken in: the poller ended without closing its journal'
		WHERE poll_id = ?1 AND beat_at < {now} - ?2`
	sqlAbandoned = `SELECT poll_id FROM {p}polls WHERE closed_at IS NULL AND outcome LIKE 'unclean:%'`
)

// beatPolls tells that the open line's poller is alive. If it was taken for dead
// meanwhile (the process stood still), the line is over and the next poll opens another:
// nobody would look for what the old one leaves. The caller holds poll.mu. On SQLite the
// file has one process, and nobody asks.
func (b *Inbox) beatPolls(ctx context.Context) error {
	if b.cfg.SQLite != nil || b.poll.id == "" {
		return nil
	}
	alive, err := b.pollAlive(ctx)
	if err == nil && !alive {
		b.poll.id = ""
	}
	return err
}

// pollAlive beats when it is time, and reads otherwise: a read costs no sync.
func (b *Inbox) pollAlive(ctx context.Context) (alive bool, err error) {
	if time.Since(b.poll.beat) < beatEvery {
		var n int
		err := b.store.reader().QueryRowContext(ctx, b.d.sql(sqlAlive), b.poll.id).Scan(&n)
		return n == 1, err
	}
	tx, err := b.store.ledger().BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }()
	// A beat that a power cut takes back was that of a process that is dead by then.
	if _, err := tx.ExecContext(ctx, `SET LOCAL synchronous_commit = off`); err != nil {
		return false, err
	}
	result, err := tx.ExecContext(ctx, b.d.sql(sqlBeat), b.poll.id)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	if err != nil {
		return false, err
	}
	b.poll.beat = time.Now()
	return n == 1, tx.Commit()
}

// beatStep is beatPolls for Run, which goes on while a poller waits.
func (b *Inbox) beatStep(ctx context.Context) (more bool, err error) {
	b.poll.mu.Lock()
	defer b.poll.mu.Unlock()
	return false, b.beatPolls(ctx)
}

// recoverPolls turns the lines of pollers that ended uncleanly into possible losses, and
// takes in what they had received and not yet handed over. For an hour it looks at them
// again: a poller that was taken for dead may have gone on a little.
func (b *Inbox) recoverPolls(ctx context.Context) error {
	b.poll.mu.Lock()
	own := b.poll.id
	b.poll.mu.Unlock()
	dead := beatDead.Microseconds()
	if b.cfg.SQLite != nil {
		dead = -1 // the file has one process: nobody else lives
	}
	if _, err := b.store.ledger().ExecContext(ctx, b.d.sql(sqlUnclean), own, dead); err != nil {
		return err
	}
	ids, err := b.strings(ctx, sqlAbandoned)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := b.recoverRaw(ctx, id); err != nil {
			return err
		}
		if _, err := b.store.ledger().ExecContext(ctx, b.d.sql(sqlTakenIn), id, time.Hour.Microseconds()); err != nil {
			return err
		}
	}
	return nil
}

const sqlRaw = `SELECT receipt_id, body FROM {p}receipts
	WHERE payment_id = ?1 AND receipt_id > ?2 AND outcome = 'raw' AND body IS NOT NULL ORDER BY receipt_id LIMIT 200`

// rawBody is what a poll returned, as it was written down before it was read.
type rawBody struct {
	n    int64
	body string
}

// recoverRaw accepts what a dead poller wrote down and may not have handed over.
func (b *Inbox) recoverRaw(ctx context.Context, id string) error {
	for last := int64(0); ; {
		rows, err := b.store.reader().QueryContext(ctx, b.d.sql(sqlRaw), pollKey(id), last)
		if err != nil {
			return err
		}
		page, err := collect(rows, func(rows *sql.Rows) (r rawBody, err error) { return r, rows.Scan(&r.n, &r.body) })
		if err != nil || len(page) == 0 {
			return err
		}
		for _, r := range page {
			if err := b.recoverBody(ctx, r.body); err != nil {
				return err
			}
		}
		last = page[len(page)-1].n
	}
}

func (b *Inbox) recoverBody(ctx context.Context, body string) error {
	p, err := b.cfg.Client.Decode([]byte(restored(body)))
	if err != nil || p.ID == uuid.Nil {
		return b.keepUnreadable(ctx, body, err)
	}
	standing, err := b.Standing(ctx, p.ID)
	if err != nil || standing == webhook.StandingHandled {
		return err
	}
	return b.accept(ctx, p, ChannelPoll)
}

// keepUnreadable puts what cannot be read, or names no payment, into review, once.
func (b *Inbox) keepUnreadable(ctx context.Context, body string, why error) error {
	key := unreadableKey(body)
	switch _, err := b.Get(ctx, key); {
	case err == nil:
		return nil
	case !errors.Is(err, ErrNotFound):
		return err
	}
	b.cfg.Logger.LogAttrs(ctx, slog.LevelError, "depositpay: what a poll returned before a crash cannot be read; it is in review",
		slog.String("key", key), slog.Any("error", why))
	return b.put(ctx, op{Kind: opReview, ID: key, Channel: ChannelPoll, Body: body, Reason: ReasonUnreadable})
}
