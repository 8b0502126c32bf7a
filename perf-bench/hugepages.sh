# shellcheck shell=sh
# hugepages.sh: take hugetlb pages from the kernel for one measurement and give back exactly
# those. Sourced by native.sh, map.sh and check-perf.sh, also under busybox; never run. Sizes in KiB.
#
# Only what this script added is ever taken away again: pages that the administrator set up
# are used where free and stay, and a change by somebody else in the meantime is kept. After
# kill -9 nobody gives back; the line that take_pages says has what is needed to do it by hand.
#
# Environment: SYSFS (/sys): another root for what is read and written there, for the tests.

# shellcheck disable=SC2034 # WHY: read by the scripts that source this
WHY=
SYSFS=${SYSFS:-/sys}
TAKEN_POOL=		# the pool that was raised; empty: none
TAKEN_BEFORE=		# its persistent pages before
TAKEN_AFTER=		# and after; empty while the kernel is still at it

# pool_of KIB: print the directory of the pool to use: that of the measuring CPU's own node,
# so that no page is remote, or the machine's where the kernel knows no nodes.
pool_of()
{
	for dir in "$SYSFS/devices/system/node/${NODE:-none}/hugepages/hugepages-${1}kB" \
		"$SYSFS/kernel/mm/hugepages/hugepages-${1}kB"; do
		if [ -d "$dir" ]; then
			echo "$dir"
			return
		fi
	done
}

# persistent POOL: print its pages without the surplus ones, which writing does not count.
persistent()
{
	echo $(($(cat "$1/nr_hugepages") - $(cat "$1/surplus_hugepages")))
}

# usable KIB: print how many pages of this size are free and promised to nobody.
usable()
{
	promised=$(cat "$SYSFS/kernel/mm/hugepages/hugepages-${1}kB/resv_hugepages" 2>/dev/null || echo 0)
	free=$(cat "$(pool_of "$1")/free_hugepages")
	echo $((free > promised ? free - promised : 0))
}

# set_pool POOL COUNT: ask the kernel for a pool of COUNT. False if writing is not allowed.
set_pool()
{
	(echo "$2" >"$1/nr_hugepages") 2>/dev/null
}

# take_pages KIB COUNT: see to it that COUNT pages can be had. On failure false, the pool as it
# was, and the reason in WHY. One pool at a time: give_back before the next.
take_pages()
{
	pool=$(pool_of "$1")
	WHY=
	if [ -z "$pool" ]; then
		WHY="this kernel has no hugetlb pages of $1 KiB"
		return 1
	fi
	missing=$(($2 - $(usable "$1")))
	[ $missing -gt 0 ] || return 0
	before=$(persistent "$pool")
	if [ ! -w "$pool/nr_hugepages" ]; then
		WHY="$missing more hugetlb pages of $1 KiB are needed and only root may reserve them"
		return 1
	fi
	say "raising $pool/nr_hugepages from $before by $missing" >&2
	TAKEN_BEFORE=$before TAKEN_AFTER='' TAKEN_POOL=$pool
	set_pool "$pool" $((before + missing)) || :
	TAKEN_AFTER=$(persistent "$pool")
	if [ "$(usable "$1")" -lt "$2" ]; then
		WHY="the kernel gave $((TAKEN_AFTER - TAKEN_BEFORE)) of $missing hugetlb pages of $1 KiB"
		give_back
		return 1
	fi
}

# give_back: take off the pool what take_pages put on it. Safe to call at any time, twice too.
give_back()
{
	[ -n "$TAKEN_POOL" ] || return 0
	now=$(persistent "$TAKEN_POOL")
	taken=$((${TAKEN_AFTER:-$now} - TAKEN_BEFORE))
	if [ $taken -gt 0 ] && ! set_pool "$TAKEN_POOL" $((now - taken)); then
		echo "$TAKEN_POOL/nr_hugepages could not be lowered by $taken again" >&2
	fi
	TAKEN_POOL=
}
