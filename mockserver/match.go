package mockserver

import (
	"crypto/sha256"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/mockserver/internal/notice"
)

// repeatWindow is how long, by the server's clock, the same texts of the same app
// are the same notification. A phone that got no answer tries again within minutes.
// Most banks write the time and the balance into the text, so that two deposits
// never read alike; where one does not, two equal deposits within the window count
// once unless the phone sends a notification_id, which makes it exact.
const repeatWindow = 5 * time.Minute

// phone is what the server knows by bank notifications, guarded by Server.mu.
type phone struct {
	uploads []*upload // oldest first, at most Config.MaxRequests
	byID    map[string]*upload
	seen    map[repeatKey]*upload
	payers  payers

	unmatched []*Unmatched // oldest first, at most Config.MaxRequests
	dropped   int          // how many unmatched deposits were forgotten
}

// upload is an accepted notification.
type upload struct {
	Notification
	key  repeatKey
	text [sha256.Size]byte
	// reason and candidates are those of an unmatched deposit.
	reason UnmatchedReason
}

// repeatKey is by what a repeated upload is known: the application that uploaded
// it, and the phone's own id or else the texts.
type repeatKey struct {
	app  *application
	id   string
	text [sha256.Size]byte
}

func newUpload(n Notification, app *application, now time.Time) *upload {
	n.ID, n.ReceivedAt = uuid.NewString(), now
	u := &upload{Notification: n, text: sha256.Sum256([]byte(strings.Join([]string{n.Package, n.Title, n.Subtitle, n.Text}, "\x00")))}
	u.key = repeatKey{app: app, text: u.text}
	if n.NotificationID != "" {
		u.key = repeatKey{app: app, id: n.Package + "\x00" + n.NotificationID}
	}
	return u
}

// uploadDeposit answers POST /mobile/deposit (interface §4.6). It drops what comes
// from an app that is not in the bank list: {"result":"IGNORED"}. Else the answer
// is flat:
//
//	{"result":"MATCHED","deposit_id":"…","payToken":"…"}
//	{"result":"UNMATCHED","deposit_id":"…","reason":"NO_MATCH"}
//	{"result":"RECEIVED","deposit_id":"…"}    no deposit: an advert, a withdrawal
//	{"result":"DISMISSED","deposit_id":"…"}   a repeat, after a person dismissed it
//
// A repeated upload gets the answer as it would be now, with "repeated":true. With
// a token only the payments of its application count, else those of all.
func (s *Server) uploadDeposit(c *call) ([]byte, *Error) {
	n, token, problem := readNotification(c.body)
	if problem != nil {
		return nil, problem
	}
	said := notice.Read(notice.Notification{Package: n.Package, Title: n.Title, Subtitle: n.Subtitle, Text: n.Text})
	s.mu.Lock()
	defer s.mu.Unlock()
	var app *application
	if token != "" {
		if app, problem = s.application(token); problem != nil {
			return nil, problem
		}
	}
	if !bankPackages[n.Package] {
		return []byte(`{"result":"IGNORED"}`), nil
	}
	u := newUpload(n, app, s.clock.now())
	if first := s.phone.seen[u.key]; first != nil {
		if u.NotificationID != "" && first.text != u.text {
			return nil, invalidParameter("notification_id", "was sent with other texts before; every notification has an id of its own")
		}
		if u.NotificationID != "" || u.ReceivedAt.Sub(first.ReceivedAt) < repeatWindow {
			return first.answer(true), nil
		}
	}
	if problem := s.assign(u, app, said); problem != nil {
		return nil, problem // nothing is kept, so that the phone may try again
	}
	s.keepUpload(u)
	return u.answer(false), nil
}

// assign finds out what became of a notification.
func (s *Server) assign(u *upload, app *application, said notice.Notice) *Error {
	if said.Direction != notice.Deposit {
		u.Result = ResultReceived
		return nil
	}
	p, reason, candidates := s.match(app, said)
	if p == nil {
		u.Result, u.reason = ResultUnmatched, reason
		s.addUnmatched(&Unmatched{
			Notification: u.Notification, Reason: reason, Payer: said.Payer, Amount: said.Amount, Candidates: candidates,
		})
		return nil
	}
	return s.pay(u, p.ID, said.Payer, said.Amount)
}

// pay makes a notification the deposit of a payment.
func (s *Server) pay(u *upload, payToken, payer string, amount int64) *Error {
	if p := s.payments[payToken]; p != nil && p.Payer != "" && notice.Matches(payer, p.Payer) {
		payer = "" // the customer's own spelling has no hidden characters
	}
	_, problem := s.recogniseLocked(payToken, depositInput{payer: payer, amount: &amount}, func(*payment) {})
	if problem == nil {
		u.Result, u.PaymentID, u.reason = ResultMatched, payToken, ""
	}
	return problem
}

// keepUpload files a notification and forgets the oldest at the cap.
func (s *Server) keepUpload(u *upload) {
	f := &s.phone
	if f.seen == nil {
		f.seen, f.byID = make(map[repeatKey]*upload), make(map[string]*upload)
	}
	if len(f.uploads) >= s.cfg.MaxRequests {
		oldest := f.uploads[0]
		f.uploads = append(f.uploads[:0], f.uploads[1:]...)
		delete(f.byID, oldest.ID)
		if f.seen[oldest.key] == oldest {
			delete(f.seen, oldest.key)
		}
	}
	f.uploads = append(f.uploads, u)
	f.byID[u.ID], f.seen[u.key] = u, u
	s.changed()
}

func (u *upload) answer(repeated bool) []byte {
	b := append([]byte(`{"result":"`), u.Result...)
	b = append(b, `","deposit_id":"`...)
	b = append(append(b, u.ID...), '"')
	if u.Result == ResultMatched {
		b = append(append(b, `,"payToken":"`...), u.PaymentID...)
		b = append(b, '"')
	}
	if u.Result == ResultUnmatched {
		b = append(append(b, `,"reason":"`...), u.reason...)
		b = append(b, '"')
	}
	if repeated {
		b = append(b, `,"repeated":true`...)
	}
	return append(b, '}')
}
