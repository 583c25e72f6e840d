//go:build unix

package main

import (
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDemo: the demo runs shop and mock, and the walk in the README works by the addresses that it prints.
func TestDemo(t *testing.T) {
	t.Parallel()
	printed := startDemo(t, "--demo", "--order-lifetime", "1s")
	find := func(pattern string) string {
		t.Helper()
		m := regexp.MustCompile(pattern).FindStringSubmatch(printed)
		require.NotNil(t, m, "%s\n%s", pattern, printed)
		return m[1]
	}
	shop, phone := newVisitor(t, find(`(?m)^shop +(http://\S+)/$`), ""), newVisitor(t, "", "")
	phonePage := find(`(?m)^bank phone +(http://\S+/_mock/ui/phone) `)
	mock := strings.TrimSuffix(phonePage, "/_mock/ui/phone")
	transfer := func(payer, won string) {
		t.Helper()
		phone.sends(phonePage, "do", "notify", "package", "com.kbstar.kbbank", "payer", payer, "amount", won)
	}
	order := func(payer string) (id, payToken string) {
		t.Helper()
		id, payToken = shop.order("cup", 1)
		phone.sends(mock+"/pay/"+payToken, "payer", payer)
		return id, payToken
	}
	late, _ := order("Kim")
	shop.shows("/orders/"+late, "The time to pay is over")
	transfer("Kim", "28000")
	shop.shows("/orders/"+late, "Paid. Thank you!")

	_, less := order("Lee")
	transfer("Lee", "27000")
	unmatched := phone.get(mock + "/_mock/ui/unmatched")
	deposit := regexp.MustCompile(`name="target" value="([^"]+)"`).FindStringSubmatch(unmatched)
	require.NotNil(t, deposit, unmatched)
	phone.sends(mock+"/_mock/ui/unmatched", "do", "assign", "target", deposit[1], "payToken", less)
	keeper := newVisitor(t, shop.url, "Mina")
	keeper.password = find(`password +(\S+)`)
	keeper.shows("/office", "<td>28000</td><td>27000</td>")
}

// startDemo runs the program until the test ends, and returns what it prints.
func startDemo(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], append(args, "--addr", "127.0.0.1:0")...)
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
	var printed strings.Builder
	for !strings.HasSuffix(printed.String(), "/office\n") {
		_, err := io.CopyN(&printed, pipe, 1)
		require.NoError(t, err, printed.String())
	}
	return printed.String()
}
