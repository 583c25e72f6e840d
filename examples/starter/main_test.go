package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/internal/test/debian"
	"github.com/depositpay/depositpay-go/mockserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestGettingStarted does what the page says, letter for letter but for the ports: a module
// of its own, the program pasted, an order, a deposit. One payment comes by the webhook, and
// one, while no webhook is sent, by the poller.
func TestGettingStarted(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED in short mode: it builds a module of its own")
	}
	t.Parallel()
	requireCurl(t)
	mock := mockserver.RunT(t)
	clone := filepath.Join(t.TempDir(), "depositpay-go") // where the first step leaves the reader
	require.NoError(t, os.Mkdir(clone, 0o700))
	r := &reader{t: t, dir: clone, proxy: modules(t), page: file(t, "../../docs/getting-started.md"), ports: []string{"http://127.0.0.1:8080", mock.URL()}}
	repository, err := filepath.Abs("../..")
	require.NoError(t, err)
	r.run(strings.Replace(r.block("sh", "go mod init shop\n"), "go mod init shop\n", // the published version is not the one under test
		"go mod init shop\ngo mod edit -replace 'github.com/depositpay/depositpay-go="+repository+
			"' -replace 'github.com/depositpay/depositpay-go/inbox/sqlite="+repository+"/inbox/sqlite'\n", 1))
	r.dir = filepath.Join(filepath.Dir(clone), "shop") // next to the clone, and not in it
	program := r.block("go", "package main\n")
	require.Equal(t, file(t, "main.go"), program, "the page has the whole program")
	require.NoError(t, os.WriteFile(filepath.Join(r.dir, "main.go"), []byte(program), 0o600))

	shop := r.start()
	hook := regexp.MustCompile(`--webhook-url (\S+)`).FindStringSubmatch(r.block("sh", "depositpay mock --webhook-url"))
	require.NoError(t, mock.SetWebhook(mock.Token(), r.local(hook[1])))
	r.order()
	r.await("1 of 1 orders paid\n")
	require.Eventually(t, func() bool {
		sent := mock.Deliveries()
		return len(sent) == 1 && len(sent[0].Attempts) > 0 && !sent[0].Attempts[0].Ended.IsZero()
	}, time.Minute, 10*time.Millisecond)
	require.Equal(t, http.StatusOK, mock.Deliveries()[0].Attempts[0].HTTPStatus, "the first webhook is taken")

	require.NoError(t, mock.SetWebhook(mock.Token(), ""))
	r.order()
	r.await("2 of 2 orders paid\n")

	link := r.run("curl -s -X POST http://127.0.0.1:9000/orders")
	r.stop(shop) // payments made during downtime are granted on restart
	_, err = mock.Deposit(strings.TrimSpace(path.Base(link)), mockserver.Deposit{Payer: "Kim"})
	require.NoError(t, err)
	shop = r.start()
	r.await("3 of 3 orders paid\n")
	r.stop(shop)
}

func requireCurl(t *testing.T) {
	t.Helper()
	if _, err := debian.Program("curl", "curl"); err != nil {
		fmt.Fprintln(os.Stderr, "\n*** examples/starter: THERE IS NO curl ON THIS MACHINE, SO GETTING STARTED WAS NOT TESTED ***")
		require.Empty(t, os.Getenv("CI"), "this test must run in CI: install curl (%v)", err)
		t.Skip("SKIPPED: no curl on this machine")
	}
}

// reader follows the page.
type reader struct {
	t     *testing.T
	dir   string
	page  string
	proxy string   // of Go's modules
	ports []string // what the page says, and what it is here
}

// block returns the only block of the page that contains the text.
func (r *reader) block(language, text string) string {
	r.t.Helper()
	var found []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(r.page, -1) {
		if strings.Contains(m[1], text) {
			found = append(found, m[1])
		}
	}
	require.Len(r.t, found, 1, text)
	return found[0]
}

func (r *reader) local(text string) string { return strings.NewReplacer(r.ports...).Replace(text) }

// modules returns a GOPROXY: the machine's own, since go mod tidy wants the modules that the
// tests of our dependencies import, and an empty cache has none of them. Before it comes a
// directory that names one version of this module, for no proxy is asked about that.
func modules(t *testing.T) string {
	t.Helper()
	machine, err := exec.CommandContext(t.Context(), "go", "env", "GOPROXY").Output()
	require.NoError(t, err)
	versions := filepath.Join(t.TempDir(), "github.com/depositpay/depositpay-go/@v")
	require.NoError(t, os.MkdirAll(versions, 0o700))
	for name, text := range map[string]string{"list": "v0.0.0\n", "v0.0.0.info": `{"Version":"v0.0.0"}`, "v0.0.0.mod": file(t, "../../go.mod")} {
		require.NoError(t, os.WriteFile(filepath.Join(versions, name), []byte(text), 0o600))
	}
	directory, _, _ := strings.Cut(versions, "/github.com/")
	return "file://" + directory + "," + strings.TrimSpace(string(machine))
}

func (r *reader) command(script string) *exec.Cmd {
	cmd := exec.CommandContext(r.t.Context(), "sh", "-euc", r.local(script))
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOPROXY="+r.proxy, "CGO_ENABLED=0")
	return cmd
}

func (r *reader) run(script string) string {
	r.t.Helper()
	cmd := r.command(script)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	require.NoError(r.t, err, "%s\n%s", script, &complaint)
	return string(out)
}

// start starts the shop, as the page says, on a port of its own.
func (r *reader) start() *exec.Cmd {
	r.t.Helper()
	tidy, program, found := strings.Cut(r.block("sh", "go run .\n"), "\n")
	require.True(r.t, found)
	r.run(tidy + "\ngo build -o shop .\n")
	cmd := r.command(strings.Replace(program, "go run .", "exec ./shop -listen 127.0.0.1:0", 1))
	said, err := cmd.StderrPipe()
	require.NoError(r.t, err)
	require.NoError(r.t, cmd.Start())
	lines := bufio.NewScanner(said)
	require.True(r.t, lines.Scan())
	_, address, found := strings.Cut(lines.Text(), "listening on ")
	require.True(r.t, found, lines.Text())
	r.ports = append(r.ports[:2:2], "http://127.0.0.1:9000", address)
	return cmd
}

func (r *reader) stop(shop *exec.Cmd) {
	r.t.Helper()
	require.NoError(r.t, shop.Process.Signal(syscall.SIGTERM))
	require.NoError(r.t, shop.Wait(), "a signal is a clean end")
}

// order orders and pays; the page says how.
func (r *reader) order() {
	r.t.Helper()
	require.Contains(r.t, r.run(r.block("sh", "link=$(")), `"status":"PROGRESS"`)
}

// await looks at the orders until they are as wanted.
func (r *reader) await(want string) {
	r.t.Helper()
	look := r.block("sh", "curl http://127.0.0.1:9000/orders\n")
	require.Eventually(r.t, func() bool { return r.run(look) == want }, time.Minute, 50*time.Millisecond)
}

func file(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}
