package main

import (
	"context"
	"database/sql"
	"log/slog"
	"time"
)

// alarmEvery is how often the failed jobs are counted.
const alarmEvery = time.Minute

// alarm logs how many jobs failed for good, at once and then every minute until ctx ends.
// Their payments are done for the inbox, so nothing else would report them.
func alarm(ctx context.Context, db *sql.DB, logger *slog.Logger) {
	ticker := time.NewTicker(alarmEvery)
	defer ticker.Stop()
	for {
		n, err := givenUp(ctx, db)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			logger.ErrorContext(ctx, "the jobs given up were not counted", "error", err)
		case n > 0:
			logger.ErrorContext(ctx, "paid and not fulfilled: jobs were given up", "jobs", n)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// givenUp counts the jobs that have used up their attempts, or were cancelled.
func givenUp(ctx context.Context, db *sql.DB) (n int, err error) {
	err = db.QueryRowContext(ctx, `SELECT count(*) FROM river_job WHERE state IN ('discarded', 'cancelled')`).Scan(&n)
	return n, err
}
