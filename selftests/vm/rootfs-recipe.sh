# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2016,SC2154
# Sourced by rootfs.sh: how a root is made. Part of the cache's key: a change
# here makes everyone build their roots again.

suite=trixie

debootstrap() { # FOLDER: run mmdebstrap
	local include mode=root sources

	[ "$(id -u)" = 0 ] || mode=unshare
	sources=("deb $mirror $suite main")
	include=$(packages root | paste -sd,)
	case $kind in
	stable) include+=,linux-image-amd64,linux-headers-amd64 ;;
	newest)
		sources+=("deb $mirror $suite-backports main")
		include+=,linux-image-amd64/$suite-backports
		include+=,linux-headers-amd64/$suite-backports
		;;
	dev) include+=,$(packages dev | paste -sd,) ;;
	esac

	# INITRD=No: the kernel package shall not make an initial RAM disk.
	INITRD=No mmdebstrap --mode=$mode --variant=apt --include="$include" \
		--aptopt='Acquire::Retries "3"' \
		--dpkgopt=force-unsafe-io \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--dpkgopt='path-exclude=/usr/share/doc/*' \
		--customize-hook='mkdir -p "$1/csig" "$1/stage" "$1/kernel" \
			"$1/mnt/share" "$1/mnt/out" "$1/mnt/run" "$1/mnt/top"' \
		$suite "$1" "${sources[@]}"
}

# The initial RAM disk: busybox, the modules needed to mount root and project.
initrd_in_root() {
	local kver dir=/tmp/initrd n=10 module name path

	kver=$(ls /lib/modules)
	mkdir -p $dir/bin $dir/dev $dir/proc $dir/sys $dir/root \
		"$dir/modules/$kver"
	cp /bin/busybox $dir/bin/
	cp /mnt/top/selftests/vm/initrd-init $dir/init
	chmod +x $dir/init
	for module in virtio_pci virtio_blk virtio_console virtio_rng ext4 \
		9pnet_virtio 9p; do
		modprobe -S "$kver" --show-depends $module
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' |
		while read -r path; do
			name=$(basename "$path" .xz)
			n=$((n + 1))
			case $path in
			*.xz) xz -dc "$path" ;;
			*) cat "$path" ;;
			esac >"$dir/modules/$kver/$n-$name"
		done
	(cd $dir && find . | cpio -o -H newc --quiet) >/mnt/out/initrd
	cp "/boot/vmlinuz-$kver" /mnt/out/vmlinuz
	cp "/boot/config-$kver" /mnt/out/config
	echo "$kver" >/mnt/out/kver
}

image() { # FOLDER: the disk image, with room to spare; the file is sparse
	local size

	size=$(du -sm "$1/root" | cut -f1)
	"${private[@]}" mke2fs -q -t ext4 -O ^has_journal -m 0 -L csig \
		-E lazy_itable_init=1,root_owner=0:0 \
		-d "$1/root" "$1/disk.img" $((size + 2048))M
}
