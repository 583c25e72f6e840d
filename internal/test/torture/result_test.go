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

// result is what a campaign has found, as its JSON file has it.
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
	Took     float64 `json:"took_s"`     // until the books were closed

	Payments  int             `json:"payments"`
	Completed int             `json:"completed"`
	Granted   int             `json:"granted"`
	Review    int             `json:"review"`
	Did       map[trouble]int `json:"trouble"`
	Customers map[string]int  `json:"customers"`
	Faults    map[string]int  `json:"faults"`
	Reclaimed int             `json:"claimed_again"` // payments whose handler began more than once

	// LostAnswers are payments that a poll completed whose answer was lost, as explain has
	// it. BroughtBack are those that are in the ledger all the same, by their id; Ambiguous
	// the others.
	LostAnswers int      `json:"lost_poll_answers"`
	BroughtBack int      `json:"brought_back"`
	Ambiguous   int      `json:"ambiguous"`
	Reported    reported `json:"reported"`

	Lost       int       `json:"lost"`
	Doubled    int       `json:"doubled"`
	Unverified int       `json:"unverified"`
	Silent     int       `json:"silent"`     // lost answers of polls that nobody was told of
	Groundless int       `json:"groundless"` // reports of polls that had their answers
	Late       int       `json:"late"`       // payments that waited too long
	Longest    float64   `json:"longest_s"`  // wait of a payment that was paid and known
	Findings   []finding `json:"findings"`
	Verdict    string    `json:"verdict"` // "passed" or "failed"

	histories string
}

// judge closes the books.
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
	c.query(c.books, version, func(scan func(...any) error) error {
		err := scan(&version)
		r.Database = of + strings.Fields(version)[0]
		return err
	})
	c.query(c.books, `SELECT count(*) FROM depositpay_payments WHERE stage = 3 AND attempt > 1`, func(scan func(...any) error) error { return scan(&r.Reclaimed) })
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
		case hushed:
			r.Silent++
		case wolf:
			r.Groundless++
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

// revision is that of the tree the test runs in, with a + if something in it has changed since.
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

// has reports whether such a payment was found.
func (r *result) has(kind wrong) bool {
	return slices.ContainsFunc(r.Findings, func(f finding) bool { return f.Kind == kind })
}

// String is the result for people.
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
	line("  lost %d, doubled %d, unverified grants %d, silent %d, late %d (longest wait %.0f s); reports without ground %d",
		r.Lost, r.Doubled, r.Unverified, r.Silent, r.Late, r.Longest, r.Groundless)
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
