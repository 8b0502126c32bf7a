#!/bin/sh
# zeroing.sh [MACHINE...]: run the series' selftest of zeroed memory (tools/testing/selftests/mm/page_zeroing.c)
# with the KUnit kernel on the machines of proofs/paths-machines. One line per machine, "ok" with what it
# counted or "FAIL" with the cases that failed. A case may be skipped on one machine, but each has to pass
# on one at least; for that, "ok" or "FAIL" at the end, if no machine was named.
# What passed with the same kernel and program is not run again, but with FRESH=1.
set -eu
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/kernel-tree/lib.sh"
use_series ""
here=$TOP/kernel-tree/proofs
logs=$SWORK/proofs
tests=$TREE/tools/testing/selftests
kernel=$SWORK/kunit/arch/x86/boot/bzImage
mkdir -p "$logs"
kernel_headers
# Not by the selftests' makefile, which writes into the tree.
gcc -O2 -Wall -static -D_GNU_SOURCE= -isystem "$HEADERS" -I "$TREE" -I "$tests" -idirafter "$TREE/tools/include" \
	-o "$logs/page_zeroing" "$tests/mm/page_zeroing.c" "$tests/mm/vm_util.c" "$tests/mm/hugepage_settings.c" ||
	die "page_zeroing.c does not build"
"$TOP/kernel-tree/image.sh" "$logs/zeroing.cpio.gz" "$here/zeroing-init" "$logs/page_zeroing" >/dev/null

bad=0
sed '/^#/d' "$here/paths-machines" >"$logs/machines"
while read -r name mode cpu mib _ _ arguments <&3; do
	[ $# -eq 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
	# What was freed is zero already there, whatever the path does.
	[ "$arguments" != init_on_free=1 ] || continue
	seen=$logs/zeroing-$name.seen
	key=$({ echo "$name $mode $cpu $mib $arguments"; cat "$kernel" "$logs/zeroing.cpio.gz" "$here/zeroing.sh" \
		"$TOP/kernel-tree/boot.sh" "$TOP/kernel-tree/splats"; } | sha256sum | cut -d ' ' -f 1)
	if [ -z "${FRESH:-}" ] && holds "zeroing-$name" "$key" && [ -f "$seen" ]; then
		echo "ok page_zeroing on $name ($mode, $cpu, $arguments), holds since $(date -r "$seen" '+%F %T')"
		continue
	fi
	gigantic=
	[ "$mib" -lt 5120 ] || gigantic="hugepagesz=1G hugepages=3"
	code=0
	"$TOP/kernel-tree/boot.sh" -m "$mode" -c "$cpu" -M "$mib" -s 2 -t 900 -o "$logs/zeroing-$name" \
		-a "kunit.enable=0 hugepagesz=2M hugepages=100 $gigantic $arguments" \
		"$kernel" "$logs/zeroing.cpio.gz" >"$logs/zeroing-$name.txt" 2>&1 || code=$?
	grep -v '^verdict' "$logs/zeroing-$name/result.txt" >"$seen" || true
	totals=$(sed -n 's/^# Totals: //p' "$seen")
	if [ $code = 0 ] && [ -n "$totals" ] && ! grep -q '^not ok' "$seen"; then
		done_with "zeroing-$name" "$key"
		echo "ok page_zeroing on $name ($mode, $cpu, $arguments): $totals"
	else
		bad=1
		echo "FAIL page_zeroing on $name ($mode, $cpu, $arguments), see ${logs#"$TOP"/}/zeroing-$name.txt"
		grep -B 2 '^not ok' "$seen" | head -n 20 || true
		tail -n 3 "$logs/zeroing-$name.txt"
	fi
done 3<"$logs/machines"
[ $# -eq 0 ] || exit $bad

# A case that is skipped everywhere proves nothing.
never=$(sed -nE 's/^(not )?ok [0-9]+ (- )?//p' "$logs"/zeroing-*.seen | awk '
	{ skipped = /# SKIP/; sub(/ *#.*/, ""); if ($0 != "") passed[$0] += !skipped }
	END { for (name in passed) if (!passed[name]) print name }' | sort)
if [ -n "$never" ]; then
	bad=1
	echo "FAIL page_zeroing: skipped on every machine:"
	echo "$never"
else
	echo "ok page_zeroing: each case ran on one machine at least"
fi
exit $bad
