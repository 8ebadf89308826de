#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# in-root.sh ROOT [FROM:TO[:ro]]... -- COMMAND...: run COMMAND in a chroot in
# mount and process namespaces of its own; ROOT itself is read-only there.

. "$(dirname "$0")/common.sh"

if [ "${1:-}" != --inside ]; then
	trap - EXIT INT TERM HUP
	exec "${private[@]}" "$0" --inside "$@"
fi

root=$2
shift 2
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount -t tmpfs tmp "$root/tmp"
mount -t tmpfs run "$root/run"
while [ "$1" != -- ]; do
	IFS=: read -r from to mode <<<"$1"
	mount --bind "$from" "$root$to"
	[ "$mode" != ro ] || mount -o remount,bind,ro "$root$to"
	shift
done
shift
mount -o remount,bind,ro "$root"
trap - EXIT INT TERM HUP
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
	HOME=/root TERM="${TERM:-dumb}" LC_ALL=C.UTF-8 V="$V" \
	chroot "$root" "$@"
