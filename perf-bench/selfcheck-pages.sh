# shellcheck shell=sh disable=SC2154,SC2034
# selfcheck-pages.sh: sourced by selfcheck-scripts.sh: the same with this machine's own kernel, which
# must get back every page and switch. It is asked for more than is free, so that pages must be
# raised whatever the administrator has reserved. If a case is cut off, selfcheck.sh restores.

# why_not: print why this cannot be tried on this machine; nothing if it can.
why_not()
{
	if [ "$(id -u)" != 0 ] || [ ! -w "$pool/nr_hugepages" ]; then
		echo "needs root and a writable pool of 2 MiB pages"
	elif [ $((ask * 2)) -gt "$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo)" ]; then
		echo "more than half of the memory would be needed, $ask MiB"
	fi
}

# on_machine NAME COMMAND...: one case, with the machine's state noted for the trap meanwhile.
on_machine()
{
	real_pages=$(cat "$pool/nr_hugepages")
	real_thp=$(sed 's/.*\[\(.*\)\].*/\1/' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null || :)
	check "$@"
	# A script that left something behind has failed by now; the next case must not suffer.
	restore
}

pool=/sys/kernel/mm/hugepages/hugepages-2048kB
ask=$((($(cat $pool/free_hugepages 2>/dev/null || echo 0) + 32) * 2))
why=$(why_not)
if [ -z "$why" ]; then
	small=$SIZE
	export SIZE="${ask}MB" MAP_SIZE_2MB="${ask}MB"
	on_machine "this kernel: native.sh gives its pages back" unchanged 0 "$bench/native.sh" "$T/perf" "$T/r1"
	on_machine "this kernel: native.sh gives them back after SIGTERM" unchanged 0 \
		stopped TERM 15 "$bench/native.sh" "$T/perf" "$T/r2"
	on_machine "this kernel: map.sh gives its pages back" unchanged 0 "$bench/map.sh" "$T/perf" "$T/r3"
	export SIZE="$small" MAP_SIZE_2MB="$small"
else
	skipped=$((skipped + 1))
	echo "SKIP  native.sh and map.sh on this machine's own pages ($why)"
fi
