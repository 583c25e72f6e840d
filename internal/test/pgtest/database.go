package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// Database is a database that one test has for itself.
type Database struct {
	// DSN is for further pools and for other processes.
	DSN string
	// DB is a pool on it; it is closed when the test ends.
	DB *sql.DB
}

// databases counts, so that names differ within a process; between processes the id does.
var databases atomic.Int64

// New makes a fresh, empty database and drops it when t ends. Tests with databases of
// their own may run in parallel.
func New(t testing.TB) *Database {
	t.Helper()
	notQuick(t)
	base, err := serverDSN()
	if err != nil {
		missing(t, os.Stderr, err)
	}
	name := fmt.Sprintf("depositpay_test_%d_%d", os.Getpid(), databases.Add(1))
	// In containers two processes can have one id: an outer server may know the name.
	if err := administer(base, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)", "CREATE DATABASE "+name); err != nil {
		t.Fatalf("pgtest: make a database: %v (the server needs version 13 and the right CREATEDB)", err)
	}
	dsn := withDatabase(base, name)
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		// FORCE, because a test may have left a process with connections behind.
		err := errors.Join(db.Close(), administer(base, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"))
		if err != nil {
			t.Errorf("pgtest: drop the database: %v", err)
		}
	})
	return &Database{DSN: dsn, DB: db}
}

// administer runs statements one by one, over a connection that is gone afterwards.
func administer(dsn string, statements ...string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// withDatabase is dsn with another database, in either of the two forms that a DSN has.
func withDatabase(dsn, name string) string {
	if !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://") {
		return dsn + " dbname=" + name // the last one counts
	}
	parsed, err := url.Parse(dsn)
	if err != nil {
		return dsn // connecting with it has worked, so this cannot be
	}
	query := parsed.Query()
	query.Del("dbname") // it would go before the path
	query.Del("database")
	parsed.RawQuery, parsed.Path = query.Encode(), "/"+name
	return parsed.String()
}
