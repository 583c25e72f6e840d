package pragma

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// probes bounds how many connections of a pool are looked at. A PRAGMA belongs to one
// connection: anyone who sets it with DB.Exec has set it on one of several.
const probes = 4

// Ledger checks the three pools of a ledger and that they are the files they should be:
// writer and reader of one, intake of another.
func Ledger(ctx context.Context, writer, reader, intake *sql.DB) error {
	ledger, err := Check(ctx, writer, Writer)
	if err != nil {
		return err
	}
	read, err := Check(ctx, reader, Reader)
	if err != nil {
		return err
	}
	arrivals, err := Check(ctx, intake, Writer)
	if err != nil {
		return err
	}
	switch {
	case read != ledger:
		return &Error{File: ledger, Got: "the reader reads " + read, Reason: "it would not see the ledger", Fix: "open the same file for both"}
	case arrivals == ledger:
		return &Error{File: ledger, Got: "the intake is the ledger itself", Reason: "a handler's open transaction would hold up every acceptance", Fix: "open another file for the intake"}
	}
	return nil
}

// Check reads back version and settings of several connections of db at once, and tries
// how it begins a transaction. It returns the file's name as SQLite knows it, and all
// refusals joined: each is an [*Error], errors.Is finds [ErrSettings]. Call it before db
// is in use, because it waits for connections.
func Check(ctx context.Context, db *sql.DB, role Role) (file string, err error) {
	limit := db.Stats().MaxOpenConnections
	n := min(limit, probes)
	if limit <= 0 {
		n = probes
	}
	for range n {
		conn, err := db.Conn(ctx)
		if err != nil {
			return "", fmt.Errorf("inbox: connect to the SQLite ledger: %w", err)
		}
		// All are held until the end, or the pool would hand out the same one again.
		defer func() { _ = conn.Close() }()
		if file, err = checkConn(ctx, conn, role); err != nil {
			return file, err
		}
	}
	if role == Writer && limit != 1 {
		return file, &Error{
			File: file, Got: fmt.Sprintf("the writing pool may open %d connections (0: any number)", limit),
			Reason: "they would wait for each other's locks", Fix: "call SetMaxOpenConns(1)",
		}
	}
	return file, nil
}

func checkConn(ctx context.Context, conn *sql.Conn, role Role) (string, error) {
	var file, version string
	// database_list would do, but only the table-valued form lets a WHERE choose.
	err := conn.QueryRowContext(ctx, `SELECT coalesce(file, ''), sqlite_version() FROM pragma_database_list WHERE name = 'main'`).Scan(&file, &version)
	if err != nil {
		return "", fmt.Errorf("inbox: ask SQLite for its version: %w", err)
	}
	if file == "" {
		return "", &Error{File: "(memory)", Got: "it is no file", Reason: "it would forget every payment when the process ends", Fix: "open a file"}
	}
	refusals := []error{checkVersion(file, version)}
	for _, setting := range Settings(role) {
		refusal, err := setting.check(ctx, conn, file)
		if err != nil {
			return file, err
		}
		refusals = append(refusals, refusal)
	}
	if err := errors.Join(refusals...); err != nil {
		return file, err
	}
	if role == Writer {
		return file, checkBegin(ctx, conn, file)
	}
	return file, nil
}

func (s Setting) check(ctx context.Context, conn *sql.Conn, file string) (refusal, err error) {
	var got string
	if err := conn.QueryRowContext(ctx, "PRAGMA "+s.Name).Scan(&got); err != nil {
		return nil, fmt.Errorf("inbox: %s: read back %s: %w", file, s.Name, err)
	}
	if s.accept(strings.ToLower(got)) {
		return nil, nil
	}
	return &Error{
		File: file, Got: fmt.Sprintf("%s is %s and not %s", s.Name, got, s.Value), Reason: s.reason,
		Fix: fmt.Sprintf("let package inbox/sqlite open it, or have your driver run PRAGMA %s=%s on every new connection", s.Name, s.Value),
	}, nil
}

// checkBegin finds out whether a transaction takes the write lock when it begins. No
// PRAGMA tells, but a checkpoint is refused as "locked" within a transaction that has
// really begun, and passes within one that only will (deferred).
func checkBegin(ctx context.Context, conn *sql.Conn, file string) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("inbox: %s: begin a transaction: %w", file, err)
	}
	defer func() { _ = tx.Rollback() }()
	var busy, frames, moved int
	err = tx.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &frames, &moved)
	switch {
	case err == nil:
		return &Error{
			File: file, Got: "a transaction does not take the write lock when it begins",
			Reason: "one that reads before it writes could fail with SQLITE_BUSY, which no timeout helps",
			Fix:    "let package inbox/sqlite open it, or have your driver begin with BEGIN IMMEDIATE (often _txlock=immediate)",
		}
	case strings.Contains(err.Error(), "locked"):
		return nil
	}
	return fmt.Errorf("inbox: %s: try a transaction: %w", file, err)
}
