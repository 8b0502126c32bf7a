# shellcheck shell=sh disable=SC2154
# selfcheck-bench.sh: the last part of selfcheck.sh, which sources it: bench.sh in a copy of the
# repository that has the made-up perf, and a guest.sh that only notes where its table would go.

copy=$T/copy
series=made-up
mkdir -p "$copy/kernel-tree" "$copy/patches/$series" "$copy/work/$series/perf" "$copy/perf-bench"
cp "$bench"/*.sh "$bench"/*.py "$copy/perf-bench"
cp "$TOP/kernel-tree/lib.sh" "$copy/kernel-tree"
echo 'version = 0' >"$copy/patches/$series/BASE"
cp "$T/perf" "$copy/work/$series/perf/perf"
echo 'kernels:' >"$copy/Makefile"
cat >"$copy/perf-bench/guest.sh" <<'END'
#!/bin/sh
echo "{}" >"$4/guest.json"
END

# bench WORD...: bench.sh in the copy.
bench()
{
	SYSFS=$T/sys WORK=$copy/work PATCHES=$copy/patches SERIES=$series KERNEL_TREE='' ROUNDS=1 \
		"$copy/perf-bench/bench.sh" "$@"
}

# results LINE...: true if the directories of results hold just that: "NUMBER: TABLE..." each, where
# the number is that after the CPU's name.
results()
{
	for dir in "$copy"/perf-bench/results/*; do
		[ -d "$dir" ] || continue
		echo "${dir#"$first"}: $(cd "$dir" && echo *.json)"
	done >"$T/holds"
	cat "$T/holds"
	printf '%s\n' "$@" | cmp - "$T/holds"
}

mkdir "$copy/perf-bench/results"
export FAKE_FAIL=clear-stosb/4KB
check "bench.sh: a failure is passed on" refuses 'perf failed with clear-stosb' bench
unset FAKE_FAIL
check "bench.sh: no empty directory stays after a failure" rmdir "$copy/perf-bench/results"
check "bench.sh: runs" bench
first=$(echo "$copy"/perf-bench/results/*)
check "bench.sh: both tables in one directory" results ': guest.json native.json'
cp "$first/native.json" "$T/kept"
check "bench.sh native: runs" bench native
check "bench.sh native: has a directory of its own" results ': guest.json native.json' '-2: native.json'
check "bench.sh: runs again" bench
check "bench.sh: both tables in one new directory" results ': guest.json native.json' '-2: native.json' '-3: guest.json native.json'
check "bench.sh: the first results are as they were" cmp "$T/kept" "$first/native.json"
RESULTS=$T/chosen
export RESULTS
mkdir "$RESULTS"
echo '{}' >"$RESULTS/guest.json"
check "bench.sh: RESULTS that has a table is refused before measuring" refuses 'has a guest.json already' bench
check "bench.sh: and no table is added to it" test ! -e "$RESULTS/native.json"
RESULTS=$T/chosen2
check "bench.sh: RESULTS is where both go" bench
check "bench.sh: RESULTS has both" test -e "$T/chosen2/guest.json" -a -e "$T/chosen2/native.json"
unset RESULTS
check "bench.sh: an unknown word is refused" refuses '^bench: usage: ' bench all
