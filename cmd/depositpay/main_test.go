package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestExitCodes(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { assert.NoError(t, taken.Close()) }()
	ended, end := context.WithCancel(t.Context())
	end() // a mock that should not have started stops at once
	for _, c := range []struct {
		args   string
		code   int
		stderr string
	}{
		{"mock --addr " + taken.Addr().String(), exitFailed, "address already in use"},
		{"mock --token live_s3cret", exitUsage, `must begin with "test_"`},
		{"mock --addr 0.0.0.0:0", exitUsage, "or set --allow-remote"},
		{"mock --webhook-url ftp://x", exitUsage, "http://"},
		{"mock --lifetime -1s", exitUsage, "--lifetime: -1s is negative"},
		{"mock --lifetime soon", exitUsage, "lifetime"},
		{"mock --clock 0.5", exitUsage, "--clock: the factor"},
		{"mock --clock sundial", exitUsage, `"sundial" is neither real nor stopped`},
		{"mock --app name=Shop", exitUsage, "token is required"},
		{"mock --app live_s3cret", exitUsage, "a field must be token, name"},
		{"mock --app token=live_s3cret", exitUsage, `must begin with "test_"`},
		{"mock --app token=test_a;token=test_b", exitUsage, "token is given twice"},
		{"mock --app token=test_a;dialect=envelope=no", exitUsage, "envelope cannot be"},
		{"mock --webhook-url http://127.0.0.1:1 --app token=test_a;webhook_url=http://127.0.0.1:1", exitUsage, "two webhook URIs"},
		{"mock --token=", exitUsage, "--token: is empty"},
		{"mock --status-name CREATED", exitUsage, "--status-name"},
		{"mock --status-name CREATED=A --status-name CREATED=B", exitUsage, "at most once"},
		{"mock --status-name COMPLETE=DONE", exitUsage, "--status-name: \"COMPLETE\" cannot be renamed"},
		{"mock --faults /no/such/file", exitUsage, "--faults: /no/such/file: open"},
		{"mock --faults main.go", exitUsage, "--faults: main.go: invalid character"},
		{"mock --no-such-flag", exitUsage, "no-such-flag"},
		{"mock --addr", exitUsage, "addr"},
		{"mock extra", exitUsage, "extra"},
		{"no-such-command", exitUsage, "no-such-command"},
		{"--no-such-flag", exitUsage, "no-such-flag"},
		{"", exitOK, ""},
		{"help", exitOK, ""},
		{"mock --help", exitOK, ""},
	} {
		var stdout, stderr bytes.Buffer
		code := run(ended, append([]string{"depositpay"}, strings.Fields(c.args)...), &stdout, &stderr)
		assert.Equal(t, c.code, code, c.args)
		assert.Contains(t, stderr.String(), c.stderr, c.args)
		assert.NotContains(t, stderr.String()+stdout.String(), "live_s3cret")
		if c.code == exitOK {
			assert.Contains(t, stdout.String(), "mock", c.args)
		} else {
			assert.Empty(t, stdout.String(), "stdout is for results: %s", c.args)
		}
	}
}

func TestEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{"depositpay", "mock", "--addr", "127.0.0.1:0", "--token", "test_a", "--token", "test_b"}, &stdout, &stderr)
	assert.Equal(t, exitOK, code)
	assert.Contains(t, stdout.String(), "test_a  (Application 1)")
	assert.Contains(t, stdout.String(), "test_b  (Application 2)")
	assert.Empty(t, stderr.String(), "no warning without --allow-remote")
}

// process is the built program, running.
type process struct {
	*exec.Cmd
	base    string
	printed map[string]string // the start-up text, up to the first token
	out     *bufio.Scanner
}

func startMock(t *testing.T, args ...string) *process {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "depositpay")
	build, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, string(build))
	p := &process{
		Cmd:     exec.Command(bin, append([]string{"mock", "--addr", "127.0.0.1:0"}, args...)...),
		printed: map[string]string{},
	}
	p.Stderr = os.Stderr
	out, err := p.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() })
	p.out = bufio.NewScanner(out)
	for p.out.Scan() {
		if m := printedLine.FindStringSubmatch(p.out.Text()); m != nil {
			p.printed[m[1]] = m[2]
		}
		if p.printed["token"] != "" {
			p.base = p.printed["base URL"]
			return p
		}
	}
	t.Fatal("the mock did not get ready")
	return nil
}

func send(t *testing.T, method, url, body string) map[string]any {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var out map[string]any
	require.NoError(t, json.Unmarshal(raw, &out), string(raw))
	return out
}

func TestBinary(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			p := startMock(t, "--token", "test_shop")
			id, _ := send(t, "POST", p.base+"/payments", `{"token":"test_shop","title":"T","identifier":"i"}`)["payToken"].(string)
			require.NotEmpty(t, id)
			send(t, "POST", p.base+"/_mock/payments/"+id+"/deposit", `{"payer":"Kim","amount":10000}`)
			record := send(t, "GET", p.base+"/callback/rest?token=test_shop", "")
			assert.Equal(t, id, record["id"])
			assert.Equal(t, "COMPLETE", record["status"])

			require.NoError(t, p.Process.Signal(sig))
			for p.out.Scan() { // to its end: Wait closes the pipe
			}
			require.NoError(t, p.Wait(), "a signal is a clean end")
			assert.Zero(t, p.ProcessState.ExitCode())
		})
	}
}
