#!/bin/sh
# image.sh: make an initramfs: static busybox with its applets, INIT as /init, guest-lib.sh as
# /guest-lib.sh, and each PROGRAM with the shared libraries that ldd names.
# Usage: image.sh OUT.cpio.gz INIT [PROGRAM...]
#   PROGRAM  SRC (goes to /bin) or SRC=/path/in/the/image; an ELF file of this machine, a script
#            or any other file. Call one that is named like an applet (xz) by its path: Debian's
#            busybox shell prefers its own.
# The same input gives the same bytes; OUT is only rewritten when they differ.
# Exit codes: 0 there, 1 bad input, 2 a tool is missing.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"

[ $# -ge 2 ] || die "usage: image.sh OUT.cpio.gz INIT [SRC|SRC=/TARGET]..."
out=$1 init=$2
shift 2
busybox=$(command -v busybox) || cannot "there is no busybox (package busybox-static)"
command -v cpio >/dev/null || cannot "there is no cpio (package cpio)"
# Ask the file and not its name: the package busybox has a dynamic one.
ldd "$busybox" >/dev/null 2>&1 && cannot "$busybox is not static (package busybox-static)"
[ -d "$(dirname "$out")" ] || die "there is no directory $(dirname "$out") for $out"

umask 022
work=$(mktemp -d "${TMPDIR:-/tmp}/image.XXXXXX")
part=
trap 'rm -rf "$work" ${part:+"$part"}' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
root=$work/root

# put SRC TARGET: copy a file, links followed, mode 755. A link in the way (an applet's name)
# goes first: the copy would otherwise land in busybox.
put()
{
	{ [ -f "$1" ] && [ -r "$1" ]; } || die "$1 is not a file that can be read"
	mkdir -p "$root$(dirname "$2")"
	rm -f "$root$2"
	cp -L "$1" "$root$2"
	chmod 755 "$root$2"
}

is_elf()
{
	[ "$(head -c 4 "$1" | od -An -tx1 | tr -d ' ')" = 7f454c46 ]
}

# put_libraries FILE: copy what FILE is linked with to the paths that ldd names.
put_libraries()
{
	is_elf "$1" || return 0
	if ! ldd "$1" >"$work/ldd" 2>&1; then
		grep -q 'not a dynamic executable' "$work/ldd" ||
			die "ldd cannot tell the libraries of $1 ($(head -n 1 "$work/ldd"))"
		return 0
	fi
	lost=$(awk '/not found/ { print $1; exit }' "$work/ldd")
	[ -z "$lost" ] || die "$1 needs $lost, which is not on this machine"
	# "name => /path (address)", or "/path (address)" for the loader; the vDSO has no path.
	sed -n 's/^\t\(.* => \)\{0,1\}\(\/.*\) (0x[0-9a-f]*)$/\2/p' "$work/ldd" >"$work/libraries"
	while read -r library; do
		[ -f "$root$library" ] || put "$library" "$library"
	done <"$work/libraries"
}

mkdir -p "$root/bin" "$root/dev" "$root/proc" "$root/sys" "$root/tmp" "$root/root" "$root/etc"
put "$busybox" /bin/busybox
for applet in $("$busybox" --list); do
	[ "$applet" = busybox ] || ln -s busybox "$root/bin/$applet"
done
for program; do
	source=$program target=
	case $program in
	*=/*)
		source=${program%=/*}
		target=${program#"$source="} ;;
	esac
	[ -n "$target" ] || target=/bin/$(basename "$source")
	case $target in
	/init | /guest-lib.sh | /bin/busybox | */ | */../* | */..)
		die "$source cannot go to $target in the image" ;;
	esac
	[ ! -d "$root$target" ] || die "$source cannot go to $target, a directory of the image"
	put "$source" "$target"
	put_libraries "$source"
done
{ [ -f "$init" ] && [ -r "$init" ]; } || die "$init is not a file that can be read"
[ "$(head -c 2 "$init")" = '#!' ] || is_elf "$init" ||
	die "$init can be no /init: it is neither a script (#!) nor an ELF file"
put "$init" /init
put_libraries "$init"
put "$TOP/kernel-tree/guest-lib.sh" /guest-lib.sh

# One time, one owner, one order, numbered inodes: nothing of this machine is left in the bytes.
find "$root" -exec touch -h -d '2000-01-01 00:00:00 UTC' {} +
part=$(mktemp "$out.part.XXXXXX")
(cd "$root" && find . -mindepth 1 | sort >"$work/list" &&
	cpio --quiet --reproducible -o -H newc -R +0:+0 <"$work/list") >"$work/cpio" ||
	die "cpio failed"
gzip -n -6 <"$work/cpio" >"$part"
if cmp -s "$part" "$out"; then
	say "$out is up to date"
	exit 0
fi
chmod 644 "$part"
mv -f "$part" "$out"
say "$out is made ($(($(wc -c <"$out") / 1024)) KiB)"
