# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
# Sourced by the scripts of this folder: where things are, progress lines,
# and the cache of roots and kernels that all checkouts share.

set -euo pipefail
unset MAKEFLAGS MAKELEVEL MFLAGS # of the make that called

vm_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$vm_dir/../.." && pwd)

KERNEL=${KERNEL:-stable}
case $KERNEL in
stable | newest | debug) ;;
dev) ;; # the developers' tools; internal
*)
	echo "KERNEL=$KERNEL: must be stable, newest or debug" >&2
	exit 1
	;;
esac

cache=${CSIG_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/csig}
# The debug kernel borrows the user space of the stable one.
root_kind=${KERNEL/debug/stable}
work=$top/build/vm/$KERNEL
mkdir -p "$work"

V=${V:-}

say() { # TEXT: one progress line
	printf '%s\n' "$*" >&2
}

die() { # TEXT
	say "error: $*"
	exit 1
}

packages() { # LIST...: the names in those package lists
	local list

	for list in "$@"; do
		grep -v '^#' "$vm_dir/packages/$list"
	done
}

hash_of() { # short hash of standard input
	sha256sum | cut -c1-12
}

root_path() { # KIND: the folder of that root in the cache
	local lists=(root)

	[ "$1" != dev ] || lists=(root dev)
	{
		packages "${lists[@]}"
		cat "$vm_dir/rootfs-recipe.sh" "$vm_dir/initrd-init"
	} | hash_of | sed "s|^|$cache/$1-|"
}

kernel_path() { # the folder with vmlinuz and kver of the selected kernel
	if [ "$KERNEL" = debug ]; then
		cat "$vm_dir/packages/dev" "$vm_dir/debug.config" \
			"$vm_dir/debug-kernel.sh" | hash_of |
			sed "s|^|$cache/debug-|"
	else
		root_path "$KERNEL"
	fi
}

linux_source_path() { # scripts and generators from Debian's linux-source
	(root_path dev && cat "$vm_dir/linux-source.sh") | hash_of |
		sed "s|^|$cache/source-|"
}

# Running as root, a mount namespace of its own is enough for the chroot;
# other users need a user namespace with their subordinate ids around it.
if [ "$(id -u)" = 0 ]; then
	private=(unshare --mount --pid --mount-proc --fork --kill-child)
else
	private=(unshare --map-root-user --map-auto --mount --pid --mount-proc
		--fork --kill-child)
fi

children=()

reap() { # stop what step() started, and what those started
	local pid

	for pid in ${children[@]+"${children[@]}"}; do
		kill -TERM "$pid" 2>/dev/null || continue
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			kill -0 "$pid" 2>/dev/null || continue 2
			sleep 0.1
		done
		kill -KILL "$pid" 2>/dev/null || true
	done
	children=()
}

on_exit() { # COMMAND: run at exit, however the script ends
	# shellcheck disable=SC2064
	trap "status=\$?; trap - EXIT INT TERM HUP; reap; $1; exit \$status" EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
}
on_exit :

step() { # LOG TEXT COMMAND...: run it with a line of progress and a log
	local log=$1 text=$2 start=$SECONDS pid next=15 status=0 every=15

	shift 2
	mkdir -p "$(dirname "$log")"
	say "  $text ..."
	# A terminal gets a clock, a log a line now and then.
	[ ! -t 2 ] || [ -n "$V" ] || every=1 next=1
	if [ -n "$V" ]; then
		"$@" </dev/null > >(tee "$log" >&2) 2>&1 &
	else
		"$@" </dev/null >"$log" 2>&1 &
	fi
	pid=$!
	children+=("$pid")
	while kill -0 "$pid" 2>/dev/null; do
		if [ $((SECONDS - start)) -ge $next ]; then
			[ $every != 1 ] || printf '\033[A\033[K' >&2
			say "  $text ... $((SECONDS - start)) s"
			next=$((SECONDS - start + every))
		fi
		sleep 0.2
	done
	wait "$pid" || status=$?
	children=("${children[@]/$pid/}")
	children=(${children[@]:+"${children[@]}"})
	if [ $status != 0 ]; then
		tail -n 40 "$log" >&2
		say "failed after $((SECONDS - start)) s (status $status): $text"
		say "the whole log: $log"
		return $status
	fi
	[ $every != 1 ] || printf '\033[A\033[K' >&2
	say "  $text: $((SECONDS - start)) s"
}

# cached FOLDER COMMAND...: make FOLDER once. COMMAND gets a scratch folder
# that becomes FOLDER only when it succeeded; other checkouts wait meanwhile.
cached() {
	local folder=$1 tmp

	shift
	[ ! -d "$folder" ] || return 0
	mkdir -p "$cache"
	exec 9>"$folder.lock"
	flock -n 9 || {
		say "  waiting for another build of $(basename "$folder")"
		flock 9
	}
	if [ ! -d "$folder" ]; then
		# nobody else holds the lock: what lies there was interrupted
		rm_tree "$folder".tmp.*
		tmp=$folder.tmp.$$
		on_exit "rm_tree '$tmp'"
		mkdir "$tmp"
		"$@" "$tmp" 9>&-
		mv "$tmp" "$folder"
		on_exit :
	fi
	exec 9>&-
}

rm_tree() { # FOLDER...: also with the owners that a user namespace made
	local folder

	for folder in "$@"; do
		[ -e "$folder" ] || continue
		"${private[@]}" rm -rf --one-file-system "$folder"
	done
}
