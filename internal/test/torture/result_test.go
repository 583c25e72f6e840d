//go:build unix

package torture

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// result is the result of a campaign, as its JSON file holds it.
type result struct {
	Date     string  `json:"date"`
	Seed     uint64  `json:"seed"`
	Plan     string  `json:"plan"` // its fingerprint
	Database string  `json:"database"`
	Mutant   mutant  `json:"mutant,omitempty"`
	Go       string  `json:"go"`
	System   string  `json:"system"`
	Revision string  `json:"revision"`   // of the code
	Length   float64 `json:"length_s"`   // as asked for
	Troubled float64 `json:"troubled_s"` // until the trouble was over
	Took     float64 `json:"took_s"`     // until the ledgers were compared

	Payments  int             `json:"payments"`
	Completed int             `json:"completed"`
	Granted   int             `json:"granted"`
	Review    int             `json:"review"`
	Did       map[trouble]int `json:"trouble"`
	Customers map[string]int  `json:"customers"`
	Faults    map[string]int  `json:"faults"`
	Reclaimed int             `json:"claimed_again"` // payments whose handler began more than once

	// LostAnswers are payments that a poll completed whose answer was lost, as explain has
	// it. BroughtBack are those that are in the ledger anyway, by their id; Ambiguous
	// the others.
	LostAnswers int      `json:"lost_poll_answers"`
	BroughtBack int      `json:"brought_back"`
	Ambiguous   int      `json:"ambiguous"`
	Reported    reported `json:"reported"`

	Lost           int       `json:"lost"`
	Doubled        int       `json:"doubled"`
	Unverified     int       `json:"unverified"`
	Unreported     int       `json:"unreported"`      // polls with a lost response that nobody was told of
	FalsePositives int       `json:"false_positives"` // reports of polls whose response arrived
	Late           int       `json:"late"`            // payments that waited too long
	Longest        float64   `json:"longest_s"`       // wait of a payment that was paid and known
	Findings       []finding `json:"findings"`
	Verdict        string    `json:"verdict"` // "passed" or "failed"

	histories string
}

// judge compares the ledgers and counts the findings.
func (c *campaign) judge() *result {
	l := c.read()
	service := c.service.Payments()
	v := compare(service, l)
	r := &result{
		Date: time.Now().UTC().Format(time.DateOnly), Seed: c.seed, Plan: c.plan.fingerprint(), Mutant: c.profile.Mutant,
		Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH + fmt.Sprintf(", %d CPUs", runtime.NumCPU()),
		Revision: revision(), Payments: len(service), Completed: v.completed, Granted: v.granted, Review: v.review,
		Did: c.did, Customers: c.customers.counts, Faults: c.service.struck,
	}
	version, of := `SELECT sqlite_version()`, "SQLite "
	if c.cluster != nil {
		version, of = `SHOW server_version`, "PostgreSQL "
	}
	c.query(c.ledger, version, func(scan func(...any) error) error {
		err := scan(&version)
		r.Database = of + strings.Fields(version)[0]
		return err
	})
	c.query(c.ledger, `SELECT count(*) FROM depositpay_payments WHERE stage = 3 AND attempt > 1`, func(scan func(...any) error) error { return scan(&r.Reclaimed) })
	c.readCame(&l)
	_, r.Reported = newJournal(l.polls, c.soaks)
	r.Reported.AtOnce = len(c.ambiguous.at)
	polls, err := c.service.polls()
	c.check(err)
	a := c.explain(polls, v.missing, l)
	r.LostAnswers, r.BroughtBack, r.Ambiguous = a.answers, a.broughtBack, a.ambiguous
	tooLate, most := c.waits.tooLate()
	r.Longest = most.Seconds()
	r.Findings = slices.Concat(v.findings, a.wrongs, c.neglected, tooLate)
	for _, f := range r.Findings {
		switch f.Kind {
		case lost:
			r.Lost++
		case doubled:
			r.Doubled++
		case unverified:
			r.Unverified++
		case unreported:
			r.Unreported++
		case falsePositive:
			r.FalsePositives++
		case late:
			r.Late++
		}
	}
	r.Verdict = "passed"
	if len(r.Findings) > 0 {
		r.Verdict = "failed"
		r.histories = c.histories(r.Findings)
	}
	return r
}

