package mockserver_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
)

// lockedBuffer is a log.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// talkative is a receiver that says all it knows.
type talkative struct{ fails bool }

func (h talkative) RoundTrip(r *http.Request) (*http.Response, error) {
	if h.fails {
		return nil, errors.New("dial tcp " + canary + ": connection refused")
	}
	return &http.Response{StatusCode: 500, Body: io.NopCloser(strings.NewReader(`{"token":"` + canary + `", "x": "` + fieldCanary + `"}`)), Request: r}, nil
}
