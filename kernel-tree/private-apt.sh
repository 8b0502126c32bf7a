#!/bin/sh
# private-apt.sh SUITE DIR PACKAGE[=VERSION]...: download packages of a Debian suite into DIR.
# Uses the machine's own mirror and Debian's keyring with an apt state of our own below
# kernel-tree/work, so nothing in the system's apt configuration is read twice or changed, and
# root is not needed. Exit code 2: the suite or a package cannot be had.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"

[ $# -ge 3 ] || die "usage: private-apt.sh SUITE DIR PACKAGE[=VERSION]..."
suite=$1 dir=$2
shift 2
state=$WORK/apt/$suite
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r $keyring ] || cannot "$keyring is missing (package debian-archive-keyring)"

# The first Debian archive that is not the security one is the machine's mirror.
# shellcheck disable=SC2016 # apt's own placeholders
mirror=$(apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
	awk '$1 == "Debian" && $2 !~ /security/ { print $2; exit }')
: "${mirror:=http://deb.debian.org/debian/}"

mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/parts" "$dir"
cat >"$state/parts/suite.sources" <<SOURCES
Types: deb
URIs: $mirror
Suites: $suite
Components: main
Signed-By: $keyring
SOURCES
cat >"$state/apt.conf" <<CONF
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "$state/parts";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "$state/none";
Dir::State::Lists "$state/lists";
Dir::Cache "$state/cache";
Acquire::Languages "none";
APT::Sandbox::User "";
CONF
export APT_CONFIG="$state/apt.conf"
apt-get -q update >"$state/log" 2>&1 ||
	cannot "Debian's suite $suite cannot be read from $mirror ($(tail -n 1 "$state/log"))"

# A fresh folder and a rename: a download that stops half-way is never taken for a whole one.
part=$(mktemp -d "$dir/part.XXXXXX")
trap 'rm -rf "$part"' EXIT
(cd "$part" && apt-get -q download "$@") >>"$state/log" 2>&1 ||
	cannot "$* cannot be had from $suite ($(tail -n 1 "$state/log"))"
mv -f "$part"/*.deb "$dir/"
