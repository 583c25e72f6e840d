package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFlags: every setting arrives, also through the commas of a dialect.
func TestFlags(t *testing.T) {
	t.Parallel()
	p := startMock(t, "--clock", "stopped", "--lifetime", "30m", "--late-deposit",
		"--app", "token=test_shop; name=Shop; dialect=envelope=data,errors=object",
		"--app", "token=test_game;webhook_url=http://127.0.0.1:1/hook;game_field=gem_product",
		"--webhook-url", "http://127.0.0.1:2/hook")
	defer stopMock(t, p)

	assert.Equal(t, map[string]any{"applications": []any{
		map[string]any{"name": "Shop", "webhook_url": "http://127.0.0.1:2/hook", "game_field": "game_product", "dialect": "envelope=data,errors=object"},
		map[string]any{"name": "Application 2", "webhook_url": "http://127.0.0.1:1/hook", "game_field": "gem_product", "dialect": "default"},
	}}, send(t, "GET", p.base+"/_mock/applications", ""), "and not the default token")
	assert.Equal(t, map[string]any{"now": "2025-01-01T00:00:00Z", "mode": "stopped", "factor": 0.0},
		send(t, "GET", p.base+"/_mock/clock", ""))

	created, _ := send(t, "POST", p.base+"/payments", `{"token":"test_shop","title":"T","identifier":"i","amount":5}`)["data"].(map[string]any)
	id, _ := created["payToken"].(string)
	require.NotEmpty(t, id)
	send(t, "POST", p.base+"/_mock/clock/advance", `{"duration":"30m"}`)
	assert.Equal(t, "EXPIRED", send(t, "GET", p.base+"/_mock/payments/"+id, "")["status"])
	assert.Equal(t, "PROGRESS", send(t, "POST", p.base+"/_mock/payments/"+id+"/deposit", `{"payer":"Kim"}`)["status"])
}

// TestFlagsOfBehaviour: what the interface leaves open can be chosen without Go.
func TestFlagsOfBehaviour(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "faults.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"rules":[{"operation":"confirm","kind":"html","nth":2}],"chance":{"rate":0,"seed":0},"log":[]}`), 0o600))
	p := startMock(t, "--confirm-keeps-state", "--status-name", "CREATED=READY", "--status-name", "EXPIRED=GONE", "--faults", file)
	defer stopMock(t, p)
	created := send(t, "POST", p.base+"/payments", `{"token":"test_demo","title":"T","identifier":"i","amount":5}`)
	id, _ := created["payToken"].(string)
	assert.Equal(t, map[string]any{"id": id, "identifier": "i", "status": "READY"},
		send(t, "GET", p.base+"/_mock/payments/"+id+"/record", ""))

	send(t, "POST", p.base+"/_mock/payments/"+id+"/deposit", "")
	confirm := `{"token":"test_demo","payToken":"` + id + `"}`
	assert.Equal(t, "COMPLETE", send(t, "POST", p.base+"/payments/confirm", confirm)["status"])
	assert.Equal(t, "PROGRESS", send(t, "GET", p.base+"/_mock/payments/"+id, "")["status"])
	resp, err := http.Post(p.base+"/payments/confirm", "application/json", strings.NewReader(confirm))
	require.NoError(t, err)
	defer func() { assert.NoError(t, resp.Body.Close()) }()
	assert.Contains(t, resp.Header.Get("Content-Type"), "text/html", "the fault of the file")
	http.DefaultClient.CloseIdleConnections()
}

// TestAllAddresses: what is printed for a mock on all addresses leads somewhere.
func TestAllAddresses(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"0.0.0.0:0", ":0"} {
		p := startMock(t, "--addr", addr, "--allow-remote")
		assert.Regexp(t, `^http://127\.0\.0\.1:\d+$`, p.base)
		assert.Contains(t, p.printed["elsewhere"], "the name of this machine")
		assert.Contains(t, page(t, p.printed["dashboard"]), "Overview")
		stopMock(t, p)
	}
}

func TestAcceleratedClock(t *testing.T) {
	t.Parallel()
	p := startMock(t, "--clock", "3600")
	defer stopMock(t, p)
	clock := send(t, "GET", p.base+"/_mock/clock", "")
	assert.Equal(t, "accelerated", clock["mode"])
	assert.Equal(t, 3600.0, clock["factor"])
}

// TestAddresses: each address that is printed leads to what it says.
func TestAddresses(t *testing.T) {
	t.Parallel()
	p := startMock(t, "--app", "token=test_a;name=Shop")
	defer stopMock(t, p)
	id, _ := send(t, "POST", p.base+"/payments", `{"token":"test_a","title":"Sword","identifier":"i","amount":5}`)["payToken"].(string)
	for _, c := range []struct{ name, path, title string }{
		{"dashboard", "", "Overview"},
		{"store", "", "Shop"},
		{"checkout base", "/" + id, "Sword"},
	} {
		address, found := p.printed[c.name]
		require.True(t, found, c.name)
		assert.Contains(t, page(t, address+c.path), c.title, c.name)
	}
	assert.Contains(t, send(t, "GET", p.printed["control API"]+"/payments", ""), "payments")
	assert.Equal(t, "test_a  (Shop)", p.printed["token"])
}

// page gets a page in English and returns it.
func page(t *testing.T, address string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	req.Close = true
	req.Header.Set("Accept-Language", "en")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { assert.NoError(t, resp.Body.Close()) }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode, "%s: %s", address, body)
	require.Contains(t, resp.Header.Get("Content-Type"), "text/html", address)
	return string(body)
}

// TestRemoteIsLoud: the warning is there whatever is listened on, and not among the
// results.
func TestRemoteIsLoud(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{"depositpay", "mock", "--addr", "127.0.0.1:0", "--allow-remote"}, &stdout, &stderr)
	assert.Equal(t, exitOK, code)
	assert.Contains(t, stderr.String(), "OPEN TO THE NETWORK")
	assert.NotContains(t, stderr.String(), "test_demo")
	assert.NotContains(t, stdout.String(), "***")
	for _, line := range strings.Split(strings.TrimSpace(stderr.String()), "\n") {
		assert.Len(t, line, 65, "the frame is straight: %s", line)
	}
}

// printedLine is "  name   value" of the start-up text.
var printedLine = regexp.MustCompile(`^ {2}(\S+(?: \S+)*) {2,}(\S.*)$`)

func stopMock(t *testing.T, p *process) {
	t.Helper()
	require.NoError(t, p.Process.Signal(os.Interrupt))
	for p.out.Scan() { // to its end: Wait closes the pipe
	}
	require.NoError(t, p.Wait())
}
