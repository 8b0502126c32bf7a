#!/bin/sh
# export.sh [-n] [SERIES]: write the commits base..series of kernel-tree/work/SERIES/linux as
# patches/SERIES/*.patch, with the series file. -n: only compare; exit code 1 if bytes differ.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"
compare=
if [ "${1:-}" = -n ]; then
	compare=1
	shift
fi
use_series "$@"
git -C "$TREE" rev-parse -q --verify series >/dev/null 2>&1 ||
	die "there is no branch 'series' in $TREE (run make tree)"
[ -z "$(git -C "$TREE" status --porcelain)" ] ||
	die "${TREE#"$TOP"/} has uncommitted changes; commit them before the export"

new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
# Options that make two people's exports the same bytes.
git -C "$TREE" format-patch -q --full-index --zero-commit --no-signature -N \
	--no-renames --src-prefix=a/ --dst-prefix=b/ --diff-algorithm=myers -U3 -o "$new" base..series
(cd "$new" && for file in *.patch; do [ -f "$file" ] && echo "$file"; done) >"$new/series" || true

differ=0
for name in $(cat "$new/series") series; do
	cmp -s "$new/$name" "$SDIR/$name" || { differ=1; say "$SERIES/$name differs"; }
done
for file in "$SDIR"/*.patch; do
	[ -f "$file" ] || continue
	[ -f "$new/$(basename "$file")" ] || { differ=1; say "$SERIES/$(basename "$file") is gone"; }
done
[ -z "$compare" ] || exit $differ
[ $differ = 1 ] || exit 0

rm -f "$SDIR"/*.patch
cp "$new"/*.patch "$new/series" "$SDIR/"
say "$(grep -c . "$SDIR/series") patches written to ${SDIR#"$TOP"/}"
