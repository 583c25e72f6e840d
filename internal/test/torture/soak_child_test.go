//go:build unix

package torture

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"runtime/metrics"
	"syscall"
	"time"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/sqlite"
	"github.com/depositpay/depositpay-go/payments"
)

// soaking is the prefix of the Mutant of a correct, long-lived merchant. The rest is the
// Unix socket on which it reports about itself.
const soaking mutant = "none, it soaks: "

// soakShop is a merchant with the settings of a shop: leases are not shortened, and
// retention times are short enough for a soak to reach them.
type soakShop struct{ *shop }

func (c *soakShop) main(socket string) error {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0) // the soak is over, or killed
	}()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var err error
	if c.client, err = payments.New(payments.Config{BaseURL: c.Service, Token: c.Token, Timeout: 3 * time.Second, NextTimeout: nextTimeout}); err != nil {
		return err
	}
	if c.box, err = c.open(ctx); err != nil {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: http.HandlerFunc(c.tell), ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }() // until Close
	if c.Poll {
		go c.settle(ctx) // until SIGTERM
	}
	return errors.Join(c.run(ctx), server.Close())
}

// settle acts as a person who settles possible losses every minute; otherwise they stay in
// the report. The lines stay in the ledger for the comparison.
func (c *soakShop) settle(ctx context.Context) {
	for {
		select {
		case <-time.After(time.Minute):
		case <-ctx.Done():
			return
		}
		report, err := c.box.LastReport(ctx)
		for _, l := range report.PossibleLosses {
			settled := c.box.SettleLoss(ctx, l.ID, inbox.Decision{Actor: "the soak", Reason: "the ledgers are compared at the end"})
			if !errors.Is(settled, inbox.ErrStage) { // unless it was settled after the report
				err = errors.Join(err, settled)
			}
		}
		if err != nil && ctx.Err() == nil {
			_, _ = fmt.Fprintln(os.Stderr, "merchant: settle:", err)
		}
	}
}

func (c *soakShop) open(ctx context.Context) (*inbox.Inbox, error) {
	cfg := inbox.Config{
		Client: c.confirmer(), Handler: c.handle, Catalogue: map[string]inbox.Product{}, Logger: quiet,
		HandlerTimeout: 5 * time.Second, BackoffMin: 100 * time.Millisecond, BackoffMax: 5 * time.Second,
		KeepBodies: 5 * time.Minute, OutstandingFor: 10 * time.Minute, ReconcileEvery: 2 * time.Minute, MaxHints: soakHints,
	}
	for id, price := range c.Products {
		cfg.Catalogue[id] = inbox.Product{Price: payments.NewAmount(price)}
	}
	if c.SQLite != "" {
		ledger, err := sqlite.Open(c.SQLite, nil)
		if err != nil {
			return nil, err
		}
		cfg.SQLite, c.ledger = ledger, ledger.Writer
	} else {
		pool, err := sql.Open("pgx", c.DSN)
		if err != nil {
			return nil, err
		}
		const connections = 16 // as the guides have it: as many idle as open
		pool.SetMaxOpenConns(connections)
		pool.SetMaxIdleConns(connections)
		cfg.DB, c.ledger = pool, pool
	}
	return inbox.Open(ctx, cfg)
}

// soakHints is low enough that the forged ids of two hours exceed it.
const soakHints = 200

// self is a merchant's report about itself.
type self struct {
	Heap       uint64 // bytes that the last collection has found alive
	Goroutines int
	Ledger     inbox.Status // if it was asked for
	Granted    int64        // with it; Status counts to inbox.CountLimit only
}

func (c *soakShop) tell(w http.ResponseWriter, r *http.Request) {
	told := self{Heap: liveHeap(), Goroutines: runtime.NumGoroutine()}
	if r.URL.Query().Has("ledger") {
		var err error
		if told.Ledger, err = c.box.Status(r.Context()); err == nil {
			err = c.ledger.QueryRowContext(r.Context(), `SELECT count(*) FROM depositpay_payments WHERE stage = 3`).Scan(&told.Granted)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
	}
	_ = json.NewEncoder(w).Encode(told)
}

func liveHeap() uint64 {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64()
}
