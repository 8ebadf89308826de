#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Boot the machine once and run a command in it. Exit status: the command's;
# 124 time is over, 125 the machine failed, 126 the kernel log has complaints.

. "$(dirname "$0")/common.sh"

usage() {
	cat >&2 <<-EOF
	usage: boot.sh [--tty] [--share DIR] [--out DIR] [--run DIR]
	               [--cpus N] [--timeout SECONDS] [COMMAND]
	EOF
	exit 1
}

tty='' share='' out='' run='' timeout=1800
cpus=2
[ "$KERNEL" != debug ] || cpus=4
while [ $# -gt 0 ]; do
	case $1 in
	--tty) tty=1 ;;
	--share) share=$2 && shift ;;
	--out) out=$2 && shift ;;
	--run) run=$2 && shift ;;
	--cpus) cpus=$2 && shift ;;
	--timeout) timeout=$2 && shift ;;
	--*) usage ;;
	*) break ;;
	esac
	shift
done

root=$(root_path "$root_kind")
kernel=$(kernel_path)

# What belongs to this run: command, logs, status. The last 20 are kept.
if [ -z "$run" ]; then
	run=$work/runs/$(date +%Y%m%d-%H%M%S)-$$
	mkdir -p "$work/runs"
	find "$work/runs" -mindepth 1 -maxdepth 1 | sort -r | tail -n +20 |
		xargs -r -d '\n' rm -rf
fi
rm -rf "$run"
mkdir -p "$run/out"
out=${out:-$run/out}
printf '%s' "${*:-}" >"$run/cmd"
# Variables for the tests pass through to the machine.
{
	for name in $(compgen -e); do
		case $name in
		CSIG_CACHE | CSIG_MIRROR | CSIG_ACCEL) ;;
		CSIG_*) printf 'export %s=%q\n' "$name" "${!name}" ;;
		esac
	done
} >"$run/env"

boot_timeout=300
[ "$KERNEL" != debug ] || boot_timeout=900

mount9p() { # TAG DIR [ro]
	args+=(-fsdev "local,id=$1,path=$2,security_model=none,multidevs=remap${3:+,readonly=on}"
		-device "virtio-9p-pci,fsdev=$1,mount_tag=$1")
}

accel=$("$vm_dir/accel.sh")
# norandmaps: QEMU keeps translated code by its address; with random ones every process
# start translates the C library again, four times the work.
append="console=ttyS0 loglevel=5 panic=-1 oops=panic mitigations=off nokaslr
	log_buf_len=16M random.trust_cpu=on tsc=reliable net.ifnames=0
	rcupdate.rcu_expedited=1 rcupdate.rcu_cpu_stall_timeout=120
	watchdog_thresh=60 init_on_alloc=0 norandmaps"
[ "$KERNEL" != debug ] || append+=" panic_on_warn=1 kmemleak=on"
args=(-nodefaults -no-user-config -display none -vga none -no-reboot
	-machine q35 -accel "$accel" -cpu max -smp "$cpus" -m 4G
	-kernel "$kernel/vmlinuz" -initrd "$root/initrd"
	-append "$(tr -s '\n\t ' ' ' <<<"$append")"
	-drive "file=$root/disk.img,format=raw,if=virtio,snapshot=on"
	-device virtio-rng-pci
	-chardev "file,id=console,path=$run/console.log"
	-serial chardev:console
	-device virtio-serial-pci)
# Two adapters that segment and sum themselves, wired to each other
for n in 0 1; do
	args+=(-netdev "hubport,id=hw$n,hubid=0"
		-device "e1000e,netdev=hw$n,mac=02:00:00:00:01:0$n,romfile=")
done
mount9p project "$work/src" ro
mount9p stage "$work/stage" ro
mount9p run "$run"
mount9p out "$out"
if [ -n "$share" ]; then
	[ -d "$share" ] || die "SHARE=$share: no such folder"
	mount9p share "$(cd "$share" && pwd)" ro
	: >"$run/share"
fi

args+=(-pidfile "$run/qemu.pid")
qemu=(timeout --foreground -k 5 "$timeout" qemu-system-x86_64 "${args[@]}")

# A machine that has not reached its init by now never will.
watchdog() {
	# not sleep(1), which would survive this function
	read -r -t "${CSIG_BOOT_TIMEOUT:-$boot_timeout}" <>"$run/never" || true
	[ ! -e "$run/up" ] || return 0
	: >"$run/stuck"
	kill "$(cat "$run/qemu.pid")"
}
mkfifo "$run/never"
watchdog >/dev/null 2>&1 &
children+=("$!")

echo $$ >"$run/boot.pid"
on_exit "rm -f '$run/boot.pid'"
code=0
if [ -n "$tty" ]; then
	read -r rows cols < <(stty size 2>/dev/null || echo 24 80)
	echo "$rows $cols ${TERM:-vt100}" >"$run/tty"
	"${qemu[@]}" -chardev stdio,id=tty,signal=off \
		-device virtconsole,chardev=tty 2>"$run/qemu.log" || code=$?
	stty sane 2>/dev/null || true
else
	# In the background, so that a signal ends them at once. The output
	# is a pipe also where ours is a file: QEMU would truncate that.
	mkfifo "$run/fifo"
	tee "$run/output.log" <"$run/fifo" &
	tee=$!
	"${qemu[@]}" -chardev file,id=out,path=/dev/stdout \
		-device virtserialport,chardev=out,name=out \
		</dev/null >"$run/fifo" 2>"$run/qemu.log" &
	pid=$!
	children+=("$pid")
	wait "$pid" || code=$?
	wait "$tee" || true
fi
reap

console_tail() {
	tail -n "${1:-30}" "$run/console.log" 2>/dev/null | tr -d '\r' >&2
}

if [ "$code" = 124 ]; then
	console_tail
	say "stopped after $timeout seconds; logs: $run"
	exit 124
elif [ ! -s "$run/status" ]; then
	cat "$run/qemu.log" >&2 || true
	console_tail 60
	[ ! -e "$run/stuck" ] || say "the machine did not come up"
	say "the machine failed (qemu: $code); logs: $run"
	# Nothing but the kernel's own code patching has an int3. With several
	# CPUs QEMU's TCG now and then runs the breakpoint after it is gone.
	! grep -q 'Oops: int3:' "$run/console.log" || exit 123
	exit 125
fi
status=$(cat "$run/status")

"$vm_dir/kmsg-check.sh" "$run/dmesg" >"$run/complaints" || true
[ ! -s "$run/kmemleak" ] || cat "$run/kmemleak" >>"$run/complaints"
if [ -s "$run/complaints" ]; then
	cat "$run/complaints" >&2
	say "the kernel log has complaints; logs: $run"
	[ "$status" != 0 ] || status=126
elif [ "$status" != 0 ] && [ -z "$tty" ]; then
	say "exit status $status; logs: $run"
fi
exit "$status"
