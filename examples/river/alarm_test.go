package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/pgtest"
)

// TestGivenUp: a job that has used up its attempts, or was cancelled, is there after a year,
// when River has long deleted one that succeeded, and the workers tell of it.
func TestGivenUp(t *testing.T) {
	db := pgtest.New(t).DB
	require.NoError(t, migrate(t.Context(), db))
	_, err := db.ExecContext(t.Context(), `INSERT INTO river_job (kind, args, state, attempt, max_attempts, finalized_at)
		SELECT 'fulfil', '{}', state::river_job_state, 25, 25, now() - interval '1 year' FROM unnest(ARRAY['discarded', 'cancelled', 'completed']) AS state`)
	require.NoError(t, err)

	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- work(ctx, db, options{}) }()
	require.Eventually(t, func() bool { return number(t, db, `SELECT count(*) FROM river_job WHERE state = 'completed'`) == 0 },
		2*time.Minute, 20*time.Millisecond)
	stop()
	require.NoError(t, <-ended)
	n, err := givenUp(t.Context(), db)
	require.NoError(t, err)
	require.Equal(t, 2, n)

	said, out, err := os.Pipe()
	require.NoError(t, err)
	ctx, stop = context.WithCancel(t.Context())
	go func() {
		alarm(ctx, db, slog.New(slog.NewTextHandler(out, nil)))
		_ = out.Close()
	}()
	first := make([]byte, 1<<10)
	length, err := said.Read(first)
	stop()
	require.NoError(t, err)
	require.Contains(t, string(first[:length]), "level=ERROR msg=\"paid and not fulfilled: jobs were given up\" jobs=2")
	_, err = io.Copy(io.Discard, said)
	require.NoError(t, err)
	require.NoError(t, said.Close())
}
