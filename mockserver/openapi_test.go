package mockserver_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/openapitest"
	"github.com/depositpay/depositpay-go/mockserver"
)

const openapiWebhook = "paymentInProgress"

var (
	openapiDocument = sync.OnceValues(parseOpenAPI)
	openapiControl  = sync.OnceValues(func() (*openapitest.Document, error) { return parseFile("openapi_control.yaml") })
)

func parseOpenAPI() (*openapitest.Document, error) { return parseFile("openapi.yaml") }

func parseFile(name string) (*openapitest.Document, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return openapitest.Parse(raw)
}

// described compares what passes to the OpenAPI document that describes it: the control
// API, or the endpoints of the service in the default dialect and without faults.
func described(t *testing.T, s *mockserver.Server, path string) http.RoundTripper {
	t.Helper()
	parse := openapiDocument
	if strings.HasPrefix(path, "/_mock/") && !strings.HasPrefix(path, "/_mock/ui/") {
		parse = openapiControl
	} else if !plainService(s, path) {
		return s.Transport()
	}
	doc, err := parse()
	require.NoError(t, err)
	return doc.Transport(t, s.Transport())
}

// plainService reports whether a path is one of the service, in the default dialect and
// without faults.
func plainService(s *mockserver.Server, path string) bool {
	for _, page := range []string{"/_mock", "/_page", "/pay", "/store", "/openapi", "/openapi.yaml"} {
		if path == page || strings.HasPrefix(path, page+"/") {
			return false
		}
	}
	f := s.Faults()
	return len(f.Rules) == 0 && f.Rate == 0 && !slices.ContainsFunc(s.Applications(), func(a mockserver.Application) bool {
		return a.Dialect != (mockserver.Dialect{})
	})
}

// describedHook is described for the webhooks that next sends.
func describedHook(t *testing.T, next http.RoundTripper) http.RoundTripper {
	t.Helper()
	if next == nil {
		return nil
	}
	doc, err := openapiDocument()
	require.NoError(t, err)
	return doc.Webhook(t, openapiWebhook, next)
}

// apiAsker sends requests to servers through one document.
type apiAsker struct {
	t   *testing.T
	doc *openapitest.Document
}

func newAsker(t *testing.T) apiAsker {
	t.Helper()
	doc, err := parseOpenAPI()
	require.NoError(t, err)
	return apiAsker{t, doc}
}

func (a apiAsker) ask(s *mockserver.Server, method, target string, body io.Reader, header ...string) string {
	a.t.Helper()
	rec := httptest.NewRecorder()
	req := httptest.NewRequest(method, target, body)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	a.doc.Handler(a.t, s.Handler()).ServeHTTP(rec, req)
	return rec.Body.String()
}

// want sends a request and checks that the answer is the error.
func (a apiAsker) want(code mockserver.Code, s *mockserver.Server, method, target, body string) {
	a.t.Helper()
	wantError(a.t, code, a.ask(s, method, target, strings.NewReader(body)))
}

// TestOpenAPIOutcomes: every endpoint has every outcome that the document names, and
// every exchange is as the document says.
func TestOpenAPIOutcomes(t *testing.T) {
	t.Parallel()
	a := newAsker(t)
	s := stopped(t, withHook(answers(500)), func(c *mockserver.Config) { c.MaxDeliveries, c.MaxPayments = 1, 4 })
	a.refusals(s)
	a.payments(s)
	a.notifications(s)

	closed := stopped(t, withHook(answers(200)))
	waiting(t, closed, "이영희", 10000, 0)
	paid := create(t, closed, "")
	deposit(t, closed, paid, 1)
	require.NoError(t, closed.Close())
	a.want(mockserver.CodeServerClosed, closed, "POST", "/callback/webhook/resend", named("test_demo", paid))
	a.want(mockserver.CodeServerClosed, closed, "POST", "/mobile/deposit", kbDeposit("10,000", "이영희"))
	assert.Empty(t, a.doc.Uncovered(), "outcomes that the document names and nothing has shown")
}

