package grant_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
)

const httpSecret = "http-secret-canary"

var delivery = grant.Delivery{Key: "9bb5bb65-cd48-4b04-89d5-b1848ab1a914:1", Account: account, Item: "sword"}

// TestHTTP: the game is told the key, and each of its answers means one thing.
func TestHTTP(t *testing.T) {
	t.Parallel()
	status, body := http.StatusOK, `{"answer":"full"}`
	var got grant.Delivery
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+httpSecret || r.Header.Get("Idempotency-Key") != "" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_ = json.NewDecoder(r.Body).Decode(&got)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(web.Close)
	h := &grant.HTTP{URL: web.URL, Secret: httpSecret}
	answer, err := h.Give(t.Context(), delivery)
	require.NoError(t, err)
	require.Equal(t, grant.Full, answer)
	require.Equal(t, delivery, got)
	for _, c := range []struct {
		status   int
		body     string
		notGiven bool
		want     string
	}{
		{503, "", true, "the game is not ready (503)"},
		{500, "", false, "the game answered 500"},
		{302, "", false, "the game answered 302"},
		{200, `{"ans`, false, "reading the game's answer"},
	} {
		status, body = c.status, c.body
		_, err := h.Give(t.Context(), delivery)
		require.ErrorContains(t, err, c.want)
		require.NotContains(t, err.Error(), httpSecret)
		require.Equal(t, c.notGiven, errors.Is(err, grant.ErrNotGiven), c.want)
	}
}

// TestHTTPCut: a call that was cut may have given, and is not repeated by net/http; one that
// found no listener has given nothing.
func TestHTTPCut(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked.Add(1)
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(web.Close)
	h := &grant.HTTP{URL: web.URL, Client: web.Client()}
	_, err := h.Give(t.Context(), delivery)
	require.ErrorIs(t, err, io.EOF)
	require.NotErrorIs(t, err, grant.ErrNotGiven)
	require.EqualValues(t, 1, asked.Load())

	h.URL = "http://127.0.0.1:1"
	_, err = h.Give(t.Context(), delivery)
	require.ErrorIs(t, err, grant.ErrNotGiven)
}

// TestPlainHTTP: no proxy of the environment sees the secret, and the game is not asked over
// HTTP/2, where net/http may repeat a request.
func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	var version atomic.Int64
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		version.Store(int64(r.ProtoMajor))
		_, _ = io.WriteString(w, `{"answer":"granted"}`)
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
	_, err := h.Give(t.Context(), delivery)
	require.NoError(t, err)
	require.EqualValues(t, 1, version.Load())
}
