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
	// Asked is how many outstanding ids, of payments that this merchant created, were
	// confirmed with the service.
	Asked int `json:"asked"`
	// Recovered is how many of them turned out to be complete, and are in the ledger now.
	Recovered int `json:"recovered"`
	// StillUnpaid is how many the service refused to confirm with a code of its own: that is how
	// it says that a payment is not paid. See also Config.NotPaidCodes.
	StillUnpaid int `json:"still_unpaid"`
	// Failed is how many got no answer, or one that says nothing of the payment: a refusal of
	// the rate or of the token, an error of the service. They are asked again soon. Those that
	// are complete and could not be stored are among them; Reconcile's error names them.
	Failed int `json:"failed"`
	// Hints is how many ids that webhooks named and this merchant did not create waited for
	// their confirm when the reconciliation began. Run asks for them, at Config.ConfirmRate.
	Hints int64 `json:"hints"`
	// PossibleLosses are polls whose answer may have been lost while no id is known that
	// could bring the payment back. Reconciliation may have brought it back meanwhile:
	// what no id can recover is a store payment that no webhook has named.
	// Compare with the service's dashboard, then call SettleLoss. Each is logged at error level
	// once, unless it settles itself; see Config.OnlyCreated.
	PossibleLosses []PossibleLoss `json:"possible_losses"`
	// Settled are the possible losses that this reconciliation proved empty and settled; see
	// Config.OnlyCreated. The proof is in their Audit.
	Settled []PossibleLoss `json:"settled,omitempty"`
}

// Reconcile asks the service about every outstanding payment that this merchant created,
// and returns when all were asked, at most 40 a second. Ids that strangers may have made
// up are only brought forward: Run asks for them at their own rate. The report is kept for LastReport. Run does the same at its start, after every possible
// loss, when a store that had failed works again, and every Config.ReconcileEvery; a cron job
// may call this as well. The error tells what could not be done, also if the report is whole.
func (b *Inbox) Reconcile(ctx context.Context) (Report, error) {
	report, unstored, err := b.reconciler.reconcileOnce(ctx)
	return report, errors.Join(err, unstored)
}

// reconciler asks for every outstanding payment of this merchant, and settles the possible
// losses that are proven empty.
type reconciler struct {
	*confirmer
	polls *pollLedger
}

// reconcileOnce is Reconcile. What could not be stored is apart: to reconcile again at once is
// no cure for that.
func (b *reconciler) reconcileOnce(ctx context.Context) (report Report, unstored, err error) {
	if err := b.mayConfirm(ctx); err != nil { // this also stores what is kept
		return report, nil, err
	}
	p, err := b.beginProof(ctx)
	if err != nil {
		return report, nil, err
	}
	for more := true; more; { // what came before this call is in the ledger then
		if more, err = b.store.fold(ctx); err != nil {
			return report, nil, err
		}
	}
	// First: asking for the others takes long, and may be cut short.
	if report.Hints, err = b.bringForward(ctx); err != nil {
		return report, nil, err
	}
	// What cannot be taken in must not keep the outstanding payments from being asked for.
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

const sqlSetMeta = `INSERT INTO {p}meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`

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

// In two parts, for which there is an index by age: of what was never paid there is no end.
// First those that were never asked for, the youngest before the others, since they are the likely
// ones; then those whose last answer is the oldest. So a reconciliation goes on where the one before
// was cut short: a process that is restarted again and again gets to the old ones too.
const sqlOutstanding = `SELECT payment_id, attempt, tries, stage FROM (
		SELECT payment_id, attempt, tries, stage, first_seen, asked_at FROM {p}payments WHERE stage = {expected} AND own = 1 AND first_seen > {now} - ?1
		UNION ALL SELECT payment_id, attempt, tries, stage, first_seen, asked_at FROM {p}payments
			WHERE stage IN ({hint}, {review}, {dead}) AND stage = {hint} AND own = 1 AND first_seen > {now} - ?1) AS o
	ORDER BY asked_at, first_seen DESC`

const sqlForward = `UPDATE {p}payments SET run_at = {now} WHERE stage < {ready} AND own = 0 AND run_at > {now}`

// bringForward makes the confirms of strangers' ids due, and counts these ids.
func (b *reconciler) bringForward(ctx context.Context) (n int64, err error) {
	if _, err := b.store.ledger().ExecContext(ctx, b.d.sql(sqlForward)); err != nil {
		return 0, fmt.Errorf("inbox: bring hints forward: %w", err)
	}
	return n, b.store.reader().QueryRowContext(ctx, b.d.sql(sqlCountHints)).Scan(&n)
}

// askOutstanding asks for all that is outstanding, and for what has got its id meanwhile.
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

// askFor asks for payments, whose keys were read at once: that is not much, and asking changes
// the order that they could be paged by.
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

// settledMeanwhile reports whether the payment has come since the list was made.
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

// reconcileLoop reconciles at the start, when told to, and on schedule.
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

// maxUnprovenWait bounds the wait for the next try of a proof where nothing else reconciles.
const maxUnprovenWait = 15 * time.Minute

// untilNext is the wait for the next reconciliation; not scheduled if there is none by itself.
// unproven is how many in a row have left a loss unproven: what could not be asked or was under
// way may be known soon, and such a loss becomes an error only by a reconciliation.
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

func (b *core) wakeReconcile() {
	select {
	case b.reconciles <- struct{}{}:
	default:
	}
}

func (b *core) meta(ctx context.Context, name string) (string, error) {
	rows, err := b.store.reader().QueryContext(ctx, b.d.sql(`SELECT value FROM {p}meta WHERE name = ?1`), name)
	if err != nil {
		return "", err
	}
	defer func() { _ = rows.Close() }()
	value := ""
	for rows.Next() {
		if err := rows.Scan(&value); err != nil {
			return "", err
		}
	}
	return value, rows.Err()
}
