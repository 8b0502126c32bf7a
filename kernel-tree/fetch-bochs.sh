#!/bin/sh
# fetch-bochs.sh: put Bochs 3.0 (Debian's suite trixie) into kernel-tree/work/bochs: the emulator,
# its ROMs and the C and C++ libraries it was linked with, unpacked and not installed. 6 MiB to
# download, 30 MiB on disk. Does nothing when it is there. Exit codes: 0 there, 2 not to be had.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"

[ $# -eq 0 ] || cannot "usage: fetch-bochs.sh (it takes no argument)"
root=$WORK/bochs
[ ! -x "$root/usr/bin/bochs-bin" ] || exit 0
[ "$(uname -m)" = x86_64 ] || cannot "Bochs is fetched for x86_64 only, this is $(uname -m)"
command -v dpkg-deb >/dev/null || cannot "there is no dpkg-deb, which unpacks Bochs"
need_room 100 "$WORK"
say "downloading Bochs 3.0 from Debian (6 MiB)" >&2

part=$(mktemp -d "$WORK/bochs.part.XXXXXX")
trap 'rm -rf "$part"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
"$TOP/kernel-tree/private-apt.sh" trixie "$part/debs" \
	bochs bochs-term bochsbios vgabios libc6 libstdc++6 libgcc-s1
for deb in "$part"/debs/*.deb; do
	dpkg-deb -x "$deb" "$part/root" || cannot "$(basename "$deb") cannot be unpacked"
done
for file in bin/bochs-bin share/bochs/BIOS-bochs-latest share/bochs/VGABIOS-lgpl-latest; do
	[ -r "$part/root/usr/$file" ] || cannot "Debian's packages of Bochs have no usr/$file"
done
# A rename, so that it is there as a whole or not at all. Another run may have come first.
chmod 755 "$part/root"
mv -T "$part/root" "$root" 2>/dev/null || [ -x "$root/usr/bin/bochs-bin" ] ||
	cannot "$root is there but holds no Bochs; delete it to have it fetched again"
