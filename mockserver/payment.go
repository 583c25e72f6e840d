package mockserver

import "time"

// Status is the status value of a payment (interface §3).
//
// The interface lists five stages and names two values. This mock maps them so:
//
//	payment created, waiting for payer information  CREATED
//	deposit being confirmed (payer known)           WAITING
//	approval pending (deposit recognised)           PROGRESS
//	payment complete                                COMPLETE
//
// A deposit is taken in CREATED and in WAITING; nothing leaves COMPLETE.
type Status string

// The status values. PROGRESS and COMPLETE are the interface's, the others are
// choices of this mock.
const (
	// StatusCreated: created, nobody has said who will pay. The first status.
	StatusCreated Status = "CREATED"
	// StatusWaiting: the payer is known and the deposit is awaited. A deposit
	// made with [Server.Deposit] names the payer itself and skips this stage.
	StatusWaiting Status = "WAITING"
	// StatusProgress: the deposit is recognised, the approval is pending.
	StatusProgress Status = "PROGRESS"
	// StatusComplete: completed and approved, by a poll or by a confirmation.
	StatusComplete Status = "COMPLETE"
)

// DefaultMethod is the payment method of a deposit that names none.
const DefaultMethod = "DEPOSIT"

// Payment is what the service knows about one payment, a copy taken at the call.
type Payment struct {
	// ID is the payToken, the webhook's payment_id and the record's id: one
	// lower-case UUID version 4.
	ID string
	// Identifier is the client's identifier, verbatim.
	Identifier string
	// Title is the title given at creation.
	Title string
	// Status is the stage of the payment.
	Status Status
	// Amount is the fixed price given at creation; 0 when the payer chooses.
	Amount int64
	// Payer is who paid, as the deposit named it; empty before a deposit.
	Payer string
	// Method is how it was paid, such as "DEPOSIT"; empty before a deposit.
	Method string
	// PaidAmount is what was paid; 0 before a deposit.
	PaidAmount int64
	// CreatedAt, DepositedAt and VerifiedAt are times of the server's clock; the
	// zero time when the stage is not reached.
	CreatedAt, DepositedAt, VerifiedAt time.Time
}

// payment is the stored form, guarded by Server.mu.
type payment struct {
	Payment
	app      *application
	metadata []byte // {"items":[…]} ready to send, nil without items
	delivery *delivery
}

// application is one client of the service (interface §5.1).
type application struct {
	token      string
	webhookURL string
	// waiting holds payments in the order in which they reached PROGRESS. One
	// that a confirmation has completed meanwhile stays until a poll meets it.
	waiting []*payment
	head    int
}

func (a *application) push(p *payment) {
	// The polled half is given back before the slice grows over it.
	if a.head > 1024 && a.head > len(a.waiting)/2 {
		n := copy(a.waiting, a.waiting[a.head:])
		clear(a.waiting[n:])
		a.waiting, a.head = a.waiting[:n], 0
	}
	a.waiting = append(a.waiting, p)
}

// pop takes the payment that has been in PROGRESS for the longest time.
func (a *application) pop() *payment {
	for a.head < len(a.waiting) {
		p := a.waiting[a.head]
		a.waiting[a.head] = nil
		a.head++
		if p.Status == StatusProgress {
			return p
		}
	}
	a.waiting, a.head = a.waiting[:0], 0
	return nil
}

// appendRecord appends the payment record (interface §2.2). Fields that the
// payment does not have yet are absent.
func (p *payment) appendRecord(b []byte) []byte {
	b = append(b, `{"id":"`...)
	b = append(b, p.ID...)
	b = append(b, `","identifier":`...)
	b = appendString(b, p.Identifier)
	b = append(b, `,"status":"`...)
	b = append(b, p.Status...)
	b = append(b, '"')
	if p.Status == StatusProgress || p.Status == StatusComplete {
		b = append(b, `,"method":`...)
		b = appendString(b, p.Method)
		b = append(b, `,"paid_amount":`...)
		b = appendInt(b, p.PaidAmount)
	}
	if p.Status == StatusComplete {
		b = append(b, `,"verified_ts":`...)
		b = appendTime(b, p.VerifiedAt)
	}
	if p.metadata != nil {
		b = append(b, `,"metadata":`...)
		b = append(b, p.metadata...)
	}
	return append(b, '}')
}

// recordSize is a guess that spares the hot answers a second allocation.
func (p *payment) recordSize() int { return 192 + len(p.Identifier) + len(p.metadata) }
