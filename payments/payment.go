package payments

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// Payment is a payment record (interface §2.2), as Next and Confirm return it.
type Payment struct {
	// ID is the payment's id: the payment_id of a webhook, the payToken of Create and Confirm.
	// It is uuid.Nil if a polled record has none. Such a record cannot be distinguished from a
	// duplicate; have a person check it before granting anything.
	ID uuid.UUID
	// Identifier is the identifier given at creation, verbatim; for a game-store payment the
	// game user's id.
	Identifier string
	// Status is StatusComplete in a verified payment.
	Status Status
	// Method is how the customer paid.
	Method Method
	// PaidAmount is the amount that arrived. It may differ from the amount due, and may be 0.
	PaidAmount Amount
	// VerifiedAt is verified_ts in UTC. It is the zero time if the record has none; a value
	// that is not a time is in Extra.
	VerifiedAt time.Time
	// Metadata says what was paid for.
	Metadata Metadata
	// Extra holds every other field, as its JSON; nil if there is none.
	Extra map[string]json.RawMessage
}

// Metadata says what a payment was for (interface §2.2).
type Metadata struct {
	// Items are the items given at creation; nil for game-store payments.
	Items []Item
	// GameProduct is the dashboard's product id; empty except for game-store payments.
	// Config.GameProductField names the field it is read from.
	GameProduct string
	// Extra holds every other field, as its JSON; nil if there is none. Unreadable items or
	// products are here under their own names.
	Extra map[string]json.RawMessage
}

// Item is one line of a payment (interface §2.1, §2.2).
type Item struct {
	// Name is required at creation.
	Name string
	// Price is the price of one item. It is always sent; 0 is a free item.
	Price Amount
	// Count is the quantity; 0 if not given.
	Count int64
	// Icon is a URL beginning with https://, or empty. It is sent at creation and is not part
	// of a record.
	Icon string
	// Extra holds every other field of a record's item, as its JSON. It is not sent.
	Extra map[string]json.RawMessage
}
