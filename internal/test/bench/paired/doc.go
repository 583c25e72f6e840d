// Package paired measures ways of doing one thing next to each other: in turn, round by
// round, in one run on one machine, because absolute rates do not carry over and a
// disk drifts within minutes. It is for the tests that make bench runs.
//
//	got := paired.Compare(t,
//		paired.Side{Name: "ours", Round: paired.Calls(10_000, 64, call)},
//		paired.Side{Name: "theirs", Round: paired.Calls(10_000, 64, other)},
//	)
//	paired.Ratio(t, "ours ÷ theirs", got[0], got[1], paired.Rate, paired.AtLeast(0.5))
//
// A goal that is missed fails the test and does not end it: the measurements that
// follow are still made.
package paired
