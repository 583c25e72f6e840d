package mockserver

import (
	"cmp"
	"slices"
	"strings"
)

const errReset = "cut off: the mock server was reset"

// Reset forgets what has happened, so that the next test begins afresh. Without names the
// server is as [New] made it: no payments, deliveries, notifications, requests, faults,
// products and store users, and the applications of [Config.Applications] as they were
// configured; others are gone. With the names of applications only their payments,
// deliveries and products are forgotten. Webhooks in flight are cut off. The clock stays
// where it is. The error is an [*Error]: [CodeInvalidParameter] for a name that does not
// exist, and then nothing is forgotten.
func (s *Server) Reset(applications ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	apps := s.apps.list
	if len(applications) > 0 {
		apps = nil
	}
	for _, name := range applications {
		app, problem := s.apps.findNamed(name)
		if problem != nil {
			return problem
		}
		apps = append(apps, app)
	}
	gone := map[*application]bool{}
	for _, app := range apps {
		gone[app] = true
	}
	s.sender.forget(gone)
	s.book.forget(gone)
	s.store.products = slices.DeleteFunc(s.store.products, func(p *product) bool { return gone[p.app] })
	if len(applications) == 0 {
		s.phone.forget()
		s.store.users, s.sender.responses = nil, responses{}
		s.faults.clear()
		s.apps.restore()
		s.log.clear()
	}
	s.changes.note()
	return nil
}

// forget cuts off the attempts of the applications. Their timers and statuses go first, so
// that no other attempt follows from one that ends.
func (x *sender) forget(gone map[*application]bool) {
	ours := func(d *delivery) bool { return gone[d.payment.app] }
	for _, d := range x.deliveries {
		if ours(d) {
			x.timers.Remove(d.next)
			d.next, d.status = nil, DeliveryFailed
		}
	}
	for timer, a := range x.planned {
		if ours(a.delivery) {
			x.timers.Remove(timer)
			delete(x.planned, timer)
		}
	}
	if !x.held.Planned() {
		x.held = nil
	}
	for a := range x.inFlight {
		if ours(a.delivery) {
			x.finish(a, outcome{failure: errReset})
		}
	}
	x.deliveries = slices.DeleteFunc(x.deliveries, ours)
}

// forget drops the payments of the applications. It makes a new list of the others, because
// a query may still read the old one.
func (b *book) forget(gone map[*application]bool) {
	list := b.list
	b.list, b.bytes, b.expired = nil, 0, 0
	for _, p := range list {
		if gone[p.app] {
			delete(b.byID, p.ID)
			continue
		}
		b.list = append(b.list, p)
		b.bytes += p.size() + len(p.Payer)
	}
	for name, filed := range b.payers.byKey {
		b.payers.byKey[name] = slices.DeleteFunc(filed, func(e filedPayer) bool { return gone[e.p.app] })
	}
	for app := range gone {
		app.waiting, app.head = nil, 0
	}
	b.expire()
	b.timers.arm()
}

func (f *phone) forget() {
	f.uploads, f.unmatched, f.dropped = nil, nil, 0
	f.byID, f.seen = map[string]*upload{}, map[repeatKey]*upload{}
}

// restore makes the applications those of the Config again.
func (d *directory) restore() {
	apps := d.byToken
	d.byToken, d.list = map[string]*application{}, nil
	for _, a := range d.cfg.Applications {
		a.GameField = cmp.Or(a.GameField, DefaultGameField)
		a.Name = cmp.Or(strings.TrimSpace(a.Name), d.freeName())
		app := apps[a.Token]
		app.Application = a
		d.byToken[a.Token], d.list = app, append(d.list, app)
		d.tokens.Know(a.Token)
	}
	d.publishDialects()
}

// clear empties the log. It still knows every token: a client may go on to use one.
func (l *requestLog) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ring, l.next = nil, 0
}
