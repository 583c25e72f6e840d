package mockserver

import (
	"slices"

	"github.com/depositpay/depositpay-go/mockserver/internal/notice"
)

// maxCandidates is how many payments an unmatched deposit names.
const maxCandidates = 10

// match finds the one payment that a deposit is for: its payer is the one that the
// checkout was told, its amount is due. Without exactly one it gives the reason and
// the payments that come close.
func (s *Server) match(app *application, said notice.Notice) (*payment, UnmatchedReason, []string) {
	if said.Payer == "" || said.Amount == 0 {
		return nil, ReasonNotReadable, nil
	}
	byPayer := s.candidates(app, said.Payer)
	var due []*payment
	for _, p := range byPayer {
		if p.AmountDue() == said.Amount {
			due = append(due, p)
		}
	}
	switch {
	case len(due) == 1:
		return due[0], "", nil
	case len(due) > 1:
		return nil, ReasonSeveral, ids(due)
	case len(byPayer) > 0:
		return nil, ReasonAmountDiffers, ids(byPayer)
	}
	return nil, ReasonNoMatch, nil
}

// candidates are the payments that await a deposit of this payer, in the order in
// which their customers gave the name: those of one application, or of all for nil.
func (s *Server) candidates(app *application, payer string) []*payment {
	s.expire()
	return s.phone.payers.find(payer, func(p *payment) bool {
		return s.awaitsDeposit(p) && (app == nil || p.app == app)
	})
}

// awaitsDeposit reports whether a notification may pay a payment whose payer is known.
func (s *Server) awaitsDeposit(p *payment) bool {
	return p.Status == StatusWaiting || p.Status == StatusExpired && s.cfg.LateDeposit
}

func ids(list []*payment) []string {
	out := make([]string, 0, min(len(list), maxCandidates))
	for _, p := range list[:min(len(list), maxCandidates)] {
		out = append(out, p.ID)
	}
	return out
}

// payers finds payments by the name of the payer without looking at all payments.
// An entry may be out of date, since only [payers.add] is told of changes: the
// payment is paid, or its payer was corrected. Such entries are passed over, and
// thrown away when they may have become the half.
type payers struct {
	byKey   map[string][]expected
	entries int
	sweep   int // the number of entries at which to throw away
	added   int // the number of entries ever made
}

// expected is one entry; number puts entries in order.
type expected struct {
	p      *payment
	number int
}

const firstSweep = 1024

// expectPayer files a payment whose payer has become known. The caller holds s.mu.
func (s *Server) expectPayer(p *payment) { s.phone.payers.add(p, s.awaitsDeposit) }

func (x *payers) add(p *payment, alive func(*payment) bool) {
	key := notice.Key(p.Payer)
	if key == "" {
		return // a name without a letter: no notification is matched by it
	}
	if x.byKey == nil {
		x.byKey, x.sweep = make(map[string][]expected), firstSweep
	}
	x.added++
	x.byKey[key] = append(x.byKey[key], expected{p, x.added})
	if x.entries++; x.entries < x.sweep {
		return
	}
	x.entries = 0
	for key, list := range x.byKey {
		if list = current(list, key, alive); len(list) == 0 {
			delete(x.byKey, key)
			continue
		}
		x.byKey[key] = slices.Clone(list)
		x.entries += len(list)
	}
	x.sweep = max(firstSweep, 2*x.entries)
}

// find returns the payments whose payer may be the one of a notification.
func (x *payers) find(payer string, wanted func(*payment) bool) []*payment {
	key := notice.Key(payer)
	var found []expected
	if notice.Masked(payer) {
		for name, list := range x.byKey {
			if notice.MatchesKey(key, name) {
				found = append(found, current(slices.Clone(list), name, wanted)...)
			}
		}
		slices.SortFunc(found, func(a, b expected) int { return a.number - b.number })
	} else {
		found = current(slices.Clone(x.byKey[key]), key, wanted)
	}
	list := make([]*payment, len(found))
	for i, e := range found {
		list[i] = e.p
	}
	return list
}

// current keeps each payment once that is wanted and whose payer is still the one
// it is filed under. It works in place.
func current(list []expected, key string, wanted func(*payment) bool) []expected {
	seen := make(map[*payment]bool, len(list))
	return slices.DeleteFunc(list, func(e expected) bool {
		if seen[e.p] || !wanted(e.p) || notice.Key(e.p.Payer) != key {
			return true
		}
		seen[e.p] = true
		return false
	})
}
