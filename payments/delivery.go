package payments

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/internal/api"
	"github.com/depositpay/depositpay-go/internal/transport"
	"github.com/depositpay/depositpay-go/internal/wire"
)

var (
	opStatus = &transport.Op{
		Name: "WebhookStatus", Method: http.MethodGet, Path: "/callback/webhook/status",
		Class: transport.ReadOnly, Token: transport.TokenInQuery,
	}
	opResend = &transport.Op{
		Name: "ResendWebhook", Method: http.MethodPost, Path: "/callback/webhook/resend",
		Class: transport.Once, Token: transport.TokenInBody,
		IfLost: "a webhook may be on its way; read WebhookStatus before asking again",
	}
)

// DeliveryStatus is the state of a webhook delivery (interface §2.4). Values other than
// these constants are passed through unchanged.
type DeliveryStatus string

// Delivery statuses. The interface names delivered and failed. DeliveryPending is this
// project's name for a delivery with attempts left.
const (
	DeliveryPending   DeliveryStatus = "pending"
	DeliveryDelivered DeliveryStatus = "delivered"
	DeliveryFailed    DeliveryStatus = "failed"
)

// Delivery is a webhook delivery. The interface does not document its fields (§2.4, §4.7):
// expect Status from every deployment and the other fields from some. Unknown fields are in
// Extra.
type Delivery struct {
	// PaymentID is the payment's id; uuid.Nil if the response has none.
	PaymentID uuid.UUID
	// WebhookID is the value of X-Webhook-ID, if the response has it.
	WebhookID string
	// Status is empty if the response has none.
	Status DeliveryStatus
	// Attempts is the number of attempts so far, at most 10 per event (§6.4).
	Attempts int64
	// LastAttemptAt and NextAttemptAt are in UTC; the zero time if unknown or none.
	LastAttemptAt, NextAttemptAt time.Time
	// Extra holds every other field, as its JSON; nil if there is none.
	Extra map[string]json.RawMessage
}

// WebhookStatus reads the state of the webhook of a payment (GET
// /callback/webhook/status, interface §4.7). The payment is sent as the query
// parameter payToken.
func (c *Client) WebhookStatus(ctx context.Context, payToken uuid.UUID) (Delivery, error) {
	return c.delivery(ctx, opStatus, "payToken="+payToken.String(), nil, payToken)
}

// ResendWebhook asks the service to send the webhook of a payment again (POST
// /callback/webhook/resend, interface §4.7). For a payment that is already COMPLETE
// the service marks the delivery delivered and sends nothing (§6.5): use Confirm then.
// If the response may have been lost, the error is ErrAmbiguous. A second webhook is
// harmless to a receiver that drops duplicates by payment_id.
func (c *Client) ResendWebhook(ctx context.Context, payToken uuid.UUID) (Delivery, error) {
	return c.delivery(ctx, opResend, "", payTokenJSON(payToken), payToken)
}

func (c *Client) delivery(ctx context.Context, op *transport.Op, query string, body []byte, payToken uuid.UUID) (Delivery, error) {
	if payToken == uuid.Nil {
		return Delivery{}, &ValidationError{op.Name, "payToken", "is the nil UUID"}
	}
	reply, failure := c.caller.Do(ctx, op, query, body, isDelivery)
	if failure != nil {
		return Delivery{}, newError(failure, payToken)
	}
	return c.readDelivery(op, reply, payToken)
}

func isDelivery(name string) bool {
	switch name {
	case "payment_id", "webhook_id", "attempts", "status":
		return true
	}
	return false
}

func (c *Client) readDelivery(op *transport.Op, reply api.Reply, payToken uuid.UUID) (Delivery, error) {
	var d Delivery
	for name, raw := range wire.Members(reply.Object) {
		if wire.IsNull(raw) {
			continue
		}
		if !c.decoder.deliveryField(&d, name, raw) {
			d.Extra = c.decoder.keep(d.Extra, name, raw)
		}
	}
	if op == opStatus && d.Status == "" {
		return Delivery{}, newError(c.caller.Undecodable(op, reply.Outcome, "it has no status"), payToken)
	}
	if d.PaymentID != uuid.Nil && d.PaymentID != payToken {
		return Delivery{}, c.mismatch(op, reply, payToken, ErrWrongPayment, "the answer is about payment "+d.PaymentID.String())
	}
	return d, nil
}

// deliveryField reports whether it could read the field. A delivery is not about money, so
// an unreadable field goes to Extra instead of failing the call.
func (d *decoder) deliveryField(out *Delivery, name string, raw []byte) (ok bool) {
	var err error
	switch name {
	case "payment_id":
		out.PaymentID, err = uuidFromJSON(raw)
	case "webhook_id":
		out.WebhookID, err = wire.String(raw)
	case "status":
		var s string
		s, err = wire.String(raw)
		out.Status = DeliveryStatus(s)
	case "attempts":
		out.Attempts, err = countFromJSON(raw)
	case "last_attempt_ts":
		out.LastAttemptAt, ok = wire.Time(raw)
		return ok
	case "next_attempt_ts":
		out.NextAttemptAt, ok = wire.Time(raw)
		return ok
	default:
		return false
	}
	return err == nil
}
