#!/bin/sh
# check-configs.sh [NAME...]: the series builds where its code has to fall back or to go away: without huge
# pages of one kind or of both, 32-bit x86 with HIGHMEM, arm64, a CPU with cache aliases. Builds the touched directories of a
# small kernel without a warning; about 2 minutes each. One line per configuration, "ok" or "FAIL".
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"
use_series ""
out=$SWORK/configs
bad=0

# builds NAME ARCH CROSS DIRECTORIES OPTION...: options are "+X" or "-X" on top of tinyconfig.
builds()
{
	name=$1 arch=$2 cross=$3 directories=$4 dir=$out/$1 log=$out/$1.log
	shift 4
	case " ${only:-$name} " in *" $name "*) ;; *) return 0 ;; esac
	mkdir -p "$dir"
	kmake="make -C $TREE O=$dir ARCH=$arch CROSS_COMPILE=$cross"
	$kmake tinyconfig >"$log" 2>&1
	for option; do
		case $option in
		+*) "$TREE/scripts/config" --file "$dir/.config" -e "${option#+}" ;;
		-*) "$TREE/scripts/config" --file "$dir/.config" -d "${option#-}" ;;
		esac
	done
	if ! $kmake olddefconfig >>"$log" 2>&1; then
		bad=1
		echo "FAIL configuration $name, see $log"
		return
	fi
	for option; do
		case $option in
		+*) grep -qx "CONFIG_${option#+}=y" "$dir/.config" ;;
		-*) ! grep -qx "CONFIG_${option#-}=y" "$dir/.config" ;;
		esac || { bad=1; echo "FAIL configuration $name: $option was not kept"; return; }
	done
	# shellcheck disable=SC2086 # a list of directories
	if $kmake -j"$JOBS" $directories >>"$log" 2>&1 && ! grep 'warning:' "$log"; then
		echo "ok configuration $name"
	else
		bad=1
		echo "FAIL configuration $name, see $log"
		grep -E 'error|warning' "$log" | head -n 5
	fi
}

x86="mm/ fs/hugetlbfs/ arch/x86/lib/ arch/x86/kernel/cpu/"
only=$*
say "building the touched directories in other configurations (10 minutes)"
builds x86-no-thp x86_64 '' "$x86" +64BIT +SHMEM -TRANSPARENT_HUGEPAGE +SYSFS +HUGETLBFS +KUNIT +FOLIO_ZERO_KUNIT_TEST +X86_CLEAR_PAGES_KUNIT_TEST
builds x86-no-hugetlbfs x86_64 '' "$x86" +64BIT +SHMEM +TRANSPARENT_HUGEPAGE -HUGETLBFS
builds x86-neither x86_64 '' "$x86" +64BIT +SHMEM -TRANSPARENT_HUGEPAGE -HUGETLBFS +KUNIT +FOLIO_ZERO_KUNIT_TEST
builds i386-highmem i386 '' "$x86 drivers/dma-buf/" -64BIT +HIGHMEM4G +SHMEM +TMPFS +MEMFD_CREATE +SYNC_FILE +UDMABUF +SYSFS \
	+TRANSPARENT_HUGEPAGE +HUGETLBFS +KUNIT +FOLIO_ZERO_KUNIT_TEST
builds arm64 arm64 aarch64-linux-gnu- "mm/ fs/hugetlbfs/" +SHMEM +TRANSPARENT_HUGEPAGE +SYSFS +HUGETLBFS +KUNIT +FOLIO_ZERO_KUNIT_TEST
builds sparc64 sparc64 sparc64-linux-gnu- "mm/ fs/hugetlbfs/" +64BIT +SHMEM +TRANSPARENT_HUGEPAGE +SYSFS +HUGETLBFS
# With cache aliases shmem has to clear as it did: through the kernel's mapping, which it then flushes.
case " ${only:-sparc64} " in *" sparc64 "*) ;; *) exit $bad ;; esac
if [ -f "$out/sparc64/mm/shmem.o" ] && ! sparc64-linux-gnu-nm "$out/sparc64/mm/shmem.o" | grep -q folio_zero_user; then
	echo "ok shmem with cache aliases (sparc64) does not call folio_zero_user()"
else
	bad=1
	echo "FAIL shmem with cache aliases (sparc64) calls folio_zero_user(), or was not built"
fi
exit $bad
