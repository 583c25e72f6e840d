package mockserver_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// listenToChanges opens a stream of changes. It returns a function that waits for the next one.
func listenToChanges(t *testing.T, s *mockserver.Server) (next func() (string, error), stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", s.URL()+"/_page/changes", nil)
	require.NoError(t, err)
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	assert.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
	lines := bufio.NewReader(resp.Body)
	next = func() (string, error) {
		for {
			line, err := lines.ReadString('\n')
			if err != nil || strings.HasPrefix(line, "data: ") {
				return line, err
			}
		}
	}
	return next, func() {
		cancel()
		_ = resp.Body.Close() // it is cut off
	}
}

func TestPagesTellChanges(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t)
	next, stop := listenToChanges(t, s)
	defer stop()
	first, err := next()
	require.NoError(t, err, "the first event lets the page catch up")
	id := create(t, s, "")
	second, err := next()
	require.NoError(t, err)
	assert.NotEqual(t, first, second)
	assert.NotContains(t, second, id, "an event tells nothing to anyone who listens")
	require.NoError(t, s.Close())
	_, err = next()
	require.ErrorIs(t, err, io.EOF, "the stream ends with the server")
}

func TestPagesBoundStreams(t *testing.T) {
	t.Parallel()
	const most = 64
	s := mockserver.RunT(t)
	stops := make([]func(), most)
	for i := range stops {
		_, stops[i] = listenToChanges(t, s)
	}
	resp, _ := browse(t, s, "GET", "/_page/changes", nil)
	assert.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	assert.Equal(t, "5", resp.Header.Get("Retry-After"))
	for _, stop := range stops {
		stop()
	}
	// The server learns of it from the connections, in its own time.
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, "GET", s.URL()+"/_page/changes", nil)
		if err != nil {
			return false
		}
		resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
		return err == nil && resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	}, patienceForBrowsers, tickOfBrowsers)
	status, _ := call(t, s, "GET", "/_page/changes", "")
	assert.Equal(t, http.StatusNotImplemented, status, "the direct transport has no streams, and does not hang")
}
