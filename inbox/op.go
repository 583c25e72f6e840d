package inbox

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/depositpay/depositpay-go/payments"
)

// op is something to be written down: the unit of acceptance. An op is idempotent.
type op struct {
	Kind       opKind  `json:"k"`
	ID         string  `json:"id"` // payment id, or the order's for opOrder
	Channel    Channel `json:"ch"`
	Identifier string  `json:"idf"`
	Body       string  `json:"body"` // the record, or the raw bytes of opRaw
	Reason     Reason  `json:"why"`  // of opReview
	// Of opOrder and opBind:
	OrderID string `json:"ord"`
	Amount  string `json:"amt"`
	Items   string `json:"items"`
}

type opKind string

const (
	opRecord opKind = "record" // a verified record: expected or hint becomes ready
	opReview opKind = "review" // a record that is never handed over as it is
	opHint   opKind = "hint"   // an id named by a webhook, before it is confirmed
	opRaw    opKind = "raw"    // what a poll returned, before it is decoded
	opOrder  opKind = "order"  // an order, before the payment is created
	opBind   opKind = "bind"   // the order's payment
)

// never is a run_at that does not come; reconciliation brings it forward.
const never = int64(1) << 62

func recordOp(p payments.Payment, channel Channel) (op, error) {
	body, err := json.Marshal(p)
	return op{Kind: opRecord, ID: p.ID.String(), Channel: channel, Identifier: storable(p.Identifier), Body: string(body)}, err
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

// merge leaves one op of each kind for an id: a statement may touch a row only once.
// The first record wins, as it does in the ledger.
func merge(ops []op) []op {
	type key struct {
		kind opKind
		id   string
	}
	seen := make(map[key]bool, len(ops))
	out := ops[:0:0]
	for _, o := range ops {
		k := key{o.Kind, o.ID}
		if o.Kind != opRaw && seen[k] {
			continue
		}
		seen[k] = true
		out = append(out, o)
	}
	return out
}
