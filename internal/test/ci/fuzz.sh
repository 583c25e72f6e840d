#!/bin/sh
# Runs every fuzz target of the modules for the given time, one after another. A package that
# does not build ends the run: its targets would be left out otherwise.
set -eu
time=${1:-20s}
packages=$(go list work)
for package in $packages; do
	tests=$(go test -list '^Fuzz' "$package")
	for target in $(printf '%s\n' "$tests" | grep '^Fuzz' || true); do
		echo "== $package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package"
	done
done
