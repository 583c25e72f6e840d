package inbox

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
)

// retentionBatch is how many receipts one step looks at.
const retentionBatch = 1000

// Retention stores its position among the receipts as one number in the ledger. Receipts are almost in
// the order of time: a first record may get its receipt late, with its own time. So retention stops at
// the first one that is too young; skipping it would keep its body for ever. An index of the remaining
// bodies would slow down every acceptance. See DESIGN I-20.
const (
	nextReceipts   = `WITH next AS (SELECT receipt_id, at FROM {p}receipts WHERE receipt_id > ?1 ORDER BY receipt_id LIMIT ?3) `
	sqlOldReceipts = nextReceipts + `SELECT coalesce(max(receipt_id), 0), count(*) FROM next
		WHERE receipt_id < coalesce((SELECT min(receipt_id) FROM next WHERE at >= {now} - ?2), 9223372036854775807)`
	sqlDropBodies = `UPDATE {p}receipts SET body = NULL WHERE receipt_id > ?1 AND receipt_id <= ?2 AND at < {now} - ?3`
	// A receipt dated in the future, because the clock was set back, would stop retention until then.
	sqlDateReceipts = `UPDATE {p}receipts SET at = {now} WHERE at > {now} AND receipt_id IN
		(SELECT receipt_id FROM {p}receipts WHERE receipt_id > ?1 ORDER BY receipt_id LIMIT ?2)`
)

// Ordered by an indexed column, or the planner would read the whole ledger.
const sqlDropRecords = `UPDATE {p}payments SET record = '' WHERE payment_id IN
	(SELECT payment_id FROM {p}payments WHERE stage = {done} AND record <> '' AND done_at < {now} - ?1 ORDER BY done_at LIMIT ?2)`

// retention drops what is older than Config.KeepBodies.
type retention struct {
	*core
	recovered <-chan struct{} // closed when the responses that dead pollers left are stored
}

// dropBodies drops what was received longer ago than Config.KeepBodies: the bodies of receipts, and
// the records of done payments. Rows stay. It waits for the recovery of what dead pollers received,
// which may be as old.
func (b *retention) dropBodies(ctx context.Context) (more bool, err error) {
	if b.cfg.KeepBodies < 0 {
		return false, nil
	}
	select {
	case <-b.recovered:
	case <-ctx.Done():
		return false, nil
	}
	result, err := b.store.ledger().ExecContext(ctx, b.d.sql(sqlDropRecords), b.cfg.KeepBodies.Microseconds(), retentionBatch)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	if err != nil {
		return false, err
	}
	receipts, err := b.dropReceiptBodies(ctx)
	return n == retentionBatch || receipts, err
}

func (b *retention) dropReceiptBodies(ctx context.Context) (more bool, err error) {
	from, err := b.retentionPosition(ctx)
	if err != nil {
		return false, err
	}
	var to, n int64
	err = b.store.reader().QueryRowContext(ctx, b.d.sql(sqlOldReceipts), from, b.cfg.KeepBodies.Microseconds(), retentionBatch).Scan(&to, &n)
	if err != nil {
		return false, err
	}
	if n == 0 {
		_, err = b.store.ledger().ExecContext(ctx, b.d.sql(sqlDateReceipts), from, retentionBatch)
		return false, err
	}
	ctx, cancel := b.store.ledger().bound(ctx)
	defer cancel()
	tx, err := b.store.ledger().BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, b.d.sql(sqlDropBodies), from, to, b.cfg.KeepBodies.Microseconds()); err != nil {
		return false, err
	}
	if err := b.setRetentionPosition(ctx, tx, to); err != nil {
		return false, err
	}
	return n == retentionBatch, tx.Commit()
}

const retentionName = "bodies dropped"

func (b *retention) retentionPosition(ctx context.Context) (int64, error) {
	text, err := b.meta(ctx, retentionName)
	if err != nil || text == "" {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("inbox: how far retention has come: %w", err)
	}
	return n, nil
}

func (b *retention) setRetentionPosition(ctx context.Context, tx *sql.Tx, to int64) error {
	_, err := tx.ExecContext(ctx, b.d.sql(sqlSetMeta), retentionName, strconv.FormatInt(to, 10))
	return err
}
