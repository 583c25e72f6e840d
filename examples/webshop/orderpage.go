package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

func (s *shop) showOrder(w http.ResponseWriter, r *http.Request) error {
	o, err := s.orderOf(r)
	if err != nil {
		return err
	}
	seen, err := s.look(r.Context(), o)
	if err != nil {
		return err
	}
	v := s.view(r, "order", "order")
	v.Data, v.Refresh = seen, seen.Pending()
	s.render(w, http.StatusOK, v)
	return nil
}

// receiptView is an order with the deposit that has paid it.
type receiptView struct {
	orderView
	By deposit
}

func (s *shop) showReceipt(w http.ResponseWriter, r *http.Request) error {
	o, err := s.orderOf(r)
	if err != nil {
		return err
	}
	seen, err := s.look(r.Context(), o)
	if err != nil {
		return err
	}
	by, ok := seen.Paid()
	if !ok {
		return errNotFound
	}
	v := s.view(r, "receipt", "receipt")
	v.Data = receiptView{seen, by}
	s.render(w, http.StatusOK, v)
	return nil
}

const (
	maxListeners = 500              // of one process
	maxPerOrder  = 8                // so that one order's address cannot take every place
	listenFor    = 10 * time.Minute // the browser comes back by itself
	writeTimeout = 10 * time.Second
	beat         = 15 // looks between two signs of life
)

// liveOrder sends the part of the order page that changes, each time it has changed, as
// server-sent events.
func (s *shop) liveOrder(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if !s.live.enter(id) {
		http.Error(w, "too many pages listen; load this one again", http.StatusServiceUnavailable)
		return
	}
	defer s.live.leave(id)
	ctx, cancel := context.WithTimeout(r.Context(), listenFor)
	defer cancel()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies are to pass events on at once
	// The server's timeout for reading a request would end the listening, too.
	if err := http.NewResponseController(w).SetReadDeadline(time.Time{}); err != nil {
		http.Error(w, "this connection cannot listen", http.StatusNotImplemented)
		return
	}
	out := &eventWriter{ResponseWriter: w}
	for {
		event, err := s.orderEvent(ctx, r)
		if err != nil {
			if ctx.Err() == nil && out.last == "" {
				http.Error(w, "no such order", http.StatusNotFound)
			}
			return
		}
		if out.send(event) != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-s.ending:
			return
		case <-time.After(s.watchPause):
		}
	}
}

// orderEvent is the changing part of the page as one event, named by its contents.
func (s *shop) orderEvent(ctx context.Context, r *http.Request) (string, error) {
	o, err := s.orderByID(ctx, r.PathValue("id"))
	if err != nil {
		return "", err
	}
	seen, err := s.look(ctx, o)
	if err != nil {
		return "", err
	}
	v := s.view(r, "order", "order")
	v.Data = seen
	html, err := v.part("live")
	if err != nil {
		slog.Error("webshop: a template failed", "page", "live", "error", err)
		return "", err
	}
	return fmt.Sprintf("id: %s\ndata: %s\n\n", digest(html), strings.ReplaceAll(html, "\n", "\ndata: ")), nil
}

// Version names what the changing part of the page has in it.
func (v *view) Version() (string, error) {
	html, err := v.part("live")
	return digest(html), err
}

func (v *view) part(name string) (string, error) {
	var out bytes.Buffer
	err := pages.ExecuteTemplate(&out, name, v)
	return out.String(), err
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// eventWriter sends what has changed, and now and then a sign of life.
type eventWriter struct {
	http.ResponseWriter
	last  string
	quiet int
}

func (e *eventWriter) send(event string) error {
	if event == e.last {
		if e.quiet++; e.quiet < beat {
			return nil
		}
		event = ":\n\n"
	} else {
		e.last = event
	}
	e.quiet = 0
	control := http.NewResponseController(e.ResponseWriter)
	if err := control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err := e.Write([]byte(event)); err != nil { //nolint:gosec // html/template has escaped it
		return err
	}
	return control.Flush()
}
