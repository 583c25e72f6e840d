package payments_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/rawserver"
	"github.com/depositpay/depositpay-go/payments"
)

// issuer is a service that accepts some tokens, and a merchant's token source.
type issuer struct {
	mu     sync.Mutex
	valid  map[string]bool
	now    []string // what the source returns, one a call; the last for good
	asked  int
	refuse string // how a refusal looks
	status int
}

func (i *issuer) source(context.Context) (string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.asked++
	token := i.now[0]
	if len(i.now) > 1 {
		i.now = i.now[1:]
	}
	return token, nil
}

func (i *issuer) serve(_ int, r rawserver.Request) rawserver.Action {
	i.mu.Lock()
	defer i.mu.Unlock()
	if token := tokenOf(r); !i.valid[token] {
		return rawserver.Action{Bytes: rawserver.JSON(i.status, i.refuse)}
	}
	return rawserver.Action{Bytes: rawserver.JSON(200, `{"payToken":"`+id1.String()+`",`+record(id1)[1:])}
}

func tokenOf(r rawserver.Request) string {
	if _, token, found := strings.Cut(r.Query, "token="); found {
		return token
	}
	var body struct{ Token string }
	_ = json.Unmarshal([]byte(r.Body), &body)
	return body.Token
}

// sent returns the received tokens in order.
func sent(s *rawserver.Server) (list []string) {
	for _, r := range s.Requests() {
		list = append(list, tokenOf(r))
	}
	return list
}

// TestTokenSource: the source is called for each call, and a call rejected with the old
// token is repeated once with the new one, for every operation.
func TestTokenSource(t *testing.T) {
	t.Parallel()
	for _, op := range operations {
		for status, refuse := range map[int]string{200: `{"error":"INVALID_TOKEN"}`, 401: `{}`, 403: `{"error":"NO"}`} {
			t.Run(fmt.Sprintf("%s %d", op.name, status), func(t *testing.T) {
				t.Parallel()
				i := &issuer{
					valid: map[string]bool{"test_new": true, "test_both": true}, status: status, refuse: refuse,
					now: []string{"test_both", "test_old", "test_new", "test_new", "test_old", "test_old"},
				}
				c, s := connect(t, payments.Config{TokenSource: i.source}, i.serve)
				require.NoError(t, op.call(t.Context(), c))
				require.NoError(t, op.call(t.Context(), c), "refused with the old one")
				require.NoError(t, op.call(t.Context(), c))
				err := op.call(t.Context(), c)
				require.ErrorIs(t, err, payments.ErrTokenRefused)
				require.NotErrorIs(t, err, payments.ErrAmbiguous)
				require.True(t, payments.SafeToRetry(err))
				require.Equal(t, []string{"test_both", "test_old", "test_new", "test_new", "test_old"}, sent(s),
					"not again with the same token")
				require.Equal(t, 6, i.asked)
			})
		}
	}
}

