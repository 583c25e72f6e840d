// Package direct reaches an HTTP handler without a socket, for programs and tests in
// which a goroutine must not wait for one, as in a testing/synctest bubble.
package direct

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
)

// New returns a transport that hands every request to h, whatever its address. While
// closed returns an error, a request fails as on a port where nobody listens.
//
// It behaves as a connection does: httptrace reports it; a request whose context ends
// fails at once while the handler finishes its work; the response body is complete. The
// handler's ResponseWriter is a [Writer].
func New(h http.Handler, closed func() error) http.RoundTripper { return transport{h, closed} }

type transport struct {
	handler http.Handler
	closed  func() error
}

// RoundTrip implements http.RoundTripper.
func (d transport) RoundTrip(req *http.Request) (*http.Response, error) {
	body := &sentBody{ReadCloser: req.Body}
	if req.Body == nil {
		body.ReadCloser = http.NoBody
	}
	ctx := req.Context()
	if err := d.dial(req); err != nil {
		_ = body.Close()
		return nil, err
	}
	// The handler's context ends with the client's, as when a connection is cut.
	served, cancel := context.WithCancel(context.WithoutCancel(ctx))
	answer := make(chan *Writer, 1)
	incoming := incomingRequest(served, req, body)
	go func() {
		defer cancel()
		rec := &Writer{header: make(http.Header)}
		d.handler.ServeHTTP(rec, incoming)
		_ = body.Close()
		answer <- rec
	}()
	select {
	case rec := <-answer:
		if err := body.failure(); err != nil {
			return nil, err
		}
		if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GotFirstResponseByte != nil && rec.status != 0 {
			trace.GotFirstResponseByte()
		}
		return rec.response(req)
	case <-ctx.Done():
		cancel()
		_ = body.Close()
		return nil, context.Cause(ctx)
	}
}

// dial does what comes before a request is sent. After an error nothing was sent.
func (d transport) dial(req *http.Request) error {
	if req.URL == nil || req.URL.Host == "" {
		return errors.New("direct: the request has no host in its URL")
	}
	ctx := req.Context()
	trace := httptrace.ContextClientTrace(ctx)
	if trace != nil && trace.GetConn != nil {
		trace.GetConn(req.URL.Host)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := d.closed(); err != nil {
		return &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
	if trace != nil && trace.GotConn != nil {
		conn, _ := net.Pipe()
		trace.GotConn(httptrace.GotConnInfo{Conn: conn})
	}
	if trace != nil && trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{})
	}
	return nil
}

// incomingRequest is req as a server reads it from a connection.
func incomingRequest(ctx context.Context, req *http.Request, body io.ReadCloser) *http.Request {
	in := (&http.Request{
		Method: req.Method, URL: req.URL, Host: req.Host, Header: maps.Clone(req.Header),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: body, ContentLength: req.ContentLength,
		RequestURI: req.URL.RequestURI(), RemoteAddr: "127.0.0.1:1",
	}).WithContext(ctx)
	if in.Method == "" {
		in.Method = http.MethodGet
	}
	if in.Host == "" {
		in.Host = req.URL.Host
	}
	if in.Header == nil {
		in.Header = make(http.Header)
	}
	if req.ContentLength == 0 && req.Body != nil && req.Body != http.NoBody {
		in.ContentLength = -1 // of unknown length, as http.Request defines it
	}
	return in
}

// sentBody is a request body that may be closed from both ends and remembers why
// it could not be read.
type sentBody struct {
	io.ReadCloser
	closing sync.Once
	mu      sync.Mutex
	err     error
}

func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.mu.Lock()
		b.err = err
		b.mu.Unlock()
	}
	return n, err
}

func (b *sentBody) Close() (err error) {
	b.closing.Do(func() { err = b.ReadCloser.Close() })
	return err
}

func (b *sentBody) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}
