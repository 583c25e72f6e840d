//go:build unix

package torture

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/depositpay/depositpay-go/inbox"
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

// journal is what the poll journal says.
type journal struct {
	runs   []line  // of one poller each, by opened
	losses []int64 // µs, the ambiguous polls; each is used up by one poll
}

func newJournal(lines []line) (j journal, n reported) {
	for _, p := range lines {
		if strings.HasPrefix(p.outcome, "ambiguous") {
			n.Ambiguous++
			j.losses = append(j.losses, p.beat)
			continue
		}
		if strings.HasPrefix(p.outcome, "unclean") {
			n.Unclean++
		}
		j.runs = append(j.runs, p)
	}
	slices.Sort(j.losses)
	return j, n
}

// clocks is how far the ledger's clock and the campaign's may be apart: it is one
// machine, and SQLite tells milliseconds.
const clocks = 5 * time.Millisecond

// tells takes the report of a poll, if there is one: a possible loss that was written
// down before the next poll came, or the unclean end of a poller whose last poll it was.
// There is one poller at a time, and it does one thing after the other, so that nothing
// else can be meant. next is nil after the last poll of all.
func (j *journal) tells(p poll, next *poll) bool {
	from, to := p.at.Add(-clocks).UnixMicro(), int64(math.MaxInt64)
	if next != nil {
		to = next.at.Add(clocks).UnixMicro()
	}
	within := func(then int64) bool { return then >= from && then <= to }
	if i := slices.IndexFunc(j.losses, within); i >= 0 {
		j.losses = slices.Delete(j.losses, i, i+1)
		return true
	}
	for i, run := range j.runs {
		lastPoll := next == nil
		if i+1 < len(j.runs) {
			lastPoll = within(j.runs[i+1].opened)
		}
		if lastPoll && strings.HasPrefix(run.outcome, "unclean") && run.opened <= p.at.Add(clocks).UnixMicro() {
			return true
		}
	}
	return false
}

// lostPolls are the polls whose answer was lost, and of them those that nobody was told
// of. Lost is an answer that named a payment and that no merchant has written down, and
// one without a payment that did not leave the service whole: the merchant cannot know
// what was in it.
func (c *campaign) lostPolls(polls []poll, l ledgers) (gone, silent []poll) {
	j, _ := newJournal(l.polls)
	for i, p := range polls {
		if c.arrived(p, l) {
			continue
		}
		var next *poll
		if i+1 < len(polls) {
			next = &polls[i+1]
		}
		gone = append(gone, p)
		if !j.tells(p, next) {
			silent = append(silent, p)
		}
	}
	return gone, silent
}

func (c *campaign) arrived(p poll, l ledgers) bool {
	switch {
	case p.payment == "":
		return p.whole || answered(p.fault)
	case c.forgets:
		return p.whole
	}
	return l.raw[p.payment] || l.payments[p.payment].source&inbox.ChannelPoll != 0
}

// answered tells that the merchant got an HTTP status that says what happened.
func answered(fault string) bool { return strings.HasPrefix(fault, "status-") }

// explain closes the books on polls. It takes the payments that are complete and that the
// merchant's books do not know, and returns how many of them are ambiguous, in the sense
// of the promise, how many lost answers there were in all that named a payment, and what
// breaks a promise: each of the others is lost, and a lost answer that nobody was told of
// is silent, also if its payment came back.
//
// A payment is ambiguous if all of this holds, by what the service's side has seen:
//   - a poll completed it, and not a confirm: the id of a confirm is known and written
//     down before it is asked;
//   - the poll's answer is lost;
//   - nobody could know its id: no webhook that named it and no order that returned it
//     was answered 200. So it was bought in the store, or its creation's answer was lost;
//   - a possible loss is reported for that very poll.
func (c *campaign) explain(polls []poll, missing []mockserver.Payment, l ledgers) (ambiguous, answers int, wrongs []finding) {
	gone, silent := c.lostPolls(polls, l)
	of := map[string]poll{}
	for _, p := range gone {
		if p.payment != "" {
			of[p.payment] = p
		}
	}
	for _, p := range silent {
		wrongs = append(wrongs, finding{hushed, p.payment, fmt.Sprintf("%v: its answer is lost, and nobody was told", p)})
	}
	for _, m := range missing {
		p, wasLost := of[m.ID]
		switch by := c.told.by(m.ID); {
		case !wasLost:
			wrongs = append(wrongs, finding{lost, m.ID, "completed by a confirm, or by a poll whose answer arrived, and not in the ledger"})
		case by != "":
			wrongs = append(wrongs, finding{lost, m.ID, "its id was known by " + by + ", and it is not in the ledger"})
		case slices.Contains(silent, p):
			wrongs = append(wrongs, finding{lost, m.ID, "a poll completed it, the answer is lost, and nobody was told"})
		default:
			ambiguous++
		}
	}
	return ambiguous, len(of), wrongs
}

// readRaw reads of which payments a poll's whole answer was written down.
func (c *campaign) readRaw(l *ledgers) {
	l.raw = map[string]bool{}
	c.query(c.books, `SELECT body FROM depositpay_receipts WHERE outcome = 'raw' AND body IS NOT NULL`, func(scan func(...any) error) error {
		var body string
		if err := scan(&body); err != nil {
			return err
		}
		var record struct {
			ID string `json:"id"`
		}
		if json.Unmarshal([]byte(body), &record) == nil {
			l.raw[record.ID] = true
		}
		return nil
	})
}
