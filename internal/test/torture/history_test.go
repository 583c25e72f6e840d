//go:build unix

package torture

import (
	"fmt"
	"strings"
	"time"
)

// histories returns all that is known about the first findings of each kind.
func (c *campaign) histories(findings []finding) string {
	const most = 5
	var b strings.Builder
	perKind := map[wrong]int{}
	for _, f := range findings {
		if perKind[f.Kind]++; perKind[f.Kind] <= most {
			what := "payment " + f.ID
			if f.ID == "" {
				what = "of no payment"
			}
			_, _ = fmt.Fprintf(&b, "\n%s: %s: %s (seed %d)\n%s", f.Kind, what, f.Why, c.seed, c.history(f))
		}
	}
	return b.String()
}

// history returns what the service and the merchant recorded about one finding.
func (c *campaign) history(f finding) string {
	var b strings.Builder
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(&b, "    "+format+"\n", args...) }
	p, at := f.poll, f.at
	if f.ID != "" {
		c.paymentHistory(f.ID, line)
		if took, ok := c.service.witness.of(f.ID); ok {
			p, at = &took, took.at
		}
	}
	if p != nil {
		line("service: %v", *p)
	}
	if !at.IsZero() {
		c.journalHistory(at, line)
	}
	return b.String()
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05.000") }
func micro(at int64) string    { return clock(time.UnixMicro(at)) }

func (c *campaign) paymentHistory(id string, line func(string, ...any)) {
	if p, ok := c.service.Payment(id); ok {
		line("service: %s, identifier %q, product %q, due %d, paid %d", p.Status, p.Identifier, p.GameProduct, p.Amount, p.PaidAmount)
		events, err := c.service.Timeline(id)
		c.check(err)
		for _, e := range events {
			line("service: %s %s %s", clock(c.service.realTime(e.At)), e.Kind, e.Text)
		}
	}
	c.query(c.ledger, `SELECT stage, source, own, attempt, reason, first_seen, coalesce(ready_at, 0), coalesce(done_at, 0) FROM depositpay_payments WHERE payment_id = $1`,
		func(scan func(...any) error) error {
			var stage, source, own, attempt int
			var reason string
			var first, ready, done int64
			err := scan(&stage, &source, &own, &attempt, &reason, &first, &ready, &done)
			line("ledger: stage %d, source %d, own %d, attempt %d, reason %q, first seen %s, ready %s, done %s", stage, source, own, attempt, reason, micro(first), micro(ready), micro(done))
			return err
		}, id)
	c.query(c.ledger, `SELECT channel, outcome, attempt, coalesce(body, ''), at FROM depositpay_receipts WHERE payment_id = $1 OR body LIKE '%' || $1 || '%' ORDER BY receipt_id`,
		func(scan func(...any) error) error {
			var channel, attempt int
			var outcome, body string
			var at int64
			err := scan(&channel, &outcome, &attempt, &body, &at)
			line("receipt: %s channel %d %s, attempt %d: %.200s", micro(at), channel, outcome, attempt, body)
			return err
		}, id)
	c.query(c.ledger, `SELECT identifier, product, amount, pid, at FROM effects WHERE payment_id = $1 ORDER BY at`, func(scan func(...any) error) error {
		var e effect
		var pid int
		var at int64
		err := scan(&e.identifier, &e.product, &e.amount, &pid, &at)
		line("effect: %s by process %d, %v", micro(at), pid, e)
		return err
	}, id)
}

// journalHistory returns what the poller recorded around that time.
func (c *campaign) journalHistory(at time.Time, line func(string, ...any)) {
	c.query(c.ledger, `SELECT * FROM (SELECT poll_id, opened_at, beat_at, outcome FROM depositpay_polls ORDER BY abs(beat_at - $1) LIMIT 10) AS near ORDER BY beat_at`, func(scan func(...any) error) error {
		var key, outcome string
		var opened, beat int64
		err := scan(&key, &opened, &beat, &outcome)
		line("poll journal: %s opened %s, beat %s, %.120s", key, micro(opened), micro(beat), outcome)
		return err
	}, at.UnixMicro())
}
