package mockserver

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

// Transport reaches the server without a socket, under any address: give it to an
// http.Client. It is made for testing/synctest, where a goroutine that waits for
// a socket never counts as idle.
//
// It behaves as a connection would: httptrace reports the connection, so that a
// client can tell a request that was sent from one that was not; a request whose
// context ends while the server works on it fails at once, but the server
// finishes what it began; the body of the answer is complete. A [Fault] that ends the
// connection shows as it does with net/http: io.EOF, syscall.ECONNRESET in a
// *net.OpError, or io.ErrUnexpectedEOF from the body.
func (s *Server) Transport() http.RoundTripper { return direct{s} }

type direct struct{ server *Server }

// RoundTrip implements http.RoundTripper.
func (d direct) RoundTrip(req *http.Request) (*http.Response, error) {
	body := &sentBody{ReadCloser: req.Body}
	if req.Body == nil {
		body.ReadCloser = http.NoBody
	}
	ctx := req.Context()
	if err := d.dial(req); err != nil {
		_ = body.Close()
		return nil, err
	}
	// The server's context ends with the client's, as when a connection is cut.
	served, cancel := context.WithCancel(context.WithoutCancel(ctx))
	answer := make(chan *recorder, 1)
	incoming := incomingRequest(served, req, body)
	go func() {
		defer cancel()
		rec := &recorder{header: make(http.Header)}
		d.server.serveHTTP(rec, incoming)
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

// dial does what comes before a request is sent. After an error nothing was.
func (d direct) dial(req *http.Request) error {
	if req.URL == nil || req.URL.Host == "" {
		return errors.New("mockserver: the request has no host in its URL")
	}
	ctx := req.Context()
	trace := httptrace.ContextClientTrace(ctx)
	if trace != nil && trace.GetConn != nil {
		trace.GetConn(req.URL.Host)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if d.server.isClosed() {
		return &net.OpError{Op: "dial", Net: "tcp", Err: serverClosed()}
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

// incomingRequest is req as a server would read it from a connection.
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
