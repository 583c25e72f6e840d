package inbox

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"github.com/depositpay/depositpay-go/payments"
)

// WithLease shortens the lease below the handler's timeout, which no Config can say:
// what a stopped process may do after its lease is then up to the fence alone.
func WithLease(cfg Config, lease time.Duration) Config {
	cfg.shortLease = lease
	return cfg
}

var names = newDialect(DialectSQLite, DefaultTablePrefix, false)

// SQL puts the default table names and the numbers of stages and confirm states into a statement.
func SQL(statement string) string { return names.words(statement) }

// WithReserveTimeout shortens how long Open waits for the pool's connections.
func WithReserveTimeout(cfg Config, limit time.Duration) Config {
	cfg.patience = limit
	return cfg
}

// UntilNext is how long Run waits for its next reconciliation after so many without a proof.
func UntilNext(b *Inbox, unproven int) (time.Duration, bool) { return b.reconciler.untilNext(unproven) }

// Unproven reports whether a later reconciliation may settle a loss of the report.
func Unproven(r Report) bool { return r.unproven() }

// LimitStatements bounds each statement of the ledger by limit.
func LimitStatements(b *Inbox, limit time.Duration) { b.d.limit = limit }

// Queued is how many acceptances wait behind a group that is being committed.
func Queued(b *Inbox) (n int) {
	for _, lane := range b.intake.lanes {
		lane.mu.Lock()
		n += len(lane.waiting)
		lane.mu.Unlock()
	}
	return n
}

// SameLane reports whether the payments are taken in one after another.
func SameLane(b *Inbox, one, other string) bool { return b.intake.lane(one) == b.intake.lane(other) }

func PossibleLosses(b *Inbox) ([]PossibleLoss, error) {
	return b.polls.possibleLosses(context.Background())
}

func EvictHints(b *Inbox) error { return b.webhook.evictHints(context.Background()) }

// DropBodies drops what is old enough, or nothing before the recovery, and does not wait for it.
func DropBodies(b *Inbox) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	select {
	case <-b.polls.recovered:
	default:
		cancel()
	}
	for {
		more, err := b.retention.dropBodies(ctx)
		if err != nil || !more {
			return err
		}
	}
}

// The failpoints of core.go.
const (
	StepAccepted = int(stepAccepted)
	StepClaimed  = int(stepClaimed)
	StepFenced   = int(stepFenced)
	StepHandled  = int(stepHandled)
	StepDone     = int(stepDone)
	StepFolded   = int(stepFolded)
	Steps        = int(failpoints)
)

// WithHook has h called at the steps; its error is that of the step.
func WithHook(cfg Config, h func(step int) error) Config {
	cfg.hook = func(here failpoint) error { return h(int(here)) }
	return cfg
}

// Claim is a claimed payment in the hands of a test.
type Claim struct{ claim claim }

func (c *Claim) Key() string { return c.claim.id }

// Fold makes effective all that was accepted.
func Fold(b *Inbox) error {
	for more := true; more; {
		var err error
		if more, err = b.store.fold(context.Background()); err != nil {
			return err
		}
	}
	return nil
}

// ClaimAll claims all that is due.
func ClaimAll(b *Inbox) ([]Claim, error) {
	if err := Fold(b); err != nil {
		return nil, err
	}
	return ClaimSome(b, 1000)
}

// Handle hands a claimed payment over, also if it is late.
func Handle(b *Inbox, c *Claim) { b.dispatcher.runClaim(context.Background(), &c.claim) }

// ConfirmDue confirms what is due, at any rate.
func ConfirmDue(b *Inbox) error {
	c := b.confirmer
	c.ownLimit, c.hintLimit, c.sweepLimit = rate.NewLimiter(1e9, 1e9), rate.NewLimiter(1e9, 1e9), rate.NewLimiter(1e9, 1e9)
	_, err := c.confirmDue(context.Background())
	return err
}

// ClaimSome claims up to n of what is due.
func ClaimSome(b *Inbox, n int) ([]Claim, error) {
	found, err := b.dispatcher.claim(context.Background(), n)
	claims := make([]Claim, len(found))
	for i := range found {
		claims[i].claim = found[i]
	}
	return claims, err
}

func (c *Claim) Attempt() int64 { return c.claim.attempt }

// How a hand-over ends.
const (
	EndedDone   = "done"
	EndedFenced = "fenced"
	EndedReview = "review"
	EndedDead   = "dead"
	EndedFailed = "failed"
)

