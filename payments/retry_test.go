package payments_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/rawserver"
	"github.com/depositpay/depositpay-go/payments"
)

// operation is one method of the Client, called with something valid.
type operation struct {
	name string
	// idempotent operations are sent again after a lost answer, others never.
	idempotent bool
	// readOnly operations are never ambiguous.
	readOnly bool
	call     func(context.Context, *payments.Client) error
}

var operations = []operation{
	{"Create", false, false, func(ctx context.Context, c *payments.Client) error {
		_, err := c.Create(ctx, validRequest())
		return err
	}},
	{"Next", false, false, func(ctx context.Context, c *payments.Client) error {
		_, err := c.Next(ctx)
		return err
	}},
	{"Confirm", true, false, func(ctx context.Context, c *payments.Client) error {
		_, err := c.Confirm(ctx, id1)
		return err
	}},
	{"WebhookStatus", true, true, func(ctx context.Context, c *payments.Client) error {
		_, err := c.WebhookStatus(ctx, id1)
		return err
	}},
	{"ResendWebhook", false, false, func(ctx context.Context, c *payments.Client) error {
		_, err := c.ResendWebhook(ctx, id1)
		return err
	}},
}

const attempts = 4 // the first and Config.MaxRetries' default

// TestRetryTable: for every operation and every failure, the server sees exactly the allowed
// number of requests. It runs in fake time with the default waits and timeouts.
func TestRetryTable(t *testing.T) {
	t.Parallel()
	status := func(code int, headers ...string) func(int, rawserver.Request) rawserver.Action {
		return always(rawserver.Action{Bytes: rawserver.JSON(code, `{"error":"BUSY","error_msg":"later"}`, headers...)})
	}
	whole := rawserver.JSON(200, record(id1))
	cases := []struct {
		name   string
		serve  func(int, rawserver.Request) rawserver.Action
		acted  bool // the service may have acted: only idempotent operations try again
		status int
	}{
		{"429", status(429), false, 429},
		{"429 Retry-After 1", status(429, "Retry-After: 1"), false, 429},
		{"429 Retry-After huge", status(429, "Retry-After: 9223372036854775807"), false, 429},
		{"503 Retry-After 0", status(503, "Retry-After: 0"), false, 503},
		{"503 Retry-After 2", status(503, "Retry-After: 2"), false, 503},
		{"503 Retry-After huge", status(503, "Retry-After: 99999999999999999999999"), false, 503},
		{"503 Retry-After overflows", status(503, "Retry-After: 9223372036854775807"), false, 503},
		{"503 Retry-After negative", status(503, "Retry-After: -5"), false, 503},
		{"503 Retry-After words", status(503, "Retry-After: soon"), false, 503},
		{"503 Retry-After far date", status(503, "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT"), false, 503},
		{"503 Retry-After past date", status(503, "Retry-After: Fri, 31 Dec 1999 23:59:59 GMT"), false, 503},
		{"503", status(503), true, 503},
		{"500", status(500), true, 500},
		{"502", status(502), true, 502},
		{"504", status(504), true, 504},
		{"closed before the answer", always(rawserver.Action{End: rawserver.FIN}), true, 0},
		{"cut headers", always(rawserver.Action{Bytes: whole[:20], End: rawserver.FIN}), true, 0},
		{"cut body", always(rawserver.Action{Bytes: whole[:len(whole)-1], End: rawserver.FIN}), true, 0},
		{"timeout", always(rawserver.Action{End: rawserver.Hang}), true, 0},
		{"timeout in the body", always(rawserver.Action{Bytes: whole[:len(whole)-1], End: rawserver.Hang}), true, 0},
	}
	for _, tc := range cases {
		for _, op := range operations {
			t.Run(tc.name+"/"+op.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					c, s := bubble(t, payments.Config{}, tc.serve)
					err := op.call(t.Context(), c)
					want := attempts
					if tc.acted && !op.idempotent {
						want = 1
					}
					require.Len(t, s.Requests(), want)
					e := asError(t, err)
					require.Equal(t, op.name, e.Op)
					require.Equal(t, want, e.Attempts)
					require.Equal(t, tc.status, e.HTTPStatus)
					require.Equal(t, tc.acted && !op.readOnly, errors.Is(err, payments.ErrAmbiguous))
					require.Equal(t, !tc.acted || op.idempotent, payments.SafeToRetry(err))
				})
			})
		}
	}
}

