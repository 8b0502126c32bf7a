#!/bin/sh
# ordering.sh: is what the non-caching routines clear fenced before another CPU can find it? Two looks:
# the kernel's routines, run in user space on this machine's CPU, hand pages from one CPU to another with
# a fence and, as a control, without (ordering.c); and folio_zero_user() of the KUnit kernel has the fence
# in its code. One line each, "ok", "SKIP" or "FAIL"; exit code 1 if one failed.
set -eu
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/kernel-tree/lib.sh"
use_series ""
here=$TOP/kernel-tree/proofs
logs=$SWORK/proofs
mkdir -p "$logs"
tools=$TREE/tools
gcc -O2 -Wall -pthread -Wl,-z,noexecstack -I "$tools/perf/util/include" -I "$tools/include" \
	-I "$tools/arch/x86/include" -o "$logs/ordering" "$here/ordering.c" \
	"$tools/arch/x86/lib/clear_page_nc_64.S" || die "ordering.c does not build"

bad=0
code=0
timeout 300 "$logs/ordering" "${ROUNDS:-20000}" >"$logs/ordering.txt" 2>&1 || code=$?
if [ $code = 2 ]; then
	echo "SKIP ordering on this CPU ($(cat "$logs/ordering.txt"))"
elif [ $code -gt 2 ] || ! grep -q '^movnti none' "$logs/ordering.txt"; then
	bad=1
	echo "FAIL ordering on this CPU: exit code $code"
else
	for routine in movnti clzero; do
		awk -v routine=$routine '$1 == routine { rounds = $3; stale[$2] = $4 }
			END {
				if (!rounds) print "SKIP ordering of " routine " (this CPU does not have it)"
				else print (stale["fence"] ? "FAIL" : "ok") " ordering of " routine ": in " rounds \
					" rounds " stale["fence"] " stale with the fence, " stale["none"] " without"
			}' "$logs/ordering.txt"
	done
	bad=$code
fi

# Emulators execute stores in order, so that no test in them notices a fence that is not there.
if objdump -d --disassemble=folio_zero_user "$SWORK/kunit/vmlinux" | grep -q sfence; then
	echo "ok folio_zero_user() has its fence"
else
	bad=1
	echo "FAIL folio_zero_user() has no sfence"
fi
exit $bad
