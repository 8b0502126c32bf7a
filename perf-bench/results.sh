# shellcheck shell=sh disable=SC2154,SC2034
# results.sh: where bench.sh, native.sh and guest.sh put their tables. Sourced after measure.sh,
# whose trap removes a directory made here (MADE) that stayed empty; never run.

# ready_dir DIR TABLE: make the directory for this table, before minutes are spent on measuring.
# A result that is there already, perhaps recorded in git, is not overwritten.
ready_dir()
{
	[ ! -e "$1/$2.json" ] || die "$1 has a $2.json already; remove it or name another directory"
	[ -d "$1" ] || MADE=$1
	mkdir -p "$1" 2>/dev/null || die "the directory $1 cannot be made"
	[ -w "$1" ] || die "the directory $1 cannot be written"
}

# new_results: make a new directory for results and print it: perf-bench/results/DATE-CPU, with a
# number after it when there is one already. mkdir decides, so that no two runs get the same.
new_results()
{
	name=$(cpu_value 'model name' | tr -cs 'A-Za-z0-9\n' - | sed 's/^-*//; s/-*$//')
	where=$TOP/perf-bench/results/$(date -u +%Y-%m-%d)-${name:-unknown-cpu}
	number=1
	numbered=$where
	mkdir -p "$TOP/perf-bench/results" 2>/dev/null || :
	until mkdir "$numbered" 2>/dev/null; do
		[ -e "$numbered" ] || die "the directory $numbered cannot be made"
		number=$((number + 1))
		numbered=$where-$number
	done
	echo "$numbered"
}

# choose_out TABLE [DIR]: set out, the directory for this table: DIR or a new one.
choose_out()
{
	if [ -n "${2:-}" ]; then
		out=$2
		ready_dir "$out" "$1"
	else
		out=$(new_results)
		MADE=$out
	fi
}
