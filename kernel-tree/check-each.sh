#!/bin/sh
# check-each.sh: every patch of the series alone: the tree up to it builds without a warning, boots
# (under TCG, on a CPU whose huge pages go around the cache as soon as the series does that) and passes
# the KUnit suites that it has. In a work tree of its own, about 4 minutes for a patch of the kernel.
# One line per patch, "ok", "FAIL", or "SKIP" where the kernel is not touched. What passed with the same
# tree, configuration and scripts is not built again, but with FRESH=1.
# shellcheck disable=SC2317 # the steps are called by name
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"
use_series ""
each=$SWORK/each
kernel=$SWORK/each-build/arch/x86/boot/bzImage
image=$SWORK/each.cpio.gz
wanted=$SWORK/each.config
log=$SWORK/each.log
"$TOP/kernel-tree/image.sh" "$image" "$TOP/kunit/guest-init" >/dev/null
[ -d "$each" ] || git -C "$TREE" worktree add -q --detach "$each" base

# builds: the kernel as checked out, with those of the KUnit options that it has already, and with the
# drivers that pin memory from the first patch on that touches one.
builds()
{
	drivers=
	git -C "$each" diff --quiet base HEAD -- drivers || drivers=configs/pinning.config
	sed -n 's/^CONFIG_\(.*\)=y/\1/p' "$TOP/configs/kunit.config" | while read -r option; do
		! git -C "$each" grep -qE "^(menu)?config $option\$" -- '*Kconfig*' || echo "CONFIG_$option=y"
	done >"$wanted"
	# shellcheck disable=SC2086 # one file or none
	EACH_TREE=$each "$TOP/kernel-tree/build.sh" each-build configs/base.config configs/qemu.config \
		configs/hugepages.config $drivers "$wanted" >"$log" 2>&1 || return 1
	! grep 'warning:' "$SWORK/each-build/build.log" >>"$log"
}

boots()
{
	"$TOP/kernel-tree/boot.sh" -m tcg -c Icelake-Server -s 2 -t 300 -o "$SWORK/each-boot" \
		"$kernel" "$image" >"$log" 2>&1
}

passes()
{
	PATH=/usr/bin:$PATH "$TREE/tools/testing/kunit/kunit.py" parse "$SWORK/each-boot/console.log" >"$log" 2>&1
}

bad=0
number=0
for commit in $(git -C "$TREE" rev-list --reverse base..series); do
	title=$(git -C "$TREE" log -1 --format=%s "$commit")
	number=$((number + 1))
	git -C "$each" checkout -q --detach "$commit"
	if git -C "$each" diff --quiet HEAD~ HEAD -- ':!tools' ':!Documentation'; then
		echo "SKIP alone: $title (no kernel code)"
		continue
	fi
	key=$({ git -C "$each" rev-parse 'HEAD^{tree}'; gcc --version; cat "$image" "$TOP"/configs/*.config \
		"$TOP/kernel-tree/check-each.sh" "$TOP/kernel-tree/build.sh" "$TOP/kernel-tree/boot.sh" \
		"$TOP/kernel-tree/splats"; } | sha256sum | cut -d ' ' -f 1)
	if [ -z "${FRESH:-}" ] && holds "each-$number" "$key"; then
		echo "ok alone: $title, holds since $(date -r "$SWORK/stamps/each-$number" '+%F %T')"
		continue
	fi
	failed=
	for step in builds boots passes; do
		[ -n "$failed" ] || $step || failed=$step
	done
	if [ -z "$failed" ]; then
		done_with "each-$number" "$key"
		echo "ok alone: $title ($(grep -o 'Ran [0-9]* tests.*' "$log" || echo 'no KUnit result'))"
	else
		bad=1
		echo "FAIL alone: $title: not true that it $failed"
		tail -n 20 "$log"
	fi
done
exit $bad
