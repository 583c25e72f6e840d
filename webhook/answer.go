package webhook

import (
	"net/http"
	"strconv"
)

// answer is the response to the sender and its cause; the sender sees only the status.
type answer struct {
	status  int
	outcome Outcome
	err     error
}

// retryAfter is the wait before the service's second attempt (interface §6.4).
const retryAfter = "5"

// bodies are fixed, so that all responses of one status look the same.
var bodies = map[int]string{
	http.StatusOK:                    `{"result":"ok"}`,
	http.StatusBadRequest:            `{"error":"bad request"}`,
	http.StatusForbidden:             `{"error":"forbidden"}`,
	http.StatusMethodNotAllowed:      `{"error":"method not allowed"}`,
	http.StatusRequestTimeout:        `{"error":"request timeout"}`,
	http.StatusRequestEntityTooLarge: `{"error":"request too large"}`,
	http.StatusUnsupportedMediaType:  `{"error":"unsupported media type"}`,
	http.StatusTooManyRequests:       `{"error":"not now"}`,
	http.StatusServiceUnavailable:    `{"error":"not handled"}`,
}

// write sends the response and flushes it, so that nothing that runs afterwards delays it.
func (a answer) write(w http.ResponseWriter, r *http.Request) {
	if a.status == http.StatusNotFound {
		http.NotFound(w, r)
	} else {
		header := w.Header()
		header.Set("Content-Type", "application/json")
		header.Set("Cache-Control", "no-store")
		header.Set("X-Content-Type-Options", "nosniff")
		switch a.status {
		case http.StatusMethodNotAllowed:
			header.Set("Allow", http.MethodPost)
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			header.Set("Retry-After", retryAfter)
		}
		body := bodies[a.status]
		header.Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(a.status)
		if r.Method != http.MethodHead {
			_, _ = w.Write([]byte(body)) // the sender may have hung up
		}
	}
	_ = http.NewResponseController(w).Flush() // not every writer can
}
