# shellcheck shell=sh
# measure.sh: what native.sh and map.sh share: the facts of the machine, running perf so that a
# signal reaches it, and leaving everything as it was. Sourced, also under busybox; never run.
# The sourcing script has set TOP and PERF and sourced kernel-tree/lib.sh.

# shellcheck source=perf-bench/hugepages.sh
. "$TOP/perf-bench/hugepages.sh"

# shellcheck disable=SC2034 # also for the scripts that source this
THP_SWITCH=$SYSFS/kernel/mm/transparent_hugepage/enabled
SCRATCH=$(mktemp -d)
CHILD=
MADE=

# clean_up: end perf first (its pages must be free before they go back), then the rest.
clean_up()
{
	# A second signal must not end this half way.
	trap '' HUP INT TERM
	if [ -n "$CHILD" ]; then
		kill "$CHILD" 2>/dev/null || :
		wait "$CHILD" 2>/dev/null || :
	fi
	give_back
	[ -z "${THP_WAS:-}" ] || echo "$THP_WAS" >"$THP_SWITCH"
	rm -rf "$SCRATCH"
	# Nothing was written: the directory made for it goes again.
	[ -z "$MADE" ] || rmdir "$MADE" 2>/dev/null || :
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# need_perf: stop unless PERF is a program that starts here.
need_perf()
{
	{ [ -f "$PERF" ] && [ -x "$PERF" ]; } || die "there is no program $PERF"
	"$PERF" --version >"$SCRATCH/out" 2>&1 ||
		die "$PERF does not start: $(tail -n 1 "$SCRATCH/out")"
}

# pin: choose the CPU to measure on and its memory node: sets PIN (a command prefix) and NODE.
# Not CPU 0, which takes most interrupts, where there is another. BENCH_CPU overrides.
pin()
{
	PIN='' NODE=''
	command -v taskset >/dev/null || return 0
	cpu=${BENCH_CPU:-1}
	taskset -c "$cpu" true 2>/dev/null || {
		[ -z "${BENCH_CPU:-}" ] || die "BENCH_CPU=$BENCH_CPU is no CPU that may be used here"
		cpu=$(awk '$1 == "Cpus_allowed_list:" { sub(/[-,].*/, "", $2); print $2 }' /proc/self/status)
	}
	PIN="taskset -c $cpu"
	for dir in "$SYSFS/devices/system/cpu/cpu$cpu"/node*; do
		[ ! -d "$dir" ] || NODE=$(basename "$dir")
	done
}

# run_perf ARG...: run perf with simple output into $SCRATCH/out; its exit code. In the
# background, because a shell that waits for a foreground program does not act on signals.
run_perf()
{
	# shellcheck disable=SC2086 # PIN is a command and its options
	$PIN "$PERF" bench -f simple "$@" >"$SCRATCH/out" 2>&1 &
	CHILD=$!
	rc=0
	wait "$CHILD" || rc=$?
	CHILD=
	return $rc
}

# numbers COUNT: print the one line of COUNT numbers that the last run_perf gave. False if
# there is no such line, or more, or anything else beside comments.
numbers()
{
	awk -v count="$1" '
		/^#/ || NF == 0 { next }
		{ lines++; if (NF != count) bad = 1
		  for (i = 1; i <= NF; i++) if ($i !~ /^[0-9]+(\.[0-9]+)?$/) bad = 1
		  line = $0 }
		END { if (lines != 1 || bad) exit 1; $0 = line; $1 = $1; print }' "$SCRATCH/out"
}

# last_words: print the last line of the last run_perf's output, for an error message.
last_words()
{
	words=$(grep -v '^[[:space:]]*$' "$SCRATCH/out" | tail -n 1)
	echo "${words:-(it printed nothing)}"
}

# mib_of SIZE: print a size like 512MB or 1GB in MiB; false if it is not one.
mib_of()
{
	case ${1%?B} in
	'' | *[!0-9]* | ????????*) return 1 ;;
	esac
	case $1 in
	*MB) echo "${1%MB}" ;;
	*GB) echo $((${1%GB} * 1024)) ;;
	*) return 1 ;;
	esac
}

# minutes SECONDS: print it for people.
minutes()
{
	if [ "$1" -lt 100 ]; then echo "about $1 s"; else echo "about $((($1 + 30) / 60)) min"; fi
}

# available_mib: print the memory that can be had without swapping, in MiB.
available_mib()
{
	awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo
}

# cpu_value KEY: print what /proc/cpuinfo says of the first CPU.
cpu_value()
{
	sed -n "s/^$1[[:space:]]*: *//p" /proc/cpuinfo | head -n 1
}

# hypervisor: print what this machine is inside of: none, or a name as systemd gives it.
hypervisor()
{
	if name=$(systemd-detect-virt --vm 2>/dev/null) || [ "${name:-}" = none ]; then
		echo "$name"
	elif grep -qw hypervisor /proc/cpuinfo; then
		echo "unnamed"
	else
		echo none
	fi
}

# busy: print how much of all CPUs' time the next second takes, in per cent. The load average
# will not do: a build that has ended is in it for minutes. Time that a hypervisor takes away
# (steal) counts as busy. The shell's own read, so that nothing is started but sleep.
busy()
{
	read -r earlier </proc/stat
	sleep 1
	read -r later </proc/stat
	printf '%s\n' "$earlier" "$later" | awk '
		{ for (i = 2; i <= 9; i++) total[NR] += $i; idle[NR] = $5 + $6 }
		END { all = total[2] - total[1]; used = all - (idle[2] - idle[1])
		      if (all <= 0) print "unknown"
		      else printf "%.1f\n", 100 * (used > 0 ? used : 0) / all }'
}

# facts: print the machine as "# key: value" lines, which every result file begins with. Takes
# a second; call it right before measuring. Warns of other load, 5 per cent or more.
facts()
{
	share=$(busy)
	l3=$(cat "$SYSFS/devices/system/cpu/cpu0/cache/index3/size" 2>/dev/null || echo unknown)
	nodes=$(find "$SYSFS/devices/system/node" -name 'node[0-9]*' 2>/dev/null | wc -l)
	cat <<-END
	# date: $(date -u +%Y-%m-%dT%H:%M:%SZ)
	# cpu: $(cpu_value 'model name')
	# cpu-model: $(cpu_value vendor_id) family $(cpu_value 'cpu family') model $(cpu_value model) stepping $(cpu_value stepping)
	# cores: $(grep -c '^processor' /proc/cpuinfo)
	# numa-nodes: $((nodes > 0 ? nodes : 1))
	# memory-mib: $(awk '$1 == "MemTotal:" { print int($2 / 1024) }' /proc/meminfo)
	# hypervisor: $(hypervisor)
	# kernel: $(uname -srvm)
	# l3: $l3
	# load: $(cut -d ' ' -f 1 /proc/loadavg)
	# busy-percent: $share
	END
	if awk -v share="$share" 'BEGIN { exit !(share + 0 >= 5) }'; then
		say "warning: $share % of all CPUs' time is in use by something else; the numbers will be noisy" >&2
		echo "# warning: $share % of all CPUs' time was in use in the second before the run: something else was using the machine"
	fi
}
