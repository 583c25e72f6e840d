package mockserver

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/depositpay/depositpay-go/mockserver/internal/strictjson"
)

// Status is the status value of a payment (interface §3).
//
// The interface lists five stages and names two values. The mock maps the stages:
//
//	payment created, waiting for payer information  CREATED
//	deposit being confirmed (payer known)           WAITING
//	approval pending (deposit recognized)           PROGRESS
//	payment complete                                COMPLETE
//	unpaid for longer than [Config.Lifetime]        EXPIRED
//
// A deposit is accepted in CREATED and in WAITING; nothing leaves COMPLETE.
// [Config.StatusNames] spells the stages that the interface leaves open.
type Status string

// The status values. PROGRESS and COMPLETE are the interface's, the others are
// choices of this mock.
const (
	// StatusCreated: created, nobody has said who will pay. The first status.
	StatusCreated Status = "CREATED"
	// StatusWaiting: the payer is known and the deposit is awaited. A deposit
	// made with [Server.Deposit] names the payer itself and skips this stage.
	StatusWaiting Status = "WAITING"
	// StatusProgress: the deposit is recognized, the approval is pending.
	StatusProgress Status = "PROGRESS"
	// StatusComplete: completed and approved, by a poll or by a confirmation.
	StatusComplete Status = "COMPLETE"
	// StatusExpired: nobody paid within [Config.Lifetime].
	StatusExpired Status = "EXPIRED"
)

// DefaultMethod is the payment method of a deposit that names none.
const DefaultMethod = "DEPOSIT"

// Payment is what the service knows about one payment: a copy taken at the call.
type Payment struct {
	// ID is the payToken, the webhook's payment_id and the record's id: one
	// lower-case UUID version 4.
	ID string
	// Application is the name of the application that the payment belongs to.
	Application string
	// Identifier is the client's identifier, verbatim; the id of the user for a
	// payment of the game store.
	Identifier string
	// Title is the title given at creation; the name of the product for a
	// payment of the game store.
	Title string
	// Icon is the https:// address given at creation; empty without one.
	Icon string
	// Items are the things paid for, in the order given at creation.
	Items []Item
	// GameProduct is the id of the product for a payment of the game store
	// (interface §1.5), empty for any other.
	GameProduct string
	// Status is the stage of the payment.
	Status Status
	// Amount is the fixed price given at creation; 0 when the payer chooses.
	Amount int64
	// Payer is who pays: the name given to [Server.GivePayer], and after a deposit
	// the name in the deposit. Empty before either.
	Payer string
	// PayerAmount is how much the payer wants to pay for a payment without a fixed
	// price, as given to [Server.GivePayer]; otherwise 0.
	PayerAmount int64
	// Method is how it was paid, such as "DEPOSIT"; empty before a deposit.
	Method string
	// PaidAmount is what was paid; 0 before a deposit.
	PaidAmount int64
	// Completions counts how often the record was handed out as newly completed,
	// by a poll or a confirmation, whether or not the response arrived. It is at
	// most 1 unless [Config.ConfirmKeepsState] is set.
	Completions int
	// CreatedAt, DepositedAt and VerifiedAt are times of the server's clock; the
	// zero time when the stage is not reached.
	CreatedAt, DepositedAt, VerifiedAt time.Time
	// ExpiresAt is when the payment expires, or has expired, unless it is paid
	// before; zero without [Config.Lifetime].
	ExpiresAt time.Time
}

// AmountDue is how much a deposit should pay: the fixed price, or else the amount that
// the payer gave; 0 while it is unknown.
func (p Payment) AmountDue() int64 {
	if p.Amount != 0 {
		return p.Amount
	}
	return p.PayerAmount
}

// unpaid reports whether the payment waits for a deposit.
func (p *Payment) unpaid() bool { return p.Status == StatusCreated || p.Status == StatusWaiting }

// payment is the stored form, guarded by Server.mu. Application, Items and
// ExpiresAt follow from the other fields: export fills them in.
type payment struct {
	Payment
	app      *application
	metadata []byte   // {"items":[…]} or {"game_product":"…"} ready to send, or nil
	icons    []string // of the items, in their order; nil when none has one
	delivery *delivery
	history  *history // nil until something happens to the payment
}

func (p *payment) export() Payment {
	out := p.Payment
	out.Application, out.Items = p.app.Name, p.items()
	if lifetime := p.app.cfg.Lifetime; lifetime > 0 {
		out.ExpiresAt = p.CreatedAt.Add(lifetime)
	}
	return out
}

// appendRecord appends the payment record (interface §2.2). Fields that the
// payment does not have yet are absent.
func (p *payment) appendRecord(b []byte) []byte { return p.appendRecordAs(b, p.Status) }

