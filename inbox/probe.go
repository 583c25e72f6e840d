package inbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ledgerStatements are the statements that PostgreSQL's ledger is asked at Open whether it
// understands. On SQLite the fold prepares its own.
var ledgerStatements = slices.Concat(opStatements, []string{
	strings.Replace(sqlClaim, "/*order*/", sqlSerialize, 1), strings.Replace(sqlSerializeExisting, "/*stage*/", "p.stage = {ready}", 1),
	sqlFence, sqlReschedule, sqlGiveBack, sqlSetAside, sqlRun, sqlLatest, sqlLockPayment, sqlCountHints, sqlEvict, sqlLateOrder, sqlOpenOrder, sqlTake,
	sqlOwed, sqlOwedLater, sqlDoubts, sqlOpenPolls, sqlClose, sqlLoss,
	sqlAlive, sqlBeat, sqlQuiet, sqlUnclean, sqlTakenIn, sqlAbandoned, sqlRaw, sqlEntry, sqlReceipts, sqlFirst,
	sqlOutstanding, sqlForward, sqlOldReceipts, sqlDropBodies, sqlDropRecords, sqlLookup,
	sqlLookAhead, sqlHowAhead, sqlMoveBack, sqlHintsAhead, sqlMoveHintsBack, sqlBeatsAhead, sqlMoveBeatsBack,
	sqlStatus, sqlLosses, sqlLongOutstanding, sqlNoID, sqlKnown, sqlIDOf, sqlOwes, sqlSettle, sqlDateReceipts, sqlHints, sqlNewRecords, sqlOwedRecords, sqlKnownRecords,
})

// probe has the server analyze each statement, so that a ledger of another shape is refused
// and does not fail later, a statement at a time. It is a PREPARE of SQL, which is gone at
// the end of the same message: a pooler must not find it in a session. All are in one message.
func (d *dialect) probe(ctx context.Context, ledger pool) error {
	tx, err := ledger.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("inbox: open: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	var all strings.Builder
	for _, statement := range ledgerStatements {
		all.WriteString("PREPARE depositpay_probe AS " + d.words(statement) + "; DEALLOCATE depositpay_probe;\n")
	}
	if _, err := tx.ExecContext(ctx, all.String()); err != nil {
		return d.probeError(err)
	}
	return nil
}

func (d *dialect) probeError(err error) error {
	switch state := sqlState(err); {
	case state == "42501":
		return fmt.Errorf("inbox: open: the role may not use the ledger's tables; GRANT SELECT, INSERT, UPDATE and DELETE on them to it: %w", err)
	case strings.HasPrefix(state, "42"):
		return errors.Join(fmt.Errorf("%w: the tables have version %d, but not its columns; "+
			"they were made by another version of this code, before it was released, or changed by hand; use another Config.TablePrefix, or change them to what MigrationSQL says", ErrSchema, schemaVersion), err)
	}
	return fmt.Errorf("inbox: open: %w", err)
}
