package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	_ "modernc.org/sqlite" // the driver

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/pragma"
)

// Options configure Open; nil means the defaults.
type Options struct {
	// Readers is the number of connections that read the ledger. 0 means 4.
	Readers int
}

// Open opens the ledger at path, and creates it (and its directory) if necessary. See the package
// documentation for the files, the lock, the settings and the errors. It takes milliseconds, or up to 5 s
// if another program is in the middle of a transaction. The pools are safe for concurrent use.
func Open(path string, opts *Options) (*inbox.SQLite, error) {
	file, err := locate(path)
	if err != nil {
		return nil, err
	}
	readers := 4
	if opts != nil && opts.Readers != 0 {
		readers = opts.Readers
	}
	if readers < 0 {
		return nil, &Error{Op: "open", File: file, Err: fmt.Errorf("Options.Readers is %d: give 1 or more, or 0 for 4", readers)}
	}
	held, err := lock(file)
	if err != nil {
		return nil, failure(file, err)
	}
	opened := &ledger{file: file, held: held}
	if err := opened.open(context.Background(), readers); err != nil {
		_ = opened.close()
		return nil, err
	}
	return &inbox.SQLite{Writer: opened.writer, Reader: opened.reader, Intake: opened.intake, Close: opened.close}, nil
}

func (l *ledger) open(ctx context.Context, readers int) (err error) {
	if l.writer, err = openWriter(ctx, l.file); err != nil {
		return failure(l.file, err)
	}
	if l.intake, err = openWriter(ctx, l.file+"-intake"); err != nil {
		return failure(l.file+"-intake", err)
	}
	// The reader comes last: it can neither create a database nor recover one.
	if l.reader, err = pool(l.file, pragma.Reader, readers); err != nil {
		return failure(l.file, err)
	}
	if err := pragma.Ledger(ctx, l.writer, l.reader, l.intake); err != nil {
		return failure(l.file, err)
	}
	return nil
}

// openWriter opens the one connection that writes file, and commits through it.
func openWriter(ctx context.Context, file string) (*sql.DB, error) {
	if err := prepare(file); err != nil {
		return nil, err
	}
	db, err := pool(file, pragma.Writer, 1)
	if err != nil {
		return nil, err
	}
	if err := probe(ctx, db); err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

func pool(file string, role pragma.Role, size int) (*sql.DB, error) {
	db, err := sql.Open("sqlite", source(file, role))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	// Closing a file's last connection checkpoints and deletes the -wal file: an idle pool must not do
	// that again and again.
	db.SetConnMaxIdleTime(0)
	db.SetConnMaxLifetime(0)
	return db, nil
}

// probe commits once without a change, so that a full, read-only or broken disk is found before the
// first payment. user_version keeps its value, but its page is written.
func probe(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version=%d", version)); err != nil {
		return err
	}
	return tx.Commit()
}
