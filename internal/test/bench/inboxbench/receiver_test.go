package inboxbench_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/webhook"
)

// receiver is a webhook's receiver, and the connections that deliver to it, with as
// little work as can be: the load shares the machine with what it measures.
type receiver struct {
	conns chan *conn
}

type conn struct {
	net.Conn
	in  *bufio.Reader
	out []byte
}

const (
	hookHead = "POST /hook HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: Bench-Payments-Webhook/1.0\r\n" +
		"Content-Type: application/json\r\nX-Retry-Count: 0\r\nX-Webhook-ID: bench\r\nContent-Length: 53\r\n\r\n" + `{"payment_id":"`
	hookTail = `"}`
)

// newReceiver serves the webhook of cfg, which has a Client and a Ledger or Sink.
func newReceiver(t *testing.T, cfg webhook.Config) *receiver {
	t.Helper()
	require.True(t, strings.HasSuffix(hookHead, fmt.Sprintf("Content-Length: %d\r\n\r\n{\"payment_id\":\"", len(`{"payment_id":"`)+idLength+len(hookTail))))
	var failed sync.Once
	cfg.ConfirmRate, cfg.Logger = -1, slog.New(slog.DiscardHandler)
	cfg.OnDelivery = func(e webhook.Event) {
		if e.Err != nil {
			failed.Do(func() { t.Error(e.Outcome, e.Err) })
		}
	}
	hook, err := webhook.New(cfg)
	require.NoError(t, err)
	server := httptest.NewServer(hook)
	t.Cleanup(server.Close)
	r := &receiver{conns: make(chan *conn, callers)}
	for range callers {
		c, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		r.conns <- &conn{Conn: c, in: bufio.NewReader(c)}
	}
	return r
}

// deliver sends one webhook over a connection that is kept, and wants a 200.
func (r *receiver) deliver(id uuid.UUID) error {
	c := <-r.conns
	defer func() { r.conns <- c }()
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return err
	}
	c.out = append(append(append(c.out[:0], hookHead...), id.String()...), hookTail...)
	if _, err := c.Write(c.out); err != nil {
		return err
	}
	return c.read()
}

// read takes one answer with a Content-Length.
func (c *conn) read() error {
	length := -1
	for first := true; ; first = false {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		line = bytes.TrimRight(line, "\r\n")
		if first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200")) {
			return fmt.Errorf("the webhook is answered %q", line)
		}
		if len(line) == 0 {
			break
		}
		if name, value, ok := bytes.Cut(line, []byte(": ")); ok && bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(value)); err != nil {
				return err
			}
		}
	}
	if length < 0 {
		return errors.New("the webhook's answer has no length")
	}
	_, err := io.CopyN(io.Discard, c.in, int64(length))
	return err
}
