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
	"sync/atomic"
	"time"
)

// HTTP is a Game behind one call:
//
//	POST {URL}/grants  →  {"answer": "granted"}; the body is a Delivery
//
// The answers are those of this package: granted, already, offline, full, refused. HTTP status
// 503 means that nothing was given and the call may be repeated; after any other status, a
// timeout or a cut response the outcome is unknown.
type HTTP struct {
	// URL is the address, without a slash at the end.
	URL string
	// Secret, if set, is sent as "Authorization: Bearer …". It appears in no error.
	Secret string
	// RefusesTwice states that the game stores the key with the item; see Game.Refuses.
	RefusesTwice bool
	// Client sends the requests. Default: one that follows no redirects, uses no proxy of the
	// environment, and speaks HTTP/1.1, since net/http may repeat requests over HTTP/2.
	Client *http.Client
}

var plainHTTP = &http.Client{
	Transport:     plainTransport(),
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func plainTransport() *http.Transport {
	t := &http.Transport{Protocols: new(http.Protocols), IdleConnTimeout: 2 * time.Second}
	t.Protocols.SetHTTP1(true)
	return t
}

// Refuses is RefusesTwice.
func (h *HTTP) Refuses() bool { return h.RefusesTwice }

// Give asks the game. The key is in the body, not in a header Idempotency-Key, because
// net/http takes that header as permission to repeat the request.
func (h *HTTP) Give(ctx context.Context, d Delivery) (Answer, error) {
	var connected atomic.Bool
	trace := httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	ctx = httptrace.WithClientTrace(ctx, &trace)
	body, _ := json.Marshal(d) // three strings
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL+"/grants", bytes.NewReader(body))
	if err != nil {
		return "", errors.Join(ErrNotGiven, err)
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
	switch {
	case err != nil && !connected.Load():
		return "", errors.Join(ErrNotGiven, err)
	case err != nil:
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	return read(resp)
}

func read(resp *http.Response) (Answer, error) {
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusServiceUnavailable:
		return "", fmt.Errorf("%w: the game is not ready (503)", ErrNotGiven)
	default:
		return "", fmt.Errorf("the game answered %s", resp.Status)
	}
	var result struct{ Answer Answer }
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err == nil {
		err = json.Unmarshal(text, &result)
	}
	if err != nil {
		return "", fmt.Errorf("reading the game's answer: %w", err)
	}
	return result.Answer, nil
}
