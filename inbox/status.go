package inbox

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// CountLimit bounds each of Status.Count: it means that many or more.
const CountLimit = 10_000

// Status is the ledger at a glance. It costs the same however large the ledger is.
type Status struct {
	// Count is the number of payments in each stage, up to CountLimit. Done payments are counted
	// as long as their record is kept; see Config.KeepBodies.
	Count map[Stage]int64
	// OldestReady is how long ago the record came of the payment that has waited longest
	// for its handler; 0 if none waits. An alarm belongs on it. A record that is dated in the
	// future, because the database's clock was set back, counts by its distance, so the alarm
	// sees it; Run corrects such a date within seconds. If more than CountLimit payments are
	// ready, it is the oldest of those due first.
	OldestReady time.Duration
	// EvictedHints is how many unknown ids this process has given up, each refused by the
	// service; see Config.MaxHints.
	EvictedHints int64
	// TurnedAway is how many webhooks of unknown ids this process has refused for Config.MaxHints.
	TurnedAway int64
}

// sqlStages are the rows that Status counts. Each has its condition in the words of a partial
// index, and its order, or the planner would rather read the whole ledger.
var sqlStages = map[Stage]string{
	StageExpected: `stage = {expected} ORDER BY first_seen`,
	StageHint:     `stage IN ({hint}, {review}, {dead}) AND stage = {hint} ORDER BY stage, first_seen`,
	StageReady:    `stage = {ready} ORDER BY run_at`,
	StageDone:     `stage = {done} AND record <> '' ORDER BY done_at`,
	StageReview:   `stage IN ({hint}, {review}, {dead}) AND stage = {review} ORDER BY stage, first_seen`,
	StageDead:     `stage IN ({hint}, {review}, {dead}) AND stage = {dead} ORDER BY stage, first_seen`,
}

// sqlStatus is a row for each stage: the count, and of ready payments how far the time of a
// record is away, in µs.
var sqlStatus = func() string {
	var counts []string
	for stage := StageExpected; stage <= StageDead; stage++ {
		away, column := "0", "1"
		if stage == StageReady {
			away, column = "coalesce(max(abs({now} - c.ready_at)), 0)", "ready_at"
		}
		counts = append(counts, fmt.Sprintf("SELECT %d, count(*), %s FROM (SELECT %s FROM {p}payments WHERE %s LIMIT ?1) AS c", stage, away, column, sqlStages[stage]))
	}
	return strings.Join(counts, "\nUNION ALL ")
}()

// Status counts the payments of each stage.
func (b *Inbox) Status(ctx context.Context) (Status, error) {
	s := Status{Count: map[Stage]int64{}, EvictedHints: b.webhook.evicted.Load(), TurnedAway: b.webhook.turnedAway.Load()}
	rows, err := b.store.reader().QueryContext(ctx, b.d.sql(sqlStatus), CountLimit)
	err = each(rows, err, func(rows *sql.Rows) error {
		var stage Stage
		var n, away int64
		if err := rows.Scan(&stage, &n, &away); err != nil {
			return err
		}
		if n > 0 {
			s.Count[stage] = n
		}
		if stage == StageReady {
			s.OldestReady = time.Duration(away) * time.Microsecond
		}
		return nil
	})
	if err != nil {
		return s, fmt.Errorf("inbox: status: %w", err)
	}
	return s, nil
}
