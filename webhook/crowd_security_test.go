//go:build unix

package webhook_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/racing"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// The race detector ends a process with more than 8,128 goroutines, and a connection is one.
var crowdIdle, crowdSlow = racing.Size(10_000, 2000), racing.Size(500, 300)

// recommended is the server of the package's guide; TestGuideServer holds them together.
func recommended(mux http.Handler) *http.Server {
	server := &http.Server{
		Addr:              ":8080",
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       8 * time.Second,
		WriteTimeout:      15 * time.Second, // more than Config.Budget
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
	return server
}

// TestGuideServer: the server that is tested here is the one of the package documentation.
func TestGuideServer(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	here, err := os.ReadFile("crowd_security_test.go")
	require.NoError(t, err)
	_, text, found := strings.Cut(string(here), "server := ")
	require.True(t, found)
	text, _, _ = strings.Cut(text, "\n\treturn")
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = "//\t" + strings.TrimPrefix(line, "\t")
	}
	require.Contains(t, strings.ReplaceAll(string(guide), "server := ", ""), strings.Join(lines, "\n"))
}

// listen serves a Handler that knows these payments, as the package documentation says.
func listen(t *testing.T, paid ...payments.Payment) (address string, got *granter) {
	t.Helper()
	got = newGranter()
	h := newHandler(t, webhook.Config{Client: newService(paid...), Sink: newMemory(t, got.grant, nil)})
	mux := http.NewServeMux()
	mux.Handle("/hooks/deposit/", h)
	server := recommended(mux)
	var conns sync.WaitGroup
	server.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			conns.Add(1)
		case http.StateClosed, http.StateHijacked:
			conns.Done()
		default:
		}
	}
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ln) }()
	t.Cleanup(func() {
		_ = server.Close()
		assert.ErrorIs(t, <-ended, http.ErrServerClosed)
		conns.Wait()
		assert.NoError(t, h.Wait(context.Background()))
	})
	return ln.Addr().String(), got
}

// pay delivers the webhook of p as the service does.
func pay(t *testing.T, client *http.Client, address string, p payments.Payment) int {
	t.Helper()
	body := strings.NewReader(`{"payment_id":"` + p.ID.String() + `"}`)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/hooks/deposit/", body)
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	require.NoError(t, err, "within the service's own timeout")
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

// TestCrowd: real webhooks are granted next to thousands of idle connections and hundreds whose
// request never ends, and the server closes the latter. Another process holds the other ends,
// because one alone may not have so many files.
func TestCrowd(t *testing.T) {
	t.Parallel()
	if address := os.Getenv("DEPOSITPAY_TEST_CROWD"); address != "" {
		crowd(t, address)
		return
	}
	raiseFiles(t, crowdIdle+2*crowdSlow+500)
	paid := make([]payments.Payment, 200)
	for i := range paid {
		paid[i] = newPayment()
	}
	address, got := listen(t, paid...)

	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCrowd$", "-test.count=1")
	child.Env = append(os.Environ(), "DEPOSITPAY_TEST_CROWD="+address)
	child.Stderr = os.Stderr
	enough, err := child.StdinPipe()
	require.NoError(t, err)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	said := bufio.NewScanner(out)
	await(t, said, fmt.Sprintf("%d here", crowdIdle+2*crowdSlow))

	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, p := range paid {
		require.Equal(t, http.StatusOK, pay(t, client, address, p))
	}
	for _, p := range paid {
		require.Equal(t, 1, got.count(p.ID))
	}
	await(t, said, fmt.Sprintf("%d put out", 2*crowdSlow))
	require.NoError(t, enough.Close())
	for said.Scan() { // to its end, or it could not end
	}
	require.NoError(t, child.Wait(), "the idle ones were still connected")
}

func await(t *testing.T, said *bufio.Scanner, want string) {
	t.Helper()
	var before []string
	for said.Scan() {
		if said.Text() == want {
			return
		}
		before = append(before, said.Text())
	}
	require.Fail(t, "the crowd did not get so far", "%s:\n%s", want, strings.Join(before, "\n"))
}

// raiseFiles raises the limit of open files to what the test needs.
func raiseFiles(t *testing.T, files int) {
	t.Helper()
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	if raiseLimit(&limit.Cur, int64(files)) {
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit),
			"THE TEST NEEDS %d OPEN FILES AND MAY NOT HAVE THEM: ulimit -Hn %d, or more", files, files)
	}
}