// refusals are the errors that need no payment.
func (a apiAsker) refusals(s *mockserver.Server) {
	a.t.Helper()
	large := strings.Repeat(" ", 70_000)
	unknown := "token=test_nobody&payToken=x"
	for _, target := range []string{"GET /callback/rest", "GET /callback/webhook/status", "GET /mobile/banks", "POST /payments",
		"POST /payments/confirm", "POST /callback/webhook/resend", "POST /mobile/deposit"} {
		method, path, _ := strings.Cut(target, " ")
		a.want(mockserver.CodeBodyTooLarge, s, method, path+"?token=test_demo&payToken=x", large)
		broken := io.MultiReader(strings.NewReader(`{"token":`), iotest.ErrReader(errors.New("cut")))
		wantError(a.t, mockserver.CodeInvalidJSON, a.ask(s, method, path, broken))
		wantError(a.t, mockserver.CodeForbidden, a.ask(s, method, path+"?token=test_demo&payToken=x",
			strings.NewReader(`{"token":"test_demo","payToken":"x","title":"T","identifier":"i","package":"`+kb+`"}`), "Sec-Fetch-Site", "cross-site"))
		switch {
		case path == "/mobile/banks":
			a.want(mockserver.CodeInvalidParameter, s, method, path+"?details=1", "")
			continue
		case method == http.MethodGet:
			a.want(mockserver.CodeInvalidParameter, s, method, path, "")
			a.want(mockserver.CodeInvalidParameter, s, method, path+"?payToken=x&token=a&token=b", "")
			a.want(mockserver.CodeInvalidToken, s, method, path+"?"+unknown, "")
			continue
		}
		a.want(mockserver.CodeInvalidParameter, s, method, path, `{}`)
		a.want(mockserver.CodeInvalidToken, s, method, path,
			`{"token":"test_nobody","payToken":"x","title":"T","identifier":"i","package":"`+kb+`"}`)
		a.want(mockserver.CodeMethodNotAllowed, s, "PUT", path, `{}`)
	}
	a.want(mockserver.CodeNotFound, s, "POST", "/api/payments", `{}`)
	for _, details := range []string{"", "?details=", "?details=true", "?details=FALSE"} {
		assert.Contains(a.t, a.ask(s, "GET", "/mobile/banks"+details, nil), kb)
	}
}

// payments are the outcomes of payments. The server keeps one delivery and four payments.
func (a apiAsker) payments(s *mockserver.Server) {
	t, token := a.t, s.Token()
	t.Helper()
	product, err := s.SaveProduct(mockserver.Product{Name: "Crown", Price: 500})
	require.NoError(t, err)
	user, err := s.SaveStoreUser(mockserver.StoreUser{Name: "Kim"})
	require.NoError(t, err)
	bought, err := s.Buy(product.ID, user.ID)
	require.NoError(t, err)
	status := "/callback/webhook/status?token=" + token + "&payToken="
	id := payTokenOf(t, a.ask(s, "POST", "/payments", strings.NewReader(`{"token":"`+token+`","title":"T","identifier":"i",
		"icon":"https://x.example/i.png","amount":1e4,"items":[{"name":"n","price":4.0,"icon":null},{"name":"m","price":0,"count":2}],"extra":1e9999}`)))

	a.want(mockserver.CodeNoProcessedPayment, s, "GET", "/callback/rest?token="+token, "")
	for _, path := range []string{"/payments/confirm", "/callback/webhook/resend"} {
		a.want(mockserver.CodePaymentNotPaid, s, "POST", path, named(token, id))
		a.want(mockserver.CodePaymentNotFound, s, "POST", path, named(token, "nobody"))
	}
	a.want(mockserver.CodeWebhookNotFound, s, "GET", status+id, "")
	a.want(mockserver.CodePaymentNotFound, s, "GET", status+"nobody", "")

	deposit(t, s, id, 0)
	s.Advance(time.Minute)
	assert.Contains(t, a.ask(s, "GET", status+id, nil), `"pending"`)
	require.NoError(t, s.SetWebhook(token, ""))
	deposit(t, s, bought.ID, 0)
	a.want(mockserver.CodeWebhookNotFound, s, "POST", "/callback/webhook/resend", named(token, bought.ID))
	require.NoError(t, s.SetWebhook(token, hookURL))
	a.want(mockserver.CodeStorageFull, s, "POST", "/callback/webhook/resend", named(token, bought.ID))

	assert.Contains(t, a.ask(s, "GET", "/callback/rest?token="+token, nil), `"items"`)
	assert.Contains(t, a.ask(s, "POST", "/payments/confirm", strings.NewReader(named(token, bought.ID))), `"game_product"`)
	assert.Contains(t, a.ask(s, "POST", "/callback/webhook/resend", strings.NewReader(named(token, id))), `"delivered"`)
}

// notifications are the outcomes of uploads. One payment is free when it begins.
func (a apiAsker) notifications(s *mockserver.Server) {
	t := a.t
	t.Helper()
	upload := func(body string) string { return a.ask(s, "POST", "/mobile/deposit", strings.NewReader(body)) }
	assert.Contains(t, upload(`{"package":"com.example.game","title":"t"}`), "IGNORED")
	assert.Contains(t, upload(`{"package":"`+kb+`","title":"안내","subtitle":null}`), "RECEIVED")
	assert.Contains(t, upload(kbDeposit("70", "김철수")), "NO_MATCH")
	assert.Contains(t, upload(kbDeposit("70", "김철수")), `"repeated":true`)
	one := waiting(t, s, "이영희", 10000, 0)
	assert.Contains(t, upload(kbDeposit("10,000", "이영희")), one)
	waiting(t, s, "박민수", 300, 0)
	a.want(mockserver.CodeStorageFull, s, "POST", "/mobile/deposit", kbDeposit("300", "박민수"))
	a.want(mockserver.CodeStorageFull, s, "POST", "/payments", `{"token":"test_demo","title":"T","identifier":"i"}`)
}
