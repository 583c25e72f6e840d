package mockserver

import (
	"time"

	"github.com/google/uuid"
)

// Notification is a bank notification that the mobile app uploaded and the server
// accepted (interface §4.6). The server keeps it and draws no conclusion from it:
// use [Server.Deposit] to recognise a deposit.
type Notification struct {
	// ID is the deposit_id of the answer, a UUID.
	ID string
	// Package is the package name of the bank's app, from the bank list.
	Package string
	// Title, Subtitle and Text are the texts of the notification.
	Title, Subtitle, Text string
	// ReceivedAt is a time of the server's clock.
	ReceivedAt time.Time
}

// Notifications returns the accepted notifications, oldest first, at most the
// last [Config.MaxRequests].
func (s *Server) Notifications() []Notification {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Notification(nil), s.notices...)
}

// uploadDeposit answers POST /mobile/deposit. The interface shows no field names;
// these are package, title, subtitle and text, plus an optional token. The answer
// is {"result":"RECEIVED","deposit_id":"…"}, or {"result":"IGNORED"} for an app
// that is not in the bank list.
func (s *Server) uploadDeposit(c *call) ([]byte, *Error) {
	n, token, problem := readNotification(c.body)
	if problem != nil {
		return nil, problem
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if token != "" {
		if _, problem := s.application(token); problem != nil {
			return nil, problem
		}
	}
	if !bankPackages[n.Package] {
		return []byte(`{"result":"IGNORED"}`), nil
	}
	n.ID, n.ReceivedAt = uuid.NewString(), s.clock.now()
	if len(s.notices) >= s.cfg.MaxRequests {
		s.notices = append(s.notices[:0], s.notices[1:]...)
	}
	s.notices = append(s.notices, n)
	return []byte(`{"result":"RECEIVED","deposit_id":"` + n.ID + `"}`), nil
}

func readNotification(body []byte) (n Notification, token string, problem *Error) {
	o, problem := parseObject(body)
	if problem != nil {
		return n, "", problem
	}
	if n.Package, problem = o.required("package", "package"); problem != nil {
		return n, "", problem
	}
	names := [...]string{"title", "subtitle", "text", "token"}
	for i, text := range [...]*string{&n.Title, &n.Subtitle, &n.Text, &token} {
		if *text, problem = o.text(names[i], names[i]); problem != nil {
			return n, "", problem
		}
	}
	if n.Title == "" && n.Subtitle == "" && n.Text == "" {
		return n, "", invalidParameter("title", "is required: send the title and the subtitle (or text) of the notification")
	}
	return n, token, nil
}
