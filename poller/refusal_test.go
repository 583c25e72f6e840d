package poller_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
)

var errRefused = fmt.Errorf("HTTP 401: %w", payments.ErrTokenRefused)

// TestTokenRefused: polling continues with the longest wait, each refusal is an event, and so is
// the first poll with a valid token; the payment behind the refusals arrives.
func TestTokenRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		want := newPayment()
		src := newSource(t, answer{err: errRefused}, answer{err: errRefused}, answer{err: errTest}, answer{p: want})
		box, seen := newSink(t), &events{}
		p := newPoller(t, poller.Config{Client: src, Sink: box, OnEvent: seen.add, BackoffMax: 20 * time.Second})
		began := time.Now()
		time.AfterFunc(time.Second, func() { assert.Equal(t, began, p.Stats().TokenRefusedSince) })
		mustRun(t, p, 2*time.Minute)
		assert.Equal(t, []uuid.UUID{want.ID}, box.ids())
		assert.Equal(t, []time.Duration{20 * time.Second, 20 * time.Second}, src.gaps()[:2])
		told := seen.of(poller.KindTokenRefused)
		require.Len(t, told, 2)
		for _, e := range told {
			require.ErrorIs(t, e.Err, errRefused)
			assert.Equal(t, 20*time.Second, e.Wait)
		}
		assert.Len(t, seen.of(poller.KindError), 1)
		assert.Len(t, seen.of(poller.KindTokenAccepted), 1)
		assert.EqualValues(t, 3, p.Stats().Errors)
		assert.Zero(t, p.Stats().TokenRefusedSince)
		assert.Zero(t, p.Stats().Ambiguous)
	})
}

// TestTokenSourceFails: a failing TokenSource is reported like a refused token, and so is its
// end; it does not end Run.
func TestTokenSourceFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failed := fmt.Errorf("vault: %w", payments.ErrTokenSource)
		src := newSource(t, answer{err: failed}, answer{err: errRefused}, answer{err: failed})
		seen := &events{}
		var out bytes.Buffer
		p := newPoller(t, poller.Config{
			Client: src, Sink: newSink(t), OnEvent: seen.add, Logger: slog.New(slog.NewTextHandler(&out, nil)), BackoffMax: 20 * time.Second,
		})
		began := time.Now()
		time.AfterFunc(50*time.Second, func() { assert.Equal(t, began, p.Stats().TokenRefusedSince) })
		mustRun(t, p, 61*time.Second)
		assert.Equal(t, []time.Duration{20 * time.Second, 20 * time.Second, 20 * time.Second}, src.gaps())
		assert.Len(t, seen.of(poller.KindTokenRefused), 3)
		assert.Empty(t, seen.of(poller.KindError))
		assert.Len(t, seen.of(poller.KindTokenAccepted), 1)
		assert.Equal(t, 1, strings.Count(out.String(), "level=ERROR"))
		assert.Equal(t, 2, strings.Count(out.String(), "\n"), out.String())
		assert.Zero(t, p.Stats().TokenRefusedSince)
	})
	synctest.Test(t, func(t *testing.T) {
		src := newSource(t, answer{err: payments.ErrTokenSource})
		mustRun(t, newPoller(t, poller.Config{Client: src, Sink: newSink(t), StopOnTokenRefused: true}), 2*time.Minute)
		assert.Greater(t, len(src.times()), 1)
	})
}

