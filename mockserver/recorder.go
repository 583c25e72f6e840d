package mockserver

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"
)

// recorder is the server's side of an answer over [Server.Transport].
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer

	// What a fault makes of the answer.
	broken  error           // how the connection ended before the answer did
	dripped time.Duration   // how long the body takes, byte by byte
	stop    <-chan struct{} // ends the pauses
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}

// Flush implements http.Flusher: there is nothing between the two ends.
func (r *recorder) Flush() {}

// hangUp ends the connection, and what was written is all that the client gets.
func (r *recorder) hangUp(reset bool) {
	switch {
	case reset:
		r.broken = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	case r.status == 0:
		r.broken = io.EOF
	default:
		r.broken = io.ErrUnexpectedEOF
	}
}

// response is the answer as the client's end of a connection would see it.
func (r *recorder) response(req *http.Request) (*http.Response, error) {
	if r.broken != nil && r.status == 0 {
		return nil, r.broken
	}
	r.WriteHeader(http.StatusOK)
	resp := &http.Response{
		Status:     strconv.Itoa(r.status) + " " + http.StatusText(r.status),
		StatusCode: r.status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: r.header, Request: req,
		Body: http.NoBody, ContentLength: int64(r.body.Len()),
	}
	if req.Method != http.MethodHead {
		resp.Body = r.reader(req.Context())
	}
	if length, err := strconv.ParseInt(r.header.Get("Content-Length"), 10, 64); err == nil && r.broken != nil {
		resp.ContentLength = length
	}
	return resp, nil
}

func (r *recorder) reader(ctx context.Context) io.ReadCloser {
	var body io.Reader = bytes.NewReader(r.body.Bytes())
	if r.dripped > 0 {
		body = &slowBody{
			body: r.body.Bytes(), over: r.dripped, begun: time.Now(),
			given: ctx.Done(), cause: func() error { return context.Cause(ctx) }, stop: r.stop,
		}
	}
	if r.broken != nil {
		body = io.MultiReader(body, brokenEnd{r.broken})
	}
	return io.NopCloser(body)
}

type brokenEnd struct{ err error }

func (b brokenEnd) Read([]byte) (int, error) { return 0, b.err }

// slowBody gives a byte after each pause.
type slowBody struct {
	body  []byte
	read  int
	over  time.Duration
	begun time.Time
	given <-chan struct{} // the client's patience
	cause func() error
	stop  <-chan struct{}
}

func (b *slowBody) Read(p []byte) (int, error) {
	if b.read == len(b.body) {
		return 0, io.EOF
	}
	timer := time.NewTimer(dripPause(b.begun, b.over, b.read, len(b.body)))
	defer timer.Stop()
	select {
	case <-timer.C:
		n := copy(p, b.body[b.read:b.read+1])
		b.read += n
		return n, nil
	case <-b.given:
		return 0, b.cause()
	case <-b.stop:
		return 0, io.ErrUnexpectedEOF
	}
}
