// Command river shows how to outgrow one machine on a job engine that you know: the
// inbox's handler only enqueues a River job, in the transaction that marks the payment
// done, and workers in other processes fulfil it. No payment is without its job, none
// has two, and the job is completed in the transaction that fulfils the order.
//
//	river demo    -postgres URL    a mock of the service, a receiver, three workers
//	river receive -postgres URL -service URL -listen 127.0.0.1:8080
//	river work    -postgres URL
//
// The API token of receive is read from DEPOSITPAY_TOKEN.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	_ "github.com/jackc/pgx/v5/stdlib"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "river:", err)
		stop()
		os.Exit(1)
	}
}

// options are those of all roles.
type options struct {
	postgres, service, listen string
	orders                    int
}

var roles = map[string]func(context.Context, *sql.DB, options) error{"receive": receive, "work": work, "demo": demo}

func run(ctx context.Context, args []string) (err error) {
	if len(args) == 0 || roles[args[0]] == nil {
		return errors.New("want one of: demo, receive, work")
	}
	var o options
	flags := flag.NewFlagSet("river "+args[0], flag.ContinueOnError)
	flags.StringVar(&o.postgres, "postgres", os.Getenv("DATABASE_URL"), "the database, as a URL; default $DATABASE_URL")
	flags.StringVar(&o.service, "service", "", "base URL of the service (receive)")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:8080", "where webhooks are received (receive)")
	flags.IntVar(&o.orders, "orders", 20, "how many orders are placed (demo)")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if o.postgres == "" {
		return errors.New("-postgres: missing; for one to try: docker run -e POSTGRES_PASSWORD=x -p 127.0.0.1:5432:5432 postgres, " +
			"which is postgres://postgres:x@127.0.0.1:5432/postgres")
	}
	db, err := sql.Open("pgx", o.postgres)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := migrate(ctx, db); err != nil {
		return err
	}
	return roles[args[0]](ctx, db, o)
}
