#!/bin/sh
# packages.sh [check-all]: see that the Debian packages of kernel-tree/packages are there (those after
# the line "[check-all]" only if asked for). As root the missing
# ones are named and installed (INSTALL=0 refuses); otherwise they are listed in one line.
# Exit code 2 if any is still missing.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"

group=${1:-}

# missing: print those that dpkg does not know as installed.
missing()
{
	awk -v group="[$group]" '/^#/ { next } /^\[/ { if ($0 != group) exit; next } { print }' \
		"$TOP/kernel-tree/packages" | while read -r package; do
		dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' ||
			printf '%s ' "$package"
	done
}

command -v dpkg-query >/dev/null || cannot "this is no Debian; see kernel-tree/packages for what is needed"
wanted=$(missing)
[ -n "$wanted" ] || exit 0
if [ "$(id -u)" != 0 ] || [ "${INSTALL:-1}" = 0 ]; then
	cannot "missing Debian packages: $wanted"
fi
need_room 1500 /var/cache/apt/archives
say "installing $wanted"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The package lists of a fresh machine are empty or old.
# shellcheck disable=SC2086 # a list of words
{ apt-get -q update && apt-get -q install -y --no-install-recommends $wanted; } >"$log" 2>&1 || cannot "apt-get could not install them: $(grep -m 1 '^E:' "$log" || tail -n 1 "$log")"
[ -z "$(missing)" ] || cannot "still missing after the installation: $(missing)"
