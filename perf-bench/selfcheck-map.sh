# shellcheck shell=sh disable=SC2154,SC2034
# selfcheck-map.sh: sourced by selfcheck-scripts.sh: map.sh with its made-up perf and /sys.

SYSFS=$T/sys
export MAP_PAGES=4KB,2MB,THP
check "map.sh: gives its pages back" unchanged 0 "$bench/map.sh" "$T/perf" "$T/m1"
check "map.sh: its lines are as the report wants them" sh -c \
	"grep -c '^[a-z]* [0-9A-Z]* 64MB 1 2000000000.0 1.50$' '$T/m1' | grep -qx 20 &&
	'$bench/report.py' compare '$T/m1' '$T/m1'"
export FAKE_FAIL=populate/2MB
check "map.sh: gives its pages back after a failure" unchanged 0 "$bench/map.sh" "$T/perf" "$T/m2"
check "map.sh: a failing cell is skipped with perf's words, the others stay" sh -c \
	"grep -qx 'populate 2MB skipped perf failed: broken on purpose' '$T/m2' &&
	[ \$(grep -c ' 2000000000.0 1.50' '$T/m2') = 18 ]"
unset FAKE_FAIL
check "map.sh: fallocate is measured with hugetlb pages only" sh -c "[ \$(grep -c '^fallocate 2MB ' '$T/m1') = 2 ] &&
	[ \$(grep -c '^fallocate ' '$T/m1') = 2 ]"
MAP_FUNCTIONS=fallocate check "map.sh: and with others if asked for" "$bench/map.sh" "$T/perf" "$T/m6"
check "map.sh: and nothing else then" sh -c "[ \$(grep -c '^fallocate [0-9A-Z]* 64MB ' '$T/m6') = 6 ] &&
	[ \$(grep -c '^[a-z]' '$T/m6') = 6 ]"
MAP_PAGES=2MB check "map.sh: gives its pages back after SIGTERM" unchanged 0 \
	stopped TERM 15 "$bench/map.sh" "$T/perf" "$T/m3"
check "map.sh: nothing half-written" test ! -e "$T/m3"

# Recordings from before there was fallocate.
grep -v '^fallocate ' "$T/m1" >"$T/old"
check "compare: an old recording has no line for fallocate" sh -c \
	"'$bench/report.py' compare '$T/old' '$T/old' >'$T/out' && ! grep fallocate '$T/out'"
check "compare: an old recording and a new one" "$bench/report.py" compare "$T/old" "$T/m1" -o "$T/mixed"
check "compare: fallocate is no number then" grep -Eq \
	'^\| 2MB +\| fallocate +\| not measured: not asked for \| 2.00 ± 0.00 +\| +\|$' "$T/mixed/compare.md"
mkdir "$T/mixed-runs"
cp "$T/m1" "$T/mixed-runs/patched-1"
cp "$T/old" "$T/mixed-runs/base-1"
grep '^# ' "$T/m1" >"$T/mixed-runs/host"
check "guest: a function that only one kernel has lines of is a failure" refuses \
	'one of the two kernels only.*: fallocate 2MB (not under base: not asked for)' \
	"$bench/report.py" guest "$T/mixed-runs" "$T/mixed-guest"

# The real switch reads "[always] madvise never" and takes one word; a file cannot do both.
SYSFS=$T/sys-always
fake_sys "$SYSFS" none '[always]'
always=$SYSFS/kernel/mm/transparent_hugepage/enabled
rm -f "$T/seen"
MAP_PAGES=4KB check "map.sh: small pages while the switch says always" "$bench/map.sh" "$T/perf" "$T/m4"
check "map.sh: the switch says madvise meanwhile and always afterwards" sh -c \
	"[ \$(sort -u '$T/seen') = madvise ] && [ \$(cat '$always') = always ]"
for word in INT:2 TERM:15 HUP:1; do
	echo '[always]' >"$always"
	before=$(state)
	MAP_PAGES=4KB check "map.sh: ends after SIG${word%:*} amid that" \
		stopped "${word%:*}" "${word#*:}" "$bench/map.sh" "$T/perf" "$T/m5"
	check "map.sh: the switch says always after SIG${word%:*}" grep -qx always "$always"
done
MAP_PAGES=8MB check "map.sh: an unknown page size is refused" refuses 'MAP_PAGES has 8MB' "$bench/map.sh" "$T/perf" "$T/x"
MAP_SIZE_2MB=5MB MAP_PAGES=2MB check "map.sh: a size that is no multiple is refused" \
	refuses 'not a multiple' "$bench/map.sh" "$T/perf" "$T/x"
