package inbox

import "database/sql"

// SQLite is an opened SQLite ledger: three pools on two files. Package inbox/sqlite
// opens it with the bundled driver; another driver may fill it by itself, and Open
// checks the settings of whatever it is given.
type SQLite struct {
	// Writer is the ledger, with one connection: SQLite has one writer at a time, and a
	// handler's transaction is it.
	Writer *sql.DB
	// Reader is the ledger, for reading.
	Reader *sql.DB
	// Intake is a database file of its own, with one connection: what arrives is
	// written there, so that a handler's open transaction holds up no acceptance.
	Intake *sql.DB
	// Close closes the three and gives the files free for another process.
	Close func() error
}
