//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDemoWalk goes where the README leads the people who try the demo, by the addresses that
// the demo prints.
func TestDemoWalk(t *testing.T) {
	t.Parallel()
	said := startDemo(t, "--order-lifetime", "1s")
	find := func(pattern string) string {
		t.Helper()
		m := regexp.MustCompile(pattern).FindStringSubmatch(said)
		require.NotNil(t, m, "%s\n%s", pattern, said)
		return m[1]
	}
	shop, phone := newVisitor(t, find(`(?m)^shop +(http://\S+)/$`)), newVisitor(t, "")
	phonePage := find(`(?m)^bank phone +(http://\S+/_mock/ui/phone) `)
	mock := strings.TrimSuffix(phonePage, "/_mock/ui/phone")
	require.Contains(t, phone.get(phonePage), `value="notify"`, "the page where a deposit is sent")
	send := func(payer, won string) {
		t.Helper()
		phone.done(phonePage, "do", "notify", "package", "com.kbstar.kbbank", "payer", payer, "amount", won)
	}
	order := func(payer string) (id, payToken string) {
		t.Helper()
		id, payToken = shop.order("cup", 1)
		phone.done(mock+"/pay/"+payToken, "payer", payer)
		return id, payToken
	}

	late, _ := order("Kim")
	shop.shows("/orders/"+late, "The time to pay is over")
	send("Kim", "28000")
	shop.shows("/orders/"+late, "Paid. Thank you!")
	require.Contains(t, shop.get(strings.TrimPrefix(find(`(?m)^my orders +(http://\S+/orders) `), shop.url)), "Paid. Thank you!")

	_, less := order("Lee")
	send("Lee", "27000")
	unmatched := phone.get(mock + "/_mock/ui/unmatched")
	deposit := regexp.MustCompile(`name="target" value="([^"]+)"`).FindStringSubmatch(unmatched)
	require.NotNil(t, deposit, unmatched)
	phone.done(mock+"/_mock/ui/unmatched", "do", "assign", "target", deposit[1], "payToken", less)
	require.Equal(t, "/office", shop.done("/office/login", "name", "Mina", "password", find(`password +(\S+)`)))
	shop.shows("/office/review", "₩27,000")
}

// startDemo runs the demo until the test ends, and returns what it prints.
func startDemo(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"--demo", "--addr", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(os.Environ(), envChild+"=1")
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		_, _ = io.Copy(io.Discard, pipe)
		require.NoError(t, cmd.Wait())
	})
	var said strings.Builder
	for !strings.HasSuffix(said.String(), "/office\n") {
		_, err := io.CopyN(&said, pipe, 1)
		require.NoError(t, err, said.String())
	}
	return said.String()
}

// newVisitor is a visitor of a shop that another process runs.
func newVisitor(t *testing.T, url string) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	v := &visitor{t, url, &http.Client{
		Jar: jar, Timeout: patience, Transport: &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	t.Cleanup(v.client.CloseIdleConnections)
	return v
}
