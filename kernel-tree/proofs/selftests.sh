#!/bin/sh
# selftests.sh [-c] [NAME...]: run the kernel's own selftests of proofs/selftests-list (or those named) on
# the base and on the series, the same programs in the same machine under TCG, and compare what each test
# in them says. One line per program: "ok" if it is the same, "SKIP" if it skipped everything on both,
# "FAIL" with the lines that differ or if it gave no result. -c: compare what the last run left, boot nothing.
# A kernel that ran the same programs before is not booted again, but with FRESH=1.
# Exit codes: 0 nothing differs, 1 something does or could not be built, 2 a kernel is missing.
set -eu
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/kernel-tree/lib.sh"
use_series ""
here=$TOP/kernel-tree/proofs
logs=$SWORK/proofs
out=$SWORK/selftests
tests=$out/src/tools/testing/selftests
only=
if [ "${1:-}" = -c ]; then
	only=compare
	shift
fi
mkdir -p "$logs" "$out"
bad=0

# listed MACHINE: the lines of the list for one machine.
listed()
{
	awk -v machine="$1" -v names=" $wanted " \
		'!/^#/ && $2 == machine && (names ~ /^ *$/ || index(names, " " $1 " "))' "$here/selftests-list"
}

# noted WORD NAME: what the list has after "WORD NAME ".
noted()
{
	sed -n "s/^$1[[:space:]]\{1,\}$2[[:space:]]\{1,\}//p" "$here/selftests-list"
}

# build_tests: the programs, in a copy of the base's sources: their makefiles write beside them.
build_tests()
{
	programs=$(awk '!/^#/ && ($2 == "pc" || $2 == "q35") { print $4 }' "$here/selftests-list" | sort -u)
	key=$({ git -C "$BASETREE" rev-parse 'HEAD^{tree}'; gcc --version; echo "$programs"; grep '^edit' "$here/selftests-list"
		dpkg-query -W -f '${Package} ${Version}\n' libcap-dev libnuma-dev liburing-dev uuid-dev 2>&1
	} | sha256sum | cut -d ' ' -f 1)
	! holds selftests "$key" || return 0
	say "building the selftests (3 minutes; log: ${out#"$TOP"/}/build.log)"
	need_room 400 "$out"
	rm -rf "$out/src" "$out/headers"
	git -C "$BASETREE" archive HEAD drivers/dma drivers/iommu/iommufd drivers/net/ethernet/intel/igb include \
		mm/gup_test.h scripts/subarch.include tools/arch tools/include tools/scripts \
		tools/testing/selftests | tar -x --one-top-level="$out/src"
	sed -n 's/^edit //p' "$here/selftests-list" | while read -r file command; do
		sed "$command" "$tests/$file" >"$out/edited"
		! cmp -s "$out/edited" "$tests/$file" || die "the edit of $file in the list changes nothing"
		cp "$out/edited" "$tests/$file"
	done
	(
		make -C "$BASETREE" O="$out/headers" INSTALL_HDR_PATH="$out/src/usr" headers_install &&
		for dir in $(echo "$programs" | sed 's/\/.*//' | sort -u); do
			# shellcheck disable=SC2046 # a list of files
			make -C "$tests/$dir" OUTPUT="$tests/$dir" -j"$JOBS" \
				$(echo "$programs" | sed -n "s|^$dir/|$tests/&|p") || exit 1
		done
	) >"$out/build.log" 2>&1 || die "the selftests do not build, see $out/build.log"
	done_with selftests "$key"
}

