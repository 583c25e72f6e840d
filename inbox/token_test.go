package inbox_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// rejected is a client whose token fails with err.
type rejected struct {
	nobody
	err error
}

func (r rejected) Confirm(context.Context, uuid.UUID) (payments.Payment, error) {
	return payments.Payment{}, r.err
}

// TestTokenFailsIsLoggedOnce: without a token that works all confirms fail, and one line an hour
// at error level says so.
func TestTokenFailsIsLoggedOnce(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err    error
		errors int
	}{
		"refused": {payments.ErrTokenRefused, 1},
		"source":  {fmt.Errorf("vault: %w", payments.ErrTokenSource), 1},
		"another": {payments.ErrAmbiguous, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log logged
			box := accepting(t, inbox.Config{
				SQLite: openLedger(t, filepath.Join(t.TempDir(), "shop.db")), Client: rejected{err: test.err},
				ReconcileEvery: -1, Logger: slog.New(slog.NewTextHandler(&log, nil)),
			})
			for n := range 3 {
				req := payments.CreateRequest{Title: "x", Identifier: fmt.Sprint(n), Amount: payments.NewAmount(1)}
				require.NoError(t, box.Expect(t.Context(), uuid.New(), req))
			}
			for range 2 {
				report, err := box.Reconcile(t.Context())
				require.NoError(t, err)
				require.EqualValues(t, 3, report.Failed)
			}
			require.Equal(t, test.errors, log.count("level=ERROR"))
			require.Equal(t, test.errors, log.count(test.err.Error()))
		})
	}
}
