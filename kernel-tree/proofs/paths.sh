#!/bin/sh
# paths.sh [MACHINE...]: prove what reaches folio_zero_user() in a running kernel: boot the KUnit kernel on
# the machines of proofs/paths-machines, take memory on every path with a probe on the third argument and
# compare with proofs/paths-expected. One line per machine, "ok" or "FAIL" with the paths that differ.
# What passed with the same kernel, program and lists is not run again, but with FRESH=1.
set -eu
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/kernel-tree/lib.sh"
use_series ""
here=$TOP/kernel-tree/proofs
logs=$SWORK/proofs
mkdir -p "$logs"
kernel_headers
gcc -O2 -Wall -static -isystem "$HEADERS" -I "$TREE/mm" -I "$TREE/drivers/iommu/iommufd" \
	-o "$logs/paths" "$here/paths.c" "$here/pinners.c" || die "paths.c does not build"
"$TOP/kernel-tree/image.sh" "$logs/image.cpio.gz" "$here/paths-init" "$logs/paths" >/dev/null

# expectation HAS_ROUTINE INIT GIGANTIC VFIO: the lines that the guest has to print.
expectation()
{
	awk -v routine="$1" -v clears="$2" -v gigantic="$3" -v vfio="$4" '/^[^#]/ {
		if (($1 ~ /^gigantic/ && !gigantic) || ($1 ~ /^vfio/ && !vfio)) next
		extent = $4 == "hint" || ($4 == "size" && routine == "yes") ? "max" : $4 ~ /^[0-9]/ ? $4 : $2
		# init_on_free: the allocator has only zeroes, so no anonymous THP is cleared; files always are.
		anonymous = $1 ~ /^(m?thp|vfio|iommufd)/ && $1 !~ /file/
		print $1, clears == "free" && anonymous ? "none" : extent "*" $3
	}' "$here/paths-expected"
}

bad=0
sed '/^#/d' "$here/paths-machines" >"$logs/machines"
while read -r name mode cpu mib routine iommu arguments <&3; do
	[ $# -eq 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
	key=$({ echo "$name $mode $cpu $mib $routine $iommu $arguments"; cat "$SWORK/kunit/arch/x86/boot/bzImage" \
		"$logs/image.cpio.gz" "$here/paths-expected" "$here/paths.sh" "$TOP/kernel-tree/boot.sh" \
		"$TOP/kernel-tree/splats"; } | sha256sum | cut -d ' ' -f 1)
	if [ -z "${FRESH:-}" ] && holds "paths-$name" "$key"; then
		echo "ok paths on $name ($mode, $cpu, $arguments), holds since $(date -r "$logs/$name.seen" '+%F %T')"
		continue
	fi
	gigantic='' init='' vfio='' devices='' cpus=2
	[ "$mib" -lt 4096 ] || gigantic=1
	[ "$arguments" != init_on_free=1 ] || init=free
	[ "$iommu" != iommu ] || {
		# One CPU: with two, a guest with a remapped interrupt controller was seen to hang at the
		# switch of the clocksource, when the emulator had to wait for its turn.
		vfio=1 cpus=1
		devices="-M q35 -device intel-iommu,intremap=on,caching-mode=on -device edu"
	}
	code=0
	"$TOP/kernel-tree/boot.sh" -m "$mode" -c "$cpu" -M "$mib" -s $cpus -t 900 -q "$devices" -o "$logs/$name" \
		-a "kunit.enable=0 hugepagesz=2M hugepages=40 ${gigantic:+hugepagesz=1G hugepages=1} $arguments" \
		"$SWORK/kunit/arch/x86/boot/bzImage" "$logs/image.cpio.gz" >"$logs/$name.txt" 2>&1 || code=$?
	expectation "$routine" "$init" "$gigantic" "$vfio" >"$logs/$name.expected"
	grep -v '^verdict' "$logs/$name/result.txt" >"$logs/$name.seen" || true
	if [ $code = 0 ] && diff "$logs/$name.expected" "$logs/$name.seen" >"$logs/$name.diff"; then
		done_with "paths-$name" "$key"
		echo "ok paths on $name ($mode, $cpu, $arguments): $(wc -l <"$logs/$name.seen") as expected"
	else
		bad=1
		echo "FAIL paths on $name ($mode, $cpu, $arguments), see ${logs#"$TOP"/}/$name.txt"
		tail -n 5 "$logs/$name.txt"
		diff "$logs/$name.expected" "$logs/$name.seen" || true
	fi
done 3<"$logs/machines"
exit $bad
