#!/bin/sh
# Runs the README's commands for newcomers with an empty build cache, and fails if git clone to
# the granted item takes over 60 s. Modules are downloaded before, because the network does
# not count. The clone is of the last commit.
set -eu
cd "$(dirname "$0")/../../.."
address=https://github.com/depositpay/depositpay-go
limit=60

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk '/^<!-- run: internal\/test\/ci -->$/ { on = 1; next } on && /^```$/ { exit } on && !/^```/' README.md >"$work/commands"
grep -q "^git clone $address" "$work/commands" || { echo "newcomer: the README does not begin with git clone $address" >&2; exit 1; }

origin=$PWD
if ! git rev-parse --git-dir >/dev/null 2>&1; then
	echo "newcomer: this is no git repository (or git does not trust it): cloning a copy of it" >&2
	origin=$work/origin
	mkdir "$origin"
	tar cf - --exclude ./.git . | tar xf - -C "$origin"
	git -C "$origin" init -q
	git -C "$origin" add -A
	git -C "$origin" -c user.name=newcomer -c user.email=newcomer@localhost commit -q -m copy
fi
go list -deps ./examples/quickstart >/dev/null # downloads what is missing

# For this git the address of the README is the repository here.
GIT_CONFIG_GLOBAL=$work/gitconfig
export GIT_CONFIG_GLOBAL
git config --global "url.file://$origin.insteadOf" "$address"
git config --global safe.directory '*'

# attempt sets seconds, or ends everything if the item is not granted.
attempt() {
	rm -rf "$work/new" && mkdir "$work/new"
	start=$(date +%s)
	(cd "$work/new" && GOCACHE=$work/new/cache GOPROXY=off GOFLAGS='' sh -eu "$work/commands") >"$work/said" 2>&1 || { cat "$work/said" >&2; exit 1; }
	seconds=$(($(date +%s) - start))
	grep -qx 'granted 3 of 3 payments, each once' "$work/said" || { cat "$work/said" >&2; echo "newcomer: nothing was granted" >&2; exit 1; }
	echo "newcomer: from git clone to a granted item in $seconds s, with an empty build cache and without downloads (limit $limit s)"
}

attempt
[ "$seconds" -gt "$limit" ] || exit 0
echo "newcomer: too slow; once more, in case the machine was busy with something else"
attempt
[ "$seconds" -le "$limit" ] || { echo "newcomer: too slow" >&2; exit 1; }
