package shop_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	shop "github.com/depositpay/depositpay-go/examples/testing"
	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // the trouble is meant to be
	goleak.VerifyTestMain(m)
}

// open starts the service, with a clock that stands still, and the shop next to it.
func open(t *testing.T) (*mockserver.Server, *shop.Shop) {
	mock := mockserver.RunT(t, mockserver.Config{Clock: mockserver.NewStoppedClock(time.Time{}), Lifetime: 24 * time.Hour})
	s, err := shop.Open(t.Context(), filepath.Join(t.TempDir(), "shop.db"), payments.Config{BaseURL: mock.URL(), Token: mock.Token()})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- s.Box.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ran)
		require.NoError(t, s.Close())
	})
	return mock, s
}

// listen opens the shop's webhook address, and tells the service.
func listen(t *testing.T, mock *mockserver.Server, s *shop.Shop) {
	web := httptest.NewServer(s.Hook)
	t.Cleanup(func() {
		web.Close()
		require.NoError(t, s.Hook.Wait(context.Background()))
	})
	require.NoError(t, mock.SetWebhook(mock.Token(), web.URL))
}

func order(t *testing.T, s *shop.Shop) (payToken string) {
	payToken, err := s.Order(t.Context(), "order-1", 10_000)
	require.NoError(t, err)
	return payToken
}

// deposit plays the customer at the bank, and waits for the webhooks that follow.
func deposit(t *testing.T, mock *mockserver.Server, payToken string, d mockserver.Deposit) {
	_, err := mock.Deposit(payToken, d)
	require.NoError(t, err)
	mock.Advance(0)
}

// requireStage waits for the payment to get there: the shop ships in the background.
func requireStage(t *testing.T, s *shop.Shop, payToken string, want inbox.Stage) inbox.Entry {
	var e inbox.Entry
	require.Eventually(t, func() bool {
		var err error
		e, err = s.Box.Get(context.Background(), payToken)
		return err == nil && e.Stage == want
	}, 20*time.Second, 5*time.Millisecond, "the payment never was %s", want)
	return e
}

func requireShipped(t *testing.T, s *shop.Shop, times int) {
	n, err := s.Shipped(t.Context(), "order-1")
	require.NoError(t, err)
	require.Equal(t, times, n)
}

// The simple case: the customer pays, the webhook comes, the order ships.
func TestPaid(t *testing.T) {
	mock, s := open(t)
	listen(t, mock, s)
	payToken := order(t, s)
	deposit(t, mock, payToken, mockserver.Deposit{Payer: "Kim"})
	requireStage(t, s, payToken, inbox.StageDone)
	requireShipped(t, s, 1)
	mock.CheckCompletedOnce(t, payToken)
	mock.CheckDelivered(t, payToken)
	mock.CheckNothingWaiting(t)
}

// Faults: the service sends each webhook twice, and the answer to the first confirm is
// lost after the service has acted.
func TestTrouble(t *testing.T) {
	mock, s := open(t)
	listen(t, mock, s)
	require.NoError(t, mock.AddFault(mockserver.Fault{Operation: "webhook", Kind: "duplicate"}))
	require.NoError(t, mock.AddFault(mockserver.Fault{Operation: "confirm", Kind: "drop-after", Nth: 1}))
	payToken := order(t, s)
	deposit(t, mock, payToken, mockserver.Deposit{Payer: "Kim"})
	requireStage(t, s, payToken, inbox.StageDone)
	requireShipped(t, s, 1)
	require.Len(t, mock.FaultLog(), 2, "the trouble was made")
}

// The clock: the shop was closed when the customer paid. The fifth attempt of the webhook,
// two and a half hours later, finds it open, and the test takes no time.
func TestClosedOverNight(t *testing.T) {
	mock, s := open(t)
	require.NoError(t, mock.AddFault(mockserver.Fault{Operation: "webhook", Kind: "dead-uri", First: 4}))
	listen(t, mock, s)
	payToken := order(t, s)
	paidAt := mock.Now()
	deposit(t, mock, payToken, mockserver.Deposit{Payer: "Kim"})
	for range 4 {
		_, sent := mock.JumpToNextAttempt()
		require.True(t, sent)
	}
	requireStage(t, s, payToken, inbox.StageDone)
	requireShipped(t, s, 1)
	require.Equal(t, 2*time.Hour+35*time.Minute+5*time.Second, mock.Now().Sub(paidAt))
}

// Wrong amounts never ship by themselves, and a person sees why.
func TestWrongAmount(t *testing.T) {
	for want, d := range map[inbox.Reason]mockserver.Deposit{
		inbox.ReasonUnderpaid: {Payer: "Kim", Amount: 9_000},
		inbox.ReasonOverpaid:  {Payer: "Kim", Amount: 11_000},
		inbox.ReasonNoMoney:   {Failed: true}, // a gift voucher that failed
	} {
		t.Run(string(want), func(t *testing.T) {
			mock, s := open(t)
			listen(t, mock, s)
			payToken := order(t, s)
			deposit(t, mock, payToken, d)
			require.Equal(t, string(want), requireStage(t, s, payToken, inbox.StageReview).Reason)
			requireShipped(t, s, 0)
		})
	}
}

// The order is gone when its money comes: nothing ships, and a person finds the payment.
func TestNoOrder(t *testing.T) {
	mock, s := open(t)
	listen(t, mock, s)
	created, err := s.Box.Create(t.Context(), payments.CreateRequest{Title: "Tea", Identifier: "order-9", Amount: payments.NewAmount(10_000)})
	require.NoError(t, err)
	deposit(t, mock, created.PayToken.String(), mockserver.Deposit{Payer: "Kim"})
	require.Equal(t, "no such order", requireStage(t, s, created.PayToken.String(), inbox.StageDead).Reason)
}

// A forged webhook names a payment that nobody has paid: nothing ships. An order that
// nobody pays expires.
func TestNotPaid(t *testing.T) {
	mock, s := open(t)
	payToken := order(t, s)
	answer := httptest.NewRecorder()
	forged := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"payment_id":"`+payToken+`"}`))
	forged.Header.Set("Content-Type", "application/json")
	s.Hook.ServeHTTP(answer, forged)
	require.Equal(t, http.StatusTooManyRequests, answer.Code)

	mock.Advance(25 * time.Hour)
	mock.CheckStatus(t, payToken, mockserver.StatusExpired)
	requireStage(t, s, payToken, inbox.StageExpected)
	requireShipped(t, s, 0)
}
