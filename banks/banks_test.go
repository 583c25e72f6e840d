package banks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/banks"
	"github.com/depositpay/depositpay-go/internal/test/rawserver"
	"github.com/depositpay/depositpay-go/mockserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func serve(t *testing.T, cfg banks.Config, handler func(int, rawserver.Request) rawserver.Action) (*banks.Client, *rawserver.Server) {
	t.Helper()
	s := rawserver.ListenPipe(handler)
	cfg.BaseURL = "http://127.0.0.1/api"
	cfg.Transport = &http.Transport{DialContext: s.Dial}
	c, err := banks.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		c.CloseIdleConnections()
		s.Close()
	})
	return c, s
}

func answer(status int, body string) func(int, rawserver.Request) rawserver.Action {
	return func(int, rawserver.Request) rawserver.Action {
		return rawserver.Action{Bytes: rawserver.JSON(status, body)}
	}
}

const (
	basic    = `[{"name":"한빛은행","package":"com.example.hanbit","logo":"https://x.example/1.png","new":1},{"name":"B","package":"b","logo":null}]`
	detailed = `[{"id":7,"name":"A","package":"a","logo":"l","status":true,"icon":"i","app_package":"a.app","last_updated_ts":"2023-05-01T12:30:00Z"},
		{"id":8,"name":"B","package":"b","status":false,"last_updated_ts":"never"}]`
)

func TestList(t *testing.T) {
	t.Parallel()
	for _, body := range []string{basic, `{"data":` + basic + `}`, `{"code":0,"result":` + basic + `}`, `{"banks":` + basic + `}`, "\xef\xbb\xbf" + basic} {
		c, s := serve(t, banks.Config{Token: "test_x"}, answer(200, body))
		list, err := c.List(t.Context())
		require.NoError(t, err, body)
		require.Equal(t, []banks.Bank{
			{Name: "한빛은행", Package: "com.example.hanbit", Logo: "https://x.example/1.png", Extra: map[string]json.RawMessage{"new": json.RawMessage("1")}},
			{Name: "B", Package: "b"},
		}, list)
		require.Equal(t, "/api/mobile/banks", s.Requests()[0].Path)
		require.Empty(t, s.Requests()[0].Query, "the listing takes no token")
	}
	for _, body := range []string{`[]`, `null`, `{"data":[]}`} {
		c, _ := serve(t, banks.Config{}, answer(200, body))
		list, err := c.List(t.Context())
		require.NoError(t, err, body)
		require.Equal(t, []banks.Bank{}, list)
	}
}

func TestListDetailed(t *testing.T) {
	t.Parallel()
	c, s := serve(t, banks.Config{}, answer(200, detailed))
	list, err := c.ListDetailed(t.Context())
	require.NoError(t, err)
	require.Equal(t, "details=true", s.Requests()[0].Query)
	require.Equal(t, []banks.Bank{
		{
			Name: "A", Package: "a", Logo: "l", Detailed: true, ID: 7, Status: true, Icon: "i", AppPackage: "a.app",
			LastUpdated: time.Date(2023, 5, 1, 12, 30, 0, 0, time.UTC),
		},
		{Name: "B", Package: "b", Detailed: true, ID: 8, Extra: map[string]json.RawMessage{"last_updated_ts": json.RawMessage(`"never"`)}},
	}, list)

	f := banks.NewFilter(list)
	require.True(t, f.Match("a"))
	require.True(t, f.Match("a.app"))
	require.False(t, f.Match("A"))
	require.False(t, f.Match("b"), "a bank that is switched off")
	require.False(t, f.Match(""))
	require.Equal(t, 2, f.Len())
	require.False(t, banks.Filter{}.Match("a"))
	require.True(t, banks.NewFilter([]banks.Bank{{Package: "b"}}).Match("b"), "the basic list has no status")
}

func TestListErrors(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`[{"name":"A"}]`, `[{"name":1,"package":"a"}]`, `[{"package":{}}]`, `[7]`, `{"x":1}`, `"x"`, `[`} {
		c, _ := serve(t, banks.Config{}, answer(200, body))
		_, err := c.List(t.Context())
		require.ErrorIs(t, err, banks.ErrUndecodable, body)
		require.NotErrorIs(t, err, banks.ErrAmbiguous)
		require.True(t, banks.SafeToRetry(err))
		e, ok := errors.AsType[*banks.Error](err)
		require.True(t, ok)
		require.Equal(t, body, string(e.Raw))
	}
	c, _ := serve(t, banks.Config{}, answer(200, `{"error":"CLOSED","error_msg":"for the night"}`))
	_, err := c.List(t.Context())
	e, ok := errors.AsType[*banks.Error](err)
	require.True(t, ok)
	require.Equal(t, "CLOSED", e.Code)
	require.Equal(t, "banks: List: CLOSED, for the night, HTTP 200", err.Error())
}

