#!/bin/sh
# guest.sh [-m auto|kvm|tcg|bochs] PERF BASE_KERNEL PATCHED_KERNEL [OUTDIR]: compare two kernels
# (bzImages) by "perf bench mem map" in a 5 GiB guest; PERF is the series' perf. Boots them in
# turn, base, patched, patched, base, ... (so a steady drift cancels out): five rounds under KVM,
# two under an emulator, whose figures are no performance figures and are marked so. Writes
# OUTDIR/guest.json and guest.md (default: a new perf-bench/results/DATE-CPU), prints the table.
#
# Environment: ROUNDS, SECONDS_PER_BOOT (100 under an emulator: with native.sh before them, two
# rounds cannot take eight minutes; one boot may take twice as long while the sum holds), and map.sh's MAP_* for the guest (sizes 256MB to 1GB, 2 loops under TCG).
# Exit: 0 done, 1 failed (logs are kept and named), 2 could not be tried, 124 a boot took too long.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=kernel-tree/lib.sh
. "$TOP/kernel-tree/lib.sh"
usage='usage: guest.sh [-m auto|kvm|tcg|bochs] PERF BASE_KERNEL PATCHED_KERNEL [OUTDIR]'
mode=auto
while getopts m: option; do
	case $option in
	m) mode=$OPTARG ;;
	*) die "$usage" ;;
	esac
done
shift $((OPTIND - 1))
[ $# -eq 3 ] || [ $# -eq 4 ] || die "$usage"
PERF=$1 base=$2 patched=$3
# shellcheck source=perf-bench/measure.sh
. "$TOP/perf-bench/measure.sh"
# shellcheck source=perf-bench/results.sh
. "$TOP/perf-bench/results.sh"
need_perf
for kernel in "$base" "$patched"; do
	[ -f "$kernel" ] || die "there is no kernel $kernel"
done

# build_image: busybox, perf and the measuring scripts.
build_image()
{
	"$TOP/kernel-tree/image.sh" "$SCRATCH/bench.cpio.gz" "$TOP/perf-bench/guest-init" \
		"$PERF=/perf-bench/perf" "$TOP/perf-bench/map.sh=/perf-bench/map.sh" \
		"$TOP/perf-bench/measure.sh=/perf-bench/measure.sh" \
		"$TOP/perf-bench/hugepages.sh=/perf-bench/hugepages.sh" \
		"$TOP/kernel-tree/lib.sh=/kernel-tree/lib.sh"
}

# boot LOGDIR KERNEL OPTION...: boot the image, in the background so that signals are acted on;
# output in $SCRATCH/boot.out.
boot()
{
	logs=$1 kernel=$2
	shift 2
	"$TOP/kernel-tree/boot.sh" "$@" -o "$logs" "$kernel" "$SCRATCH/bench.cpio.gz" \
		>"$SCRATCH/boot.out" 2>&1 &
	CHILD=$!
	code=0
	wait "$CHILD" || code=$?
	CHILD=
	return $code
}

# Rounds and sizes depend on the accelerator, so it is settled here, as boot.sh does it.
if [ "$mode" = auto ]; then
	mode=tcg
	! "$TOP/kernel-tree/kvm-runs.sh" || mode=kvm
fi

mkdir -p "$SCRATCH/runs" "$SCRATCH/logs"
build_image
case $mode in
kvm)
	rounds=${ROUNDS:-5} share=${SECONDS_PER_BOOT:-120} cpu='-c host'
	: "${MAP_LOOPS=5}" "${MAP_SIZE_4KB=1GB}" "${MAP_SIZE_2MB=1GB}" "${MAP_SIZE_THP=1GB}" ;;
tcg | bochs)
	rounds=${ROUNDS:-2} share=${SECONDS_PER_BOOT:-100} cpu=
	[ "$mode" = bochs ] || cpu='-c max'
	: "${MAP_LOOPS=2}" "${MAP_SIZE_4KB=256MB}" "${MAP_SIZE_2MB=512MB}" "${MAP_SIZE_THP=512MB}" ;;
