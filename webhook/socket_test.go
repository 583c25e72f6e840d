package webhook_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/webhook"
)

// The tests of this file run through net/http's server, whose connections a bubble
// cannot wait for: their budget passes in real time.

const shortBudget = 50 * time.Millisecond

func dial(t *testing.T, h http.Handler) net.Conn {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close) // waits until the connections are done with
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
	return conn
}

func readAnswer(t *testing.T, conn net.Conn) (int, string) {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body)
}

const head = "POST /hook HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"

// TestSocketSlowBody: a sender that never ends its body gets a response, and the server's
// goroutines end.
func TestSocketSlowBody(t *testing.T) {
	t.Parallel()
	conn := dial(t, newHandler(t, webhook.Config{Budget: shortBudget}))
	_, err := fmt.Fprintf(conn, head, 100, `{"payment_id":`)
	require.NoError(t, err)
	status, body := readAnswer(t, conn)
	assert.Equal(t, http.StatusRequestTimeout, status)
	assert.JSONEq(t, `{"error":"request timeout"}`, body)
}

// TestSocketHangingConfirm: the sender gets a response while the service does not answer.
func TestSocketHangingConfirm(t *testing.T) {
	t.Parallel()
	client := newService()
	gate := make(chan struct{})
	client.during = func(context.Context, uuid.UUID) error { <-gate; return nil }
	h := newHandler(t, webhook.Config{Client: client, Budget: shortBudget})
	conn := dial(t, h)
	body := `{"payment_id":"` + someID + `"}`
	_, err := fmt.Fprintf(conn, head, len(body), body)
	require.NoError(t, err)
	status, _ := readAnswer(t, conn)
	assert.Equal(t, http.StatusTooManyRequests, status)
	close(gate)
	require.NoError(t, h.Wait(t.Context()))
}

// TestSocketAnswerBeforeHook: the response is sent before OnDelivery runs.
func TestSocketAnswerBeforeHook(t *testing.T) {
	t.Parallel()
	answered := make(chan struct{})
	conn := dial(t, newHandler(t, webhook.Config{OnDelivery: func(webhook.Event) { <-answered }}))
	_, err := fmt.Fprintf(conn, head, 2, `{}`)
	require.NoError(t, err)
	status, _ := readAnswer(t, conn)
	close(answered)
	assert.Equal(t, http.StatusBadRequest, status)
}
