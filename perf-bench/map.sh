#!/bin/sh
# map.sh PERF OUTFILE: measure how fast the RUNNING kernel gives out memory, with the series'
# "perf bench mem map". Runs in the bench guest (busybox) and on real machines: run it once
# under the base kernel, once under the patched one, then "report.py compare BASE PATCHED".
#
# OUTFILE gets "# key: value" lines (the machine), then for every function and page size
#     FUNC PAGE SIZE LOOPS BYTES_PER_SECOND STDDEV_PER_CENT     once a round, or
#     FUNC PAGE skipped REASON
# Environment: MAP_FUNCTIONS (demand,populate,madvise, and for 2MB and 1GB fallocate; shmem, which it
# is about with 4KB and THP, is cleared by either kernel alike), MAP_PAGES (4KB,2MB,1GB,THP),
# MAP_SIZE_4KB, MAP_SIZE_2MB, MAP_SIZE_1GB, MAP_SIZE_THP (MB or GB, default 1GB each),
# MAP_LOOPS (mappings per line, 5), MAP_ROUNDS (3), BENCH_CPU (1). Root gets hugetlb pages, and
# gives them back; others use what is reserved already.
# Exit: 0 something was measured, 1 failed, 2 nothing can be measured here.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=kernel-tree/lib.sh
. "$TOP/kernel-tree/lib.sh"
[ $# -eq 2 ] || die "usage: map.sh PERF OUTFILE"
PERF=$1
outfile=$2
# shellcheck source=perf-bench/measure.sh
. "$TOP/perf-bench/measure.sh"
all_pages=$(echo "${MAP_PAGES:-4KB 2MB 1GB THP}" | tr , " ")
loops=${MAP_LOOPS:-5} rounds=${MAP_ROUNDS:-3}
raw=$SCRATCH/raw
THP_WAS=

# check_environment: refuse what would only fail in the middle.
check_environment()
{
	for pair in "MAP_LOOPS=$loops" "MAP_ROUNDS=$rounds"; do
		case ${pair#*=} in
		'' | 0* | *[!0-9]* | ??????*) die "$pair is not a positive number" ;;
		esac
	done
	for page in $all_pages; do
		case $page in
		4KB | 2MB | 1GB | THP) size_of "$page" >/dev/null ;;
		*) die "MAP_PAGES has $page; there are 4KB, 2MB, 1GB and THP" ;;
		esac
	done
	dir=$(dirname "$outfile")
	{ [ -d "$dir" ] && [ -w "$dir" ]; } || die "$outfile cannot be written"
}

# size_of PAGE: print the size to map with this page size, in MiB.
size_of()
{
	case $1 in
	4KB) asked=${MAP_SIZE_4KB:-1GB} unit=1 ;;
	2MB) asked=${MAP_SIZE_2MB:-1GB} unit=2 ;;
	1GB) asked=${MAP_SIZE_1GB:-1GB} unit=1024 ;;
	THP) asked=${MAP_SIZE_THP:-1GB} unit=2 ;;
	esac
	size=$(mib_of "$asked") || die "MAP_SIZE_$1=$asked is not a size like 512MB or 1GB"
	{ [ "$size" -gt 0 ] && [ $((size % unit)) -eq 0 ]; } ||
		die "MAP_SIZE_$1=$asked is not a multiple of the page"
	echo "$size"
}

# functions_of PAGE: print the functions to measure with this page size.
functions_of()
{
	functions=${MAP_FUNCTIONS:-demand populate madvise}
	case ${MAP_FUNCTIONS:-}$1 in
	2MB | 1GB) functions="$functions fallocate" ;;
	esac
	echo "$functions" | tr , ' '
}

# enough MIB: true if so much memory is there and a fifth more; else the reason in WHY.
enough()
{
	[ $(($1 * 6 / 5)) -le "$(available_mib)" ] && return
	WHY="$1 MiB are to be mapped, $(available_mib) MiB are available"
	return 1
}

# prepare PAGE MIB: see to it that such pages can be had; else false and the reason in WHY.
prepare()
{
	case $1 in
	2MB) take_pages 2048 $(($2 / 2)) ;;
	1GB) take_pages 1048576 $(($2 / 1024)) ;;
	THP)
		enough "$2" || return 1
		case $(cat "$THP_SWITCH" 2>/dev/null || echo '[never]') in
		*'[never]'*)
			WHY="transparent huge pages are off or not in this kernel"
			return 1 ;;
		esac ;;
	4KB)
		enough "$2" || return 1
		# With "always" an anonymous mapping would silently get huge pages.
		case $(cat "$THP_SWITCH" 2>/dev/null || :) in
		*'[always]'*)
			WHY="$THP_SWITCH says always, and only root may change that"
			[ -w "$THP_SWITCH" ] || return 1
			THP_WAS=always
			echo madvise >"$THP_SWITCH" ;;
		esac ;;
	esac
}

# release: undo prepare.
release()
{
	give_back
	[ -z "$THP_WAS" ] || echo "$THP_WAS" >"$THP_SWITCH"
	THP_WAS=
}

# measure FUNC PAGE MIB: one line to the raw file.
measure()
{
	if run_perf mem map -f "$1" -p "$2" -s "${3}MB" -l "$loops" && pair=$(numbers 2); then
		echo "$1 $2 ${3}MB $loops $pair" >>"$raw"
		measured=$((measured + 1))
	else
		reason=$(sed -n 's/^# Skipped: *//p' "$SCRATCH/out" | head -n 1)
		words=$(last_words)
		[ -n "$reason" ] || reason="perf failed: ${words#\# }"
		echo "$1 $2 skipped $reason" >>"$raw"
		say "warning: no number for $1, $2: $reason" >&2
		return 1
	fi
}

check_environment
need_perf
pin
facts >"$raw"
echo "# command: ${PIN:+$PIN }perf bench -f simple mem map -f FUNCTION -p PAGE -s SIZE -l LOOPS" >>"$raw"
measured=0
for page in $all_pages; do
	mib=$(size_of "$page")
	functions=$(functions_of "$page")
	if ! prepare "$page" "$mib"; then
		say "no $page pages: $WHY"
		for f in $functions; do
			echo "$f $page skipped $WHY" >>"$raw"
		done
		continue
	fi
	# Not counted: memory that a hypervisor has not backed yet costs far more than the clear.
	run_perf mem map -f "${functions%% *}" -p "$page" -s "${mib}MB" -l 1 || :
	failed=' '
	round=0
	while [ $round -lt "$rounds" ]; do
		round=$((round + 1))
		for f in $functions; do
			case $failed in *" $f "*) continue ;; esac
			measure "$f" "$page" "$mib" || failed="$failed$f "
		done
	done
	release
	say "$page pages done"
done
if [ $measured -eq 0 ]; then
	sed -n 's/^\([a-z]* [0-9A-Z]*\) skipped /\1: /p' "$raw" >&2
	cannot "nothing could be measured"
fi
cp "$raw" "$outfile.part"
mv "$outfile.part" "$outfile"
