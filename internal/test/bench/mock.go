//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	mockGoal  = 0.5
	mockCalls = 40_000
	loadBody  = `{"token":"` + benchToken + `","title":"Sword","identifier":"order-1","amount":10000}`
)

// benchMock compares the mock's rate with the bare handler's at 64 connections.
func benchMock(rounds int) ([]result, error) {
	var results []result
	for _, c := range []struct {
		name, request, want string
		preload             int
	}{
		{"mock POST /payments", postPayment(), `"payToken"`, 0},
		{"mock GET /callback/rest", getRest(), `"paid_amount"`, (rounds + 1) * mockCalls},
	} {
		r, err := mockPair(rounds, c.name, []byte(c.request), c.want, c.preload)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		results = append(results, r)
	}
	return results, nil
}

func postPayment() string {
	return fmt.Sprintf("POST /payments HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(loadBody), loadBody)
}

func getRest() string {
	return "GET /callback/rest?token=" + benchToken + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
}

func mockPair(rounds int, name string, request []byte, want string, preload int) (result, error) {
	mock, err := startServer("mock", preload)
	if err != nil {
		return result{}, err
	}
	defer mock.stop()
	bare, err := startServer("store", preload)
	if err != nil {
		return result{}, err
	}
	defer bare.stop()
	ours, err := newLoad(mock.base, request, want)
	if err != nil {
		return result{}, err
	}
	defer ours.close()
	theirs, err := newLoad(bare.base, request, want)
	if err != nil {
		return result{}, err
	}
	defer theirs.close()
	a, b, err := pair(rounds, mockCalls, manyCallers, ours.call, theirs.call)
	if err != nil {
		return result{}, err
	}
	return result{
		name: name + ", 64 connections: rate ÷ bare handler's", least: true, goal: mockGoal,
		ratios: ratios(b, a, byWall),
		note:   fmt.Sprintf("%.0f/s against %.0f/s", 1e9/mean(a, byWall), 1e9/mean(b, byWall)),
	}, nil
}

// load sends one request over and over on a set of connections, with as little work
// as can be: the load generator shares the machine with the server.
type load struct {
	conns   chan *loadConn
	request []byte
	want    []byte
}

type loadConn struct {
	net.Conn
	in *bufio.Reader
}

func newLoad(base string, request []byte, want string) (*load, error) {
	l := &load{conns: make(chan *loadConn, manyCallers), request: request, want: []byte(want)}
	for range manyCallers {
		c, err := net.DialTimeout("tcp", strings.TrimPrefix(base, "http://"), 5*time.Second) //nolint:noctx // it has a timeout
		if err != nil {
			l.close()
			return nil, err
		}
		l.conns <- &loadConn{c, bufio.NewReader(c)}
	}
	return l, nil
}

func (l *load) close() {
	close(l.conns)
	for c := range l.conns {
		_ = c.Close()
	}
}

func (l *load) call() error {
	c := <-l.conns
	defer func() { l.conns <- c }()
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return err
	}
	if _, err := c.Write(l.request); err != nil {
		return err
	}
	return c.read(l.want)
}

// read takes one answer, with a Content-Length or in chunks.
func (c *loadConn) read(want []byte) error {
	length, chunked := -1, false
	for first := true; ; first = false {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200")) {
			return errors.New(string(line))
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		chunked = chunked || bytes.EqualFold(line, []byte("Transfer-Encoding: chunked"))
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && strings.EqualFold(string(name), "Content-Length") {
			if _, err := fmt.Sscan(string(value), &length); err != nil {
				return err
			}
		}
	}
	if length < 0 && chunked {
		return c.readChunks(want)
	}
	if length < 0 {
		return fmt.Errorf("%s: no length", http.StatusText(http.StatusLengthRequired))
	}
	body, err := c.in.Peek(length)
	if err != nil {
		return err
	}
	if !bytes.Contains(body, want) {
		return fmt.Errorf("unexpected answer %s", body)
	}
	_, err = io.CopyN(io.Discard, c.in, int64(length))
	return err
}

func (c *loadConn) readChunks(want []byte) error {
	var body []byte
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return err
		}
		chunk := make([]byte, size+2) // and the line's end
		if _, err := io.ReadFull(c.in, chunk); err != nil {
			return err
		}
		if size == 0 {
			break
		}
		body = append(body, chunk[:size]...)
	}
	if !bytes.Contains(body, want) {
		return fmt.Errorf("unexpected answer %s", body)
	}
	return nil
}
