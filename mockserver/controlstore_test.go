package mockserver_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

func TestControlApplications(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	assert.JSONEq(t, `{"applications":[{"name":"Application 1","webhook_url":"","game_field":"game_product","dialect":"default"}]}`,
		control(t, s, 200, "GET", "/applications", ""))
	assert.JSONEq(t, `{"name":"Game","webhook_url":"http://127.0.0.1:1/h","game_field":"brand_product","dialect":"errors=code"}`,
		control(t, s, 200, "PUT", "/applications",
			`{"token":"test_b","name":"Game","webhook_url":"http://127.0.0.1:1/h","game_field":"brand_product","dialect":"errors=code"}`))
	assert.Equal(t, "test_b", s.Applications()[1].Token)
	for mentions, body := range map[string]string{
		"token":       `{"name":"x"}`,
		"name":        `{"token":"test_c","name":7}`,
		"dialect":     `{"token":"test_c","dialect":"klingon"}`,
		"webhook_url": `{"token":"test_c","webhook_url":"http://shop.example/"}`,
	} {
		wantError(t, mockserver.CodeInvalidParameter, control(t, s, 400, "PUT", "/applications", body), mentions)
	}
	wantError(t, mockserver.CodeInvalidJSON, control(t, s, 400, "PUT", "/applications", "{"))
	wantError(t, mockserver.CodeMethodNotAllowed, control(t, s, 405, "DELETE", "/applications", ""), "GET and PUT")
	assert.Len(t, s.Applications(), 2)
}

func TestControlStore(t *testing.T) {
	t.Parallel()
	s := stopped(t, anHour)
	assert.JSONEq(t, `{"products":[]}`, control(t, s, 200, "GET", "/products", ""))
	assert.JSONEq(t, `{"users":[]}`, control(t, s, 200, "GET", "/users", ""))
	var product struct{ ID string }
	answer := control(t, s, 200, "PUT", "/products", `{"name":"Sword","price":300,"icon":"https://i.example/s.png"}`)
	require.NoError(t, json.Unmarshal([]byte(answer), &product))
	want := `{"id":"` + product.ID + `","application":"Application 1","name":"Sword","icon":"https://i.example/s.png","price":300}`
	assert.JSONEq(t, want, answer)
	assert.JSONEq(t, `{"products":[`+want+`]}`, control(t, s, 200, "GET", "/products", ""))
	assert.JSONEq(t, `{"id":"player-7","name":"Bo"}`, control(t, s, 200, "PUT", "/users", `{"id":"player-7","name":"Bo"}`))
	assert.JSONEq(t, `{"users":[{"id":"player-7","name":"Bo"}]}`, control(t, s, 200, "GET", "/users", ""))

	var bought struct{ ID string }
	answer = control(t, s, 200, "POST", "/buy", `{"product":"`+product.ID+`","user":"player-7"}`)
	require.NoError(t, json.Unmarshal([]byte(answer), &bought))
	want = `{"id":"` + bought.ID + `","application":"Application 1","identifier":"player-7","title":"Sword",
		"icon":"https://i.example/s.png","game_product":"` + product.ID + `","status":"CREATED","amount":300,"paid_amount":0,
		"completions":0,"created_ts":"2025-03-01T12:00:00Z","expires_ts":"2025-03-01T13:00:00Z"}`
	assert.JSONEq(t, want, answer)
	assert.JSONEq(t, want, control(t, s, 200, "GET", "/payments/"+bought.ID, ""))

	assert.Equal(t, "{}", control(t, s, 200, "DELETE", "/products/"+product.ID, ""))
	wantError(t, mockserver.CodeProductNotFound, control(t, s, 404, "DELETE", "/products/"+product.ID, ""))
	wantError(t, mockserver.CodeProductNotFound, control(t, s, 404, "POST", "/buy", `{"product":"`+product.ID+`","user":"player-7"}`))
	answer = control(t, s, 200, "PUT", "/products", `{"name":"Bow","price":5}`)
	require.NoError(t, json.Unmarshal([]byte(answer), &product))
	wantError(t, mockserver.CodeUserNotFound, control(t, s, 404, "POST", "/buy", `{"product":"`+product.ID+`","user":"x"}`))
	for path, body := range map[string]string{
		"/products": `{"name":"Bow"}`, "/users": `{"id":"x"}`,
	} {
		wantError(t, mockserver.CodeInvalidParameter, control(t, s, 400, "PUT", path, body))
	}
	wantError(t, mockserver.CodeInvalidParameter, control(t, s, 400, "POST", "/buy", `{"user":"player-7"}`), "product")
	wantError(t, mockserver.CodeInvalidParameter, control(t, s, 400, "POST", "/buy", `{"product":"x"}`), "user")
	wantError(t, mockserver.CodeInvalidParameter, control(t, s, 400, "PUT", "/products", `{"name":"Bow","price":1.5}`), "price")
	wantError(t, mockserver.CodeInvalidJSON, control(t, s, 400, "POST", "/buy", ""))
}

