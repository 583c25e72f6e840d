package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/depositpay/depositpay-go/internal/safecall"
)

const maxBody = 4 << 10

var (
	errTooLarge = fmt.Errorf("webhook: the body is longer than %d bytes", maxBody)
	errSlow     = errors.New("webhook: the body did not arrive within Config.Budget")
	errCut      = errors.New("webhook: the body ended early")
)

// isJSON accepts application/json with any parameters.
func isJSON(header http.Header) bool {
	values := header["Content-Type"]
	if len(values) != 1 {
		return false
	}
	mediaType, _, _ := strings.Cut(values[0], ";")
	return strings.EqualFold(strings.Trim(mediaType, " \t"), "application/json")
}

// readBody reads the body until ctx ends. The reading goroutine ends with the body,
// or with the connection's read deadline, which passes then.
func readBody(ctx context.Context, w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > maxBody {
		return nil, errTooLarge
	}
	if r.Body == nil {
		return nil, nil
	}
	type read struct {
		body []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		var got read
		got.err = safecall.Do("webhook: reading the body", func() (err error) {
			got.body, err = io.ReadAll(io.LimitReader(r.Body, maxBody+1))
			return err
		})
		done <- got
	}()
	select {
	case got := <-done:
		switch {
		case got.err != nil:
			return nil, fmt.Errorf("%w: %w", errCut, got.err)
		case len(got.body) > maxBody:
			return nil, errTooLarge
		}
		return got.body, nil
	case <-ctx.Done():
		_ = http.NewResponseController(w).SetReadDeadline(time.Now()) // not every writer can
		return nil, errSlow
	}
}
