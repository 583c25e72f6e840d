package main

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
)

// fulfil is the job: what a worker needs to know of a payment.
type fulfil struct {
	PaymentID  string `json:"payment_id"`
	Identifier string `json:"identifier"`
}

// Kind names the job in River's table.
func (fulfil) Kind() string { return "fulfil" }

type fulfiller struct {
	river.WorkerDefaults[fulfil]
	db   *sql.DB
	name string
}

// Work fulfils an order and completes the job in one transaction: a worker that is killed
// has done both or nothing, and somebody else does it.
func (w *fulfiller) Work(ctx context.Context, job *river.Job[fulfil]) error {
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	// The key keeps a second run off: JobCompleteTx says nothing if River has given the job
	// to another worker meanwhile. If there is the row already, the job alone is left to do.
	if _, err := tx.ExecContext(ctx, `INSERT INTO fulfilments (payment_id, identifier, worker) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		job.Args.PaymentID, job.Args.Identifier, w.name); err != nil {
		return err
	}
	if _, err := river.JobCompleteTx[*riverdatabasesql.Driver](ctx, tx, job); err != nil {
		return err
	}
	return tx.Commit()
}

// keepForEver is River's word for it.
const keepForEver = -1

// rescueAfter is when River gives the job of a worker that is gone to another one.
const rescueAfter = 10 * time.Second

// work fulfils jobs until ctx ends, and those under way to their end.
func work(ctx context.Context, db *sql.DB, _ options) error {
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	workers := river.NewWorkers()
	river.AddWorker(workers, &fulfiller{db: db, name: fmt.Sprint("worker ", os.Getpid())})
	client, err := river.NewClient(riverdatabasesql.New(db), &river.Config{
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 4}},
		Workers:           workers,
		FetchPollInterval: 200 * time.Millisecond,
		JobTimeout:        rescueAfter / 2, RescueStuckJobsAfter: rescueAfter,
		DiscardedJobRetentionPeriod: keepForEver, // each is money that came and nothing that went
		CancelledJobRetentionPeriod: keepForEver, // by a worker's river.JobCancel, or by hand
		Logger:                      logger,
	})
	if err != nil {
		return err
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	alarm(ctx, db, logger)
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer cancel()
	return client.Stop(grace)
}
