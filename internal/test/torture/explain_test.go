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

// reported counts the merchants' reports of polls with a possibly lost response.
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

// journal is the content of the poll journal.
type journal struct {
	runs   []line // of one poller each, by opened
	losses []line // the ambiguous polls, by beat; each is used up by one poll
}

// newJournal reads the lines about polls. A settled report counts only if somebody settles
// them as part of the campaign (settled), or if the proof is in the audit.
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

// clocks is the tolerance between the ledger's clock and the campaign's. Both run on the
// same machine, and SQLite stores milliseconds.
const clocks = 5 * time.Millisecond

// teller matches polls with their reports.
type teller struct {
	journal
	ends []time.Time     // of the poller's processes, that the campaign ended
	away func(span) bool // the database was
}

// tells reports whether poll p was reported, and uses that report up: a possible loss
// written before the next poll, or the unclean end of a poller whose last poll was p. There
// is one poller at a time and it polls sequentially, so the match is unambiguous. next is
// nil after the last poll. A response that left the service complete counts as lost only
// after the poll's timeout, or if the process ended at that moment, or if the database was
// unavailable and the poller ended with the payment in hand.
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

// window returns the time in which a poll is reported, in µs of the ledger's clock.
func window(p poll, next *poll) (from, to int64) {
	if next == nil {
		return p.at.Add(-clocks).UnixMicro(), math.MaxInt64
	}
	return p.at.Add(-clocks).UnixMicro(), next.at.Add(clocks).UnixMicro()
}

// reports uses up the possible loss that was written for the poll and reports whether there
// is one. After a response that was sent complete, the only possible loss is a timeout.
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

// lostPolls returns the polls with a lost response, those of them that nobody was told of,
// and the reports without a poll. A response is lost if it named a payment that no merchant
// has stored, or if it named none and did not leave the service complete, because the
// merchant cannot know what it held. For the same reason a poll that was hit by a fault may
// be reported even if its response arrived.
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

// sent returns the polls in the order they were sent: a slow service may see a poll after
// the process that sent it has ended, and after later polls.
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

// answered reports whether the merchant got an HTTP status that says what happened.
func answered(fault string) bool { return strings.HasPrefix(fault, "status-") }

// account is the result of explain.
type account struct {
	answers     int // lost ones that named a payment
	broughtBack int // of them, the payments that are in the ledger anyway
	ambiguous   int // of them, see explain
	wrongs      []finding
}

// explain classifies every lost response and every complete payment that is missing from the
// merchant's ledger. A missing payment is ambiguous if, by the service's own record: a poll
// completed it (the id of a confirm is stored before it is sent); the poll's response was
// lost; nobody could know the id, because no webhook that named it was answered and no order
// returned it (so it was bought in the store, or the response to its creation was lost); and
// a possible loss is reported for that very poll. Any other missing payment is lost. A lost
// response that nobody was told of is unreported, even if its payment came back, and a
// report of a poll whose response arrived is a false positive.
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

// lastBefore returns the last poll before then, or nil.
func lastBefore(polls []poll, then time.Time) (last *poll) {
	for i, p := range polls {
		if p.at.Before(then) {
			last = &polls[i]
		}
	}
	return last
}

// readCame reads which payments arrived by a poll: by their record, or by the raw response
// stored before it was read. A payment's own row only tells how it arrived first.
func (c *campaign) readCame(l *ledgers) {
	l.came = map[string]bool{}
	c.query(c.ledger, `SELECT payment_id, outcome, coalesce(body, '') FROM depositpay_receipts WHERE channel = $1`, func(scan func(...any) error) error {
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

// idOf returns the payment id of a record, or "" if the record is broken.
func idOf(text string) string {
	var record struct {
		ID string `json:"id"`
	}
	if json.Unmarshal([]byte(text), &record) != nil {
		return ""
	}
	return record.ID
}
