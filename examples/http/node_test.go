// Package http_test runs the Node example against the mock.
package http_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/internal/test/debian"
	"github.com/depositpay/depositpay-go/mockserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestNode: the README's command, without the port.
func TestNode(t *testing.T) {
	node, err := debian.Program("node", "nodejs")
	if err != nil {
		fmt.Fprintln(os.Stderr, "\n*** examples/http: THERE IS NO node ON THIS MACHINE, SO THE EXAMPLE WAS NOT TESTED ***")
		require.Empty(t, os.Getenv("CI"), "this test must run in CI: install Node 18 or later (%v)", err)
		t.Skip("SKIPPED: no node (18 or later) on this machine")
	}
	mock := mockserver.RunT(t)
	cmd := exec.CommandContext(t.Context(), node, "--test", "--test-reporter=tap", "mock.test.mjs")
	cmd.Env = append(os.Environ(), "MOCK_URL="+mock.URL(), "MOCK_TOKEN="+mock.Token())
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "# pass 4\n# fail 0\n", "all of them ran")
	t.Logf("%s", out)
}
