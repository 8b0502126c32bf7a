# shellcheck shell=sh
# bochs.sh: Bochs as a backend of boot.sh, which sources it: check, launch, how it ended.
# Bochs 3.0 knows CLZERO (ryzen) and MOVDIR64B (tigerlake), which QEMU's TCG does not. It boots
# an ISO image with isolinux and runs in a network namespace of its own, because its one usable
# display, rfb, listens on port 5900 of every address.
# The variables that are not set here are boot.sh's.
# shellcheck disable=SC2154

bochs_root=$WORK/bochs
bochs_libs=$bochs_root/usr/lib/x86_64-linux-gnu
bochs_isolinux=/usr/lib/ISOLINUX/isolinux.bin
bochs_ldlinux=/usr/lib/syslinux/modules/bios/ldlinux.c32
# The suite's C library goes with its own loader; GTK and the like come from the system.
bochs_loader=$bochs_root/usr/lib64/ld-linux-x86-64.so.2
bochs_path=$bochs_libs:/usr/lib/x86_64-linux-gnu

bochs_check()
{
	[ -z "$extra" ] || cannot "extra QEMU arguments (-q) mean nothing to Bochs"
	"$TOP/kernel-tree/fetch-bochs.sh" || exit 2
	for file in $bochs_isolinux $bochs_ldlinux; do
		[ -r "$file" ] || cannot "$file is missing (packages isolinux and syslinux-common)"
	done
	command -v xorriso >/dev/null || cannot "there is no xorriso (package xorriso)"
	missing=$("$bochs_loader" --library-path "$bochs_path" --list "$bochs_root/usr/bin/bochs-bin" 2>&1 |
		awk '/not found/ { print $1; exit }')
	[ -z "$missing" ] || cannot "Bochs' library $missing is missing (install the package bochs for it)"
	# Root needs no user namespace; without one an ordinary user may not make the other.
	unshare=-rn
	[ "$(id -u)" -ne 0 ] || unshare=-n
	unshare $unshare true 2>/dev/null || cannot "unshare $unshare is not allowed here; Bochs needs it"
	export LTDL_LIBRARY_PATH="$bochs_libs/bochs/plugins" BXSHARE="$bochs_root/usr/share/bochs"
	: "${cpu:=ryzen}"
	known_cpu "$("$bochs_loader" --library-path "$bochs_path" "$bochs_root/usr/bin/bochs-bin" \
		--help cpu 2>&1 </dev/null | grep -E '^[a-z0-9_]+$')"
}

# bochs_image: make $work/boot.iso from the kernel, the initramfs and the kernel arguments.
bochs_image()
{
	mkdir -p "$work/iso/isolinux"
	cp "$bochs_isolinux" "$bochs_ldlinux" "$work/iso/isolinux/"
	cp "$kernel" "$work/iso/kernel"
	cp "$initramfs" "$work/iso/initrd"
	printf '%s\n' 'default linux' 'label linux' ' kernel /kernel' ' initrd /initrd' \
		" append $arguments" >"$work/iso/isolinux/isolinux.cfg"
	xorriso -as mkisofs -quiet -o "$work/boot.iso" -b isolinux/isolinux.bin -c isolinux/boot.cat \
		-no-emul-boot -boot-load-size 4 -boot-info-table "$work/iso" >"$logdir/emulator.log" 2>&1 ||
		cannot "xorriso cannot make the ISO image ($(tail -n 1 "$logdir/emulator.log"))"
	rm -rf "$work/iso"
}

# bochs_config: print the bochsrc. Paths are below $work, so that LOGDIR may have any name.
bochs_config()
{
	host=$mib
	[ "$host" -le 2048 ] || host=2048	# Bochs takes no more; it pages the rest
	cat <<-CONFIG
	cpu: model=$cpu, count=$cpus, ips=50000000, reset_on_triple_fault=0, ignore_bad_msrs=1
	memory: guest=$mib, host=$host
	romimage: file=$BXSHARE/BIOS-bochs-latest
	vgaromimage: file=$BXSHARE/VGABIOS-lgpl-latest
	ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
	ata0-master: type=cdrom, path=boot.iso, status=inserted
	boot: cdrom
	com1: enabled=1, mode=file, dev=log/console.log
	com2: enabled=1, mode=file, dev=log/result.txt
	display_library: rfb, options="timeout=0"
	sound: waveoutdrv=dummy, midioutdrv=dummy, waveindrv=dummy
	log: log/bochs.log
	panic: action=fatal
	error: action=report
	info: action=ignore
	clock: sync=none
	CONFIG
}

bochs_launch()
{
	bochs_image
	bochs_config >"$work/bochsrc"
	echo c >"$work/debugger"	# Debian's build has the debugger in: "continue"
	ln -s "$logdir" "$work/log"
	rm -f "$logdir/bochs.log"
	# setpriv comes last: entering a user namespace would undo its setting.
	launch env -C "$work" unshare "$unshare" setpriv --pdeathsig KILL \
		"$bochs_loader" --library-path "$bochs_path" "$bochs_root/usr/bin/bochs-bin" \
		-q -f bochsrc -rc debugger
}

# bochs_ended_well CODE: the guest's reset (a triple fault) ends Bochs with code 1.
bochs_ended_well()
{
	[ "$1" -eq 0 ] || { [ "$1" -eq 1 ] && bochs_complaint | grep -q 'exception with no resolution'; }
}

# bochs_complaint: print what Bochs ended with.
bochs_complaint()
{
	grep -h -a -i panic "$logdir/bochs.log" "$logdir/emulator.log" 2>/dev/null | tail -n 1
}
