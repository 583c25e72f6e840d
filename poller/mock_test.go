package poller_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
)

// The tests of this file run the real client against the mock service.

func newMock(t *testing.T) *mockserver.Server {
	t.Helper()
	mock, err := mockserver.New(mockserver.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, mock.Close()) })
	return mock
}

func newClient(t *testing.T, mock *mockserver.Server, via http.RoundTripper) *payments.Client {
	t.Helper()
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token(), Transport: via})
	require.NoError(t, err)
	return client
}

// pay creates n payments and pays them, and returns their ids.
func pay(t *testing.T, mock *mockserver.Server, client *payments.Client, n int) []string {
	t.Helper()
	list := make([]string, n)
	for i := range list {
		created, err := client.Create(t.Context(), payments.CreateRequest{
			Title: "100 gems", Identifier: "order-1", Amount: payments.NewAmount(10000),
		})
		require.NoError(t, err)
		list[i] = created.PayToken.String()
		_, err = mock.Deposit(list[i], mockserver.Deposit{})
		require.NoError(t, err)
	}
	return list
}

func taken(s *sink) []string {
	var list []string
	for _, id := range s.ids() {
		list = append(list, id.String())
	}
	return list
}

func TestMockDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		mock := newMock(t)
		client := newClient(t, mock, mock.Transport())
		want := pay(t, mock, client, 10)
		box := newSink(t)
		p := newPoller(t, poller.Config{Client: client, Sink: box})
		mustRun(t, p, time.Minute)
		assert.Equal(t, want, taken(box))
		assert.EqualValues(t, 10, p.Stats().HandedOver)
		assert.NotZero(t, p.Stats().Empty)
		assert.Zero(t, p.Stats().Errors)
	})
}

// lossy loses the response to one poll after the service has acted on it.
type lossy struct {
	next  http.RoundTripper
	polls atomic.Int64
	lose  int64
}

func (l *lossy) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := l.next.RoundTrip(r)
	if r.Method == http.MethodGet && l.polls.Add(1) == l.lose {
		return nil, errors.New("connection reset by peer")
	}
	return resp, err
}

// TestMockLostAnswer: a lost response is an ambiguous event, and polling continues.
func TestMockLostAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		mock := newMock(t)
		client := newClient(t, mock, &lossy{next: mock.Transport(), lose: 2})
		want := pay(t, mock, client, 3)
		box, seen := newSink(t), &events{}
		p := newPoller(t, poller.Config{Client: client, Sink: box, OnEvent: seen.add})
		mustRun(t, p, time.Minute)
		assert.Equal(t, []string{want[0], want[2]}, taken(box))
		require.Len(t, seen.of(poller.KindAmbiguous), 1)
		require.ErrorIs(t, seen.of(poller.KindAmbiguous)[0].Err, payments.ErrAmbiguous)
	})
}

// rewriter puts other bytes in the place of an answer.
type rewriter struct {
	next http.RoundTripper
	body string
	done atomic.Bool
}

func (w *rewriter) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := w.next.RoundTrip(r)
	if err == nil && r.Method == http.MethodGet && !w.done.Swap(true) {
		_ = resp.Body.Close()
		*resp = *newResponse(r, w.body)
	}
	return resp, err
}

// TestMockUnreadableAnswer: the hook gets the bytes of an unreadable response unchanged.
func TestMockUnreadableAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const body = `{"id":"11111111-2222-4333-8444-555555555555","status":"COMPLETE","paid_amount":"much"}`
		mock := newMock(t)
		client := newClient(t, mock, &rewriter{next: mock.Transport(), body: body})
		seen := &events{}
		p := newPoller(t, poller.Config{Client: client, Sink: newSink(t), OnEvent: seen.add})
		mustRun(t, p, time.Second)
		told := seen.of(poller.KindAmbiguous)
		require.Len(t, told, 1)
		require.ErrorIs(t, told[0].Err, payments.ErrUndecodable)
		var e *payments.Error
		require.ErrorAs(t, told[0].Err, &e)
		assert.Equal(t, body, string(e.Raw))
	})
}

// TestMockStopDuringPoll: the payment of a poll on the wire arrives although Run is stopping.
func TestMockStopDuringPoll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		mock := newMock(t)
		client := newClient(t, mock, &slow{next: mock.Transport(), takes: 20 * time.Second})
		want := pay(t, mock, client, 1)
		box := newSink(t)
		took, err := runFor(t, newPoller(t, poller.Config{Client: client, Sink: box}), time.Second)
		require.NoError(t, err)
		assert.Equal(t, 19*time.Second, took)
		assert.Equal(t, want, taken(box))
	})
}

// slow delays the responses to polls.
type slow struct {
	next  http.RoundTripper
	takes time.Duration
}

func (s *slow) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.next.RoundTrip(r)
	if r.Method == http.MethodGet {
		select {
		case <-time.After(s.takes):
		case <-r.Context().Done():
			return nil, context.Cause(r.Context())
		}
	}
	return resp, err
}

func TestMockTokenRefused(t *testing.T) {
	t.Parallel()
	mock := newMock(t)
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: "test_other", Transport: mock.Transport()})
	require.NoError(t, err)
	err = newPoller(t, poller.Config{Client: client, Sink: newSink(t), StopOnTokenRefused: true}).Run(t.Context())
	require.ErrorIs(t, err, payments.ErrTokenRefused)
	assert.NotContains(t, err.Error(), "test_other")
}

func newResponse(r *http.Request, body string) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}
}