// HandleOnce hands a claimed payment over as Run does, and tells how that ended; err is of
// the record of it.
func HandleOnce(b *Inbox, c *Claim) (ended string, err error) {
	ctx := context.Background()
	result := b.dispatcher.attempt(ctx, &c.claim)
	err = b.dispatcher.settle(ctx, &c.claim, result)
	if result == nil {
		return EndedDone, err
	}
	if errors.Is(result, errFenced) {
		return EndedFenced, err
	}
	if _, ok := errors.AsType[*reviewError](result); ok {
		return EndedReview, err
	}
	if _, ok := errors.AsType[*cancelError](result); ok {
		return EndedDead, err
	}
	return EndedFailed, err
}

func init() {
	slotMisused = func() { panic("inbox: a handler's slot was given back that nobody holds") }
}

// LookAtClock is one look for waits that begin in the future.
func LookAtClock(b *Inbox) error {
	_, err := (&clockWatch{b: b.core}).look(context.Background())
	return err
}

// ClockLooks is a function that looks on where its last call ended.
func ClockLooks(b *Inbox) func() error {
	watch := &clockWatch{b: b.core}
	return func() error {
		_, err := watch.look(context.Background())
		return err
	}
}

// ClockWindow is how many payments one look reads.
const ClockWindow = clockWindow

// AddUnwrittenLoss adds a possible loss as PollLost does after its timeout.
func AddUnwrittenLoss(b *Inbox, err error) {
	b.polls.mu.Lock()
	defer b.polls.mu.Unlock()
	b.polls.unwritten = append(b.polls.unwritten, unwrittenLoss{uuid.NewString(), err})
}

// AgeBeats makes the beats of all open lines due.
func AgeBeats(b *Inbox) {
	b.polls.mu.Lock()
	defer b.polls.mu.Unlock()
	for _, line := range b.polls.open {
		line.beat = time.Time{}
	}
}

func BeatLines(b *Inbox) error { return b.polls.beatLines(context.Background()) }

// AcceptGroup takes in, in one group, the service's no to an id, the body of a poll, and a
// payment.
func AcceptGroup(b *Inbox, no, poll string, p payments.Payment) error {
	record, err := recordOp(p, ChannelWebhook)
	if err != nil {
		return err
	}
	return b.intake.commit(0, []op{{Kind: opNo, ID: no}, {Kind: opRaw, ID: poll, Channel: int(ChannelPoll), Body: "{}"}, record})
}

// Statement is a query with its arguments.
type Statement struct {
	Query string
	Args  []any
}

// Statements of the operating path, with the arguments that they usually have.
func Statements(b *Inbox) map[string]Statement {
	list := func(stages ...Stage) Statement {
		query, args := b.pageQuery(Filter{Stages: stages}, 0, "", 200)
		return Statement{query, args}
	}
	return map[string]Statement{
		"claim":            {b.dispatcher.sqlClaim(), []any{8, b.cfg.lease().Microseconds()}},
		"clock":            {b.d.sql(sqlLookAhead), []any{0, clockWindow}},
		"hints":            {b.d.sql(sqlHintsAhead), []any{0, confirmLease.Microseconds(), hintMin.Microseconds(), hintMax.Microseconds(), never}},
		"created ids":      {b.d.sql(sqlHintsAhead), []any{1, confirmLease.Microseconds(), hintMin.Microseconds(), hintMax.Microseconds(), never}},
		"owed":             {b.d.sql(sqlOwed), []any{confirmBatch, confirmLease.Microseconds(), 1}},
		"outstanding":      {b.d.sql(sqlOutstanding), []any{b.cfg.OutstandingFor.Microseconds()}},
		"long outstanding": {b.d.sql(sqlLongOutstanding), []any{b.cfg.OutstandingFor.Microseconds(), maxLongOutstanding + 1}},
		"count hints":      {b.d.sql(sqlCountHints), nil},
		"status":           {b.d.sql(sqlStatus), []any{CountLimit}},
		"losses":           {b.d.sql(sqlLosses), nil},
		"review":           list(StageReview),
		"failed":           list(StageReview, StageDead),
		"waiting":          list(StageReady, StageReview),
		"bodies":           {b.d.sql(sqlOldReceipts), []any{0, b.cfg.KeepBodies.Microseconds(), retentionBatch}},
		"records":          {b.d.sql(sqlDropRecords), []any{b.cfg.KeepBodies.Microseconds(), retentionBatch}},
	}
}
