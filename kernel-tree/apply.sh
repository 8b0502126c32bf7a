#!/bin/sh
# apply.sh: put the series on its base, strictly (no fuzz, no three-way merge, nothing skipped):
# branch "series" of kernel-tree/work/SERIES/linux. Commits there that are not in patches/ yet
# are never thrown away; if a patch does not apply, the tree is left as it was.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"
use_series "$@"
check_listing
"$TOP/kernel-tree/fetch.sh" "$SERIES"

tgit()
{
	git -C "$TREE" -c user.name='Page Clearing Developers' \
		-c user.email=page-clearing@example.org -c commit.gpgSign=false \
		-c core.hooksPath=/dev/null -c advice.detachedHead=false "$@"
}

"$TOP/kernel-tree/unexported.sh" "$SERIES"
key=$(patches_key)-$(tgit rev-parse base)
head=$(tgit rev-parse -q --verify series || true)
if [ -n "$head" ] && { holds apply "$key-$head" || "$TOP/kernel-tree/export.sh" -n "$SERIES" >/dev/null 2>&1; }; then
	# Everything here builds what is checked out.
	tgit checkout -q series
	done_with apply "$key-$head"
	exit 0
fi

was=$(tgit symbolic-ref -q --short HEAD || tgit rev-parse HEAD)
set --
for name in $(listed_patches); do
	set -- "$@" "$SDIR/$name"
done
tgit checkout -q --detach base
log=$SWORK/am.log
if [ $# -gt 0 ] && ! tgit am -q --no-3way --keep-cr --committer-date-is-author-date "$@" \
		>"$log" 2>&1; then
	patch=
	dir=$(tgit rev-parse --absolute-git-dir)/rebase-apply
	[ ! -f "$dir/next" ] || patch=$(listed_patches | sed -n "$(cat "$dir/next")p")
	# git names file and line of the hunk: "error: patch failed: mm/memory.c:7604".
	where=$(sed -n 's/^error: patch failed: //p' "$log" | paste -sd ' ' -)
	tgit am -q --abort >/dev/null 2>&1 || true
	tgit reset -q --hard
	tgit checkout -q "$was"
	die "$SERIES/${patch:-?} does not apply to $(base_value tag)${where:+ at $where}" \
		"($(grep -m 1 -E '^(error|fatal|Patch is empty)' "$log" || tail -n 1 "$log"))"
fi
tgit checkout -q -B series
done_with apply "$key-$(tgit rev-parse series)"
say "$SERIES: $# patches on $(tgit rev-parse --short base)"
