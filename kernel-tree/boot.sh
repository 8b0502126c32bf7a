#!/bin/sh
# boot.sh: boot a kernel with an initramfs under KVM, QEMU's TCG or Bochs and give one verdict.
# Usage: boot.sh [-m auto|kvm|tcg|bochs] [-c CPU] [-M MIB] [-s CPUS] [-t SECONDS]
#                [-a "kernel arguments"] [-q "extra QEMU arguments"] -o LOGDIR KERNEL INITRAMFS
#   -m  auto is KVM where a guest runs under it, else TCG     -M  guest memory, MiB (1024)
#   -c  CPU model, for QEMU with ",+flag,-flag"; default max, for Bochs ryzen
#   -t  wall-clock limit of the emulator in seconds (300)   -a, -q  words, split at blanks
# LOGDIR/console.log is the guest's first serial port, LOGDIR/result.txt its second, both raw. The
# guest ends result.txt with the line "verdict: N" (guest-lib.sh writes it).
# Exit codes: 0 verdict 0 and nothing of `splats` on the console; 1 any other end of the guest;
# 2 it could not be tried (emulator, CPU model, file or option missing or wrong); 124 time over.
set -euf
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"
. "$TOP/kernel-tree/bochs.sh"

usage='usage: boot.sh [-m auto|kvm|tcg|bochs] [-c CPU] [-M MIB] [-s CPUS] [-t SECONDS]'
usage="$usage [-a KERNEL-ARGUMENTS] [-q QEMU-ARGUMENTS] -o LOGDIR KERNEL INITRAMFS"
mode=auto cpu='' mib=1024 cpus=1 seconds=300 more='' extra='' logdir=
while getopts m:c:M:s:t:a:q:o: option; do
	case $option in
	m) mode=$OPTARG ;;
	c) cpu=$OPTARG ;;
	M) mib=$OPTARG ;;
	s) cpus=$OPTARG ;;
	t) seconds=$OPTARG ;;
	a) more=$OPTARG ;;
	q) extra=$OPTARG ;;
	o) logdir=$OPTARG ;;
	*) cannot "$usage" ;;
	esac
done
shift $((OPTIND - 1))
{ [ $# -eq 2 ] && [ -n "$logdir" ]; } || cannot "$usage"
kernel=$1 initramfs=$2

# count WHAT VALUE: refuse a value that is not a whole number from 1 to 999999.
count()
{
	case $2 in
	'' | 0* | *[!0-9]* | ???????*) cannot "$1 must be a whole number from 1 to 999999, not '$2'" ;;
	esac
}
count 'the memory (-M)' "$mib"
count 'the number of CPUs (-s)' "$cpus"
count 'the time limit (-t)' "$seconds"
{ [ -f "$kernel" ] && [ -r "$kernel" ]; } || cannot "the kernel $kernel cannot be read"
{ [ -f "$initramfs" ] && [ -r "$initramfs" ]; } || cannot "the initramfs $initramfs cannot be read"
case $more in
*'
'*) cannot "the kernel arguments (-a) must be one line" ;;
esac

emulator='' work=''
# Nothing outlives this script: timeout(1) hands the TERM on and follows it with a KILL.
clean_up()
{
	trap '' INT TERM HUP
	if [ -n "$emulator" ] && kill -TERM "$emulator" 2>/dev/null; then
		wait "$emulator" || true
	fi
	[ -z "$work" ] || rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
work=$(mktemp -d "${TMPDIR:-/tmp}/boot.XXXXXX")

# Without patterns every guest would pass, so a missing or empty list ends it here.
splats=$TOP/kernel-tree/splats
patterns=$(grep -v -e '^[[:space:]]*#' -e '^[[:space:]]*$' "$splats" 2>/dev/null) ||
	cannot "$splats, the list of splats, is missing or empty; without it no guest can pass"
code=0
echo | grep -E -q -e "$patterns" 2>/dev/null || code=$?
[ $code -eq 1 ] || cannot "$splats has a bad pattern, or one that matches an empty line"

# Running is the test: a /dev/kvm can be there, and even open, where no guest ever starts.
case $mode in
auto)
	mode=kvm
	if ! "$TOP/kernel-tree/kvm-runs.sh"; then
		mode=tcg
		say "no KVM here, emulating with TCG (slow); no figure from it is a performance figure"
	fi ;;
kvm) "$TOP/kernel-tree/kvm-runs.sh" || cannot "no guest runs under KVM here" ;;
tcg | bochs) ;;
*) cannot "there is no mode '$mode' (auto, kvm, tcg and bochs there are)" ;;
esac

