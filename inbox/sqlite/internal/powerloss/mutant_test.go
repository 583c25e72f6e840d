//go:build linux

package powerloss_test

import (
	"database/sql"
	"errors"
	"net/url"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
	"github.com/depositpay/depositpay-go/internal/pragma"
)

// mutant opens a ledger as package inbox/sqlite does, and then its pools again with
// other values of synchronous.
func mutant(ledger, intake string) opener {
	return func(path string) (*inbox.SQLite, error) {
		proper, err := sqlite.Open(path, nil) // for the files and the lock
		if err != nil {
			return nil, err
		}
		if err := errors.Join(proper.Reader.Close(), proper.Writer.Close(), proper.Intake.Close()); err != nil {
			return nil, errors.Join(err, proper.Close())
		}
		m := &inbox.SQLite{
			Writer: pool(path, pragma.Writer, ledger), Reader: pool(path, pragma.Reader, ledger), Intake: pool(path+"-intake", pragma.Writer, intake),
		}
		m.Close = func() error {
			return errors.Join(m.Reader.Close(), m.Writer.Close(), m.Intake.Close(), proper.Close())
		}
		return m, nil
	}
}

func pool(file string, role pragma.Role, synchronous string) *sql.DB {
	query := url.Values{"_txlock": {"immediate"}, "_error_rc": {"true"}, "mode": {"rw"}}
	for _, s := range pragma.Settings(role) {
		if s.Name == "synchronous" {
			s.Value = synchronous
		}
		query.Add("_pragma", s.Name+"("+s.Value+")")
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: file, RawQuery: query.Encode()}).String())
	if err != nil {
		panic(err) // no connection is made here
	}
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	return db
}
