package inbox

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/internal/wire"
	"github.com/depositpay/depositpay-go/payments"
)

// store is what differs between the databases: how ops become durable. All other statements are
// the same for both, translated by dialect.
type store interface {
	// room returns an error if the store cannot take another op now.
	room(kind opKind) error
	// lanes is how many groups of ops can be accepted at once.
	lanes() int
	// accept makes ops durable; they take effect at once or with a later fold. Calls for one lane
	// do not overlap, and a payment always has the same lane.
	accept(ctx context.Context, lane int, ops []op) error
	// fold applies accepted ops to the ledger (a checkpoint of the intake log) and reports whether
	// there were any.
	fold(ctx context.Context) (bool, error)
	// unfolded returns the op of a payment that is durable but not applied yet: its record if there
	// is one, else its registration.
	unfolded(id uuid.UUID) (op, bool)
	// claims runs statements that claim rows, lookups runs queries by key; see queryRows.
	claims() retrier
	lookups() retrier
	// ledger runs transactions, reader runs queries.
	ledger() pool
	reader() pool
	close() error
}

// The statements that apply an op. Each touches only the op's own row, and none waits for a row
// that a handler's transaction has locked: such a row is ready in every snapshot, and these look for
// rows that are missing or not ready yet. ON CONFLICT alone would wait for the handler; it resolves
// two inserts at the same moment. "stage + 0" keeps the planner off the partial indexes of a stage,
// which look cheap while they are small and are not the way to one row.
const (
	// A different second record of a payment in review is checked again: a voucher that failed may
	// be paid after all.
	sqlPromote = `UPDATE {p}payments AS p SET stage = {ready}, record = ?3, source = p.source | ?2,
		identifier = CASE WHEN p.own = 1 THEN p.identifier ELSE ?4 END,
		run_at = {now}, wait = 0, ready_at = {now}, tries = 0, reason = '', confirm = {none}, seen = p.seen + 1
		WHERE p.payment_id = ?1 AND (p.stage + 0 < {ready} OR p.stage + 0 = {review} AND p.record <> ?3)`
	sqlInsert = `INSERT INTO {p}payments (payment_id, stage, serialized, source, record, identifier, reason, run_at, ready_at, first_seen)
		SELECT ?1, ?2, {serialized}, ?3, ?4, ?5, ?6, {now}, {now}, {now} {new} ON CONFLICT (payment_id) DO NOTHING`
	sqlHint = `INSERT INTO {p}payments (payment_id, stage, serialized, confirm, run_at, asked_at, first_seen)
		SELECT ?1, {hint}, {serialized}, {named}, {now} + ?2, {now}, {now} {new} ON CONFLICT (payment_id) DO NOTHING`
	sqlReceipt = `INSERT INTO {p}receipts (payment_id, channel, outcome, attempt, body, at)
		VALUES (?1, ?2, ?3, coalesce((SELECT attempt FROM {p}payments WHERE payment_id = ?1), 0), ?4, {now})`
	sqlHeld = `SELECT stage, coalesce(record, '') FROM {p}payments WHERE payment_id = ?1`
	// The payment's row is the receipt of its first record, until another record replaces it there.
	sqlKeepFirst = `INSERT INTO {p}receipts (payment_id, channel, outcome, attempt, body, at)
		SELECT p.payment_id, p.source, 'accepted', p.attempt, p.record, p.ready_at FROM {p}payments p
		WHERE p.payment_id = ?1 AND NOT EXISTS (SELECT 1 FROM {p}receipts r WHERE r.payment_id = ?1 AND {first})`
	sqlOrder = `INSERT INTO {p}orders (order_id, identifier, amount, items, created_at)
		VALUES (?1, ?2, ?3, ?4, {now}) ON CONFLICT (order_id) DO NOTHING`
	sqlCancelOrder = `DELETE FROM {p}orders WHERE order_id IN (SELECT p.order_id FROM {p}orders p WHERE p.order_id = ?1 AND p.payment_id IS NULL {skip})`
	// The first registration of a payment counts.
	sqlBind = `UPDATE {p}orders SET payment_id = ?2
		WHERE order_id IN (SELECT p.order_id FROM {p}orders p WHERE p.order_id = ?1 AND p.payment_id IS NULL {skip})
		AND NOT EXISTS (SELECT 1 FROM {p}orders q WHERE q.payment_id = ?2)`
	// A second registration must not stay open: it would match another payment of its identifier.
	sqlSpare = `DELETE FROM {p}orders WHERE order_id IN (SELECT p.order_id FROM {p}orders p WHERE p.order_id = ?1 AND p.payment_id IS NULL
		AND EXISTS (SELECT 1 FROM {p}orders q WHERE q.payment_id = ?2) {skip})`
	sqlExpect = `INSERT INTO {p}payments (payment_id, stage, serialized, own, identifier, order_id, amount, items, run_at, first_seen)
		SELECT ?1, {expected}, {serialized}, 1, ?2, ?3, ?4, ?5, ?6, {now} {new} ON CONFLICT (payment_id) DO NOTHING`
	sqlOwn = `UPDATE {p}payments SET own = 1, identifier = ?2, order_id = ?3, amount = ?4, items = ?5, confirm = {none}
		WHERE payment_id = ?1 AND stage + 0 < {ready} AND own = 0`
	sqlIsOwn = `SELECT count(*) FROM {p}payments WHERE payment_id = ?1 AND (own = 1 OR stage + 0 > {hint})`
	// A record that came before its registration is checked again.
	sqlLate = `UPDATE {p}payments SET stage = {ready}, run_at = {now}, wait = 0, tries = 0, reason = ''
		WHERE payment_id = ?1 AND stage + 0 = {review} AND reason = 'unknown_order'`
	// A webhook that names a known id makes its confirm due, as if the id were new, and is about to
	// confirm it itself.
	sqlRearm = `UPDATE {p}payments SET run_at = CASE WHEN run_at > {now} + ?2 THEN {now} + ?2 ELSE run_at END, asked_at = {now}, confirm = ` + confirmBegins + `{named} END
		WHERE payment_id = ?1 AND stage + 0 < {ready} AND (run_at > {now} + ?2 OR own = 0)`
	// Applies only if the webhook's confirm was the only one in progress.
	sqlNo = `UPDATE {p}payments SET confirm = {rejected} WHERE payment_id IN ({list}) AND stage + 0 = {hint} AND own = 0 AND confirm = {named}`
)

