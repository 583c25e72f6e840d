package payments

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/internal/transport"
	"github.com/depositpay/depositpay-go/internal/wire"
)

var opCreate = &transport.Op{
	Name: "Create", Method: http.MethodPost, Path: "/payments",
	Class: transport.Once, Token: transport.TokenInBody,
	IfLost: "a payment may exist whose payToken is unknown; creating again makes a second one, which nobody pays unless its link is given out",
}

// CreateRequest describes a new payment (interface §2.1). The token is added by the Client.
type CreateRequest struct {
	// Title is shown to the customer. Required.
	Title string
	// Identifier is the merchant's own key, which the record returns verbatim. Required. Use a
	// different one for each order, so that a payment can be matched to it.
	Identifier string
	// Icon is shown on the checkout page: a URL beginning with https://, or empty.
	Icon string
	// Amount is the amount due. If it is 0, the customer enters an amount.
	Amount Amount
	// Items are shown to the customer and returned in Metadata.Items.
	Items []Item
}

// Created is the response to Create.
type Created struct {
	// PayToken is the payment's id: Payment.ID, the webhook's payment_id.
	PayToken uuid.UUID
	// Extra holds every other field of the answer, as its JSON; nil if there is none.
	Extra map[string]json.RawMessage
}

// Create creates a payment (POST /payments, interface §4.1).
//
// An invalid request is not sent: the error is a *ValidationError. If the response may have
// been lost, the error is ErrAmbiguous, and Create does not retry.
func (c *Client) Create(ctx context.Context, req CreateRequest) (Created, error) {
	if err := req.Validate(); err != nil {
		return Created{}, err
	}
	reply, failure := c.caller.Do(ctx, opCreate, "", req.appendJSON(nil), isCreated)
	if failure != nil {
		return Created{}, newError(failure, uuid.Nil)
	}
	created, err := c.decoder.created(reply.Object)
	if err != nil {
		return Created{}, newError(c.caller.Undecodable(opCreate, reply.Outcome, err.Error()), uuid.Nil)
	}
	return created, nil
}

func isCreated(name string) bool { return name == "payToken" }

func (d *decoder) created(object []byte) (Created, error) {
	var created Created
	found := false
	for name, raw := range wire.Members(object) {
		if !isCreated(name) {
			created.Extra = d.keep(created.Extra, name, raw)
			continue
		}
		if found {
			return Created{}, &fieldError{name, "occurs twice: the answer is ambiguous"}
		}
		var err error
		if created.PayToken, err = uuidFromJSON(raw); err != nil {
			return Created{}, &fieldError{name, err.Error()}
		}
		found = true
	}
	if !found {
		return Created{}, &fieldError{"payToken", "is missing"}
	}
	return created, nil
}

// appendJSON writes the body without the token. It is always an object.
func (r *CreateRequest) appendJSON(b []byte) []byte {
	b = append(b, `{"title":`...)
	b = wire.AppendString(b, r.Title)
	b = append(b, `,"identifier":`...)
	b = wire.AppendString(b, r.Identifier)
	if r.Icon != "" {
		b = append(b, `,"icon":`...)
		b = wire.AppendString(b, r.Icon)
	}
	if !r.Amount.IsZero() {
		b = append(b, `,"amount":`...)
		b = r.Amount.append(b)
	}
	if len(r.Items) > 0 {
		b = append(b, `,"items":[`...)
		for i := range r.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = r.Items[i].appendJSON(b)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

func (i *Item) appendJSON(b []byte) []byte {
	b = append(b, `{"name":`...)
	b = wire.AppendString(b, i.Name)
	b = append(b, `,"price":`...)
	b = i.Price.append(b)
	if i.Count != 0 {
		b = append(b, `,"count":`...)
		b = strconv.AppendInt(b, i.Count, 10)
	}
	if i.Icon != "" {
		b = append(b, `,"icon":`...)
		b = wire.AppendString(b, i.Icon)
	}
	return append(b, '}')
}
