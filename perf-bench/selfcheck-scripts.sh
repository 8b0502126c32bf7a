# shellcheck shell=sh disable=SC2154
# selfcheck-scripts.sh: the second part of selfcheck.sh, which sources it: native.sh, and
# in selfcheck-map.sh map.sh, with a made-up perf, above all that they leave the machine as they
# found it. The machine is a made-up /sys, so that nothing hangs on what is reserved on this one;
# only selfcheck-pages.sh tries the real one.

# The made-up perf: FAKE_FAIL names the FUNCTION/PIECE or FUNCTION/PAGE at which it fails,
# FAKE_SLOW seconds that each measurement takes, FAKE_LINE what it prints instead of a number. It
# notes in $T/seen what the switch for transparent huge pages says while it runs.
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
cat "${SYSFS:-/sys}/kernel/mm/transparent_hugepage/enabled" >>"$(dirname "$0")/seen" 2>/dev/null
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

# fake_sys DIR PAGES SWITCH: a made-up /sys with PAGES free hugetlb pages (none: it has no such
# pages; stuck: the kernel gives none) and this switch for transparent huge pages (none: no such).
fake_sys()
{
	mkdir -p "$1/kernel/mm/transparent_hugepage"
	[ "$3" = none ] || echo "$3" >"$1/kernel/mm/transparent_hugepage/enabled"
	[ "$2" != none ] || return 0
	dir=$1/kernel/mm/hugepages/hugepages-2048kB
	mkdir -p "$dir"
	echo 0 >"$dir/surplus_hugepages"
	if [ "$2" = stuck ]; then
		ln -s /dev/null "$dir/nr_hugepages"
		echo 0 >"$dir/free_hugepages"
	else
		# Every page is free, always: what raises the pool raises both.
		echo "$2" >"$dir/nr_hugepages"
		ln -s nr_hugepages "$dir/free_hugepages"
	fi
}

# state: what must be the same afterwards.
state()
{
	grep -s . "${SYSFS:-/sys}"/kernel/mm/hugepages/hugepages-*kB/nr_hugepages \
		"${SYSFS:-/sys}"/kernel/mm/hugepages/hugepages-*kB/surplus_hugepages \
		"${SYSFS:-/sys}"/kernel/mm/transparent_hugepage/enabled || :
}

# same CODE COMMAND...: true if it ends with CODE, and pages and switches are as before.
same()
{
	before=$(state)
	wanted=$1 code=0
	shift
	"$@" >"$T/out" 2>&1 || code=$?
	cat "$T/out"
	[ $code -eq "$wanted" ] || { echo "exit code $code"; return 1; }
	after=$(state)
	[ "$before" = "$after" ] || { echo "before: $before; after: $after"; return 1; }
}

# unchanged CODE COMMAND...: the same, and pages were taken in between (else this shows nothing).
unchanged()
{
	same "$@" && grep -q 'raising .*nr_hugepages' "$T/out"
}

# stopped SIGNAL NUMBER COMMAND...: start it, wait until it has changed something, send the signal;
# true if it then ends quickly (the made-up perf sleeps for a minute) with the signal's code. A
# shell's background jobs ignore INT, and HUP below nohup: env makes them work again.
stopped()
{
	signal=$1 number=$2
	shift 2
	FAKE_SLOW=60 env --default-signal "$@" &
	children=$!
	tries=0
	while [ "$(state)" = "$before" ]; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || { echo "it changes nothing"; return 1; }
		sleep 0.1
	done
	sleep 0.5
	kill -s "$signal" "$children"
	began=$(date +%s)
	ended=0
	wait "$children" || ended=$?
	children=
	echo "ended with $ended"
	[ $ended -eq $((128 + number)) ] && [ $(($(date +%s) - began)) -le 5 ]
}

export SYSFS="$T/sys"
fake_sys "$SYSFS" 7 'always [madvise] never'
check "native.sh: gives its pages back, the administrator's stay" unchanged 0 "$bench/native.sh" "$T/perf" "$T/n1"
check "native.sh: every cell has every round" json "$T/n1/native.json" \
	'len(cell) == 12 and all(len(c["bytes_per_second"]) == 3 for c in r["cells"]) and r["pages"] == "hugetlb, 2 MiB"'
check "native.sh: AVX2 stands in where AVX-512 is missing" json "$T/n1/native.json" \
	'"stream-avx512" in r["skipped"] and ("stream-avx2", "4KB") in cell'
