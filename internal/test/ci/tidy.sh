#!/bin/sh
# Fails if a go.mod or go.sum of the repository is not tidy. The modules find each other by
# replace directives in copies, since the versions that they require may not be released yet.
set -eu
cd "$(dirname "$0")/../../.."
root=$PWD
module=github.com/depositpay/depositpay-go
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GOWORK=off
for file in $(find . -name go.mod -not -path "./out/*"); do
	folder=${file%/go.mod}
	cp "$folder/go.mod" "$folder/go.sum" "$work"
	go mod edit -replace "$module=$root" -replace "$module/inbox/sqlite=$root/inbox/sqlite" "$work/go.mod"
	go -C "$folder" mod tidy -diff -modfile "$work/go.mod" || { echo "tidy: $folder is not tidy" >&2; exit 1; }
done
