#!/bin/sh
# bench.sh [native]: measure. Table (a), this CPU's clearing routines from user space, comes first
# and at once; table (b), the base and the patched kernel in a virtual machine, when both kernels
# are built. Needs the series' perf (make perf). Results go to perf-bench/results/DATE-CPU, or
# to RESULTS=DIR.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"
use_series ""
perf=$SWORK/perf/perf
[ -x "$perf" ] || die "there is no perf yet (run make perf)"

set -- "${1:-}" ${RESULTS:+"$RESULTS"}
"$TOP/perf-bench/native.sh" "$perf" ${2:+"$2"}
[ "$1" != native ] || exit 0

make -C "$TOP" kernels
"$TOP/perf-bench/guest.sh" "$perf" "$SWORK/bench-base/arch/x86/boot/bzImage" \
	"$SWORK/bench/arch/x86/boot/bzImage" ${2:+"$2"}
