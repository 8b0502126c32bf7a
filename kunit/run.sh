#!/bin/sh
# run.sh [MACHINE...]: run the KUnit suites on the kinds of machine that kunit/machines lists (all
# of them by default) and print one table, suite by machine. Needs the kernels "uml" and "kunit"
# (make kunit builds them). Exit code 0 if every suite ran and passed everywhere with
# exactly the expected skips, the boot line is right and no log has a splat. What passed
# with the same kernel, scripts and lists is not run again; naming a machine does not change that,
# FRESH=1 does.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"
use_series ""
here=$TOP/kunit
logs=$SWORK/kunit-logs
# Debian's python: one that the user put in front may lack modules.
PATH=/usr/bin:$PATH
kunit_py=$TREE/tools/testing/kunit/kunit.py

machines=$(sed '/^#/d; /^[[:space:]]*$/d' "$here/machines")
for wanted; do
	echo "$machines" | grep -q "^$wanted " || die "kunit/machines has no machine '$wanted'"
done

mkdir -p "$logs"
table=$logs/table
: >"$table"
image=$logs/initramfs.cpio.gz
"$TOP/kernel-tree/image.sh" "$image" "$here/guest-init"

# run_uml NAME: by kunit.py, on the host's own CPU.
run_uml()
{
	"$kunit_py" exec --arch=um --build_dir="$SWORK/uml" --timeout=300 \
		--json="$logs/$1.json" >"$logs/$1.txt" 2>&1 || return 1
	grep -v -e '^#' -e '^$' "$TOP/kernel-tree/splats" >"$logs/splats"
	! grep -E -f "$logs/splats" "$SWORK/uml/test.log" >>"$logs/$1.txt"
}

# expected NAME: the tests that are skipped on this machine. "cpu FLAG: TEST" is one that is skipped
# unless this machine's CPU has FLAG in /proc/cpuinfo (UML runs on it).
expected()
{
	sed -n 's/^cpu \([a-z0-9_]*\): /\1 /p' "$here/skips/$1" | while read -r flag name; do
		grep -qw "$flag" /proc/cpuinfo || echo "$name"
	done
	grep -v '^cpu ' "$here/skips/$1" || true
}

# run_booted NAME MODE CPU LINE: by boot.sh; kunit.py parses the console.
run_booted()
{
	argument=
	case $3 in *:*) argument=${3#*:} ;; esac
	"$TOP/kernel-tree/boot.sh" -m "$2" -c "${3%%:*}" -M 1024 -s 2 -t 900 -a "$argument" -o "$logs/$1" \
		"$SWORK/kunit/arch/x86/boot/bzImage" "$image" >"$logs/$1.txt" 2>&1 || return 1
	"$kunit_py" parse --json="$logs/$1.json" "$logs/$1/console.log" >>"$logs/$1.txt" 2>&1 || return 1
	head -n 1 "$logs/$1/result.txt" | grep -qE "$4" || {
		echo "the boot line is not '$4' but: $(head -n 1 "$logs/$1/result.txt")" >>"$logs/$1.txt"
		return 1
	}
}

# inputs NAME: a hash of all that decides the result on this machine.
inputs()
{
	kernel=$SWORK/kunit/arch/x86/boot/bzImage
	[ "$mode" != uml ] || kernel=$SWORK/uml/linux
	{ grep "^$1 " "$logs/machines"; cat "$kernel" "$image" "$logs/skips" "$logs/suites" "$here/run.sh" \
		"$here/judge.py" "$TOP/kernel-tree/boot.sh" "$TOP/kernel-tree/splats"
		[ "$mode" != uml ] || grep -m 2 -E '^(model name|flags)' /proc/cpuinfo; } | sha256sum | cut -d ' ' -f 1
}

bad=0
echo "$machines" >"$logs/machines"
while read -r name mode cpu line <&3; do
	[ $# -eq 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
	expected "$name" >"$logs/skips"
	awk -v machine="$name" '/^[^#]/ && $3 != machine { print $1 }' "$here/suites" >"$logs/suites"
	key=$(inputs "$name")
	if [ -z "${FRESH:-}" ] && holds "kunit-$name" "$key" && [ -f "$logs/$name.rows" ]; then
		cat "$logs/$name.rows" >>"$table"
		echo "ok KUnit on $name ($mode, $cpu), holds since $(date -r "$logs/$name.rows" '+%F %T')"
		continue
	fi
	rm -f "$logs/$name.json"
	fine=ok
	case $mode in
	uml) run_uml "$name" || fine=FAIL ;;
	*) run_booted "$name" "$mode" "$cpu" "$line" || fine=FAIL ;;
	esac
	[ -f "$logs/$name.json" ] || echo '{}' >"$logs/$name.json"
	"$here/judge.py" "$logs/$name.json" "$logs/suites" "$logs/skips" \
		>"$logs/rows" 2>>"$logs/$name.txt" || fine=FAIL
	sed "s/^/$name /" "$logs/rows" >"$logs/$name.rows"
	cat "$logs/$name.rows" >>"$table"
	if [ $fine = ok ]; then
		done_with "kunit-$name" "$key"
		echo "ok KUnit on $name ($mode, $cpu)"
	else
		bad=1
		echo "FAIL KUnit on $name ($mode, $cpu), see ${logs#"$TOP"/}/$name.txt"
		tail -n 15 "$logs/$name.txt"
	fi
done 3<"$logs/machines"

echo
printf '%-16s %-18s %7s %7s %8s\n' machine suite passed failed skipped
awk '{ printf "%-16s %-18s %7d %7d %8d%s\n", $1, $2, $3, $4, $5, $6 == "ok" ? "" : "  FAIL" }' "$table"
exit $bad
