//go:build unix

package torture

import (
	"cmp"
	"encoding/json"
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
	// Proven are those of them that were settled by their proof.
	Proven int `json:"proven,omitempty"`
	// AtOnce are ambiguous polls as OnEvent told of them. It can be more than Ambiguous, if
	// a merchant was killed before it had written the line: that is an unclean end.
	AtOnce int `json:"at_once"`
}

// journal is what the poll journal says.
type journal struct {
	runs   []line // of one poller each, by opened
	losses []line // the ambiguous polls, by beat; each is used up by one poll
}

// newJournal reads the lines that are about polls. A report that was settled tells nobody
// anything, unless there is somebody who settles them, or the proof is in the audit.
func newJournal(lines []line, settled bool) (j journal, n reported) {
	for _, p := range lines {
		ambiguous, unclean := strings.HasPrefix(p.outcome, "ambiguous"), strings.HasPrefix(p.outcome, "unclean")
		if p.proven {
			n.Proven++
		}
		switch told := settled || !p.closed || p.proven; {
		case ambiguous && told:
			n.Ambiguous++
			j.losses = append(j.losses, p)
		case ambiguous:
		case unclean && told:
			n.Unclean++
			j.runs = append(j.runs, p)
		case unclean || p.outcome == "clean" || p.outcome == "":
			p.outcome = ""
			j.runs = append(j.runs, p)
		}
	}
	slices.SortFunc(j.losses, func(a, b line) int { return cmp.Compare(a.beat, b.beat) })
	return j, n
}

// clocks is how far the ledger's clock and the campaign's may be apart: it is one
// machine, and SQLite tells milliseconds.
const clocks = 5 * time.Millisecond

// teller finds the report of a poll.
type teller struct {
	journal
	ends []time.Time     // of the poller's processes, that the campaign ended
	away func(span) bool // the database was
}

// tells takes the report of a poll, if there is one: a possible loss that was written
// down before the next poll came, or the unclean end of a poller whose last poll it was.
// There is one poller at a time, and it does one thing after the other, so that nothing
// else can be meant. next is nil after the last poll of all.
//
// An answer that left the service whole is not lost by itself. It takes the poll's timeout,
// or an end in that very moment; or the database was away, and the poller ended with the
// payment in its hands.
func (j *teller) tells(p *poll, next *poll) bool {
	if j.reports(p, next) {
		return true
	}
	from, to := window(*p, next)
	for i, run := range j.runs {
		over, last := int64(math.MaxInt64), next == nil
		if i+1 < len(j.runs) {
			over = j.runs[i+1].opened
			last = over >= from && over <= to
		}
		if !strings.HasPrefix(run.outcome, "unclean") || run.opened > p.at.Add(clocks).UnixMicro() || over < from {
			continue
		}
		inHand := p.whole && j.away(span{p.at, p.at.Add(nextTimeout)})
		ended := func(e time.Time) bool { return e.UnixMicro() >= from && e.UnixMicro() <= over }
		if (last || inHand) && slices.ContainsFunc(j.ends, ended) {
			p.proven = run.proven
			return true
		}
	}
	return false
}

// window is the time in which a poll is reported, in the ledger's µs.
func window(p poll, next *poll) (from, to int64) {
	if next == nil {
		return p.at.Add(-clocks).UnixMicro(), math.MaxInt64
	}
	return p.at.Add(-clocks).UnixMicro(), next.at.Add(clocks).UnixMicro()
}

// reports takes the possible loss that was written for the poll, if there is one. An answer
// that was sent whole may have been read late, and nothing else.
func (j *teller) reports(p *poll, next *poll) bool {
	from, to := window(*p, next)
	if p.whole {
		from = p.at.Add(nextTimeout / 2).UnixMicro()
	}
	i := slices.IndexFunc(j.losses, func(l line) bool { return l.beat >= from && l.beat <= to })
	if i >= 0 {
		p.proven = j.losses[i].proven
		j.losses = slices.Delete(j.losses, i, i+1)
	}
	return i >= 0
}

// lostPolls are the polls whose answer was lost, of them those that nobody was told of,
// and the reports for which there is no poll. Lost is an answer that named a payment and
// that no merchant has written down, and one without a payment that did not leave the
// service whole: the merchant cannot know what was in it. A poll that was struck may be
// reported also if its answer has arrived: the merchant cannot know that either.
func (c *campaign) lostPolls(polls []poll, l ledgers) (gone, untold []poll, unmatched []line) {
	j := teller{away: func(in span) bool { return c.wasAway(in) || c.wires.wereStruck(in) }}
	j.journal, _ = newJournal(l.polls, c.soaks)
	for _, m := range c.merchants {
		if m.cfg.Poll {
			j.ends = m.ended()
		}
	}
	polls = sent(polls, j.ends)
	next := func(i int) *poll {
		if i+1 < len(polls) {
			return &polls[i+1]
		}
		return nil
	}
	for i, p := range polls {
		if c.arrived(p, l) {
			continue
		}
		told := j.tells(&p, next(i))
		gone = append(gone, p)
		if !told {
			untold = append(untold, p)
		}
	}
	for i, p := range polls { // the lost ones come first: there is one report a poll
		if c.arrived(p, l) {
			j.reports(&p, next(i))
		}
	}
	return gone, untold, j.losses
}

