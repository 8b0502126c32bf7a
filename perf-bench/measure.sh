# shellcheck shell=sh
# measure.sh: what native.sh and map.sh share: the facts of the machine, running perf so that a
# signal reaches it, and leaving everything as it was. Sourced, also under busybox; never run.
# The sourcing script has set TOP and PERF and sourced kernel-tree/lib.sh.

# shellcheck source=perf-bench/hugepages.sh
. "$TOP/perf-bench/hugepages.sh"

SCRATCH=$(mktemp -d)
CHILD=
MADE=

# clean_up: end perf first (its pages must be free before they go back), then the rest.
clean_up()
{
	if [ -n "$CHILD" ]; then
		kill "$CHILD" 2>/dev/null || :
		wait "$CHILD" 2>/dev/null || :
	fi
	give_back
	[ -z "${THP_WAS:-}" ] || echo "$THP_WAS" >/sys/kernel/mm/transparent_hugepage/enabled
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

# ready_dir DIR: make the directory for the results, before minutes are spent on measuring.
ready_dir()
{
	[ -d "$1" ] || MADE=$1
	mkdir -p "$1" 2>/dev/null || die "the directory $1 cannot be made"
	[ -w "$1" ] || die "the directory $1 cannot be written"
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
	for dir in "/sys/devices/system/cpu/cpu$cpu"/node*; do
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

# facts: print the machine as "# key: value" lines, which every result file begins with.
facts()
{
	l3=$(cat /sys/devices/system/cpu/cpu0/cache/index3/size 2>/dev/null || echo unknown)
	nodes=$(find /sys/devices/system/node -name 'node[0-9]*' 2>/dev/null | wc -l)
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
	END
}

# results_dir TABLE: print the directory for new results: perf-bench/results/DATE-CPU, with a
# number after it when that has this table already: a recorded result is never overwritten.
results_dir()
{
	name=$(cpu_value 'model name' | tr -cs 'A-Za-z0-9\n' - | sed 's/^-*//; s/-*$//')
	dir=$TOP/perf-bench/results/$(date -u +%Y-%m-%d)-${name:-unknown-cpu}
	number=1
	where=$dir
	while [ -e "$where/$1.json" ]; do
		number=$((number + 1))
		where=$dir-$number
	done
	echo "$where"
}
