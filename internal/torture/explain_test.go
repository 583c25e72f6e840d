//go:build unix

package torture

import (
	"slices"
	"strings"
	"time"

	"github.com/depositpay/depositpay-go/mockserver"
)

// reported is what the merchants have said about polls whose answer may be lost.
type reported struct {
	// Ambiguous polls, and merchants that ended in the middle of polling, in the ledger.
	Ambiguous int `json:"ambiguous"`
	Unclean   int `json:"unclean"`
	// AtOnce are ambiguous polls as OnEvent told of them. It can be more than Ambiguous, if
	// a merchant was killed before it had written the line: that is an unclean end.
	AtOnce int `json:"at_once"`
}

// report is one possible loss, and when the poll was that it is about.
type report struct {
	from, to time.Time
	used     bool
}

// lag is how long a merchant may take to write its report: PostgreSQL may be away.
func (c *campaign) lag() time.Duration {
	if c.profile.Database == "sqlite" {
		return time.Second
	}
	return 35 * time.Second
}

// reportsOf are the possible losses that the merchants have reported. A poll is at most
// its time-out older than its report, which is written within lag.
func reportsOf(l ledgers, lag time.Duration) (all []report, n reported) {
	const inaccuracy = 2 * time.Second // of what realTime tells
	for i, p := range l.polls {
		opened, beat := time.UnixMicro(p.opened), time.UnixMicro(p.beat)
		switch {
		case strings.HasPrefix(p.outcome, "ambiguous"):
			n.Ambiguous++
			all = append(all, report{from: beat.Add(-nextTimeout - lag), to: beat.Add(inaccuracy)})
		case strings.HasPrefix(p.outcome, "unclean"):
			n.Unclean++
			end := time.Now() // or until the next one polls
			if next := slices.IndexFunc(l.polls[i+1:], func(q line) bool { return !strings.HasPrefix(q.outcome, "ambiguous") }); next >= 0 {
				end = time.UnixMicro(l.polls[i+1+next].opened)
			}
			all = append(all, report{from: opened.Add(-inaccuracy), to: end.Add(inaccuracy)})
		}
	}
	return all, n
}

// explain takes the payments that are complete and that the merchant's books do not know,
// and returns how many of them are ambiguous, in the sense of the promise, and the others.
//
// A payment is ambiguous if all of this holds:
//   - a poll completed it, and not a confirm: the id of a confirm is known and written
//     down before it is asked;
//   - the ledger has no row for it: neither a creation nor a webhook that was answered ever
//     told its id. So it was bought in the store, or its creation's answer was lost;
//   - a possible loss is reported for the time of that very poll, and for no other payment:
//     a poll takes one payment.
//
// The first two say that the answer was dropped and that nobody could know the id; the
// third, that it was not silent. Only reports in the ledger count.
func (c *campaign) explain(missing []mockserver.Payment, l ledgers) (ambiguous int, silent []finding) {
	all, _ := reportsOf(l, c.lag())
	type lostPoll struct {
		id string
		at time.Time
	}
	var polls []lostPoll
	for _, p := range missing {
		at, ok := c.polledAt(p.ID)
		if !ok {
			silent = append(silent, finding{lost, p.ID, "completed by a confirm, and not in the ledger"})
			continue
		}
		polls = append(polls, lostPoll{p.ID, at})
	}
	slices.SortFunc(polls, func(a, b lostPoll) int { return a.at.Compare(b.at) })
	// Each poll takes the report that ends first: what is left serves later polls longer.
	slices.SortStableFunc(all, func(a, b report) int { return a.to.Compare(b.to) })
	for _, p := range polls {
		i := slices.IndexFunc(all, func(r report) bool { return !r.used && !p.at.Before(r.from) && !p.at.After(r.to) })
		if i < 0 {
			silent = append(silent, finding{lost, p.id, "a poll completed it, the answer is lost, and nobody was told"})
			continue
		}
		all[i].used = true
		ambiguous++
	}
	return ambiguous, silent
}

// polledAt is when a poll completed the payment, if one did.
func (c *campaign) polledAt(id string) (time.Time, bool) {
	events, err := c.service.Timeline(id)
	c.check(err)
	for _, e := range events {
		if e.Kind == mockserver.EventPolled {
			return c.service.realTime(e.At), true
		}
	}
	return time.Time{}, false
}
