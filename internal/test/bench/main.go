//go:build unix

// Command bench measures what the SDK costs next to hand-written code, and what the
// mock server reaches next to a bare handler, as ratios of paired rounds in one run
// on one machine (absolute rates do not carry over). Servers run in processes of
// their own, so that CPU time and allocations are the client's alone. Traffic stays
// on loopback.
//
//	go run ./internal/test/bench            all sections
//	go run ./internal/test/bench -rounds 9 -only client
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
)

// result is one line of the table: ours against a baseline, with the goal.
type result struct {
	name   string
	ratios []float64
	goal   float64 // the ratio allowed, or wanted if atLeast
	least  bool
	note   string
}

func (r result) median() float64 {
	sorted := slices.Sorted(slices.Values(r.ratios))
	return sorted[len(sorted)/2]
}

func (r result) met() bool {
	if r.least {
		return r.median() >= r.goal
	}
	return r.median() <= r.goal
}

func main() {
	rounds := flag.Int("rounds", 5, "paired rounds of every measurement")
	only := flag.String("only", "", "one section: client, pool or mock")
	serve := flag.String("serve", "", "internal: run a server: bare, store or mock")
	preload := flag.Int("preload", 0, "internal: payments that wait in the server")
	flag.Parse()
	if *serve != "" {
		exitOn(runServer(*serve, *preload))
		return
	}
	results, err := run(*only, *rounds)
	exitOn(err)
	if !report(results) {
		os.Exit(1)
	}
}

func run(only string, rounds int) ([]result, error) {
	var all []result
	for _, section := range []struct {
		name    string
		measure func(rounds int) ([]result, error)
	}{{"client", benchClient}, {"pool", benchPool}, {"mock", benchMock}} {
		if only != "" && only != section.name {
			continue
		}
		results, err := section.measure(rounds)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", section.name, err)
		}
		all = append(all, results...)
	}
	return all, nil
}

// report prints the table and reports whether every goal is met.
func report(results []result) bool {
	ok := true
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "what\tratio\tlowest\thighest\tgoal\t\tnote")
	for _, r := range results {
		sign, verdict := "<=", "ok"
		if r.least {
			sign = ">="
		}
		if !r.met() {
			verdict, ok = "MISSED", false
		}
		_, _ = fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\t%s %.2f\t%s\t%s\n", r.name, r.median(),
			slices.Min(r.ratios), slices.Max(r.ratios), sign, r.goal, verdict, r.note)
	}
	_ = w.Flush()
	return ok
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
