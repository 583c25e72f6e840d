//go:build linux

package powerloss_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
	"github.com/depositpay/depositpay-go/internal/test/racing"
)

func TestMain(m *testing.M) {
	install()
	goleak.VerifyTestMain(m)
}

const cutsPerShop = 5

// shops is how many there are, each with its seed, and which is the first.
func shops(t *testing.T, n int) (first uint64, count int) {
	text := os.Getenv("DEPOSITPAY_POWERLOSS_SEED")
	if text == "" {
		return 1, n
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err, "DEPOSITPAY_POWERLOSS_SEED")
	return seed, 1
}

// life is one shop with its cuts. It is in a bubble, because an inbox whose disk has gone goes
// on for a while to write down how its handler ended. The number of steps until a cut is spread over orders of
// magnitude: the first ones make the files, and some cuts shall fall there.
func life(t *testing.T, seed uint64, open opener, unsafe bool) (told int, err error) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, seed, open, unsafe) // its channels are the bubble's, or time would not go on in it
		err = s.live(t.Context())
		told = len(s.told)
	})
	return told, err
}

func (s *shop) live(ctx context.Context) error {
	for cut := range cutsPerShop {
		steps := int(math.Exp(s.rng.Float64() * math.Log(600)))
		if err := s.day(ctx, max(1, steps)); err != nil {
			return fmt.Errorf("seed %d, cut %d after %d steps: %w", s.seed, cut, steps, err)
		}
		if err := s.audit(ctx); err != nil {
			return fmt.Errorf("%w: seed %d, after cut %d, which came after %d steps: %w", errBroken, s.seed, cut, steps, err)
		}
	}
	if err := s.settle(ctx); err != nil {
		return fmt.Errorf("%w: seed %d, at the end: %w", errBroken, s.seed, err)
	}
	return nil
}

func opens(path string) (*inbox.SQLite, error) { return sqlite.Open(path, nil) }

// TestPowerLoss: whatever the disk has not synced may be gone, and nothing that was
// acknowledged is.
func TestPowerLoss(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED in short mode: it takes ten seconds")
	}
	t.Parallel()
	first, n := shops(t, racing.Size(100, 10))
	told := 0
	for seed := first; seed < first+uint64(n); seed++ {
		n, err := life(t, seed, opens, false)
		require.NoError(t, err, "DEPOSITPAY_POWERLOSS_SEED=%d repeats the cuts", seed)
		told += n
	}
	t.Logf("seeds %d to %d: %d cuts, %d acknowledged payments, all there", first, first+uint64(n)-1, n*cutsPerShop, told)
	require.Greater(t, told, n, "the shops did next to nothing")
}

// TestMutants: a ledger that syncs less loses something, and this test sees it.
func TestMutants(t *testing.T) {
	t.Parallel()
	for _, m := range []struct{ name, ledger, intake string }{
		{"both files NORMAL", "NORMAL", "NORMAL"},
		{"both files OFF", "OFF", "OFF"},
		{"the intake file NORMAL", "FULL", "NORMAL"},
		{"the intake file OFF", "FULL", "OFF"},
		{"the ledger NORMAL", "NORMAL", "FULL"},
		{"the ledger OFF", "OFF", "FULL"},
	} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			for seed := uint64(1); seed <= 60; seed++ {
				_, err := life(t, seed, mutant(m.ledger, m.intake), true)
				if errors.Is(err, errBroken) {
					t.Logf("caught: %v", err)
					return
				}
				require.NoError(t, err)
			}
			t.Fatalf("60 shops with %d cuts each lost nothing", cutsPerShop)
		})
	}
}
