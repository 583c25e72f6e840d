package mockserver

import (
	"errors"
	"slices"

	"github.com/depositpay/depositpay-go/mockserver/internal/notice"
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

// SendNotification plays a bank and the phone: it describes a deposit as the bank's app
// does, in one of its forms, and uploads it as the phone would, request log and
// faults included. The same deposit sent twice counts twice, like two transfers.
//
// It returns the notification with its fate. The payer has 1 to 40
// characters, the amount is at least 1; the package is one of the bank list. An
// [*Error] says what was refused; any other error means that the response was lost.
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
	n, err := playPhone(s, Notification{Package: bankPackage, Title: title, Text: text})
	if err == nil && n.ID == "" {
		err = errors.New("mockserver: the service kept nothing of the notification")
	}
	return n, err
}

// Unmatched returns the deposits that wait for a person, oldest first, at most
// [Config.MaxRequests]. When the oldest is dropped at that cap, the server logs the
// first drop, the tenth, the hundredth and so on.
func (s *Server) Unmatched() []Unmatched {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Unmatched, len(s.phone.unmatched))
	for i, u := range s.phone.unmatched {
		list[i] = *u
		list[i].Candidates = slices.Clone(u.Candidates)
	}
	return list
}

// ResolveUnmatched gives an unmatched deposit to a payment, which goes to PROGRESS
// as after [Server.Deposit]. The amount paid is the one in the notification, even if
// another amount was due; pass 0 for it. Pass an amount only where the notification's
// is not readable: another amount than the notification's is an error.
//
// id is [Notification.ID], and the payment may be of any application. The error is
// an [*Error]: [CodeUnmatchedNotFound], [CodeInvalidParameter], or one of
// [Server.Deposit]; the deposit then stays unmatched.
func (s *Server) ResolveUnmatched(id, payToken string, amount int64) (Payment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return exported(s.phone.resolve(id, payToken, amount))
}

// DismissUnmatched takes a deposit off the list of the unmatched without a payment.
// The error is an [*Error] with [CodeUnmatchedNotFound].
func (s *Server) DismissUnmatched(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return asError(s.phone.dismiss(id))
}