// opStatements are the statements of apply and of the fold.
var opStatements = []string{
	sqlPromote, sqlInsert, sqlHeld, sqlKeepFirst, sqlReceipt, sqlHint, sqlOrder, sqlCancelOrder, sqlBind, sqlSpare, sqlExpect, sqlOwn, sqlIsOwn, sqlLate, sqlRearm, sqlNo, sqlSetMeta, sqlPosition,
}

// applier runs ops one statement after the other.
type applier struct {
	d         *dialect
	hintDelay int64 // µs until the inbox confirms a hint itself
	hook      hook  // see failpoint
}

func (a *applier) apply(ctx context.Context, x execer, o op) error {
	do := func(statement string, args ...any) error {
		_, err := x.ExecContext(ctx, a.d.sql(statement), args...)
		return err
	}
	var err error
	var outcome Outcome // of what has a body
	switch o.Kind {
	case opRecord:
		outcome, err = a.record(ctx, x, o)
	case opReview:
		outcome = OutcomeReview
		err = do(sqlInsert, o.ID, int(StageReview), o.Channel, o.Body, o.Identifier, string(o.Reason))
	case opRaw:
		outcome = OutcomeRaw
	case opHint:
		if err = do(sqlRearm, o.ID, a.hintDelay); err == nil {
			err = do(sqlHint, o.ID, a.hintDelay)
		}
	case opNo:
		err = do(sqlNo, `["`+o.ID+`"]`)
	case opOrder:
		err = do(sqlOrder, o.OrderID, o.Identifier, o.Amount, o.Items)
	case opBind:
		if err = a.bind(ctx, x, o); err == nil {
			err = a.expect(ctx, x, o)
		}
		if err == nil {
			err = do(sqlLate, o.ID)
		}
	case opCancel:
		err = do(sqlCancelOrder, o.OrderID)
	case opProbe:
		err = do(sqlSetMeta, "probe", "")
	default: // of a later version of this code
		return fmt.Errorf("inbox: an op of kind %q is not known to this version", o.Kind)
	}
	if err == nil && outcome != "" {
		err = do(sqlReceipt, o.ID, o.Channel, string(outcome), o.Body)
	}
	return err
}

// expect marks a payment as created by this merchant. If another process evicts its hint between
// the two statements, both run again.
func (a *applier) expect(ctx context.Context, x execer, o op) error {
	const rounds = 5 // one is usual
	for range rounds {
		if _, err := x.ExecContext(ctx, a.d.sql(sqlExpect), o.ID, o.Identifier, o.OrderID, o.Amount, o.Items, never); err != nil {
			return err
		}
		if _, err := x.ExecContext(ctx, a.d.sql(sqlOwn), o.ID, o.Identifier, o.OrderID, o.Amount, o.Items); err != nil {
			return err
		}
		var own int
		if err := x.QueryRowContext(ctx, a.d.sql(sqlIsOwn), o.ID).Scan(&own); err != nil || own > 0 {
			return err
		}
	}
	return fmt.Errorf("inbox: payment %s changes all the time; register it again", o.ID)
}

