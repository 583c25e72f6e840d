package payments_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/rawserver"
	"github.com/depositpay/depositpay-go/payments"
)

func TestCreateValidation(t *testing.T) {
	t.Parallel()
	c, s := connect(t, payments.Config{}, always(rawserver.Action{}))
	item := func(change func(*payments.Item)) func(*payments.CreateRequest) {
		return func(r *payments.CreateRequest) {
			bad := payments.Item{Name: "x", Price: payments.NewAmount(1)}
			change(&bad)
			r.Items = []payments.Item{{Name: "good"}, bad}
		}
	}
	for field, change := range map[string]func(*payments.CreateRequest){
		"title":           func(r *payments.CreateRequest) { r.Title = "" },
		"title ":          func(r *payments.CreateRequest) { r.Title = "a\xffb" },
		"identifier":      func(r *payments.CreateRequest) { r.Identifier = " \t" },
		"identifier ":     func(r *payments.CreateRequest) { r.Identifier = "a\xff" },
		"icon":            func(r *payments.CreateRequest) { r.Icon = "http://x.example/i.png" },
		"icon ":           func(r *payments.CreateRequest) { r.Icon = "https://" },
		"icon  ":          func(r *payments.CreateRequest) { r.Icon = "HTTPS://x.example" },
		"amount":          func(r *payments.CreateRequest) { r.Amount = payments.NewAmount(-1) },
		"items[1].name":   item(func(i *payments.Item) { i.Name = "" }),
		"items[1].name ":  item(func(i *payments.Item) { i.Name = "\xff" }),
		"items[1].price":  item(func(i *payments.Item) { i.Price = payments.NewAmount(-1) }),
		"items[1].count":  item(func(i *payments.Item) { i.Count = -1 }),
		"items[1].icon":   item(func(i *payments.Item) { i.Icon = "data:image/png" }),
		"items[1].icon  ": item(func(i *payments.Item) { i.Icon = "https://x\xff" }),
	} {
		req := validRequest()
		change(&req)
		_, err := c.Create(t.Context(), req)
		e, ok := errors.AsType[*payments.ValidationError](err)
		require.True(t, ok, "%s: %v", field, err)
		require.Equal(t, strings.TrimSpace(field), e.Field)
		require.Equal(t, "Create", e.Op)
		require.Contains(t, err.Error(), e.Field)
	}
	require.Zero(t, s.Opened(), "nothing may be sent")
}

