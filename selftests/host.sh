#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# csigctl host: enable, show, disable; what it finds it leaves, what it put it takes.
#
#   h1           h2
#   eth0 ------ eth0
#   10.1.0.1    10.1.0.2

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=traffic.sh
. "$(dirname "$0")/traffic.sh"

PINS=/sys/fs/bpf/csig
LISTEN=10
ESTABLISHED=1
# Callback flags: what a connection has, what a listener has, somebody else's
WRITE=64
ALL=$((64 | 32 | 1))
OTHER=2

two_hosts() {
	mkns h1 h2
	mkveth h1 eth0 01 h2 eth0 02
	addr h1 eth0 10.1.0.1/24
	addr h2 eth0 10.1.0.2/24
}

# Everything of tc and csig on a device, without what counts
state() { # NS DEV
	tc -n "$(ns "$1")" qdisc show dev "$2" | sed 's/ refcnt [0-9]*//'
	tc -n "$(ns "$1")" filter show dev "$2" ingress
	tc -n "$(ns "$1")" filter show dev "$2" egress
	ctl "$1" -j port show | jq -c '.[] | [.ifname, .ingress]'
}

pins() { # how many sets there are
	if [ -d $PINS ]; then
		find $PINS -mindepth 1 -maxdepth 1 | wc -l
	else
		echo 0
	fi
}

links() { # sockops programs of ours that are attached
	bpftool -j link show | jq '[.[] | select(.cgroup_id != 0 and
		(.attach_type == "cgroup_sock_ops" or .attach_type == "sock_ops"))] | length'
}

flow_12() { # of traffic.py
	echo "kind=tcp,from=$(ns h1),to=$(ns h2),addr=10.1.0.2,size=1000,rate=500k"
}

host_is() { # NS EXPRESSION
	ctl "$1" -j host show | json "$2"
}

enable_disable() {
	local before

	two_hosts
	before=$(state h1 eth0)
	ctl h1 host show | grep -q 'no host is enabled'
	host_is h1 '.enabled == false and .devices == []'
	ctl h1 host enable dev eth0
	host_is h1 '.enabled and (.devices | length) == 1 and
		(.devices[0] | .ifname == "eth0" and .format == "compact" and .every == 1 and
		 .own_port and (.signals | sort) == ["abw", "abwc", "pd"]) and
		.reflect == "latest" and .kind == 254 and .cgroup != null and
		.stats.asked == 0 and .stats.no_storage == 0'
	ctl h1 host show | grep -q 'dev eth0: signals abw,abwc,pd format compact every 1'
	assert_eq "ingress of the port" trust "$(port_get h1 eth0 ingress)"
	tc -n "$(ns h1)" filter show dev eth0 ingress | grep -q 'pref 50455 matchall'
	tc -n "$(ns h1)" filter show dev eth0 egress | grep -q 'pref 50453 matchall'
	assert_eq "sets" 1 "$(pins)"
	ctl h1 host disable dev eth0
	assert_eq "after disable" "$before" "$(state h1 eth0)"
	assert_eq "sets" 0 "$(pins)"
	assert_eq "links" 0 "$(links)"
	assert_refused 2 'no host is enabled' ctl h1 host disable dev eth0
}

twice() {
	local first

	two_hosts
	ctl h1 host enable dev eth0 every 3 signals pd
	first=$(state h1 eth0)
	ctl h1 host enable dev eth0
	assert_eq "a second enable" "$first" "$(state h1 eth0)"
	host_is h1 '.devices[0] | .every == 3 and .signals == ["pd"]'
	ctl h1 host enable dev eth0 format expanded reflect summary signals abw,2
	host_is h1 '.reflect == "summary" and
		(.devices[0] | .every == 3 and .format == "expanded" and .signals == ["abw", "pd"])'
	assert_refused 2 'kind is 254' ctl h1 host enable dev eth0 kind 253
	assert_eq "links" 1 "$(links)"
	ctl h1 host disable dev eth0
}

