package payments_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/rawserver"
	"github.com/depositpay/depositpay-go/payments"
)

// canary has characters that look different in a query, in JSON and in a path.
const canary = `test_cAnArY+/"<&>%41é`

// spellings returns the forms of the canary to search for.
func spellings() []string {
	quoted, _ := json.Marshal(canary)
	return []string{canary, url.QueryEscape(canary), url.PathEscape(canary), string(quoted[1 : len(quoted)-1]), "cAnArY"}
}

// echo is the worst peer: it responds with what it received.
func echo(status int) func(int, rawserver.Request) rawserver.Action {
	return func(_ int, r rawserver.Request) rawserver.Action {
		said, _ := json.Marshal(map[string]string{"error": r.Query + canary, "error_msg": r.Body})
		return rawserver.Action{Bytes: rawserver.JSON(status, string(said), "Location: /?"+r.Query, "Retry-After: 0",
			"Content-Location: /?"+r.Query, "Set-Cookie: last="+r.Query)}
	}
}

// TestTokenCanary: the token is in no byte that the SDK lets out, on every error path of
// every operation.
func TestTokenCanary(t *testing.T) {
	t.Parallel()
	raw := func(text string, end rawserver.End) func(int, rawserver.Request) rawserver.Action {
		return func(_ int, r rawserver.Request) rawserver.Action {
			return rawserver.Action{Bytes: []byte(fmt.Sprintf(text, r.Query+r.Body)), End: end}
		}
	}
	paths := map[string]func(int, rawserver.Request) rawserver.Action{
		"error 200":         echo(200),
		"error 307":         echo(307),
		"error 401":         echo(401),
		"error 429":         echo(429),
		"error 500":         echo(500),
		"error 503":         echo(503),
		"garbage":           raw("GARBAGE %s\r\n\r\n", rawserver.FIN),
		"garbage header":    raw("HTTP/1.1 200 OK\r\n%s\r\n\r\n", rawserver.FIN),
		"bad status":        raw("HTTP/1.1 %s\r\n\r\n", rawserver.FIN),
		"status line":       raw("HTTP/1.1 200 %s\r\nContent-Length: 2\r\n\r\n{}", rawserver.Keep),
		"closed":            raw("%.0s", rawserver.FIN),
		"reset":             raw("%.0s", rawserver.RST),
		"cut body":          raw("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n%s", rawserver.FIN),
		"not JSON":          raw("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n%s", rawserver.FIN),
		"not an object":     raw("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n[1, 2]%.0s", rawserver.FIN),
		"echo in the clear": raw("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"id\":7,\"x\":%q}", rawserver.FIN),
		"unknown fields": func(int, rawserver.Request) rawserver.Action {
			said, _ := json.Marshal(map[string]any{
				"id": id1, "payToken": id1, "paid_amount": 1, "status": "COMPLETE", "token": canary,
				"metadata": map[string]string{"token": canary},
			})
			return rawserver.Action{Bytes: rawserver.JSON(200, string(said))}
		},
	}
	for name, serve := range paths {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := listen(t, serve)
			requireNoToken(t, "http://"+s.Addr(), payments.Config{Token: canary})
			requireNoToken(t, "http://"+s.Addr(), payments.Config{TokenSource: rotated()})
			require.NotEmpty(t, s.Requests())
			for _, r := range s.Requests() {
				require.NotContains(t, r.Header, "Referer")
			}
		})
	}
	t.Run("dial refused", func(t *testing.T) {
		t.Parallel()
		requireNoToken(t, "http://127.0.0.1:1", payments.Config{TokenSource: rotated()})
	})
	t.Run("TLS closed", func(t *testing.T) {
		t.Parallel()
		requireNoToken(t, "https://"+closingListener(t).Addr().String(), payments.Config{TokenSource: rotated()})
	})
}

// rotated returns a source of two tokens in turn, the canary and another one with the same
// text.
func rotated() func(context.Context) (string, error) {
	n := 0
	return func(context.Context) (string, error) {
		n++
		return []string{"test_cAnArY-the-next", canary}[n%2], nil
	}
}

// requireNoToken calls every operation at base and searches the whole output.
func requireNoToken(t *testing.T, base string, cfg payments.Config) {
	t.Helper()
	var out bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug, AddSource: true}))
	cfg.BaseURL, cfg.Logger, cfg.RetryWaitMin, cfg.RetryWaitMax = base, logger, 1, 1
	cfg.Middleware = func(next http.RoundTripper) http.RoundTripper { return spy{next, &out} }
	c, err := payments.New(cfg)
	require.NoError(t, err)
	t.Cleanup(c.CloseIdleConnections)
	dump(&out, cfg, &cfg, c, struct{ C payments.Config }{cfg})
	for _, op := range operations {
		err := op.call(t.Context(), c)
		for ; err != nil; err = errors.Unwrap(err) {
			dump(&out, err)
			logger.Error("failed", "err", err)
			if e, ok := err.(*payments.Error); ok { //nolint:errorlint // every layer in turn
				out.Write(e.Raw)
			}
		}
	}
	created, _ := c.Create(t.Context(), validRequest())
	paid, _ := c.Confirm(t.Context(), id1)
	dump(&out, created, paid)
	_, err = c.Next(canceled(t))
	dump(&out, err)

	text := out.String()
	require.Contains(t, text, "/callback/rest", "the spy must have seen the requests")
	for _, form := range spellings() {
		if i := strings.Index(text, form); i >= 0 {
			t.Fatalf("token in: …%s…", text[max(0, i-200):min(len(text), i+100)])
		}
	}
}

func canceled(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func dump(w io.Writer, values ...any) {
	for _, v := range values {
		_, _ = fmt.Fprintf(w, "%v\n%+v\n%#v\n%s\n%q\n", v, v, v, v, v)
		if b, err := json.Marshal(v); err == nil {
			_, _ = w.Write(b)
		}
		if l, ok := v.(slog.LogValuer); ok {
			_, _ = fmt.Fprintf(w, "%+v\n", l.LogValue())
		}
	}
}

// spy is a middleware that prints everything it sees, like a tracer.
type spy struct {
	next http.RoundTripper
	out  io.Writer
}

func (s spy) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.next.RoundTrip(r)
	_, _ = fmt.Fprintf(s.out, "%+v\n%v\n%v\n", r, r.URL, err)
	if resp != nil {
		_, _ = fmt.Fprintf(s.out, "%+v\n%v\n", resp, resp.Request.URL)
		body, _ := io.ReadAll(resp.Body)
		_, _ = s.out.Write(body)
	}
	return resp, err
}
