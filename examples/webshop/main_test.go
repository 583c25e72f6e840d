package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

const envChild = "WEBSHOP_TEST_CHILD"

// TestMain runs the tests, or a shop for a test that needs it in a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv(envChild) == "" {
		_ = flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))) // they wait for browsers
		goleak.VerifyTestMain(pgtest.Stopping(m), goleak.IgnoreTopFunction("os/signal.loop"))
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const (
	testPassword = "a-password-for-the-tests"
	testToken    = "test_token_of_the_shop"
	testSecret   = "a-secret-of-the-tests-only"
	patience     = time.Minute // ends a test that hangs; judges nothing
	tick         = 20 * time.Millisecond
)

// world is a running shop, and the mock of the service that it sells with.
type world struct {
	t    *testing.T
	mock *mockserver.Server
	shop *shop
	url  string
}

// onBoth runs a test with a shop on each database.
func onBoth(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	for _, name := range []string{"SQLite", "PostgreSQL"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, start(t, func(cfg *settings) {
				if name == "PostgreSQL" {
					cfg.Postgres = pgtest.New(t).DSN
				}
			}))
		})
	}
}

// start runs a shop with a database of its own. change may alter its settings.
func start(t *testing.T, change ...func(*settings)) *world {
	t.Helper()
	w := &world{t: t, mock: mockserver.RunT(t, mockserver.Config{
		LateDeposit: true, Applications: []mockserver.Application{{Name: "Dal", Token: testToken}},
	})}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w.url = "http://" + ln.Addr().String()
	cfg := settings{
		File: filepath.Join(t.TempDir(), "shop.db"), OrderLifetime: time.Hour,
		BaseURL: w.mock.URL(), CheckoutURL: w.mock.CheckoutURL(), Token: w.mock.Token(),
		OfficePassword: testPassword, HookSecret: testSecret,
		now: time.Now, pollPause: 200 * time.Millisecond, watchEvery: 100 * time.Millisecond,
	}
	for _, c := range change {
		c(&cfg)
	}
	require.NoError(t, w.mock.SetWebhook(w.mock.Token(), w.url+hookPath+testSecret))
	w.shop, err = openShop(t.Context(), cfg)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.shop.run(ctx, ln) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		stop()
		require.NoError(t, <-ended)
		require.NoError(t, w.shop.close())
	})
	return w
}

// pay plays the customer and the bank: the name on the checkout page, then the transfer. An amount of 0
// pays what is due.
func (w *world) pay(payToken string, amount int64) {
	w.t.Helper()
	_, err := w.mock.Deposit(payToken, mockserver.Deposit{Payer: "Kim", Amount: amount})
	require.NoError(w.t, err)
}

// receive gives the shop a record that the mock would not write.
func (w *world) receive(p payments.Payment, amount string) {
	w.t.Helper()
	var err error
	p.PaidAmount, err = payments.ParseAmount(amount)
	require.NoError(w.t, err)
	p.Status, p.Method, p.VerifiedAt = payments.StatusComplete, payments.MethodDeposit, time.Now()
	require.NoError(w.t, w.shop.box.Webhook().Accept(w.t.Context(), p))
}

// left returns how many of a product the shop has.
func (w *world) left(product string) int {
	w.t.Helper()
	counts, err := w.shop.stock(w.t.Context())
	require.NoError(w.t, err)
	return int(counts[product])
}

// alter changes something behind the shop's back.
func (w *world) alter(statement string, args ...any) {
	w.t.Helper()
	_, err := w.shop.db.write.ExecContext(w.t.Context(), statement, args...)
	require.NoError(w.t, err)
}
