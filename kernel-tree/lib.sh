# shellcheck shell=sh
# Shared by every script here: where things are, how to fail, what a series says of itself.
# Sourced, never run. The sourcing script has set TOP to the repository's top directory.

# shellcheck disable=SC2034 # used by the scripts that source this
{
PATCHES=${PATCHES:-$TOP/patches}
WORK=${WORK:-$TOP/kernel-tree/work}
DOWNLOADS=$WORK/downloads
JOBS=${JOBS:-$(nproc)}
}
export LC_ALL=C
# kbuild cannot build below such a folder either, and says so far less clearly.
case $TOP$WORK in
*[[:space:]:]*)
	echo "the path $TOP has a blank or a colon, below which no kernel can be built; move the clone" >&2
	exit 2 ;;
esac
# The user's own git configuration (am.threeWay, diff.renames, hooks) must not change bytes.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1

# say WORD...: one line of progress, with the name of the script.
say()
{
	printf '%s: %s\n' "$(basename "$0" .sh)" "$*"
}

# die WORD...: one sentence on standard error, exit code 1 (the thing asked for failed).
die()
{
	printf '%s: %s\n' "$(basename "$0" .sh)" "$*" >&2
	exit 1
}

# cannot WORD...: like die, exit code 2 (it could not be tried here).
cannot()
{
	printf '%s: %s\n' "$(basename "$0" .sh)" "$*" >&2
	exit 2
}

# default_series: print the series to work on when SERIES is not set: the newest one that
# stands on a kernel and not on another series.
default_series()
{
	for base in "$PATCHES"/*/BASE; do
		[ -f "$base" ] && ! grep -q '^on[ =]' "$base" && basename "$(dirname "$base")"
	done | sort -V | tail -n 1
}

# use_series [NAME]: set SERIES, SDIR (its patches), SWORK (its trees and builds),
# TREE (its git tree) and BASETREE (the untouched base beside it). Fails if there is none.
use_series()
{
	SERIES=${1:-${SERIES:-$(default_series)}}
	SDIR=$PATCHES/$SERIES
	[ -f "$PATCHES/${SERIES:-none}/BASE" ] ||
		die "there is no series '$SERIES' (no $SDIR/BASE)"
	SWORK=$WORK/$SERIES${KERNEL_TREE:+-own}
	TREE=$SWORK/linux
	BASETREE=$SWORK/base
}

# base_value KEY: print KEY's value from the series' BASE ("key = value" lines), or nothing.
base_value()
{
	sed -n "s/^$1[[:space:]]*=[[:space:]]*//p" "$SDIR/BASE"
}

# listed_patches: print the patch files that series names, in order, one a line.
listed_patches()
{
	sed 's/[[:space:]]*#.*//; /^[[:space:]]*$/d' "$SDIR/series"
}

# check_listing: fail unless series and the *.patch files name the same files.
check_listing()
{
	[ -f "$SDIR/series" ] || die "$SDIR has no file 'series'"
	twice=$(listed_patches | sort | uniq -d)
	[ -z "$twice" ] || die "$SERIES/series names $twice twice"
	for name in $(listed_patches); do
		[ -f "$SDIR/$name" ] || die "$SERIES/series names $name, which does not exist"
	done
	for file in "$SDIR"/*.patch; do
		[ -f "$file" ] || continue
		listed_patches | grep -qxF "$(basename "$file")" ||
			die "$SERIES/$(basename "$file") is not named in series"
	done
}

# patches_key: print a hash of the series' patches and of the base that they are for.
patches_key()
{
	{
		cat "$SDIR/BASE"
		listed_patches
		for name in $(listed_patches); do cat "$SDIR/$name"; done
	} | sha256sum | cut -d ' ' -f 1
}

# need_room MIB DIR: stop with exit code 2 unless DIR's file system has MIB MiB free.
need_room()
{
	mkdir -p "$2" 2>/dev/null || cannot "$2 cannot be created"
	free_mib=$(df -Pm "$2" | awk 'NR == 2 { print $4 }')
	[ "$free_mib" -ge "$1" ] ||
		cannot "$1 MiB of disk are needed below $2, $free_mib are free"
}

# holds NAME KEY: true if stage NAME last finished with this KEY.  done_with NAME KEY: note it.
holds()
{
	[ "$(cat "$SWORK/stamps/$1" 2>/dev/null)" = "$2" ]
}
done_with()
{
	mkdir -p "$SWORK/stamps"
	printf '%s\n' "$2" >"$SWORK/stamps/$1"
}

# kernel_headers: install the series' headers for user space, once for each tree. HEADERS is where they are.
# shellcheck disable=SC2034 # used by the scripts that source this
kernel_headers()
{
	HEADERS=$SWORK/headers/include
	headers_key=$(git -C "$TREE" rev-parse "series:include/uapi" "series:arch/x86/include/uapi" | sha256sum)
	holds headers "$headers_key" && return
	make -s -C "$TREE" O="$SWORK/headers" headers_install INSTALL_HDR_PATH="$SWORK/headers" \
		>"$SWORK/headers.log" 2>&1 || die "the kernel's headers cannot be installed, see $SWORK/headers.log"
	done_with headers "$headers_key"
}
