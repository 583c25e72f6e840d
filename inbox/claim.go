package inbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/depositpay/depositpay-go/internal/backoff"
	"github.com/depositpay/depositpay-go/payments"
)

// claim is one payment that this process may run until the lease ends. attempt is the fencing token:
// every later claim has a higher one.
type claim struct {
	id       string
	attempt  int64
	tries    int
	approved bool
	payment  payments.Payment
	order    *expectation
	broken   error // the record cannot be read
}

// There is no state "running" that a payment could get stuck in: a claim is a lease that expires. leased
// is in no index, so that PostgreSQL does not write the row into all of them again. The query returns
// the order too. A lease that ends too far in the future has expired: the clock was set back. Too far is
// twice its length, so that a small correction ends no live claim. See DESIGN I-16, I-18.
const sqlClaim = `WITH c AS (SELECT p.payment_id FROM {p}payments p
		WHERE p.stage = {ready} AND p.run_at <= {now} AND (p.leased <= {now} OR p.leased > {now} + 2 * p.wait) /*order*/ ORDER BY p.run_at LIMIT ?1 {skip})
	UPDATE {p}payments SET leased = {now} + ?2, wait = ?2, attempt = attempt + 1, tries = tries + 1
	WHERE payment_id IN (SELECT payment_id FROM c)
	RETURNING payment_id, attempt, tries, approved, record, order_id, identifier, amount, items`

// Only the earliest ready payment of an identifier may be claimed.
const sqlSerialize = `AND (p.identifier = '' OR NOT EXISTS (SELECT 1 FROM {p}payments q WHERE q.stage = {ready} AND q.serialized = 1 AND q.identifier = p.identifier
	AND (q.ready_at < p.ready_at OR q.ready_at = p.ready_at AND q.{tie} < p.{tie})))`

// sqlSerializeExisting is for payments that were accepted while order did not matter.
const sqlSerializeExisting = `UPDATE {p}payments SET serialized = 1 WHERE payment_id IN
	(SELECT p.payment_id FROM {p}payments p WHERE p.serialized = 0 AND /*stage*/ {skip})`

// serializeExisting prepares unfinished payments for Config.SerializeByIdentifier, each found by an index.
func (b *core) serializeExisting(ctx context.Context) error {
	for _, stage := range []string{"p.stage < {ready}", "p.stage = {ready}", "p.stage IN ({hint}, {review}, {dead})"} {
		if _, err := b.store.ledger().execLong(ctx, b.d.words(strings.Replace(sqlSerializeExisting, "/*stage*/", stage, 1))); err != nil {
			return fmt.Errorf("inbox: Config.SerializeByIdentifier: %w", err)
		}
	}
	return nil
}

func (b *dispatcher) sqlClaim() string {
	order := ""
	if b.cfg.SerializeByIdentifier {
		order = sqlSerialize
	}
	return b.d.sql(strings.Replace(sqlClaim, "/*order*/", order, 1))
}

func (b *dispatcher) claim(ctx context.Context, n int) (claims []claim, err error) {
	claims, err = queryRows(ctx, b.store.claims(), b.sqlClaim(), scanClaim, n, b.cfg.lease().Microseconds())
	if len(claims) > 0 {
		err = b.cfg.hook.after(stepClaimed, err)
	}
	if err != nil {
		return nil, fmt.Errorf("inbox: claim: %w", err)
	}
	return claims, nil
}

func scanClaim(rows *sql.Rows) (claim, error) {
	var c claim
	var record string
	var approved int
	var identifier string
	var orderID, amount, items sql.NullString
	if err := rows.Scan(&c.id, &c.attempt, &c.tries, &approved, &record, &orderID, &identifier, &amount, &items); err != nil {
		return c, err
	}
	c.approved = approved != 0
	c.broken = json.Unmarshal([]byte(record), &c.payment)
	if c.broken == nil && orderID.Valid {
		c.order, c.broken = newExpectation(orderID.String, identifier, amount.String, items.String)
	}
	return c, nil
}

// The handler's transaction begins with the fence. It must update exactly one row; otherwise somebody
// else has claimed the payment since.
const (
	sqlFence      = `UPDATE {p}payments SET stage = {done}, done_at = {now}, reason = '' WHERE payment_id = ?1 AND attempt = ?2 AND stage + 0 = {ready}`
	sqlReschedule = `UPDATE {p}payments SET leased = 0, run_at = {now} + ?4, wait = ?4, tries = tries - ?5, reason = ?3 WHERE payment_id = ?1 AND attempt = ?2 AND stage + 0 = {ready}`
	// A claim whose handler has not begun ends without a receipt: nothing ran. leased makes the
	// statement idempotent.
	sqlGiveBack = `UPDATE {p}payments SET leased = 0, run_at = {now} + ?3, wait = ?3, tries = tries - 1, reason = ?4
		WHERE payment_id = ?1 AND attempt = ?2 AND stage + 0 = {ready} AND leased > 0 RETURNING payment_id`
	sqlSetAside = `UPDATE {p}payments SET leased = 0, stage = ?4, reason = ?3 WHERE payment_id = ?1 AND attempt = ?2 AND stage + 0 = {ready}`
)

// A failed attempt leaves a receipt.
const sqlRun = `INSERT INTO {p}receipts (payment_id, channel, outcome, attempt, body, at) VALUES (?1, 0, ?3, ?2, ?4, {now})`

