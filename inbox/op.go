package inbox

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/depositpay/depositpay-go/internal/wire"
	"github.com/depositpay/depositpay-go/payments"
)

// op is something to be written down: the unit of acceptance. An op is idempotent.
type op struct {
	Kind       opKind `json:"k"`
	ID         string `json:"id"` // payment id, or the order's for opOrder
	Channel    bits   `json:"ch"`
	Identifier string `json:"idf"`
	Body       string `json:"body"` // the record, or the raw bytes of opRaw
	Reason     Reason `json:"why"`  // of opReview
	// Of opOrder and opBind:
	OrderID string `json:"ord"`
	Amount  string `json:"amt"`
	Items   string `json:"items"`

	owed bool // of opRecord: the ledger is likely to wait for it; not stored
}

// bits are a Channel as a database and the intake file have it: a number.
type bits int

type opKind string

const (
	opRecord opKind = "record" // a verified record: expected or hint becomes ready
	opReview opKind = "review" // a record that is never handed over as it is
	opHint   opKind = "hint"   // an id named by a webhook, before it is confirmed
	opNo     opKind = "no"     // what the service has said to that confirm
	opRaw    opKind = "raw"    // what a poll returned, before it is decoded
	opOrder  opKind = "order"  // an order, before the payment is created
	opBind   opKind = "bind"   // the order's payment
	opCancel opKind = "cancel" // the order again, whose payment was not created
	opProbe  opKind = "probe"  // nothing: can anything be written down?
)

// never is a run_at that does not come; reconciliation brings it forward.
const never = int64(1) << 62

func recordOp(p payments.Payment, channel Channel) (op, error) {
	body, err := p.MarshalJSON() // as json.Marshal, without checking our own JSON once more
	return op{Kind: opRecord, ID: p.ID.String(), Channel: bits(channel), Identifier: identifierKey(p.Identifier), Body: string(body)}, err
}

const base64Prefix = "base64:"

// storable keeps any bytes as text: PostgreSQL takes no NUL and no invalid UTF-8.
func storable(s string) string {
	if utf8.ValidString(s) && !strings.ContainsRune(s, 0) && !strings.HasPrefix(s, base64Prefix) {
		return s
	}
	return base64Prefix + base64.StdEncoding.EncodeToString([]byte(s))
}

// restored is the inverse of storable.
func restored(s string) string {
	if coded, ok := strings.CutPrefix(s, base64Prefix); ok {
		if b, err := base64.StdEncoding.DecodeString(coded); err == nil {
			return string(b)
		}
	}
	return s
}

// maxIdentifier is how many bytes of an identifier the ledger compares and indexes:
// PostgreSQL refuses index entries above 2,704.
const maxIdentifier = 500

// identifierKey is an identifier as the ledger has it next to the record: itself, or of
// a long one the beginning and a hash of all.
func identifierKey(identifier string) string {
	s := storable(identifier)
	if len(s) <= maxIdentifier {
		return s
	}
	hash := sha256.Sum256([]byte(s))
	return strings.ToValidUTF8(s[:maxIdentifier/2], "") + "…sha256:" + hex.EncodeToString(hash[:])
}

// appendJSON writes the op by hand: it is in the path of every acceptance.
func (o op) appendJSON(b []byte) []byte {
	b = slices.Grow(b, 160+len(o.Body)*5/4+len(o.Items))
	b = append(b, `{"k":"`...)
	b = append(b, o.Kind...)
	b = append(b, `","ch":`...)
	b = strconv.AppendInt(b, int64(o.Channel), 10)
	for _, f := range [...]struct{ name, value string }{
		{`,"id":`, o.ID}, {`,"idf":`, o.Identifier}, {`,"body":`, o.Body}, {`,"why":`, string(o.Reason)},
		{`,"ord":`, o.OrderID}, {`,"amt":`, o.Amount}, {`,"items":`, o.Items},
	} {
		if f.value != "" || f.name == `,"idf":` { // json_to_recordset makes NULL of what is absent
			b = wire.AppendString(append(b, f.name...), f.value)
		}
	}
	return append(b, '}')
}

func opsJSON(ops []op) string {
	b := []byte{'['}
	for i, o := range ops {
		if i > 0 {
			b = append(b, ',')
		}
		b = o.appendJSON(b)
	}
	return string(append(b, ']'))
}

// splitRecords takes the records out of ops, in layers of different ids: a statement may touch
// a row only once.
func splitRecords(ops []op) (records [][]op, others []op) {
	seen := make(map[string]int, len(ops))
	for _, o := range ops {
		if o.Kind != opRecord {
			others = append(others, o)
			continue
		}
		layer := seen[o.ID]
		seen[o.ID]++
		if layer == len(records) {
			records = append(records, nil)
		}
		records[layer] = append(records[layer], o)
	}
	return records, others
}
