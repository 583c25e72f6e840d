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

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

const envChild = "WEBSHOP_TEST_CHILD"

// TestMain runs the tests, or a shop for a test that kills it.
func TestMain(m *testing.M) {
	if os.Getenv(envChild) == "" {
		keyRounds = 1000
		// Who waits for a browser needs no processor. -parallel on the command line counts.
		_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
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
	testPassword = "a password for the tests"
	patience     = time.Minute // ends what hangs; judges nothing
	tick         = 20 * time.Millisecond
)

// world is a shop that runs, and the mock of the service that it sells with.
type world struct {
	t    *testing.T
	mock *mockserver.Server
	shop *shop
	url  string
	now  *clock
}

// onBoth runs a test on a shop of each database.
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

// start opens a shop with a database of its own. change may alter its settings.
func start(t *testing.T, change ...func(*settings)) *world {
	t.Helper()
	w := &world{t: t, mock: mockserver.RunT(t, mockserver.Config{LateDeposit: true}), now: newClock()}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w.url = "http://" + ln.Addr().String()
	cfg := settings{
		Addr: ln.Addr().String(), File: filepath.Join(t.TempDir(), "shop.db"), OrderLifetime: time.Hour,
		BaseURL: w.mock.URL(), CheckoutURL: w.mock.CheckoutURL(), Token: w.mock.Token(),
		OfficePassword: testPassword, HookSecret: "a-secret-of-the-tests-only",
		now: w.now.Now, pollPause: 200 * time.Millisecond, watchPause: 50 * time.Millisecond,
	}
	for _, c := range change {
		c(&cfg)
	}
	require.NoError(t, w.mock.SetWebhook(w.mock.Token(), w.url+hookPath+cfg.HookSecret))
	w.shop, err = openShop(t.Context(), cfg)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.shop.run(ctx, ln) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
		require.NoError(t, w.shop.close())
		http.DefaultClient.CloseIdleConnections()
	})
	return w
}

// comes gives the shop a record as no honest service writes it.
func (w *world) comes(p payments.Payment, amount string) {
	w.t.Helper()
	var err error
	p.PaidAmount, err = payments.ParseAmount(amount)
	require.NoError(w.t, err)
	p.Status, p.VerifiedAt = payments.StatusComplete, time.Now()
	if p.Method == "" {
		p.Method = payments.MethodDeposit
	}
	require.NoError(w.t, w.shop.box.Webhook().Accept(w.t.Context(), p))
}

// count is how many pages listen.
func (l *listeners) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all + len(l.byOrder)
}

// only is the key of the one payment that the stage has.
func (w *world) only(stage inbox.Stage) (key string) {
	w.t.Helper()
	for e, err := range w.shop.box.List(w.t.Context(), inbox.Filter{Stages: []inbox.Stage{stage}}) {
		require.NoError(w.t, err)
		require.Empty(w.t, key, "there is another one")
		key = e.Key
	}
	return key
}

// pay plays the customer and the bank: the name on the checkout page, then the deposit.
// An amount of 0 pays what is due.
func (w *world) pay(payToken string, amount int64) {
	w.t.Helper()
	_, err := w.mock.Deposit(payToken, mockserver.Deposit{Payer: "Kim", Amount: amount})
	require.NoError(w.t, err)
}
