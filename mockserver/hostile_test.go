package mockserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/depositpay/depositpay-go/mockserver"
)

func TestMalformedBodies(t *testing.T) {
	t.Parallel()
	bodies := map[string]string{
		"empty":                "",
		"spaces":               " \n",
		"cut":                  `{"token":"test_demo"`,
		"quote in title":       `{"token":"test_demo","title":"a "big" sword","identifier":"i"}`,
		"array":                `[{"token":"test_demo"}]`,
		"text":                 `"token"`,
		"null":                 `null`,
		"trailing data":        `{"token":"test_demo","title":"T","identifier":"i"} {}`,
		"trailing comma":       `{"token":"test_demo",}`,
		"bom":                  "\ufeff" + `{"token":"test_demo","title":"T","identifier":"i"}`,
		"raw NUL":              "{\"token\":\"test_demo\x00\",\"title\":\"T\",\"identifier\":\"i\"}",
		"not UTF-8":            "{\"token\":\"test_demo\",\"title\":\"\xff\",\"identifier\":\"i\"}",
		"repeated key":         `{"token":"test_demo","title":"T","identifier":"i","identifier":"j"}`,
		"repeated escaped key": `{"token":"test_demo","title":"T","identifier":"i","\u0069dentifier":"j"}`,
		"repeated item key":    `{"token":"test_demo","title":"T","identifier":"i","items":[{"name":"n","name":"m","price":1}]}`,
		"surrogate in key":     `{"\ud800":1}`,
		"NaN":                  `{"token":"test_demo","title":"T","identifier":"i","amount":NaN}`,
		"leading zero":         `{"token":"test_demo","title":"T","identifier":"i","amount":01}`,
		"deep":                 strings.Repeat(`{"a":`, 12_000),
		"deep array":           strings.Repeat("[", 60_000),
		"many keys":            `{"a0":1` + manyKeys(200) + `}`,
	}
	s := stopped(t)
	for name, body := range bodies {
		for _, path := range []string{"/payments", "/payments/confirm", "/callback/webhook/resend", "/mobile/deposit"} {
			if name == "repeated item key" && path != "/payments" {
				continue
			}
			t.Run(name+path, func(t *testing.T) {
				wantError(t, mockserver.CodeInvalidJSON, api(t, s, "POST", path, body))
			})
		}
	}
	assert.Empty(t, s.Payments())
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`,"k` + strings.Repeat("x", i) + `":1`)
	}
	return b.String()
}

func TestWrongValuesAtCreation(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	// Each replaces or follows the fields of a request that would be accepted.
	cases := []struct{ field, value string }{
		{"token", `5`},
		{"title", `""`},
		{"title", `null`},
		{"title", `["T"]`},
		{"identifier", `7`},
		{"identifier", `"\ud800"`},
		{"icon", `"http://x.example/i.png"`},
		{"icon", `""`},
		{"icon", `true`},
		{"amount", `"10000"`},
		{"amount", `true`},
		{"amount", `0`},
		{"amount", `-1`},
		{"amount", `0.5`},
		{"amount", `10000.01`},
		{"amount", `1e-1`},
		{"amount", `1e1000000000`},
		{"amount", `1e99999999999999999999999`},
		{"amount", `1e-99999999999999999999999`},
		{"amount", `1e9223372036854775807`},
		{"amount", `1e-9223372036854775808`},
		{"amount", `9223372036854775808`},
		{"amount", `1e19`},
		{"amount", `{}`},
		{"items", `{}`},
		{"items", `"x"`},
		{"items[0]", `[7]`},
		{"items[0].name", `[{"price":1}]`},
		{"items[0].price", `[{"name":"n"}]`},
		{"items[0].price", `[{"name":"n","price":-1}]`},
		{"items[0].price", `[{"name":"n","price":"1"}]`},
		{"items[0].count", `[{"name":"n","price":1,"count":0}]`},
		{"items[0].count", `[{"name":"n","price":1,"count":1.5}]`},
		{"items[1].icon", `[{"name":"n","price":1},{"name":"n","price":1,"icon":"ftp://x"}]`},
	}
	for _, c := range cases {
		fields := map[string]string{"token": `"test_demo"`, "title": `"T"`, "identifier": `"i"`}
		top, _, _ := strings.Cut(c.field, "[")
		fields[top] = c.value
		var parts []string
		for name, value := range fields {
			parts = append(parts, `"`+name+`":`+value)
		}
		wantError(t, mockserver.CodeInvalidParameter, api(t, s, "POST", "/payments", "{"+strings.Join(parts, ",")+"}"),
			`"`+c.field+`"`)
	}
	assert.Empty(t, s.Payments())
}

