package main

import (
	"context"
	"database/sql"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/webhook"
)

// TestLocked: without a password that was thought of, nothing starts; without signing in,
// the back office shows nothing and does nothing.
func TestLocked(t *testing.T) {
	t.Parallel()
	for _, password := range []string{"", "short"} {
		_, err := openShop(t.Context(), settings{OfficePassword: password})
		require.ErrorIs(t, err, errPassword)
	}
	w := start(t)
	v, forged := w.visitor(), w.visitor()
	cookie := &http.Cookie{Name: sessionCookie, Value: w.shop.guard.session("Mina") + "A", Path: "/"}
	request, err := http.NewRequest(http.MethodGet, w.url, nil)
	require.NoError(t, err)
	forged.client.Jar.SetCookies(request.URL, []*http.Cookie{cookie})
	for _, who := range []*visitor{v, forged} {
		for _, path := range []string{"/office", "/office/review", "/office/failed", "/office/owed", "/office/books"} {
			resp, err := who.client.Get(w.url + path)
			require.NoError(t, err)
			read(t, resp)
			require.Equal(t, "/office/login", resp.Header.Get("Location"), path)
		}
		for _, path := range []string{"/office/review", "/office/failed", "/office/owed", "/office/books", "/office/losses"} {
			require.Equal(t, "/office/login", who.done(path, "key", "x", "do", "approve", "reason", "x"))
		}
	}
}

// TestSession: the cookie is kept from scripts and other sites, ends after its time, and
// tries of the password are few.
func TestSession(t *testing.T) {
	t.Parallel()
	w := start(t, func(cfg *settings) { cfg.HTTPS = true })
	v := w.visitor()
	resp, _ := v.post("/office/login", fields("name", "Mina", "password", testPassword))
	require.Equal(t, http.StatusSeeOther, resp.StatusCode)
	cookie := resp.Cookies()[0]
	require.True(t, cookie.HttpOnly && cookie.Secure && cookie.SameSite == http.SameSiteStrictMode)
	request, err := http.NewRequest(http.MethodGet, w.url, nil)
	require.NoError(t, err)
	request.AddCookie(cookie)
	require.Equal(t, "Mina", w.shop.guard.actor(request))
	w.now.add(sessionAge + time.Second)
	require.Empty(t, w.shop.guard.actor(request))

	w.now.stop()
	var statuses []int
	for range 7 {
		resp, _ := v.post("/office/login", fields("name", "Mina", "password", "not it"))
		statuses = append(statuses, resp.StatusCode)
	}
	require.Equal(t, []int{403, 403, 403, 403, 403, 429, 429}, statuses)
}

// TestOtherSites: what a browser sends for another site is refused.
func TestOtherSites(t *testing.T) {
	t.Parallel()
	w := start(t)
	request, err := http.NewRequest(http.MethodPost, w.url+"/cart/add", strings.NewReader("product=cup"))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Sec-Fetch-Site", "cross-site")
	resp, err := w.visitor().client.Do(request)
	require.NoError(t, err)
	read(t, resp)
	require.Equal(t, http.StatusForbidden, resp.StatusCode)
	require.Empty(t, resp.Cookies())
}

// TestForms: what no page of the shop sends is refused with a page that says so.
func TestForms(t *testing.T) {
	t.Parallel()
	w := start(t)
	v := w.visitor()
	for path, form := range map[string][]string{
		"/cart/add": {"product", "castle"}, "/cart": {"count-cup", "-1"}, "/orders": {"order", "1", "count-cup", "1"},
	} {
		resp, body := v.post(path, fields(form...))
		require.Equal(t, http.StatusBadRequest, resp.StatusCode, path)
		require.Contains(t, body, "Something in the form is missing or wrong")
	}
	for _, path := range []string{"/orders/1", "/orders/" + uuid.NewString(), "/orders/" + uuid.NewString() + "/live", "/nothing"} {
		resp, err := v.client.Get(w.url + path)
		require.NoError(t, err)
		read(t, resp)
		require.Equal(t, http.StatusNotFound, resp.StatusCode, path)
	}
	resp, _ := v.post("/cart/add", fields("product", strings.Repeat("x", 20<<10)))
	require.Equal(t, http.StatusBadRequest, resp.StatusCode, "too long")
	require.Equal(t, "/cart", v.done("/cart", "count-cup", "1000000"))
	require.Contains(t, v.get("/cart"), `value="99"`)
	require.NotContains(t, v.get("/"), w.mock.Token())
}

