package inbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/payments"
)

// PossibleLoss is a poll that may have completed a payment whose record was lost. It is in every report
// until it is settled.
type PossibleLoss struct {
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
	// Unproven is why a loss that may settle itself (see Config.OnlyCreated) is still open.
	Unproven string `json:"unproven,omitempty"`
	// Told reports whether it was logged as an error, which happens once.
	Told bool `json:"told,omitempty"`
}

func (b *pollLedger) possibleLosses(ctx context.Context) ([]PossibleLoss, error) {
	rows, err := b.store.reader().QueryContext(ctx, b.d.sql(sqlLosses))
	if err != nil {
		return nil, err
	}
	return collect(rows, func(rows *sql.Rows) (l PossibleLoss, err error) {
		var at int64
		err = rows.Scan(&l.ID, &at, &l.Reason)
		l.At, l.Reason = time.UnixMicro(at).UTC(), restored(l.Reason)
		return l, err
	})
}

// SettleLoss removes a possible loss from the reports, after a person compared the ledger with the service.
func (b *Inbox) SettleLoss(ctx context.Context, id string, by Decision) error {
	return b.decide(ctx, id, "settle loss", by, sqlSettle)
}

// With Config.OnlyCreated a possible loss can be proven empty: the poll can only have taken a payment
// whose id the ledger has. So nothing was lost once the service has answered for each of these ids: the
// payment is complete, and in the ledger now, or it is not paid. A poll that the service carries out
// even later can only complete a payment that is paid later. Later reconciliations confirm that one
// while it is younger than Config.OutstandingFor; after that, only the proof of another loss does. With
// Config.ReconcileEvery < 0 they run only at the start, after a possible loss and after an outage.
// See DESIGN I-35.

// proof is what a reconciliation finds out about the losses that came before it.
type proof struct {
	losses   map[string]bool // open before the reconciliation began; nil if nothing can be proven
	noID     []string        // orders without a payment id when the list of ids was read
	codes    []string        // codes by which the service said that payments are not paid
	unknown  string          // a rejection whose code may mean something else
	unproven string          // why the proof fails; "" if it holds
}

const (
	// Such an order may have a payment with an id that the ledger does not have: its creation is in
	// progress, or the response was lost.
	sqlNoID = `SELECT order_id FROM {p}orders WHERE payment_id IS NULL AND created_at > {now} - ?1 LIMIT ?2`
	sqlIDOf = `SELECT coalesce(payment_id, ''), CASE WHEN created_at > {now} - ?2 THEN 1 ELSE 0 END FROM {p}orders WHERE order_id = ?1`
	sqlOwes = `SELECT payment_id, attempt, tries, stage FROM {p}payments WHERE payment_id = ?1 AND stage < {ready}`
	// sqlLongOutstanding has payments that only a proof still confirms. Two parts, each with an index
	// by age, like sqlOutstanding.
	sqlLongOutstanding = `SELECT payment_id, attempt, tries, stage FROM (
			SELECT * FROM (SELECT payment_id, attempt, tries, stage, first_seen FROM {p}payments
				WHERE stage = {expected} AND own = 1 AND first_seen <= {now} - ?1 ORDER BY first_seen DESC LIMIT ?2) AS links
			UNION ALL SELECT * FROM (SELECT payment_id, attempt, tries, stage, first_seen FROM {p}payments
				WHERE stage IN ({hint}, {review}, {dead}) AND stage = {hint} AND own = 1 AND first_seen <= {now} - ?1 ORDER BY first_seen DESC LIMIT ?2) AS hints) AS o
		ORDER BY first_seen DESC LIMIT ?2`
	// sqlKnown is a payment that is certainly complete.
	sqlKnown  = `SELECT payment_id FROM {p}payments WHERE stage = {done} AND own = 1 AND record <> '' ORDER BY done_at DESC LIMIT 1`
	sqlLosses = `SELECT poll_id, beat_at, outcome FROM {p}polls WHERE closed_at IS NULL AND outcome <> '' ORDER BY beat_at`
	sqlSettle = `UPDATE {p}polls SET closed_at = {now} WHERE poll_id = ?1 AND closed_at IS NULL AND outcome <> ''`

	maxLongOutstanding = 10_000
	maxNoID            = 1000
	prover             = "inbox" // the actor in the audit

	// A creation that began less than creationTime ago may be in progress. A reconciliation waits
	// creationWait for such creations.
	creationTime = 30 * time.Second
	creationWait = 10 * time.Second
)

