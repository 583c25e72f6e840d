package webhook_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

const (
	oldSecret = "old-secret-0123456789abcdef"
	newSecret = "new-secret-0123456789abcdef"
)

func at(p payments.Payment, path string) *http.Request {
	r := named(p.ID)
	r.URL.Path = path
	return r
}

// TestSecretRotation: both secrets are valid while one replaces the other.
func TestSecretRotation(t *testing.T) {
	t.Parallel()
	for _, stage := range []struct {
		secrets  []string
		old, new int
	}{
		{[]string{oldSecret}, 200, 404},
		{[]string{oldSecret, newSecret}, 200, 200},
		{[]string{newSecret, oldSecret}, 200, 200},
		{[]string{newSecret}, 404, 200},
		{nil, 200, 200},
	} {
		p := newPayment()
		h := newHandler(t, webhook.Config{Client: newService(p), PathSecrets: stage.secrets})
		assert.Equal(t, stage.old, serve(h, at(p, "/hooks/"+oldSecret)).Code, "%v", stage)
		assert.Equal(t, stage.new, serve(h, at(p, "/hooks/"+newSecret)).Code, "%v", stage)
	}
}

// TestWrongSecret: the response is that of a page that does not exist, whatever the request, and
// nothing is confirmed.
func TestWrongSecret(t *testing.T) {
	t.Parallel()
	p := newPayment()
	client := newService(p)
	h := newHandler(t, webhook.Config{Client: client, PathSecrets: []string{oldSecret}})
	for _, path := range []string{
		"", "/", "/hooks", "/hooks/", oldSecret + "/", "/hooks/" + oldSecret + "/", "/" + oldSecret + "/x",
		"/hooks/" + oldSecret[1:], "/hooks/" + oldSecret + "x", "/hooks/OLD-secret-0123456789abcdef", "/hooks/ " + oldSecret,
	} {
		for _, method := range []string{http.MethodPost, http.MethodGet} {
			want := httptest.NewRecorder()
			r := at(p, path)
			r.Method = method
			http.NotFound(want, r)
			got := serve(h, r)
			assert.Equal(t, want.Code, got.Code, path)
			assert.Equal(t, want.Header(), got.Header(), path)
			assert.Equal(t, want.Body.String(), got.Body.String(), path)
			assert.Equal(t, webhook.OutcomeForbidden, h.seen.last(t).Outcome)
		}
	}
	assert.Zero(t, client.calls.Load())
	assert.Equal(t, http.StatusOK, serve(h, at(p, oldSecret)).Code, "a path without slash")
}

func TestSecretBehindRouters(t *testing.T) {
	t.Parallel()
	p := newPayment()
	h := newHandler(t, webhook.Config{Client: newService(p), PathSecrets: []string{oldSecret}})
	routers := map[string]func(*http.ServeMux){
		"subtree":      func(m *http.ServeMux) { m.Handle("/hooks/", h) },
		"wildcard":     func(m *http.ServeMux) { m.Handle("POST /hooks/{secret}", h) },
		"strip prefix": func(m *http.ServeMux) { m.Handle("/hooks/", http.StripPrefix("/hooks/", h)) },
		"strip part":   func(m *http.ServeMux) { m.Handle("/hooks/", http.StripPrefix("/hooks", h)) },
	}
	for name, route := range routers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mux := http.NewServeMux()
			route(mux)
			assert.Equal(t, http.StatusOK, serve(mux, at(p, "/hooks/"+oldSecret)).Code)
			assert.Equal(t, http.StatusNotFound, serve(mux, at(p, "/hooks/"+newSecret)).Code)
		})
	}
}

func TestSecretValidation(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		secrets []string
		want    string
	}{
		"three":     {[]string{oldSecret, newSecret, oldSecret + "x"}, "Config.PathSecrets: has 3 entries"},
		"short":     {[]string{oldSecret[:21]}, "Config.PathSecrets[0]: is shorter than 22"},
		"empty":     {[]string{oldSecret, ""}, "Config.PathSecrets[1]: is shorter than 22"},
		"slash":     {[]string{oldSecret + "/x"}, "Config.PathSecrets[0]: has characters"},
		"percent":   {[]string{oldSecret, oldSecret + "%2F"}, "Config.PathSecrets[1]: has characters"},
		"not ASCII": {[]string{oldSecret + "é"}, "Config.PathSecrets[0]: has characters"},
		"same":      {[]string{oldSecret, oldSecret}, "Config.PathSecrets[1]: is the same"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := webhook.New(webhook.Config{Client: newService(), Sink: &sink{}, PathSecrets: test.secrets})
			require.ErrorContains(t, err, test.want)
			assert.NotContains(t, err.Error(), oldSecret[:10])
		})
	}
	_, err := webhook.New(webhook.Config{Client: newService(), Sink: &sink{}, PathSecrets: []string{oldSecret[:22]}})
	require.NoError(t, err)
}

// TestSecretIsNeverPrinted: no log, response or printed value contains a secret.
func TestSecretIsNeverPrinted(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	p := newPayment()
	cfg := webhook.Config{
		Client: newService(p), Sink: &sink{}, PathSecrets: []string{oldSecret, newSecret}, Logger: logger,
		OnDelivery: func(e webhook.Event) { fmt.Fprintf(&out, "%+v %#v", e, e) },
	}
	h := newHandler(t, cfg)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		fmt.Fprintf(&out, verb, cfg)
		fmt.Fprintf(&out, verb, &cfg)
		fmt.Fprintf(&out, verb, h.Handler)
	}
	logger.Info("configured", "config", cfg)
	for _, path := range []string{"/hooks/" + oldSecret, "/hooks/" + newSecret + "x"} {
		w := serve(h, at(p, path))
		require.NoError(t, w.Result().Header.Write(&out))
		out.Write(w.Body.Bytes())
	}
	assert.Contains(t, out.String(), "[redacted]")
	for _, secret := range []string{oldSecret, newSecret} {
		assert.NotContains(t, out.String(), secret)
		assert.NotContains(t, out.String(), fmt.Sprintf("%x", secret))
	}
}
