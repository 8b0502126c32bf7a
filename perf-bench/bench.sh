#!/bin/sh
# bench.sh [native]: measure. Table (a), this CPU's clearing routines from user space, comes first
# and at once; table (b), the base and the patched kernel in a virtual machine, when both kernels
# are built. Needs the series' perf (make perf). Both tables go to one directory: RESULTS=DIR, or
# a new perf-bench/results/DATE-CPU (-2, -3, ...); what is recorded already is never overwritten.
#
# Under eight minutes with everything built: native.sh gets BUDGET=60 seconds, and guest.sh's
# limits under an emulator add up to less than 7 minutes. ROUNDS and the rest as in those two.
# Exit: that of the first one that failed (1 failed, 2 could not be tried, 124 timeout).
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=kernel-tree/lib.sh
. "$TOP/kernel-tree/lib.sh"
case $#:${1:-} in
0: | 1:native) ;;
*) die "usage: bench.sh [native]" ;;
esac
use_series ""
PERF=$SWORK/perf/perf
[ -x "$PERF" ] || die "there is no perf yet (run make perf)"
# For its traps, too: they end the running script, and remove a directory that stayed empty.
# shellcheck source=perf-bench/measure.sh
. "$TOP/perf-bench/measure.sh"
# shellcheck source=perf-bench/results.sh
. "$TOP/perf-bench/results.sh"
began=$(date +%s)

# run COMMAND...: run it so that a signal to this script reaches it.
run()
{
	"$@" &
	CHILD=$!
	code=0
	wait "$CHILD" || code=$?
	CHILD=
	[ $code -eq 0 ] || exit $code
}

choose_out native "${RESULTS:-}"
[ -n "${1:-}" ] || ready_dir "$out" guest
say "results go to ${out#"$TOP"/}"
say "table (a), this CPU's routines from user space: about 35 s"
[ -n "${1:-}" ] ||
	say "then table (b), two kernels in a virtual machine: about 4 min under an emulator, 10 min more if they are not built"
export BUDGET="${BUDGET:-60}"
run "$TOP/perf-bench/native.sh" "$PERF" "$out"
if [ -z "${1:-}" ]; then
	make -C "$TOP" kernels
	run "$TOP/perf-bench/guest.sh" "$PERF" "$SWORK/bench-base/arch/x86/boot/bzImage" \
		"$SWORK/bench/arch/x86/boot/bzImage" "$out"
fi
say "done after $(minutes $(($(date +%s) - began)))"
