#!/bin/sh
# kvm-runs.sh: exit code 0 if a virtual machine really runs under KVM here, 1 if not. A /dev/kvm that
# opens is not enough: nested and paravirtual ones may refuse the CPU, never execute an instruction, or
# run the BIOS and then lack what a 64-bit kernel needs (kvm64,enforce: QEMU does not start without that).
# The probe is the BIOS: within 10 seconds it must have said something on QEMU's debug port.
set -eu
[ -c /dev/kvm ] && (: >/dev/kvm) 2>/dev/null || exit 1
command -v qemu-system-x86_64 >/dev/null || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
: >"$scratch/said"
timeout -k 1 10 qemu-system-x86_64 -accel kvm -cpu kvm64,enforce -m 64 -nodefaults -display none -no-user-config \
	-nic none -chardev file,id=debug,path="$scratch/said" \
	-device isa-debugcon,iobase=0x402,chardev=debug </dev/null >/dev/null 2>&1 &
probe=$!
while kill -0 $probe 2>/dev/null && [ ! -s "$scratch/said" ]; do
	sleep 0.2
done
[ -s "$scratch/said" ] && runs=0 || runs=1
kill $probe 2>/dev/null || true
wait $probe 2>/dev/null || true
exit "$runs"
