package payments

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/internal/wire"
)

// MarshalJSON writes the flat record with the interface's field names, Extra included.
// Empty fields are omitted.
func (p Payment) MarshalJSON() ([]byte, error) {
	o := object{}
	if p.ID != uuid.Nil {
		o.text("id", p.ID.String())
	}
	o.text("identifier", p.Identifier)
	o.optional("status", string(p.Status))
	o.optional("method", string(p.Method))
	o.raw("paid_amount", p.PaidAmount.append(nil))
	if !p.VerifiedAt.IsZero() {
		o.text("verified_ts", p.VerifiedAt.Format(time.RFC3339Nano))
	}
	if m := p.Metadata.object(); len(m) > 0 {
		o.raw("metadata", m.close())
	}
	o.extra(p.Extra)
	return o.close(), nil
}

// UnmarshalJSON reads a flat record with the field name game_product. It is as strict as
// Next and Confirm, except that it accepts any status.
func (p *Payment) UnmarshalJSON(raw []byte) error {
	raw = wire.Trim(raw)
	if !json.Valid(raw) || !wire.IsObject(raw) {
		return &fieldError{"payment", "is " + wire.Describe(raw) + ", not an object"}
	}
	d := decoder{gameField: defaultGameField, clean: func(b []byte) []byte { return b }}
	decoded, err := d.payment(raw)
	if err == nil {
		*p = decoded
	}
	return err
}

func (m *Metadata) object() object {
	o := object{}
	if m.Items != nil {
		list := []byte{'['}
		for i := range m.Items {
			if i > 0 {
				list = append(list, ',')
			}
			list = append(list, m.Items[i].encode()...)
		}
		o.raw("items", append(list, ']'))
	}
	o.optional(defaultGameField, m.GameProduct)
	extra := m.Extra
	if other, taken := extra[defaultGameField]; taken && m.GameProduct != "" {
		// The deployment's own field has another name; this one is unrelated.
		extra = maps.Clone(extra)
		delete(extra, defaultGameField)
		extra["_"+defaultGameField] = other
	}
	o.extra(extra)
	return o
}

// MarshalJSON writes the item with the interface's field names.
func (i Item) MarshalJSON() ([]byte, error) { return i.encode(), nil }

func (i *Item) encode() []byte {
	body := i.appendJSON(nil)
	o := object(body[:len(body)-1]) // open again, for the extra fields
	o.extra(i.Extra)
	return o.close()
}

// object is a JSON object under construction; empty until it has a member.
type object []byte

func (o *object) raw(name string, value []byte) {
	if len(*o) == 0 {
		*o = append(*o, '{')
	} else {
		*o = append(*o, ',')
	}
	*o = append(wire.AppendString(*o, name), ':')
	*o = append(*o, value...)
}

func (o *object) text(name, value string) { o.raw(name, wire.AppendString(nil, value)) }

func (o *object) optional(name, value string) {
	if value != "" {
		o.text(name, value)
	}
}

// extra adds the unknown fields in sorted order, so that equal payments encode equally.
func (o *object) extra(fields map[string]json.RawMessage) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if value := fields[name]; len(value) > 0 {
			o.raw(name, value)
		}
	}
}

func (o object) close() []byte {
	if len(o) == 0 {
		return []byte("{}")
	}
	return append(o, '}')
}