// TestCreateBody: the body is that of interface §2.1, with the token first.
func TestCreateBody(t *testing.T) {
	t.Parallel()
	s := listen(t, always(rawserver.Action{Bytes: rawserver.JSON(200, `{"payToken":"`+id1.String()+`","more":[1]}`)}))
	c := newClient(t, payments.Config{BaseURL: "http://" + s.Addr() + "/api/", CheckoutURL: "https://pay.example/p/"})
	half, _ := payments.ParseAmount("0.5")
	created, err := c.Create(t.Context(), payments.CreateRequest{
		Title: "검 \"하나\"", Identifier: "주문-1 <&>\u2028", Icon: "https://x.example/i.png", Amount: payments.NewAmount(10000),
		Items: []payments.Item{{Name: "a", Price: payments.NewAmount(3000), Count: 2, Icon: "https://x.example/a.png"}, {Name: "b", Price: half}, {Name: "free"}},
	})
	require.NoError(t, err)
	require.Equal(t, id1, created.PayToken)
	require.Equal(t, "[1]", string(created.Extra["more"]))
	r := s.Requests()[0]
	require.Equal(t, "POST", r.Method)
	require.Equal(t, "/api/payments", r.Path)
	require.Empty(t, r.Query)
	require.Equal(t, []string{"application/json"}, r.Header["Content-Type"])
	require.Equal(t, `{"token":"`+testToken+`","title":"검 \"하나\"","identifier":"주문-1 <&>`+"\u2028"+`","icon":"https://x.example/i.png","amount":10000,`+
		`"items":[{"name":"a","price":3000,"count":2,"icon":"https://x.example/a.png"},{"name":"b","price":0.5},{"name":"free","price":0}]}`,
		strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\u2028`, "\u2028").Replace(r.Body))

	link, err := c.CheckoutURL(created.PayToken)
	require.NoError(t, err)
	require.Equal(t, "https://pay.example/p/"+id1.String(), link)

	_, err = c.Create(t.Context(), payments.CreateRequest{Title: "t", Identifier: "i"})
	require.NoError(t, err)
	require.Equal(t, `{"token":"`+testToken+`","title":"t","identifier":"i"}`, s.Requests()[1].Body)
}

// TestRequests: token and payment are where each operation needs them.
func TestRequests(t *testing.T) {
	t.Parallel()
	c, s := connect(t, payments.Config{Token: "test_a+b/c", UserAgent: "shop/1"}, always(rawserver.Action{Bytes: rawserver.JSON(200, record(id1))}))
	want := map[string]string{
		"Next":          "GET /callback/rest?token=test_a%2Bb%2Fc ",
		"Confirm":       `POST /payments/confirm? {"token":"test_a+b/c","payToken":"` + id1.String() + `"}`,
		"WebhookStatus": "GET /callback/webhook/status?payToken=" + id1.String() + "&token=test_a%2Bb%2Fc ",
		"ResendWebhook": `POST /callback/webhook/resend? {"token":"test_a+b/c","payToken":"` + id1.String() + `"}`,
	}
	for _, op := range operations {
		if op.name == "Create" {
			continue
		}
		require.NoError(t, op.call(t.Context(), c))
		requests := s.Requests()
		r := requests[len(requests)-1]
		require.Equal(t, want[op.name], r.Method+" "+r.Path+"?"+r.Query+" "+r.Body)
		require.Equal(t, "application/json", r.Header.Get("Accept"))
		require.Equal(t, "shop/1", r.Header.Get("User-Agent"))
	}
}

func TestConfigValidation(t *testing.T) {
	t.Parallel()
	good := payments.Config{BaseURL: "https://service.example/api", Token: "test_x"}
	_, err := payments.New(good)
	require.NoError(t, err)
	for _, base := range []string{"http://127.0.0.1:8080", "http://localhost", "http://[::1]:1/x", "https://service.example/"} {
		cfg := good
		cfg.BaseURL = base
		_, err := payments.New(cfg)
		require.NoError(t, err, base)
	}
	bad := map[string]func(*payments.Config){
		"Config.Token empty":                func(c *payments.Config) { c.Token = "" },
		"Config.Token newline":              func(c *payments.Config) { c.Token = "test_x\n" },
		"Config.BaseURL empty":              func(c *payments.Config) { c.BaseURL = "" },
		"Config.BaseURL plain":              func(c *payments.Config) { c.BaseURL = "http://service.example" },
		"Config.BaseURL looks like":         func(c *payments.Config) { c.BaseURL = "http://127.0.0.1.service.example" },
		"Config.BaseURL user":               func(c *payments.Config) { c.BaseURL = "https://u:p@service.example" },
		"Config.BaseURL query":              func(c *payments.Config) { c.BaseURL = "https://service.example?token=test_x" },
		"Config.BaseURL fragment":           func(c *payments.Config) { c.BaseURL = "https://service.example#x" },
		"Config.BaseURL relative":           func(c *payments.Config) { c.BaseURL = "/api" },
		"Config.BaseURL scheme":             func(c *payments.Config) { c.BaseURL = "ftp://service.example" },
		"Config.BaseURL garbage":            func(c *payments.Config) { c.BaseURL = "https://%zz" },
		"Config.CheckoutURL plain":          func(c *payments.Config) { c.CheckoutURL = "http://service.example" },
		"Config.Timeout negative":           func(c *payments.Config) { c.Timeout = -1 },
		"Config.NextTimeout negative":       func(c *payments.Config) { c.NextTimeout = -1 },
		"Config.RetryWaitMin negative":      func(c *payments.Config) { c.RetryWaitMin = -1 },
		"Config.RetryWaitMax below min":     func(c *payments.Config) { c.RetryWaitMin, c.RetryWaitMax = time.Second, time.Millisecond },
		"Config.MaxBodyBytes negative":      func(c *payments.Config) { c.MaxBodyBytes = -1 },
		"Config.GameProductField is items?": func(c *payments.Config) { c.GameProductField = "items" },
	}
	for name, change := range bad {
		cfg := good
		change(&cfg)
		_, err := payments.New(cfg)
		e, ok := errors.AsType[*payments.ValidationError](err)
		require.True(t, ok, "%s: %v", name, err)
		require.Equal(t, "New", e.Op)
		require.Contains(t, name, strings.TrimPrefix(e.Field, "Config."))
		require.NotContains(t, err.Error(), "test_x")
	}
}

func TestNilIDs(t *testing.T) {
	t.Parallel()
	c := newClient(t, payments.Config{BaseURL: "https://service.example", Transport: foreign(func(*http.Request) (*http.Response, error) {
		return nil, errors.New("must not be called")
	})})
	_, err := c.Confirm(t.Context(), uuid.Nil)
	requireField(t, err, "payToken")
	_, err = c.WebhookStatus(t.Context(), uuid.Nil)
	requireField(t, err, "payToken")
	_, err = c.ResendWebhook(t.Context(), uuid.Nil)
	requireField(t, err, "payToken")
	_, err = c.CheckoutURL(id1)
	requireField(t, err, "Config.CheckoutURL")
}

func requireField(t *testing.T, err error, field string) {
	t.Helper()
	e, ok := errors.AsType[*payments.ValidationError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, field, e.Field)
}

// TestBodyLimit: a body beyond the limit is truncated, not read.
func TestBodyLimit(t *testing.T) {
	t.Parallel()
	c, s := connect(t, payments.Config{MaxBodyBytes: 100}, always(rawserver.Action{Bytes: rawserver.JSON(200, `{"id":"`+id1.String()+`","x":"`+strings.Repeat("x", 5000)+`"}`), End: rawserver.FIN}))
	_, err := c.Next(t.Context())
	require.ErrorIs(t, err, payments.ErrAmbiguous)
	require.Contains(t, err.Error(), "longer than 100 bytes")
	e := asError(t, err)
	require.Len(t, e.Raw, 100)
	require.Len(t, s.Requests(), 1)
}