func TestUploadDeposit(t *testing.T) {
	t.Parallel()
	n := banks.Notification{Package: "com.example.hanbit", Title: `입금 "1"`, Text: "홍길동 10,000원"}
	for want, cfg := range map[string]banks.Config{
		`{"package":"com.example.hanbit","title":"입금 \"1\"","text":"홍길동 10,000원"}`: {},
		`{"token":"test_x","app":"com.example.hanbit","t":"입금 \"1\"","body":"홍길동 10,000원"}`: {
			Token: "test_x", Fields: banks.FieldNames{Package: "app", Title: "t", Text: "body"},
		},
	} {
		c, s := serve(t, cfg, answer(200, `{"result":"RECEIVED","n":1}`))
		got, err := c.UploadDeposit(t.Context(), n)
		require.NoError(t, err)
		require.Equal(t, banks.Uploaded{Result: banks.UploadReceived, Extra: map[string]json.RawMessage{"n": json.RawMessage("1")}}, got)
		require.Equal(t, want, s.Requests()[0].Body)
		require.Equal(t, "/api/mobile/deposit", s.Requests()[0].Path)
	}
	c, _ := serve(t, banks.Config{}, answer(204, ""))
	got, err := c.UploadDeposit(t.Context(), n)
	require.NoError(t, err)
	require.Zero(t, got)
}

func TestUploadValidation(t *testing.T) {
	t.Parallel()
	c, s := serve(t, banks.Config{}, answer(200, "{}"))
	for field, n := range map[string]banks.Notification{
		"Package": {Text: "x"},
		"Text":    {Package: "p"},
		"Title":   {Package: "p", Title: "\xff"},
	} {
		_, err := c.UploadDeposit(t.Context(), n)
		e, ok := errors.AsType[*banks.ValidationError](err)
		require.True(t, ok)
		require.Equal(t, field, e.Field)
	}
	require.Zero(t, s.Opened())
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for field, cfg := range map[string]banks.Config{
		"Config.BaseURL": {BaseURL: "http://service.example"},
		"Config.Token":   {BaseURL: "https://service.example", Token: "a b"},
		"Config.Fields":  {BaseURL: "https://service.example", Fields: banks.FieldNames{Title: "token"}},
		"Config.Timeout": {BaseURL: "https://service.example", Timeout: -1},
	} {
		_, err := banks.New(cfg)
		e, ok := errors.AsType[*banks.ValidationError](err)
		require.True(t, ok, "%s: %v", field, err)
		require.Equal(t, field, e.Field)
	}
}

// TestRetryTable: lists are retried and uploads without an id are not, once the service may
// have acted.
func TestRetryTable(t *testing.T) {
	t.Parallel()
	whole := rawserver.JSON(200, basic)
	for name, tc := range map[string]struct {
		action       rawserver.Action
		list, upload int
	}{
		"429":         {rawserver.Action{Bytes: rawserver.JSON(429, "{}")}, 4, 4},
		"503 after":   {rawserver.Action{Bytes: rawserver.JSON(503, "{}", "Retry-After: 99999999999999999999")}, 4, 4},
		"503":         {rawserver.Action{Bytes: rawserver.JSON(503, "{}")}, 4, 1},
		"500":         {rawserver.Action{Bytes: rawserver.JSON(500, "{}")}, 4, 1},
		"closed":      {rawserver.Action{End: rawserver.FIN}, 4, 1},
		"cut body":    {rawserver.Action{Bytes: whole[:len(whole)-1], End: rawserver.FIN}, 4, 1},
		"timeout":     {rawserver.Action{End: rawserver.Hang}, 4, 1},
		"bad request": {rawserver.Action{Bytes: rawserver.JSON(400, `{"error":"X"}`)}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for call, want := range map[string]int{"list": tc.list, "detailed": tc.list, "upload": tc.upload} {
				synctest.Test(t, func(t *testing.T) {
					c, s := serve(t, banks.Config{}, func(int, rawserver.Request) rawserver.Action { return tc.action })
					err := calls[call](t.Context(), c)
					require.Len(t, s.Requests(), want, call)
					lost := want == 1 && name != "bad request"
					require.Equal(t, lost, errors.Is(err, banks.ErrAmbiguous), call)
					require.Equal(t, !lost, banks.SafeToRetry(err), call)
				})
			}
		})
	}
}

var calls = map[string]func(context.Context, *banks.Client) error{
	"list":     func(ctx context.Context, c *banks.Client) error { _, err := c.List(ctx); return err },
	"detailed": func(ctx context.Context, c *banks.Client) error { _, err := c.ListDetailed(ctx); return err },
	"upload": func(ctx context.Context, c *banks.Client) error {
		_, err := c.UploadDeposit(ctx, banks.Notification{Package: "p", Text: "x"})
		return err
	},
}

