// Package sqlite is package inbox/sqlite without the version of its driver: the tests of this
// module open ledgers with it, and the module inbox/sqlite, which requires an SQLite without
// known corruptions, offers it to merchants. See its documentation.
package sqlite
