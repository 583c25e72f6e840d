package payments

import "github.com/depositpay/depositpay-go/internal/wire"

// MayHoldRecord reports whether Raw may hold part of a payment's record, by which a person
// could find the payment. It is false if nothing arrived, or if Raw begins a response
// without a record ("no payment" in any form, an error of the service, a proxy's page or
// text). The error is ErrAmbiguous even then: a record might have followed.
func (e *Error) MayHoldRecord() bool { return wire.Trace(e.Raw, isRecord) }
