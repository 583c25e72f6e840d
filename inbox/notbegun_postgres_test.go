package inbox_test

import (
	"bytes"
	"context"
	"database/sql"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/payments"
)

// TestNoConnectionIsNoTry: a payment whose transaction cannot begin, because others hold all of the pool's connections
// for longer than HandlerTimeout, is given back at once and handed over later, although MaxAttempts is 1.
func TestNoConnectionIsNoTry(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	db := pgtest.New(t).DB
	db.SetMaxOpenConns(6)
	box, err := inbox.Open(t.Context(), inbox.Config{
		DB: db, Client: nobody{}, AcceptUnknown: true, Concurrency: 1, MaxAttempts: 1, HandlerTimeout: 500 * time.Millisecond,
		BackoffMin: time.Microsecond, BackoffMax: time.Microsecond,
		Handler: func(context.Context, *sql.Tx, payments.Payment) error { return nil }, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, box.Close()) })
	p := nthPayment(1)
	require.NoError(t, box.Webhook().Accept(t.Context(), p))
	var held [2]*sql.Conn // all that the inbox does not keep
	for i := range held {
		held[i], err = db.Conn(t.Context())
		require.NoError(t, err)
	}
	for range 2 {
		claims, err := inbox.ClaimAll(box)
		require.NoError(t, err)
		require.Len(t, claims, 1, "it is due again, and not only when its lease ends")
		inbox.Handle(box, &claims[0])
	}
	for _, c := range held {
		require.NoError(t, c.Close())
	}
	e, err := box.Get(t.Context(), p.ID.String())
	require.NoError(t, err)
	require.Equal(t, inbox.StageReady, e.Stage)
	require.Zero(t, e.Tries)
	require.EqualValues(t, 2, e.Attempt)
	require.Contains(t, e.Reason, "the handler's transaction could not begin")
	require.Contains(t, log.String(), "no try is counted")

	claims, err := inbox.ClaimAll(box)
	require.NoError(t, err)
	require.Len(t, claims, 1)
	inbox.Handle(box, &claims[0])
	e, err = box.Get(t.Context(), p.ID.String())
	require.NoError(t, err)
	require.Equal(t, inbox.StageDone, e.Stage, e.Reason)
}