# run KERNEL MACHINE: boot it with the machine's tests; result.txt has the results.
run()
{
	image=$SWORK/$1/arch/x86/boot/bzImage dir=$logs/selftests-$1-$2
	[ -f "$image" ] || cannot "there is no kernel $1 (run make kunit-kernels)"
	cpio=$logs/selftests-$2.cpio.gz mib=3072 cpus=2 arguments='' devices=
	if [ "$2" = q35 ]; then
		# One CPU, as in paths.sh.
		mib=4096 cpus=1 arguments='hugepagesz=1G hugepages=1'
		devices='-M q35 -device intel-iommu,intremap=on,caching-mode=on -device edu'
	fi
	key=$(cat "$image" "$cpio" "$here/selftests.sh" "$TOP/kernel-tree/boot.sh" "$TOP/kernel-tree/splats" |
		sha256sum | cut -d ' ' -f 1)
	if [ -z "${FRESH:-}" ] && holds "selftests-$1-$2" "$key"; then
		say "$1 on $2 was run at $(date -r "$dir/result.txt" '+%F %T')"
		return
	fi
	rm -f "$SWORK/stamps/selftests-$1-$2"
	say "$1 on $2 (up to 10 minutes; log: ${dir#"$TOP"/}/console.log)"
	code=0
	"$TOP/kernel-tree/boot.sh" -m tcg -c Icelake-Server -M $mib -s $cpus -t 900 -a "kunit.enable=0 $arguments" \
		-q "$devices" -o "$dir" "$image" "$cpio" >"$dir.txt" 2>&1 || code=$?
	if [ $code != 0 ]; then
		bad=1
		echo "FAIL selftests: $1 on $2 did not end well, see ${dir#"$TOP"/}.txt"
		tail -n 3 "$dir.txt"
		return
	fi
	done_with "selftests-$1-$2" "$key"
}

# results KERNEL MACHINE NAME: what the program said there, without addresses and without what the list
# calls unstable.
results()
{
	regex=$(noted unstable "$3" | paste -s -d '|')
	awk -v name="$3: " 'index($0, name) == 1 { print substr($0, length(name) + 1) }' \
		"$logs/selftests-$1-$2/result.txt" 2>/dev/null | tr -d '\r' |
		sed -E "s/0x[0-9a-f]{5,}/ADDRESS/g${regex:+; s/($regex)/VARIES/}"
}

# tally FILE: "N passed, M failed, K skipped". A program without a line of its own is one test.
tally()
{
	awk '/^ok / { if (/# *SKIP/) skipped++; else passed++ }
		/^not ok / { failed++ }
		/^exit / { code = $2 }
		END {
			if (!(passed + failed + skipped)) { passed = code == 0; skipped = code == 4; failed = code && code != 4 }
			printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
		}' "$1"
}

# compare MACHINE NAME
compare()
{
	results checked-base "$1" "$2" >"$logs/selftest.base"
	results kunit "$1" "$2" >"$logs/selftest.series"
	lost=
	for side in base series; do
		# 126 and 127: it could not be started.
		if ! grep -qE '^exit ' "$logs/selftest.$side" || grep -qE '^(timeout|exit 12[67])$' "$logs/selftest.$side"; then
			lost="$lost${lost:+ and }the $side ($(tail -n 1 "$logs/selftest.$side"))"
		fi
	done
	if [ -n "$lost" ]; then
		bad=1
		echo "FAIL selftest $2: no result on $lost"
	elif ! diff "$logs/selftest.base" "$logs/selftest.series" >"$logs/selftest.diff"; then
		bad=1
		echo "FAIL selftest $2: base and series (>) differ:"
		grep '^[<>]' "$logs/selftest.diff"
	else
		counts=$(tally "$logs/selftest.base") fails=$(noted fails "$2")
		case $counts in
		"0 passed, 0 failed, "*) echo "SKIP selftest $2: skipped on both ($counts)" ;;
		"0 passed, "*)
			[ -n "$fails" ] || bad=1
			word=${fails:+SKIP}
			echo "${word:-FAIL} selftest $2: nothing passes on either ($counts)${fails:+: $fails}" ;;
		*) echo "ok selftest $2: same result on both ($counts)" ;;
		esac
	fi
}

wanted=$*
[ -n "$only" ] || build_tests
for machine in pc q35; do
	listed $machine >"$logs/selftests-$machine"
	[ -s "$logs/selftests-$machine" ] || continue
	if [ -z "$only" ]; then
		# shellcheck disable=SC2046 # a list of files
		"$TOP/kernel-tree/image.sh" "$logs/selftests-$machine.cpio.gz" "$here/selftests-init" \
			"$logs/selftests-$machine=/list" "$(gcc -print-file-name=libgcc_s.so.1)=/lib/libgcc_s.so.1" $(awk -v tests="$tests" \
			'{ print tests "/" $4 "=/selftests/" $4 }' "$logs/selftests-$machine" | sort -u) >/dev/null
		for kernel in checked-base kunit; do
			run $kernel $machine
		done
	fi
	while read -r name _ <&3; do
		compare $machine "$name"
	done 3<"$logs/selftests-$machine"
done
exit $bad
