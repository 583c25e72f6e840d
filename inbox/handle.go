package inbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/depositpay/depositpay-go/internal/backoff"
)

// errFenced: another process has claimed the payment since. This attempt is rolled back; nothing is
// wrong.
var errFenced = errors.New("inbox: the lease ended and the payment was claimed again")

// notBegunError is the error of a transaction that failed before its handler began, for example for
// lack of a connection. It does not count as an attempt: nothing is wrong with the payment.
type notBegunError struct{ err error }

func (e *notBegunError) Error() string {
	return "inbox: the handler's transaction could not begin: " + e.err.Error()
}
func (e *notBegunError) Unwrap() error { return e.err }

func notBegun(err error) error {
	if err == nil || errors.Is(err, errFenced) {
		return err
	}
	return &notBegunError{err}
}

type cancelError struct{ err error }

func (e *cancelError) Error() string { return "inbox: cancelled: " + e.err.Error() }
func (e *cancelError) Unwrap() error { return e.err }

// Cancel is an error for handlers: the payment goes to the dead-letter list at once, with err as the
// reason. Inbox.Retry runs it again.
func Cancel(err error) error { return &cancelError{err} }

type snoozeError struct{ wait time.Duration }

func (e *snoozeError) Error() string { return "inbox: not before " + e.wait.String() + " are over" }

// Snooze is an error for handlers: run again after wait, without counting this attempt.
func Snooze(wait time.Duration) error { return &snoozeError{wait} }

// reviewError carries the result of the check against the order out of the transaction.
type reviewError struct{ reason Reason }

func (e *reviewError) Error() string { return "inbox: review: " + string(e.reason) }

// runClaim brings one claimed payment a step further and records the result. It does not end with ctx:
// it completes or times out.
func (b *dispatcher) runClaim(ctx context.Context, c *claim) {
	ctx = context.WithoutCancel(ctx)
	began := time.Now()
	err := b.attempt(ctx, c)
	if err == nil { // the commit has recorded it
		b.granted(ctx, c, time.Since(began))
		return
	}
	record, done := context.WithTimeout(ctx, recordTimeout)
	defer done()
	recordErr := b.settle(record, c, err)
	// The database may be restarting: a second of downtime should not make the payment wait for the
	// end of its lease.
	for failures := 0; recordErr != nil && record.Err() == nil; failures++ {
		pause(record, backoff.Delay(failures, tick/4, 2*time.Second, backoff.Jitter()), nil)
		recordErr = b.settle(record, c, err)
	}
	if recordErr != nil {
		// The row stays claimed until its lease expires; then it runs again.
		b.cfg.Logger.LogAttrs(ctx, slog.LevelError, "depositpay: the result of a handler was not recorded",
			slog.String("payment_id", c.id), slog.Any("error", recordErr))
	}
}

func (b *dispatcher) granted(ctx context.Context, c *claim, took time.Duration) {
	b.cfg.Logger.LogAttrs(ctx, b.cfg.GrantLevel, "depositpay: granted", slog.String("payment_id", c.id),
		slog.String("identifier", c.payment.Identifier), slog.String("paid_amount", c.payment.PaidAmount.String()),
		slog.Int("attempt", c.tries), slog.Duration("took", took))
}

func (b *dispatcher) attempt(ctx context.Context, c *claim) error {
	switch {
	case c.broken != nil:
		return &reviewError{ReasonUnreadable}
	case c.tries > b.cfg.MaxAttempts:
		return Cancel(fmt.Errorf("started %d times without an end; it may crash the process", b.cfg.MaxAttempts))
	}
	ctx, cancel := context.WithTimeout(ctx, b.cfg.HandlerTimeout)
	defer cancel()
	err := b.inTransaction(ctx, c)
	for undone := 0; undoneByServer(err) && undone < maxDeadlockRetries && ctx.Err() == nil; undone++ {
		pause(ctx, backoff.Delay(undone, time.Millisecond, tick/4, backoff.Jitter()), nil)
		err = b.inTransaction(ctx, c)
	}
	return err
}

// undoneByServer reports whether the server rolled the transaction back because of another one. That
// does not count as an attempt: nothing is wrong with the payment or its handler.
func undoneByServer(err error) bool {
	_, cancelled := errors.AsType[*cancelError](err)
	return isDeadlock(err) && !cancelled
}

// inTransaction runs the fence, the check against the order, the handler and the commit.
func (b *dispatcher) inTransaction(ctx context.Context, c *claim) (err error) {
	tx, err := b.store.ledger().BeginTx(ctx, nil)
	if err != nil {
		return notBegun(err)
	}
	defer func() { _ = tx.Rollback() }()
	if err := b.cfg.hook.after(stepFenced, notBegun(b.fence(ctx, tx, c))); err != nil {
		return err
	}
	if err := b.guard(ctx, tx, c); err != nil {
		return err
	}
	if err := b.callHandler(ctx, tx, c); err != nil {
		return err
	}
	if err := b.cfg.hook.after(stepHandled, b.stillFenced(ctx, tx, c)); err != nil {
		return err
	}
	return b.cfg.hook.after(stepDone, tx.Commit())
}

