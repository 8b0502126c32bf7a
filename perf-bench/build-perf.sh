#!/bin/sh
# build-perf.sh: build the series' perf as work/SERIES/perf/perf, with few libraries: enough for
# "perf bench". About 3 minutes on two cores the first time.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"
use_series ""
out=$SWORK/perf
log=$out.log
# perf bench needs none of the optional libraries, and each is a dependency that may be missing,
# too old or, as with Rust, broken.
without='JEVENTS LIBPYTHON SLANG LIBTRACEEVENT LIBELF RUST LIBLLVM LIBNUMA SDT AIO LIBZSTD BABELTRACE2
	LIBPFM4 CAPSTONE LZMA ZLIB LIBBPF LIBDW LIBUNWIND DEMANGLE SHELLCHECK'
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
say "building perf (2 minutes; log: ${log#"$TOP"/})"
# Old .d files break a build whose tree has moved.
rm -rf "$out"
mkdir -p "$out"
# shellcheck disable=SC2046 # a list of words
make -C "$TREE/tools/perf" O="$out" CC="$cc" -j"$JOBS" \
	$(for library in $without; do echo "NO_$library=1"; done) >"$log" 2>&1 || {
	tail -n 15 "$log" >&2
	die "perf does not build, see $log"
}
done_with perf "$key"
say "perf is built: ${out#"$TOP"/}/perf"