// TestTokenCanary: the upload's token is in no result, error or log, even if the service
// echoes it.
func TestTokenCanary(t *testing.T) {
	t.Parallel()
	const canary = "test_cAnArY"
	for _, status := range []int{200, 307, 401, 429, 500} {
		var out bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
		cfg := banks.Config{Token: canary, Logger: logger, RetryWaitMin: 1, RetryWaitMax: 1}
		c, _ := serve(t, cfg, func(_ int, r rawserver.Request) rawserver.Action {
			said, _ := json.Marshal(map[string]string{"error": r.Body, "error_msg": canary, "token": canary})
			return rawserver.Action{Bytes: rawserver.JSON(status, string(said), "Location: /"+canary)}
		})
		for _, call := range calls {
			err := call(t.Context(), c)
			logger.Error("failed", "err", err, "cfg", cfg)
			for ; err != nil; err = errors.Unwrap(err) {
				fmt.Fprintf(&out, "%v %+v %#v %s", err, err, err, errorRaw(err))
			}
		}
		fmt.Fprintf(&out, "%v %+v %#v %v %+v %#v", cfg, cfg, cfg, c, c, c)
		require.NotContains(t, out.String(), "cAnArY")
	}
	echo := fmt.Sprintf(`{"result":%[1]q,"deposit_id":%[1]q,"reason":%[1]q,"other":%[1]q}`, canary)
	c, _ := serve(t, banks.Config{Token: canary}, func(int, rawserver.Request) rawserver.Action {
		return rawserver.Action{Bytes: rawserver.JSON(200, echo)}
	})
	u, err := c.UploadDeposit(t.Context(), banks.Notification{Package: "p", Text: "x"})
	require.NoError(t, err)
	require.Equal(t, banks.Uploaded{
		Result: "[redacted]", DepositID: "[redacted]", Reason: "[redacted]",
		Extra: map[string]json.RawMessage{"other": json.RawMessage(`"[redacted]"`)},
	}, u)
}

// TestTokenSource: an upload that is rejected with the old token is sent once with the new
// one; a list needs no token; a source that fails sends nothing.
func TestTokenSource(t *testing.T) {
	t.Parallel()
	tokens := []string{"test_old", "test_new"}
	c, s := serve(t, banks.Config{TokenSource: func(context.Context) (string, error) {
		token := tokens[0]
		tokens = tokens[1:]
		return token, nil
	}}, func(_ int, r rawserver.Request) rawserver.Action {
		if strings.Contains(r.Body, "test_old") {
			return rawserver.Action{Bytes: rawserver.JSON(401, "{}")}
		}
		return rawserver.Action{Bytes: rawserver.JSON(200, "{}")}
	})
	require.NoError(t, calls["list"](t.Context(), c))
	require.Len(t, tokens, 2, "a list takes no token")
	require.NoError(t, calls["upload"](t.Context(), c))
	require.Len(t, s.Requests(), 3)
	require.Contains(t, s.Requests()[2].Body, "test_new")

	c, s = serve(t, banks.Config{TokenSource: func(context.Context) (string, error) { return "", errors.New("sealed") }}, nil)
	err := calls["upload"](t.Context(), c)
	require.ErrorIs(t, err, banks.ErrTokenSource)
	require.ErrorContains(t, err, "sealed")
	require.True(t, banks.SafeToRetry(err))
	require.Zero(t, s.Opened())

	_, err = banks.New(banks.Config{BaseURL: "https://service.example", Token: "test_x", TokenSource: func(context.Context) (string, error) { return "", nil }})
	e, ok := errors.AsType[*banks.ValidationError](err)
	require.True(t, ok)
	require.Equal(t, "Config.TokenSource", e.Field)
}

func errorRaw(err error) []byte {
	if e, ok := errors.AsType[*banks.Error](err); ok {
		return e.Raw
	}
	return nil
}

// TestUploaded: the response is read in all envelopes, and unreadable fields are kept.
func TestUploaded(t *testing.T) {
	t.Parallel()
	const token = "7f0c8f5e-2f50-4a53-9d6e-0d2a6a7b1c01"
	full := `{"result":"MATCHED","deposit_id":"d1","payToken":"` + token + `","reason":null,"repeated":true,"x":[1]}`
	for _, body := range []string{full, `{"data":` + full + `}`, `{"result":` + full + `}`} {
		c, _ := serve(t, banks.Config{}, answer(200, body))
		got, err := c.UploadDeposit(t.Context(), banks.Notification{Package: "p", Text: "x"})
		require.NoError(t, err, body)
		require.Equal(t, banks.Uploaded{
			Result: banks.UploadMatched, DepositID: "d1", PayToken: uuid.MustParse(token), Repeated: true,
			Extra: map[string]json.RawMessage{"x": json.RawMessage("[1]")},
		}, got)
	}
	const odd = `{"result":7,"deposit_id":{},"payToken":"p","reason":1,"repeated":"yes"}`
	c, _ := serve(t, banks.Config{}, answer(200, odd))
	got, err := c.UploadDeposit(t.Context(), banks.Notification{Package: "p", Text: "x"})
	require.NoError(t, err)
	require.Len(t, got.Extra, 5)
	got.Extra = nil
	require.Zero(t, got)
}

