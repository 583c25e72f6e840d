//go:build unix

package torture

import (
	"fmt"
	"strings"
	"time"
)

// histories tells all that is known of the first payments that break a promise.
func (c *campaign) histories(findings []finding) string {
	const most = 5
	var b strings.Builder
	perKind := map[wrong]int{}
	for _, f := range findings {
		if perKind[f.Kind]++; perKind[f.Kind] <= most {
			_, _ = fmt.Fprintf(&b, "\n%s: payment %s: %s (seed %d)\n%s", f.Kind, f.ID, f.Why, c.seed, c.history(f.ID))
		}
	}
	return b.String()
}

// history is what service and merchant have on one payment. Of a poll that took none,
// there is no more than the finding says.
func (c *campaign) history(id string) string {
	var b strings.Builder
	if id == "" {
		return ""
	}
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(&b, "    "+format+"\n", args...) }
	clock := func(t time.Time) string { return t.UTC().Format("15:04:05.000") }
	micro := func(at int64) string { return clock(time.UnixMicro(at)) }
	if p, ok := c.service.Payment(id); ok {
		line("service: %s, identifier %q, product %q, due %d, paid %d", p.Status, p.Identifier, p.GameProduct, p.Amount, p.PaidAmount)
		events, err := c.service.Timeline(id)
		c.check(err)
		for _, e := range events {
			line("service: %s %s %s", clock(c.service.realTime(e.At)), e.Kind, e.Text)
		}
	}
	c.query(c.books, `SELECT stage, source, own, attempt, reason, first_seen, coalesce(ready_at, 0), coalesce(done_at, 0) FROM depositpay_payments WHERE payment_id = $1`,
		func(scan func(...any) error) error {
			var stage, source, own, attempt int
			var reason string
			var first, ready, done int64
			err := scan(&stage, &source, &own, &attempt, &reason, &first, &ready, &done)
			line("ledger: stage %d, source %d, own %d, attempt %d, reason %q, first seen %s, ready %s, done %s", stage, source, own, attempt, reason, micro(first), micro(ready), micro(done))
			return err
		}, id)
	c.query(c.books, `SELECT channel, outcome, attempt, coalesce(body, ''), at FROM depositpay_receipts WHERE payment_id = $1 OR body LIKE '%' || $1 || '%' ORDER BY receipt_id`,
		func(scan func(...any) error) error {
			var channel, attempt int
			var outcome, body string
			var at int64
			err := scan(&channel, &outcome, &attempt, &body, &at)
			line("receipt: %s channel %d %s, attempt %d: %.200s", micro(at), channel, outcome, attempt, body)
			return err
		}, id)
	c.query(c.books, `SELECT identifier, product, amount, pid, at FROM effects WHERE payment_id = $1 ORDER BY at`, func(scan func(...any) error) error {
		var e effect
		var pid int
		var at int64
		err := scan(&e.identifier, &e.product, &e.amount, &pid, &at)
		line("effect: %s by process %d, %v", micro(at), pid, e)
		return err
	}, id)
	p, polled := c.service.witness.of(id)
	if !polled {
		return b.String()
	}
	line("service: %v", p)
	c.query(c.books, `SELECT poll_id, opened_at, beat_at, outcome FROM depositpay_polls WHERE beat_at BETWEEN $1 AND $2 ORDER BY beat_at LIMIT 10`, func(scan func(...any) error) error {
		var key, outcome string
		var opened, beat int64
		err := scan(&key, &opened, &beat, &outcome)
		line("poll journal: %s opened %s, beat %s, %.120s", key, micro(opened), micro(beat), outcome)
		return err
	}, p.at.Add(-10*time.Second).UnixMicro(), p.at.Add(40*time.Second).UnixMicro())
	return b.String()
}
