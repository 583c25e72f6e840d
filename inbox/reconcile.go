package inbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/internal/backoff"
	"github.com/depositpay/depositpay-go/webhook"
)

// Report is the result of a reconciliation.
type Report struct {
	// At is when it ended, in UTC.
	At time.Time `json:"at"`
	// Asked is how many outstanding payments that this merchant created were confirmed.
	Asked int `json:"asked"`
	// Recovered is how many of them were complete, and are in the ledger now.
	Recovered int `json:"recovered"`
	// StillUnpaid is how many the service rejected with an error code of its own, which is how it says
	// that a payment is not paid. See also Config.NotPaidCodes.
	StillUnpaid int `json:"still_unpaid"`
	// Failed is how many got no response, or one that says nothing about the payment: the rate or the
	// token was rejected, or the service failed. They are confirmed again soon. Complete payments that
	// could not be stored count too; Reconcile's error names them.
	Failed int `json:"failed"`
	// Hints is how many ids that webhooks named and this merchant did not create waited for a confirm
	// when the reconciliation began. Run confirms them at Config.ConfirmRate.
	Hints int64 `json:"hints"`
	// PossibleLosses are polls whose response may have held a payment and was lost. This
	// reconciliation may have recovered the payment: only a store payment that no webhook has named
	// cannot be recovered by its id. Compare with the service's dashboard, then call SettleLoss. Each
	// is logged at error level once, unless it settles itself; see Config.OnlyCreated.
	PossibleLosses []PossibleLoss `json:"possible_losses"`
	// Settled are the possible losses that this reconciliation proved empty; see Config.OnlyCreated.
	// The proof is in their Audit.
	Settled []PossibleLoss `json:"settled,omitempty"`
}

// Reconcile confirms every outstanding payment that this merchant created, at most 40 a second, and
// returns when it is through. Unknown ids only become due: Run confirms them at their own rate. The
// report is kept for LastReport. Run does the same at its start, after every possible loss, when a
// failed store works again, and every Config.ReconcileEvery; a cron job may call Reconcile too. The
// error says what could not be done, even if the report is complete.
func (b *Inbox) Reconcile(ctx context.Context) (Report, error) {
	report, unstored, err := b.reconciler.reconcileOnce(ctx)
	return report, errors.Join(err, unstored)
}

// reconciler confirms every outstanding payment of this merchant, and settles possible losses that are
// proven empty.
type reconciler struct {
	*confirmer
	polls *pollLedger
}

// reconcileOnce is Reconcile. unstored is separate, because reconciling again at once does not help
// there.
func (b *reconciler) reconcileOnce(ctx context.Context) (report Report, unstored, err error) {
	if err := b.mayConfirm(ctx); err != nil { // also stores kept records
		return report, nil, err
	}
	p, err := b.beginProof(ctx)
	if err != nil {
		return report, nil, err
	}
	for more := true; more; { // everything accepted before this call must be in the ledger
		if more, err = b.store.fold(ctx); err != nil {
			return report, nil, err
		}
	}
	// First: confirming the others takes long and may be interrupted.
	if report.Hints, err = b.bringForward(ctx); err != nil {
		return report, nil, err
	}
	// A response that cannot be accepted must not keep outstanding payments from being confirmed.
	notTakenIn := b.polls.recoverPolls(ctx)
	if report.PossibleLosses, err = b.polls.possibleLosses(ctx); err != nil {
		return report, nil, err
	}
	if unstored, err = b.askOutstanding(ctx, p, &report); err != nil {
		return report, unstored, err
	}
	if err := b.settleEmpty(ctx, p, &report); err != nil {
		return report, unstored, err
	}
	if err := b.tell(ctx, &report); err != nil {
		return report, unstored, err
	}
	report.At = time.Now().UTC()
	text, err := json.Marshal(report)
	if err != nil {
		return report, unstored, err
	}
	if _, err := b.store.ledger().ExecContext(ctx, b.d.sql(sqlSetMeta), "report", string(text)); err != nil {
		return report, unstored, fmt.Errorf("inbox: keep the report: %w", err)
	}
	return report, unstored, notTakenIn
}

// ErrNoReport is LastReport's error before the first reconciliation.
var ErrNoReport = errors.New("inbox: no reconciliation has ended yet")

// LastReport returns the report of the last reconciliation, of any process.
func (b *Inbox) LastReport(ctx context.Context) (Report, error) { return b.lastReport(ctx) }

func (b *core) lastReport(ctx context.Context) (Report, error) {
	var report Report
	text, err := b.meta(ctx, "report")
	if err != nil {
		return report, err
	}
	if text == "" {
		return report, ErrNoReport
	}
	return report, json.Unmarshal([]byte(text), &report)
}

// Two parts, because there is an index by age for each: unpaid payments pile up without end. Payments
// that were never confirmed come first, the youngest before the others, since those are likely paid;
// then those with the oldest response. So a reconciliation continues where an interrupted one stopped,
// and a process that is restarted again and again still reaches the old ones. See DESIGN I-41.
const sqlOutstanding = `SELECT payment_id, attempt, tries, stage FROM (
		SELECT payment_id, attempt, tries, stage, first_seen, asked_at FROM {p}payments WHERE stage = {expected} AND own = 1 AND first_seen > {now} - ?1
		UNION ALL SELECT payment_id, attempt, tries, stage, first_seen, asked_at FROM {p}payments
			WHERE stage IN ({hint}, {review}, {dead}) AND stage = {hint} AND own = 1 AND first_seen > {now} - ?1) AS o
	ORDER BY asked_at, first_seen DESC`