# known_cpu LIST: the model (what stands before the first comma) must be a line of LIST.
known_cpu()
{
	printf '%s\n' "$1" | grep -qxF -e "${cpu%%,*}" ||
		cannot "$mode does not know the CPU model '${cpu%%,*}'"
}

# launch COMMAND...: start it in the background within the time limit. The kernel kills the
# children should this script be killed with no time to do it (setpriv).
launch()
{
	setpriv --pdeathsig TERM timeout -k 5 "$seconds" "$@" </dev/null >"$logdir/emulator.log" 2>&1 &
	emulator=$!
}

qemu_check()
{
	command -v qemu-system-x86_64 >/dev/null ||
		cannot "there is no qemu-system-x86_64 (package qemu-system-x86)"
	: "${cpu:=max}"
	known_cpu "$(qemu-system-x86_64 -cpu help | awk '$1 == "x86" { print $2 }')"
}

qemu_ended_well()
{
	[ "$1" -eq 0 ]
}

qemu_complaint()
{
	tail -n 1 "$logdir/emulator.log"
}

# One CPU a socket: the BIOS's MP table, all that a kernel without ACPI has, lists one a package.
qemu_launch()
{
	# shellcheck disable=SC2086 # -q is a list of words
	launch setpriv --pdeathsig KILL qemu-system-x86_64 -accel "$mode" -cpu "$cpu" -m "$mib" \
		-smp "$cpus,sockets=$cpus" -no-reboot -nodefaults -display none -no-user-config -nic none \
		-serial "file:$logdir/console.log" -serial "file:$logdir/result.txt" \
		-kernel "$kernel" -initrd "$initramfs" -append "$arguments" $extra
}

backend=qemu
[ "$mode" != bochs ] || backend=bochs
${backend}_check
# Old logs must not speak for this guest.
{ mkdir -p "$logdir" && logdir=$(cd "$logdir" && pwd) && cd "$logdir" &&
	rm -f console.log result.txt && : >console.log && : >result.txt && cd "$OLDPWD"
} 2>/dev/null || cannot "$logdir cannot be written"
arguments="console=ttyS0,115200 panic=-1 panic_on_warn=1 reboot=t${more:+ $more}"
began=$(date +%s)
code=0
${backend}_launch
wait "$emulator" || code=$?
emulator=
took=$(($(date +%s) - began))

# failed CODE SENTENCE: the guest did not pass: the end of its console, where it is, and why.
failed()
{
	printf -- '--- last 40 lines of %s\n' "$logdir/console.log" >&2
	tail -n 40 "$logdir/console.log" | tr -d '\r\000' >&2
	printf -- '---\nboot: %s (%s, %s, %s s)\n' "$2" "$mode" "$cpu" "$took" >&2
	exit "$1"
}

# first PATTERNS: the first matching line of the console, or nothing. A search that cannot be
# made (grep's code 2, say the log is gone) has not found the console clean: it ends the script.
first()
{
	line=$(grep -a -E -m 1 -e "$1" "$logdir/console.log") || [ $? -eq 1 ] ||
		cannot "$logdir/console.log cannot be searched for splats"
	printf '%s\n' "$line" | tr -d '\r'
}
panic=$(first 'Kernel panic') || exit 2
splat=$(first "$patterns") || exit 2
last=$(tail -n 1 "$logdir/result.txt" | tr -d '\r\000')
# A line without its end may have lost a digit: it is no verdict.
[ "$(tail -c 1 "$logdir/result.txt" | od -An -tx1 | tr -d ' ')" = 0a ] || last="$last${last:+ (cut off)}"
number=${last#verdict: }
case $number in
"$last" | '' | *[!0-9]*) number= ;;
esac

# 137: it took a KILL, which with time left is somebody else's (out of memory).
if [ $code -eq 124 ] || { [ $code -eq 137 ] && [ $took -ge "$seconds" ]; }; then
	[ -s "$logdir/console.log" ] || splat='nothing at all'
	failed 124 "time over after $seconds s, the emulator was killed${splat:+; the console has: $splat}"
elif ! ${backend}_ended_well $code; then
	[ -s "$logdir/console.log" ] ||
		cannot "the emulator ended with code $code before the guest said a word: $(${backend}_complaint)"
	failed 1 "the emulator ended with code $code: $(${backend}_complaint)"
elif [ -n "$panic" ]; then
	failed 1 "the guest panicked: $panic"
elif [ -n "$splat" ]; then
	failed 1 "the guest's console has a splat: $splat"
elif [ -z "$number" ]; then
	failed 1 "the guest ended without a verdict (the last line of result.txt is '$last')"
elif [ "$number" != 0 ]; then
	failed 1 "the guest's verdict is $number"
fi
say "pass ($mode, $cpu, $took s), logs in $logdir"
