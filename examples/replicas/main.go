// Command replicas is the starter on PostgreSQL: any number of copies run at once, behind one load
// balancer. Each takes orders and webhooks and runs handlers; one of them polls. It is the program of
// docs/guide/replicas.md.
package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// connections is the pool of one replica: what the inbox takes (see inbox.Config.DB), one for the
// lock of the poller, and the rest for this program's own queries.
const connections = 24

func main() {
	listen := flag.String("listen", "127.0.0.1:9000", "where customers and webhooks come in")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *listen); err != nil {
		log.Fatal(err)
	}
}

type shop struct {
	client *payments.Client
	db     *sql.DB
	box    *inbox.Inbox
}

// run opens what the shop needs, and closes it in the opposite order.
func run(ctx context.Context, listen string) (err error) {
	client, err := payments.New(payments.Config{
		BaseURL:     os.Getenv("DEPOSITPAY_URL"),
		CheckoutURL: os.Getenv("DEPOSITPAY_CHECKOUT_URL"),
		Token:       os.Getenv("DEPOSITPAY_TOKEN"),
	})
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	s := &shop{client: client}
	if err := s.open(ctx, os.Getenv("DATABASE_URL")); err != nil {
		return errors.Join(err, s.close())
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return s.serve(ctx, listen)
}

// open connects to PostgreSQL, brings the tables up to date, and opens the inbox.
func (s *shop) open(ctx context.Context, url string) error {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return errors.New("DATABASE_URL cannot be read") // its text may hold the password
	}
	s.db = db
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	if err := migrate(ctx, db); err != nil {
		return err
	}
	s.box, err = inbox.Open(ctx, inbox.Config{DB: db, Client: s.client, Handler: grant, OnlyCreated: true}) // no other program creates payments with this token
	return err
}

func (s *shop) close() error {
	var errs []error
	if s.box != nil {
		errs = append(errs, s.box.Close())
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	return errors.Join(errs...)
}

// migrate makes the shop's own tables. Two replicas that run CREATE TABLE IF NOT EXISTS at once
// both find no table, and one of them fails; the lock lets the second one wait.
func migrate(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, schemaLock); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS orders (id text PRIMARY KEY, paid boolean NOT NULL DEFAULT false)`); err != nil {
		return err
	}
	return tx.Commit()
}

// grant fulfills an order. Its writes through tx and the mark "done" are one commit.
func grant(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
	result, err := tx.ExecContext(ctx, `UPDATE orders SET paid = true WHERE id = $1 AND NOT paid`, p.Identifier)
	if err != nil {
		return err
	}
	if n, _ := result.RowsAffected(); n != 1 {
		return inbox.Cancel(errors.New("no unpaid order")) // a person decides
	}
	return nil
}

// order takes an order and returns the address at which the customer pays.
func (s *shop) order(ctx context.Context) (string, error) {
	id := rand.Text()
	if _, err := s.db.ExecContext(ctx, `INSERT INTO orders (id) VALUES ($1)`, id); err != nil {
		return "", err
	}
	created, err := s.box.Create(ctx, payments.CreateRequest{Title: "Sword", Identifier: id, Amount: payments.NewAmount(10000)})
	if err != nil {
		return "", err
	}
	return s.client.CheckoutURL(created.PayToken)
}

// count reports how many orders are paid.
func (s *shop) count(ctx context.Context) (string, error) {
	var paid, all int
	err := s.db.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE paid), count(*) FROM orders`).Scan(&paid, &all)
	return fmt.Sprintf("%d of %d orders paid", paid, all), err
}

func page(text func(context.Context) (string, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		said, err := text(r.Context())
		if err != nil {
			log.Print(err)
			http.Error(w, "try again later", http.StatusInternalServerError)
			return
		}
		_, _ = fmt.Fprintln(w, said)
	}
}

// serve runs the server, the inbox and, where this replica is the one, the poller, until ctx ends, or the
// server or the inbox fails.
func (s *shop) serve(ctx context.Context, listen string) error {
	hook, err := webhook.New(webhook.Config{Client: s.client, Ledger: s.box.Webhook()})
	if err != nil {
		return err
	}
	poll, err := poller.New(poller.Config{Client: s.client, Ledger: s.box.Poller()})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/hooks/deposit", hook)
	mux.Handle("POST /orders", page(s.order))
	mux.Handle("GET /orders", page(s.count))
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 8 * time.Second,
		WriteTimeout: 15 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	log.Printf("listening on http://%s", listener.Addr())

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 3)
	for _, part := range []func() error{
		func() error { return s.box.Run(ctx) },
		func() error { return s.pollAlone(ctx, poll) }, // in place of poll.Run(ctx)
		func() error { return server.Serve(listener) },
	} {
		go func() {
			defer stop() // pollAlone ends with ctx only
			ended <- part()
		}()
	}

	<-ctx.Done() // from now on no poll and no grant begins
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer cancel()
	err = errors.Join(server.Shutdown(grace), hook.Wait(grace)) // a webhook may still be in work
	for range 3 {
		if e := <-ended; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
	}
	return err
}
