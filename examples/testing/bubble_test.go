package shop_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	shop "github.com/depositpay/depositpay-go/examples/testing"
	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
)

// roundTrip lets the mock deliver webhooks without a socket.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// openInBubble is open for a test in a bubble: no sockets, so that the clock can jump.
func openInBubble(t *testing.T) (*mockserver.Server, *shop.Shop) {
	var s *shop.Shop
	mock, err := mockserver.New(mockserver.Config{
		Applications: []mockserver.Application{{WebhookURL: "http://127.0.0.1/hook"}},
		WebhookTransport: roundTrip(func(r *http.Request) (*http.Response, error) {
			answer := httptest.NewRecorder()
			s.Hook.ServeHTTP(answer, r)
			return answer.Result(), nil
		}),
	})
	require.NoError(t, err)
	s, err = shop.Open(t.Context(), filepath.Join(t.TempDir(), "shop.db"), payments.Config{
		BaseURL: mock.URL(), Token: mock.Token(), Transport: mock.Transport(),
	})
	require.NoError(t, err)
	poll, err := poller.New(poller.Config{Client: s.Client, Ledger: s.Box.Poller()})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- s.Box.Run(ctx) }()
	go func() { ended <- poll.Run(ctx) }()
	t.Cleanup(func() { // still in the bubble, which waits for every goroutine
		stop()
		require.NoError(t, <-ended)
		require.NoError(t, <-ended)
		require.NoError(t, mock.Close())
		require.NoError(t, s.Hook.Wait(context.Background()))
		require.NoError(t, s.Close())
	})
	return mock, s
}

// The service answers 503 for five minutes, on every endpoint that the shop calls. The poller,
// the webhook and the inbox back off as they do in production, and the test takes no time.
func TestServiceDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mock, s := openInBubble(t)
		payToken := order(t, s)
		require.NoError(t, mock.AddFault(mockserver.Fault{Operation: "next", Kind: "status-before", Status: 503}))
		require.NoError(t, mock.AddFault(mockserver.Fault{Operation: "confirm", Kind: "status-before", Status: 503}))
		_, err := mock.Deposit(payToken, mockserver.Deposit{Payer: "Kim"})
		require.NoError(t, err)

		<-time.After(5 * time.Minute) // in the bubble: at once
		requireShipped(t, s, 0)

		mock.ClearFaults()
		<-time.After(2 * time.Minute) // the poller's longest wait is one
		synctest.Wait()
		entry, err := s.Box.Get(t.Context(), payToken)
		require.NoError(t, err)
		require.Equal(t, inbox.StageDone, entry.Stage)
		requireShipped(t, s, 1)
		mock.CheckCompletedOnce(t, payToken)
	})
}
