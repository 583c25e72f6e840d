//go:build unix

package torture

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/child"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// childVariable makes this test binary a merchant; see childConfig.
const childVariable = "DEPOSITPAY_TEST_TORTURE_MERCHANT"

// childConfig configures a merchant process. It prints "ready ADDRESS" when it accepts
// webhooks and orders, and exits when its standard input closes, so it never outlives the
// campaign.
type childConfig struct {
	Service, Token string
	DSN, SQLite    string // one of them
	Products       map[string]int64
	OnlyCreated    bool
	Poll, Webhook  bool // what it receives by
	Calm           bool // the trouble is over: no slow handlers, confirm all there is, say "reconciled"
	Mutant         mutant
	Unhanded       []payments.Payment // what the poller before could not hand over
}

func init() {
	child.Main(childVariable, func(cfg childConfig) error {
		m := &shop{childConfig: cfg}
		if socket, soaks := strings.CutPrefix(string(cfg.Mutant), string(soaking)); soaks {
			return (&soakShop{shop: m}).main(socket)
		}
		return m.main()
	})
}

// shop is a merchant inside its own process.
type shop struct {
	childConfig
	client *payments.Client
	ledger *sql.DB      // for what mutants do
	begun  atomic.Int64 // handlers, of a mutant
	box    *inbox.Inbox
}

var quiet = slog.New(slog.DiscardHandler)

func (c *shop) main() error {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0) // the campaign is over, or killed
	}()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	patience := nextTimeout
	if c.Mutant == hasty {
		patience = 100 * time.Millisecond
	}
	var err error
	c.client, err = payments.New(payments.Config{
		BaseURL: c.Service, Token: c.Token, Timeout: 3 * time.Second, NextTimeout: patience,
		RetryWaitMin: 20 * time.Millisecond, RetryWaitMax: time.Second,
	})
	if err != nil {
		return err
	}
	for c.box == nil { // the database may be away
		if c.box, err = c.open(ctx); err != nil {
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
				return nil
			}
		}
	}
	return c.run(ctx)
}

// nextTimeout is below the default, so that campaigns see polls time out.
const nextTimeout = 5 * time.Second

// run runs until SIGTERM and then shuts down in the order that the guides give.
func (c *shop) run(ctx context.Context) error {
	hookConfig, pollConfig := c.channels()
	hookConfig.Client, hookConfig.Logger = c.confirmer(), quiet
	hook, err := webhook.New(hookConfig)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	if c.Webhook {
		mux.Handle("POST "+hookPath, c.receiver(hook))
	}
	mux.HandleFunc("POST /order", c.order)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second}
	var running sync.WaitGroup
	running.Go(func() { _ = server.Serve(listener) }) // until Shutdown
	boxCtx, endBox := context.WithCancel(context.Background())
	defer endBox()
	var boxErr, pollErr error
	if c.Mutant != idle || c.Calm {
		running.Go(func() { boxErr = c.box.Run(boxCtx) })
	}
	polled := make(chan struct{})
	go func() {
		defer close(polled)
		if c.Poll {
			pollErr = c.poll(ctx, pollConfig)
		}
	}()
	c.takeUnhanded(ctx, cmp.Or[poller.Sink](hookConfig.Ledger, hookConfig.Sink))
	child.PrintLine("ready", listener.Addr())
	if c.Calm {
		running.Go(func() { c.reconcile(ctx) })
	}
	<-ctx.Done()
	<-polled
	end, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	err = errors.Join(pollErr, server.Shutdown(end), hook.Wait(end))
	endBox()
	running.Wait()
	closed := c.box.Close()
	if errors.Is(closed, inbox.ErrUnstored) {
		closed = nil // the database is away; the comparison shows whether the next process finds them
	}
	return errors.Join(err, boxErr, closed)
}

// order is the HTTP handler that creates a payment for a customer.
func (c *shop) order(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Identifier string
		Amount     int64
	}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	created, err := c.box.Create(r.Context(), payments.CreateRequest{
		Title: "Order", Identifier: ask.Identifier, Amount: payments.NewAmount(ask.Amount),
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = io.WriteString(w, created.PayToken.String())
}