// TestTokenRefusedOverTwoRuns: the third Run reports that the token works again, and the log
// has one error line an hour over all.
func TestTokenRefusedOverTwoRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src := newSource(t, answer{err: errRefused}, answer{err: errRefused})
		seen := &events{}
		var out bytes.Buffer
		var p *poller.Poller
		var told []time.Time
		p = newPoller(t, poller.Config{
			Client: src, Sink: newSink(t), StopOnTokenRefused: true, Logger: slog.New(slog.NewTextHandler(&out, nil)),
			OnEvent: func(e poller.Event) {
				seen.add(e)
				told = append(told, p.Stats().TokenRefusedSince)
			},
		})
		began := time.Now()
		for range 2 {
			_, err := runFor(t, p, time.Second)
			require.ErrorIs(t, err, errRefused)
			assert.Equal(t, began, p.Stats().TokenRefusedSince)
			<-time.After(time.Minute)
		}
		mustRun(t, p, time.Second)
		assert.Zero(t, p.Stats().TokenRefusedSince)
		assert.Len(t, seen.of(poller.KindTokenAccepted), 1)
		assert.Equal(t, []time.Time{began, began, {}}, told)
		assert.Equal(t, 1, strings.Count(out.String(), "level=ERROR"))
		assert.Contains(t, out.String(), "kind=token_accepted pending=0 refused_since="+began.Format("2006-01-02T15:04:05.000Z07:00"))
	})
}

// TestTokenRefusedEndsWithTheRun: a stop ends a refusal, and the next Run starts a new one.
func TestTokenRefusedEndsWithTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src := newSource(t, answer{err: errRefused}, answer{err: errRefused})
		seen := &events{}
		p := newPoller(t, poller.Config{Client: src, Sink: newSink(t), OnEvent: seen.add})
		for range 2 {
			began := time.Now()
			time.AfterFunc(time.Second, func() { assert.Equal(t, began, p.Stats().TokenRefusedSince) })
			mustRun(t, p, 30*time.Second)
			assert.Zero(t, p.Stats().TokenRefusedSince)
		}
		mustRun(t, p, time.Second)
		assert.Empty(t, seen.of(poller.KindTokenAccepted))
	})
}

// TestTokenRefusedIsNoLoss: a refused poll took nothing, so the journal records no loss.
func TestTokenRefusedIsNoLoss(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box := &ledger{sink: newSink(t)}
		mustRun(t, newPoller(t, poller.Config{Client: newSource(t, answer{err: errRefused}), Ledger: box}), time.Hour)
		assert.Empty(t, box.lost)
	})
}

// TestTokenRefusedIsLoggedSparsely: a refusal is an error at once and then once an hour, and its
// end is one line; a second refusal starts again.
func TestTokenRefusedIsLoggedSparsely(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src := newSource(t)
		for range 151 { // two and a half hours
			src.script = append(src.script, answer{err: errRefused})
		}
		src.script = append(src.script, answer{err: payments.ErrNoProcessedPayment}, answer{err: errRefused})
		var out bytes.Buffer
		p := newPoller(t, poller.Config{Client: src, Sink: newSink(t), Logger: slog.New(slog.NewTextHandler(&out, nil))})
		began := time.Now()
		mustRun(t, p, 3*time.Hour)
		var told []string
		for line := range strings.Lines(out.String()) {
			for _, what := range []string{"level=ERROR", "level=INFO"} {
				if strings.Contains(line, what) {
					at, err := time.Parse(time.RFC3339, strings.TrimPrefix(strings.Fields(line)[0], "time="))
					require.NoError(t, err)
					told = append(told, what+" "+at.Sub(began).Truncate(time.Minute).String())
				}
			}
			assert.Contains(t, line, "refused_since=")
		}
		assert.Equal(t, []string{
			"level=ERROR 0s", "level=ERROR 1h0m0s", "level=ERROR 2h0m0s", "level=INFO 2h31m0s",
			"level=ERROR 2h31m0s", "level=INFO 2h32m0s",
		}, told)
	})
}

// TestMockGatewayRefuses: a 401 or 403 of a gateway, as during a deployment of the service,
// delays a payment by one wait and does not end Run.
func TestMockGatewayRefuses(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				mock := newMock(t)
				require.NoError(t, mock.AddFault(mockserver.Fault{Operation: "next", Kind: "status-before", Status: status, Nth: 1}))
				client := newClient(t, mock, mock.Transport())
				want := pay(t, mock, client, 1)
				box := newSink(t)
				p := newPoller(t, poller.Config{Client: client, Sink: box})
				mustRun(t, p, 2*time.Minute)
				assert.Equal(t, want, taken(box))
				assert.Zero(t, p.Stats().TokenRefusedSince)
			})
		})
	}
}