const sqlForward = `UPDATE {p}payments SET run_at = {now} WHERE stage < {ready} AND own = 0 AND run_at > {now}`

// bringForward makes the confirms of unknown ids due, and counts these ids.
func (b *reconciler) bringForward(ctx context.Context) (n int64, err error) {
	if _, err := b.store.ledger().ExecContext(ctx, b.d.sql(sqlForward)); err != nil {
		return 0, fmt.Errorf("inbox: bring hints forward: %w", err)
	}
	return n, b.store.reader().QueryRowContext(ctx, b.d.sql(sqlCountHints)).Scan(&n)
}

// askOutstanding confirms all outstanding payments, and those whose id becomes known meanwhile.
func (b *reconciler) askOutstanding(ctx context.Context, p *proof, report *Report) (unstored, err error) {
	var errs []error
	for _, list := range []func(context.Context, *proof) ([]owed, error){b.toAsk, b.boundMeanwhile} {
		ids, err := list(ctx, p)
		if err != nil {
			return namedErrors(errs), err
		}
		some, err := b.askFor(ctx, p, ids, report)
		errs = append(errs, some...)
		if err != nil {
			return namedErrors(errs), err
		}
	}
	return namedErrors(errs), nil
}

// namedErrors are the first maxNamed of errs.
func namedErrors(errs []error) error { return errors.Join(errs[:min(len(errs), maxNamed)]...) }

// askFor confirms payments. Their keys were read at once and not page by page, because confirming
// changes their order; they are small.
func (b *reconciler) askFor(ctx context.Context, p *proof, all []owed, report *Report) (unstored []error, err error) {
	for _, o := range all {
		if err := errors.Join(b.sweepLimit.Wait(ctx), b.ownLimit.Wait(ctx)); err != nil {
			return unstored, err
		}
		done, err := b.settledMeanwhile(ctx, o)
		if err != nil {
			return unstored, err
		}
		if done {
			continue
		}
		report.Asked++
		unpaid, err := b.ask(ctx, o)
		switch {
		case err == nil:
			report.Recovered++
		case unpaid:
			report.StillUnpaid++
			p.refusal(o.id, err, b.cfg.NotPaidCodes)
		default:
			report.Failed++
		}
		if errors.As(err, new(*unstoredError)) {
			unstored = append(unstored, err)
		}
	}
	return unstored, nil
}

// maxNamed is how many payments an error names; Report.Failed counts all.
const maxNamed = 10

// settledMeanwhile reports whether the payment has arrived since the list was read.
func (b *reconciler) settledMeanwhile(ctx context.Context, o owed) (bool, error) {
	id, err := uuid.Parse(o.id)
	if err != nil {
		return false, fmt.Errorf("inbox: the ledger has the key %q for a created payment: %w", o.id, err)
	}
	state, err := b.State(ctx, id)
	return state == webhook.StateHandled, err
}

func (b *reconciler) outstanding(ctx context.Context) ([]owed, error) {
	rows, err := b.store.reader().QueryContext(ctx, b.d.sql(sqlOutstanding), b.cfg.OutstandingFor.Microseconds())
	if err != nil {
		return nil, fmt.Errorf("inbox: outstanding ids: %w", err)
	}
	return collect(rows, scanOwed)
}

// reconcileLoop reconciles at the start, on request, and on schedule.
func (b *reconciler) reconcileLoop(ctx context.Context) {
	for failures, unproven := 0, 0; ctx.Err() == nil; {
		report, unstored, err := b.reconcileOnce(ctx)
		if all := errors.Join(err, unstored); all != nil {
			b.failed(ctx, "reconciliation", all)
		}
		if err != nil {
			pause(ctx, backoff.Delay(failures, tick, maxBackoff, backoff.Jitter()), nil)
			failures++
			continue
		}
		failures = 0
		if report.unproven() {
			unproven++
		} else {
			unproven = 0
		}
		if wait, scheduled := b.untilNext(unproven); scheduled {
			pause(ctx, wait, b.reconciles)
			continue
		}
		select {
		case <-b.reconciles:
		case <-ctx.Done():
		}
	}
}

// maxUnprovenWait bounds the wait for the next proof if there are no scheduled reconciliations.
const maxUnprovenWait = 15 * time.Minute

// untilNext is the wait for the next reconciliation, and whether one is scheduled. unproven is how many
// in a row left a loss unproven: missing responses may arrive soon, and only a reconciliation turns such
// a loss into an error.
func (b *reconciler) untilNext(unproven int) (wait time.Duration, scheduled bool) {
	wait = maxUnprovenWait
	if b.cfg.ReconcileEvery >= 0 {
		wait, scheduled = backoff.Between(b.cfg.ReconcileEvery, b.cfg.ReconcileEvery*5/4, backoff.Jitter()), true
	}
	if unproven > 0 {
		return min(wait, backoff.Delay(unproven-1, time.Minute, wait, backoff.Jitter())), true
	}
	return wait, scheduled
}
