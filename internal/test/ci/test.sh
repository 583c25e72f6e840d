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

# The largest tests at their full size, which the race detector would make too slow: the
# ledger's, and next to them the others, for both wait much.
large() { CGO_ENABLED=0 go test -count=1 "$@"; }
ledger() { large -run '^Test(SQLite|PostgreSQL)$/ManyPayments$|^TestFlood$|^TestModel$|^TestNoDoubtIsGivenUp$|^TestProcesses$|^TestFailpoints$|^TestCuts$|^TestStalls$|^TestKill|^TestStatusIsBounded$' ./inbox ./inbox/inboxtest; }
others() {
	large -run '^TestCrowd$|^TestMemoryOfManyPayments$' ./webhook ./mockserver &&
		large -run '^TestPowerLoss$' ./inbox/sqlite/internal/powerloss &&
		large -parallel 11 -run '^TestTorture$|^TestChannels$|^TestMutants$' ./internal/test/torture -args -length 60s &&
		large -run '^TestKilled$|^TestReplicas$' ./examples/gameserver ./examples/webshop
}
volume() {
	ledger &
	ledger=$!
	failed=0
	others || failed=1
	wait "$ledger" || failed=1
	return "$failed"
}

# make lint vets.
if have_cc; then
	CGO_ENABLED=1 go test -race -shuffle=on -vet=off -timeout 20m work
	volume
	exit
fi

echo "make test: SKIPPED: the race detector (no C compiler found; install gcc)" >&2
if [ -n "${CI:-}" ]; then
	echo "make test: this must run in CI: failing" >&2
	exit 1
fi
CGO_ENABLED=0 exec go test -shuffle=on work
