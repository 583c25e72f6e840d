package inbox

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/payments"
)

// An open line belongs to a live poller as long as it gets heartbeats.
const (
	beatEvery = 20 * time.Second
	beatDead  = 2 * time.Minute
)

const (
	sqlAlive = `SELECT count(*) FROM {p}polls WHERE poll_id = ?1 AND closed_at IS NULL AND outcome = ''`
	sqlBeat  = `UPDATE {p}polls SET beat_at = {now} WHERE poll_id = ?1 AND closed_at IS NULL AND outcome = ''`
	sqlQuiet = `SELECT poll_id FROM {p}polls WHERE closed_at IS NULL AND outcome = '' AND (CAST(?1 AS bigint) < 0 OR beat_at < {now} - CAST(?1 AS bigint))`

	sqlUnclean = `UPDATE {p}polls SET outcome = 'unclean: the poller ended without closing its journal'
		WHERE poll_id = ?1 AND closed_at IS NULL AND outcome = ''`
	sqlTakenIn = `UPDATE {p}polls SET outcome = 'unclean; what it had received is taken in: the poller ended without closing its journal'
		WHERE poll_id = ?1 AND (CAST(?2 AS bigint) < 0 OR beat_at < {now} - CAST(?2 AS bigint))`
	sqlAbandoned = `SELECT poll_id FROM {p}polls WHERE closed_at IS NULL AND outcome LIKE 'unclean:%'`
)

// pollAlive sends the heartbeat of a line when it is due, and reports whether the line still counts as
// alive. Another process may have taken the poller for dead (its process was stopped): then the next
// poll needs another line, since nobody would recover what the old one leaves. Between heartbeats it
// only reads, which costs no sync. An SQLite file has no other process. The caller holds mu.
func (b *pollLedger) pollAlive(ctx context.Context, line *pollLine) (alive bool, err error) {
	if b.cfg.SQLite != nil {
		return true, nil
	}
	if time.Since(line.beat) < beatEvery {
		var n int
		err := b.store.reader().QueryRowContext(ctx, b.d.sql(sqlAlive), line.id).Scan(&n)
		return n == 1, err
	}
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	tx, err := b.store.ledger().BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }()
	// A heartbeat that a power cut loses belongs to a process that is dead then.
	if _, err := tx.ExecContext(ctx, `SET LOCAL synchronous_commit = off`); err != nil {
		return false, err
	}
	result, err := tx.ExecContext(ctx, b.d.sql(sqlBeat), line.id)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	if err != nil {
		return false, err
	}
	line.beat = time.Now()
	return n == 1, tx.Commit()
}

// beatStep sends the heartbeats of idle pollers, and requests a reconciliation if pollers have died.
func (b *pollLedger) beatStep(ctx context.Context) (more bool, err error) {
	if err := b.beatLines(ctx); err != nil {
		return false, err
	}
	dead, err := b.markDead(ctx)
	if dead > 0 {
		b.wakeReconcile()
	}
	return false, err
}

func (b *pollLedger) beatLines(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, line := range b.open {
		alive, err := b.pollAlive(ctx, line)
		if err != nil {
			return err
		}
		if !alive {
			delete(b.open, id)
		}
	}
	return b.writeLosses(ctx) // last: a loss that cannot be stored must not stop the heartbeats
}

// ownLine reports whether a line is open in this process.
func (b *pollLedger) ownLine(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open[id] != nil
}

// recoverPolls turns the lines of pollers that ended uncleanly into possible losses, and accepts the
// responses that they received but did not deliver. It repeats that for an hour: a poller that was taken
// for dead may have continued for a while.
func (b *pollLedger) recoverPolls(ctx context.Context) error {
	if _, err := b.markDead(ctx); err != nil {
		return err
	}
	ids, err := b.queryStrings(ctx, sqlAbandoned)
	if err != nil {
		return err
	}
	again := time.Hour.Microseconds()
	if b.cfg.SQLite != nil {
		again = -1
	}
	var errs []error
	for _, id := range ids {
		if err := b.recoverRaw(ctx, id); err != nil {
			errs = append(errs, err)
			continue // the others must not wait for it
		}
		if _, err := b.store.ledger().ExecContext(ctx, b.d.sql(sqlTakenIn), id, again); err != nil {
			return err
		}
	}
	if len(errs) == 0 {
		b.recovery.Do(func() { close(b.recovered) })
	}
	return errors.Join(errs...)
}

// markDead marks the lines of pollers that are dead, and returns how many there were.
func (b *pollLedger) markDead(ctx context.Context) (dead int, err error) {
	silence := beatDead.Microseconds()
	if b.cfg.SQLite != nil {
		silence = -1 // the file has no other process
	}
	quiet, err := b.queryStrings(ctx, sqlQuiet, silence)
	if err != nil {
		return 0, err
	}
	for _, id := range quiet {
		if b.ownLine(id) {
			continue
		}
		if _, err := b.store.ledger().ExecContext(ctx, b.d.sql(sqlUnclean), id); err != nil {
			return dead, err
		}
		dead++
	}
	return dead, nil
}

const sqlRaw = `SELECT receipt_id, body FROM {p}receipts
	WHERE payment_id = ?1 AND receipt_id > ?2 AND outcome = 'raw' AND body IS NOT NULL ORDER BY receipt_id LIMIT 200`

// rawBody is the response of a poll, as stored before it was decoded.
type rawBody struct {
	n    int64
	body string
}

// recoverRaw accepts the responses that a dead poller stored and may not have delivered.
func (b *pollLedger) recoverRaw(ctx context.Context, id string) error {
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

func (b *pollLedger) recoverBody(ctx context.Context, body string) error {
	p, err := b.cfg.Client.Decode([]byte(restored(body)))
	if err != nil || p.ID == uuid.Nil {
		return b.keepUnreadable(ctx, body, err)
	}
	known, err := b.hasRecord(ctx, p)
	if err != nil || known {
		return err
	}
	if err := b.accept(ctx, p, ChannelPoll); err != nil {
		if refusedData(err) {
			return b.keepUnreadable(ctx, body, err)
		}
		return err
	}
	return nil
}

// hasRecord reports whether this very record was received before, or no longer matters because its
// payment is done.
func (b *pollLedger) hasRecord(ctx context.Context, p payments.Payment) (bool, error) {
	if o, held := b.store.unfolded(p.ID); held && o.Kind != opBind {
		return true, nil
	}
	e, err := b.entry(ctx, p.ID.String())
	if errors.Is(err, ErrNotFound) || err == nil && e.Stage < StageReady {
		return false, nil
	}
	if err != nil || e.Stage == StageDone {
		return err == nil, err
	}
	o, err := recordOp(p, ChannelPoll)
	if err != nil {
		return false, err
	}
	receipts, err := b.receipts(ctx, o.ID)
	return slices.ContainsFunc(receipts, func(r Receipt) bool { return r.Body == restored(o.Body) }), err
}

// keepUnreadable puts a response that cannot be decoded, or names no payment, into review, once.
func (b *pollLedger) keepUnreadable(ctx context.Context, body string, why error) error {
	key := unreadableKey(body)
	switch _, err := b.entry(ctx, key); {
	case err == nil:
		return nil
	case !errors.Is(err, ErrNotFound):
		return err
	}
	b.cfg.Logger.LogAttrs(ctx, slog.LevelError, "depositpay: what a poll returned before a crash cannot be read; it is in review",
		slog.String("key", key), slog.Any("error", why))
	return b.put(ctx, op{Kind: opReview, ID: key, Channel: int(ChannelPoll), Body: body, Reason: ReasonUnreadable})
}
