package mockserver

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/depositpay/depositpay-go/mockserver/internal/notice"
)

// Notification is a bank notification that the mobile app uploaded and the server
// accepted (interface §4.6).
type Notification struct {
	// ID is the deposit_id of the answer, a UUID.
	ID string
	// NotificationID is the phone's own name for it; empty if it sent none.
	NotificationID string
	// Package is the package name of the bank's app, from the bank list.
	Package string
	// Title, Subtitle and Text are the texts of the notification.
	Title, Subtitle, Text string
	// ReceivedAt is a time of the server's clock.
	ReceivedAt time.Time
	// Result is what became of it.
	Result Result
	// PaymentID is the payment that it paid, once Result is [ResultMatched].
	PaymentID string
}

// Result is what became of a notification, and the "result" of the answer. The
// interface shows no answer (§4.6); these are choices of this mock.
type Result string

// The results of accepted notifications.
const (
	// ResultReceived: it tells of no deposit. Nothing follows from it.
	ResultReceived Result = "RECEIVED"
	// ResultMatched: it is the deposit of one payment, now in PROGRESS.
	ResultMatched Result = "MATCHED"
	// ResultUnmatched: it is a deposit, but not surely of one payment; see
	// [Server.Unmatched].
	ResultUnmatched Result = "UNMATCHED"
	// ResultDismissed: it was unmatched until [Server.DismissUnmatched].
	ResultDismissed Result = "DISMISSED"
)

// Notifications returns the accepted notifications, oldest first, at most the
// last [Config.MaxRequests].
func (s *Server) Notifications() []Notification {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Notification, len(s.phone.uploads))
	for i, u := range s.phone.uploads {
		list[i] = u.Notification
	}
	return list
}

// SendNotification plays a bank and the phone: it words a deposit as the bank's app
// does, in one of its forms, and uploads it as the phone would, request log and
// faults included. The same deposit sent twice counts twice, like two transfers.
//
// It returns what was uploaded and what became of it. The payer has 1 to 40
// characters, the amount is at least 1; the package is one of the bank list. An
// [*Error] says what was refused; any other error tells of an answer that was lost.
func (s *Server) SendNotification(bankPackage, payer string, amount int64) (Notification, error) {
	name, err := checkName(payer, maxNameLength)
	switch {
	case !bankPackages[bankPackage]:
		return Notification{}, invalidParameter("package", "is not in the bank list; take one of GET /mobile/banks")
	case err != nil:
		return Notification{}, invalidParameter("payer", err.Error())
	case amount < 1:
		return Notification{}, invalidParameter("amount", "must be at least 1")
	}
	title, text := notice.Compose(bankPackage, name, amount, s.Now())
	n, err := s.playPhone(Notification{Package: bankPackage, Title: title, Text: text})
	if err == nil && n.ID == "" {
		err = errors.New("mockserver: the service kept nothing of the notification")
	}
	return n, err
}

// maxNotificationID is the longest notification_id in bytes.
const maxNotificationID = 200

// readNotification reads an upload. The interface shows no field names; these are
// package, title, subtitle, text, and optionally token and notification_id.
func readNotification(body []byte) (n Notification, token string, problem *Error) {
	o, problem := parseObject(body)
	if problem != nil {
		return n, "", problem
	}
	if n.Package, problem = o.required("package", "package"); problem != nil {
		return n, "", problem
	}
	names := [...]string{"title", "subtitle", "text", "token", "notification_id"}
	for i, text := range [...]*string{&n.Title, &n.Subtitle, &n.Text, &token, &n.NotificationID} {
		if *text, problem = o.text(names[i], names[i]); problem != nil {
			return n, "", problem
		}
	}
	if n.Title == "" && n.Subtitle == "" && n.Text == "" {
		return n, "", invalidParameter("title", "is required: send the title and the subtitle (or text) of the notification")
	}
	if len(n.NotificationID) > maxNotificationID || !utf8.ValidString(n.NotificationID) {
		return n, "", invalidParameter("notification_id", fmt.Sprintf("must be valid UTF-8 of at most %d bytes", maxNotificationID))
	}
	return n, token, nil
}
