package payments

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// Payment is a payment record (interface §2.2), as Next and Confirm return it.
type Payment struct {
	// ID is the payment's id: the payment_id of a webhook, the payToken of Create and
	// Confirm. It is uuid.Nil if a polled record carried none; such a record cannot be
	// told from another one and must not be granted without a look.
	ID uuid.UUID
	// Identifier is the one given at creation, verbatim; for a game-store payment the
	// game user's id.
	Identifier string
	// Status is StatusComplete in a verified payment.
	Status Status
	// Method is how the customer paid.
	Method Method
	// PaidAmount is what arrived. It may differ from what was asked for, and 0 is not money.
	PaidAmount Amount
	// VerifiedAt is verified_ts, in UTC. It is the zero time if the record carried none;
	// a value that is no time stands in Extra.
	VerifiedAt time.Time
	// Metadata says what was paid for.
	Metadata Metadata
	// Extra holds every field that has no place above, as its JSON; nil if there is none.
	Extra map[string]json.RawMessage
}

// Metadata says what a payment was for (interface §2.2).
type Metadata struct {
	// Items are the items given at creation; nil for game-store payments.
	Items []Item
	// GameProduct is the dashboard's product id; empty except for game-store payments.
	// Config.GameProductField names the field it is read from.
	GameProduct string
	// Extra holds every other field, as its JSON; nil if there is none. Items or a
	// product that could not be read stand here under their own name.
	Extra map[string]json.RawMessage
}

// Item is one line of a payment (interface §2.1, §2.2).
type Item struct {
	// Name is required at creation.
	Name string
	// Price is the price of one. It is always sent; 0 is a free item.
	Price Amount
	// Count is the quantity. 0 means that it was not given.
	Count int64
	// Icon is a URL that begins with https://, or empty. It is sent at creation; a
	// record carries none.
	Icon string
	// Extra holds every other field of a record's item, as its JSON. It is not sent.
	Extra map[string]json.RawMessage
}