// TestOwnLinks: an odd address does not make the page point to another host.
func TestOwnLinks(t *testing.T) {
	t.Parallel()
	w := start(t)
	for _, path := range []string{"/%2Fother.example", "/%5Cother.example", "/office/%2Fother.example"} {
		resp, err := w.visitor().client.Get(w.url + path)
		require.NoError(t, err)
		body := read(t, resp)
		require.Equal(t, http.StatusNotFound, resp.StatusCode)
		require.Contains(t, body, `href="`+path+`?lang=ko"`)
	}
}

// TestListeners: the pages of one order cannot take the places of the others.
func TestListeners(t *testing.T) {
	t.Parallel()
	w := start(t)
	v := w.visitor()
	id, _ := v.order("tea", 1)
	other, _ := v.order("cup", 1)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	live := func(order string) int {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/orders/"+order+"/live", nil)
		require.NoError(t, err)
		resp, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp.StatusCode
	}
	for range maxPerOrder {
		require.Equal(t, http.StatusOK, live(id))
	}
	require.Equal(t, http.StatusServiceUnavailable, live(id))
	require.Equal(t, http.StatusOK, live(other))
	leave()
	require.Eventually(t, func() bool { return w.shop.live.count() == 0 }, patience, tick)
}

// TestNoService: an order is placed although the service does not answer, and is paid once
// it does.
func TestNoService(t *testing.T) {
	t.Parallel()
	w := start(t)
	v := w.visitor()
	require.NoError(t, w.mock.AddFault(mockserver.Fault{Operation: "create", Kind: "status-before", Status: 500}))
	id := uuid.NewString()
	require.Equal(t, "/orders/"+id, v.done("/orders", "order", id, "count-tea", "1", "contact", testContact))
	require.Contains(t, v.get("/orders/"+id), "The payment could not be prepared")
	for range maxLinks { // what was not created does not count
		resp, _ := v.post("/orders/"+id+"/pay", nil)
		require.Equal(t, http.StatusInternalServerError, resp.StatusCode)
	}
	w.mock.ClearFaults()
	w.pay(v.again(id), 0)
	v.shows("/orders/"+id, "Paid. Thank you!")
}

// TestImpatient: a customer who leaves while the payment is created finds its link later.
func TestImpatient(t *testing.T) {
	t.Parallel()
	var w *world
	busy := make(chan *sql.Conn, 1)
	w = start(t, func(cfg *settings) {
		service, err := url.Parse(cfg.BaseURL)
		require.NoError(t, err)
		proxy := httputil.NewSingleHostReverseProxy(service)
		proxy.ModifyResponse = func(resp *http.Response) error {
			if resp.Request.URL.Path != "/payments" {
				return nil
			}
			writer, err := w.shop.db.write.Conn(t.Context()) // the link has to wait for the one writer
			busy <- writer
			return err
		}
		front := httptest.NewServer(proxy)
		t.Cleanup(front.Close)
		cfg.BaseURL = front.URL
	})
	o, err := w.shop.place(t.Context(), uuid.New(), []line{{"cup", 28_000, 1}}, english, testContact)
	require.NoError(t, err)
	ctx, leave := context.WithCancel(t.Context())
	linked := make(chan error, 1)
	go func() { linked <- w.shop.payLink(ctx, o) }()
	writer := <-busy
	require.Eventually(t, func() bool {
		standing, err := w.shop.box.Webhook().State(t.Context(), uuid.MustParse(w.mock.Payments()[0].ID))
		return err == nil && standing == webhook.StateExpected
	}, patience, tick)
	leave()
	require.NoError(t, writer.Close())
	require.NoError(t, <-linked)
	w.visitor().shows("/orders/"+o.ID, "Go to the payment page")
}

// TestLanguage: the browser's wish counts until the customer switches.
func TestLanguage(t *testing.T) {
	t.Parallel()
	w := start(t)
	v := w.visitor()
	for wish, want := range map[string]string{"ko-KR,en;q=0.8": "ko", "fr,en;q=0.5,ko;q=0.1": "en", "": "en"} {
		request, err := http.NewRequest(http.MethodGet, w.url, nil)
		require.NoError(t, err)
		request.Header.Set("Accept-Language", wish)
		resp, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		read(t, resp)
		require.Equal(t, want, resp.Header.Get("Content-Language"), wish)
	}
	v.get("/?lang=ko")
	require.Contains(t, v.get("/cart"), "장바구니가 비어 있습니다.")
	for key, both := range texts {
		require.True(t, both[english] != "" && both[korean] != "", key)
		require.Equal(t, strings.Count(both[english], "%"), strings.Count(both[korean], "%"), key)
	}
}
