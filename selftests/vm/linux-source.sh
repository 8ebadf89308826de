#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Unpack once what the developers' tools use of Debian's linux-source.

. "$(dirname "$0")/common.sh"

unpack_in_root() {
	tar -xf /usr/src/linux-source-6.12.tar.xz --strip-components=1 -C /kernel \
		--wildcards '*/scripts' '*/tools/net/ynl' '*/tools/include' \
		'*/Documentation/netlink' '*/include/uapi'
}

unpack() { # FOLDER
	step "$work/linux-source.log" "Unpacking the kernel's scripts" \
		"$vm_dir/in-root.sh" "$(root_path dev)/root" "$1:/kernel" -- \
		bash -euc "$(declare -f unpack_in_root); unpack_in_root"
}

cached "$(linux_source_path)" unpack