func (b *dispatcher) fence(ctx context.Context, tx *sql.Tx, c *claim) error {
	statement := sqlFence
	if b.d.name == DialectPostgreSQL {
		// A handler that hangs must not hold its row and its snapshot for ever, even if this process is
		// stopped.
		limit := b.cfg.lease().Milliseconds()
		statement += ` RETURNING set_config('idle_in_transaction_session_timeout', '` + strconv.FormatInt(limit, 10) + `', true)`
	}
	result, err := tx.ExecContext(ctx, b.d.sql(statement), c.id, c.attempt)
	if err != nil {
		return err
	}
	switch n, err := result.RowsAffected(); {
	case err != nil:
		return err
	case n != 1:
		return errFenced
	}
	return nil
}

var errTxEnded = errors.New("the handler's transaction had ended before the handler did, with an error that the handler did not return; " +
	"what it wrote after that is stored, so it is not run again: compare, and Retry by hand")

// stillFenced checks that the transaction to be committed is the one that the fence began. Some errors of
// SQLite (a full disk, OR ROLLBACK) end a transaction, and what a handler that ignores them writes after
// that is stored at once. PostgreSQL rejects all further statements then.
func (b *dispatcher) stillFenced(ctx context.Context, tx *sql.Tx, c *claim) error {
	if b.d.name != DialectSQLite {
		return nil
	}
	var stage Stage
	if err := tx.QueryRowContext(ctx, b.d.sql(`SELECT stage FROM {p}payments WHERE payment_id = ?1`), c.id).Scan(&stage); err != nil {
		return err
	}
	if stage != StageDone {
		return Cancel(errTxEnded)
	}
	return nil
}

// guard lets only expected payments through, and those that a person approved.
func (b *dispatcher) guard(ctx context.Context, tx *sql.Tx, c *claim) error {
	order := c.order
	if order == nil {
		var err error
		if order, err = b.openOrder(ctx, tx, c); err != nil {
			return err
		}
	}
	if !c.approved {
		if reason := b.cfg.judge(c.payment, order); reason != "" {
			return &reviewError{reason}
		}
	}
	if order != nil && order != c.order {
		return b.takeOrder(ctx, tx, order, c.id)
	}
	return nil
}

// callHandler calls the merchant's code. A panic is an error of this one payment.
func (b *dispatcher) callHandler(ctx context.Context, tx *sql.Tx, c *claim) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("inbox: the handler panicked: %v\n%s", p, debug.Stack())
		}
	}()
	if err = b.cfg.Handler(ctx, tx, c.payment); err != nil {
		_ = err.Error() // a typed nil panics here, where the panic is recovered
	}
	return err
}

// settle records how an attempt ended. Success needs nothing: the commit recorded it.
func (b *dispatcher) settle(ctx context.Context, c *claim, err error) error {
	if err == nil || errors.Is(err, errFenced) {
		return nil
	}
	log := func(level slog.Level, message string) {
		b.cfg.Logger.LogAttrs(ctx, level, message, slog.String("payment_id", c.id),
			slog.String("identifier", c.payment.Identifier), slog.Int("attempt", c.tries), slog.Any("error", err))
	}
	if review, ok := errors.AsType[*reviewError](err); ok {
		log(slog.LevelWarn, "depositpay: a payment needs a look")
		return b.setAside(ctx, c, StageReview, string(review.reason))
	}
	if cancel, ok := errors.AsType[*cancelError](err); ok {
		log(slog.LevelError, "depositpay: a payment is given up")
		return b.setAside(ctx, c, StageDead, reasonText(cancel.err))
	}
	if snooze, ok := errors.AsType[*snoozeError](err); ok {
		return b.reschedule(ctx, c, max(0, snooze.wait).Microseconds(), "snoozed", true)
	}
	if _, ok := errors.AsType[*notBegunError](err); ok {
		log(slog.LevelWarn, "depositpay: the database gave a handler no transaction; it will run later, and no try is counted; "+
			"if that lasts, see whether the database can be reached, and raise the limit of its pool to what all inboxes on it need")
		return b.giveBack(ctx, c, backoff.Delay(0, b.cfg.BackoffMin, b.cfg.BackoffMax, backoff.Jitter()).Microseconds(), reasonText(err))
	}
	if undoneByServer(err) {
		log(slog.LevelWarn, "depositpay: the database undid a handler's transaction again and again because of others; it will run again, and no try is counted")
		return b.reschedule(ctx, c, backoff.Delay(0, b.cfg.BackoffMin, b.cfg.BackoffMax, backoff.Jitter()).Microseconds(), reasonText(err), true)
	}
	if c.tries >= b.cfg.MaxAttempts {
		log(slog.LevelError, "depositpay: a payment is given up")
		return b.setAside(ctx, c, StageDead, reasonText(err))
	}
	log(slog.LevelWarn, "depositpay: a handler failed and will run again")
	wait := backoff.Delay(c.tries-1, b.cfg.BackoffMin, b.cfg.BackoffMax, backoff.Jitter())
	return b.reschedule(ctx, c, wait.Microseconds(), reasonText(err), false)
}

const maxReason = 1000

// reasonText bounds what is kept of an error.
func reasonText(err error) string {
	s := err.Error()
	if len(s) > maxReason {
		s = cutText(s, maxReason) + "…"
	}
	return s
}

// cutText returns at most n bytes of s and does not split a character. Invalid bytes before the cut
// stay; see storable.
func cutText(s string, n int) string {
	cut := n
	for cut > 0 && cut > n-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}
