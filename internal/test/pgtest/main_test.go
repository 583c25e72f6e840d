package pgtest_test

import (
	"fmt"
	"io"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/internal/test/pgtest"
)

// helperVictim makes this test binary a process with servers, which waits to be killed.
const helperVictim = "DEPOSITPAY_TEST_HELPER_VICTIM"

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(pgtest.Stopping(m))
}

// TestVictim is no test of its own, see TestNothingOutlivesTheTests.
func TestVictim(t *testing.T) {
	if os.Getenv(helperVictim) == "" {
		return
	}
	for _, dsn := range []string{pgtest.New(t).DSN, pgtest.NewCluster(t).DSN("postgres")} {
		_, _ = fmt.Fprintln(os.Stdout, dsn)
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // and not a channel: without cgo the runtime calls that a deadlock and exits
}
