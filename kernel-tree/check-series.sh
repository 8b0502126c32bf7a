#!/bin/sh
# check-series.sh [SERIES]: prove what can be proved of the patches without building them: the
# listing, strict git am on the untouched base, the same bytes back, checkpatch --strict, who it is
# from, and that MAINTAINERS (with MAINTAINERS-snippet) knows every new file. One line per check,
# "ok ..." or "FAIL ..."; exit code 1 if any failed.
# shellcheck disable=SC2317 # the functions are called through check
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"
use_series "$@"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0

# check NAME COMMAND...: run it, one line for the outcome, its words only if it failed.
check()
{
	title=$1
	shift
	if "$@" >"$scratch/log" 2>&1; then
		echo "ok $title"
	else
		bad=1
		echo "FAIL $title"
		sed 's/^/    /' "$scratch/log"
	fi
}

# no three-way merge, no fuzz: into an index of its own, so that the tree stays as it is.
applies()
(
	export GIT_INDEX_FILE="$scratch/index"
	git -C "$TREE" read-tree base
	for name in $(listed_patches); do
		git -C "$TREE" apply --cached --whitespace=error-all "$SDIR/$name" || return 1
	done
	[ "$(git -C "$TREE" write-tree)" = "$(git -C "$TREE" rev-parse 'series^{tree}')" ]
)

author_only()
{
	for name in $(listed_patches); do
		grep -m 1 '^From: ' "$SDIR/$name" |
			grep -qxF 'From: Page Clearing Developers <page-clearing@example.org>' ||
			{ echo "$name: another author"; return 1; }
		# A tag is a person's to give.
		! grep -nE '^(Signed-off|Reviewed|Acked|Tested|Suggested|Reported|Co-developed)-by:' \
			"$SDIR/$name" || { echo "in $name"; return 1; }
	done
}

checkpatch_clean()
{
	# The lines for this patch, or for all ("*").
	types=$(awk -v patch="$1" '/^[^#]/ && ($2 == "*" || index(patch, $2)) { print $1 }' \
		"$TOP/kernel-tree/checkpatch-ignore" | paste -sd , -)
	# Debian's python: checkpatch calls spdxcheck.py, which needs python3-ply and python3-git.
	(cd "$TREE" && PATH=/usr/bin:$PATH perl scripts/checkpatch.pl --strict --no-signoff \
		--ignore "$types" --show-types --no-summary "$SDIR/$1")
}

files_have_maintainers()
{
	(cd "$TREE" && cat MAINTAINERS) >"$scratch/MAINTAINERS"
	if grep -q '^@@' "$TOP/MAINTAINERS-snippet"; then
		patch -s -p1 -d "$scratch" <"$TOP/MAINTAINERS-snippet" || return 1
	fi
	for file in $(git -C "$TREE" diff --diff-filter=A --name-only base series); do
		(cd "$TREE" && perl scripts/get_maintainer.pl --no-git --no-git-fallback --sections \
			--mpath "$scratch/MAINTAINERS" -f "$file") >"$scratch/sections" 2>&1 || return 1
		grep -E '^[A-Z].*[A-Z]' "$scratch/sections" | grep -vE '^[A-Z]:|^THE REST' | grep -q . ||
			{ echo "$file belongs to no section"; return 1; }
	done
}

kernel_doc_clean()
{
	files=$(git -C "$TREE" diff --diff-filter=AM --name-only base series -- '*.h' '*.c' | grep -v '^tools/')
	[ -x "$TREE/scripts/kernel-doc" ] || { echo "there is no scripts/kernel-doc"; return 1; }
	# shellcheck disable=SC2086 # a list of files
	(cd "$TREE" && PATH=/usr/bin:$PATH scripts/kernel-doc -none -Wall $files) >"$scratch/after" 2>&1 || true
	! grep -E 'Traceback|No such file|not found' "$scratch/after" || return 1
	# The base has messages of its own: compare what they say, not where.
	# shellcheck disable=SC2086
	(cd "$BASETREE" && for f in $files; do [ ! -f "$f" ] || echo "$f"; done |
		PATH=/usr/bin:$PATH xargs scripts/kernel-doc -none -Wall) >"$scratch/before" 2>&1 || true
	for side in before after; do
		sed -E 's/:[0-9]+//' "$scratch/$side" | grep -iE 'warning|error' | sort -u >"$scratch/$side.said" || true
	done
	new=$(comm -13 "$scratch/before.said" "$scratch/after.said")
	[ -z "$new" ] || { echo "$new"; return 1; }
}

check_listing
echo "ok $SERIES: series and files agree"
check "$SERIES: applies to the untouched base" applies
if [ -n "${KERNEL_TREE:-}" ]; then
	echo "SKIP $SERIES: the same bytes back (the index lines are those of Debian's source)"
else
	check "$SERIES: export gives the same bytes" "$TOP/kernel-tree/export.sh" -n "$SERIES"
fi
check "$SERIES: one author, nobody's tags" author_only
check "$SERIES: MAINTAINERS knows every new file" files_have_maintainers
check "$SERIES: kernel-doc has nothing new to say" kernel_doc_clean
for name in $(listed_patches); do
	check "checkpatch $name" checkpatch_clean "$name"
done
exit $bad
