#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# csigctl reflect, sockets and kernel: what is no probe is not answered, bounds, probers
# do not see each other's signals, checksums, cleaning up.
#
#   h1 (v0) ---- (port1) sw (port2) ---- (v1) h2
#   10.0.0.1      220 Gbit/s 110 Gbit/s   10.0.0.2

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

responder=

hosts() { # [SETTING...]
	local n

	mktransit
	nsx h1 sysctl -qw net.ipv6.conf.v0.disable_ipv6=0
	nsx h2 sysctl -qw net.ipv6.conf.v1.disable_ipv6=0
	ip -n "$(ns h1)" link set dev v0 mtu 1500
	addr h1 v0 10.0.0.1/24 fd00::1/64
	addr h2 v1 10.0.0.2/24 fd00::2/64
	for n in h1 h2; do
		lm_number $n
	done
	ctl h1 host enable dev v0 "$@"
	ctl h2 host enable dev v1 "$@"
}

start() { # run|kernel [WORD...]
	local how=$1

	shift
	if [ "$how" = kernel ]; then
		ctl h2 reflect kernel dev v1 "$@"
		return
	fi
	csigctl -n "$(ns h2)" -j reflect "$@" >"$_csig_tmp/reflect" \
		2>"$_csig_tmp/reflect.err" &
	responder=$!
	wait_for 30 grep -q answering "$_csig_tmp/reflect.err" ||
		fail "$(cat "$_csig_tmp/reflect.err")"
}

stop() {
	kill -INT "$responder"
	wait "$responder" || fail "reflect: status $?"
}

hostile() { # run|kernel FEATURES
	hosts
	start "$1"
	# shellcheck disable=SC2086
	nsx h1 ethtool -K v0 $2 >/dev/null
	# shellcheck disable=SC2086
	nsx h2 ethtool -K v1 $2 >/dev/null
	py probes hostile --ns "$(ns h1)" --addr 10.0.0.2
	py probes hostile --ns "$(ns h1)" --addr fd00::2
	[ "$1" = kernel ] || stop
	nsx h1 cat /proc/net/snmp /proc/net/snmp6 >"$_csig_tmp/snmp"
	awk '/^Udp: [0-9]/ && $8 || /^Udp6InCsumErrors/ && $2 { exit 1 }' \
		"$_csig_tmp/snmp" || fail "wrong checksums"
}

flood() {
	local got

	got=$(py probes flood --ns "$(ns h1)" --addr 10.0.0.2 --count 500)
	echo "$got of 500 answered at 100 a second"
	assert_ge "answered" 5 "$got"
	assert_le "answered" 400 "$got"
}

bounds() {
	local pid

	hosts
	start run rate 100
	flood
	stop
	jq -e '.limited > 0 and .busy == 0 and .probers == 1 and
		.probes == .answers + .limited' "$_csig_tmp/reflect" ||
		fail "$(cat "$_csig_tmp/reflect")"
	# the only place is taken: told so, no signals
	start run peers 1
	csigctl -n "$(ns h1)" -j probe 10.0.0.2 signals pd >"$_csig_tmp/probe" &
	pid=$!
	wait_for 30 grep -q moved "$_csig_tmp/probe"
	ctl h1 -j probe 10.0.0.2 -c 1 -i 100ms signals abw >"$_csig_tmp/busy"
	jq -es 'last | .answered == 1 and (.notes[0] | test("too many"))' \
		"$_csig_tmp/busy" || fail "$(cat "$_csig_tmp/busy")"
	kill -INT $pid
	wait $pid
	stop
	jq -e '.busy == 1 and .probers == 1' "$_csig_tmp/reflect" ||
		fail "$(cat "$_csig_tmp/reflect")"
	start kernel rate 100
	flood
	ctl h2 -j reflect show | json '.[0] | .limited > 0 and .rate == 100'
}

# Ends by a signal, however many probes there are: more than it has time for.
ends_under_flood() {
	local i

	hosts
	start run rate 1000000
	renice -n 10 -p "$responder" >/dev/null
	for i in {1..3}; do
		py probes torrent --ns "$(ns h1)" --addr 10.0.0.2 >"$_csig_tmp/torrent$i" &
	done
	for i in {1..3}; do
		wait_for 60 [ -s "$_csig_tmp/torrent$i" ]
	done
	kill -TERM "$responder"
	wait_for 30 is_gone "$responder" || fail "SIGTERM did not end it"
	wait "$responder"
	jq -e '.probers > 0' "$_csig_tmp/reflect" || fail "$(cat "$_csig_tmp/reflect")"
}

is_gone() { # PID
	! kill -0 "$1" 2>/dev/null
}