// appendRecordAs renders the record as in another stage.
func (p *payment) appendRecordAs(b []byte, status Status) []byte {
	b = append(b, `{"id":"`...)
	b = append(b, p.ID...)
	b = append(b, `","identifier":`...)
	b = strictjson.AppendString(b, p.Identifier)
	b = append(b, `,"status":"`...)
	b = append(b, p.app.cfg.statusName(status)...)
	b = append(b, '"')
	if status == StatusProgress || status == StatusComplete {
		b = append(b, `,"method":`...)
		b = strictjson.AppendString(b, p.Method)
		b = append(b, `,"paid_amount":`...)
		b = strconv.AppendInt(b, p.PaidAmount, 10)
	}
	if status == StatusComplete {
		b = append(b, `,"verified_ts":"`...)
		b = p.VerifiedAt.UTC().AppendFormat(b, timeLayout)
		b = append(b, '"')
	}
	if p.metadata != nil {
		b = append(b, `,"metadata":`...)
		b = append(b, p.metadata...)
	}
	return append(b, '}')
}

// recordSize is an estimate that saves the hot answers a second allocation.
func (p *payment) recordSize() int { return 192 + len(p.Identifier) + len(p.metadata) }

// size is how much memory the texts of a payment take.
func (p *payment) size() int {
	size := len(p.Identifier) + len(p.Title) + len(p.Icon) + len(p.metadata)
	for _, icon := range p.icons {
		size += len(icon) + 16
	}
	return size
}

// itemsField is the field of a creation and of metadata that holds the items.
const itemsField = "items"

// Item is one thing paid for (interface §2.1, §2.2).
type Item struct {
	// Name is the name of the item.
	Name string
	// Price is a whole number of the currency's unit, at least 0.
	Price int64
	// Count is at least 1; 1 where the creation gave none.
	Count int64
	// Icon is the https:// address given at creation; empty without one. The
	// record does not carry it.
	Icon string
}

// readItems turns the items of a creation into the metadata of the record, in the
// same order, and the icons that the record leaves out. Both are nil when there
// is nothing to keep.
func readItems(o object) (metadata []byte, icons []string, problem *Error) {
	raw, ok := o.Get(itemsField)
	if !ok {
		return nil, nil, nil
	}
	elements, ok := strictjson.SplitArray(raw)
	if !ok {
		return nil, nil, invalidParameter(itemsField, "must be an array of objects")
	}
	if len(elements) == 0 {
		return nil, nil, nil
	}
	metadata = []byte(`{"items":[`)
	for i, element := range elements {
		item, problem := readItem(element, fmt.Sprintf("items[%d]", i))
		if problem != nil {
			return nil, nil, problem
		}
		if i > 0 {
			metadata = append(metadata, ',')
		}
		metadata = item.append(metadata)
		if item.Icon != "" {
			if icons == nil {
				icons = make([]string, len(elements))
			}
			icons[i] = item.Icon
		}
	}
	return append(metadata, "]}"...), icons, nil
}

func readItem(raw []byte, path string) (item Item, problem *Error) {
	if raw[0] != '{' {
		return item, invalidParameter(path, "must be an object with name and price")
	}
	o, problem := splitObject(raw)
	if problem != nil {
		return item, problem
	}
	if item.Name, problem = o.required("name", path+".name"); problem != nil {
		return item, problem
	}
	var present bool
	if item.Price, present, problem = o.whole("price", path+".price", 0); problem != nil {
		return item, problem
	}
	if !present {
		return item, invalidParameter(path+".price", "is required: send a whole number")
	}
	if item.Count, present, problem = o.whole("count", path+".count", 1); problem != nil {
		return item, problem
	}
	if !present {
		item.Count = 1
	}
	item.Icon, problem = readIcon(o, path+".icon")
	return item, problem
}

// append renders the item as the record has it.
func (i Item) append(b []byte) []byte {
	b = append(b, `{"name":`...)
	b = strictjson.AppendString(b, i.Name)
	b = append(b, `,"price":`...)
	b = strconv.AppendInt(b, i.Price, 10)
	b = append(b, `,"count":`...)
	b = strconv.AppendInt(b, i.Count, 10)
	return append(b, '}')
}

// items reads the items back from the metadata, so that 100,000 payments hold them once.
func (p *payment) items() []Item {
	if p.metadata == nil || p.GameProduct != "" {
		return nil
	}
	o, _ := splitObject(p.metadata)
	raw, _ := o.Get(itemsField)
	elements, _ := strictjson.SplitArray(raw)
	list := make([]Item, len(elements))
	for i, element := range elements {
		list[i], _ = readItem(element, itemsField)
		if p.icons != nil {
			list[i].Icon = p.icons[i]
		}
	}
	return list
}

// readIcon reads an optional icon; an empty one is as wrong as any other.
func readIcon(o object, path string) (string, *Error) {
	icon, problem := o.text("icon", path)
	if _, present := o.Get("icon"); problem == nil && present {
		problem = checkIcon(icon, path)
	}
	return icon, problem
}

func checkIcon(icon, path string) *Error {
	if !strings.HasPrefix(icon, "https://") {
		return invalidParameter(path, `must start with "https://"`)
	}
	return nil
}
