package mockserver_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// traced counts the connections that a request got.
func traced(ctx context.Context, got *int) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			if info.Conn.RemoteAddr() != nil {
				*got++
			}
		},
	})
}

func TestTransportDistinguishesSentFromUnsent(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	paid(t, s)
	sent := 0
	cancelled, cancel := context.WithCancel(traced(t.Context(), &sent))
	cancel()
	req, err := http.NewRequestWithContext(cancelled, "GET", s.URL()+"/callback/rest?token=test_demo", nil)
	require.NoError(t, err)
	_, err = s.Transport().RoundTrip(req)
	require.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, sent)
	assert.Equal(t, mockserver.StatusProgress, s.Payments()[0].Status, "a request that was not sent changes nothing")

	resp, err := s.Transport().RoundTrip(req.WithContext(traced(t.Context(), &sent)))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, 1, sent)
}

// stuck is a request body that blocks until it is closed.
type stuck struct{ begun, closed chan struct{} }

func (b stuck) Read([]byte) (int, error) {
	close(b.begun)
	<-b.closed
	return 0, errors.New("closed")
}

func (b stuck) Close() error {
	close(b.closed)
	return nil
}

func TestTransportHonorsCancellationWhileSending(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	body := stuck{make(chan struct{}), make(chan struct{})}
	req, err := http.NewRequestWithContext(ctx, "POST", s.URL()+"/payments", body)
	require.NoError(t, err)
	go func() {
		<-body.begun
		cancel(cause)
	}()
	_, err = s.Transport().RoundTrip(req)
	require.ErrorIs(t, err, cause)
	<-body.closed
}

func TestTransportCancelledAfterTheServerHasTheRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s, err := mockserver.New(mockserver.Config{
			Clock: mockserver.NewStoppedClock(start), Patience: time.Hour, Applications: hooked,
			WebhookTransport: hook(func(*http.Request, string) (int, error) {
				<-release
				return http.StatusTeapot, nil
			}),
		})
		require.NoError(t, err)
		defer func() { assert.NoError(t, s.Close()) }()
		paid(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, "POST", s.URL()+"/_mock/clock/advance", strings.NewReader(`{"duration":"1s"}`))
		require.NoError(t, err)
		failed := make(chan error, 1)
		go func() {
			_, err := s.Transport().RoundTrip(req)
			failed <- err
		}()
		synctest.Wait() // the server waits for the receiver
		assert.Empty(t, failed)
		cancel()
		require.ErrorIs(t, <-failed, context.Canceled)
		close(release)
		s.Advance(0)
		assert.Equal(t, start, s.Now(), "the server saw that its client went away")
	})
}

func TestTransportBodies(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	send := func(method string, body io.Reader) (*http.Response, error) {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://anything.example/payments", body)
		require.NoError(t, err)
		return s.Transport().RoundTrip(req)
	}
	resp, err := send("POST", io.NopCloser(strings.NewReader(`{"token":"test_demo","title":"T","identifier":"i"}`)))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Len(t, s.Payments(), 1, "a body of unknown length is read")
	assert.Equal(t, "200 OK", resp.Status)
	assert.Equal(t, "application/json; charset=utf-8", resp.Header.Get("Content-Type"))
	assert.NotEmpty(t, resp.Header.Get("Content-Length"))

	broken := errors.New("broken")
	_, err = send("POST", io.MultiReader(strings.NewReader(`{"token":`), failing{broken}))
	require.ErrorIs(t, err, broken)

	resp, err = send("HEAD", nil)
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Empty(t, body)
	require.NoError(t, resp.Body.Close())

	require.NoError(t, s.Close())
	_, err = send("POST", nil)
	wantCode(t, mockserver.CodeServerClosed, err)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// In a bubble the real clock is the bubble's: the whole schedule passes while
// the test sleeps, and a hanging receiver costs its 10 s of bubble time.
func TestSynctestRunsTheRealClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var at []time.Duration
		cfg := mockserver.Config{Applications: hooked, WebhookTransport: hook(func(*http.Request, string) (int, error) {
			at = append(at, time.Since(begin))
			return http.StatusInternalServerError, nil
		})}
		s, err := mockserver.New(cfg)
		require.NoError(t, err)
		defer func() { assert.NoError(t, s.Close()) }()
		id := paid(t, s)
		<-time.After(80 * time.Hour) // bubble time
		synctest.Wait()
		require.Len(t, at, 10)
		for i := range at {
			assert.Equal(t, offset(t, i), at[i])
		}
		assert.Equal(t, mockserver.DeliveryFailed, onlyDelivery(t, s).Status)
		assert.Contains(t, poll(t, s), id)
	})
}

func TestSynctestTimeoutOnTheRealClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan string, 20)
		s, err := mockserver.New(mockserver.Config{Applications: hooked, WebhookTransport: hangs(begun)})
		require.NoError(t, err)
		defer func() { assert.NoError(t, s.Close()) }()
		begin := time.Now()
		paid(t, s)
		<-time.After(16 * time.Second) // bubble time
		synctest.Wait()
		d := onlyDelivery(t, s)
		require.Len(t, d.Attempts, 2)
		assert.Equal(t, 10*time.Second, d.Attempts[0].Ended.Sub(begin))
		assert.Equal(t, 15*time.Second, d.Attempts[1].Started.Sub(begin))
		assert.True(t, d.Attempts[1].Ended.IsZero())
	})
}

func TestSynctestAdvanceOnTheRealClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := mockserver.New(mockserver.Config{Applications: hooked, WebhookTransport: answers(500)})
		require.NoError(t, err)
		defer func() { assert.NoError(t, s.Close()) }()
		begin := time.Now()
		paid(t, s)
		s.Advance(time.Hour)
		assert.Equal(t, begin, time.Now(), "Advance takes no time")
		assert.Equal(t, begin.Add(time.Hour), s.Now())
		d := onlyDelivery(t, s)
		require.Len(t, d.Attempts, 4)
		assert.Equal(t, begin.Add(offset(t, 3)), d.Attempts[3].Started)
		a, ok := s.JumpToNextAttempt()
		require.True(t, ok)
		assert.Equal(t, begin.Add(offset(t, 4)), a.Started)
		s.Advance(4*time.Hour + 59*time.Minute)
		<-time.After(time.Minute) // the timer follows the moved clock
		synctest.Wait()
		assert.Len(t, onlyDelivery(t, s).Attempts, 6)
	})
}