// beginProof comes first in a reconciliation, so that everything in the intake was created before the
// reconciliation reads its ids, and only losses that are open now can be proven.
func (b *reconciler) beginProof(ctx context.Context) (*proof, error) {
	p := &proof{}
	if !b.cfg.OnlyCreated {
		return p, nil
	}
	if _, err := b.polls.markDead(ctx); err != nil {
		return nil, err
	}
	open, err := b.polls.possibleLosses(ctx)
	if err != nil || len(open) == 0 {
		return p, err
	}
	p.losses = make(map[string]bool, len(open))
	for _, l := range open {
		p.losses[l.ID] = true
	}
	return p, nil
}

// toAsk returns the ids to confirm; for a proof, all outstanding ones. It lists orders without an id
// first: boundMeanwhile confirms those that get one meanwhile. If a query that only the proof needs
// fails, the proof fails, and the ids are confirmed anyway.
func (b *reconciler) toAsk(ctx context.Context, p *proof) ([]owed, error) {
	if p.losses != nil {
		var err error
		switch p.noID, err = b.queryStrings(ctx, sqlNoID, b.cfg.OutstandingFor.Microseconds(), maxNoID+1); {
		case err != nil:
			p.unproven = fmt.Sprintf("the orders without a payment could not be read: %v", err)
		case len(p.noID) > maxNoID:
			p.unproven = fmt.Sprintf("the answers to the creation of more than %d payments are not here, so their ids are not known", maxNoID)
		}
	}
	all, err := b.outstanding(ctx)
	if err != nil || p.losses == nil || p.unproven != "" {
		return all, err
	}
	long, err := b.longOutstanding(ctx)
	switch {
	case err != nil:
		p.unproven = fmt.Sprintf("the payments that are unpaid for longer than Config.OutstandingFor could not be read: %v", err)
	case len(long) > maxLongOutstanding:
		p.unproven = fmt.Sprintf("more than %d payments are unpaid for longer than Config.OutstandingFor, and were not asked for", maxLongOutstanding)
	default:
		all = append(all, long...)
	}
	return all, nil
}

func (b *reconciler) longOutstanding(ctx context.Context) ([]owed, error) {
	rows, err := b.store.reader().QueryContext(ctx, b.d.sql(sqlLongOutstanding), b.cfg.OutstandingFor.Microseconds(), maxLongOutstanding+1)
	if err != nil {
		return nil, err
	}
	return collect(rows, scanOwed)
}

// boundMeanwhile returns the ids that orders got since the list was read. It waits a short time for
// creations in progress.
func (b *reconciler) boundMeanwhile(ctx context.Context, p *proof) (ids []owed, err error) {
	if p.unproven != "" {
		return nil, nil
	}
	for until := time.Now().Add(creationWait); len(p.noID) > 0; {
		more, young, err := b.bound(ctx, p)
		if err != nil {
			return nil, err
		}
		ids = append(ids, more...)
		if !young || time.Now().After(until) || ctx.Err() != nil {
			break
		}
		pause(ctx, tick/2, nil)
	}
	if len(p.noID) > 0 {
		p.unproven = fmt.Sprintf("the answer to the creation of %d payments is not here, so their ids are not known", len(p.noID))
	}
	return ids, nil
}

