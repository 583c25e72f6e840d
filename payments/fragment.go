package payments

import "github.com/depositpay/depositpay-go/internal/wire"

// MayHoldRecord reports whether Raw may hold any part of a payment's record, so that a
// person may find the payment by it. It is false if nothing arrived, and if what arrived
// is the beginning of an answer without a record ("no payment" in any of its forms, an
// error of the service) or a page or a text of a proxy. Such an answer says nothing of
// whether a record was to follow: the error is ErrAmbiguous still.
func (e *Error) MayHoldRecord() bool { return wire.Trace(e.Raw, isRecord) }
