// Package pgtest gives tests a real PostgreSQL. It is for tests only.
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Stopping(m)) }
//
//	func TestLedger(t *testing.T) {
//		db := pgtest.New(t) // a fresh database: db.DSN, db.DB
//
// A test that stops its server takes one for itself with [NewCluster].
//
// # Where the server comes from
//
//  1. DEPOSITPAY_TEST_POSTGRES, if set, is the DSN of a server on which databases may be
//     created. (NewCluster still needs binaries.)
//  2. Otherwise a private cluster is made from installed binaries, at most one for each
//     test binary: those on PATH, Debian's, Homebrew's, Postgres.app's.
//  3. Otherwise, where the tests run as root and apt-get is there (a container), Debian's
//     package is installed, without the cluster that it would start.
//  4. Otherwise the test is skipped loudly; where the environment variable CI is set, it
//     fails.
//
// On Windows only the first way works.
//
// # It is real
//
// fsync, full_page_writes and synchronous_commit are on: a test of durability is worth
// nothing without them. Only initdb does without its syncs, before the first row exists.
//
// # It does not outlive the tests
//
// Each postgres is the child of a small shell, which also holds the reading end of a pipe
// whose writing end only the test process has. However that process ends, kill -9
// included, the pipe ends with it; the shell then stops postgres at once and removes its
// directory. (PR_SET_PDEATHSIG would be Linux only, and it fires when the thread
// that forked ends, which in Go may be any time.) Main only makes the end come before the
// test binary's own, and so before a check for leaks.
package pgtest
