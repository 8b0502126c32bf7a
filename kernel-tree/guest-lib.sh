# shellcheck shell=sh
# guest-lib.sh: sourced by an init script in the guest (busybox sh, process 1), where image.sh
# puts it: ". /guest-lib.sh". Mounts the pseudo file systems, opens the result channel.
#   result WORD...   one line on the result channel (boot.sh's LOGDIR/result.txt)
#   verdict N        the last line there, "verdict: N", then the end of the guest; 0 is a pass
# Standard output and error are the console.

export PATH=/bin:/sbin:/usr/bin:/usr/sbin HOME=/ TERM=dumb
mkdir -p /proc /sys /dev /tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
# A kernel with CONFIG_DEVTMPFS_MOUNT may have mounted it.
grep -q ' /dev devtmpfs ' /proc/mounts || mount -t devtmpfs devtmpfs /dev
mount -t tmpfs -o mode=1777 tmpfs /tmp
# An initramfs need not hold /dev/console; the one of devtmpfs is there for sure.
exec </dev/console >/dev/console 2>&1

# Without a result channel nothing can pass: say why where it can be read, and end.
if ! [ -c /dev/ttyS1 ] || ! exec 9>/dev/ttyS1; then
	echo "guest-lib: there is no second serial port /dev/ttyS1"
	reboot -f
fi
# Raw: the bytes go out as they were written (no carriage returns).
stty -F /dev/ttyS1 115200 raw -echo

result()
{
	printf '%s\n' "$*" >&9
}

# stty waits for the port's last byte before it sets anything, so setting it again drains it.
verdict()
{
	result "verdict: $1"
	sync
	stty -F /dev/ttyS1 raw
	stty -F /dev/console onlcr
	reboot -f
	# Reached only if the reboot was refused; the time limit ends it.
	while :; do sleep 60; done
}