// fenced runs a statement that ends a claim and stores the receipt of the attempt, unless the payment
// was claimed again.
func (b *dispatcher) fenced(ctx context.Context, c *claim, outcome Outcome, reason, statement string, args ...any) error {
	tx, err := b.store.ledger().BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	result, err := tx.ExecContext(ctx, b.d.sql(statement), append([]any{c.id, c.attempt, storable(reason)}, args...)...)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return err
	}
	if _, err := tx.ExecContext(ctx, b.d.sql(sqlRun), c.id, c.attempt, string(outcome), storable(reason)); err != nil {
		return err
	}
	if outcome == OutcomeReview {
		if err := b.reviseRecord(ctx, tx, c); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Of several different records only the latest counts: two of them would alternate for ever.
const sqlLatest = `SELECT r.channel, r.body FROM {p}receipts r JOIN {p}payments p ON p.payment_id = r.payment_id
		WHERE r.receipt_id = (SELECT max(l.receipt_id) FROM {p}receipts l WHERE l.payment_id = ?1 AND l.outcome = 'differs')
		AND r.body <> p.record AND p.stage + 0 = {review}`

// reviseRecord gives a payment that goes to review its latest record, if a different one came while the
// payment waited for its handler: the first may be of a voucher that failed. An acceptance does not
// touch a row that a handler may have locked.
func (b *dispatcher) reviseRecord(ctx context.Context, tx *sql.Tx, c *claim) error {
	if err := b.d.lockPayment(ctx, tx, c.id); err != nil {
		return err
	}
	var channel Channel
	var body string
	err := tx.QueryRowContext(ctx, b.d.sql(sqlLatest), c.id).Scan(&channel, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	var p payments.Payment
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		return nil //nolint:nilerr // an unreadable record is no better than the present one
	}
	if _, err := tx.ExecContext(ctx, b.d.sql(sqlKeepFirst), c.id); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, b.d.sql(sqlPromote), c.id, int(channel), body, identifierKey(p.Identifier))
	return err
}

// setAside moves a claimed payment to review or to the dead letters, unless it was claimed again.
func (b *dispatcher) setAside(ctx context.Context, c *claim, stage Stage, reason string) error {
	outcome := OutcomeReview
	if stage == StageDead {
		outcome = OutcomeDead
	}
	return b.fenced(ctx, c, outcome, reason, sqlSetAside, int(stage))
}

// reschedule runs a claimed payment again after wait µs. If uncounted, this attempt does not count.
func (b *dispatcher) reschedule(ctx context.Context, c *claim, wait int64, reason string, uncounted bool) error {
	back, outcome := 0, OutcomeFailed
	if uncounted {
		back, outcome = 1, OutcomeSnoozed
	}
	return b.fenced(ctx, c, outcome, reason, sqlReschedule, wait, back)
}

// giveBack reschedules a claimed payment whose handler has not begun. It uses the connection for
// claims: the pool may have no other.
func (b *dispatcher) giveBack(ctx context.Context, c *claim, wait int64, reason string) error {
	_, err := queryRows(ctx, b.store.claims(), b.d.sql(sqlGiveBack),
		func(rows *sql.Rows) (id string, err error) { return id, rows.Scan(&id) }, c.id, c.attempt, wait, storable(reason))
	return err
}

// dispatcher claims payments that are due and hands them to the handler.
type dispatcher struct{ *core }

// handleLoop folds, claims and runs handlers, Concurrency at once.
func (b *dispatcher) handleLoop(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	slots := make(handlerSlots, b.cfg.Concurrency)
	failures := 0
	for ctx.Err() == nil {
		n, err := b.dispatch(ctx, slots, &running)
		switch {
		case err != nil:
			b.failed(ctx, "hand-over", err)
			pause(ctx, backoff.Delay(failures, tick/4, maxBackoff, backoff.Jitter()), nil)
			failures++
		case n == 0:
			failures = 0
			pause(ctx, backoff.Between(tick*3/4, tick*5/4, backoff.Jitter()), b.wakes)
		default:
			failures = 0
		}
	}
}

// dispatch waits for a free slot, fills the free slots with claims, and returns how many payments it
// started.
func (b *dispatcher) dispatch(ctx context.Context, slots handlerSlots, running *sync.WaitGroup) (int, error) {
	free := slots.take(ctx)
	if free == 0 {
		return 0, nil
	}
	folded, err := b.store.fold(ctx)
	if err != nil {
		slots.giveBack(free)
		return 0, err
	}
	claims, err := b.claim(ctx, free)
	slots.giveBack(free - len(claims))
	for i := range claims {
		running.Go(func() {
			defer func() {
				slots.giveBack(1)
				b.wake()
			}()
			b.runClaim(ctx, &claims[i])
		})
	}
	if folded && len(claims) == 0 {
		return 1, err // there may be more to fold
	}
	return len(claims), err
}

// handlerSlots bounds how many handlers run at once.
type handlerSlots chan struct{}

// slotMisused is called when a slot is returned that nobody holds. Tests make it panic. In production
// the slot is ignored: one handler too many is better than no dispatch at all.
var slotMisused = func() {}

// take waits for a free slot, takes the other free ones too, and returns how many it took: 0 if ctx
// ended.
func (s handlerSlots) take(ctx context.Context) (n int) {
	select {
	case s <- struct{}{}:
	case <-ctx.Done():
		return 0
	}
	for n = 1; n < cap(s); n++ {
		select {
		case s <- struct{}{}:
		default:
			return n
		}
	}
	return n
}

// giveBack frees n slots. It never waits: the slots are taken.
func (s handlerSlots) giveBack(n int) {
	if n < 0 {
		slotMisused()
	}
	for range n {
		select {
		case <-s:
		default:
			slotMisused()
		}
	}
}
