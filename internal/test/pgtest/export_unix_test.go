//go:build unix

package pgtest

// Install is tested with an apt-get that only pretends.
var Install = install