// bound removes the orders that have an id, or are gone, from p.noID, and returns their outstanding
// payments. young reports whether the creation of a remaining one may be in progress.
func (b *reconciler) bound(ctx context.Context, p *proof) (ids []owed, young bool, err error) {
	for more := true; more; { // the intake may have the ids
		if more, err = b.store.fold(ctx); err != nil {
			return nil, false, err
		}
	}
	var left []string
	for _, order := range p.noID {
		var id string
		var isYoung int
		err := b.store.reader().QueryRowContext(ctx, b.d.sql(sqlIDOf), order, creationTime.Microseconds()).Scan(&id, &isYoung)
		switch {
		case errors.Is(err, sql.ErrNoRows): // there is no payment
			continue
		case err != nil:
			return nil, false, fmt.Errorf("inbox: order %s: %w", order, err)
		case id == "":
			left, young = append(left, order), young || isYoung == 1
			continue
		}
		rows, err := b.store.reader().QueryContext(ctx, b.d.sql(sqlOwes), id)
		if err != nil {
			return nil, false, fmt.Errorf("inbox: payment %s: %w", id, err)
		}
		owes, err := collect(rows, scanOwed)
		if err != nil {
			return nil, false, err
		}
		ids = append(ids, owes...)
	}
	p.noID = left
	return ids, young, nil
}

// settleEmpty settles the losses that the reconciliation proves empty, and moves them to
// Report.Settled.
func (b *reconciler) settleEmpty(ctx context.Context, p *proof, report *Report) error {
	if p.losses == nil {
		return nil
	}
	if p.unproven == "" {
		p.unproven = p.unknown
	}
	if report.Failed > 0 && p.unproven == "" {
		p.unproven = fmt.Sprintf("%d of %d outstanding payments got no answer, or could not be stored", report.Failed, report.Asked)
	}
	if err := b.checkNo(ctx, p, report); err != nil {
		return err
	}
	open := report.PossibleLosses[:0:0]
	for _, l := range report.PossibleLosses {
		l.Unproven = p.why(l)
		if l.Unproven != "" {
			open = append(open, l)
			continue
		}
		switch err := b.decide(ctx, l.ID, "settle loss", Decision{Actor: prover, Reason: p.text(report)}, sqlSettle); {
		case errors.Is(err, ErrStage): // somebody else has, just now
		case err != nil:
			return err
		default:
			report.Settled = append(report.Settled, l)
		}
	}
	report.PossibleLosses = open
	return nil
}

// checkNo checks what "not paid" is worth: a service that confirms a payment only once would also reject
// the very payment that was lost. So a payment that is known to be complete is confirmed again, unless
// the proof needs no rejection. A payment that was recovered just now proves nothing, since that may
// have been its first confirm. So may be the first one here, of a payment that was polled; hence two.
func (b *reconciler) checkNo(ctx context.Context, p *proof, report *Report) error {
	if p.unproven != "" || report.StillUnpaid == 0 {
		return nil
	}
	known, err := b.queryStrings(ctx, sqlKnown)
	if err != nil {
		return fmt.Errorf("inbox: a payment that is complete: %w", err)
	}
	if len(known) == 0 {
		p.unproven = "no payment is done yet by which to see that the service confirms a complete payment again"
		return nil
	}
	id, err := uuid.Parse(known[0])
	if err != nil {
		return fmt.Errorf("inbox: the ledger has the key %q for a created payment: %w", known[0], err)
	}
	for range 2 {
		if err := errors.Join(b.sweepLimit.Wait(ctx), b.ownLimit.Wait(ctx)); err != nil {
			return err
		}
		_, err := b.cfg.Client.Confirm(ctx, id)
		if p.unproven = noProvesNothing(id, err); p.unproven != "" {
			return nil
		}
	}
	return nil
}

// noProvesNothing says why the confirm of a complete payment shows that rejections prove nothing; "" if
// they can be relied on.
func noProvesNothing(complete uuid.UUID, err error) string {
	switch {
	case refused(err):
		return fmt.Sprintf("the service says no to payment %s, which is complete (%.64q): its no to others proves nothing", complete, codeOf(err))
	case err != nil:
		return fmt.Sprintf("payment %s, which is complete, got no answer", complete)
	}
	return ""
}

// why says why a loss is not proven empty; "" if it is proven.
func (p *proof) why(l PossibleLoss) string {
	switch {
	case !p.losses[l.ID]:
		return "it came while the reconciliation was going on"
	case strings.HasPrefix(l.Reason, "unclean:"):
		return "what the poller had received is not taken in for good: it may go on for a while"
	case !strings.HasPrefix(l.Reason, "ambiguous:") && !strings.HasPrefix(l.Reason, "unclean;"):
		return "it is no poll"
	}
	return p.unproven
}

