#!/bin/sh
# stress.sh [SECONDS [KERNEL-ARGUMENT...]]: populate up to limits of the pool and of cgroups, then take, give
# back, fork and check memory of every kind at the same time: on the base for a minute, on the series for
# SECONDS (600), with lockdep and DEBUG_VM, under TCG on a CPU with MOVNTI. "ok" if no byte was wrong,
# nothing is left behind, the kernel did not complain and the outcomes at the limits are the base's.
# SEED=N repeats the choices of an earlier run (not its timing).
# Exit codes: 0 all ok, 1 something failed, 2 a kernel is missing.
set -eu
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/kernel-tree/lib.sh"
use_series ""
here=$TOP/kernel-tree/proofs
logs=$SWORK/proofs
seconds=${1:-600}
[ $# -eq 0 ] || shift
seed=${SEED:-$(date +%s)}
mkdir -p "$logs"
# Vectors are what an emulator is slow at.
gcc -O2 -fno-tree-vectorize -funroll-loops -Wall -static -pthread -o "$logs/stress" "$here/stress.c" || die "stress.c does not build"
gcc -O2 -Wall -static -o "$logs/limits" "$here/stress-limits.c" || die "stress-limits.c does not build"
"$TOP/kernel-tree/image.sh" "$logs/stress.cpio.gz" "$here/stress-init" "$logs/stress" "$logs/limits" \
	"$TOP/kernel-tree/splats=/splat-list" >/dev/null
bad=0

# run WORD KERNEL SECONDS ARGUMENT...
run()
{
	word=$1 image=$SWORK/$2/arch/x86/boot/bzImage dir=$logs/stress-$1 lasts=$3
	shift 3
	[ -f "$image" ] || cannot "there is no kernel $image (run make kunit-kernels)"
	say "$word, $lasts s of stress (seed $seed; log: ${dir#"$TOP"/}/console.log)"
	code=0
	"$TOP/kernel-tree/boot.sh" -m tcg -c Icelake-Server -M 3072 -s 2 -t $((lasts + 400)) \
		-a "kunit.enable=0 seconds=$lasts seed=$seed $*" \
		-o "$dir" "$image" "$logs/stress.cpio.gz" >"$dir.txt" 2>&1 || code=$?
	sed -n 's/^limit: //p' "$dir/result.txt" >"$dir.limits"
	finished=$(sed -n 's/^stress: //p' "$dir/result.txt" | tail -n 1)
	if [ $code = 0 ] && [ -n "$finished" ] && [ -s "$dir.limits" ]; then
		echo "ok stress on the $word, $lasts s, seed $seed: $finished"
		return
	fi
	bad=1
	echo "FAIL stress on the $word, $lasts s, seed $seed: see ${dir#"$TOP"/}.txt"
	grep 'error:' "$dir/result.txt" || tail -n 3 "$dir.txt"
}

run base checked-base 60 "$@"
run series kunit "$seconds" "$@"
if diff "$logs/stress-base.limits" "$logs/stress-series.limits" >"$logs/stress.diff" &&
	[ -s "$logs/stress-series.limits" ]; then
	echo "ok stress: $(wc -l <"$logs/stress-series.limits") populates up to a limit end as on the base"
else
	bad=1
	echo "FAIL stress: populates up to a limit end otherwise than on the base (>: the series):"
	grep '^[<>]' "$logs/stress.diff" || true
fi
exit $bad
