package pgtest_test

import (
	"fmt"
	"io"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/internal/test/pgtest"
)

// helperProcess makes this test binary a process with servers, which waits to be killed.
const helperProcess = "DEPOSITPAY_TEST_HELPER_PROCESS"

func TestMain(m *testing.M) {
	if os.Getenv("DEPOSITPAY_TEST_QUICK") != "" {
		_, _ = fmt.Fprintln(os.Stderr, "pgtest: SKIPPED: make quick runs without PostgreSQL")
		return
	}
	goleak.VerifyTestMain(pgtest.Stopping(m))
}

// TestHelperProcess is the process that TestNothingOutlivesTheTests kills.
func TestHelperProcess(t *testing.T) {
	if os.Getenv(helperProcess) == "" {
		return
	}
	for _, dsn := range []string{pgtest.New(t).DSN, pgtest.NewCluster(t).DSN("postgres")} {
		_, _ = fmt.Fprintln(os.Stdout, dsn)
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // a channel would not do: without cgo the runtime reports a deadlock
}
