package inbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"github.com/depositpay/depositpay-go/internal/api"
	"github.com/depositpay/depositpay-go/internal/backoff"
	"github.com/depositpay/depositpay-go/payments"
)

// confirmer confirms ids that are due, and those of a reconciliation.
type confirmer struct {
	*webhookLedger
	hintLimit  *rate.Limiter  // confirms of ids that this merchant did not create
	ownLimit   *rate.Limiter  // confirms of ids that this merchant created, all of them
	sweepLimit *rate.Limiter  // those of a reconciliation, which leaves the others a share
	sayToken   rate.Sometimes // that no token works
}

func newConfirmer(hints *webhookLedger) *confirmer {
	return &confirmer{
		webhookLedger: hints,
		hintLimit:     rate.NewLimiter(rate.Limit(hints.cfg.ConfirmRate), max(1, int(hints.cfg.ConfirmRate))),
		ownLimit:      rate.NewLimiter(ownRate, ownRate),
		sweepLimit:    rate.NewLimiter(sweepRate, sweepRate),
		sayToken:      rate.Sometimes{Interval: time.Hour},
	}
}

// owed is an id whose confirm is due.
type owed struct {
	id       string
	attempt  int64
	tries    int
	expected bool
}

// A due confirm is claimed like a payment: for confirmLease nobody else confirms the id.
const sqlOwed = `WITH c AS (SELECT p.payment_id FROM {p}payments p
		WHERE p.stage < {ready} AND p.own = ?3 AND p.run_at <= {now} ORDER BY p.run_at LIMIT ?1 {skip})
	UPDATE {p}payments SET run_at = {now} + ?2, attempt = attempt + 1, tries = tries + 1,
		asked_at = CASE WHEN own = 1 THEN asked_at ELSE {now} END, confirm = ` + confirmBegins + `{asked} END
	WHERE payment_id IN (SELECT payment_id FROM c) RETURNING payment_id, attempt, tries, stage`

const (
	confirmBatch = 16
	confirmLease = time.Minute
	hintMin      = 15 * time.Second // between two confirms of one hint
	hintMax      = time.Hour
)

// confirmDue confirms some due ids: created ones first, the others as their token bucket allows.
func (b *confirmer) confirmDue(ctx context.Context) (more bool, err error) {
	if err := errors.Join(b.mayConfirm(ctx), b.evictHints(ctx)); err != nil {
		return false, err
	}
	for _, lane := range []struct {
		own     int
		limiter *rate.Limiter
	}{{1, b.ownLimit}, {0, b.hintLimit}} {
		n := min(confirmBatch, int(lane.limiter.Tokens()))
		if n <= 0 {
			continue
		}
		due, err := b.owed(ctx, lane.own, n)
		if err != nil {
			return false, err
		}
		lane.limiter.AllowN(time.Now(), len(due))
		claimed := time.Now()
		for _, o := range due {
			if time.Since(claimed) > confirmLease/2 {
				break // the service hangs, and others may claim the rest before this loop gets there
			}
			_, err := b.ask(ctx, o)
			b.logAsk(ctx, o, err)
		}
		more = more || len(due) == n
	}
	return more, nil
}

// logAsk logs a failed confirm at debug level, unless a confirmed payment was not stored.
func (b *confirmer) logAsk(ctx context.Context, o owed, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	level := slog.LevelDebug
	if _, unstored := errors.AsType[*unstoredError](err); unstored {
		level = slog.LevelError
	}
	b.cfg.Logger.LogAttrs(ctx, level, "depositpay: not confirmed", slog.String("payment_id", o.id), slog.Any("error", err))
}

// logToken logs that no token works: nothing can be confirmed until one does.
func (b *confirmer) logToken(ctx context.Context, err error) {
	if !api.TokenFails(err) {
		return
	}
	b.sayToken.Do(func() {
		b.cfg.Logger.LogAttrs(ctx, slog.LevelError, "depositpay: nothing can be confirmed, the API token does not work", slog.Any("error", err))
	})
}

func (b *confirmer) owed(ctx context.Context, own, n int) (due []owed, err error) {
	due, err = queryRows(ctx, b.store.claims(), b.d.sql(sqlOwed), scanOwed, n, confirmLease.Microseconds(), own)
	if err != nil {
		return nil, fmt.Errorf("inbox: ids to confirm: %w", err)
	}
	return due, nil
}

func scanOwed(rows *sql.Rows) (owed, error) {
	var o owed
	var stage Stage
	err := rows.Scan(&o.id, &o.attempt, &o.tries, &stage)
	o.expected = stage == StageExpected
	return o, err
}

const sqlOwedLater = `UPDATE {p}payments SET run_at = ?3 + CASE WHEN ?4 = 1 THEN 0 ELSE {now} END,
	asked_at = CASE WHEN own = 1 OR ?5 = 0 THEN {now} ELSE asked_at END,
	confirm = CASE WHEN own = 1 THEN confirm WHEN ?5 = 0 THEN {unknown} WHEN confirm = {asked} THEN {rejected} ELSE confirm END
	WHERE payment_id = ?1 AND attempt = ?2 AND stage + 0 < {ready}`

// ask confirms one id and stores the result. A rejection is never final: the payer knows the id and may
// have forged the webhook before paying. unpaid reports whether the service rejected the id.
func (b *confirmer) ask(ctx context.Context, o owed) (unpaid bool, err error) {
	id, err := uuid.Parse(o.id)
	if err != nil {
		return true, err
	}
	if err := b.mayConfirm(ctx); err != nil {
		return false, err
	}
	p, err := b.cfg.Client.Confirm(ctx, id)
	b.logToken(ctx, err)
	if err == nil {
		err = b.accept(context.WithoutCancel(ctx), p, ChannelReconcile)
	}
	if err == nil || !refusedData(err) && errors.As(err, new(*unstoredError)) {
		return false, err // it is stored, or kept in memory
	}
	unpaid = refused(err)
	wait, absolute, no := backoff.Delay(max(0, o.tries-1), hintMin, hintMax, backoff.Jitter()).Microseconds(), 0, 0
	if o.expected && unpaid {
		wait, absolute = never, 1 // not paid yet: the next reconciliation confirms it again
	}
	if denied(err) {
		no = 1
	}
	return unpaid, errors.Join(err, b.confirmFailed(context.WithoutCancel(ctx), o, wait, absolute, no))
}

// confirmFailed stores how a confirm ended. If the response was lost and the hint has been claimed or
// evicted since, the hint is recorded again, whatever Config.MaxHints says: the payment may be complete.
func (b *confirmer) confirmFailed(ctx context.Context, o owed, wait int64, absolute, no int) error {
	result, err := b.store.ledger().ExecContext(ctx, b.d.sql(sqlOwedLater), o.id, o.attempt, wait, absolute, no)
	if err != nil || o.expected || no == 1 {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return b.put(ctx, op{Kind: opHint, ID: o.id})
}

// refused reports whether the service rejected this very id. Rejecting the token or the rate says
// nothing about the id.
func refused(err error) bool {
	e, ok := errors.AsType[*payments.Error](err)
	return ok && e.Code != "" && !errors.Is(err, payments.ErrAmbiguous) && !errors.Is(err, payments.ErrTokenRefused) &&
		e.HTTPStatus != http.StatusTooManyRequests && e.HTTPStatus < http.StatusInternalServerError
}

// denied reports whether the service rejected the first try: it may still carry out an earlier one.
func denied(err error) bool {
	e, ok := errors.AsType[*payments.Error](err)
	return ok && refused(err) && e.Attempts <= 1
}
