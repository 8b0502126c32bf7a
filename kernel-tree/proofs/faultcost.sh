#!/bin/sh
# faultcost.sh: what the series costs a fault that it does not want to change: instructions of one
# 4 KiB and one 2 MiB fault on the base and on the series (the bench kernels), counted by QEMU on a
# CPU without ERMS. "ok" if a 4 KiB fault takes at most 4 more (the page allocator looks at one more
# flag) and a 2 MiB fault at most 100. With init_on_alloc=1 the base does not call folio_zero_user() and
# the series does; clearing twice would be 262144 more.
set -eu
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/kernel-tree/lib.sh"
use_series ""
here=$TOP/kernel-tree/proofs
logs=$SWORK/proofs
mkdir -p "$logs"
gcc -O2 -Wall -static -o "$logs/faultcost" "$here/faultcost.c" || die "faultcost.c does not build"
"$TOP/kernel-tree/image.sh" "$logs/faultcost.cpio.gz" "$here/faultcost-init" "$logs/faultcost" >/dev/null

# cost KERNEL ARGUMENT PAGE: instructions of a fault of PAGE; boots the kernel the first time.
cost()
{
	dir=$logs/cost-$1-$2
	[ -f "$dir/done" ] || {
		"$TOP/kernel-tree/boot.sh" -m tcg -c qemu64 -s 1 -t 300 -a "$2" -q "-icount shift=0" \
			-o "$dir" "$SWORK/$1/arch/x86/boot/bzImage" "$logs/faultcost.cpio.gz" >"$dir.txt" 2>&1 ||
			die "$1 $2: no count, see $dir.txt"
		touch "$dir/done"
	}
	awk -v page="$3" '$1 == page { print $2 }' "$dir/result.txt"
}

rm -rf "$logs"/cost-*
bad=0
for argument in init_on_alloc=0 init_on_alloc=1; do
	for page in 4KiB 2MiB; do
		base=$(cost bench-base $argument $page)
		series=$(cost bench $argument $page)
		case $page,$argument in
		4KiB,*) allowed=$((base + 4)) ;;
		*) allowed=$((base + 100)) ;;
		esac
		if [ "$series" -le "$allowed" ]; then
			echo "ok instructions of a $page fault, $argument: base $base, series $series"
		else
			bad=1
			echo "FAIL instructions of a $page fault, $argument: base $base, series $series"
		fi
	done
done
exit $bad