func TestWholeAmountsInEverySpelling(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	for spelling, want := range map[string]int64{
		"10000": 10000, "10000.0": 10000, "1e4": 10000, "1E+4": 10000, "100000e-1": 10000, "0.1e5": 10000,
		"1.00e+0004": 10000, "9223372036854775807": 9223372036854775807, "9.223372036854775807e18": 9223372036854775807,
		"9007199254740993": 9007199254740993, "0." + strings.Repeat("0", 5000) + "1e5001": 1,
	} {
		p, err := s.Deposit(create(t, s, `"amount":`+spelling), mockserver.Deposit{})
		if assert.NoError(t, err) {
			assert.Equal(t, want, p.PaidAmount, spelling)
		}
	}
}

func TestUnknownFieldsAndExactNames(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	create(t, s, `"extra":{"deep":[1,2,{"x":"}\"]"}]},"Amount":"not read"`)
	assert.Zero(t, s.Payments()[0].Amount)
	wantError(t, mockserver.CodeInvalidParameter,
		api(t, s, "POST", "/payments", `{"token":"test_demo","Title":"T","identifier":"i"}`), "title")
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t)
	head, tail := `{"token":"test_demo","identifier":"i","title":"`, `"}`
	fits := head + strings.Repeat("x", 64<<10-len(head)-len(tail)) + tail
	_, answer := overSocket(t, s, "/payments", strings.NewReader(fits))
	assert.Contains(t, answer, "payToken")
	for _, more := range []int{1, 500_000} {
		_, answer = overSocket(t, s, "/payments", strings.NewReader(fits+strings.Repeat(" ", more)))
		wantError(t, mockserver.CodeBodyTooLarge, answer, "64 KiB")
	}
	_, answer = overSocket(t, s, "/payments", struct{ *strings.Reader }{strings.NewReader(fits + " ")})
	wantError(t, mockserver.CodeBodyTooLarge, answer)
	_, answer = overSocket(t, s, "/payments", struct{ *strings.Reader }{strings.NewReader(fits)})
	assert.Contains(t, answer, "payToken", "a chunked body of unknown length is read")
	status, answer := overSocket(t, s, "/_mock/clock/advance", strings.NewReader(fits+" "))
	assert.Equal(t, http.StatusRequestEntityTooLarge, status)
	wantError(t, mockserver.CodeBodyTooLarge, answer)
}

func TestStorageCaps(t *testing.T) {
	t.Parallel()
	s := stopped(t, withHook(answers(http.StatusInternalServerError)), func(c *mockserver.Config) {
		c.MaxPayments, c.MaxDeliveries = 3, 1
	})
	a, b, c := create(t, s, ""), create(t, s, ""), create(t, s, "")
	wantError(t, mockserver.CodeStorageFull,
		api(t, s, "POST", "/payments", `{"token":"test_demo","title":"T","identifier":"i"}`), "MaxPayments")
	deposit(t, s, a, 1)
	_, err := s.Deposit(b, mockserver.Deposit{Amount: 1})
	wantCode(t, mockserver.CodeStorageFull, err)
	assert.Equal(t, mockserver.StatusCreated, s.Payments()[1].Status, "a refused deposit changes nothing")
	s.Advance(100 * 3600e9)
	deposit(t, s, c, 1)
	assert.Equal(t, c, onlyDelivery(t, s).PaymentID, "the settled delivery made room")
	wantError(t, mockserver.CodeWebhookNotFound, webhookStatus(t, s, a))
}
