//go:build unix

package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDemo: one command runs shop and mock, and a customer can go through it.
func TestDemo(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "webshop")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	cmd := exec.CommandContext(t.Context(), binary, "--demo", "--addr", "127.0.0.1:0")
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var said bytes.Buffer
	for !strings.HasSuffix(said.String(), "/office\n") {
		_, err := io.CopyN(&said, pipe, 1)
		require.NoError(t, err)
	}
	find := func(pattern string) string { return regexp.MustCompile(pattern).FindStringSubmatch(said.String())[1] }
	mock := find(`bank phone +(http://\S+)/_mock/`)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	v := &visitor{t, find(`shop +(http://\S+)/`), &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	require.Equal(t, "/office", v.done("/office/login", "name", "Mina", "password", find(`password +(\S+)`)))
	id, payToken := v.order("cup", 1)
	resp, err := v.client.Post(mock+"/_mock/payments/"+payToken+"/deposit", "application/json", nil)
	require.NoError(t, err)
	read(t, resp)
	v.shows("/orders/"+id, "Paid. Thank you!")
	v.client.CloseIdleConnections()
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	_, _ = io.Copy(io.Discard, pipe)
	require.NoError(t, cmd.Wait())
}

// TestDemoDatabase: the mock's payments do not get into a database that stays.
func TestDemoDatabase(t *testing.T) {
	t.Parallel()
	_, err := readSettings([]string{"--demo", "--postgres", "postgres://shop@127.0.0.1/shop"}, os.Getenv, io.Discard)
	require.ErrorContains(t, err, "leave --postgres out")
}