// raiseLimit sets a limit, which is signed on FreeBSD, to n and reports whether it was lower.
func raiseLimit[T int64 | uint64](limit *T, n int64) bool {
	raised := *limit < T(n)
	*limit = max(*limit, T(n))
	return raised
}

// crowd is the other process: it connects, reports that, drips, reports how many connections were
// closed, and stays until its input ends.
func crowd(t *testing.T, address string) {
	raiseFiles(t, crowdIdle+2*crowdSlow+100)
	conns := make([]net.Conn, crowdIdle+2*crowdSlow)
	for i := range conns { // each speaks at once: the server does not wait long for a first word
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
		conns[i] = conn
		switch {
		case i < crowdIdle: // one request, and then nothing
			_, err = io.WriteString(conn, "GET /hooks/deposit/ HTTP/1.1\r\nHost: x\r\n\r\n")
			require.NoError(t, err)
			status, _ := readAnswer(t, conn)
			require.Equal(t, http.StatusMethodNotAllowed, status)
		case i < crowdIdle+crowdSlow:
			_, err = io.WriteString(conn, "POST /hooks/deposit/ HTTP/1.1\r\nHost: x\r\nX-Slow: ")
			require.NoError(t, err)
		default:
			_, err = fmt.Fprintf(conn, strings.ReplaceAll(head, "/hook", "/hooks/deposit/"), 1000, `{"payment_id":"`)
			require.NoError(t, err)
		}
	}
	_, _ = fmt.Fprintf(os.Stdout, "%d here\n", len(conns))
	_, _ = fmt.Fprintf(os.Stdout, "%d put out\n", drip(conns[crowdIdle:]))
	_, err := io.Copy(io.Discard, os.Stdin)
	require.NoError(t, err)
	last := conns[crowdIdle-1]
	require.NoError(t, last.SetReadDeadline(time.Now().Add(time.Millisecond)))
	_, err = last.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "an idle connection was closed")
}

// drip writes a letter at a time until the server has closed all connections, for a minute at
// most, and returns how many it has closed.
func drip(conns []net.Conn) (out int) {
	ticker := time.NewTicker(300 * time.Millisecond)
	defer ticker.Stop()
	ended := make([]bool, len(conns))
	for range 200 {
		<-ticker.C
		for i, conn := range conns {
			if !ended[i] && gone(conn) {
				ended[i] = true
				out++
			}
		}
		if out == len(conns) {
			break
		}
	}
	return out
}

// gone writes one more letter, and reports whether the server has closed the connection. It
// answers 408 before it closes one in the middle of a request.
func gone(conn net.Conn) bool {
	if _, err := conn.Write([]byte("a")); err != nil {
		return true
	}
	_ = conn.SetReadDeadline(time.Now().Add(time.Microsecond))
	answer := make([]byte, 512)
	n, err := conn.Read(answer)
	return n > 0 && strings.Contains(string(answer[:n]), strconv.Itoa(http.StatusRequestTimeout)) || err != nil && !os.IsTimeout(err)
}

// TestHeaderAbuse: a header, whatever it contains, is rejected or has no effect, no second
// request is read after a broken one, and the next real webhook is granted.
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
			if broken { // the end of this request is unknown: no other one may follow
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
	require.Zero(t, got.count(victim.ID), "a request after a broken one was granted")
	require.Equal(t, http.StatusOK, pay(t, http.DefaultClient, address, p))
	http.DefaultClient.CloseIdleConnections()
}
