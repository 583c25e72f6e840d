package payments_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/rawserver"
	"github.com/depositpay/depositpay-go/payments"
)

// bubble returns a Client and its server for a synctest bubble.
func bubble(t *testing.T, cfg payments.Config, serve func(int, rawserver.Request) rawserver.Action) (*payments.Client, *rawserver.Server) {
	t.Helper()
	s := rawserver.ListenPipe(serve)
	cfg.BaseURL = "http://127.0.0.1"
	if cfg.TokenSource == nil {
		cfg.Token = testToken
	}
	if cfg.Transport == nil {
		cfg.Transport = &http.Transport{DialContext: s.Dial}
	}
	c, err := payments.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		c.CloseIdleConnections()
		s.Close()
	})
	return c, s
}

// wait sleeps by the bubble's clock, unless the test ends.
func wait(t *testing.T, d time.Duration) {
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}

// TestNextOnTheWireIsNotAborted: canceling does not abort a poll on the wire, which could
// cost the payment that the service is completing.
func TestNextOnTheWireIsNotAborted(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"cancel": context.WithCancel,
		"deadline": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := limit(t.Context())
				defer cancel()
				c, s := bubble(t, payments.Config{}, func(int, rawserver.Request) rawserver.Action {
					if name == "cancel" {
						cancel()
					} else {
						<-ctx.Done()
					}
					wait(t, time.Second) // long enough to be aborted
					return rawserver.Action{Bytes: rawserver.JSON(200, record(id1))}
				})
				p, err := c.Next(ctx)
				require.NoError(t, err)
				require.Equal(t, id1, p.ID)
				require.Error(t, ctx.Err())
				require.Len(t, s.Requests(), 1)
			})
		})
	}
}

// TestNextWaitsForASlowAnswer: a poll waits longer than any other call, since its response
// may be a payment.
func TestNextWaitsForASlowAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := bubble(t, payments.Config{Timeout: 5 * time.Second}, func(int, rawserver.Request) rawserver.Action {
			wait(t, 50*time.Second)
			return rawserver.Action{Bytes: rawserver.JSON(200, record(id1))}
		})
		p, err := c.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, id1, p.ID)
	})
}

// TestNextHasALimitOfItsOwn: Next returns after NextTimeout if the service never responds.
func TestNextHasALimitOfItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := bubble(t, payments.Config{NextTimeout: 30 * time.Second}, always(rawserver.Action{End: rawserver.Hang}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := c.Next(ctx)
		require.ErrorIs(t, err, payments.ErrAmbiguous)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 30*time.Second, time.Since(began))
	})
}

// TestNextWhileDialingStops: canceling ends a poll at once while it dials, since nothing was
// sent.
func TestNextWhileDialingStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, s := bubble(t, payments.Config{Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
		}}, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := c.Next(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, payments.ErrAmbiguous)
		require.True(t, payments.SafeToRetry(err))
		require.Equal(t, time.Second, time.Since(began))
		require.Empty(t, s.Requests())
	})
}

// counting counts the bytes that are written to a connection.
type counting struct {
	net.Conn
	written *atomic.Int64
}

func (c counting) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written.Add(int64(n))
	return n, err
}

// TestNextLeftAsTheConnectionComes: if the caller leaves at the instant a connection is
// established, not one byte is sent and nothing is ambiguous, whichever of the two net/http
// sees first. It chooses at random, so there are many rounds.
func TestNextLeftAsTheConnectionComes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var written atomic.Int64
		s := rawserver.ListenPipe(always(rawserver.Action{Bytes: rawserver.JSON(200, noPayment)}))
		defer s.Close()
		c, err := payments.New(payments.Config{BaseURL: "http://127.0.0.1", Token: testToken, Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := s.Dial(ctx, network, address)
				return counting{conn, &written}, err
			},
		}})
		require.NoError(t, err)
		defer c.CloseIdleConnections()
		for range 200 {
			_, err := c.Next(t.Context()) // leaves a connection in the pool
			require.ErrorIs(t, err, payments.ErrNoProcessedPayment)
			before := written.Load()
			ctx, leave := context.WithCancel(t.Context())
			atOnce := func(string) { leave(); synctest.Wait() } // before the pool is asked
			_, err = c.Next(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GetConn: atOnce}))
			require.ErrorIs(t, err, context.Canceled)
			require.NotErrorIs(t, err, payments.ErrAmbiguous)
			require.True(t, payments.SafeToRetry(err))
			synctest.Wait()
			require.Equal(t, before, written.Load(), "something was sent")
		}
	})
}

