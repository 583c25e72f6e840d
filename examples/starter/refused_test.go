package main

import (
	"bufio"
	"context"
	"io"
	"log"
	"net/http"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// TestTokenRefused: while every poll is refused the shop takes orders and webhooks, and
// ends cleanly. It is not parallel, because it sets environment variables.
func TestTokenRefused(t *testing.T) {
	mock := mockserver.RunT(t)
	require.NoError(t, mock.AddFault(mockserver.Fault{Operation: "next", Kind: "status-before", Status: http.StatusUnauthorized}))
	t.Chdir(t.TempDir())
	for name, value := range map[string]string{"URL": mock.URL(), "CHECKOUT_URL": mock.CheckoutURL(), "TOKEN": mock.Token()} {
		t.Setenv("DEPOSITPAY_"+name, value)
	}
	lines, said := io.Pipe()
	log.SetOutput(said)
	defer log.SetOutput(os.Stderr)
	defer func() { _ = lines.Close() }()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	ran := make(chan error, 1)
	go func() {
		ran <- run(ctx, "127.0.0.1:0")
		_ = said.Close() // nobody waits for another line
	}()
	log := bufio.NewScanner(lines)
	require.True(t, log.Scan())
	_, address, found := strings.Cut(log.Text(), "listening on ")
	require.True(t, found, log.Text())
	require.True(t, log.Scan(), "the poller says at once that it is refused")
	require.Contains(t, log.Text(), "token_refused")
	go func() { _, _ = io.Copy(io.Discard, lines) }()

	require.NoError(t, mock.SetWebhook(mock.Token(), address+"/hooks/deposit"))
	link := ask(t, http.MethodPost, address+"/orders")
	_, err := mock.Deposit(path.Base(strings.TrimSpace(link)), mockserver.Deposit{Payer: "Kim"})
	require.NoError(t, err)
	for limit := time.Now().Add(time.Minute); ask(t, http.MethodGet, address+"/orders") != "1 of 1 orders paid\n"; {
		require.True(t, time.Now().Before(limit), "the order is not paid")
		<-time.After(10 * time.Millisecond)
	}
	end()
	require.NoError(t, <-ran)
}

func ask(t *testing.T, method, address string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	require.NoError(t, err, "the shop does not answer")
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode, "%s", text)
	return string(text)
}
