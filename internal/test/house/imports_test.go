package house_test

import (
	"bufio"
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/depositpay/depositpay-go"

// allowed lists the packages of this module that a package may import, directly or not.
// All others are programs and tests.
var allowed = map[string][]string{
	"payments": {"internal/safecall", "internal/api", "internal/backoff", "internal/secret", "internal/transport", "internal/wire"},
	"banks":    {"internal/safecall", "internal/api", "internal/backoff", "internal/secret", "internal/transport", "internal/wire"},
	"webhook":  {"payments", "internal/safecall", "internal/api", "internal/backoff", "internal/secret", "internal/transport", "internal/wire"},
	"poller":   {"payments", "internal/safecall", "internal/api", "internal/backoff", "internal/secret", "internal/transport", "internal/wire"},
	"inbox":    {"internal/pragma", "payments", "webhook", "poller", "internal/safecall", "internal/api", "internal/backoff", "internal/secret", "internal/transport", "internal/wire"},
	"mockserver": {
		"mockserver/internal/direct", "mockserver/internal/notice", "mockserver/internal/redact",
		"mockserver/internal/schedule", "mockserver/internal/strictjson", "mockserver/internal/web",
	},
	"internal/api":       {"internal/safecall", "internal/backoff", "internal/secret", "internal/transport", "internal/wire"},
	"internal/transport": {"internal/safecall", "internal/backoff", "internal/secret"},
	"internal/wire":      {},
	"internal/secret":    {},
	"internal/backoff":   {},
	"internal/safecall":  {},
}

// foreign are the modules that shipped code may link; DESIGN.md defends each.
var foreign = []string{
	"github.com/hashicorp/go-retryablehttp", "github.com/hashicorp/go-cleanhttp",
	"github.com/google/uuid", "golang.org/x/time",
}

// TestImports: imports point one way, and no test library, driver or mock reaches a
// merchant's binary.
func TestImports(t *testing.T) {
	t.Parallel()
	for name, inside := range allowed {
		for _, path := range dependencies(t, "./"+name) {
			own, ok := strings.CutPrefix(path, module+"/")
			switch {
			case ok:
				require.True(t, own == name || slices.Contains(inside, own), "%s may not import %s", name, own)
			case strings.Contains(strings.Split(path, "/")[0], "."): // not the standard library
				require.True(t, slices.ContainsFunc(foreign, func(m string) bool {
					return path == m || strings.HasPrefix(path, m+"/")
				}), "%s links %s, which DESIGN.md does not defend", name, path)
			default:
				require.NotContains(t, []string{"testing", "net/http/httptest"}, path, name)
				require.False(t, path == "database/sql" && name != "inbox", name)
			}
		}
	}
}

// TestShippedProgram: the command line tool links no test library either.
func TestShippedProgram(t *testing.T) {
	t.Parallel()
	for _, path := range dependencies(t, "./cmd/depositpay") {
		require.NotEqual(t, "testing", path)
		for _, forbidden := range []string{"testify", "httpmock", "goleak", "rawserver"} {
			require.NotContains(t, path, forbidden)
		}
	}
}

// TestNoGoInTheRoot: the root holds documents, not code.
func TestNoGoInTheRoot(t *testing.T) {
	t.Parallel()
	out, err := goCommand(t, "list", "./...").Output()
	require.NoError(t, err)
	require.NotContains(t, strings.Split(string(out), "\n"), module)
}

// dependencies lists pkg and all it links, without the standard library's internals.
func dependencies(t *testing.T, pkg string) []string {
	t.Helper()
	out, err := goCommand(t, "list", "-deps", pkg).Output()
	require.NoError(t, err)
	var paths []string
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		if path := lines.Text(); !strings.HasPrefix(path, "vendor/") {
			paths = append(paths, path)
		}
	}
	require.NotEmpty(t, paths)
	return paths
}

func goCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = "../../.."
	return cmd
}
