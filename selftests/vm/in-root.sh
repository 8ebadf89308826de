#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# in-root.sh ROOT [FROM:TO[:ro]]... -- COMMAND...: run COMMAND in a chroot in
# mount and process namespaces of its own, in /csig; ROOT is read-only there.

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
vars=()
for name in $(compgen -e | grep -E '^CSIG_' || true); do
	vars+=("$name=${!name}")
done
exec env -i "${vars[@]}" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
	HOME=/root TERM="${TERM:-dumb}" LC_ALL=C.UTF-8 V="$V" \
	GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*' \
	chroot "$root" env -C /csig "$@"