// refusal records the code with which the service rejected a payment. Only the codes of
// Config.NotPaidCodes say "not paid": "too many requests" or "maintenance" may also come as a code, and
// prove nothing.
func (p *proof) refusal(id string, err error, notPaid []string) {
	code := codeOf(err)
	switch {
	case slices.Contains(p.codes, code):
	case slices.Contains(notPaid, code):
		p.codes = append(p.codes, code)
	case p.unknown == "":
		p.unknown = fmt.Sprintf("the service refused payment %s with %.64q, which Config.NotPaidCodes does not name", id, code)
	}
}

func codeOf(err error) string {
	if e, ok := errors.AsType[*payments.Error](err); ok {
		return e.Code
	}
	return ""
}

// text is the reason of a loss that settled itself, for the audit.
func (p *proof) text(r *Report) string {
	codes := ""
	if len(p.codes) > 0 {
		codes = " (" + strings.Join(p.codes, ", ") + ")"
	}
	return fmt.Sprintf("proven empty: every payment is created here (Config.OnlyCreated), and the service has answered for all that were outstanding "+
		"after the loss: %d asked, %d recovered, %d not paid%s, 0 without an answer", r.Asked, r.Recovered, r.StillUnpaid, codes)
}

// provenWithin is how long a loss may wait for its proof before it is logged as an error: a poller that
// was taken for dead has an hour.
func (b *reconciler) provenWithin() time.Duration { return time.Hour + 2*max(0, b.cfg.ReconcileEvery) }

const maxLossLines = 10 // of one reconciliation, so that an old ledger does not flood the log

// tell logs the result of a reconciliation, each possible loss once.
func (b *reconciler) tell(ctx context.Context, report *Report) error {
	before, err := b.lastReport(ctx)
	if err != nil && !errors.Is(err, ErrNoReport) {
		return err
	}
	if report.Recovered > 0 {
		b.cfg.Logger.LogAttrs(ctx, slog.LevelInfo, "depositpay: reconciliation took in payments", slog.Int("recovered", report.Recovered),
			slog.Int("asked", report.Asked), slog.Int("still_unpaid", report.StillUnpaid), slog.Int("failed", report.Failed))
	}
	for _, l := range report.Settled {
		b.tellLoss(ctx, slog.LevelInfo, "a possible loss is settled: it is proven empty", l, slog.Int("asked", report.Asked))
	}
	told := 0
	for i := range report.PossibleLosses {
		l := &report.PossibleLosses[i]
		at := slices.IndexFunc(before.PossibleLosses, func(o PossibleLoss) bool { return o.ID == l.ID })
		l.Told = at >= 0 && before.PossibleLosses[at].Told
		provable := l.Unproven != "" && time.Since(l.At) < b.provenWithin()
		if l.Told || provable && at >= 0 {
			continue
		}
		l.Told = !provable
		switch told++; {
		case told > maxLossLines:
		case provable:
			b.tellLoss(ctx, slog.LevelWarn, "a possible loss is not proven empty yet", *l, slog.String("unproven", l.Unproven))
		default:
			b.tellLoss(ctx, slog.LevelError, "a possible loss is open: compare with the service's list, then call SettleLoss", *l)
		}
	}
	if told > maxLossLines {
		b.cfg.Logger.LogAttrs(ctx, slog.LevelError, "depositpay: more possible losses are open; LastReport has them", slog.Int("more", told-maxLossLines))
	}
	return nil
}

func (b *reconciler) tellLoss(ctx context.Context, level slog.Level, what string, l PossibleLoss, more ...slog.Attr) {
	const long = 200
	if len(l.Reason) > long {
		l.Reason = strings.ToValidUTF8(l.Reason[:long], "") + "…"
	}
	attrs := append([]slog.Attr{slog.String("loss", l.ID), slog.Time("at", l.At), slog.String("reason", l.Reason)}, more...)
	b.cfg.Logger.LogAttrs(ctx, level, "depositpay: "+what, attrs...)
}

// unproven reports whether a loss may settle itself at a later reconciliation.
func (r *Report) unproven() bool {
	return slices.ContainsFunc(r.PossibleLosses, func(l PossibleLoss) bool { return l.Unproven != "" && !l.Told })
}
