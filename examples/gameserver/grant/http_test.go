package grant_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
)

const httpSecret = "http-secret-canary"

// TestHTTP: what each answer of the game means.
func TestHTTP(t *testing.T) {
	t.Parallel()
	status, body := http.StatusOK, ""
	var got grant.Delivery
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+httpSecret || r.Header.Get("Idempotency-Key") != "" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		if r.Method == http.MethodPost {
			_ = json.NewDecoder(r.Body).Decode(&got)
		}
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(web.Close)
	h := &grant.HTTP{URL: web.URL, Secret: httpSecret}

	body = `{"online":true,"free":2}`
	p, err := h.Player(t.Context(), account)
	require.NoError(t, err)
	require.Equal(t, grant.Player{Online: true, Free: 2}, p)

	body = `{"answer":"full"}`
	answer, err := h.Give(t.Context(), delivery(account))
	require.NoError(t, err)
	require.Equal(t, grant.Full, answer)
	require.Equal(t, delivery(account), got, "the game is given the key")

	for _, c := range []struct {
		status   int
		body     string
		notGiven bool
		want     string
	}{
		{503, "", true, "the game is not ready (503)"},
		{500, "", false, "the game answered 500"},
		{302, "", false, "the game answered 302"},
		{200, `{"ans`, false, "the answer cannot be read"},
	} {
		status, body = c.status, c.body
		_, err := h.Give(t.Context(), delivery(account))
		require.ErrorContains(t, err, c.want)
		require.NotContains(t, err.Error(), httpSecret)
		if c.notGiven {
			require.ErrorIs(t, err, grant.ErrNotGiven)
		} else {
			require.NotErrorIs(t, err, grant.ErrNotGiven)
		}
	}
}

// TestHTTPCut: a cut connection may have given; a port where nobody listens has not.
func TestHTTPCut(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked.Add(1)
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(web.Close)
	h := &grant.HTTP{URL: web.URL, Client: web.Client()}
	_, err := h.Give(t.Context(), delivery(account))
	require.ErrorIs(t, err, io.EOF)
	require.NotErrorIs(t, err, grant.ErrNotGiven)
	require.EqualValues(t, 1, asked.Load(), "net/http does not ask again by itself")

	h.URL = "http://127.0.0.1:1"
	_, err = h.Give(t.Context(), delivery(account))
	require.ErrorIs(t, err, grant.ErrNotGiven)
}

// TestPlainHTTP: no proxy of the environment hears the secret, and HTTP/2 does not send a
// request twice by itself.
func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"online": true, "free": r.ProtoMajor})
	}))
	web.EnableHTTP2 = true
	web.StartTLS()
	t.Cleanup(web.Close)
	transport := grant.PlainTransport()
	t.Cleanup(transport.CloseIdleConnections)
	require.Nil(t, transport.Proxy)
	transport.TLSClientConfig = web.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	transport.TLSClientConfig.NextProtos = nil
	h := &grant.HTTP{URL: web.URL, Client: &http.Client{Transport: transport}}
	p, err := h.Player(t.Context(), account)
	require.NoError(t, err)
	require.Equal(t, 1, p.Free, "the version of HTTP")
}
