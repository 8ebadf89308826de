#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Compile the project in the Debian root for the selected kernel: the sources
# go to build/vm/KERNEL/src, what `make install` writes to .../stage.

# With --sync-only do not compile.

. "$(dirname "$0")/common.sh"

"$vm_dir/rootfs.sh" "$root_kind"
[ "$KERNEL" != debug ] || "$vm_dir/debug-kernel.sh"
root=$(root_path "$root_kind")
kernel=$(kernel_path)

mkdir -p "$work"
exec 8>"$work/lock"
flock 8

# Another root or kernel: start over.
if [ "$(cat "$work/made-for" 2>/dev/null)" != "$root $kernel" ]; then
	rm_tree "$work/src" "$work/stage"
	rm -f "$work/built" "$work/files"
	echo "$root $kernel" >"$work/made-for"
fi
mkdir -p "$work/src" "$work/stage"

sources() { # tracked and new files, none that is ignored
	cd "$top"
	if [ -e .git ]; then
		git -c safe.directory='*' ls-files -coz --exclude-standard
	else
		find . -path ./build -prune -o -type f -printf '%P\0'
	fi | while IFS= read -r -d '' file; do
		[ ! -e "$file" ] && [ ! -L "$file" ] || printf '%s\n' "$file"
	done | sort -u
}

binds=("$top:/mnt/top:ro" "$work:/mnt/out" "$work/src:/csig"
	"$work/stage:/stage")
[ "$KERNEL" != debug ] || binds+=("$kernel/build:/kernel:ro")

# Copied where the content differs, with the time of now: make sees it.
sync_in_root() {
	rsync -rlpc --from0 --files-from=<(tr '\n' '\0' </mnt/out/files.new) \
		--out-format=%n /mnt/top/ /csig/
}

sources >"$work/files.new"
changed=$("$vm_dir/in-root.sh" "$root/root" "${binds[@]}" -- \
	bash -euc "$(declare -f sync_in_root); sync_in_root" 8>&-)
if [ -f "$work/files" ]; then
	gone=$(comm -23 "$work/files" "$work/files.new")
	if [ -n "$gone" ]; then
		(cd "$work/src" && xargs -d '\n' rm -f <<<"$gone")
		changed+=$'\n'$gone
	fi
fi
mv "$work/files.new" "$work/files"
# The tests are scripts: nothing to compile for them, but for the module of one.
! grep -qvE '^(selftests/|$)' <<<"$changed" &&
	! grep -qE '^selftests/dcbqcn/' <<<"$changed" && [ -f "$work/built" ] && exit 0
rm -f "$work/built"
[ "${1:-}" != --sync-only ] || exit 0
kver=$(cat "$kernel/kver")

# The modules.* files of the root list what else the kernel can load; the
# staged copy of them must list ours as well.
build_in_root() {
	local kdir=$1 kver=$2 jobs lib

	jobs=$(nproc)
	make -C /csig -j"$jobs" modules tools KDIR="$kdir"
	make -C /csig/selftests/dcbqcn KDIR="$kdir"
	find /stage -mindepth 1 -delete
	make -C /csig install KDIR="$kdir" DESTDIR=/stage PREFIX=/usr \
		INSTALL_MOD_PATH=/stage/usr CONFIG_MODULE_COMPRESS_XZ=
	lib=/stage/usr/lib/modules/$kver
	mkdir -p "$lib/kernel"
	if [ -d "/lib/modules/$kver" ]; then
		cp "/lib/modules/$kver"/modules.{order,builtin,builtin.modinfo} \
			"$lib/"
		mount --bind "/lib/modules/$kver/kernel" "$lib/kernel"
		depmod -b /stage/usr "$kver"
		umount "$lib/kernel"
	else
		cp "$kdir"/modules.{order,builtin,builtin.modinfo} "$lib/"
		depmod -b /stage/usr "$kver"
	fi
	rmdir "$lib/kernel"
}

kdir=/lib/modules/$kver/build
[ "$KERNEL" != debug ] || kdir=/kernel

step "$work/build.log" "Compiling for $kver" "$vm_dir/in-root.sh" "$root/root" \
	"${binds[@]}" -- bash -euc \
	"$(declare -f build_in_root); build_in_root $kdir $kver" 8>&-
touch "$work/built"
