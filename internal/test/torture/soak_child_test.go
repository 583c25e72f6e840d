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
	"github.com/depositpay/depositpay-go/inbox/sqlite"
	"github.com/depositpay/depositpay-go/payments"
)

// soaking begins the Mutant of a merchant that does nothing wrong and lives long: the
// rest is the Unix socket where it tells of itself.
const soaking mutant = "none, it soaks: "

// soakShop is a merchant with the settings of a shop: leases are as long as they are,
// and the ages are short, so that a soak sees their end.
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

// settle is a person who looks at the report of possible losses every minute: without one
// they stay in it. The lines stay in the ledger, for the books.
func (c *soakShop) settle(ctx context.Context) {
	for {
		select {
		case <-time.After(time.Minute):
		case <-ctx.Done():
			return
		}
		report, err := c.box.LastReport(ctx)
		for _, l := range report.PossibleLosses {
			settled := c.box.SettleLoss(ctx, l.ID, inbox.Decision{Actor: "the soak", Reason: "the books are compared at the end"})
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

// soakHints is so low that the strangers of two hours go beyond it.
const soakHints = 200

// self is what a merchant tells of itself.
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
