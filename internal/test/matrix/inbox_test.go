package matrix_test

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/sqlite"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// TestInboxInDialects: in every kind of dialect, an order is granted once through the inbox,
// by webhook and by poll; a record without an id goes to a person.
func TestInboxInDialects(t *testing.T) {
	t.Parallel()
	for i, d := range few(t) {
		t.Run(fmt.Sprint(i, " ", d), func(t *testing.T) {
			t.Parallel()
			durable(t, overLoopback(t, d))
		})
	}
}

func durable(t *testing.T, s *service) {
	t.Helper()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "payments.db"), nil)
	require.NoError(t, err)
	defer func() { assert.NoError(t, db.Close()) }()
	granted := make(chan uuid.UUID, 10)
	box, err := inbox.Open(t.Context(), inbox.Config{
		SQLite: db, Client: s.client, Logger: quiet, ReconcileEvery: -1,
		Handler: func(_ context.Context, _ *sql.Tx, p payments.Payment) error {
			granted <- p.ID
			return nil
		},
	})
	require.NoError(t, err)
	defer func() { assert.NoError(t, box.Close()) }()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- box.Run(ctx) }()
	defer func() { stop(); assert.NoError(t, <-ended) }()

	hook, err := webhook.New(webhook.Config{Client: s.client, Ledger: box.Webhook(), Logger: quiet})
	require.NoError(t, err)
	s.hooks.Handler = hook
	created, err := box.Create(ctx, order("by-webhook"))
	require.NoError(t, err)
	s.deposit(t, created.PayToken, mockserver.Deposit{})
	assert.Equal(t, created.PayToken, <-granted)

	require.NoError(t, s.mock.SetWebhook(token, ""))
	created, err = box.Create(ctx, order("by-poll"))
	require.NoError(t, err)
	s.deposit(t, created.PayToken, mockserver.Deposit{})
	drained, end := context.WithCancel(ctx)
	defer end()
	p, err := poller.New(poller.Config{Client: untilEmpty{s.client, end}, Ledger: box.Poller(), Logger: quiet})
	require.NoError(t, err)
	require.NoError(t, p.Run(drained))
	if s.is("envelope", "old") {
		require.Eventually(t, func() bool { return len(inReview(t, box)) > 0 }, time.Minute, 5*time.Millisecond)
		entries := inReview(t, box)
		require.Len(t, entries, 1, "a record that names no payment is kept for a person")
		assert.Equal(t, "by-poll", entries[0].Payment.Identifier)
		assert.Equal(t, payments.NewAmount(math.MaxInt64), entries[0].Payment.PaidAmount)
		assert.Empty(t, granted)
		return
	}
	assert.Equal(t, created.PayToken, <-granted)
	assert.Empty(t, granted)
}

func inReview(t *testing.T, box *inbox.Inbox) []inbox.Entry {
	t.Helper()
	var list []inbox.Entry
	for entry, err := range box.List(t.Context(), inbox.Filter{Stages: []inbox.Stage{inbox.StageReview}}) {
		require.NoError(t, err)
		list = append(list, entry)
	}
	return list
}
