// Package pragma knows the settings under which an SQLite ledger keeps its promises, and
// reads them back from databases that are already open. It needs no driver, so package
// inbox can check databases that a merchant opened with a driver of his own.
package pragma
