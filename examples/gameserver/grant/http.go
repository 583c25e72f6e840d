package grant

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// HTTP is a Game behind two calls:
//
//	GET  {URL}/players/{account}  →  {"online": true, "free": 3}
//	POST {URL}/grants             →  {"answer": "granted"}; the body is a Delivery
//
// The answers are those of this package: granted, already, offline, full, refused. HTTP
// status 503 means that nothing was given and may be tried again; after any other one, a
// timeout or a cut answer, nobody knows.
type HTTP struct {
	// URL is the address, without a slash at the end.
	URL string
	// Secret, if set, is sent as "Authorization: Bearer …". It appears in no error.
	Secret string
	// RefusesTwice tells that the game keeps the key with the item; see Game.Refuses.
	RefusesTwice bool
	// Client sends the requests. Default: one that follows no redirects, takes no proxy from
	// the environment, and speaks HTTP/1.1, since net/http sends requests of HTTP/2 again by
	// itself.
	Client *http.Client
}

var plainHTTP = &http.Client{
	Transport:     plainTransport(),
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func plainTransport() *http.Transport {
	t := &http.Transport{Protocols: new(http.Protocols), TLSHandshakeTimeout: 5 * time.Second, IdleConnTimeout: 2 * time.Second}
	t.Protocols.SetHTTP1(true)
	return t
}

// Refuses is RefusesTwice.
func (h *HTTP) Refuses() bool { return h.RefusesTwice }

// Player asks the game.
func (h *HTTP) Player(ctx context.Context, account string) (p Player, err error) {
	_, err = h.call(ctx, http.MethodGet, "/players/"+url.PathEscape(account), nil, &p)
	return p, err
}

// Give asks the game. The key is in the body and not in a header Idempotency-Key: net/http
// takes that for leave to send a request twice by itself.
func (h *HTTP) Give(ctx context.Context, d Delivery) (Answer, error) {
	body, err := json.Marshal(d)
	if err != nil {
		return "", errors.Join(ErrNotGiven, err)
	}
	var result struct{ Answer Answer }
	sent, err := h.call(ctx, http.MethodPost, "/grants", body, &result)
	if err != nil && !sent {
		err = errors.Join(ErrNotGiven, err)
	}
	return result.Answer, err
}

// call makes a request. sent reports whether the game may have acted.
func (h *HTTP) call(ctx context.Context, method, path string, body []byte, result any) (sent bool, err error) {
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	req, err := http.NewRequestWithContext(ctx, method, h.URL+path, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	req.Header.Set("Content-Type", "application/json")
	if h.Secret != "" {
		req.Header.Set("Authorization", "Bearer "+h.Secret)
	}
	client := h.Client
	if client == nil {
		client = plainHTTP
	}
	resp, err := client.Do(req)
	if err != nil {
		return connected.Load(), h.clean(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	switch {
	case resp.StatusCode == http.StatusServiceUnavailable:
		return false, fmt.Errorf("%s %s: the game is not ready (503)", method, path)
	case resp.StatusCode != http.StatusOK:
		return true, fmt.Errorf("%s %s: the game answered %s", method, path, resp.Status)
	case err == nil:
		err = json.Unmarshal(text, result)
	}
	if err != nil {
		return true, fmt.Errorf("%s %s: the answer cannot be read: %w", method, path, h.clean(err))
	}
	return true, nil
}

// clean takes the secret out of what the network says, in case it is in the address.
func (h *HTTP) clean(err error) error {
	if h.Secret == "" || !strings.Contains(err.Error(), h.Secret) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), h.Secret, "[removed]"))
}
