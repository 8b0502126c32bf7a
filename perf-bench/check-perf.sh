#!/bin/sh
# check-perf.sh: run the series' own shell test of "perf bench mem" with the perf that was built:
# every routine that this CPU has zeroes what it says, the others are skipped, bad names and
# sizes are refused. Then once more each with a hugetlb page of 2 MiB and of 1 GiB, for which
# "map -f fallocate" is; only root can get them where none is free. One line each, "ok", "SKIP" or
# "FAIL"; exit code 1 if one failed.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=kernel-tree/lib.sh
. "$TOP/kernel-tree/lib.sh"
use_series ""
PERF=$SWORK/perf/perf
[ -x "$PERF" ] || die "there is no perf yet (run make perf)"
# For its traps, too: they end the test and give back its page.
# shellcheck source=perf-bench/measure.sh
. "$TOP/perf-bench/measure.sh"
failed=0

# run_test [PAGE]: run it and say how it ended. The test has to say so if it found no such page.
run_test()
{
	title="perf bench mem${1:+, with a $1 page}"
	log=$SWORK/check-perf${1:+-$1}.log
	code=0
	PATH=$SWORK/perf:$PATH bash "$TREE/tools/perf/tests/shell/bench_mem.sh" >"$log" 2>&1 &
	CHILD=$!
	wait "$CHILD" || code=$?
	CHILD=
	if [ $code -eq 0 ] && [ -n "${1:-}" ] && grep "^map -p $1: no free pages" "$log" >/dev/null; then
		code=1
	fi
	case $code in
	0) echo "ok $title" ;;
	2) echo "SKIP $title ($(tail -n 1 "$log"))" ;;
	*)
		echo "FAIL $title, see ${log#"$TOP"/}"
		tail -n 10 "$log"
		failed=1 ;;
	esac
}

run_test
for page in 2MB:2048:64 1GB:1048576:4096; do
	name=${page%%:*} kib=${page#*:}
	kib=${kib%:*}
	if [ "$(available_mib)" -lt "${page##*:}" ]; then
		echo "SKIP perf bench mem, with a $name page ($(available_mib) MiB are available)"
	elif ! take_pages "$kib" 1; then
		echo "SKIP perf bench mem, with a $name page ($WHY)"
	else
		run_test "$name"
		give_back
	fi
done
exit $failed
