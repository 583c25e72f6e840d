package house_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestReadmeProgram: the first Go block is a complete program that ends before line 40 and
// does what the README says.
func TestReadmeProgram(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../../README.md")
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(readme), "```go\n")
	require.True(t, found)
	program, _, found := strings.Cut(rest, "```")
	require.True(t, found)
	require.Less(t, strings.Count(before+program, "\n"), 40)

	binary := build(t, program)
	mock := mockserver.RunT(t)
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token()})
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	for _, deposit := range []mockserver.Deposit{{Failed: true}, {}} { // a failed voucher first
		created, err := client.Create(t.Context(), payments.CreateRequest{Title: "Sword", Identifier: "order-1", Amount: payments.NewAmount(10000)})
		require.NoError(t, err)
		_, err = mock.Deposit(created.PayToken.String(), deposit)
		require.NoError(t, err)
	}

	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Env = append(os.Environ(), "DEPOSITPAY_URL="+mock.URL(), "DEPOSITPAY_TOKEN="+mock.Token())
	out, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	said := ""
	for lines.Scan() {
		if said += lines.Text() + "\n"; strings.Contains(said, "DEPOSIT paid 10000 for order-1") {
			break
		}
	}
	require.Contains(t, said, "DEPOSIT paid 10000 for order-1")
	require.NotContains(t, said, " paid 0 ")
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait(), "SIGTERM is a clean end")
}

// build compiles a program as a package of this module, outside the source tree.
func build(t *testing.T, program string) string {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	require.NoError(t, os.WriteFile(source, []byte(program), 0o600))
	binary := filepath.Join(dir, "program")
	out, err := goCommand(t, "build", "-o", binary, source).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return binary
}

// TestReadmeCommands: exactly two commands are named for a fresh machine.
func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../../README.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(readme), "\n## Two commands\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	var commands []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllStringSubmatch(section, -1) {
		commands = append(commands, m[1])
	}
	slices.Sort(commands)
	require.Equal(t, []string{"go run ./examples/quickstart", "make test"}, commands)
}

// TestReadmeLinks: the files and headings that documents link to exist.
func TestReadmeLinks(t *testing.T) {
	t.Parallel()
	all := documents(t)
	headings := 0
	for document, text := range all {
		for _, m := range regexp.MustCompile(`\]\(([^)#]*)(?:#([^)]+))?\)`).FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target := filepath.Join(filepath.Dir(document), m[1])
			if m[1] == "" {
				target = document
			}
			_, err := os.Stat(filepath.Join(repository, target))
			require.NoError(t, err, "%s links to %s", document, m[1])
			if m[2] != "" {
				headings++
				assert.Contains(t, anchors(all[filepath.ToSlash(target)]), m[2], "%s links to a heading of %s", document, target)
			}
		}
	}
	require.Positive(t, headings)
}

// anchors are the headings of a page, as a link names them.
func anchors(text string) (all []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		plain := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(plain, " ", "-"))
	}
	return all
}
