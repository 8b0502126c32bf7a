# shellcheck shell=sh disable=SC2154
# selfcheck-scripts.sh: the second half of selfcheck.sh, which sources it: native.sh and map.sh
# with a made-up perf, above all that they leave the machine as they found it.

# The made-up perf: FAKE_FAIL names the FUNCTION/PIECE or FUNCTION/PAGE at which it fails,
# FAKE_SLOW seconds that each measurement takes, FAKE_LINE what it prints instead of a number.
cat >"$T/perf" <<'END'
#!/bin/sh
[ "$1" != --version ] || exit 0
what=$5 f=$7
if [ "$f" = help ]; then
	printf 'Available functions:\n'
	printf '\t%s ... text\n' default clear-stosb clear-clzero stream-avx2 stream-avx512 x86-64-stosq
	exit 1
fi
shift 5
while getopts f:s:k:p:l: o; do
	case $o in s) s=$OPTARG ;; k) at=$OPTARG ;; p) at=${at:-$OPTARG} ;; esac
done
[ "$f" != stream-avx512 ] || { echo '# Skipped: no AVX-512'; exit 1; }
# Not in the first try of each function, but in the middle of the rounds.
[ "$f/$at" != "${FAKE_FAIL:-}" ] || [ "$s" = 2MB ] || { echo '# broken on purpose'; exit 1; }
[ "$s" = 2MB ] || [ -z "${FAKE_SLOW:-}" ] || exec sleep "$FAKE_SLOW"
echo "# function '$f'"
[ "$what" = map ] && echo "${FAKE_LINE:-2000000000.0 1.50}" || echo "${FAKE_LINE:-1000000000.0}"
END
chmod +x "$T/perf"

pool=/sys/kernel/mm/hugepages/hugepages-2048kB
state()
{
	cat $pool/nr_hugepages $pool/surplus_hugepages \
		/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages \
		/sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null || :
}

# unchanged CODE COMMAND...: true if it ends with CODE, and pages and switches are as before and
# were not so in between (else this shows nothing).
unchanged()
{
	before=$(state)
	wanted=$1 code=0
	shift
	"$@" >"$T/out" 2>&1 || code=$?
	cat "$T/out"
	[ $code -eq "$wanted" ] || { echo "exit code $code"; return 1; }
	grep -q 'raising .*nr_hugepages' "$T/out" || return 1
	after=$(state)
	[ "$before" = "$after" ] || { echo "before: $before; after: $after"; return 1; }
}

# stopped SIGNAL NUMBER COMMAND...: start it, wait until it has taken pages, send the signal; true if it
# then ends quickly (made-up perf sleeps for a minute) with the signal's exit code. Not for INT,
# which a shell's background jobs ignore.
stopped()
{
	signal=$1 number=$2
	shift 2
	FAKE_SLOW=60 "$@" &
	victim=$!
	tries=0
	while [ "$(cat $pool/nr_hugepages)" = "$taken_from" ] && [ $tries -lt 100 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	sleep 0.5
	kill -s "$signal" $victim
	began=$(date +%s)
	ended=0
	wait $victim || ended=$?
	[ $ended -eq $((128 + number)) ] && [ $(($(date +%s) - began)) -le 5 ]
}

if [ "$(id -u)" = 0 ] && [ -w $pool/nr_hugepages ]; then
	taken_from=$(cat $pool/nr_hugepages)
	check "native.sh: gives its pages back" unchanged 0 "$bench/native.sh" "$T/perf" "$T/n1"
	check "native.sh: every cell has every round" json "$T/n1/native.json" \
		'len(cell) == 12 and all(len(c["bytes_per_second"]) == 3 for c in r["cells"])'
	check "native.sh: AVX2 stands in where AVX-512 is missing" json "$T/n1/native.json" \
		'"stream-avx512" in r["skipped"] and ("stream-avx2", "4KB") in cell'
	export FAKE_FAIL=clear-clzero/2MB
	check "native.sh: gives its pages back after a failure" unchanged 1 "$bench/native.sh" "$T/perf" "$T/n2"
	check "native.sh: a failure is said, nothing is written" sh -c \
		"grep -q 'perf failed with clear-clzero, pieces of 2MB: # broken on purpose' '$T/out' && [ ! -e '$T/n2' ]"
	unset FAKE_FAIL
	for word in TERM:15 HUP:1; do
		check "native.sh: gives its pages back after SIG${word%:*}" unchanged 0 \
			stopped "${word%:*}" "${word#*:}" "$bench/native.sh" "$T/perf" "$T/n3"
	done
	FAKE_LINE='fast' check "native.sh: a word for a number is refused" refuses 'gave no number' \
		"$bench/native.sh" "$T/perf" "$T/n4"
	echo $((taken_from + 7)) >$pool/nr_hugepages
	check "native.sh: pages of the administrator stay" unchanged 0 "$bench/native.sh" "$T/perf" "$T/n5"
	echo "$taken_from" >$pool/nr_hugepages
	export MAP_PAGES=4KB,2MB,THP
	check "map.sh: gives its pages back" unchanged 0 "$bench/map.sh" "$T/perf" "$T/m1"
	check "map.sh: its lines are as the report wants them" sh -c \
		"grep -c '^[a-z]* [0-9A-Z]* 64MB 1 2000000000.0 1.50$' '$T/m1' | grep -qx 18 &&
		'$bench/report.py' compare '$T/m1' '$T/m1'"
	export FAKE_FAIL=populate/2MB
	check "map.sh: gives its pages back after a failure" unchanged 0 "$bench/map.sh" "$T/perf" "$T/m2"
	check "map.sh: a failing cell is skipped with perf's words, the others stay" sh -c \
		"grep -qx 'populate 2MB skipped perf failed: broken on purpose' '$T/m2' &&
		[ \$(grep -c ' 2000000000.0 1.50' '$T/m2') = 16 ]"
	unset FAKE_FAIL
	MAP_PAGES=2MB check "map.sh: gives its pages back after SIGTERM" unchanged 0 \
		stopped TERM 15 "$bench/map.sh" "$T/perf" "$T/m3"
	check "map.sh: nothing half-written" test ! -e "$T/m3"
else
	skipped=$((skipped + 1))
	echo "SKIP  native.sh and map.sh take and give back pages (needs root and a writable pool)"
fi
SIZE=lots check "native.sh: a bad SIZE is refused" refuses 'SIZE=lots is not a size' "$bench/native.sh" "$T/perf" "$T/x"
ROUNDS=0 check "native.sh: no rounds are refused" refuses 'ROUNDS=0' "$bench/native.sh" "$T/perf" "$T/x"
check "native.sh: an impossible OUTDIR is refused before measuring" refuses 'cannot be made' \
	"$bench/native.sh" "$T/perf" /proc/nothing/here
check "native.sh: a missing perf is said" refuses 'there is no program' "$bench/native.sh" "$T/nothing" "$T/x"
MAP_PAGES=8MB check "map.sh: an unknown page size is refused" refuses 'MAP_PAGES has 8MB' "$bench/map.sh" "$T/perf" "$T/x"
MAP_SIZE_2MB=5MB MAP_PAGES=2MB check "map.sh: a size that is no multiple is refused" \
	refuses 'not a multiple' "$bench/map.sh" "$T/perf" "$T/x"
