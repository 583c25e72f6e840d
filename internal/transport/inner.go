package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"time"

	"github.com/depositpay/depositpay-go/internal/secret"
)

// inner is the lowest layer above Config.Transport. The token exists only below it.
type inner struct {
	next     http.RoundTripper
	traced   bool // next fires httptrace's hooks
	redactor *secret.Redactor
	cfg      *Config
}

var errNoCall = errors.New("transport: request did not come from Client.Do")

// RoundTrip sends one attempt and reads the whole response into the call.
func (i *inner) RoundTrip(r *http.Request) (*http.Response, error) {
	k := callFrom(r.Context())
	if k == nil {
		return nil, errNoCall
	}
	if err := k.begin(i.traced); err != nil {
		return nil, err
	}
	ctx, cancel := k.context(r.Context())
	defer cancel()
	began := time.Now()
	resp, err := i.next.RoundTrip(i.prepare(ctx, r, k))
	if err == nil {
		err = i.read(k, resp)
	}
	if err != nil {
		k.failure = i.redactor.Cause(i.explain(ctx, r.Context(), k, err))
		i.log(ctx, k, began)
		return nil, k.failure
	}
	i.log(ctx, k, began)
	return i.above(resp, r, k), nil
}

// prepare clones the request and adds the token.
func (i *inner) prepare(ctx context.Context, r *http.Request, k *call) *http.Request {
	out := r.WithContext(httptrace.WithClientTrace(ctx, k.trace()))
	if !i.traced || i.cfg.Middleware != nil {
		out.Header = r.Header.Clone() // foreign code on either side may write to it
	}
	// Both headers make net/http send a request again by itself; the service knows neither.
	delete(out.Header, "Idempotency-Key")
	delete(out.Header, "X-Idempotency-Key")
	if k.op.Token == TokenInQuery {
		u := *r.URL
		if u.RawQuery != "" {
			u.RawQuery += "&"
		}
		u.RawQuery += k.token.query
		out.URL = &u
	}
	body := k.body
	if k.op.Token == TokenInBody {
		body = k.token.with(body)
	}
	i.attach(out, body, k.op.Class)
	return out
}

// with inserts the token as the first member of the JSON object body.
func (t *Token) with(body []byte) []byte {
	out := make([]byte, 0, len(t.member)+1+len(body))
	out = append(out, t.member...)
	if len(body) > len("{}") {
		out = append(out, ',')
		return append(out, body[1:]...)
	}
	return append(out, '}')
}

// attach sets the body. A destructive GET is sealed: with a non-nil body and no GetBody,
// net/http does not consider it replayable (golang/go#48438). It still sends no body and
// keeps the connection.
func (i *inner) attach(out *http.Request, body []byte, class Class) {
	switch {
	case class == Destructive:
		out.Body, out.GetBody = sealed{}, nil
	case body != nil:
		out.Body = io.NopCloser(bytes.NewReader(body))
		out.ContentLength = int64(len(body))
		if i.traced {
			// Lets net/http use a fresh connection if not one byte went out on a pooled
			// one. It is no licence to replay: a POST is not replayable. HTTP/2, which
			// would take it for one, is off here, but may be on in a foreign transport.
			out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		}
	}
}

type sealed struct{}

func (sealed) Read([]byte) (int, error) { return 0, io.EOF }
func (sealed) Close() error             { return nil }

// read reads the whole body up to the limit. The received part of a truncated body stays in
// the call.
func (i *inner) read(k *call, resp *http.Response) error {
	defer func() { _ = resp.Body.Close() }()
	limit := i.cfg.MaxBody
	buf := make([]byte, 0, bodyCap(resp.ContentLength, limit))
	body := io.LimitReader(resp.Body, limit+1)
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		k.answer = buf
		if err != nil && err != io.EOF {
			return fmt.Errorf("answer cut after %d bytes: %w", len(buf), err)
		}
		if int64(len(buf)) > limit {
			k.answer = buf[:limit]
			return fmt.Errorf("answer is longer than %d bytes", limit)
		}
		if err == io.EOF {
			break
		}
	}
	k.status = resp.StatusCode
	k.whole = resp.ContentLength >= 0 || len(resp.TransferEncoding) > 0
	return nil
}

func bodyCap(contentLength, limit int64) int64 {
	const usual = 512
	if contentLength < 0 || contentLength > limit {
		return usual
	}
	return contentLength + 1 // one more byte, so that EOF is read without growing
}

// explain adds whether the caller or a limit ended the attempt.
func (i *inner) explain(ctx, caller context.Context, k *call, err error) error {
	if k.state.Load() == abandoned { // whatever the connection says of its end
		return fmt.Errorf("%w before a connection was there: %w", caller.Err(), err)
	}
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	limit := i.cfg.Timeout
	if k.op.Class == Destructive {
		limit = i.cfg.LongTimeout
	}
	return fmt.Errorf("no complete answer within the attempt's limit (%v) or the caller's deadline: %w", limit, err)
}

// above removes from resp what callers and middleware must not see.
func (i *inner) above(resp *http.Response, r *http.Request, k *call) *http.Response {
	resp.Request = r
	resp.Body = http.NoBody
	if i.cfg.Middleware != nil {
		resp.Body = io.NopCloser(bytes.NewReader(i.redactor.Bytes(k.answer)))
		i.clean(resp)
	}
	k.retryHdr = resp.Header.Get("Retry-After")
	// http.Client parses Location even when it follows nothing, and prints what it
	// cannot parse.
	resp.Header.Del("Location")
	return resp
}

// clean removes the token from status and headers, where a broken service might echo it.
func (i *inner) clean(resp *http.Response) {
	resp.Status = i.redactor.String(resp.Status)
	for _, header := range []http.Header{resp.Header, resp.Trailer} {
		for name, values := range header {
			delete(header, name)
			for n := range values {
				values[n] = i.redactor.String(values[n])
			}
			header[i.redactor.String(name)] = values
		}
	}
}

func (i *inner) log(ctx context.Context, k *call, began time.Time) {
	if !i.cfg.Logger.Enabled(ctx, slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{
		slog.String("op", k.op.Name),
		slog.Int("attempt", k.attempts),
		slog.Duration("took", time.Since(began)),
	}
	if k.failure != nil {
		attrs = append(attrs, slog.String("error", k.failure.Error()))
	} else {
		attrs = append(attrs, slog.Int("status", k.status), slog.Int("bytes", len(k.answer)))
	}
	i.cfg.Logger.LogAttrs(ctx, slog.LevelDebug, "depositpay: request", attrs...)
}