// TestTokenSourceAfterALostAnswer: only a rejected call is repeated with another token,
// never one that may have had an effect.
func TestTokenSourceAfterALostAnswer(t *testing.T) {
	t.Parallel()
	for name, serve := range map[string]rawserver.Action{
		"closed":               {End: rawserver.FIN},
		"record, refused":      {Bytes: rawserver.JSON(401, record(id1))},
		"something, refused":   {Bytes: rawserver.JSON(401, `{"error":"NO_PROCESSED_PAYMENT","x":{"y":1}}`)},
		"refused, but perhaps": {Bytes: rawserver.JSON(500, `{"error":"INVALID_TOKEN"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := &issuer{now: []string{"test_old", "test_new"}}
			c, s := connect(t, payments.Config{TokenSource: i.source}, always(serve))
			_, err := c.Next(t.Context())
			require.ErrorIs(t, err, payments.ErrAmbiguous)
			require.Equal(t, []string{"test_old"}, sent(s))
			require.Equal(t, 1, i.asked)
		})
	}
}

// TestTokenSourceAfterALostConfirm: a Confirm that is rejected after a lost response is
// repeated with another token and stays ambiguous until there is a response.
func TestTokenSourceAfterALostConfirm(t *testing.T) {
	t.Parallel()
	lost, refused := rawserver.JSON(502, `{}`), rawserver.JSON(401, `{}`)
	code := rawserver.JSON(200, `{"error":"INVALID_TOKEN"}`)
	both := rawserver.JSON(501, `{"error":"INVALID_TOKEN"}`)
	busy, paid := rawserver.JSON(429, `{}`), rawserver.JSON(200, record(id1))
	const old, other = "test_old", "test_new"
	for name, test := range map[string]struct {
		answers [][]byte // then nobody accepts a connection
		tokens  []string // what the source returns, one a call; the last for good
		sent    []string
		says    error
		unknown bool
	}{
		"no connection":         {[][]byte{lost, refused}, []string{old, other}, []string{old, old}, payments.ErrAmbiguous, true},
		"no connection, a code": {[][]byte{lost, code}, []string{old, other}, []string{old, old}, payments.ErrAmbiguous, true},
		"lost and refused":      {[][]byte{both}, []string{old, other}, []string{old}, payments.ErrAmbiguous, true},
		"rate limit":            {[][]byte{lost, refused, busy, busy, busy, busy}, []string{old, other}, []string{old, old, other, other, other, other}, payments.ErrAmbiguous, true},
		"refused again":         {[][]byte{lost, refused, refused}, []string{old, other}, []string{old, old, other}, payments.ErrTokenRefused, true},
		"the same token":        {[][]byte{lost, refused}, []string{old}, []string{old, old}, payments.ErrTokenRefused, true},
		"the same token, code":  {[][]byte{lost, code}, []string{old}, []string{old, old}, payments.ErrTokenRefused, true},
		"answer":                {[][]byte{lost, refused, paid}, []string{old, other}, []string{old, old, other}, nil, false},
		"nothing lost":          {[][]byte{refused}, []string{old, other}, []string{old}, syscall.ECONNREFUSED, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := rawserver.ListenPipe(func(n int, _ rawserver.Request) rawserver.Action {
					return rawserver.Action{Bytes: test.answers[n-1], End: rawserver.FIN}
				})
				defer s.Close()
				dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
					if len(s.Requests()) == len(test.answers) {
						return nil, syscall.ECONNREFUSED
					}
					return s.Dial(ctx, network, addr)
				}
				i := &issuer{now: test.tokens}
				c, err := payments.New(payments.Config{
					BaseURL: "http://127.0.0.1", TokenSource: i.source,
					Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true},
				})
				require.NoError(t, err)
				_, err = c.Confirm(t.Context(), id1)
				require.ErrorIs(t, err, test.says)
				require.Equal(t, test.sent, sent(s))
				require.Equal(t, test.unknown, errors.Is(err, payments.ErrAmbiguous), "%v", err)
				if test.unknown {
					require.NotContains(t, err.Error(), "nothing was sent")
				}
			})
		})
	}
}

// TestTokenSourceFails: nothing is sent, and the error says so without a token.
func TestTokenSourceFails(t *testing.T) {
	t.Parallel()
	vault := errors.New("the vault is sealed")
	for name, test := range map[string]struct {
		source func(context.Context) (string, error)
		says   string
	}{
		"error":        {func(context.Context) (string, error) { return "", vault }, "the vault is sealed"},
		"token, error": {func(context.Context) (string, error) { return canary, fmt.Errorf("old: %q", canary) }, "old: "},
		"panic":        {func(context.Context) (string, error) { panic("nil map") }, "the source panicked: nil map"},
		"empty":        {func(context.Context) (string, error) { return "", nil }, "the token is empty"},
		"line break":   {func(context.Context) (string, error) { return canary + "\n", nil }, "the token holds white space"},
		"a whole file": {func(context.Context) (string, error) { return strings.Repeat(canary, 1000), nil }, "the token is longer than 1024 bytes"},
		"a quoted file": {func(context.Context) (string, error) {
			file := strings.Repeat(canary, 1000)
			return file, fmt.Errorf("malformed: %.100s", file)
		}, "the token is longer than 1024 bytes"},
		"its time ends": {func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }, "context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, s := bubble(t, payments.Config{TokenSource: test.source}, nil)
				for _, op := range operations {
					began := time.Now()
					err := op.call(t.Context(), c)
					require.ErrorIs(t, err, payments.ErrTokenSource, op.name)
					require.NotErrorIs(t, err, payments.ErrAmbiguous)
					require.NotErrorIs(t, err, payments.ErrTokenRefused)
					require.True(t, payments.SafeToRetry(err))
					require.ErrorContains(t, err, "Config.TokenSource gave no API token: ")
					require.ErrorContains(t, err, test.says)
					require.ErrorContains(t, err, "nothing was sent")
					require.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), "cAnArY")
					if name == "its time ends" {
						require.Equal(t, 10*time.Second, time.Since(began))
					}
				}
				require.Zero(t, s.Opened())
			})
		})
	}
}

// TestTokenSourceStopsWithTheCaller: if the caller cancels, the error is the cancellation,
// not a failure of the source.
func TestTokenSourceStopsWithTheCaller(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	c, err := payments.New(payments.Config{BaseURL: "https://service.example", TokenSource: func(ctx context.Context) (string, error) {
		leave()
		return "", ctx.Err()
	}})
	require.NoError(t, err)
	_, err = c.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, payments.ErrTokenSource)
	require.True(t, payments.SafeToRetry(err))
}

// TestOneTokenOrASource: exactly one of both is required.
func TestOneTokenOrASource(t *testing.T) {
	t.Parallel()
	source := func(context.Context) (string, error) { return "test_x", nil }
	for field, cfg := range map[string]payments.Config{
		"Config.Token":       {BaseURL: "https://service.example"},
		"Config.TokenSource": {BaseURL: "https://service.example", Token: "test_x", TokenSource: source},
	} {
		_, err := payments.New(cfg)
		e, ok := errors.AsType[*payments.ValidationError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, field, e.Field)
	}
}

// TestEveryTokenIsRedacted: no token that the client ever used gets out, not even one that
// was replaced long before.
func TestEveryTokenIsRedacted(t *testing.T) {
	t.Parallel()
	var used []string
	for n := range 12 {
		used = append(used, fmt.Sprintf("test_cAnArY%d", n)) // some are the beginning of others
	}
	serve := func(int, rawserver.Request) rawserver.Action {
		said, _ := json.Marshal(map[string]any{"error": "NO " + used[0], "error_msg": strings.Join(used, " "), "x": used})
		return rawserver.Action{Bytes: rawserver.JSON(409, string(said))}
	}
	var out bytes.Buffer
	i := &issuer{now: used}
	c, _ := connect(t, payments.Config{
		TokenSource: i.source,
		Logger:      slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Middleware:  func(next http.RoundTripper) http.RoundTripper { return spy{next, &out} },
	}, serve)
	for range used {
		_, _ = c.Confirm(t.Context(), id1)
	}
	out.Reset()
	_, err := c.Confirm(t.Context(), id1)
	dump(&out, err, c)
	require.Contains(t, out.String(), "[redacted]")
	require.NotContains(t, out.String(), "cAnArY")
	require.NotRegexp(t, `\[redacted\]\d`, out.String(), "the rest of a token")
}
