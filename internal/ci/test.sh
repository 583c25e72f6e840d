#!/bin/sh
# Runs all tests, with the race detector. It needs a C compiler: where none is found
# one is installed if that may be done (Debian, as root); otherwise the tests run
# without the detector, loudly, and CI treats that as a failure.
set -eu

have_cc() { command -v "$(go env CC)" >/dev/null 2>&1; }

if ! have_cc && command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
	echo "make test: no C compiler; installing gcc for the race detector" >&2
	{ apt-get update -qq && apt-get install -y -qq --no-install-recommends gcc libc6-dev; } >&2 || true
fi

# The volume test at its full size, which the race detector would make too slow.
volume() { CGO_ENABLED=0 go test -count=1 -run '/ManyPayments$' ./inbox; }

if have_cc; then
	CGO_ENABLED=1 go test -race -shuffle=on -timeout 20m ./...
	volume
	exit
fi

echo "make test: SKIPPED: the race detector (no C compiler found; install gcc)" >&2
if [ -n "${CI:-}" ]; then
	echo "make test: CI does without nothing: failing" >&2
	exit 1
fi
CGO_ENABLED=0 exec go test -shuffle=on ./...
