//go:build unix

package torture

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// outcome is everything a soak has written to its folder.
type outcome struct {
	meta    soakMeta
	samples []sample
	results []*result
	trends  []trend
	passed  bool
}

// readSoak reads and judges the folder of a soak.
func readSoak(folder string) (*outcome, error) {
	o := &outcome{}
	var err error
	if o.meta, o.samples, err = readSamples(folder); err != nil {
		return nil, err
	}
	o.trends, o.passed = trends(o.meta.Length, o.samples)
	for _, database := range []string{"sqlite", "postgres"} {
		text, err := os.ReadFile(filepath.Join(folder, database+".json"))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		r := &result{}
		if err := json.Unmarshal(text, r); err != nil {
			return nil, fmt.Errorf("%s: %w", database, err)
		}
		o.results = append(o.results, r)
		o.passed = o.passed && r.Verdict == "passed"
	}
	o.passed = o.passed && len(o.results) > 0
	return o, nil
}

const (
	soakBegin = "<!-- soak -->\n"
	soakEnd   = "<!-- end soak -->"
)

// publish writes the soak's table between the marks of a document.
func (o *outcome) publish(document string) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), soakBegin)
	_, after, ended := strings.Cut(rest, soakEnd)
	if !found || !ended {
		return fmt.Errorf("%s has no marks %q and %q", document, soakBegin, soakEnd)
	}
	return os.WriteFile(document, []byte(before+soakBegin+o.table()+soakEnd+after), 0o644)
}

func (o *outcome) length() string { return fmt.Sprintf("%.4g minutes", o.meta.Length/60) }

// verdict returns the verdict in one word.
func (o *outcome) verdict() string {
	if o.passed {
		return "PASSED"
	}
	return "FAILED"
}

// table returns the outcome as Markdown: counts, then a line for each trend.
func (o *outcome) table() string {
	var b strings.Builder
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(&b, format+"\n", args...) }
	line("| %s | %s |\n| --- | --- |", o.length(), o.verdict())
	line("| date, seed | %s, %d |", o.meta.Date, o.meta.Seed)
	line("| on | %s, %s |", o.meta.Go, o.meta.System)
	failed := 0
	for _, s := range o.samples {
		if s.Failed != "" {
			failed++
		}
	}
	line("| looks at a process | %d, of which %d failed |", len(o.samples), failed)
	for _, r := range o.results {
		line("| payments, %s | %d made, %d completed, %d granted, %d set aside with too little money |", r.Database, r.Payments, r.Completed, r.Granted, r.Review)
		line("| trouble | %d faults of the service, %d of them webhooks that did not arrive; %d polls reported as ambiguous |",
			sum(r.Faults), r.Faults["webhook dead-uri"], r.Reported.Ambiguous)
		line("| strangers | %d forged webhooks, %d repeated ones |",
			r.Customers["forged, before the payment"]+r.Customers["forged, of no payment"], r.Customers["repeated webhooks"])
		line("| **lost, doubled, unverified, unreported** | **%d, %d, %d, %d**; %d payments ambiguous, each reported |", r.Lost, r.Doubled, r.Unverified, r.Unreported, r.Ambiguous)
	}
	for _, e := range o.extras() {
		line("| %s | %s |", e[0], e[1])
	}
	line("")
	line("| process | measure | second quarter | last quarter | at most | highest |\n| --- | --- | --- | --- | --- | --- |")
	for _, t := range o.trends {
		line("| %s |", strings.Join(t.cells(), " | "))
	}
	return b.String()
}

// cells returns a trend's line of the table.
func (t trend) cells() []string {
	as, name := func(v float64) string { return fmt.Sprintf("%.0f", v) }, string(t.Measure)
	if full := map[measure]string{
		resident: "resident memory", heap: "heap alive", files: "open descriptors", wal: "write-ahead log", intake: "intake file", oldest: "oldest waiting payment",
	}[t.Measure]; full != "" {
		name = full
	}
	switch t.Measure {
	case resident, heap, wal:
		as = func(v float64) string { return fmt.Sprintf("%.1f MiB", v/mebibyte) }
	case intake:
		as = func(v float64) string { return fmt.Sprintf("%.0f KiB", v/1024) }
	case oldest:
		as = func(v float64) string { return fmt.Sprintf("%.1f s", v) }
	default: // a number of something
	}
	limit := as(t.Limit)
	if !t.Bounded {
		limit += " **(beyond)**"
	}
	return []string{t.Of, name, as(t.Before), as(t.After), limit, as(t.Highest)}
}

// extras returns figures without a bound: growth that is expected, and its rate.
func (o *outcome) extras() (all [][2]string) {
	for _, of := range processes(o.samples) {
		var first, last sample
		for _, s := range o.samples {
			if s.Of == of && s.Failed == "" {
				if first.Values == nil {
					first = s
				}
				last = s
			}
		}
		if last.Values == nil || last.At == first.At {
			continue
		}
		text := fmt.Sprintf("%.1f %% of a processor", 100*(last.Values[processor]-first.Values[processor])/(last.At-first.At))
		if n := last.Values[granted]; n > 0 {
			text += fmt.Sprintf("; %.0f bytes of database a payment; %.0f unknown ids given up by it", last.Values[database]/n, last.Values[evicted])
		}
		if of == theService {
			text += fmt.Sprintf("; %.0f MiB at the end: it keeps every payment", last.Values[resident]/mebibyte)
		}
		all = append(all, [2]string{of, text})
	}
	return all
}