port_stays() {
	local before

	two_hosts
	port_add h1 eth0 capacity 1gbit ingress strip
	before=$(state h1 eth0)
	assert_refused 2 'port set dev eth0 ingress trust' ctl h1 host enable dev eth0
	assert_eq "after a refusal" "$before" "$(state h1 eth0)"
	port_set h1 eth0 ingress trust
	before=$(state h1 eth0)
	ctl h1 host enable dev eth0
	host_is h1 '.devices[0].own_port == false'
	assert_refused 2 'host disable dev eth0' ctl h1 port del dev eth0
	ctl h1 host disable dev eth0
	assert_eq "after disable" "$before" "$(state h1 eth0)"
	ctl h1 port del dev eth0
}

words() {
	two_hosts
	assert_refused 1 'is unknown' ctl h1 host enable dev eth0 format large
	assert_refused 1 'every "0"' ctl h1 host enable dev eth0 every 0
	assert_refused 1 'every "65536"' ctl h1 host enable dev eth0 every 65536
	assert_refused 1 'kind "8"' ctl h1 host enable dev eth0 kind 8
	assert_refused 1 'signal "x"' ctl h1 host enable dev eth0 signals x
	assert_refused 1 'signals "abw,"' ctl h1 host enable dev eth0 signals abw,
	assert_refused 1 'dev.* is missing' ctl h1 host enable
	assert_refused 1 'given twice' ctl h1 host enable dev eth0 every 1 every 2
	assert_refused 2 'not defined' ctl h1 host enable dev eth0 signals 5
	assert_refused 2 'does not exist' ctl h1 host enable dev eth7
	assert_refused 2 'not an Ethernet device' ctl h1 host enable dev lo
	assert_refused 2 'cgroup none-such' ctl h1 host enable dev eth0 cgroup none-such
	ctl h1 host help | grep -q 'host enable dev'
	assert_eq "sets" 0 "$(pins)"
}

# Whatever is refused late leaves nothing behind.
rollback() {
	local before n

	two_hosts
	n=$(ns h1)
	tc -n "$n" qdisc add dev eth0 clsact
	tc -n "$n" filter add dev eth0 egress pref 50453 matchall action ok
	before=$(state h1 eth0)
	assert_refused 2 'pref 50453' ctl h1 host enable dev eth0
	assert_eq "priority taken" "$before" "$(state h1 eth0)"
	tc -n "$n" qdisc del dev eth0 clsact
	tc -n "$n" qdisc add dev eth0 root tbf rate 1gbit burst 10k latency 1ms
	before=$(state h1 eth0)
	assert_refused 2 'not a default one' ctl h1 host enable dev eth0
	assert_eq "root taken" "$before" "$(state h1 eth0)"
	tc -n "$n" qdisc del dev eth0 root
	tc -n "$n" qdisc add dev eth0 ingress
	before=$(state h1 eth0)
	assert_refused 2 'ingress qdisc' ctl h1 host enable dev eth0
	assert_eq "ingress qdisc" "$before" "$(state h1 eth0)"
	tc -n "$n" qdisc del dev eth0 ingress
	# a program that wants to be alone
	other_load
	mkdir "$CGROUP/alone"
	bpftool cgroup attach "$CGROUP/alone" sock_ops pinned "$BPFFS/other"
	before=$(state h1 eth0)
	assert_refused 2 'allows no other' ctl h1 host enable dev eth0 \
		cgroup "$CGROUP/alone"
	assert_eq "cgroup refused" "$before" "$(state h1 eth0)"
	assert_eq "sets" 0 "$(pins)"
}

two_devices() {
	two_hosts
	mkveth h1 eth1 03 h2 eth1 04
	ctl h1 host enable dev eth0 every 2
	ctl h1 host enable dev eth1 format expanded
	host_is h1 '(.devices | length) == 2 and
		([.devices[] | select(.ifname == "eth0") | .every == 2 and .format == "compact"] | all) and
		([.devices[] | select(.ifname == "eth1") | .every == 1 and .format == "expanded"] | all)'
	assert_eq "links" 1 "$(links)"
	ctl h1 host disable dev eth0
	assert_eq "links" 1 "$(links)"
	host_is h1 '.enabled and (.devices | length) == 1'
	ctl h1 host enable dev eth0
	ip -n "$(ns h1)" link del dev eth1
	host_is h1 '(.devices | length) == 1'
	ctl h1 host disable dev eth0
	assert_eq "sets" 0 "$(pins)"
}

