#!/bin/sh
# check-perf.sh: run the series' own shell test of "perf bench mem" with the perf that was built:
# every routine that this CPU has zeroes what it says, the others are skipped, bad names and
# sizes are refused. One line, "ok" or "FAIL"; exit code 1 if it failed.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"
use_series ""
[ -x "$SWORK/perf/perf" ] || die "there is no perf yet (run make perf)"
log=$SWORK/check-perf.log
code=0
PATH=$SWORK/perf:$PATH bash "$TREE/tools/perf/tests/shell/bench_mem.sh" >"$log" 2>&1 || code=$?
case $code in
0) echo "ok perf bench mem" ;;
2) echo "SKIP perf bench mem ($(tail -n 1 "$log"))" ;;
*)
	echo "FAIL perf bench mem, see ${log#"$TOP"/}"
	tail -n 10 "$log"
	exit 1 ;;
esac