// bind gives an order its payment, or drops it if the payment has one.
func (a *applier) bind(ctx context.Context, x execer, o op) error {
	result, err := x.ExecContext(ctx, a.d.sql(sqlBind), o.OrderID, o.ID)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return err
	}
	_, err = x.ExecContext(ctx, a.d.sql(sqlSpare), o.OrderID, o.ID)
	return err
}

// record stores a record and returns the outcome for its receipt; "" if the payment's row is the
// receipt.
func (a *applier) record(ctx context.Context, x execer, o op) (outcome Outcome, err error) {
	var stage Stage
	var held string
	err = x.QueryRowContext(ctx, a.d.sql(sqlHeld), o.ID).Scan(&stage, &held)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		_, err = x.ExecContext(ctx, a.d.sql(sqlInsert), o.ID, int(StageReady), o.Channel, o.Body, o.Identifier, "")
		return "", err
	case err != nil:
		return "", err
	case stage >= StageReady && (held == o.Body || held == ""):
		return OutcomeRepeat, nil
	case stage >= StageReady && stage != StageReview:
		return OutcomeDiffers, nil
	}
	if stage == StageReview {
		outcome = OutcomeAccepted
		if _, err := x.ExecContext(ctx, a.d.sql(sqlKeepFirst), o.ID); err != nil {
			return "", err
		}
	}
	_, err = x.ExecContext(ctx, a.d.sql(sqlPromote), o.ID, o.Channel, o.Body, o.Identifier)
	return outcome, err
}

// op is one thing to store: the unit of acceptance. Applying an op twice changes nothing more.
type op struct {
	Kind       opKind `json:"k"`
	ID         string `json:"id"` // payment id, or the order's for opOrder
	Channel    int    `json:"ch"` // a number, as the database has it
	Identifier string `json:"idf"`
	Body       string `json:"body"` // the record, or the raw bytes of opRaw
	Reason     Reason `json:"why"`  // of opReview
	// Of opOrder and opBind:
	OrderID string `json:"ord"`
	Amount  string `json:"amt"`
	Items   string `json:"items"`

	owed bool // of opRecord: the ledger probably has an expected row for it; not stored
}

type opKind string

const (
	opRecord opKind = "record" // a verified record: expected or hint becomes ready
	opReview opKind = "review" // a record that is quarantined at once
	opHint   opKind = "hint"   // an id named by a webhook, before it is confirmed
	opNo     opKind = "no"     // the service rejected that confirm
	opRaw    opKind = "raw"    // the response of a poll, before it is decoded
	opOrder  opKind = "order"  // an order, before the payment is created
	opBind   opKind = "bind"   // the order's payment
	opCancel opKind = "cancel" // removes an order whose payment was not created
	opProbe  opKind = "probe"  // stores nothing of use: does the store work?
)

// never is a run_at in the far future; reconciliation does not wait for it.
const never = int64(1) << 62

func recordOp(p payments.Payment, channel Channel) (op, error) {
	body, err := p.MarshalJSON() // json.Marshal would validate our own JSON again
	return op{Kind: opRecord, ID: p.ID.String(), Channel: int(channel), Identifier: identifierKey(p.Identifier), Body: string(body)}, err
}

const base64Prefix = "base64:"

// storable encodes any bytes as text: PostgreSQL accepts neither NUL nor invalid UTF-8.
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

// maxIdentifier bounds the bytes of an identifier that the ledger compares and indexes:
// PostgreSQL rejects index entries above 2,704.
const maxIdentifier = 500

// identifierKey is an identifier as the ledger indexes it: a long one is cut and ends with a hash of
// the whole.
func identifierKey(identifier string) string {
	s := storable(identifier)
	if len(s) <= maxIdentifier {
		return s
	}
	hash := sha256.Sum256([]byte(s))
	return strings.ToValidUTF8(s[:maxIdentifier/2], "") + "…sha256:" + hex.EncodeToString(hash[:])
}

// appendJSON encodes the op by hand: every acceptance pays for it.
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

// splitRecords separates the records from the other ops, in layers of distinct ids: one statement may
// touch a row only once.
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

const sqlSetMeta = `INSERT INTO {p}meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`

// confirmBegins is the state of a hint when another confirm of it begins; append the state if no other
// confirm is in progress. The service may carry out an earlier confirm after it rejected a later one,
// so ConfirmUnknown ends only with a confirm that begins ten minutes after all others: a confirm takes
// seconds. If it never ended, made-up ids could fill Config.MaxHints for ever. asked_at is when the last
// confirm of a hint began, or its response was lost. For a created id it is when the last confirm ended
// without a payment; see sqlOutstanding.
const confirmBegins = `CASE WHEN own = 1 THEN confirm WHEN confirm <> {rejected} AND asked_at >= {now} - 600000000 THEN {unknown} ELSE `
