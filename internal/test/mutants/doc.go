// Package mutants proves that the tests can fail. Each mutant is one telling break of the
// code, compiled from a copy (go test -overlay); the named test must fail with it and pass
// without it. If no test notices a break, the promise behind it is not tested.
//
// All mutants of a test package share one test binary, which an environment variable tells
// which function or value to break. A mutant that breaks anything else has a binary of its own.
package mutants