func TestControlPayment(t *testing.T) {
	t.Parallel()
	s := stopped(t, withHook(answers(500)))
	id := create(t, s, `"items":[{"name":"n","price":1,"count":3,"icon":"https://i.example/n"}]`)
	path := "/payments/" + id
	answer := control(t, s, 200, "PUT", path+"/payer", `{"payer":"Kim","amount":70}`)
	assert.JSONEq(t, `{"id":"`+id+`","application":"Application 1","identifier":"order-1","title":"T","status":"WAITING",
		"items":[{"name":"n","price":1,"count":3,"icon":"https://i.example/n"}],"payer":"Kim","payer_amount":70,"paid_amount":0,
		"completions":0,"created_ts":"2025-03-01T12:00:00Z"}`, answer)
	wantError(t, mockserver.CodeInvalidParameter, control(t, s, 400, "PUT", path+"/payer", `{"payer":"Kim"}`), "amount")
	wantError(t, mockserver.CodeInvalidParameter, control(t, s, 400, "PUT", path+"/payer", `{"payer":"Kim","amount":0}`), "amount")
	wantError(t, mockserver.CodeInvalidParameter, control(t, s, 400, "PUT", path+"/payer", `{"amount":1}`), "payer")
	wantError(t, mockserver.CodeInvalidJSON, control(t, s, 400, "PUT", path+"/payer", ``))

	wantError(t, mockserver.CodeNoAttemptWaiting, control(t, s, 409, "POST", path+"/deliver", ""))
	wantError(t, mockserver.CodePaymentNotPaid, control(t, s, 409, "POST", path+"/resend", ""))
	control(t, s, 200, "POST", path+"/deposit", "")
	s.Advance(0)
	assert.Equal(t, "{}", control(t, s, 200, "POST", path+"/deliver", ""))
	s.Advance(0)
	assert.Equal(t, "{}", control(t, s, 200, "POST", path+"/resend", ""))
	s.Advance(0)
	poll(t, s)
	assert.Contains(t, control(t, s, 200, "GET", path, ""), `"paid_amount":70,"completions":1,`)
	assert.Equal(t, `{"events":[`+strings.Join([]string{
		`{"ts":"2025-03-01T12:00:00Z","kind":"created","text":"created with POST /payments"}`,
		`{"ts":"2025-03-01T12:00:00Z","kind":"payer","text":"Kim will pay 70"}`,
		`{"ts":"2025-03-01T12:00:00Z","kind":"deposit","text":"Kim paid 70 by DEPOSIT"}`,
		`{"ts":"2025-03-01T12:00:00Z","kind":"webhook","text":"attempt 1 of 10: answered HTTP 500, only 200 counts"}`,
		`{"ts":"2025-03-01T12:00:00Z","kind":"webhook","text":"attempt 2 of 10: answered HTTP 500, only 200 counts"}`,
		`{"ts":"2025-03-01T12:00:00Z","kind":"resend","text":"a resend was asked for"}`,
		`{"ts":"2025-03-01T12:00:00Z","kind":"webhook","text":"attempt 1 of 10: answered HTTP 500, only 200 counts"}`,
		`{"ts":"2025-03-01T12:00:00Z","kind":"polled","text":"completed by GET /callback/rest"}`,
	}, ",")+`]}`, control(t, s, 200, "GET", path+"/timeline", ""))
	wantError(t, mockserver.CodePaymentAlreadyPaid, control(t, s, 409, "PUT", path+"/payer", `{"payer":"Kim"}`))
	for _, route := range []string{"GET /payments/x", "GET /payments/x/timeline", "POST /payments/x/deliver", "POST /payments/x/resend"} {
		method, target, _ := strings.Cut(route, " ")
		wantError(t, mockserver.CodePaymentNotFound, control(t, s, 404, method, target, ""))
	}
	wantError(t, mockserver.CodePaymentNotFound, control(t, s, 404, "PUT", "/payments/x/payer", `{"payer":"Kim"}`))
	wantError(t, mockserver.CodeNotFound, control(t, s, 404, "GET", "/payments//timeline", ""))
	wantError(t, mockserver.CodeMethodNotAllowed, control(t, s, 405, "POST", path, ""), "GET")
}
