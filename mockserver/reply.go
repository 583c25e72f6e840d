package mockserver

import (
	"net/http"
	"strconv"
)

// lengths are the values of Content-Length for the usual answers, made ahead.
var lengths = lengthValues()

func lengthValues() (values [512][]string) {
	for n := range values {
		values[n] = []string{strconv.Itoa(n)}
	}
	return values
}

func lengthValue(n int) []string {
	if n < len(lengths) {
		return lengths[n]
	}
	return []string{strconv.Itoa(n)}
}

var jsonContentType = []string{"application/json; charset=utf-8"}

// reply is an answer as the client gets it.
type reply struct {
	status      int
	body        []byte
	contentType string // JSON's if empty
	retryAfter  int    // in seconds; 0: no such header
}

func (r *reply) write(w http.ResponseWriter) {
	r.writeHead(w, len(r.body))
	_, _ = w.Write(r.body) // the client may be gone; its payment is completed anyway
}

func (r *reply) writeHead(w http.ResponseWriter, length int) {
	h := w.Header()
	if r.contentType == "" {
		h["Content-Type"] = jsonContentType
	} else {
		h.Set("Content-Type", r.contentType)
	}
	if r.status != http.StatusNoContent {
		h["Content-Length"] = lengthValue(length)
	}
	if r.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(r.retryAfter))
	}
	w.WriteHeader(r.status)
}

func writeJSON(w http.ResponseWriter, status int, answer []byte) {
	(&reply{status: status, body: answer}).write(w)
}
