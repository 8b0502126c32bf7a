#!/bin/sh
# selfcheck-boot.sh: prove that boot.sh's verdict can fail: guests that pass, fail, panic, hang, say
# nothing or say the wrong thing, each with the exit code and the sentence that it must give.
# Usage: selfcheck-boot.sh KERNEL   (a bzImage; runs under TCG, two guests at a time, about 1 minute)
# Exit codes: 0 every case passed, 1 one or more failed, 2 it could not be tried.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"

[ $# -eq 1 ] || cannot "usage: selfcheck-boot.sh KERNEL"
kernel=$1
[ -f "$kernel" ] || cannot "there is no kernel $kernel"
command -v qemu-system-x86_64 >/dev/null || cannot "there is no qemu-system-x86_64 (package qemu-system-x86)"

work=$(mktemp -d "${TMPDIR:-/tmp}/selfcheck.XXXXXX")
# TMPDIR: what boot.sh leaves behind can be told from other runs' files.
mkdir "$work/tmp"
export TMPDIR="$work/tmp"
cleanup()
{
	trap '' INT TERM HUP
	# Only the cases that this shell started; boot.sh ends its emulator by itself.
	for pid in ${jobs:-}; do kill -TERM "$pid" 2>/dev/null || true; done
	wait
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# boot NAME OPTION...: boot.sh into NAME's folder; its output and exit code are kept there.
boot()
{
	name=$1 code=0
	shift
	"$TOP/kernel-tree/boot.sh" -m tcg -t 120 -a kunit.enable=0 -o "$work/$name/log" "$@" \
		>"$work/$name/out" 2>&1 || code=$?
	echo $code >"$work/$name/code"
}

# guest NAME OPTION...: boot an image whose init runs the lines of standard input.
guest()
{
	name=$1
	shift
	mkdir -p "$work/$name"
	{ printf '#!/bin/sh\n. /guest-lib.sh\n'; cat; } >"$work/$name/init"
	"$TOP/kernel-tree/image.sh" "$work/$name/image.gz" "$work/$name/init" >/dev/null
	boot "$name" "$@" "$kernel" "$work/$name/image.gz"
}

# emulators NAME: how many processes have NAME's console as an argument. The brackets keep the
# grep from finding itself.
emulators()
{
	grep -l -a -e "$work/$1/log/[c]onsole.log" /proc/[0-9]*/cmdline 2>/dev/null | wc -l
}

passed=0 failed=0
# tell NAME TRUTH WHAT: count a case and print its line; on failure also what boot.sh said.
tell()
{
	if [ "$2" = yes ]; then
		passed=$((passed + 1))
		echo "ok $1: $3"
	else
		failed=$((failed + 1))
		echo "FAIL $1: $3"
		[ ! -f "$work/$1/out" ] || sed 's/^/    /' "$work/$1/out"
	fi
}

# judge NAME CODE PATTERN: the exit code and the sentence (last line) that boot.sh must have given.
judge()
{
	got=$(cat "$work/$1/code" 2>/dev/null || echo none)
	good=no
	[ "$got" = "$2" ] && tail -n 1 "$work/$1/out" | grep -q -E -e "$3" && good=yes
	tell "$1" $good "exit $got (must be $2, saying /$3/): $(tail -n 1 "$work/$1/out")"
}

both()
{
	wait
	jobs=
}

guest good <<'GUEST' &
result "two  words"
verdict 0
GUEST
jobs=$!
guest verdict-3 <<'GUEST' &
verdict 3
GUEST
jobs="$jobs $!"
both
judge good 0 '^boot: pass'
good=no
[ "$(cat "$work/good/log/result.txt")" = "$(printf 'two  words\nverdict: 0')" ] && good=yes
tell result-channel $good "the guest's lines arrive as they were written"
judge verdict-3 1 "verdict is 3"

guest panic <<'GUEST' &
result "verdict: 0"
echo c >/proc/sysrq-trigger
GUEST
jobs=$!
# The verdict of an earlier guest must not be taken for this one's.
mkdir -p "$work/silent/log"
echo 'verdict: 0' >"$work/silent/log/result.txt"
guest silent <<'GUEST' &
reboot -f
GUEST
jobs="$jobs $!"
both
judge panic 1 'the guest panicked: .*Kernel panic.*sysrq'
judge silent 1 'without a verdict'

guest splat <<'GUEST' &
echo 'WARNING: CPU: 0 PID: 1 at test' >/dev/kmsg
verdict 0
GUEST
jobs=$!
guest half-line <<'GUEST' &
printf 'verdict: 0' >&9
stty -F /dev/ttyS1 raw
reboot -f
GUEST
jobs="$jobs $!"
both
judge splat 1 'splat: .*WARNING: CPU: 0 PID: 1 at test'
judge half-line 1 'without a verdict'

guest not-last <<'GUEST' &
result "verdict: 0"
result "a line after it"
reboot -f
GUEST
jobs=$!
guest hang -t 15 <<'GUEST' &
while :; do sleep 60; done
GUEST
jobs="$jobs $!"
sleep 8
# That the count sees a running emulator, so that the zero below means something.
seen=$(emulators hang)
both
judge not-last 1 'without a verdict'
judge hang 124 'time over after 15 s'
good=no
[ "$seen" -gt 0 ] && [ "$(emulators hang)" -eq 0 ] && good=yes
tell hang-killed $good "$seen processes of the emulator before the end, $(emulators hang) after"

# A signal to boot.sh itself: the emulator and the temporary files go as well.
mkdir -p "$work/signal"
"$TOP/kernel-tree/boot.sh" -m tcg -o "$work/signal/log" "$kernel" "$work/hang/image.gz" \
	>"$work/signal/out" 2>&1 &
jobs=$!
sleep 5
seen=$(emulators signal)
kill -TERM "$jobs" 2>/dev/null || true
code=0
wait "$jobs" || code=$?
jobs=
left=$(find "$work/tmp" -mindepth 1 | wc -l)
good=no
[ "$seen" -gt 0 ] && [ $code -eq 143 ] && [ "$(emulators signal)" -eq 0 ] && [ "$left" -eq 0 ] && good=yes
tell signal $good "exit $code, $seen processes before, $(emulators signal) after, $left temporary files left"

# What cannot be tried is told from what failed.
cannot_case()
{
	name=$1 pattern=$2
	shift 2
	mkdir -p "$work/$name"
	boot "$name" "$@"
	judge "$name" 2 "$pattern"
}
image=$work/good/image.gz
cannot_case unknown-cpu "CPU model 'No-Such-CPU'" -c No-Such-CPU "$kernel" "$image"
cannot_case bad-cpu-flag 'no_such_flag' -c max,+no_such_flag "$kernel" "$image"
cannot_case no-kernel 'kernel .*/none cannot be read' "$work/none" "$image"
cannot_case no-initramfs 'initramfs .*/none cannot be read' "$kernel" "$work/none"
cannot_case unknown-mode "no mode 'vax'" -m vax "$kernel" "$image"
cannot_case bad-time "not 'soon'" -t soon "$kernel" "$image"

# A copy of the tool without its list of splats.
mkdir -p "$work/copy/kernel-tree" "$work/no-splats"
cp "$TOP"/kernel-tree/*.sh "$work/copy/kernel-tree/"
(TOP=$work/copy && boot no-splats "$kernel" "$image")
judge no-splats 2 'splats.* is missing'

say "$passed cases passed, $failed failed"
[ $failed -eq 0 ]
