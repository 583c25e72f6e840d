// Command starter is the least that takes money: an address to order at, the webhook and the
// poller, one ledger for both, and a clean end. It is the program of docs/getting-started.md.
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

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

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
	db     *inbox.SQLite
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
	db, err := sqlite.Open("shop.db", nil) // the ledger, and your tables
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.Writer.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, paid BOOLEAN NOT NULL DEFAULT false)`)
	if err != nil {
		return err
	}
	box, err := inbox.Open(ctx, inbox.Config{SQLite: db, Client: client, Handler: grant, OnlyCreated: true}) // no other program creates payments with this token
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	s := &shop{client, db, box}
	return s.serve(ctx, listen)
}

// grant gives what was paid for. What it writes through tx and the mark "done" are one commit.
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
	if _, err := s.db.Writer.ExecContext(ctx, `INSERT INTO orders (id) VALUES ($1)`, id); err != nil {
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
	err := s.db.Reader.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE paid), count(*) FROM orders`).Scan(&paid, &all)
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

// serve runs the server, the poller and the inbox, until ctx ends or the server or the inbox fails.
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
		func() error { return s.box.Run(ctx) }, // runs grant, asks for what is outstanding
		func() error { return server.Serve(listener) },
	} {
		go func() {
			defer stop() // the shop cannot run without this part: end, so that a supervisor restarts the program
			ended <- part()
		}()
	}
	go func() { // webhooks and orders go on without the poller
		err := poll.Run(ctx) // takes what the webhook did not bring
		if ctx.Err() == nil {
			log.Print("polling has ended: ", err)
		}
		ended <- err
	}()

	<-ctx.Done() // from now on no poll and no grant begins
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer cancel()
	err = errors.Join(server.Shutdown(grace), hook.Wait(grace)) // a webhook may still be in work
	for range 3 {
		if e := <-ended; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
	}
	return err // run closes the ledger now, when nobody writes to it any more
}
