package main

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// receive takes payments in, over both channels, and makes a job of each.
func receive(ctx context.Context, db *sql.DB, o options) error {
	client, err := payments.New(payments.Config{BaseURL: o.service, Token: os.Getenv("DEPOSITPAY_TOKEN")})
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	box, err := openInbox(ctx, db, client)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.listen)
	if err != nil {
		return errors.Join(err, box.Close())
	}
	return errors.Join(serve(ctx, box, client, listener), box.Close())
}

// openInbox opens an inbox whose handler enqueues. The job and the mark "done" are one
// commit: tx is the inbox's.
func openInbox(ctx context.Context, db *sql.DB, client *payments.Client) (*inbox.Inbox, error) {
	jobs, err := river.NewClient(riverdatabasesql.New(db), &river.Config{}) // inserts only
	if err != nil {
		return nil, err
	}
	return inbox.Open(ctx, inbox.Config{
		DB: db, Client: client,
		Handler: func(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
			if p.ID == uuid.Nil { // a person approved it; the fulfilments of two such would be taken for one
				return inbox.Cancel(errors.New("the record names no payment: fulfil it by hand"))
			}
			_, err := jobs.InsertTx(ctx, tx, fulfil{PaymentID: p.ID.String(), Identifier: p.Identifier}, nil)
			return err
		},
	})
}

// serve runs the inbox, its poller and its webhook until ctx ends or the
// inbox or the server fails.
func serve(ctx context.Context, box *inbox.Inbox, client *payments.Client, listener net.Listener) error {
	hook, err := webhook.New(webhook.Config{Client: client, Ledger: box.Webhook()})
	if err != nil {
		return err
	}
	poll, err := poller.New(poller.Config{Client: client, Ledger: box.Poller()})
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: hook, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 8 * time.Second,
		WriteTimeout: 15 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	errs := make(chan error, 3)
	var parts sync.WaitGroup
	start := func(part func() error) {
		parts.Go(func() {
			defer stop() // one for all
			errs <- part()
		})
	}
	start(func() error { return box.Run(ctx) })
	parts.Go(func() { errs <- poll.Run(ctx) }) // webhooks and jobs go on without it
	start(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	<-ctx.Done()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer cancel()
	err = errors.Join(server.Shutdown(grace), hook.Wait(grace))
	parts.Wait()
	close(errs)
	for e := range errs {
		err = errors.Join(err, e)
	}
	return err
}
