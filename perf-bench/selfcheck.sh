#!/bin/sh
# selfcheck.sh: check the measuring scripts with made-up input, a made-up perf and a made-up /sys;
# measures nothing. Prints "ok" or "FAIL" per case ("SKIP" where only root can try it) and the
# totals. Takes 90 seconds. Exit: 0 all passed, 1 some failed.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=kernel-tree/lib.sh
. "$TOP/kernel-tree/lib.sh"
bench=$TOP/perf-bench
T=$(mktemp -d)
children=		# what runs in the background
real_pages='' real_thp=''	# the machine's own, while a case may change them

# clean_up: end what runs, and only then see to the machine, in case the scripts did not.
clean_up()
{
	trap '' HUP INT TERM
	for pid in $children; do
		kill "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
	restore
	rm -rf "$T"
}

# restore: give the machine back the pages and the switch that it had.
restore()
{
	pages=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
	[ -z "$real_pages" ] || [ "$real_pages" = "$(cat $pages)" ] || echo "$real_pages" >$pages
	[ -z "$real_thp" ] || echo "$real_thp" >/sys/kernel/mm/transparent_hugepage/enabled
	real_pages='' real_thp=
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
passed=0 failed=0 skipped=0
# Small and quick, whatever the caller's environment says.
unset MAP_PAGES MAP_FUNCTIONS BENCH_CPU BUDGET SYSFS RESULTS
export SIZE=64MB ROUNDS=3 LOOPS=1 MAP_LOOPS=1 MAP_ROUNDS=2
export MAP_SIZE_4KB=64MB MAP_SIZE_2MB=64MB MAP_SIZE_THP=64MB

# check NAME COMMAND...: one case; it passes if the command does.
check()
{
	name=$1
	shift
	if "$@" >"$T/log" 2>&1; then
		passed=$((passed + 1))
		echo "ok    $name"
	else
		failed=$((failed + 1))
		echo "FAIL  $name"
		sed 's/^/      /' "$T/log" | tail -n 8
	fi
}

# json FILE EXPRESSION: true if the Python expression holds for the JSON file, named r.
json()
{
	python3 -c 'import json, sys
r = json.load(open(sys.argv[1], encoding="utf-8"))
cell = {(c["function"], c.get("piece", c.get("page"))): c for c in r["cells"]}
sys.exit(0 if eval(sys.argv[2]) else f"not true: {sys.argv[2]}")' "$@"
}

# refuses PATTERN COMMAND...: the command must fail with one sentence that matches, no traceback.
# Other lines that may be there: pages are raised, the machine is busy.
refuses()
{
	pattern=$1
	shift
	code=0
	"$@" >"$T/out" 2>"$T/err" || code=$?
	cat "$T/err"
	[ $code -ne 0 ] && [ "$(grep -cv -e 'nr_hugepages from' -e ': warning: ' "$T/err")" -eq 1 ] && grep -q "$pattern" "$T/err"
}

facts='# cpu: Made Up 9000
# cpu-model: None family 1 model 2 stepping 3
# cores: 4
# load: 0.64
# busy-percent: 0.5
# kernel: Linux 9.9.9
# command: made up'

# raw NAME LINE...: a raw file with facts. with_line FILE LINE: a copy of it with one more line.
raw()
{
	file=$T/$1
	shift
	{ echo "$facts"; printf '%s\n' "$@"; } >"$file"
}
with_line()
{
	cp "$1" "$T/bad"
	echo "$2" >>"$T/bad"
}

# Table (a). The rates drift by a factor of ten between rounds and the ratios do not.
raw native 'sample 1 clear-stosb 2MB 10e9' 'sample 1 clear-clzero 2MB 16e9' \
	'sample 2 clear-stosb 2MB 1e9' 'sample 2 clear-clzero 2MB 1.8e9' \
	'sample 3 clear-stosb 2MB 20e9' 'sample 3 clear-clzero 2MB 34e9' \
	'skipped clear-movdir64b this CPU has no MOVDIR64B'
check "native: report is written" "$bench/report.py" native "$T/native" "$T/a"
check "native: ratio is the median of the rounds' ratios" \
	json "$T/a/native.json" 'abs(cell["clear-clzero", "2MB"]["median_ratio_to_v7.3"] - 1.7) < 1e-9'
check "native: median, minimum and maximum" json "$T/a/native.json" \
	'[cell["clear-clzero", "2MB"][k] for k in ("median_gbps", "min_gbps", "max_gbps")] == [16, 1.8, 34]'
check "native: spread is the relative standard deviation" json "$T/a/native.json" \
	'abs(cell["clear-stosb", "2MB"]["spread_percent"] - 91.978) < .001'
check "native: a skipped routine is no number in JSON" json "$T/a/native.json" \
	'r["skipped"] == {"clear-movdir64b": "this CPU has no MOVDIR64B"} and ("clear-movdir64b", "2MB") not in cell'
check "native: a skipped routine is no number in Markdown" \
	grep -Eq '^\| clear-movdir64b +\| not on this CPU: this CPU has no MOVDIR64B \|[ |]*$' "$T/a/native.md"
check "native: what was in use before the run is in JSON and Markdown" sh -c \
	"grep -q '\"busy-percent\": \"0.5\"' '$T/a/native.json' &&
	grep -q 'load average before the run: 0.64, CPU time in use in the second before it: 0.5 %$' '$T/a/native.md'"
check "native: an old load is no warning" json "$T/a/native.json" 'r["warnings"] == []'
check "native: the fence after each piece is said" grep -q 'one fence per 4 KiB' "$T/a/native.md"
check "native: marked as performance on a real CPU" json "$T/a/native.json" 'r["performance"] is True'
sed 's/^# cpu: .*/# cpu: QEMU TCG CPU version 2.5+/' "$T/native" >"$T/native-tcg"
check "native: inside TCG is marked" sh -c "'$bench/report.py' native '$T/native-tcg' '$T/b' &&
	grep -q 'not performance figures' '$T/b/native.md' && grep -q '\"performance\": false' '$T/b/native.json'"
raw once 'sample 1 clear-stosb 2MB 10e9'
check "native: one round claims no spread" sh -c "'$bench/report.py' native '$T/once' '$T/f' &&
	grep -Eq '^\| clear-stosb \| 10.0 +\| 1.00 +\|' '$T/f/native.md'"
for bad in 'sample 4 clear-stosb 2MB nan' 'sample 4 clear-stosb 2MB -1' 'sample 4 clear-stosb 2MB 0' \
	'sample 5 clear-stosb 2MB 1e9' 'sample 4 clear-stosb 2MB' 'clear-stosb 5' 'sample 1 clear-movdir64b 2MB 1e9' \
	'sample 1 clear-movq 2MB 1e9' 'sample 1 clear-clzero 4KB 1e9'; do
	with_line "$T/native" "$bad"
	check "native: refused: $bad" refuses '^report: ' "$bench/report.py" native "$T/bad" "$T/none"
done
check "native: nothing is written from bad input" test ! -e "$T/none"

# Table (b).
raw base 'demand 2MB 64MB 5 10e9 1.0' 'demand 2MB 64MB 5 12e9 1.0' 'demand 1GB skipped no such pages'
raw patched 'demand 2MB 64MB 5 15e9 1.0' 'demand 2MB 64MB 5 18e9 1.0' 'demand 1GB skipped no such pages'
check "compare: report is written" "$bench/report.py" compare "$T/base" "$T/patched" -o "$T/c"
check "compare: change is of the means" json "$T/c/compare.json" \
	'abs(cell["demand", "2MB"]["change_percent"] - 50) < 1e-9 and not cell["demand", "2MB"]["within_spread"]'
check "compare: a skipped cell is no number" grep -Eq \
	'^\| 1GB +\| demand +\| not measured: no such pages \| not measured: no such pages \| +\|$' "$T/c/compare.md"
check "compare: the same kernel twice is said" grep -q 'are the same kernel' "$T/c/compare.md"
sed 's/Made Up/Other/' "$T/patched" >"$T/other"
check "compare: another machine is refused" refuses 'same machine' "$bench/report.py" compare "$T/base" "$T/other"
raw noisy 'demand 2MB 64MB 5 5e9 1.0' 'demand 2MB 64MB 5 20e9 1.0' 'demand 1GB skipped no such pages'
check "compare: a change within the spread is said" sh -c \
	"'$bench/report.py' compare '$T/base' '$T/noisy' | grep -q '+13.6 ± .*within the spread'"
raw single 'demand 2MB 64MB 1 5e9 0.0'
check "compare: one round of one loop is warned of" sh -c \
	"'$bench/report.py' compare '$T/single' '$T/single' | grep -q 'Warning.*no spread'"
raw half 'demand 2MB skipped perf failed: broken' 'demand 1GB 1024MB 5 1e9 1.0'
check "compare: what one kernel only can do is a failure" refuses \
	'one of the two kernels only.*: demand 2MB (not under patched: perf failed: broken), demand 1GB (not under base: no' \
	"$bench/report.py" compare "$T/base" "$T/half" -o "$T/g"
check "compare: the report says so too" grep -q '^[*][*]Warning:.*kernels only.*demand 2MB (not under patched' "$T/g/compare.md"
sed '$a# warning: busy' "$T/patched" >"$T/other"
check "compare: a warning of the patched kernel's run is in the report" sh -c \
	"'$bench/report.py' compare '$T/base' '$T/other' | grep -q 'Warning.*patched: busy'"
sed 's/64MB/32MB/' "$T/patched" >"$T/other"
check "compare: another size is refused" refuses 'same way' "$bench/report.py" compare "$T/base" "$T/other"
for bad in 'demand 2MB 64MB 5 1e9' 'demand 2MB 64MB 5 fast 1' 'demand 2MB 64MB 0 1e9 1' 'demand 2MB 64MB 5 1e9 nan' \
	'demand 3MB 64MB 5 1e9 1' 'demand 2MB skipped' 'rubbish'; do
	with_line "$T/base" "$bad"
	check "compare: refused: $bad" refuses '^report: ' "$bench/report.py" compare "$T/bad" "$T/patched"
done
mkdir "$T/runs"
{ echo "$facts"; echo '# accelerator: tcg'; } >"$T/runs/host"
raw runs/base-1 'populate 1GB 1024MB 2 1e9 10'
raw runs/base-2 'populate 1GB 1024MB 2 10e9 10'
raw runs/patched-1 'populate 1GB 1024MB 2 2e9 10'
check "guest: a lost round is refused" refuses 'different numbers of rounds' "$bench/report.py" guest "$T/runs" "$T/d"
raw runs/patched-2 'populate 1GB 1024MB 2 20e9 10'
check "guest: report is written" "$bench/report.py" guest "$T/runs" "$T/d"
check "guest: change is paired by round" json "$T/d/guest.json" \
	'abs(cell["populate", "1GB"]["change_percent"] - 100) < 1e-9'
check "guest: a change that all rounds share is not lost in the drift" json "$T/d/guest.json" \
	'not cell["populate", "1GB"]["within_spread"] and cell["populate", "1GB"]["change_sd_percent"] < 1e-9'
check "guest: TCG is marked in JSON" json "$T/d/guest.json" 'r["performance"] is False and r["accelerator"] == "tcg"'
check "guest: TCG is marked in Markdown" sh -c "head -n 4 '$T/d/guest.md' | grep -q 'not performance figures'"
sed -i 's/tcg/kvm/' "$T/runs/host"
check "guest: KVM is performance" sh -c "'$bench/report.py' guest '$T/runs' '$T/e' &&
	grep -q '\"performance\": true' '$T/e/guest.json' && ! grep -q 'not performance' '$T/e/guest.md'"

# shellcheck source=perf-bench/selfcheck-scripts.sh
. "$bench/selfcheck-scripts.sh"
# shellcheck source=perf-bench/selfcheck-bench.sh
. "$bench/selfcheck-bench.sh"
say "$passed cases passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
