package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/payments"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const lastLine = "granted 3 of 3 payments, each once"

func TestRun(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, run(t.Context(), &out))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Equal(t, lastLine, lines[len(lines)-1])
	require.Equal(t, 3, strings.Count(out.String(), "  granted: order-"))
	require.Equal(t, 2, strings.Count(out.String(), "  a poll returns "))
	require.Equal(t, 1, strings.Count(out.String(), ": accepted, answered 200"))
	require.Equal(t, 1, strings.Count(out.String(), ": repeated, answered 200"))
	require.NotContains(t, out.String(), "test_demo", "the token is not part of the story")
}

// TestCommand: the exit code is 0 only with the last line.
func TestCommand(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "quickstart")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.CommandContext(t.Context(), binary).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.True(t, strings.HasSuffix(string(out), "\n"+lastLine+"\n"), "%s", out)
}

// TestVerdict: an order that was not granted, or granted twice, is a failure.
func TestVerdict(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	l := newLedger(&out)
	l.expect("order-1", payments.NewAmount(1))
	require.ErrorContains(t, l.verdict(), "granted 0 of 1")
	l.grants["order-1"] = 2
	require.ErrorContains(t, l.verdict(), "granted 2 times")
	l.grants["order-1"] = 1
	require.NoError(t, l.verdict())
}