// TestRetrySurelyUnsent: every operation is retried if no connection was established.
func TestRetrySurelyUnsent(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	refusing := ln.Addr().String()
	require.NoError(t, ln.Close())

	for _, op := range operations {
		t.Run("dial refused/"+op.name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, payments.Config{BaseURL: "http://" + refusing})
			requireUnsent(t, op.call(t.Context(), c))
		})
		t.Run("TLS handshake closed/"+op.name, func(t *testing.T) {
			t.Parallel()
			handshakes := closingListener(t)
			c := newClient(t, payments.Config{BaseURL: "https://" + handshakes.Addr().String()})
			requireUnsent(t, op.call(t.Context(), c))
			require.Equal(t, attempts, handshakes.count())
		})
	}
}

func requireUnsent(t *testing.T, err error) {
	t.Helper()
	e := asError(t, err)
	require.Equal(t, attempts, e.Attempts)
	require.NotErrorIs(t, err, payments.ErrAmbiguous)
	require.True(t, payments.SafeToRetry(err))
	require.Contains(t, err.Error(), "nothing was sent")
}

// TestRetryThenSuccess: the result of a retry is returned.
func TestRetryThenSuccess(t *testing.T) {
	t.Parallel()
	c, s := connect(t, payments.Config{}, func(n int, _ rawserver.Request) rawserver.Action {
		if n < 3 {
			return rawserver.Action{Bytes: rawserver.JSON(503, "{}", "Retry-After: 0")}
		}
		return rawserver.Action{Bytes: rawserver.JSON(200, record(id1))}
	})
	p, err := c.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, id1, p.ID)
	require.Len(t, s.Requests(), 3)
}

// TestRetryAfterCap: no wait exceeds RetryWaitMax, whatever Retry-After says.
func TestRetryAfterCap(t *testing.T) {
	t.Parallel()
	const limit = 3 * time.Second
	for _, value := range []string{
		"0", "1", "3", "4", "3600", "9223372036854775807", "99999999999999999999999999",
		"-1", "-9223372036854775808", "1.5", "soon", "", " 7 ",
		"Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 31 Dec 1999 23:59:59 GMT", "Fri, 99 Foo 1999",
	} {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var at []time.Time
				c, _ := bubble(t, payments.Config{RetryWaitMax: limit}, func(int, rawserver.Request) rawserver.Action {
					at = append(at, time.Now())
					return rawserver.Action{Bytes: rawserver.JSON(429, "{}", "Retry-After: "+value)}
				})
				_, err := c.Next(t.Context())
				require.Error(t, err)
				require.Len(t, at, attempts)
				for i := 1; i < len(at); i++ {
					wait := at[i].Sub(at[i-1])
					require.LessOrEqual(t, wait, limit)
					require.Positive(t, wait, "a retry must not be immediate")
					if value == "3600" {
						require.Equal(t, limit, wait)
					}
				}
			})
		})
	}
}

// TestRetryStopsBeforeDeadline: a wait beyond the caller's deadline is not started.
func TestRetryStopsBeforeDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, s := bubble(t, payments.Config{}, always(rawserver.Action{Bytes: rawserver.JSON(503, `{"error":"BUSY"}`, "Retry-After: 8")}))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		_, err := c.Confirm(ctx, id1)
		e := asError(t, err)
		require.Equal(t, "BUSY", e.Code, "the service's answer, not a bare deadline")
		require.Equal(t, 8*time.Second, e.RetryAfter)
		require.Zero(t, time.Since(began))
		require.Len(t, s.Requests(), 1)
	})
}

// TestConfirmRetriesWithinDeadline: one attempt that gets no response does not use up the
// caller's deadline.
func TestConfirmRetriesWithinDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := bubble(t, payments.Config{Timeout: 2 * time.Second}, func(n int, _ rawserver.Request) rawserver.Action {
			if n == 1 {
				return rawserver.Action{End: rawserver.Hang}
			}
			return rawserver.Action{Bytes: rawserver.JSON(200, record(id1))}
		})
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
		defer cancel()
		p, err := c.Confirm(ctx, id1)
		require.NoError(t, err)
		require.Equal(t, id1, p.ID)
	})
}

// TestNoRedirect: a redirect is not followed and its address is not printed.
func TestNoRedirect(t *testing.T) {
	t.Parallel()
	for _, location := range []string{"/elsewhere?token=" + testToken, "http://[::1", "https://other.example/" + testToken} {
		for _, op := range operations {
			t.Run(op.name+location, func(t *testing.T) {
				t.Parallel()
				c, s := connect(t, payments.Config{}, always(rawserver.Action{Bytes: rawserver.JSON(307, "", "Location: "+location)}))
				err := op.call(t.Context(), c)
				e := asError(t, err)
				require.Equal(t, 307, e.HTTPStatus)
				require.Contains(t, err.Error(), "redirects are not followed")
				require.False(t, strings.Contains(err.Error(), testToken))
				require.Len(t, s.Requests(), 1)
			})
		}
	}
}
