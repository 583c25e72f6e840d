package payments_test

import (
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/rawserver"
	"github.com/depositpay/depositpay-go/payments"
)

// TestCallersTransportIsHardened: with a usual caller's transport and a server that speaks
// HTTP/2, the client uses HTTP/1.1 without compression.
func TestCallersTransportIsHardened(t *testing.T) {
	t.Parallel()
	protocols := make(chan string, 16)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protocols <- r.Proto + r.Header.Get("Accept-Encoding")
		_, _ = io.WriteString(w, record(id1))
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of the handshake that is to fail
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	own := http.DefaultTransport.(*http.Transport).Clone()
	own.TLSClientConfig.RootCAs = x509.NewCertPool()
	own.TLSClientConfig.RootCAs.AddCert(s.Certificate())
	for _, transport := range []http.RoundTripper{own, s.Client().Transport} {
		c := newClient(t, payments.Config{BaseURL: s.URL, Transport: transport})
		p, err := c.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, id1, p.ID)
		require.Equal(t, "HTTP/1.1", <-protocols, "no HTTP/2, no compression")
	}
	require.NotEmpty(t, own.TLSClientConfig.NextProtos, "the caller's own is not changed")
	s.Client().CloseIdleConnections()

	stranger := newClient(t, payments.Config{BaseURL: s.URL})
	_, err := stranger.Next(t.Context())
	e := asError(t, err)
	require.Equal(t, 1, e.Attempts, "a bad certificate does not get better")
	require.True(t, payments.SafeToRetry(err))
}

// TestMixedAttempts: a call stays ambiguous if a later attempt fails without an effect.
func TestMixedAttempts(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]rawserver.Action{
		"429": {Bytes: rawserver.JSON(429, `{"error":"BUSY"}`)},
		"503": {Bytes: rawserver.JSON(503, `{"error":"BUSY"}`, "Retry-After: 1")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, s := bubble(t, payments.Config{}, func(n int, _ rawserver.Request) rawserver.Action {
					if n == 1 {
						return rawserver.Action{End: rawserver.RST}
					}
					return later
				})
				_, err := c.Confirm(t.Context(), id1)
				require.ErrorIs(t, err, payments.ErrAmbiguous)
				require.True(t, payments.SafeToRetry(err))
				require.NotContains(t, err.Error(), "nothing was sent")
				require.Len(t, s.Requests(), attempts)
			})
		})
	}
	t.Run("dial refused", func(t *testing.T) {
		t.Parallel()
		s := listen(t, always(rawserver.Action{End: rawserver.RST}))
		dials := 0
		c := newClient(t, payments.Config{BaseURL: "http://" + s.Addr(), Transport: &http.Transport{
			Dial: func(network, addr string) (net.Conn, error) { //nolint:staticcheck // the simplest way to refuse
				if dials++; dials > 1 {
					return nil, errors.New("down")
				}
				return net.DialTimeout(network, addr, time.Second)
			},
		}})
		_, err := c.Confirm(t.Context(), id1)
		require.ErrorIs(t, err, payments.ErrAmbiguous)
		require.NotContains(t, err.Error(), "nothing was sent")
	})
}

// TestMiddlewareThatRetries: a retry by a middleware is rejected for a poll, and does not
// make a sent request look unsent.
func TestMiddlewareThatRetries(t *testing.T) {
	t.Parallel()
	s := listen(t, always(rawserver.Action{End: rawserver.FIN}))
	c := newClient(t, payments.Config{BaseURL: "http://" + s.Addr(), Middleware: func(next http.RoundTripper) http.RoundTripper {
		return foreign(func(r *http.Request) (*http.Response, error) {
			if resp, err := next.RoundTrip(r); err == nil {
				return resp, nil
			}
			return next.RoundTrip(r)
		})
	}})
	_, err := c.Next(t.Context())
	require.ErrorIs(t, err, payments.ErrAmbiguous)
	require.ErrorContains(t, err, "Middleware sends a request again")
	require.Len(t, s.Requests(), 1)
}

// TestNotImplemented: 501 is not retried.
func TestNotImplemented(t *testing.T) {
	t.Parallel()
	c, s := connect(t, payments.Config{}, always(rawserver.Action{Bytes: rawserver.JSON(501, "{}")}))
	_, err := c.Confirm(t.Context(), id1)
	require.Error(t, err)
	require.Len(t, s.Requests(), 1)
}
