package mockserver

import (
	"slices"

	"github.com/depositpay/depositpay-go/mockserver/internal/notice"
)

// UnmatchedReason says why a deposit was not given to a payment.
type UnmatchedReason string

// The reasons.
const (
	// ReasonNoMatch: no payment waits for this payer.
	ReasonNoMatch UnmatchedReason = "NO_MATCH"
	// ReasonSeveral: several payments wait for this payer and this amount.
	ReasonSeveral UnmatchedReason = "SEVERAL"
	// ReasonAmountDiffers: payments wait for this payer, but none for this amount.
	ReasonAmountDiffers UnmatchedReason = "AMOUNT_DIFFERS"
	// ReasonNotReadable: the text reports a deposit but not readably how much was
	// paid or by whom.
	ReasonNotReadable UnmatchedReason = "NOT_READABLE"
)

// maxCandidates is how many payments an unmatched deposit names.
const maxCandidates = 10

func ids(list []*payment) []string {
	out := make([]string, 0, min(len(list), maxCandidates))
	for _, p := range list[:min(len(list), maxCandidates)] {
		out = append(out, p.ID)
	}
	return out
}

// payers find payments by the name of the payer without looking at all payments.
// An entry may be out of date, because only [payers.add] learns of changes: the
// payment is paid, or its payer was corrected. Such entries are skipped, and
// removed when they may have become half of all.
type payers struct {
	byKey   map[string][]filedPayer
	entries int
	sweep   int // the number of entries at which to remove old ones
	added   int // the number of entries ever made
}

// filedPayer is one entry; number puts entries in order.
type filedPayer struct {
	p      *payment
	number int
}

const firstSweep = 1024

// match finds the one payment that a deposit is for, among the wanted: its payer is the
// one that the checkout page was told, and its amount is due. Without exactly one, it
// returns the reason and the payments that come close.
func (x *payers) match(said notice.Notice, wanted func(*payment) bool) (*payment, UnmatchedReason, []string) {
	if said.Payer == "" || said.Amount == 0 {
		return nil, ReasonNotReadable, nil
	}
	byPayer := x.find(said.Payer, wanted)
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

func (x *payers) add(p *payment, alive func(*payment) bool) {
	key := notice.Key(p.Payer)
	if key == "" {
		return // a name without a letter: no notification is matched by it
	}
	if x.byKey == nil {
		x.byKey, x.sweep = make(map[string][]filedPayer), firstSweep
	}
	x.added++
	x.byKey[key] = append(x.byKey[key], filedPayer{p, x.added})
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

// find returns the wanted payments whose payer may be the one of a notification, in the
// order in which their customers gave the name.
func (x *payers) find(payer string, wanted func(*payment) bool) []*payment {
	key := notice.Key(payer)
	var found []filedPayer
	if notice.Masked(payer) {
		for name, list := range x.byKey {
			if notice.MatchesKey(key, name) {
				found = append(found, current(slices.Clone(list), name, wanted)...)
			}
		}
		slices.SortFunc(found, func(a, b filedPayer) int { return a.number - b.number })
	} else {
		found = current(slices.Clone(x.byKey[key]), key, wanted)
	}
	list := make([]*payment, len(found))
	for i, e := range found {
		list[i] = e.p
	}
	return list
}

// current keeps each wanted payment once, if its payer is still the one that it is filed
// under. It works in place.
func current(list []filedPayer, key string, wanted func(*payment) bool) []filedPayer {
	seen := make(map[*payment]bool, len(list))
	return slices.DeleteFunc(list, func(e filedPayer) bool {
		if seen[e.p] || !wanted(e.p) || notice.Key(e.p.Payer) != key {
			return true
		}
		seen[e.p] = true
		return false
	})
}