// revision returns the git revision of the tree, with a + if files have changed since.
func revision() string {
	head, err := exec.Command("git", "rev-parse", "--short=10", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	changed, err := exec.Command("git", "status", "--porcelain").Output()
	if err != nil || len(changed) > 0 {
		return strings.TrimSpace(string(head)) + "+"
	}
	return strings.TrimSpace(string(head))
}

// has reports whether there is a finding of that kind.
func (r *result) has(kind wrong) bool {
	return slices.ContainsFunc(r.Findings, func(f finding) bool { return f.Kind == kind })
}

// String returns the result as text for people.
func (r *result) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(&b, format+"\n", args...) }
	line("%s: %s, seed %d, plan %s, %s, %s, %.0f s of trouble (%.0f s in all)", strings.ToUpper(r.Verdict), r.Database, r.Seed, r.Plan, r.Go, r.System, r.Troubled, r.Took)
	if r.Mutant != "" {
		line("  mutant: %s", r.Mutant)
	}
	line("  %d payments, %d completed, %d granted, %d set aside (too little money)", r.Payments, r.Completed, r.Granted, r.Review)
	line("  trouble: %s", list(r.Did))
	line("  customers: %s", list(r.Customers))
	line("  faults: %s", list(r.Faults))
	line("  %d handlers began more than once", r.Reclaimed)
	line("  %d payments in lost answers of polls: %d came by their id, %d ambiguous; reports: %d ambiguous, %d unclean ends",
		r.LostAnswers, r.BroughtBack, r.Ambiguous, r.Reported.Ambiguous, r.Reported.Unclean)
	line("  lost %d, doubled %d, unverified grants %d, unreported %d, late %d (longest wait %.0f s); false positives %d",
		r.Lost, r.Doubled, r.Unverified, r.Unreported, r.Late, r.Longest, r.FalsePositives)
	return b.String() + r.histories
}

func list[K ~string](counts map[K]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, counts[k]))
	}
	return strings.Join(parts, ", ")
}

// save writes the result as JSON.
func (r *result) save(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// publish writes the figures into the marked blocks of documents.
func (r *result) publish(paths, database string) error {
	for path := range strings.FieldsSeq(paths) {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		replaced, err := r.into(string(text), database)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := os.WriteFile(path, []byte(replaced), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// into replaces the text between the marks of a database: the whole table, or the short
// form.
func (r *result) into(document, database string) (string, error) {
	for mark, text := range map[string]string{database: r.table(), database + " in short": r.short()} {
		begin, end := "<!-- torture "+mark+" -->\n", "<!-- end "+mark+" -->"
		before, rest, found := strings.Cut(document, begin)
		if !found {
			continue
		}
		_, after, found := strings.Cut(rest, end)
		if !found {
			return "", fmt.Errorf("there is no mark %q", end)
		}
		return before + begin + text + end + after, nil
	}
	return "", fmt.Errorf("there is no mark of %s", database)
}

// short returns the result as a list entry.
func (r *result) short() string {
	crashes := ""
	if r.Did[restarted] > 0 {
		crashes = fmt.Sprintf(", %d crashes of the database, %d of its connections cut or stalled", r.Did[restarted], r.Did[cutOff]+r.Did[stalled])
	}
	return fmt.Sprintf("- %s, %s: %d payments, %d processes killed, %d paused%s, %d faults of the service:\n  **lost %d, granted twice %d, granted unverified %d, lost answers unreported %d,\n  waiting longer than a minute %d**.\n",
		r.Database, r.Date, r.Payments, r.Did[killed], r.Did[paused], crashes, sum(r.Faults), r.Lost, r.Doubled, r.Unverified, r.Unreported, r.Late)
}

// table returns the result as Markdown.
func (r *result) table() string {
	var b strings.Builder
	row := func(what, format string, args ...any) {
		_, _ = fmt.Fprintf(&b, "| %s | %s |\n", what, fmt.Sprintf(format, args...))
	}
	row(r.Database, "%s", strings.ToUpper(r.Verdict))
	b.WriteString("| --- | --- |\n")
	row("date, seed, plan", "%s, %d, %s", r.Date, r.Seed, r.Plan)
	row("on", "%s, %s", r.Go, r.System)
	row("revision", "%s", r.Revision)
	row("time in trouble", "%.0f s", r.Troubled)
	row("payments", "%d made, %d completed, %d granted, %d set aside with too little money", r.Payments, r.Completed, r.Granted, r.Review)
	row("processes", "%d killed, %d paused, %d stopped cleanly", r.Did[killed], r.Did[paused], r.Did[stopped])
	if r.Did[restarted] > 0 {
		row("database", "%d crashes, %d connections cut, %d stalled", r.Did[restarted], r.Did[cutOff], r.Did[stalled])
	}
	row("service", "%d faults, %d steps of the clock, %d times without webhooks", sum(r.Faults), r.Did[stepped], r.Did[silence])
	row("strangers", "%d forged webhooks, %d repeated ones", r.Customers["forged, before the payment"]+r.Customers["forged, of no payment"], r.Customers["repeated webhooks"])
	row("handlers begun more than once", "%d: they had failed, or another process took over", r.Reclaimed)
	row("payments in lost answers of polls", "%d: %d came by their id, %d are ambiguous", r.LostAnswers, r.BroughtBack, r.Ambiguous)
	row("reports of possible losses", "%d polls, of which %d had their answers; %d unclean ends of pollers", r.Reported.Ambiguous, r.FalsePositives, r.Reported.Unclean)
	row("longest wait of a payment that was paid and known", "%.0f s", r.Longest)
	row("**lost, doubled, unverified, unreported, late**", "**%d, %d, %d, %d, %d**", r.Lost, r.Doubled, r.Unverified, r.Unreported, r.Late)
	return b.String()
}

func sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}
