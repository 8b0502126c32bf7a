#!/bin/sh
# build-perf.sh: build the series' perf as work/SERIES/perf/perf, with few libraries: enough for
# "perf bench". About 3 minutes on two cores the first time.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"
use_series ""
out=$SWORK/perf
log=$out.log
key=$(git -C "$TREE" rev-parse HEAD:tools HEAD:arch/x86/lib HEAD:include/uapi | sha256sum | cut -d ' ' -f 1)
if holds perf "$key" && [ -x "$out/perf" ]; then
	say "perf is up to date"
	exit 0
fi
need_room 500 "$out"
cc=gcc
if command -v ccache >/dev/null; then
	cc='ccache gcc'
	export CCACHE_BASEDIR="$WORK" CCACHE_NOHASHDIR=1
fi
say "building perf (3 minutes; log: ${log#"$TOP"/})"
make -C "$TREE/tools/perf" O="$out" CC="$cc" -j"$JOBS" \
	WERROR=0 NO_JEVENTS=1 >"$log" 2>&1 || {
	tail -n 15 "$log" >&2
	die "perf does not build, see $log"
}
done_with perf "$key"
say "perf is built: ${out#"$TOP"/}/perf"
