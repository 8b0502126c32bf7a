#!/bin/sh
# build.sh [-b] NAME FRAGMENT...: build a kernel out of tree as work/SERIES/NAME, tinyconfig plus
# the named fragments of configs/. -b: from the untouched base instead of the series.
# ARCH=um builds UML. Every option a fragment asks for must have survived. Prints the image's path.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"

source=series
if [ "${1:-}" = -b ]; then
	source=base
	shift
fi
[ $# -ge 2 ] || die "usage: build.sh [-b] NAME FRAGMENT..."
use_series ""
name=$1
shift
arch=${ARCH:-x86_64}
out=$SWORK/$name
log=$out/build.log
# check-each.sh builds from a work tree of its own.
tree=${EACH_TREE:-$TREE}
[ $source = series ] || tree=$BASETREE
[ -d "$tree" ] || die "$tree does not exist yet (run make tree)"
case $arch in
um) image=$out/linux target=linux ;;
*) image=$out/arch/x86/boot/bzImage target=bzImage ;;
esac

fragments=
for fragment; do
	case $fragment in
	/*) ;;
	*) fragment=$TOP/$fragment ;;
	esac
	[ -f "$fragment" ] || die "there is no configuration fragment $fragment"
	fragments="$fragments $fragment"
done

# check_survived: every line of the fragments must stand in the final .config.
check_survived()
{
	# shellcheck disable=SC2086 # a list of files
	lost=$(cat $fragments | grep -E '^(CONFIG_|# CONFIG_.* is not set)' | sort -u |
		while read -r line; do
			case $line in
			"# "*)
				option=${line#\# }
				option=${option%% *}
				! grep -q "^$option=" "$out/.config" || echo "$option=n" ;;
			*) grep -qxF "$line" "$out/.config" || echo "$line" ;;
			esac
		done)
	# shellcheck disable=SC2086 # one line
	[ -z "$lost" ] || die "$name: asked for, but not in the final configuration:" $lost
}

# kmake TARGET...: make in the kernel tree; ccache where there is one.
kmake()
{
	cc=gcc
	if command -v ccache >/dev/null; then
		cc='ccache gcc'
		export CCACHE_BASEDIR="$WORK" CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE="${CCACHE_MAXSIZE:-8G}"
	fi
	# Fixed so that the same tree gives the same objects and the cache hits.
	export KBUILD_BUILD_TIMESTAMP='2000-01-01' KBUILD_BUILD_USER=series KBUILD_BUILD_HOST=build
	make -C "$tree" O="$out" ARCH="$arch" CC="$cc" HOSTCC="$cc" KCFLAGS="${KCFLAGS:-}" "$@"
}

# shellcheck disable=SC2086 # a list of files
key=$({ git -C "$tree" rev-parse "HEAD^{tree}"; git -C "$tree" diff HEAD
	echo "$arch ${KCFLAGS:-}"; gcc --version; cat $fragments; } | sha256sum | cut -d ' ' -f 1)
if holds "build-$name" "$key" && [ -f "$image" ]; then
	say "$name is up to date"
	exit 0
fi
need_room 1500 "$out"
rm -f "$SWORK/stamps/build-$name"
say "building $name (up to ${BUILD_MINUTES:-12} minutes on two cores; log: ${log#"$TOP"/})"
kmake tinyconfig >"$log" 2>&1 || die "$name: tinyconfig failed, see $log"
# shellcheck disable=SC2086 # a list of files
(cd "$out" && ARCH=$arch "$tree/scripts/kconfig/merge_config.sh" -m .config $fragments) >>"$log" 2>&1 ||
	die "$name: merging the configuration failed, see $log"
kmake olddefconfig >>"$log" 2>&1 || die "$name: olddefconfig failed, see $log"
check_survived

kmake -j"$JOBS" $target >>"$log" 2>&1 &
maker=$!
# A shell's background jobs ignore the interrupt key: nothing may go on building behind its back.
trap 'pkill -TERM -P $maker 2>/dev/null; kill $maker 2>/dev/null; wait $maker 2>/dev/null' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
ticks=0
while kill -0 $maker 2>/dev/null; do
	sleep 1
	ticks=$((ticks + 1))
	[ $((ticks % 60)) != 0 ] || echo "  $name: $(grep -c '^  [A-Z]* ' "$log" || true) steps done"
done
wait $maker || {
	grep -E -B 2 -A 8 'error:|Error |undefined reference' "$log" | tail -n 40 >&2
	die "$name does not build, see $log"
}
trap - EXIT INT TERM HUP
done_with "build-$name" "$key"
say "$name is built ($(grep -c '^  CC' "$log" || true) objects)"
