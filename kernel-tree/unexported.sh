#!/bin/sh
# unexported.sh SERIES: exit code 1, with a sentence, if the series' tree holds work that patches/
# has not: uncommitted changes, or commits that were not exported. Whatever is about to replace or
# delete the tree asks here first.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"
use_series "$@"
[ -d "$TREE/.git" ] || exit 0
git -C "$TREE" rev-parse -q --verify HEAD >/dev/null 2>&1 || exit 0
# What a git am that was killed has left is nobody's work.
[ ! -d "$TREE/.git/rebase-apply" ] || git -C "$TREE" am --abort >/dev/null 2>&1 || true
[ -z "$(git -C "$TREE" status --porcelain)" ] ||
	die "${TREE#"$TOP"/} has uncommitted changes; commit or remove them first"
head=$(git -C "$TREE" rev-parse -q --verify series) || exit 0
grep -qs -- "-$head\$" "$SWORK/stamps/apply" && exit 0
"$TOP/kernel-tree/export.sh" -n "$SERIES" >/dev/null 2>&1 && exit 0
die "${TREE#"$TOP"/} has commits that patches/$SERIES has not; run make export, or delete its branch 'series'"