*) die "$usage" ;;
esac
case "$rounds:$share" in
*[!0-9:]* | 0* | :* | *: | *:0* | *:??????*) die "ROUNDS=$rounds and SECONDS_PER_BOOT=$share must be positive numbers" ;;
esac
: "${MAP_SIZE_1GB=1GB}" "${MAP_PAGES=4KB,2MB,1GB,THP}"
# Init gets the words of the command line that the kernel does not know in its environment; they
# cannot have blanks in them, hence the commas.
arguments="hugepagesz=1G hugepages=1 hugepagesz=2M hugepages=256 MAP_ROUNDS=1 MAP_LOOPS=$MAP_LOOPS"
for name in PAGES FUNCTIONS SIZE_4KB SIZE_2MB SIZE_1GB SIZE_THP; do
	value=$(eval "echo \"\${MAP_$name:-}\"" | tr -s ' ' ,)
	[ -z "$value" ] || arguments="$arguments MAP_$name=$value"
done
# With 4 GiB no whole GiB is free at boot: the initramfs lies below 2 GiB, the memory map above 4.
guest_mib=5120
[ "$(available_mib)" -gt $((guest_mib + 512)) ] ||
	cannot "the guest has $guest_mib MiB, only $(available_mib) MiB are available here"

# stop CODE SENTENCE: end with this code; what the guests wrote is kept.
stop()
{
	kept=$(mktemp -d)
	cp -r "$SCRATCH/logs" "$SCRATCH/runs" "$kept"
	printf 'guest: %s; all logs are in %s\n' "$2" "$kept" >&2
	exit "$1"
}

# boot_one SIDE ROUND: boot that kernel and keep its lines as $SCRATCH/runs/SIDE-ROUND.
boot_one()
{
	image=$base
	[ "$1" = base ] || image=$patched
	# shellcheck disable=SC2086 # cpu is an option with its value, or nothing
	boot "$SCRATCH/logs/$1-$2" "$image" -m "$mode" $cpu -M $guest_mib -t "$limit" -a "$arguments" || :
	if [ $code -ne 0 ]; then
		cat "$SCRATCH/boot.out" >&2
		why='the guest failed'
		[ $code -ne 124 ] || why="the guest took longer than $limit s (SECONDS_PER_BOOT is $share s)"
		stop $code "round $2, $1 kernel: $why"
	fi
	tr -d '\r' <"$SCRATCH/logs/$1-$2/result.txt" | grep -v '^verdict: ' >"$SCRATCH/runs/$1-$2"
}

# digest FILE: print its sha256.
digest()
{
	sha256sum "$1" | cut -d ' ' -f 1
}

choose_out guest "${4:-}"
boots=$((2 * rounds))
allowed=$((boots * share))
about=
# A rough figure for the default sizes; the first boot corrects it.
[ "$mode" != tcg ] || about=" of about 60 s, $(minutes $((boots * 60))) in all"
say "table (b): booting two kernels $rounds times each ($mode): $boots boots$about, $allowed s at most"
[ "$mode" = kvm ] || say "under $mode the figures are no performance figures"
cat >"$SCRATCH/runs/host" <<END
$(facts)
# accelerator: $mode
# guest: $guest_mib MiB, 1 CPU ($mode${cpu:+, $cpu})
# base-sha256: $(digest "$base")
# patched-sha256: $(digest "$patched")
# command: boot.sh -m $mode ${cpu:+$cpu }-M $guest_mib -a "$arguments" KERNEL bench.cpio.gz
END
round=0
finished=0
start=$(date +%s)
while [ $round -lt "$rounds" ]; do
	round=$((round + 1))
	order='base patched'
	[ $((round % 2)) -eq 1 ] || order='patched base'
	for side in $order; do
		since=$(date +%s)
		left=$((allowed - (since - start)))
		[ $left -gt 0 ] || stop 124 "the boots took longer than $allowed s (SECONDS_PER_BOOT is $share s)"
		limit=$((left < 2 * share ? left : 2 * share))
		boot_one "$side" "$round"
		took=$(($(date +%s) - since))
		finished=$((finished + 1))
		togo=$(((boots - finished) * took))
		[ $togo -eq 0 ] || say "boot $finished of $boots: round $round, $side kernel: $took s; $(minutes $togo) to go"
		[ $togo -gt 0 ] || say "boot $finished of $boots: round $round, $side kernel: $took s"
	done
done
"$TOP/perf-bench/report.py" guest "$SCRATCH/runs" "$out" || stop 1 "the comparison failed, see the line above"