# Devices that are deleted while they are enabled take no places, as many as they are.
dead_devices() {
	local map

	two_hosts
	mkveth h1 eth1 03 h2 eth1 04
	ctl h1 host enable dev eth0
	map=$(find $PINS -name csig_devices)
	fill "$map" 1023
	ctl h1 host enable dev eth1
	assert_eq "places after enable" 2 "$(places "$map")"
	fill "$map" 1022
	ctl h1 host disable dev eth0
	assert_eq "places after disable" 1 "$(places "$map")"
	ctl h1 host disable dev eth1
	assert_eq "sets" 0 "$(pins)"
}

fill() { # MAP NUMBER: devices with indexes that none has
	local i

	for ((i = 0; i < $2; i++)); do
		printf 'map update pinned %s key %d %d 1 1 value 1 0 1 0 0 0 0 0\n' \
			"$1" $((i & 255)) $((i >> 8))
	done >"$_csig_tmp/batch"
	bpftool batch file "$_csig_tmp/batch" >/dev/null
}

places() { # MAP
	bpftool -j map dump pinned "$1" | jq length
}

# Who waits for another csigctl can be interrupted.
waiting() {
	local pid

	two_hosts
	ctl h1 host enable dev eth0
	exec {lock}<$PINS
	at_leave unlock
	flock "$lock"
	csigctl -n "$(ns h1)" host disable dev eth0 {lock}<&- &
	pid=$!
	wait_for 10 waits_for_lock $pid || fail "it does not wait"
	kill $pid
	wait_for 10 has_ended $pid || fail "it can't be interrupted"
	unlock
	at_leave :
	host_is h1 .enabled
	ctl h1 host disable dev eth0
}

lock=

unlock() {
	exec {lock}<&-
}

waits_for_lock() { # PID
	grep -q -- "-> FLOCK.* $1 " /proc/locks
}

has_ended() { # PID of a child
	! grep -q '^State:[[:space:]]*[^Z]' "/proc/$1/status" 2>/dev/null
}

# Signals that the domain does not have are missed only where they are asked for.
no_default() {
	two_hosts
	ctl h1 signal del 2
	assert_refused 2 'source pd' ctl h1 host enable dev eth0
	ctl h1 host enable dev eth0 signals abw
	ctl h1 host enable dev eth0 every 10
	host_is h1 '.devices[0] | .every == 10 and .signals == ["abw"]'
	assert_refused 2 'source pd' ctl h1 host enable dev eth0 signals pd
	ctl h1 host disable dev eth0
}

# Hosts of two namespaces; one that goes while it is enabled is swept by the next.
namespaces() {
	two_hosts
	# a device of h2 that stays when h1 goes
	mkns h3
	mkveth h2 eth1 05 h3 eth0 06
	assert_refused 2 'csigctl -n NETNS' nsx h1 csigctl host enable dev eth0
	ctl h1 host enable dev eth0
	ctl h2 host enable dev eth1 reflect summary kind 253
	host_is h1 '.reflect == "latest" and .kind == 254'
	host_is h2 '.reflect == "summary" and .kind == 253'
	assert_eq "sets" 2 "$(pins)"
	rmmod csig 2>/dev/null && fail "the module went while hosts were enabled"
	ip netns del "$(ns h1)"
	wait_for 10 only_one_left || fail "the set of a dead namespace stays"
	ctl h2 host disable dev eth1
	assert_eq "sets" 0 "$(pins)"
}

only_one_left() { # filters go with the namespace, a little later
	ctl h2 host enable dev eth1
	[ "$(pins)" = 1 ]
}

# The device goes while it is enabled: sockets are cleaned up by the next command.
device_gone() {
	two_hosts
	mkveth h1 eth1 03 h2 eth1 04
	ctl h1 host enable dev eth1
	ip -n "$(ns h1)" link del dev eth1
	wait_for 10 nothing_enabled || fail "a host without a device"
	assert_refused 2 'no host is enabled' ctl h1 host disable dev eth0
	assert_eq "sets" 0 "$(pins)"
}