# At the same time: each is told what came with its own probes.
apart() {
	local pids=() i

	hosts signals abw,abwc,pd
	start run
	for i in abw abwc pd; do
		csigctl -n "$(ns h1)" -j probe 10.0.0.2 -c 20 -i 50ms signals $i \
			>"$_csig_tmp/probe-$i" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || fail "probe: status $?"
	done
	for i in 0:abw 1:abwc 2:pd; do
		jq -es "last | .answered == 20 and
			([.places[] | select(.direction == \"forward\") | .t] | unique == [${i%:*}]) and
			([.places[] | select(.direction == \"reverse\") | .t] | unique == [${i%:*}])" \
			"$_csig_tmp/probe-${i#*:}" >/dev/null ||
			fail "$i: $(tail -n 1 "$_csig_tmp/probe-${i#*:}")"
	done
	stop
	jq -e '.probers == 3 and .answers == 60' "$_csig_tmp/reflect" ||
		fail "$(cat "$_csig_tmp/reflect")"
}

kernel_filters() {
	local before

	hosts
	ctl h2 host disable dev v1
	before=$(tc -n "$(ns h2)" filter show dev v1 ingress
		tc -n "$(ns h2)" filter show dev v1 egress)
	assert_refused 2 'host enable' ctl h2 reflect kernel dev v1
	assert_refused 2 'nope0' ctl h2 reflect kernel dev nope0
	assert_refused 1 'dev' ctl h2 reflect kernel
	assert_refused 1 'rate' ctl h2 reflect kernel dev v1 rate 0
	ctl h2 -j reflect show | json '. == []'
	ctl h2 host enable dev v1
	ctl h2 reflect kernel dev v1
	ctl h1 probe 10.0.0.2 -c 1 -i 100ms >/dev/null
	# again: other settings, the counters go on, one filter
	ctl h2 reflect kernel dev v1 port 7000 rate 50
	ctl h2 -j reflect show | json 'length == 1 and .[0].port == 7000 and
		.[0].rate == 50 and .[0].operational and .[0].answered == 3'
	assert_eq "filters" 2 "$(for i in ingress egress; do
		tc -n "$(ns h2)" -j filter show dev v1 $i
	done | jq -s 'flatten | map(select(.options.bpf_name? // "" | test("responder"))) | length')"
	ctl h1 probe 10.0.0.2 port 7000 -c 2 -i 100ms >/dev/null
	# other ports are for sockets
	assert_refused 2 'csigctl reflect' ctl h1 probe 10.0.0.2 -c 1 -i 100ms
	ctl h2 reflect del dev v1
	assert_refused 2 'not answer' ctl h2 reflect del dev v1
	assert_refused 2 'csigctl reflect' ctl h1 probe 10.0.0.2 port 7000 -c 1 -i 100ms
	# "host disable" leaves nothing behind
	ctl h2 reflect kernel dev v1
	ctl h2 host disable dev v1
	assert_eq "filters" "$before" "$(tc -n "$(ns h2)" filter show dev v1 ingress
		tc -n "$(ns h2)" filter show dev v1 egress)"
	ctl h2 -j reflect show | json '. == []'
}

# Both filters or none; those of others stay.
kernel_half() {
	local hook pref

	hosts
	for hook in ingress:50456 egress:50452; do
		pref=${hook#*:} hook=${hook%:*}
		ctl h2 reflect kernel dev v1
		tc -n "$(ns h2)" filter del dev v1 "$hook" pref "$pref"
		ctl h2 -j reflect show | json '.[0].operational == false'
		ctl h2 reflect kernel dev v1
		ctl h2 -j reflect show | json '.[0].operational'
		ctl h2 reflect del dev v1
		# the same priority and handle
		tc -n "$(ns h2)" filter add dev v1 "$hook" pref "$pref" handle 1 \
			protocol all bpf bytecode "1,6 0 0 0," action ok
		assert_refused 2 'priority' ctl h2 reflect kernel dev v1
		ctl h2 -j reflect show | json '. == []'
		assert_refused 2 'not answer' ctl h2 reflect del dev v1
		tc -n "$(ns h2)" filter show dev v1 "$hook" pref "$pref" | grep -q bytecode
		tc -n "$(ns h2)" filter del dev v1 "$hook" pref "$pref"
		# other kinds
		tc -n "$(ns h2)" filter add dev v1 "$hook" pref "$pref" matchall action ok
		assert_refused 2 'priority' ctl h2 reflect kernel dev v1
		tc -n "$(ns h2)" filter del dev v1 "$hook" pref "$pref"
	done
}

# A command that is told to end while it waits for its turn
told_to_end() { # COMMAND...
	local lock pid

	exec {lock}</sys/fs/bpf/csig
	flock "$lock"
	csigctl -n "$(ns h2)" "$@" &
	pid=$!
	wait_for 30 grep -q -e '-> FLOCK' /proc/locks
	kill -TERM $pid
	flock -u "$lock"
	exec {lock}<&-
	! wait $pid || fail "it was not told to end"
}

# It does what it was asked to do, and ends then: no half of it.
kernel_signal() {
	hosts
	told_to_end reflect kernel dev v1
	ctl h2 -j reflect show | json 'length == 1 and .[0].operational'
	told_to_end reflect del dev v1
	ctl h2 -j reflect show | json '. == []'
}

# Entries go with "host disable" of their device, and some time after the device.
kernel_entries() {
	local index

	hosts
	mkveth h2 v2 22 sw port3 13
	ctl h2 host enable dev v2
	ctl h2 reflect kernel dev v1
	ctl h2 reflect kernel dev v2
	ctl h2 host disable dev v1
	ctl h2 -j reflect show | json 'length == 1 and .[0].ifname == "v2"'
	ctl h2 host enable dev v1
	index=$(ip -n "$(ns h2)" -j link show dev v2 | jq '.[0].ifindex')
	ip -n "$(ns h2)" link del dev v2
	ctl h2 reflect kernel dev v1
	ip -n "$(ns h2)" link add name v3 index "$index" type veth peer name v4
	ctl h2 -j reflect show | json 'length == 1 and .[0].ifname == "v1"'
}

# Super-packets hold many probes and have one header: they are for the stack.
kernel_gso() {
	hosts
	start run
	start kernel
	py probes gso --ns "$(ns h1)" --addr 10.0.0.2 --count 4
	py probes gso --ns "$(ns h1)" --addr fd00::2 --count 4
	ctl h2 -j reflect show | json '.[0].answered == 0 and .[0].failed == 0'
	stop
	jq -e '.probes == 8 and .answers == 8' "$_csig_tmp/reflect" ||
		fail "$(cat "$_csig_tmp/reflect")"
}

# An ordinary host, which forwards nothing: all its addresses, and no other.
kernel_host() {
	local dst

	hosts
	ip -n "$(ns h2)" link set dev lo up
	nsx h2 sysctl -qw net.ipv6.conf.lo.disable_ipv6=0
	addr h2 lo 10.0.9.1/32 fd00:9::1/128
	ip -n "$(ns h1)" route add 10.0.9.0/24 via 10.0.0.2
	ip -n "$(ns h1)" route add fd00:9::/64 via fd00::2
	start kernel
	for dst in 10.0.0.2 fd00::2 10.0.9.1 fd00:9::1; do
		ctl h1 probe $dst -c 1 -i 100ms >/dev/null
	done
	ctl h2 -j reflect show | json '.[0].answered == 12'
	for dst in 10.0.9.2 fd00:9::2; do
		assert_refused 2 'csigctl reflect' ctl h1 probe $dst -c 1 -i 100ms
	done
	ctl h2 -j reflect show | json '.[0].answered == 12'
}

# A router answers only for itself.
kernel_router() {
	mkns h1 r h2
	mkveth h1 v0 01 r port1 11
	mkveth r port2 12 h2 v1 02
	addr h1 v0 10.0.1.1/24
	addr r port1 10.0.1.254/24
	addr r port2 10.0.2.254/24
	addr h2 v1 10.0.2.1/24
	ip -n "$(ns h1)" route add default via 10.0.1.254
	ip -n "$(ns h2)" route add default via 10.0.2.254
	nsx r sysctl -qw net.ipv4.ip_forward=1
	ctl h1 host enable dev v0
	ctl r host enable dev port1
	ctl r reflect kernel dev port1
	ctl h1 probe 10.0.1.254 -c 1 -i 100ms >/dev/null
	ctl h1 probe 10.0.2.254 -c 1 -i 100ms >/dev/null
	ctl r -j reflect show | json '.[0].answered == 6 and .[0].tagged == 6'
	assert_refused 2 'csigctl reflect' ctl h1 probe 10.0.2.1 -c 1 -i 100ms
	ctl r -j reflect show | json '.[0].answered == 6'
	# nor where it knows no way to
	assert_refused 2 '' ctl h1 probe 10.0.9.9 -c 1 -i 100ms
	ctl r -j reflect show | json '.[0].answered == 6'
}

ktap_plan 13
run_test hostile "sockets: what is no probe is not answered" run "tx on rx on"
run_test hostile "kernel: the same, checksums left to the device" kernel "tx on rx on"
run_test hostile "kernel: the same, checksums in software" kernel "tx off rx off"
run_test bounds "rate and number of probers are bounded"
run_test ends_under_flood "sockets: a signal ends it under a flood of probes"
run_test apart "probers do not see each other's signals"
run_test kernel_filters "kernel: filters come and go, settings change"
run_test kernel_half "kernel: both filters count, others' are left alone"
run_test kernel_signal "kernel: signals wait until all is done"
run_test kernel_entries "kernel: entries of devices that are gone or disabled go, too"
run_test kernel_gso "kernel: super-packets are left to the stack"
run_test kernel_host "kernel: a host that does not forward answers for its own addresses only"
run_test kernel_router "kernel: a router answers for its own addresses only"
