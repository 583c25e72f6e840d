//go:build unix

package torture

import (
	"fmt"
	"os"
	"strings"
)

// publish writes the figures into their marked blocks of documents.
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

// into replaces what stands between the marks of a database: all that there is to tell, or
// one line of it.
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

// short is the result as an entry of a list.
func (r *result) short() string {
	crashes := ""
	if r.Did[restarted] > 0 {
		crashes = fmt.Sprintf(", %d crashes of the database, %d of its connections cut or stalled", r.Did[restarted], r.Did[cutOff]+r.Did[stalled])
	}
	return fmt.Sprintf("- %s, %s: %d payments, %d processes killed, %d paused%s, %d faults of the service:\n  **lost %d, granted twice %d, granted unverified %d, lost answers kept silent %d,\n  waiting longer than a minute %d**.\n",
		r.Database, r.Date, r.Payments, r.Did[killed], r.Did[paused], crashes, sum(r.Faults), r.Lost, r.Doubled, r.Unverified, r.Silent, r.Late)
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
	row("reports of possible losses", "%d polls, of which %d had their answers; %d unclean ends of pollers", r.Reported.Ambiguous, r.Groundless, r.Reported.Unclean)
	row("longest wait of a payment that was paid and known", "%.0f s", r.Longest)
	row("**lost, doubled, unverified, silent, late**", "**%d, %d, %d, %d, %d**", r.Lost, r.Doubled, r.Unverified, r.Silent, r.Late)
	return b.String()
}

func sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}
