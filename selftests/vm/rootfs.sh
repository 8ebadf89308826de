#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# rootfs.sh KIND: make the Debian 13 root once: stable and newest carry a
# kernel and become a disk image; dev has the tools of packages/dev instead.

# shellcheck disable=SC2016,SC2034
. "$(dirname "$0")/common.sh"
. "$vm_dir/rootfs-recipe.sh"

kind=$1

mirror() { # the Debian mirror that this machine's apt uses
	local uri codename

	if [ -n "${CSIG_MIRROR:-}" ]; then
		echo "$CSIG_MIRROR"
		return
	fi
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	uri=$(apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' \
		'Created-By: Packages' | awk -v c="$codename" \
		'$1 == c && $2 == "main" { print $3; exit }')
	[ -n "$uri" ] || die "no Debian mirror in apt's configuration:" \
		"set CSIG_MIRROR to the address of one"
	echo "$uri"
}

# In a process namespace of its own it cannot outlive an interrupted build.
mmdebstrap() {
	if [ "$(id -u)" = 0 ]; then
		"${private[@]}" mmdebstrap "$@"
	else
		command mmdebstrap "$@"
	fi
}

make_root() { # FOLDER
	local log=$top/build/vm/root-$kind.log what="kernel $kind"

	[ "$kind" != dev ] || what="developers' tools"
	chmod 755 "$1"
	step "$log" "Debian 13 root with $what (1 to 3 minutes)" \
		debootstrap "$1/root"
	[ "$kind" != dev ] || return 0
	step "$log.initrd" "Initial RAM disk" "$vm_dir/in-root.sh" "$1/root" \
		"$top:/mnt/top:ro" "$1:/mnt/out" -- \
		bash -euc "$(declare -f initrd_in_root); initrd_in_root"
	step "$log.image" "Disk image" image "$1"
}

folder=$(root_path "$kind")
[ -d "$folder" ] || mirror=$(mirror)
cached "$folder" make_root
