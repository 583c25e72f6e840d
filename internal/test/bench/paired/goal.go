package paired

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// Goal is what a figure is judged by. The zero Goal judges nothing.
type Goal struct {
	sign  string
	value float64
}

// AtLeast is met by v and more.
func AtLeast(v float64) Goal { return Goal{">=", v} }

// AtMost is met by v and less.
func AtMost(v float64) Goal { return Goal{"<=", v} }

func (g Goal) met(got float64) bool {
	switch g.sign {
	case ">=":
		return got >= g.value
	case "<=":
		return got <= g.value
	}
	return true
}

func (g Goal) verdict(got float64) string {
	switch {
	case g.sign == "":
		return "no goal"
	case g.met(got):
		return fmt.Sprintf("goal %s %.2f  ok", g.sign, g.value)
	}
	return fmt.Sprintf("goal %s %.2f  MISSED", g.sign, g.value)
}

// Ratio prints a÷b, the median of the rounds with the lowest and the highest, next to
// its goal.
func Ratio(t *testing.T, name string, a, b []Sample, of func(Sample) float64, goal Goal) {
	t.Helper()
	values := make([]float64, len(a))
	for i := range a {
		values[i] = of(a[i]) / of(b[i])
	}
	slices.Sort(values)
	got := values[len(values)/2]
	fmt.Printf("%-76s %.2f [%.2f-%.2f]  %s\n", name, got, values[0], values[len(values)-1], goal.verdict(got))
	if !goal.met(got) {
		t.Errorf("%s: %.2f, goal %s %.2f", name, got, goal.sign, goal.value)
	}
}

// Duration prints a time, in milliseconds, next to its goal, which is in milliseconds
// too: for the few promises that people make in time and not in ratios.
func Duration(t *testing.T, name string, got time.Duration, goal Goal) {
	t.Helper()
	ms := float64(got) / float64(time.Millisecond)
	fmt.Printf("%-76s %.2f ms  %s\n", name, ms, goal.verdict(ms))
	if !goal.met(ms) {
		t.Errorf("%s: %.2f ms, goal %s %.2f ms", name, ms, goal.sign, goal.value)
	}
}