// sent are the polls in the order in which they were sent: a service that is slow to read
// may see one after the end of the process that sent it, and after others.
func sent(polls []poll, ends []time.Time) []poll {
	all := slices.Clone(polls)
	for i, p := range all {
		if p.process < len(ends) && p.at.After(ends[p.process]) {
			all[i].at = ends[p.process]
		}
	}
	slices.SortStableFunc(all, func(a, b poll) int { return a.at.Compare(b.at) })
	return all
}

func (c *campaign) arrived(p poll, l ledgers) bool {
	switch {
	case p.payment == "":
		return p.whole || answered(p.fault)
	case c.soaks:
		return p.whole
	}
	return l.came[p.payment] || l.payments[p.payment].source.Has(inbox.ChannelPoll)
}

// answered tells that the merchant got an HTTP status that says what happened.
func answered(fault string) bool { return strings.HasPrefix(fault, "status-") }

// account is what became of the answers of polls.
type account struct {
	answers     int // lost ones that named a payment
	broughtBack int // of them, whose payment is in the ledger all the same
	ambiguous   int // of them, see explain
	wrongs      []finding
}

// explain closes the books on polls. It takes the payments that are complete and that the
// merchant's books do not know. What of these is not ambiguous, in the sense of the promise,
// is lost; a lost answer that nobody was told of is unreported, also if its payment came back; and
// a report of a poll that had its answer is a false positive.
//
// A payment is ambiguous if all of this holds, by what the service's side has seen:
//   - a poll completed it, and not a confirm: the id of a confirm is known and written
//     down before it is asked;
//   - the poll's answer is lost;
//   - nobody could know its id: no webhook that named it was answered, and no order
//     returned it. So it was bought in the store, or its creation's answer was lost;
//   - a possible loss is reported for that very poll.
func (c *campaign) explain(polls []poll, missing []mockserver.Payment, l ledgers) (a account) {
	gone, untold, unmatched := c.lostPolls(polls, l)
	of := map[string]poll{}
	for _, p := range gone {
		if p.payment != "" {
			of[p.payment] = p
		}
	}
	a.answers, a.broughtBack = len(of), len(of)
	for _, p := range untold {
		a.wrongs = append(a.wrongs, finding{Kind: unreported, ID: p.payment, Why: "its answer is lost, and nobody was told", at: p.at, poll: &p})
	}
	for _, g := range unmatched {
		at := time.UnixMicro(g.beat)
		a.wrongs = append(a.wrongs, finding{
			Kind: falsePositive, Why: "a possible loss is reported at " + clock(at) + ", and no answer was: " + g.outcome,
			at: at, poll: lastBefore(polls, at),
		})
	}
	for _, m := range missing {
		p, wasLost := of[m.ID]
		if wasLost {
			a.broughtBack--
		}
		switch by := c.told.by(m.ID); {
		case !wasLost:
			a.wrongs = append(a.wrongs, finding{Kind: lost, ID: m.ID, Why: "completed by a confirm, or by a poll whose answer arrived, and not in the ledger"})
		case by != "":
			a.wrongs = append(a.wrongs, finding{Kind: lost, ID: m.ID, Why: "its id was known by " + by + ", and it is not in the ledger"})
		case slices.Contains(untold, p):
			a.wrongs = append(a.wrongs, finding{Kind: lost, ID: m.ID, Why: "a poll completed it, the answer is lost, and nobody was told"})
		case p.proven:
			a.wrongs = append(a.wrongs, finding{Kind: lost, ID: m.ID, Why: "a poll completed it, and the report of that poll was settled as proven empty"})
		default:
			a.ambiguous++
		}
	}
	return a
}

// lastBefore is the last poll that came before then; nil if there is none.
func lastBefore(polls []poll, then time.Time) (last *poll) {
	for i, p := range polls {
		if p.at.Before(then) {
			last = &polls[i]
		}
	}
	return last
}

// readCame reads which payments came by a poll: their record, or the whole answer as it was
// written down before it was read. A payment's own row tells only how it came first.
func (c *campaign) readCame(l *ledgers) {
	l.came = map[string]bool{}
	c.query(c.books, `SELECT payment_id, outcome, coalesce(body, '') FROM depositpay_receipts WHERE channel = $1`, func(scan func(...any) error) error {
		var id, outcome, body string
		if err := scan(&id, &outcome, &body); err != nil {
			return err
		}
		if outcome == string(inbox.OutcomeRaw) {
			id = idOf(body) // its key is the poll's
		}
		l.came[id] = true
		return nil
	}, int(inbox.ChannelPoll))
}

// idOf is the payment of a record; "" if it is none, or not whole.
func idOf(text string) string {
	var record struct {
		ID string `json:"id"`
	}
	if json.Unmarshal([]byte(text), &record) != nil {
		return ""
	}
	return record.ID
}
