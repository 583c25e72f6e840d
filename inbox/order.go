package inbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// Create creates a payment with the service and registers what to expect: identifier, amount and items
// of req. The order is durable before the service is called, so the inbox knows of every payment that
// completes: if the process dies in between, the record is matched by its identifier.
//
// If the error is payments.ErrAmbiguous, a payment may exist that nobody can pay, since its link is
// unknown. If the error says that the payment was created but not registered, Created is set: call
// Expect, or do not give the link out.
func (b *Inbox) Create(ctx context.Context, req payments.CreateRequest) (payments.Created, error) {
	if err := req.Validate(); err != nil {
		return payments.Created{}, err
	}
	order, err := b.order(ctx, req)
	if err != nil {
		return payments.Created{}, err
	}
	created, err := b.cfg.Client.Create(ctx, req)
	if err != nil {
		return payments.Created{}, b.notCreated(context.WithoutCancel(ctx), order, err)
	}
	// The payment exists now: register it even if the caller gives up.
	if err := b.bind(context.WithoutCancel(ctx), order, created.PayToken); err != nil {
		return created, fmt.Errorf("inbox: payment %s was created and not registered: %w", created.PayToken, err)
	}
	return created, nil
}

// notCreated removes the order if the service certainly has no payment for it: it would match a later
// payment of the same identifier.
func (b *Inbox) notCreated(ctx context.Context, order op, err error) error {
	if _, ok := errors.AsType[*payments.Error](err); !ok || errors.Is(err, payments.ErrAmbiguous) {
		return err // there may be a payment
	}
	order.Kind = opCancel
	if cancelErr := b.intake.put(ctx, order); cancelErr != nil {
		return errors.Join(err, fmt.Errorf("inbox: the order of identifier %q stays open: %w", order.Identifier, cancelErr))
	}
	return err
}

// Expect registers what to expect of a payment that was created elsewhere. Calling it again for the
// same payment changes nothing: the first registration counts.
func (b *Inbox) Expect(ctx context.Context, payToken uuid.UUID, req payments.CreateRequest) error {
	if payToken == uuid.Nil {
		return fmt.Errorf("inbox: Expect: payToken is the nil UUID")
	}
	order, err := b.order(ctx, req)
	if err != nil {
		return err
	}
	return b.bind(ctx, order, payToken)
}

// order stores an order that has no payment yet.
func (b *Inbox) order(ctx context.Context, req payments.CreateRequest) (op, error) {
	items, err := json.Marshal(req.Items)
	if err != nil {
		return op{}, fmt.Errorf("inbox: items: %w", err)
	}
	id := uuid.NewString()
	o := op{
		Kind: opOrder, ID: id, OrderID: id, Identifier: identifierKey(req.Identifier),
		Amount: req.Amount.String(), Items: storable(string(items)),
	}
	return o, b.intake.put(ctx, o)
}

// bind gives the order its payment.
func (b *Inbox) bind(ctx context.Context, order op, payToken uuid.UUID) error {
	order.Kind, order.ID = opBind, payToken.String()
	if err := b.intake.put(ctx, order); err != nil {
		return err
	}
	b.intake.states.add(payToken, webhook.StateExpected)
	return nil
}
