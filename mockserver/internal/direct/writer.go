package direct

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

// Writer is the http.ResponseWriter of a handler behind [New].
type Writer struct {
	header http.Header
	status int
	body   bytes.Buffer

	broken  error           // how the connection ended before the response did
	dripped time.Duration   // how long the body takes, byte by byte
	stop    <-chan struct{} // ends the pauses
}

// Header implements http.ResponseWriter.
func (w *Writer) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *Writer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write implements http.ResponseWriter.
func (w *Writer) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// Flush implements http.Flusher: there is nothing between the two ends.
func (w *Writer) Flush() {}

// Drip makes the client read the body byte by byte, the last byte after d. Closing stop
// cuts the body off.
func (w *Writer) Drip(d time.Duration, stop <-chan struct{}) { w.dripped, w.stop = d, stop }

// HangUp ends the connection: the client gets what was written so far and then io.EOF,
// or a connection reset.
func (w *Writer) HangUp(reset bool) {
	switch {
	case reset:
		w.broken = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	case w.status == 0:
		w.broken = io.EOF
	default:
		w.broken = io.ErrUnexpectedEOF
	}
}

// response is what the client's end of a connection would see.
func (w *Writer) response(req *http.Request) (*http.Response, error) {
	if w.broken != nil && w.status == 0 {
		return nil, w.broken
	}
	w.WriteHeader(http.StatusOK)
	resp := &http.Response{
		Status:     strconv.Itoa(w.status) + " " + http.StatusText(w.status),
		StatusCode: w.status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Request: req,
		Body: http.NoBody, ContentLength: int64(w.body.Len()),
	}
	if req.Method != http.MethodHead {
		resp.Body = w.reader(req.Context())
	}
	if length, err := strconv.ParseInt(w.header.Get("Content-Length"), 10, 64); err == nil && w.broken != nil {
		resp.ContentLength = length
	}
	return resp, nil
}

func (w *Writer) reader(ctx context.Context) io.ReadCloser {
	var body io.Reader = bytes.NewReader(w.body.Bytes())
	if w.dripped > 0 {
		body = &slowBody{
			body: w.body.Bytes(), over: w.dripped, begun: time.Now(),
			given: ctx.Done(), cause: func() error { return context.Cause(ctx) }, stop: w.stop,
		}
	}
	if w.broken != nil {
		body = io.MultiReader(body, brokenEnd{w.broken})
	}
	return io.NopCloser(body)
}

type brokenEnd struct{ err error }

func (b brokenEnd) Read([]byte) (int, error) { return 0, b.err }

// Pause returns how long to wait before byte i of n so that the last byte comes d after
// begun. Time that earlier waits and writes took too long is not waited for again.
func Pause(begun time.Time, d time.Duration, i, n int) time.Duration {
	due := d / time.Duration(n) * time.Duration(i+1)
	if i == n-1 {
		due = d
	}
	return max(0, due-time.Since(begun))
}

// slowBody returns one byte after each pause.
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
	timer := time.NewTimer(Pause(b.begun, b.over, b.read, len(b.body)))
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
