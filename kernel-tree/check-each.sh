#!/bin/sh
# check-each.sh: every patch of the series alone: the tree up to it builds without a new warning,
# boots and passes the KUnit suites that it has. In a work tree of its own; about 6 minutes a patch
# that touches the kernel. One line per patch, "ok" or "FAIL".
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"
use_series ""
each=$SWORK/each
image=$SWORK/kunit-logs/initramfs.cpio.gz
mkdir -p "$SWORK/kunit-logs"
"$TOP/kernel-tree/image.sh" "$image" "$TOP/kunit/guest-init" >/dev/null
[ -d "$each" ] || git -C "$TREE" worktree add -q --detach "$each" base
# Options of later patches do not exist yet: ask for those that the tree has.
wanted=$SWORK/each.config
bad=0
commits=$(git -C "$TREE" rev-list --reverse base..series)
for commit in $commits; do
	title=$(git -C "$TREE" log -1 --format=%s "$commit")
	git -C "$each" checkout -q --detach "$commit"
	if git -C "$each" diff --quiet HEAD~ HEAD -- ':!tools' ':!Documentation'; then
		echo "SKIP each: $title (no kernel code)"
		continue
	fi
	sed -n 's/^CONFIG_\(.*\)=y/\1/p' "$TOP/configs/kunit.config" | while read -r option; do
		! grep -rqs "^config $option\$" "$each/mm" "$each/lib/kunit" "$each/arch/x86" ||
			echo "CONFIG_$option=y"
	done >"$wanted"
	if ! EACH_TREE=$each "$TOP/kernel-tree/build.sh" each-build configs/base.config configs/qemu.config \
			configs/hugepages.config configs/debug.config "$wanted" >"$SWORK/each.log" 2>&1; then
		bad=1
		echo "FAIL each: $title does not build"
		tail -n 20 "$SWORK/each.log"
	elif grep -q 'warning:' "$SWORK/each-build/build.log"; then
		bad=1
		echo "FAIL each: $title warns"
		grep 'warning:' "$SWORK/each-build/build.log"
	elif ! "$TOP/kernel-tree/boot.sh" -m auto -s 2 -t 300 -o "$SWORK/each-boot" \
			"$SWORK/each-build/arch/x86/boot/bzImage" "$image" >"$SWORK/each.log" 2>&1 ||
			! PATH=/usr/bin:$PATH "$TREE/tools/testing/kunit/kunit.py" parse \
			"$SWORK/each-boot/console.log" >>"$SWORK/each.log" 2>&1; then
		bad=1
		echo "FAIL each: $title does not boot or fails KUnit"
		tail -n 20 "$SWORK/each.log"
	else
		echo "ok each: $title ($(grep -c '^ *ok ' "$SWORK/each-boot/console.log" || true) KUnit lines)"
	fi
done
exit $bad
