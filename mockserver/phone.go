package mockserver

import (
	"crypto/sha256"
	"strings"
	"time"

	"github.com/google/uuid"

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
	// Result is its fate.
	Result Result
	// PaymentID is the payment that it paid, once Result is [ResultMatched].
	PaymentID string
}

// Result is the fate of a notification, and the "result" of the answer. The
// interface shows no answer (§4.6); these are choices of this mock.
type Result string

// The results of accepted notifications.
const (
	// ResultReceived: it reports no deposit. Nothing follows from it.
	ResultReceived Result = "RECEIVED"
	// ResultMatched: it is the deposit of one payment, now in PROGRESS.
	ResultMatched Result = "MATCHED"
	// ResultUnmatched: it is a deposit, but not surely of one payment; see
	// [Server.Unmatched].
	ResultUnmatched Result = "UNMATCHED"
	// ResultDismissed: it was unmatched until [Server.DismissUnmatched].
	ResultDismissed Result = "DISMISSED"
)

// repeatWindow is how long, by the server's clock, the same texts of the same app
// are the same notification. A phone that got no response retries within minutes.
// Most banks write the time and the balance into the text, so two deposits
// never read alike; where a bank does not, two equal deposits within the window count
// once unless the phone sends a notification_id, which makes it exact.
const repeatWindow = 5 * time.Minute

// phone holds the bank notifications that phones have uploaded. It is guarded by
// Server.mu.
type phone struct {
	cfg     *Config
	clock   *clock
	changes *changes
	apps    *directory
	book    *book

	uploads []*upload // oldest first, at most Config.MaxRequests
	byID    map[string]*upload
	seen    map[repeatKey]*upload

	unmatched []*Unmatched // oldest first, at most Config.MaxRequests
	dropped   int          // how many unmatched deposits were dropped
}

// upload is an accepted notification.
type upload struct {
	Notification
	key  repeatKey
	text [sha256.Size]byte
	// reason and candidates are those of an unmatched deposit.
	reason UnmatchedReason
}

// repeatKey identifies repeats of an upload: the application that uploaded it, and the
// phone's own id or else the texts.
type repeatKey struct {
	app  *application
	id   string
	text [sha256.Size]byte
}

func newUpload(n Notification, app *application, now time.Time) *upload {
	n.ID, n.ReceivedAt = uuid.NewString(), now
	texts := strings.Join([]string{n.Package, n.Title, n.Subtitle, n.Text}, "\x00")
	u := &upload{Notification: n, text: sha256.Sum256([]byte(texts))}
	u.key = repeatKey{app: app, text: u.text}
	if n.NotificationID != "" {
		u.key = repeatKey{app: app, id: n.Package + "\x00" + n.NotificationID}
	}
	return u
}

// receive stores a notification and pays the payment that it matches. It returns nil for
// an app that is not in the bank list. With a token only the payments of its application
// count, else those of all.
func (f *phone) receive(n Notification, token string) (u *upload, repeated bool, problem *Error) {
	said := notice.Read(notice.Notification{Package: n.Package, Title: n.Title, Subtitle: n.Subtitle, Text: n.Text})
	var app *application
	if token != "" {
		if app, problem = f.apps.find(token); problem != nil {
			return nil, false, problem
		}
	}
	if !bankPackages[n.Package] {
		return nil, false, nil
	}
	u = newUpload(n, app, f.clock.now())
	if first := f.seen[u.key]; first != nil {
		if u.NotificationID != "" && first.text != u.text {
			return nil, false, invalidParameter("notification_id",
				"was sent with other texts before; every notification has an id of its own")
		}
		if u.NotificationID != "" || u.ReceivedAt.Sub(first.ReceivedAt) < repeatWindow {
			return first, true, nil
		}
	}
	if problem := f.assign(u, app, said); problem != nil {
		return nil, false, problem // nothing is kept, so the phone may try again
	}
	f.keep(u)
	return u, false, nil
}

// assign decides what a notification means.
func (f *phone) assign(u *upload, app *application, said notice.Notice) *Error {
	if said.Direction != notice.Deposit {
		u.Result = ResultReceived
		return nil
	}
	f.book.expire()
	p, reason, candidates := f.book.payers.match(said, func(p *payment) bool {
		return f.book.awaitsDeposit(p) && (app == nil || p.app == app)
	})
	if p == nil {
		u.Result, u.reason = ResultUnmatched, reason
		f.addUnmatched(&Unmatched{
			Notification: u.Notification, Reason: reason, Payer: said.Payer, Amount: said.Amount, Candidates: candidates,
		})
		return nil
	}
	_, problem := f.pay(u, p.ID, said.Payer, said.Amount)
	return problem
}

// pay makes a notification the deposit of a payment.
func (f *phone) pay(u *upload, payToken, payer string, amount int64) (*payment, *Error) {
	if p := f.book.byID[payToken]; p != nil && p.Payer != "" && notice.Matches(payer, p.Payer) {
		payer = "" // the customer's own spelling has no hidden characters
	}
	p, problem := f.book.recognize(payToken, depositInput{payer: payer, amount: &amount})
	if problem == nil {
		u.Result, u.PaymentID, u.reason = ResultMatched, payToken, ""
	}
	return p, problem
}

// keep files a notification and drops the oldest at the cap.
func (f *phone) keep(u *upload) {
	if len(f.uploads) >= f.cfg.MaxRequests {
		oldest := f.uploads[0]
		f.uploads = append(f.uploads[:0], f.uploads[1:]...)
		delete(f.byID, oldest.ID)
		if f.seen[oldest.key] == oldest {
			delete(f.seen, oldest.key)
		}
	}
	f.uploads = append(f.uploads, u)
	f.byID[u.ID], f.seen[u.key] = u, u
	f.changes.note()
}
