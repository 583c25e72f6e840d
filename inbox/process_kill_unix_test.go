//go:build unix

package inbox_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/sqlite"
	"github.com/depositpay/depositpay-go/internal/test/racing"
)

// kills is how often each database's process is killed: 100 times in all.
func kills() int {
	if testing.Short() || racing.On {
		return 8
	}
	return 50
}

// TestKillPostgreSQL: a process that accepts and grants is killed at random moments, and
// the next one goes on where it was.
func TestKillPostgreSQL(t *testing.T) {
	t.Parallel()
	db, books := newBooks(t)
	books.requireSurvives(childConfig{DSN: db.DSN, Lease: 200 * time.Millisecond, Concurrency: 4}, nil)
}

func TestKillSQLite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shop.db")
	ledger, err := sqlite.Open(path, nil)
	require.NoError(t, err)
	require.NoError(t, inbox.Migrate(t.Context(), ledger.Writer, inbox.DialectSQLite, ""))
	books := books{t, ledger.Writer}
	books.do(effectsTable)
	require.NoError(t, ledger.Close())
	books.requireSurvives(childConfig{SQLite: path, Lease: 200 * time.Millisecond}, func() {
		reopened, err := sqlite.Open(path, nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, reopened.Close()) })
		books.db = reopened.Writer
		var verdict string
		require.NoError(t, reopened.Writer.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict))
		require.Equal(t, "ok", verdict)
		require.NoError(t, reopened.Intake.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict))
		require.Equal(t, "ok", verdict)
	})
}

// requireSurvives kills and compares. reopen, if set, opens the books for the end.
func (b *books) requireSurvives(cfg childConfig, reopen func()) {
	t := b.t
	t.Helper()
	cfg.Run, cfg.Accept = true, true
	acknowledged := map[int]bool{}
	began := time.Now()
	for i := range kills() {
		// Some are killed while they accept, and some while their handlers run.
		window := []time.Duration{200 * time.Millisecond, time.Second}[i%2]
		cfg.Last = cfg.First + 12 // few enough that their handlers run before the end
		p := begin(t, cfg)
		<-time.After(time.Duration(rand.Int64N(int64(window))))
		p.kill()
		require.Empty(t, p.refused)
		for _, n := range p.acks {
			acknowledged[n] = true
			cfg.First = max(cfg.First, n+1) // those that were not acknowledged may be there or not
		}
	}
	// The last one finishes what the others have left.
	cfg.Accept = false
	last := begin(t, cfg)
	if reopen != nil {
		last.tell() // a child that holds nothing says "idle" when all is done
		last.hear("idle")
		last.kill()
		reopen()
	} else {
		require.Eventually(t, func() bool {
			return b.number(`SELECT count(*) FROM depositpay_payments WHERE stage <> 3`) == 0
		}, patience, 10*time.Millisecond)
		last.kill()
	}
	n := b.number(`SELECT count(*) FROM depositpay_payments`)
	t.Logf("killed %d times in %v: %d acceptances acknowledged, %d payments in the ledger, %d claimed again",
		kills(), time.Since(began).Round(time.Second), len(acknowledged), n, b.number(`SELECT count(*) FROM depositpay_payments WHERE attempt > 1`))
	require.NotEmpty(t, acknowledged)
	for i := range acknowledged {
		require.Equal(t, 1, b.number(`SELECT count(*) FROM depositpay_payments WHERE payment_id = $1`, nthPayment(i).ID.String()),
			"payment %d was acknowledged and is missing", i)
	}
	b.requireExact(n)
}