check "native.sh: warns of a busy machine and of no other" json "$T/n1/native.json" \
	'(float(r["machine"]["busy-percent"]) >= 5) == any("in use in the second" in w for w in r["warnings"])'
cp "$T/n1/native.json" "$T/kept"
check "native.sh: results that are there are refused" refuses 'has a native.json already' \
	"$bench/native.sh" "$T/perf" "$T/n1"
check "native.sh: and stay" cmp "$T/kept" "$T/n1/native.json"
export FAKE_FAIL=clear-clzero/2MB
check "native.sh: gives its pages back after a failure" unchanged 1 "$bench/native.sh" "$T/perf" "$T/n2"
check "native.sh: a failure is said, nothing is written" sh -c \
	"grep -q 'perf failed with clear-clzero, pieces of 2MB: # broken on purpose' '$T/out' && [ ! -e '$T/n2' ]"
unset FAKE_FAIL
for word in INT:2 TERM:15 HUP:1; do
	check "native.sh: gives its pages back after SIG${word%:*}" unchanged 0 \
		stopped "${word%:*}" "${word#*:}" "$bench/native.sh" "$T/perf" "$T/n3"
done
FAKE_LINE='fast' check "native.sh: a word for a number is refused" refuses 'gave no number' \
	"$bench/native.sh" "$T/perf" "$T/n4"

# All CPUs are busy now.
for _ in $(seq "$(nproc)"); do
	while :; do :; done &
	children="$children $!"
done
ROUNDS=1 check "native.sh: measures under load" same 0 "$bench/native.sh" "$T/perf" "$T/n5"
for pid in $children; do
	kill "$pid"
	wait "$pid" 2>/dev/null || :
done
children=
check "native.sh: other load is measured and warned of" json "$T/n5/native.json" \
	'float(r["machine"]["busy-percent"]) > 50 and any("in use in the second" in w for w in r["warnings"])'

export ROUNDS=1
SYSFS=$T/sys40
fake_sys "$SYSFS" 40 'always [madvise] never'
check "native.sh: reserved pages that suffice are used" same 0 "$bench/native.sh" "$T/perf" "$T/n6"
check "native.sh: and none is raised then" sh -c "grep -q 'pages: hugetlb' '$T/out' && ! grep -q raising '$T/out'"
for kind in none stuck; do
	SYSFS=$T/sys-$kind
	fake_sys "$SYSFS" $kind 'always [madvise] never'
	check "native.sh: huge pages $kind: transparent ones instead" same 0 "$bench/native.sh" "$T/perf" "$T/t-$kind"
	check "native.sh: huge pages $kind: the report and perf are told" json "$T/t-$kind/native.json" \
		'r["pages"].startswith("transparent") and " -p THP " in r["commands"][0] and len(cell) == 12'
	SYSFS=$T/sys-$kind-never
	fake_sys "$SYSFS" $kind 'always madvise [never]'
	check "native.sh: huge pages $kind, no transparent ones: exit code 2" same 2 "$bench/native.sh" "$T/perf" "$T/x"
	check "native.sh: huge pages $kind, no transparent ones: the reason" sh -c \
		"grep -q 'no 2 MiB pages: .* hugetlb pages of 2048 KiB, and transparent huge pages are off$' '$T/out' && [ ! -e '$T/x' ]"
done
SYSFS=$T/sys-nothing
fake_sys "$SYSFS" none none
check "native.sh: a kernel without either: exit code 2" same 2 "$bench/native.sh" "$T/perf" "$T/x"
MAP_PAGES=2MB,THP check "map.sh: a kernel without either: exit code 2" same 2 "$bench/map.sh" "$T/perf" "$T/x"
export ROUNDS=3

# shellcheck source=perf-bench/selfcheck-map.sh
. "$bench/selfcheck-map.sh"
unset SYSFS

# shellcheck source=perf-bench/selfcheck-pages.sh
. "$bench/selfcheck-pages.sh"
unset MAP_PAGES
SIZE=lots check "native.sh: a bad SIZE is refused" refuses 'SIZE=lots is not a size' "$bench/native.sh" "$T/perf" "$T/x"
ROUNDS=0 check "native.sh: no rounds are refused" refuses 'ROUNDS=0' "$bench/native.sh" "$T/perf" "$T/x"
check "native.sh: an impossible OUTDIR is refused before measuring" refuses 'cannot be made' \
	"$bench/native.sh" "$T/perf" /proc/nothing/here
check "native.sh: a missing perf is said" refuses 'there is no program' "$bench/native.sh" "$T/nothing" "$T/x"