// TestCanceledBeforeTheCall: nothing is sent or dialed.
func TestCanceledBeforeTheCall(t *testing.T) {
	t.Parallel()
	c, s := connect(t, payments.Config{}, always(rawserver.Action{}))
	for _, op := range operations {
		err := op.call(canceled(t), c)
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, payments.ErrAmbiguous)
		require.True(t, payments.SafeToRetry(err))
	}
	require.Zero(t, s.Opened())
}

// TestCanceledWhileWaiting: canceling ends the wait between two attempts at once, and the
// error names both the cancellation and the last failure.
func TestCanceledWhileWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dials := 0
		c, _ := bubble(t, payments.Config{RetryWaitMin: time.Second, Transport: &http.Transport{
			DialContext: func(context.Context, string, string) (net.Conn, error) {
				dials++
				return nil, &net.OpError{Op: "dial", Err: net.UnknownNetworkError("down")}
			},
		}}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		began := time.Now()
		_, err := c.Next(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.Contains(t, err.Error(), "down")
		require.NotErrorIs(t, err, payments.ErrAmbiguous)
		require.Equal(t, 100*time.Millisecond, time.Since(began))
		require.Equal(t, 1, dials)
	})
}

// TestOthersStopWithTheCaller: operations that are not destructive stop when the caller
// cancels.
func TestOthersStopWithTheCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, s := bubble(t, payments.Config{}, always(rawserver.Action{End: rawserver.Hang}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := c.Confirm(ctx, id1)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, payments.ErrAmbiguous)
		require.True(t, payments.SafeToRetry(err))
		require.Equal(t, time.Second, time.Since(began))
		require.Len(t, s.Requests(), 1)
	})
}

// foreign is a caller's own RoundTripper, which fires no trace hooks.
type foreign func(*http.Request) (*http.Response, error)

func (f foreign) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestForeignTransport: without trace hooks, a failed poll is ambiguous.
func TestForeignTransport(t *testing.T) {
	t.Parallel()
	calls := 0
	c := newClient(t, payments.Config{BaseURL: "https://service.example", Transport: foreign(func(*http.Request) (*http.Response, error) {
		calls++
		return nil, net.ErrClosed
	})})
	_, err := c.Next(t.Context())
	require.ErrorIs(t, err, payments.ErrAmbiguous)
	require.ErrorIs(t, err, net.ErrClosed)
	require.Equal(t, 1, calls)
}

// TestForeignTransportThatRetries: a request that once had a connection stays ambiguous.
func TestForeignTransportThatRetries(t *testing.T) {
	t.Parallel()
	s := listen(t, always(rawserver.Action{End: rawserver.FIN}))
	pool := &http.Transport{}
	c := newClient(t, payments.Config{BaseURL: "http://" + s.Addr(), Transport: foreign(func(r *http.Request) (*http.Response, error) {
		if resp, err := pool.RoundTrip(r); err == nil {
			return resp, nil
		}
		s.Close()
		return pool.RoundTrip(r)
	})})
	_, err := c.Next(t.Context())
	require.ErrorIs(t, err, payments.ErrAmbiguous)
	require.Len(t, s.Requests(), 1)
}

// TestMiddleware: a middleware sees every attempt and cannot make net/http re-send it.
func TestMiddleware(t *testing.T) {
	t.Parallel()
	seen := 0
	s := listen(t, func(n int, _ rawserver.Request) rawserver.Action {
		if n == 1 {
			return rawserver.Action{Bytes: rawserver.JSON(429, "{}")}
		}
		return rawserver.Action{Bytes: rawserver.JSON(200, record(id1))}
	})
	c := newClient(t, payments.Config{BaseURL: "http://" + s.Addr(), Middleware: func(next http.RoundTripper) http.RoundTripper {
		return foreign(func(r *http.Request) (*http.Response, error) {
			seen++
			r = r.Clone(r.Context())
			r.Header.Set("Traceparent", "00-1-2-3")
			r.Header.Set("Idempotency-Key", "k")
			return next.RoundTrip(r)
		})
	}})
	_, err := c.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, seen)
	require.Equal(t, "00-1-2-3", s.Requests()[1].Header.Get("Traceparent"))
	require.NotContains(t, s.Requests()[1].Header, "Idempotency-Key")
}

// TestCallersTrace: the caller's own hooks fire once per attempt.
func TestCallersTrace(t *testing.T) {
	t.Parallel()
	c, _ := connect(t, payments.Config{}, func(n int, _ rawserver.Request) rawserver.Action {
		if n < 3 {
			return rawserver.Action{Bytes: rawserver.JSON(429, "{}")}
		}
		return rawserver.Action{Bytes: rawserver.JSON(200, record(id1))}
	})
	got := 0
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { got++ }})
	_, err := c.Next(ctx)
	require.NoError(t, err)
	require.Equal(t, 3, got)
}
