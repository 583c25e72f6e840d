package banks

import (
	"context"
	"net/http"
	"unicode/utf8"

	"github.com/depositpay/depositpay-go/internal/transport"
	"github.com/depositpay/depositpay-go/internal/wire"
)

const (
	ifLostOnce = "the notification may have been accepted; ask the service's operator before uploading it again, or it may count twice"
	ifLostByID = "the notification may have been accepted; upload it again with the same ID"
)

// uploadOp returns the operation of a Client's uploads. With byID it is retried after a lost
// response, because the service drops the duplicate.
func uploadOp(hasToken, byID bool) *transport.Op {
	op := &transport.Op{
		Name: "UploadDeposit", Method: http.MethodPost, Path: "/mobile/deposit",
		Class: transport.Once, IfLost: ifLostOnce,
	}
	if hasToken {
		op.Token = transport.TokenInBody
	}
	if byID {
		op.Class, op.IfLost = transport.Idempotent, ifLostByID
	}
	return op
}

// Notification is a bank notification on the phone (interface §4.6).
type Notification struct {
	// ID is the phone's own id for this notification, by which the service can drop
	// duplicates. Create it once, when the notification arrives, and store it with the
	// notification: two deposits with equal texts need two IDs. Optional. See
	// Config.DropsRepeatsByID.
	ID string
	// Package is the package name of the app that posted the notification. Required; see Filter.
	Package string
	// Title is the notification's title. Title or one of the texts is required.
	Title string
	// Subtitle and Text are the notification's text; the interface names subtitle (or text).
	Subtitle, Text string
}

// UploadDeposit uploads a notification (POST /mobile/deposit, interface §4.6), with the field
// names of Config.Fields. The interface documents no response: Uploaded is empty if the
// response is.
//
// If the response may have been lost, the error is ErrAmbiguous. A notification with an ID
// is retried first if Config.DropsRepeatsByID is set, and SafeToRetry is true. Any other is
// not retried, because the deposit might count twice.
func (c *Client) UploadDeposit(ctx context.Context, n Notification) (Uploaded, error) {
	if err := n.validate(); err != nil {
		return Uploaded{}, err
	}
	op := c.upload
	if n.ID != "" {
		op = c.uploadByID
	}
	reply, failure := c.caller.Do(ctx, op, "", c.encode(n), isUploaded)
	if failure != nil {
		return Uploaded{}, newError(failure)
	}
	return c.uploaded(reply.Object), nil
}

func (n *Notification) validate() error {
	if n.Package == "" {
		return &ValidationError{"UploadDeposit", "Package", "is empty; it says which bank's notification it is"}
	}
	if n.Title == "" && n.Subtitle == "" && n.Text == "" {
		return &ValidationError{"UploadDeposit", "Text", "is empty, and so are Title and Subtitle: there is nothing to recognise"}
	}
	for _, f := range []struct{ name, value string }{
		{"ID", n.ID}, {"Package", n.Package}, {"Title", n.Title}, {"Subtitle", n.Subtitle}, {"Text", n.Text},
	} {
		if !utf8.ValidString(f.value) {
			return &ValidationError{"UploadDeposit", f.name, "is not valid UTF-8"}
		}
	}
	return nil
}

// encode writes the non-empty fields, package first.
func (c *Client) encode(n Notification) []byte {
	b := []byte{'{'}
	for _, f := range []struct{ name, value string }{
		{c.fields.Package, n.Package}, {c.fields.Title, n.Title},
		{c.fields.Subtitle, n.Subtitle}, {c.fields.Text, n.Text}, {c.fields.ID, n.ID},
	} {
		if f.value == "" {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(wire.AppendString(b, f.name), ':')
		b = wire.AppendString(b, f.value)
	}
	return append(b, '}')
}
