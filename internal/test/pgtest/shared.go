package pgtest

import (
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
)

// Environment is the variable with the DSN of a server that is there already.
const Environment = "DEPOSITPAY_TEST_POSTGRES"

// shared is the one server of this process, and what became of its start.
var shared struct {
	sync.Mutex
	server *server
	err    error
}

// serverDSN starts the shared server at the first call. A failure is final: the next test
// would only wait for the same one.
func serverDSN() (string, error) {
	if dsn := os.Getenv(Environment); dsn != "" {
		return dsn, nil
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = newServer()
	}
	if shared.err != nil {
		return "", shared.err
	}
	return shared.server.dsn("postgres"), nil
}

// Runner is what goleak.VerifyTestMain takes.
type Runner interface{ Run() int }

// Stopping is m, which also ends the shared server: goleak.VerifyTestMain(pgtest.Stopping(m)).
func Stopping(m Runner) Runner { return stopping{m} }

type stopping struct{ tests Runner }

func (s stopping) Run() int {
	code := s.tests.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.server != nil {
		if err := shared.server.close(); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, "pgtest:", err)
			code = max(code, 1)
		}
		shared.server = nil
	}
	return code
}

// notQuick skips the test in make quick, which says what it leaves out.
func notQuick(t testing.TB) {
	t.Helper()
	if os.Getenv("DEPOSITPAY_TEST_QUICK") != "" {
		t.Skip("SKIPPED: make quick runs without PostgreSQL")
	}
}

// missing ends the test: with a failure in CI, and elsewhere
// with a skip that is hard to overlook.
func missing(t testing.TB, loud io.Writer, err error) {
	t.Helper()
	skip(t, loud, fmt.Sprintf("no PostgreSQL: %v; install it (Debian: apt-get install postgresql; macOS: brew install postgresql@17), or set %s to the DSN of a server on which databases may be created", err, Environment))
}

func skip(t testing.TB, loud io.Writer, message string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal("pgtest: this must run in CI: " + message)
	}
	_, _ = fmt.Fprintln(loud, "pgtest: SKIPPED: "+message)
	t.Skip("SKIPPED: " + message)
}
