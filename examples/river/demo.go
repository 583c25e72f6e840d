package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// demo plays everybody: the service, its customers, the receiver, and, in processes of
// their own, three workers.
func demo(ctx context.Context, db *sql.DB, o options) (err error) {
	ctx, stop := context.WithTimeout(ctx, 2*time.Minute)
	defer stop()
	mock, err := mockserver.New(mockserver.Config{})
	if err != nil {
		return err
	}
	if err := mock.Start(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mock.Close()) }()
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token()})
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	box, err := openInbox(ctx, db, client)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, box.Close())
	}
	served := make(chan error, 1)
	serving, rest := context.WithCancel(ctx)
	go func() { served <- serve(serving, box, client, listener) }()
	defer func() {
		rest()
		err = errors.Join(err, <-served, box.Close())
	}()
	if err := mock.SetWebhook(mock.Token(), "http://"+listener.Addr().String()+"/"); err != nil {
		return err
	}
	for range 3 {
		dismiss, err := hire(ctx, o)
		if err != nil {
			return err
		}
		defer dismiss()
	}
	return story(ctx, db, mock, box, o.orders)
}

// hire starts this program as a worker; dismiss ends it.
func hire(ctx context.Context, o options) (dismiss func(), err error) {
	cmd := exec.CommandContext(ctx, os.Args[0], "work", "-postgres", o.postgres) //nolint:gosec // this very program
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}, nil
}

// story places orders, pays them, and waits until the workers have fulfilled them all.
func story(ctx context.Context, db *sql.DB, mock *mockserver.Server, box *inbox.Inbox, orders int) error {
	before, err := fulfilled(ctx, db)
	if err != nil {
		return err
	}
	for i := range orders {
		created, err := box.Create(ctx, payments.CreateRequest{
			Title: "A sword", Identifier: fmt.Sprint("order-", i), Amount: payments.NewAmount(int64(1000 * (i + 1))),
		})
		if err != nil {
			return err
		}
		if _, err := mock.Deposit(created.PayToken.String(), mockserver.Deposit{Payer: "Kim"}); err != nil {
			return err
		}
	}
	fmt.Println(orders, "orders are paid.")
	for n := 0; n < orders; {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d orders are fulfilled: %w", n, orders, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
		now, err := fulfilled(ctx, db)
		if err != nil {
			return err
		}
		n = 0
		for worker, count := range now {
			n += count - before[worker]
		}
	}
	now, err := fulfilled(ctx, db)
	for worker, count := range now {
		if count -= before[worker]; count > 0 {
			fmt.Printf("%s fulfilled %d.\n", worker, count)
		}
	}
	return err
}

// fulfilled counts what each worker has fulfilled.
func fulfilled(ctx context.Context, db *sql.DB) (map[string]int, error) {
	rows, err := db.QueryContext(ctx, `SELECT worker, count(*) FROM fulfilments GROUP BY worker`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	counts := map[string]int{}
	for rows.Next() {
		var worker string
		var n int
		if err := rows.Scan(&worker, &n); err != nil {
			return nil, err
		}
		counts[worker] = n
	}
	return counts, rows.Err()
}
