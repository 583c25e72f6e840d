package poller_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
)

// TestLog: a poll that may have lost money is one line at error level, with all that is known of
// the payment.
func TestLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		odd, lost := newPayment(), newPayment()
		odd.Status = "ODD"
		odd.Identifier = "x\nlevel=ERROR msg=forged"
		src := newSource(t,
			answer{p: odd, err: payments.ErrNotComplete},
			answer{err: fmt.Errorf("%w: %w", payments.ErrAmbiguous, &payments.Error{Op: "Next", Raw: []byte("{\"id\n" + strings.Repeat("z", 5000))})},
			answer{err: errTest}, answer{p: lost},
		)
		box := newSink(t)
		box.failing(lost, -1)
		var out bytes.Buffer
		p := newPoller(t, poller.Config{Client: src, Sink: box, Logger: slog.New(slog.NewTextHandler(&out, nil))})
		_, err := runFor(t, p, time.Minute)
		require.ErrorContains(t, err, lost.ID.String())
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		line := func(kind poller.Kind) string {
			for _, l := range lines {
				if strings.Contains(l, "kind="+string(kind)+" ") {
					return l
				}
			}
			return ""
		}
		for _, part := range []string{"level=ERROR", odd.ID.String(), "status=ODD", "paid_amount=10000", `identifier="x\nlevel=ERROR msg=forged"`} {
			assert.Contains(t, line(poller.KindUnverified), part)
		}
		assert.Contains(t, line(poller.KindAmbiguous), "level=ERROR")
		assert.Contains(t, line(poller.KindAmbiguous), `raw=`)
		assert.Less(t, len(line(poller.KindAmbiguous)), 3000)
		assert.Contains(t, line(poller.KindError), "level=WARN")
		assert.Contains(t, line(poller.KindSinkFailed), "level=WARN")
		assert.Contains(t, line(poller.KindUnhanded), "level=ERROR")
		assert.Contains(t, line(poller.KindUnhanded), "identifier=order-1")
	})
}

// TestLogWithLedger: a lost response is a warning if there is a ledger, and only the beginning
// of a page is logged.
func TestLogWithLedger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		page := &payments.Error{Op: "Next", Raw: []byte("<html>" + strings.Repeat("z", 5000))}
		src := newSource(t, answer{err: fmt.Errorf("%w: %w", payments.ErrAmbiguous, page)})
		var out bytes.Buffer
		p := newPoller(t, poller.Config{Client: src, Ledger: &ledger{sink: newSink(t)}, Logger: slog.New(slog.NewTextHandler(&out, nil))})
		mustRun(t, p, time.Minute)
		assert.Equal(t, 1, strings.Count(out.String(), "\n"), out.String())
		assert.Contains(t, out.String(), "level=WARN")
		assert.Contains(t, out.String(), "kind=ambiguous")
		assert.Contains(t, out.String(), "<html>")
		assert.Less(t, out.Len(), 700)
	})
}

// TestLossIsNeverSilent: without a Logger a loss goes to the default logger. Not parallel: it
// replaces that.
func TestLossIsNeverSilent(t *testing.T) {
	var out bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	defer slog.SetDefault(before)
	p, err := poller.New(poller.Config{
		Client: newSource(t, answer{err: fmt.Errorf("%w %w", payments.ErrAmbiguous, payments.ErrTokenRefused)}), Sink: newSink(t),
		StopOnTokenRefused: true,
	})
	require.NoError(t, err)
	require.ErrorIs(t, p.Run(t.Context()), payments.ErrTokenRefused)
	assert.Contains(t, out.String(), "level=ERROR")
	assert.Contains(t, out.String(), "kind=ambiguous")
}
