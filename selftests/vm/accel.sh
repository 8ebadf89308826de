#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Print kvm when this machine's KVM boots the kernel within 10 seconds, else
# tcg. /dev/kvm can exist and not work. The verdict is kept until a reboot.

. "$(dirname "$0")/common.sh"

tcg=tcg,thread=multi,tb-size=512
case ${CSIG_ACCEL:-} in
kvm) echo kvm && exit ;;
tcg) echo $tcg && exit ;;
esac
[ -w /dev/kvm ] || { echo $tcg && exit; }

kernel=$(kernel_path)
root=$(root_path "$root_kind")
verdict=$cache/accel-$( (cat /proc/sys/kernel/random/boot_id &&
	echo "$kernel") | hash_of)
if [ ! -s "$verdict" ]; then
	say "  Trying KVM"
	if timeout -k 1 10 qemu-system-x86_64 -nodefaults -no-user-config \
		-display none -no-reboot -machine q35 -accel kvm -cpu max \
		-smp 2 -m 1G -serial stdio -kernel "$kernel/vmlinuz" \
		-initrd "$root/initrd" \
		-append "console=ttyS0 panic=-1 csig.probe" </dev/null \
		2>/dev/null | grep -q csig-probe-ok; then
		echo kvm >"$verdict"
	else
		echo $tcg >"$verdict"
	fi
fi
cat "$verdict"
