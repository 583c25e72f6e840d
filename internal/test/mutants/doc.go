// Package mutants proves that the tests can fail. Each mutant is one telling break
// of the code, made in a copy that only the compiler sees (go test -overlay); the
// named test must catch it. A promise whose break no test notices is not tested.
package mutants
