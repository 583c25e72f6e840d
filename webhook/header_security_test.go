//go:build unix

package webhook_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHeaderAbuse: whatever stands in a header, over a real socket, it ends as a refusal or
// as nothing special, no second request is found in what follows a broken one, and the next
// real webhook is answered.
func TestHeaderAbuse(t *testing.T) {
	t.Parallel()
	p, victim := newPayment(), newPayment()
	address, got := listen(t, p, victim)
	body := `{"payment_id":"` + uuid.NewString() + `"}`
	named := `{"payment_id":"` + victim.ID.String() + `"}`
	smuggled := fmt.Sprintf(strings.ReplaceAll(head, "/hook", "/hooks/deposit/"), len(named), named)
	line := fmt.Sprintf("Content-Length: %d\r\n", len(body))
	for name, test := range map[string]struct {
		header string
		want   int
	}{
		"too long":           {line + "X-A: " + strings.Repeat("a", 64<<10) + "\r\n", http.StatusRequestHeaderFieldsTooLarge},
		"too many":           {line + strings.Repeat("X-A: a\r\n", 8<<10), http.StatusRequestHeaderFieldsTooLarge},
		"two lengths":        {line + "Content-Length: 0\r\n", http.StatusBadRequest},
		"negative length":    {"Content-Length: -1\r\n", http.StatusBadRequest},
		"length and chunks":  {line + "Transfer-Encoding: gzip\r\n", http.StatusNotImplemented},
		"broken line":        {line + "X-A\r\n", http.StatusBadRequest},
		"bare line feed":     {line + "X-A: a\nb\r\n", http.StatusBadRequest},
		"zero byte":          {line + "X-A: a\x00b\r\n", http.StatusBadRequest},
		"two hosts":          {line + "Host: y\r\n", http.StatusBadRequest},
		"two content types":  {line + "Content-Type: text/plain\r\n", http.StatusUnsupportedMediaType},
		"names another id":   {line + "X-Payment-Id: " + victim.ID.String() + "\r\nX-Webhook-Id: " + victim.ID.String() + "\r\n", http.StatusTooManyRequests},
		"replays by key":     {line + "Idempotency-Key: 1\r\nX-Retry-Count: -99999999999999999999\r\n", http.StatusTooManyRequests},
		"overrides":          {line + "X-HTTP-Method-Override: DELETE\r\nX-Original-URL: /other\r\nX-Forwarded-For: 127.0.0.1\r\n", http.StatusTooManyRequests},
		"asks for an expect": {line + "Expect: 200-ok\r\n", http.StatusExpectationFailed},
		"wants to upgrade":   {line + "Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n", http.StatusTooManyRequests},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
			require.NoError(t, err)
			defer func() { _ = conn.Close() }()
			require.NoError(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
			_, err = io.WriteString(conn, "POST /hooks/deposit/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+test.header+"\r\n"+body)
			if err != nil { // the server ended the connection in the middle of it
				require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, test.want)
				return
			}
			broken := test.want == http.StatusBadRequest || test.want == http.StatusNotImplemented
			if broken { // nobody can say where this request ends: no other one may follow
				_, _ = io.WriteString(conn, smuggled)
			}
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err) // the end of its body may be a reset: the server leaves the rest unread
			assert.Equal(t, test.want, resp.StatusCode)
			_ = resp.Body.Close()
			if broken {
				_, err = io.Copy(io.Discard, conn)
				assert.False(t, os.IsTimeout(err), "the server still listens")
			}
		})
	}
	require.Zero(t, got.count(victim.ID), "what stands behind a broken request was granted")
	require.Equal(t, http.StatusOK, pay(t, http.DefaultClient, address, p))
	http.DefaultClient.CloseIdleConnections()
}
