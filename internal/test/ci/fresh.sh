#!/bin/sh
# Runs the README's two commands for newcomers, and prints how long each takes, in a minimal
# Debian of this machine's release with Go, git and make, as root, on a clone of the last commit.
# `fresh.sh COMMAND` runs COMMAND in the clone in place of `make test`.
#
# It needs root and debootstrap (which it installs), 6 GB in $TMPDIR, and the network: apt's
# mirrors and settings, Go's proxy settings and the certificates are taken from this machine.
# Mounts and processes live in namespaces of their own, which end with this script, however
# it ends; only after SIGKILL the directory stays.
set -eu
cd "$(dirname "$0")/../../.."
address=https://github.com/depositpay/depositpay-go
fail() { echo "make fresh: $1" >&2; exit 1; }

[ "$(id -u)" = 0 ] || fail "needs root: chroot and mount ask for it"
command -v apt-get >/dev/null 2>&1 || fail "needs Debian or Ubuntu: it builds a root of the same release"
command -v debootstrap >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq --no-install-recommends debootstrap; } >&2
[ -z "$(git status --porcelain)" ] || echo "make fresh: there are changes that are not committed; the last commit is tested, without them" >&2
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
[ -n "$codename" ] || fail "/etc/os-release names no release"

sources=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
	awk -v c="$codename" '$2 ~ "^" c "(-updates|-security)?(/updates)?$" && !seen[$0]++')
mirror=$(printf '%s\n' "$sources" | awk -v c="$codename" '$2 == c && $3 == "main" { print $1; exit }')
[ -n "$mirror" ] || fail "apt has no source with $codename main; run apt-get update"

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
root=$work/root

# commands prints the first two commands of the README and those of the table.
awk '/^<!-- run: internal\/test\/ci -->$/ { on = 1; next } on && /^```$/ { exit } on && !/^```/' README.md >"$work/commands"
grep -q "^git clone $address" "$work/commands" || fail "the README does not begin with git clone $address"
grep -q '^| `make test` |' README.md || fail "the README does not name make test"

began=$(date +%s)
seconds() { echo $(($(date +%s) - began)); }

# Only what a newcomer has: git brings the certificates along, as apt would by itself.
echo "make fresh: building a minimal $codename from $mirror"
debootstrap --variant=minbase --include=ca-certificates,git,make "$codename" "$root" "$mirror" >"$work/said" 2>&1 || { tail -20 "$work/said" >&2; fail "debootstrap failed"; }
printf '%s\n' "$sources" | sed 's/^/deb /' >"$root/etc/apt/sources.list"
apt-config dump | grep -iE '^Acquire::(http|https|ftp|Retries|ForceIPv4)' >"$root/etc/apt/apt.conf.d/90machine" || true
if [ -d /usr/local/share/ca-certificates ]; then
	cp -rL /usr/local/share/ca-certificates "$root/usr/local/share/"
fi
chroot "$root" update-ca-certificates >/dev/null 2>&1
if [ -n "${SSL_CERT_FILE:-}" ]; then
	mkdir -p "$root$(dirname "$SSL_CERT_FILE")"
	cp -L "$SSL_CERT_FILE" "$root$SSL_CERT_FILE"
fi
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
mkdir -p "$root/usr/local"
cp -a "$(go env GOROOT)" "$root/usr/local/go"
git clone -q --bare --no-hardlinks "file://$PWD" "$root/srv/depositpay-go.git"
chroot "$root" git config --system url.file:///srv/depositpay-go.git.insteadOf "$address"

# The settings of the machine that have to do with the network; nothing else of it gets in.
{
	for name in GOPROXY GOSUMDB GOPRIVATE GONOPROXY GONOSUMDB GOINSECURE GOTOOLCHAIN; do
		printf "export %s='%s'\n" "$name" "$(go env "$name")"
	done
	env | sed -nE "s/^((https?|no|all|ftp)_proxy|(HTTPS?|NO|ALL|FTP)_PROXY|SSL_CERT_FILE|GIT_SSL_CAINFO|CURL_CA_BUNDLE)=(.*)/export \1='\4'/p"
} >"$work/network"
cat >"$root/newcomer" <<'EOS'
set -eu
export HOME=/root PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8
cd /root
began=$(date +%s)
timed() { echo "make fresh: $1 took $(($(date +%s) - began)) s"; began=$(date +%s); }
. /commands
timed 'git clone and go run ./examples/quickstart'
eval "$1"
timed "$1"
EOS
cat "$work/network" "$root/newcomer" >"$work/newcomer" && mv "$work/newcomer" "$root/newcomer"
mv "$work/commands" "$root/commands"
echo "make fresh: the root is there after $(seconds) s, with $(du -sm --exclude=usr/local/go "$root" | cut -f1) MB besides Go"

# The init of the namespace is a shell that waits, so that orphans are reaped. The new root is
# the real one of the namespace and not a chroot: in that one no test may make a user namespace.
unshare --mount --pid --fork --kill-child sh -eu -c '
	mount --bind "$1" "$1"
	mount -t proc proc "$1/proc"
	mount -t sysfs -o ro sysfs "$1/sys"
	mkdir -p "$1/dev/shm" "$1/dev/pts"
	mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm"
	mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$1/dev/pts"
	cd "$1"
	pivot_root . mnt
	umount -l /mnt
	sh /newcomer "$2" || exit
	exit' sh "$root" "${1:-make test}" || fail "failed after $(seconds) s"
echo "make fresh: passed, $(seconds) s in all"
