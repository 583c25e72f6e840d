package webhook_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// The tests of this file run the real client and the mock service's own webhooks.

// wire takes the mock's webhooks to a handler without a socket.
type wire struct {
	to   http.Handler
	lose atomic.Int64 // so many answers are lost on the way back
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.Clone(r.Context())
	in.RemoteAddr = "127.0.0.1:1"
	rec := httptest.NewRecorder()
	w.to.ServeHTTP(rec, in)
	if w.lose.Add(-1) >= 0 {
		return nil, errors.New("connection reset by peer")
	}
	return rec.Result(), nil
}

func newMock(t *testing.T, hooks http.RoundTripper) (*mockserver.Server, *payments.Client) {
	t.Helper()
	mock, err := mockserver.New(mockserver.Config{
		Applications:     []mockserver.Application{{WebhookURL: "http://127.0.0.1/hooks/deposit"}},
		WebhookTransport: hooks, Clock: mockserver.NewStoppedClock(time.Time{}),
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, mock.Close()) })
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token(), Transport: mock.Transport()})
	require.NoError(t, err)
	return mock, client
}

func create(t *testing.T, client *payments.Client) uuid.UUID {
	t.Helper()
	created, err := client.Create(t.Context(), payments.CreateRequest{
		Title: "100 gems", Identifier: "order-1", Amount: payments.NewAmount(10000),
	})
	require.NoError(t, err)
	return created.PayToken
}

func deposit(t *testing.T, mock *mockserver.Server, id uuid.UUID) {
	t.Helper()
	_, err := mock.Deposit(id.String(), mockserver.Deposit{})
	require.NoError(t, err)
}

// TestBothChannels: payments by webhook, by poll, and by both are each granted once.
func TestBothChannels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &wire{}
		mock, client := newMock(t, w)
		g := newGranter()
		box := newMemory(t, g.grant, nil)
		hook := newHandler(t, webhook.Config{Client: client, Sink: box})
		w.to = hook

		byWebhook := create(t, client)
		deposit(t, mock, byWebhook)
		synctest.Wait()
		assert.Equal(t, 1, g.count(byWebhook))

		w.to = http.NotFoundHandler() // webhooks go astray
		byPoll, byBoth := create(t, client), create(t, client)
		deposit(t, mock, byPoll)
		deposit(t, mock, byBoth)
		synctest.Wait()
		loop, err := poller.New(poller.Config{Client: client, Sink: box})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.NoError(t, loop.Run(ctx))
		assert.Equal(t, http.StatusOK, serve(hook, named(byBoth)).Code) // a late one
		assert.EqualValues(t, 2, loop.Stats().HandedOver)
		for _, id := range []uuid.UUID{byWebhook, byPoll, byBoth} {
			assert.Equal(t, 1, g.count(id))
		}
		assert.Len(t, g.grants, 3)
	})
}

// TestLostAnswer: the goods are granted once although the 200 is lost on the way.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &wire{}
		w.lose.Store(1)
		mock, client := newMock(t, w)
		g := newGranter()
		w.to = newHandler(t, webhook.Config{Client: client, Sink: newMemory(t, g.grant, nil)})
		id := create(t, client)
		deposit(t, mock, id)
		synctest.Wait()
		mock.Advance(76 * time.Hour)
		assert.Equal(t, 1, g.count(id))
	})
}

// TestSinkBackAgain: the payment is granted after the Sink was down for the first attempts:
// nothing was confirmed, so the service delivers again.
func TestSinkBackAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &wire{}
		mock, client := newMock(t, w)
		g := newGranter()
		box := newMemory(t, g.grant, nil)
		var down atomic.Bool
		down.Store(true)
		h := newHandler(t, webhook.Config{Client: client, Sink: &sink{
			handled: func(ctx context.Context, id uuid.UUID) (bool, error) {
				if down.Load() {
					return false, errTest
				}
				return box.Handled(ctx, id)
			},
			accept: box.Accept,
		}})
		w.to = h
		id := create(t, client)
		deposit(t, mock, id)
		synctest.Wait()
		mock.Advance(6 * time.Minute) // attempts 2 and 3
		assert.Zero(t, g.count(id))
		down.Store(false)
		mock.Advance(time.Hour) // attempt 4
		assert.Equal(t, 1, g.count(id))
		list := h.seen.all()
		require.Len(t, list, 4)
		for i, e := range list {
			assert.Equal(t, i, e.RetryCount)
			assert.NotEmpty(t, e.WebhookID)
		}
		assert.Equal(t, webhook.OutcomeAccepted, list[3].Outcome)
	})
}

// TestForgedAgainstTheService: forged webhooks are rejected by the service, cause one confirm each
// id and interval, and do not prevent the grant.
func TestForgedAgainstTheService(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &wire{}
		mock, client := newMock(t, w)
		g := newGranter()
		h := newHandler(t, webhook.Config{Client: client, Sink: newMemory(t, g.grant, nil)})
		w.to = h
		id := create(t, client)
		assert.Equal(t, http.StatusTooManyRequests, serve(h, named(id)).Code)
		var e *payments.Error
		require.ErrorAs(t, h.seen.last(t).Err, &e)
		assert.EqualValues(t, mockserver.CodePaymentNotPaid, e.Code)
		assert.Equal(t, http.StatusTooManyRequests, serve(h, named(uuid.New())).Code)
		asked := len(mock.Requests())
		for range 100 {
			assert.Equal(t, http.StatusTooManyRequests, serve(h, named(id)).Code)
		}
		assert.Len(t, mock.Requests(), asked, "a stranger's repeats must not become confirms")
		assert.Equal(t, webhook.OutcomeLimited, h.seen.last(t).Outcome)
		<-time.After(time.Second) // of the bubble: Config.RefusedInterval is over
		deposit(t, mock, id)
		synctest.Wait()
		assert.Equal(t, 1, g.count(id))
	})
}
