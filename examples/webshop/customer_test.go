package main

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// visitor is somebody with a browser that runs no scripts and follows no redirects.
type visitor struct {
	t      *testing.T
	url    string
	client *http.Client
}

func (w *world) visitor() *visitor {
	jar, err := cookiejar.New(nil)
	require.NoError(w.t, err)
	return &visitor{w.t, w.url, &http.Client{
		Jar: jar, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// get returns a page as text, with the HTML entities resolved.
func (v *visitor) get(path string) string {
	v.t.Helper()
	resp, err := v.client.Get(v.url + path)
	require.NoError(v.t, err)
	body := read(v.t, resp)
	require.Equal(v.t, http.StatusOK, resp.StatusCode, "%s: %s", path, body)
	return body
}

// post sends a form and returns the answer with its body.
func (v *visitor) post(path string, form url.Values) (*http.Response, string) {
	v.t.Helper()
	resp, err := v.client.PostForm(v.url+path, form)
	require.NoError(v.t, err)
	return resp, read(v.t, resp)
}

// done wants a form to be taken.
func (v *visitor) done(path string, pairs ...string) string {
	v.t.Helper()
	resp, body := v.post(path, fields(pairs...))
	require.Equal(v.t, http.StatusSeeOther, resp.StatusCode, "%s: %s", path, body)
	return resp.Header.Get("Location")
}

func fields(pairs ...string) url.Values {
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return form
}

const testContact = "010-1234-5678"

// order orders something and returns the order's id and its payment.
func (v *visitor) order(product string, count int) (id, payToken string) {
	v.t.Helper()
	id = uuid.NewString()
	if v.done("/orders", "order", id, "count-"+product, fmt.Sprint(count), "contact", testContact) == "/cart" {
		return id, "" // there are none left
	}
	return id, v.payment(id)
}

// again gets a new payment link of an order and returns its payment.
func (v *visitor) again(id string) (payToken string) {
	v.t.Helper()
	require.Equal(v.t, "/orders/"+id, v.done("/orders/"+id+"/pay"))
	return v.payment(id)
}

var payButton = regexp.MustCompile(`id="pay" href="[^"]*/([0-9a-f-]{36})" target="_blank"`)

// payment is the payment that the button of an order's page leads to; empty if there is none.
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
	var body string
	for _, text := range texts {
		require.Eventually(v.t, func() bool { body = v.get(path); return strings.Contains(body, text) }, patience, tick, "%s has no %q", path, text)
	}
}

// keeper signs in to the back office.
func (w *world) keeper() *visitor {
	w.t.Helper()
	v := w.visitor()
	require.Equal(w.t, "/office", v.done("/office/login", "name", "Mina", "password", testPassword))
	return v
}

func read(t *testing.T, resp *http.Response) string {
	t.Helper()
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return html.UnescapeString(string(body))
}

// left is how many of a product the shop has.
func (w *world) left(product string) int64 {
	w.t.Helper()
	counts, err := w.shop.stock(w.t.Context())
	require.NoError(w.t, err)
	return counts[product]
}
