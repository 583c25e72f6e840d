package payments

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/internal/wire"
)

// isRecord names the members that mark an object as a payment record. status and
// metadata are not among them: error objects have those as well.
func isRecord(name string) bool {
	switch name {
	case "id", "identifier", "paid_amount", "paidAmount", "method", "verified_ts":
		return true
	}
	return false
}

// decoder reads records of one deployment.
type decoder struct {
	gameField string
	// clean removes the token from unknown fields: a broken service might echo it there, and
	// callers print unknown fields.
	clean func([]byte) []byte
}

// fieldError names the invalid field of a response, never its value.
type fieldError struct{ field, reason string }

func (e *fieldError) Error() string { return "field " + e.field + " " + e.reason }

// payment reads a record. The fields that decide about money (id, identifier, status,
// method, paid_amount) must be readable; any other unreadable field goes to Extra.
func (d *decoder) payment(object []byte) (Payment, error) {
	var p Payment
	var seen fieldSet
	hasAmount := false
	for name, raw := range wire.Members(object) {
		f, known := paymentFields[name]
		switch {
		case name == "error" || name == "error_msg":
			continue // null: wire.Read returns no record next to an error
		case !known:
			p.Extra = d.keep(p.Extra, name, raw)
			continue
		case !seen.add(f):
			return Payment{}, &fieldError{name, "occurs twice: the record is ambiguous"}
		case wire.IsNull(raw):
			continue
		}
		hasAmount = hasAmount || f == fieldPaidAmount
		if err := d.field(&p, f, name, raw); err != nil {
			return Payment{}, err
		}
	}
	if !hasAmount {
		return Payment{}, &fieldError{"paid_amount", "is missing"}
	}
	return p, nil
}

type field uint8

const (
	fieldID field = iota
	fieldIdentifier
	fieldStatus
	fieldMethod
	fieldPaidAmount
	fieldVerifiedTS
	fieldMetadata
)

// paidAmount is the spelling of an older dialect.
var paymentFields = map[string]field{
	"id": fieldID, "identifier": fieldIdentifier, "status": fieldStatus, "method": fieldMethod,
	"paid_amount": fieldPaidAmount, "paidAmount": fieldPaidAmount,
	"verified_ts": fieldVerifiedTS, "metadata": fieldMetadata,
}

// fieldSet remembers which fields a record had.
type fieldSet uint16

// add reports whether f is new.
func (s *fieldSet) add(f field) bool {
	had := *s&(1<<f) != 0
	*s |= 1 << f
	return !had
}

func (d *decoder) field(p *Payment, f field, name string, raw []byte) (err error) {
	switch f {
	case fieldID:
		p.ID, err = uuidFromJSON(raw)
	case fieldIdentifier:
		p.Identifier, err = wire.String(raw)
	case fieldStatus:
		var s string
		s, err = wire.String(raw)
		p.Status = Status(s)
	case fieldMethod:
		var s string
		s, err = wire.String(raw)
		p.Method = Method(s)
	case fieldPaidAmount:
		p.PaidAmount, err = amountFromJSON(raw)
	case fieldVerifiedTS:
		var ok bool
		if p.VerifiedAt, ok = wire.Time(raw); !ok {
			p.Extra = d.keep(p.Extra, name, raw)
		}
	case fieldMetadata:
		var ok bool
		if p.Metadata, ok = d.metadata(raw); !ok {
			p.Extra = d.keep(p.Extra, name, raw)
		}
	}
	if err != nil {
		return &fieldError{name, err.Error()}
	}
	return nil
}

// metadata reads the object; ok is false if it is something else. [] is what some
// services make of an empty object.
func (d *decoder) metadata(raw []byte) (m Metadata, ok bool) {
	if !wire.IsObject(raw) {
		return Metadata{}, string(raw) == "[]"
	}
	items, product := 0, 0
	for name, raw := range wire.Members(raw) {
		switch name {
		case "items":
			items++
			if m.Items, ok = d.items(raw); ok && items == 1 {
				continue
			}
			m.Items = nil
		case d.gameField:
			product++
			s, err := wire.String(raw)
			if err == nil && product == 1 {
				m.GameProduct = s
				continue
			}
			m.GameProduct = "" // twice is ambiguous: an empty product matches nothing
		}
		m.Extra = d.keep(m.Extra, name, raw)
	}
	return m, true
}

func (d *decoder) items(raw []byte) ([]Item, bool) {
	if wire.IsNull(raw) {
		return nil, true
	}
	if raw[0] != '[' {
		return nil, false
	}
	items := make([]Item, 0, 4)
	for element := range wire.Elements(raw) {
		item, ok := d.item(element)
		if !ok {
			return nil, false
		}
		items = append(items, item)
	}
	return items, true
}

func (d *decoder) item(raw []byte) (item Item, ok bool) {
	if !wire.IsObject(raw) {
		return Item{}, false
	}
	for name, raw := range wire.Members(raw) {
		var err error
		switch name {
		case "name":
			item.Name, err = wire.String(raw)
		case "price":
			item.Price, err = amountFromJSON(raw)
		case "count":
			if !wire.IsNull(raw) {
				item.Count, err = countFromJSON(raw)
			}
		default:
			item.Extra = d.keep(item.Extra, name, raw)
		}
		if err != nil {
			return Item{}, false
		}
	}
	return item, true
}

func (d *decoder) keep(extra map[string]json.RawMessage, name string, raw []byte) map[string]json.RawMessage {
	return wire.Keep(extra, name, raw, d.clean)
}

func uuidFromJSON(raw []byte) (uuid.UUID, error) {
	if len(raw) != 38 || raw[0] != '"' {
		return uuid.Nil, fmt.Errorf("is %s, not a hyphenated UUID", wire.Describe(raw))
	}
	id, err := uuid.ParseBytes(raw[1:37])
	if err != nil {
		return uuid.Nil, fmt.Errorf("is not a hyphenated UUID")
	}
	return id, nil
}

func countFromJSON(raw []byte) (int64, error) {
	a, err := amountFromJSON(raw)
	if err != nil {
		return 0, err
	}
	n, whole := a.Int64()
	if !whole || n < 0 || n > math.MaxInt32 {
		return 0, ErrAmountRange
	}
	return n, nil
}
