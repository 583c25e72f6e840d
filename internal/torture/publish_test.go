//go:build unix

package torture

import (
	"fmt"
	"os"
	"strings"
)

// publish writes the figures into their marked block of a document.
func (r *result) publish(path, database string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	replaced, err := r.into(string(text), database)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(replaced), 0o644)
}

// into replaces what stands between the marks of a database.
func (r *result) into(document, database string) (string, error) {
	begin, end := "<!-- torture "+database+" -->\n", "<!-- end "+database+" -->"
	before, rest, found := strings.Cut(document, begin)
	if !found {
		return "", fmt.Errorf("there is no mark %q", begin)
	}
	_, after, found := strings.Cut(rest, end)
	if !found {
		return "", fmt.Errorf("there is no mark %q", end)
	}
	return before + begin + r.table() + end + after, nil
}

// table is the result as Markdown.
func (r *result) table() string {
	var b strings.Builder
	row := func(what, format string, args ...any) {
		_, _ = fmt.Fprintf(&b, "| %s | %s |\n", what, fmt.Sprintf(format, args...))
	}
	row(r.Database, "%s", strings.ToUpper(r.Verdict))
	b.WriteString("| --- | --- |\n")
	row("date, seed, plan", "%s, %d, %s", r.Date, r.Seed, r.Plan)
	row("on", "%s, %s", r.Go, r.System)
	row("time in trouble", "%.0f s", r.Troubled)
	row("payments", "%d made, %d completed, %d granted, %d set aside with too little money", r.Payments, r.Completed, r.Granted, r.Review)
	row("processes", "%d killed, %d paused, %d stopped cleanly", r.Did[killed], r.Did[paused], r.Did[stopped])
	if r.Did[restarted] > 0 {
		row("database", "%d crashes", r.Did[restarted])
	}
	row("service", "%d faults, %d steps of the clock, %d times without webhooks", sum(r.Faults), r.Did[stepped], r.Did[silence])
	row("strangers", "%d forged webhooks, %d repeated ones", r.Customers["forged, before the payment"]+r.Customers["forged, of no payment"], r.Customers["repeated webhooks"])
	row("handlers begun more than once", "%d", r.Reclaimed)
	row("payments in lost answers of polls", "%d: %d came by their id, %d are ambiguous", r.LostAnswers, r.BroughtBack, r.Ambiguous)
	row("**lost, doubled, unverified, silent**", "**%d, %d, %d, %d**", r.Lost, r.Doubled, r.Unverified, r.Silent)
	return b.String()
}

func sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}