nothing_enabled() {
	[ "$(ctl h1 -j host show | jq .enabled)" = false ]
}

others_filters() {
	local n f

	two_hosts
	n=$(ns h1)
	tc -n "$n" qdisc add dev eth0 clsact
	for f in ingress egress; do
		tc -n "$n" filter add dev eth0 $f pref 10 protocol ip matchall action ok
		tc -n "$n" filter add dev eth0 $f pref 60000 protocol ip matchall action ok
	done
	ctl h1 host enable dev eth0
	ctl h1 host disable dev eth0
	for f in ingress egress; do
		assert_eq "filters at $f" 2 "$(tc -n "$n" filter show dev eth0 $f |
			grep -c 'handle 0x')"
	done
	tc -n "$n" qdisc show dev eth0 | grep -q clsact
}

# --- sockets ------------------------------------------------------------------------

CGROUP=
BPFFS=

other_load() {
	[ -z "$BPFFS" ] || return 0
	# the first host made sure that bpffs is there
	BPFFS=/sys/fs/bpf/csig-test-$BASHPID
	at_leave other_unload
	mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf
	CGROUP=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/csig-test-$BASHPID
	mkdir "$CGROUP"
	bpftool prog loadall "$OBJECT" "$BPFFS"
}

other_unload() {
	local pid

	rm -rf "$BPFFS"
	while read -r pid; do
		echo "$pid" >"${CGROUP%/*}/cgroup.procs"
	done <"$CGROUP/cgroup.procs"
	rmdir "$CGROUP"/*/ "$CGROUP" 2>/dev/null
}

compile() {
	OBJECT=$_csig_tmp/sockops.o
	clang -target bpf -O2 -g -idirafter "/usr/include/$(uname -m)-linux-gnu" \
		-c "$CSIG_LIB_DIR/sockops.bpf.c" -o "$OBJECT" || exit 1
}

# Flags of all sockets of a namespace in a state, sorted; of listeners with TCP_SAVE_SYN,
# which connections inherit
flags() { # NS STATE
	rm -f "$BPFFS/iter"
	bpftool iter pin "$OBJECT" "$BPFFS/iter"
	nsenter --net="/run/netns/$(ns "$1")" cat "$BPFFS/iter" |
		awk -v s="$2" -v l=$LISTEN '$1 == s { print $4 (s == l ? " " $5 : "") }' |
		sort -u
}

flags_become() { # NS STATE FLAGS
	wait_for 10 _flags_are "$@" || assert_eq "flags in $1" "$3" "$(flags "$1" "$2")"
}

_flags_are() {
	[ "$(flags "$1" "$2")" = "$3" ]
}

# Sockets get our flags and lose them again, while data flows.
live_sockets() {
	two_hosts
	other_load
	ctl h1 host enable dev eth0
	ctl h2 host enable dev eth0
	nsx h2 socat -u TCP-LISTEN:7777,fork /dev/null &
	pace_start "$(flow_12)"
	flags_become h1 $ESTABLISHED $ALL
	flags_become h2 $ESTABLISHED $ALL
	flags_become h2 $LISTEN "$WRITE 1"
	host_is h1 '.stats.asked == 1 and .stats.negotiated == 1'
	ctl h1 host disable dev eth0
	ctl h2 host disable dev eth0
	flags_become h1 $ESTABLISHED 0
	flags_become h2 $ESTABLISHED 0
	assert_eq "listener" "0 0" "$(flags h2 $LISTEN)"
	pace_stop
	assert_ge "packets" 10 "$(sent packets)"
}

# The device goes while it is enabled, and a command in another namespace is first:
# sockets that live on are cleaned up by the next one in theirs.
swept() {
	local n

	two_hosts
	other_load
	mkveth h1 eth1 03 h2 eth1 04
	# no function: $! is to be its process
	ip netns exec "$(ns h1)" socat -u TCP-LISTEN:7777,fork /dev/null &
	n=$!
	flags_become h1 $LISTEN "0 0"
	ctl h1 host enable dev eth1
	assert_eq "listener" "$WRITE 1" "$(flags h1 $LISTEN)"
	ip -n "$(ns h1)" link del dev eth1
	wait_for 10 nothing_enabled || fail "a host without a device"
	ctl h2 host enable dev eth0
	assert_eq "links" 1 "$(links)"
	assert_eq "sets" 2 "$(pins)"
	ctl h1 host enable dev eth0
	assert_eq "listener again" "$WRITE 1" "$(flags h1 $LISTEN)"
	ctl h1 host disable dev eth0
	assert_eq "listener at the end" "0 0" "$(flags h1 $LISTEN)"
	# without sockets any command takes the set away
	ctl h1 host enable dev eth0
	ip -n "$(ns h1)" link del dev eth0
	wait_for 10 nothing_enabled || fail "a host without a device"
	kill $n
	wait $n || true
	mkveth h2 eth2 05 h1 eth2 06
	wait_for 10 only_h2 || fail "a set without sockets stays"
	ctl h2 host disable dev eth2
	assert_eq "sets at the end" 0 "$(pins)"
}

only_h2() {
	ctl h2 host enable dev eth2
	[ "$(pins)" = 1 ]
}

# A listener that is there before takes part, a connection does not.
earlier_sockets() {
	two_hosts
	other_load
	nsx h2 socat -u TCP-LISTEN:7777,fork /dev/null &
	pace_start "$(flow_12)"
	flags_become h1 $ESTABLISHED 0
	flags_become h2 $LISTEN "0 0"
	ctl h1 host enable dev eth0
	ctl h2 host enable dev eth0
	assert_eq "connection" 0 "$(flags h1 $ESTABLISHED)"
	assert_eq "listener" "$WRITE 1" "$(flags h2 $LISTEN)"
	host_is h1 '.stats.earlier == 1'
	host_is h2 '.stats.earlier == 1'
	pace_stop
	ctl h1 host disable dev eth0
	ctl h2 host disable dev eth0
}

# Another sockops program in the same cgroup, attached before: both work, its flags stay.
others_flags() {
	two_hosts
	other_load
	bpftool cgroup attach "$CGROUP" sock_ops pinned "$BPFFS/other" multi
	ctl h1 host enable dev eth0 cgroup "$CGROUP"
	ctl h2 host enable dev eth0 cgroup "$CGROUP"
	echo 0 >"$CGROUP/cgroup.procs"	# this shell, and what it starts
	pace_start "$(flow_12)"
	flags_become h1 $ESTABLISHED $((ALL | OTHER))
	flags_become h2 $ESTABLISHED $((ALL | OTHER))
	host_is h1 '.stats.negotiated == 1'
	ctl h1 host disable dev eth0
	ctl h2 host disable dev eth0
	flags_become h1 $ESTABLISHED $OTHER
	flags_become h2 $ESTABLISHED $OTHER
	assert_eq "other program" 1 "$(bpftool -j cgroup show "$CGROUP" |
		jq '[.[] | select(.name == "other")] | length')"
	pace_stop
}

ktap_plan 16
need nsenter socat clang bpftool
compile
run_test enable_disable "enable makes a port and filters, disable takes them again"
run_test twice "enable again changes what is given, and only that"
run_test port_stays "a port that was there stays, strip is refused, port del as well"
run_test words "wrong words, signals, devices and cgroups are refused"
run_test rollback "a late refusal leaves nothing behind"
run_test two_devices "two devices share one set, the last one takes it away"
run_test dead_devices "devices that are gone take no places"
run_test waiting "who waits for another csigctl can be interrupted"
run_test no_default "default signals are missed only when they are needed"
run_test namespaces "two namespaces have a set each, a dead one is swept"
run_test device_gone "a set whose device is gone is taken away"
run_test others_filters "filters of others and their clsact stay"
run_test live_sockets "sockets get callback flags, disable takes them back under load"
run_test swept "sockets of a set that another namespace finds dead are cleaned up by their own"
run_test earlier_sockets "earlier listeners take part, earlier connections are counted"
run_test others_flags "another sockops program and its flags survive"
