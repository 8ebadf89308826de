#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Build the debug kernel once from Debian's linux-source and debug.config, in
# the developers' root; keep what modules are compiled against.

. "$(dirname "$0")/common.sh"

folder=$(kernel_path)
[ ! -d "$folder" ] || exit 0
"$vm_dir/rootfs.sh" dev

build_in_root() {
	local wanted lost

	cd /kernel
	tar -xf /usr/src/linux-source-6.12.tar.xz --strip-components=1
	make -s allnoconfig KCONFIG_ALLCONFIG=/mnt/top/selftests/vm/debug.config
	wanted=$(grep '^CONFIG_' /mnt/top/selftests/vm/debug.config | sort)
	lost=$(comm -23 <(echo "$wanted") <(sort .config))
	if [ -n "$lost" ]; then
		echo "kconfig did not take:"
		echo "$lost"
		return 1
	fi
	nice -n 19 make -j"$(nproc)" bzImage modules_prepare
	nice -n 19 make -j"$(nproc)" modules
	cp arch/x86/boot/bzImage /mnt/out/vmlinuz
	cp .config /mnt/out/config
	cp include/config/kernel.release /mnt/out/kver
	: >modules.order
	# Modules need headers, scripts and symbols; their BTF builds on vmlinux's.
	objcopy -j .BTF -j .BTF_ids vmlinux vmlinux.btf
	find . -name '*.o' ! -path './scripts/*' ! -path './tools/*' -delete
	find . \( -name '*.c' -o -name '*.S' -o -name '.*.cmd' -o -name '*.a' \) \
		! -path './scripts/*' ! -path './tools/*' -delete
	rm -rf Documentation vmlinux.unstripped .tmp_vmlinux* drivers/gpu \
		drivers/net/ethernet sound
	mv vmlinux.btf vmlinux
}

make_kernel() { # FOLDER
	mkdir "$1/build"
	step "$top/build/vm/debug-kernel.log" "Debug kernel (15 to 45 minutes)" \
		"$vm_dir/in-root.sh" "$(root_path dev)/root" \
		"$top:/mnt/top:ro" "$1:/mnt/out" "$1/build:/kernel" -- \
		bash -euc "$(declare -f build_in_root); build_in_root"
}

cached "$folder" make_kernel
