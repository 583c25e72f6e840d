package inboxbench_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/internal/test/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Stopping(m)) }
