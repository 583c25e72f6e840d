package inbox

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// CountLimit caps each of Status.Count; at the cap it means that many or more.
const CountLimit = 10_000

// Status summarizes the ledger. Its cost does not grow with the ledger.
type Status struct {
	// Count is the number of payments in each stage, up to CountLimit. Done payments count as long as
	// their record is kept; see Config.KeepBodies.
	Count map[Stage]int64
	// OldestReady is how long the payment that has waited longest for its handler has waited since its
	// record arrived; 0 if none waits. Set an alarm on it. A record dated in the future, because the
	// database's clock was set back, counts by its distance, so the alarm sees it; Run corrects the
	// date within seconds. With more than CountLimit ready payments, only those due first count.
	OldestReady time.Duration
	// EvictedHints is how many unknown ids, all rejected by the service, this process has evicted; see
	// Config.MaxHints.
	EvictedHints int64
	// TurnedAway is how many webhooks of unknown ids this process has turned away; see Config.MaxHints.
	TurnedAway int64
}

// sqlStages are the rows that Status counts. Each repeats the condition and the order of a partial
// index, or the planner would read the whole ledger.
var sqlStages = map[Stage]string{
	StageExpected: `stage = {expected} ORDER BY first_seen`,
	StageHint:     `stage IN ({hint}, {review}, {dead}) AND stage = {hint} ORDER BY stage, first_seen`,
	StageReady:    `stage = {ready} ORDER BY run_at`,
	StageDone:     `stage = {done} AND record <> '' ORDER BY done_at`,
	StageReview:   `stage IN ({hint}, {review}, {dead}) AND stage = {review} ORDER BY stage, first_seen`,
	StageDead:     `stage IN ({hint}, {review}, {dead}) AND stage = {dead} ORDER BY stage, first_seen`,
}

// sqlStatus returns a row per stage: the count, and for ready payments the largest distance of a
// record's time from now, in µs.
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
