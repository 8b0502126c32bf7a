#!/bin/sh
# native.sh PERF [OUTDIR]: measure this CPU's page-clearing routines from user space, on 2 MiB
# pages: PERF is the series' perf. Needs no kernel of the series, takes about 35 seconds. Writes
# OUTDIR/native.json and native.md (default: a new perf-bench/results/DATE-CPU) and prints the table.
#
# Environment: SIZE (working set, MB or GB, default 1GB or what fits), ROUNDS (5), LOOPS (clears
# of the working set per sample, 5), BENCH_CPU (1), BUDGET (seconds after which no further round
# begins, 220). Root gets hugetlb pages, which it gives back; others transparent huge pages.
# Rates are bytes per second. Exit: 0 done, 1 failed, 2 cannot be measured here.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=kernel-tree/lib.sh
. "$TOP/kernel-tree/lib.sh"
[ $# -eq 1 ] || [ $# -eq 2 ] || die "usage: native.sh PERF [OUTDIR]"
PERF=$1
# shellcheck source=perf-bench/measure.sh
. "$TOP/perf-bench/measure.sh"
# shellcheck source=perf-bench/results.sh
. "$TOP/perf-bench/results.sh"
rounds=${ROUNDS:-5} loops=${LOOPS:-5} budget=${BUDGET:-220}
raw=$SCRATCH/raw
began=$(date +%s)

# check_numbers: the environment's numbers must be such.
check_numbers()
{
	for pair in "ROUNDS=$rounds" "LOOPS=$loops" "BUDGET=$budget"; do
		case ${pair#*=} in
		'' | 0* | *[!0-9]* | ??????*) die "$pair is not a positive number" ;;
		esac
	done
}

# choose_size: set size and mib, the working set. The default shrinks to what memory there is.
choose_size()
{
	have=$(available_mib)
	if [ -n "${SIZE:-}" ]; then
		size=$SIZE
		mib=$(mib_of "$size") || die "SIZE=$size is not a size like 512MB or 1GB"
		{ [ "$mib" -ge 64 ] && [ $((mib % 2)) -eq 0 ]; } ||
			die "SIZE=$size must be an even number of MB, at least 64MB"
		[ "$mib" -le $((have * 3 / 4)) ] ||
			cannot "SIZE=$size is more than three quarters of the $have MiB available"
		return
	fi
	mib=1024 size=1GB
	while [ $mib -gt $((have * 3 / 4)) ]; do
		mib=$((mib / 2))
		size=${mib}MB
		[ $mib -ge 64 ] || cannot "only $have MiB of memory are available"
	done
}

# choose_pages: set pages (what perf -p gets) and kind (what people read).
choose_pages()
{
	if take_pages 2048 $((mib / 2)); then
		pages=2MB kind='hugetlb, 2 MiB'
		return
	fi
	say "no hugetlb pages: $WHY; trying transparent huge pages"
	thp=$(cat "$THP_SWITCH" 2>/dev/null || echo '[never]')
	case $thp in
	*'[never]'*) cannot "no 2 MiB pages: $WHY, and transparent huge pages are off" ;;
	esac
	pages=THP kind='transparent huge pages (advised; the kernel may give small ones)'
}

# choose_functions: set functions: perf's own list, less what this CPU lacks (noted in raw).
# AVX2 streaming stores stand in for AVX-512 ones only.
choose_functions()
{
	run_perf mem memset -f help || : # a listing ends with 1
	listed=$(awk '$1 ~ /^(clear|stream)-/ || $1 == "default" { print $1 }' "$SCRATCH/out")
	echo "$listed" | grep -qx clear-stosb ||
		die "$PERF has no clear-stosb; it is not the series' perf (make perf builds that)"
	# The baseline first, what only user space can do last, AVX-512 before its stand-in.
	listed="clear-stosb $(echo "$listed" | grep '^clear-' | grep -vx clear-stosb || :)
		$(echo "$listed" | grep -x default || :) $(echo "$listed" | grep '^stream-' | sort -t x -k 2 -rn || :)"
	functions=
	for f in $listed; do
		case "$f $functions " in
		'stream-avx2 '*' stream-avx512 '*) continue ;;
		esac
		if run_perf mem memset -f "$f" -s 2MB -k 2MB -p "$pages" -l 1; then
			numbers 1 >/dev/null || die "perf gave no number for $f: $(last_words)"
			functions="$functions $f"
		else
			reason=$(sed -n 's/^# Skipped: *//p' "$SCRATCH/out" | head -n 1)
			[ -n "$reason" ] || die "perf failed with $f: $(last_words)"
			echo "skipped $f $reason" >>"$raw"
		fi
	done
}

# one_round NUMBER: run every cell once in turn, so that all see the same state of the machine.
one_round()
{
	for chunk in 4KB 2MB "$size"; do
		for f in $functions; do
			{ run_perf mem memset -f "$f" -s "$size" -k "$chunk" -p "$pages" -l "$loops" &&
				rate=$(numbers 1); } ||
				die "perf failed with $f, pieces of $chunk: $(last_words)"
			echo "sample $1 $f $chunk $rate" >>"$raw"
		done
	done
}

check_numbers
need_perf
pin
choose_size
choose_out native "${2:-}"
facts >"$raw"
l3=$(sed -n 's/^# l3: \([0-9]*\)K$/\1/p' "$raw")
if [ "$mib" -lt $((${l3:-0} * 2 / 1024)) ]; then
	say "warning: $size is less than twice the last-level cache"
	echo "# warning: the working set is less than twice the last-level cache" >>"$raw"
fi
choose_pages
say "measuring on pages: $kind; working set $size, $rounds rounds"
cat >>"$raw" <<-END
# pages: $kind
# size: $size
# loops: $loops
# command: ${PIN:+$PIN }perf bench -f simple mem memset -f FUNCTION -s $size -k PIECE -p $pages -l $loops
END
choose_functions
round=0
while [ $round -lt "$rounds" ]; do
	spent=$(($(date +%s) - began))
	# A round must also end within the budget; the longest so far says how long it takes.
	if [ $round -gt 0 ] && [ $((spent + spent / round)) -gt "$budget" ]; then
		say "warning: $round of $rounds rounds fit into $budget seconds"
		echo "# warning: only $round of $rounds rounds fitted into $budget seconds" >>"$raw"
		break
	fi
	round=$((round + 1))
	one_round $round
	say "round $round of $rounds done, $(($(date +%s) - began)) seconds so far"
done
give_back
"$TOP/perf-bench/report.py" native "$raw" "$out"
