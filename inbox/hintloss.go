package inbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// The hints that were given up in doubt stand in the poll journal, among the possible losses:
// a line for each, and beyond maxHintLosses open ones a single line that counts. Whoever
// floods a shop whose service is away can fill these, and not drown the lost polls.
const (
	maxHintLosses = 100
	hintLosses    = "hints" // begins the key of the line that counts

	sqlNamedLosses = `SELECT count(*) FROM {p}polls WHERE closed_at IS NULL AND poll_id LIKE 'hint-%'`
	// One that was settled and is given up again is open again.
	sqlNameLoss = `INSERT INTO {p}polls (poll_id, opened_at, beat_at, outcome) VALUES (?1, {now}, {now}, ?2)
		ON CONFLICT (poll_id) DO UPDATE SET beat_at = excluded.beat_at, closed_at = NULL, outcome = excluded.outcome`
	sqlOtherLosses = `SELECT poll_id, outcome FROM {p}polls WHERE closed_at IS NULL AND poll_id LIKE 'hints-%' ORDER BY opened_at DESC LIMIT 1`
	// With each addition it gets another key: who settles what they have read does not settle more.
	sqlAddLosses = `UPDATE {p}polls SET poll_id = ?2, beat_at = {now}, outcome = ?3 WHERE poll_id = ?1 AND closed_at IS NULL`

	namedLoss   = "given up in doubt: payment %s, which a webhook named, for more than Config.MaxHints others; its confirm has no known outcome: confirm it again"
	otherLosses = "given up in doubt: %d more payments that webhooks named, the first %s and the last %s"
)

// noteHintLosses writes down what evictDoubtful has deleted, the oldest first, and tells
// whether nothing like it was open.
func (b *Inbox) noteHintLosses(ctx context.Context, tx *sql.Tx, ids []string) (first bool, err error) {
	var open int
	if err := tx.QueryRowContext(ctx, b.d.sql(sqlNamedLosses)).Scan(&open); err != nil {
		return false, err
	}
	named := min(len(ids), max(0, maxHintLosses-open))
	for _, id := range ids[:named] {
		if _, err := tx.ExecContext(ctx, b.d.sql(sqlNameLoss), "hint-"+id, fmt.Sprintf(namedLoss, id)); err != nil {
			return false, err
		}
	}
	if named < len(ids) {
		err = b.countHintLosses(ctx, tx, ids[named:])
	}
	return open == 0, err
}

// countHintLosses adds to the line that counts, or begins it.
func (b *Inbox) countHintLosses(ctx context.Context, tx *sql.Tx, ids []string) error {
	var have, text, before string
	err := tx.QueryRowContext(ctx, b.d.sql(sqlOtherLosses)).Scan(&have, &text)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	n, first, last, key := 0, "", ids[len(ids)-1], hintLosses+"-"+uuid.NewString()
	if _, err := fmt.Sscanf(text, otherLosses, &n, &first, &before); err == nil { // else there is none, or not in these words
		result, err := tx.ExecContext(ctx, b.d.sql(sqlAddLosses), have, key, fmt.Sprintf(otherLosses, n+len(ids), first, last))
		if err != nil {
			return err
		}
		if changed, err := result.RowsAffected(); err != nil || changed > 0 { // else somebody has just settled it
			return err
		}
	}
	_, err = tx.ExecContext(ctx, b.d.sql(sqlNameLoss), key, fmt.Sprintf(otherLosses, len(ids), ids[0], last))
	return err
}
