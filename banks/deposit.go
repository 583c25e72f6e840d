package banks

import (
	"context"
	"encoding/json"
	"net/http"
	"unicode/utf8"

	"github.com/depositpay/depositpay-go/internal/transport"
	"github.com/depositpay/depositpay-go/internal/wire"
)

// An upload carries the token only where one is configured, so it has two forms.
var (
	opUpload      = uploadOp(transport.TokenInBody)
	opUploadNoTok = uploadOp(transport.NoToken)
)

func uploadOp(token transport.TokenPlace) *transport.Op {
	return &transport.Op{
		Name: "UploadDeposit", Method: http.MethodPost, Path: "/mobile/deposit",
		Class: transport.Once, Token: token,
		IfLost: "the notification may have been taken; look at the payment before uploading it again",
	}
}

// Notification is a bank notification of the phone (interface §4.6).
type Notification struct {
	// Package is the package name of the app that showed it. Required; see Filter.
	Package string
	// Title of the notification. Title or one of the texts is required.
	Title string
	// Subtitle and Text are its text; the interface names subtitle (or text).
	Subtitle, Text string
}

// UploadDeposit uploads a notification (POST /mobile/deposit, interface §4.6). The
// names of the fields are Config.Fields'. The interface shows no answer: its fields
// come back as they are, nil if the answer was empty. If the answer may have been
// lost the error is ErrAmbiguous, and UploadDeposit does not try again by itself.
func (c *Client) UploadDeposit(ctx context.Context, n Notification) (map[string]json.RawMessage, error) {
	if err := n.validate(); err != nil {
		return nil, err
	}
	op := opUploadNoTok
	if c.hasToken {
		op = opUpload
	}
	reply, failure := c.caller.Do(ctx, op, "", c.encode(n), func(string) bool { return false })
	if failure != nil {
		return nil, newError(failure)
	}
	var answer map[string]json.RawMessage
	for name, raw := range wire.Members(reply.Object) {
		answer = wire.Keep(answer, name, raw, c.caller.Transport.Redactor().Bytes)
	}
	return answer, nil
}

func (n *Notification) validate() error {
	if n.Package == "" {
		return &ValidationError{"UploadDeposit", "Package", "is empty; it says which bank's notification it is"}
	}
	if n.Title == "" && n.Subtitle == "" && n.Text == "" {
		return &ValidationError{"UploadDeposit", "Text", "is empty, and so are Title and Subtitle: there is nothing to recognise"}
	}
	for _, f := range []struct{ name, value string }{
		{"Package", n.Package}, {"Title", n.Title}, {"Subtitle", n.Subtitle}, {"Text", n.Text},
	} {
		if !utf8.ValidString(f.value) {
			return &ValidationError{"UploadDeposit", f.name, "is not valid UTF-8"}
		}
	}
	return nil
}

// encode writes the fields that are there, package first.
func (c *Client) encode(n Notification) []byte {
	b := []byte{'{'}
	for _, f := range []struct{ name, value string }{
		{c.fields.Package, n.Package}, {c.fields.Title, n.Title},
		{c.fields.Subtitle, n.Subtitle}, {c.fields.Text, n.Text},
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