// TestUploadByID: the id is sent under its configured name, and an upload with an id is
// retried after a lost response only if the service drops duplicates by it.
func TestUploadByID(t *testing.T) {
	t.Parallel()
	for _, drops := range []bool{false, true} {
		for _, id := range []string{"", "n-1"} {
			t.Run(fmt.Sprint(drops, id), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					cfg := banks.Config{DropsRepeatsByID: drops, Fields: banks.FieldNames{ID: "nid"}, MaxRetries: 2}
					lost := true
					c, s := serve(t, cfg, func(n int, _ rawserver.Request) rawserver.Action {
						if lost || n == 4 {
							return rawserver.Action{End: rawserver.FIN}
						}
						return rawserver.Action{Bytes: rawserver.JSON(200, `{"result":"MATCHED","repeated":true}`)}
					})
					n := banks.Notification{ID: id, Package: "p", Text: "x"}
					_, err := c.UploadDeposit(t.Context(), n)
					require.ErrorIs(t, err, banks.ErrAmbiguous)
					again := drops && id != ""
					require.Equal(t, again, banks.SafeToRetry(err))
					require.Len(t, s.Requests(), map[bool]int{true: 3, false: 1}[again])
					body := `{"package":"p","text":"x"}`
					if id != "" {
						body = `{"package":"p","text":"x","nid":"n-1"}`
					}
					for _, r := range s.Requests() {
						require.JSONEq(t, body, r.Body)
					}
					if !again {
						require.ErrorContains(t, err, "it may count twice")
						return
					}
					require.ErrorContains(t, err, "upload it again with the same ID")
					lost = false
					got, err := c.UploadDeposit(t.Context(), n)
					require.NoError(t, err, "the fourth answer is lost, the fifth is not")
					require.True(t, got.Repeated)
					require.Len(t, s.Requests(), 5)
				})
			})
		}
	}
}

// TestUploadIDAgainstTheMock: an upload whose response was lost, repeated with its id, pays
// once.
func TestUploadIDAgainstTheMock(t *testing.T) {
	t.Parallel()
	mock, err := mockserver.New(mockserver.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, mock.Close()) }()
	require.NoError(t, mock.AddFault(mockserver.Fault{Operation: "deposit", Kind: "drop-after", Nth: 1}))
	c, err := banks.New(banks.Config{BaseURL: mock.URL(), Transport: mock.Transport(), DropsRepeatsByID: true, RetryWaitMin: 1, RetryWaitMax: 1})
	require.NoError(t, err)
	defer c.CloseIdleConnections()
	n := banks.Notification{ID: "n-1", Package: "com.kbstar.kbbank", Title: "입금 10,000원", Text: "김철수"}
	got, err := c.UploadDeposit(t.Context(), n)
	require.NoError(t, err)
	require.Equal(t, banks.UploadUnmatched, got.Result)
	require.True(t, got.Repeated)
	require.NotEmpty(t, got.DepositID)
	n.ID = "n-2"
	other, err := c.UploadDeposit(t.Context(), n)
	require.NoError(t, err)
	require.False(t, other.Repeated, "another deposit with the same texts")
	require.Len(t, mock.Unmatched(), 2)
}

// FuzzList: a list is read or refused, never half.
func FuzzList(f *testing.F) {
	for _, seed := range []string{basic, detailed, `{"data":[{"package":"p"}]}`, `[[]]`, `null`, `{"error":"X"}`, `[{"name":null,"package":"p"}]`} {
		f.Add([]byte(seed))
	}
	var body []byte
	c, err := banks.New(banks.Config{BaseURL: "https://service.example", MaxRetries: -1, Transport: direct(func() []byte { return body })})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		body = b
		list, err := c.ListDetailed(t.Context())
		if err != nil {
			if _, ok := errors.AsType[*banks.Error](err); !ok {
				t.Fatalf("%q: %v", b, err)
			}
			return
		}
		for _, bank := range list {
			if bank.Package == "" && bank.AppPackage == "" {
				t.Fatalf("%q: a bank without a package", b)
			}
		}
	})
}
