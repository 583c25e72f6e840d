package main

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// visitor is a browser that runs no scripts and follows no redirects.
type visitor struct {
	t      *testing.T
	url    string
	client *http.Client
	name   string // with it, the visitor signs in to the back office

	password string
	headers  map[string]string
}

func newVisitor(t *testing.T, url, name string) *visitor {
	client := &http.Client{
		Timeout: patience, Transport: &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(client.CloseIdleConnections)
	return &visitor{t: t, url: url, client: client, name: name, password: testPassword}
}

// customer is a visitor who does not sign in.
func (w *world) customer() *visitor { return newVisitor(w.t, w.url, "") }

// keeper is a visitor who signs in to the back office.
func (w *world) keeper() *visitor { return newVisitor(w.t, w.url, "Mina") }

// do sends a request; with a form, a POST. It returns the body with HTML entities resolved.
func (v *visitor) do(path string, form url.Values) (*http.Response, string, error) {
	method := http.MethodGet
	if form != nil {
		method = http.MethodPost
	}
	request, err := http.NewRequest(method, v.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, "", err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for name, value := range v.headers {
		request.Header.Set(name, value)
	}
	if v.name != "" {
		request.SetBasicAuth(v.name, v.password)
	}
	resp, err := v.client.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return resp, html.UnescapeString(string(body)), err
}

// asks requires a status and returns the page, which has no secret.
func (v *visitor) asks(status int, path string, form url.Values) string {
	v.t.Helper()
	resp, body, err := v.do(path, form)
	require.NoError(v.t, err)
	require.Equal(v.t, status, resp.StatusCode, "%s %v: %s", path, form, body)
	for _, secret := range []string{testToken, testPassword, testSecret} {
		require.NotContains(v.t, body, secret, path)
	}
	return body
}

// get returns a page that exists.
func (v *visitor) get(path string) string {
	v.t.Helper()
	return v.asks(http.StatusOK, path, nil)
}

// sends requires that a form is accepted.
func (v *visitor) sends(path string, pairs ...string) {
	v.t.Helper()
	v.asks(http.StatusSeeOther, path, fields(pairs...))
}

// decides requires that a decision of the back office is accepted.
func (v *visitor) decides(do, key, reason string) {
	v.t.Helper()
	v.sends("/office", "do", do, "key", key, "reason", reason)
}

func fields(pairs ...string) url.Values {
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return form
}

// order places an order and returns its id and its payment.
func (v *visitor) order(product string, count int) (id, payToken string) {
	v.t.Helper()
	id = uuid.NewString()
	v.sends("/orders", "order", id, "count-"+product, fmt.Sprint(count))
	return id, v.payment(id)
}

// again gets a new payment link and returns its payment.
func (v *visitor) again(id string) (payToken string) {
	v.t.Helper()
	link := nextLink.FindStringSubmatch(v.get("/orders/" + id))
	require.NotNil(v.t, link)
	v.sends("/orders/"+id+"/pay", "link", link[1])
	return v.payment(id)
}

var (
	payButton = regexp.MustCompile(`id="pay" href="[^"]*/([0-9a-f-]{36})" target="_blank"`)
	nextLink  = regexp.MustCompile(`name="link" value="(\d+)"`)
)

// payment returns the payment that the order page links to, or "" if it links to none.
func (v *visitor) payment(id string) string {
	v.t.Helper()
	if m := payButton.FindStringSubmatch(v.get("/orders/" + id)); m != nil {
		return m[1]
	}
	return ""
}

// shows waits until a page has all texts.
func (v *visitor) shows(path string, texts ...string) {
	v.t.Helper()
	for _, text := range texts {
		has := func() bool { return strings.Contains(v.get(path), text) }
		require.Eventually(v.t, has, patience, tick, "%s has no %q", path, text)
	}
}
