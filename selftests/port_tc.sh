#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What "csigctl port add" and "del" do to a device's qdiscs and filters: only a
# default root goes, others' things stay, del puts back what was there, a failure
# undoes everything.
# Needs two CPUs.
#
#   h1                  sw                  h2
#   v0 ------- port1 [br0] port2 ------- v1

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# What tc has on a device, without what counts and what the kernel numbers itself
look() { # NS DEV
	local where

	tc -n "$1-$$" qdisc show dev "$2" | sed 's/ refcnt [0-9]*//'
	for where in ingress egress; do
		tc -n "$1-$$" filter show dev "$2" "$where" 2>/dev/null |
			sed 's/index [0-9]*//'
	done
}

# qdiscs of a kind
kinds() { # NS DEV KIND
	tc -n "$1-$$" -j qdisc show dev "$2" |
		jq "map(select(.kind == \"$3\")) | length"
}

our_filters() { # NS DEV WHERE
	tc -n "$1-$$" -j filter show dev "$2" "$3" |
		jq 'map(select(.pref == 50454 and .options.handle)) | length'
}

# add and del, and everything is as before
there_and_back() { # NS DEV [SETTING...]
	local before ports

	before=$(look "$1" "$2")
	ports=$(ctl "$1" -j domain show | jq .ports)
	port_add "$@"
	[ "$(look "$1" "$2")" != "$before" ] || fail "$2: add did nothing"
	csigctl -n "$1-$$" port del dev "$2"
	assert_eq "$2 after del" "$before" "$(look "$1" "$2")"
	assert_eq "ports" "$ports" "$(ctl "$1" -j domain show | jq .ports)"
}

noqueue() {
	mkns sw h2
	mkveth sw port1 01 h2 v1 02
	there_and_back sw port1 capacity 10mbit
	port_add sw port1
	assert_eq "csig" 1 "$(kinds sw port1 csig)"
	assert_eq "operational" "true qdisc" \
		"$(port_get sw port1 'operational') $(port_get sw port1 measured_by)"
	# Down and never up
	ip -n "sw-$$" link add name port3 type dummy
	there_and_back sw port3 capacity 10mbit
}

# ifb and tap have a queue, and so a real default qdisc.
default_qdisc() {
	local kind child

	mkns sw
	ip -n "sw-$$" link add name ifb7 type ifb
	ip -n "sw-$$" link set dev ifb7 up
	kind=$(tc -n "sw-$$" -j qdisc show dev ifb7 | jq -r '.[0].kind')
	case $kind in
	fq_codel | pfifo_fast) ;;
	*) skip "the default qdisc is $kind" ;;
	esac
	there_and_back sw ifb7
	port_add sw ifb7
	child=$(tc -n "sw-$$" -j qdisc show dev ifb7 |
		jq -r '.[] | select(.parent == "c519:1") | .kind')
	assert_eq "child" "$kind" "$child"
	tc -n "sw-$$" qdisc replace dev ifb7 parent c519:1 tbf rate 1mbit \
		burst 10k limit 10k
	ctl sw port del dev ifb7
	assert_eq "root" "$kind" \
		"$(tc -n "sw-$$" -j qdisc show dev ifb7 | jq -r '.[0].kind')"
}

multi_queue() {
	mkns sw h2
	mkveth sw port1 01 h2 v1 02 numtxqueues 4 numrxqueues 4
	there_and_back sw port1 capacity 10mbit
	port_add sw port1 capacity 10mbit
	assert_eq "mq" 1 "$(kinds sw port1 mq)"
	assert_eq "csig" 4 "$(kinds sw port1 csig)"
	assert_eq "qdiscs" 4 "$(port_get sw port1 qdiscs)"
	ctl sw port del dev port1
	# A default mq with default qdiscs below
	ip -n "sw-$$" link add name ifb7 numtxqueues 4 numrxqueues 4 type ifb
	ip -n "sw-$$" link set dev ifb7 up
	assert_eq "default" "mq 0:" "$(tc -n "sw-$$" -j qdisc show dev ifb7 |
		jq -r '.[0] | "\(.kind) \(.handle)"')"
	there_and_back sw ifb7
	port_add sw ifb7
	assert_eq "csig" 4 "$(kinds sw ifb7 csig)"
	# Doctor knows when a queue is not measured.
	tc -n "sw-$$" qdisc del dev ifb7 parent c519:2
	ctl sw -j doctor | jq -e 'any(.[]; .dev == "ifb7" and
		(.message | test("3 of 4")))' >/dev/null ||
		fail "doctor: $(ctl sw doctor)"
	ctl sw port del dev ifb7
	assert_eq "csig" 0 "$(kinds sw ifb7 csig)"
}

others_root() {
	local before cmd

	mkns sw h2
	mkveth sw port1 01 h2 v1 02
	tc -n "sw-$$" qdisc add dev port1 root handle 1: htb default 10
	tc -n "sw-$$" class add dev port1 parent 1: classid 1:10 htb rate 10mbit
	before=$(look sw port1)
	assert_refused 2 'htb 1:.*tc qdisc replace dev port1 root handle c519: csig' \
		port_add sw port1
	assert_eq "after the refusal" "$before" "$(look sw port1)"
	assert_eq "ports" "[]" "$(ctl sw -j port show)"
	there_and_back sw port1 capacity 10mbit qdisc keep
	# The command that the message tells makes a port, add makes it whole.
	cmd=$(port_add sw port1 2>&1 | grep -o 'tc qdisc replace[^,]*')
	nsx sw sh -c "$cmd"
	port_add sw port1 ingress trust
	assert_eq "csig" 1 "$(kinds sw port1 csig)"
	assert_eq "filters" 1 "$(our_filters sw port1 ingress)"
	tc -n "sw-$$" qdisc add dev port1 parent c519:1 handle 1: htb
	ctl sw port del dev port1
	assert_eq "root" noqueue \
		"$(tc -n "sw-$$" -j qdisc show dev port1 | jq -r '.[0].kind')"
	# mq of somebody else
	ip -n "sw-$$" link add name ifb7 numtxqueues 2 numrxqueues 2 type ifb
	tc -n "sw-$$" qdisc add dev ifb7 root handle 5: mq
	before=$(look sw ifb7)
	assert_refused 2 'mq 5:.*parent 5:N csig' port_add sw ifb7
	assert_eq "after the refusal" "$before" "$(look sw ifb7)"
	# csig of somebody else: taken as it is, and not taken away
	tc -n "sw-$$" qdisc replace dev ifb7 parent 5:1 handle 7: csig
	tc -n "sw-$$" qdisc replace dev ifb7 parent 5:2 handle 8: csig
	port_add sw ifb7 capacity 10mbit
	assert_eq "csig" 2 "$(kinds sw ifb7 csig)"
	assert_refused 2 'csig [78]:.*tc qdisc del dev ifb7 parent 5:[12]' \
		ctl sw port del dev ifb7
	assert_eq "filter stays" 1 "$(our_filters sw ifb7 ingress)"
	tc -n "sw-$$" qdisc del dev ifb7 root
	ctl sw port del dev ifb7
	assert_eq "ports" "[]" "$(ctl sw -j port show)"
	assert_eq "clsact" 0 "$(kinds sw ifb7 clsact)"
}

others_filters() {
	local qdisc before

	mkns sw h2
	mkveth sw port1 01 h2 v1 02
	for qdisc in clsact ingress; do
		tc -n "sw-$$" qdisc add dev port1 $qdisc
		tc -n "sw-$$" filter add dev port1 ingress prio 10 protocol ip \
			flower ip_proto icmp action pass
		tc -n "sw-$$" filter add dev port1 ingress prio 60000 protocol all \
			matchall action pass
		[ $qdisc = ingress ] || tc -n "sw-$$" filter add dev port1 egress \
			prio 1 protocol ip matchall action pass
		there_and_back sw port1 capacity 10mbit
		[ $qdisc = ingress ] ||
			there_and_back sw port1 capacity 10mbit qdisc keep
		tc -n "sw-$$" qdisc del dev port1 $qdisc
	done
	# An empty clsact of somebody else stays, too.
	tc -n "sw-$$" qdisc add dev port1 clsact
	there_and_back sw port1 capacity 10mbit
	tc -n "sw-$$" qdisc del dev port1 clsact
	# Ours stays while a filter of somebody is in it.
	port_add sw port1 capacity 10mbit
	tc -n "sw-$$" filter add dev port1 egress prio 1 protocol ip matchall \
		action pass
	ctl sw port del dev port1
	assert_eq "clsact" 1 "$(kinds sw port1 clsact)"
	assert_eq "ours" 0 "$(our_filters sw port1 ingress)"
	assert_eq "theirs" 1 "$(tc -n "sw-$$" -j filter show dev port1 egress |
		jq 'map(select(.options.handle)) | length')"
	tc -n "sw-$$" qdisc del dev port1 clsact
	# Without room for the egress filter
	tc -n "sw-$$" qdisc add dev port1 ingress
	before=$(look sw port1)
	assert_refused 2 'ingress qdisc' port_add sw port1 qdisc keep
	assert_eq "after the refusal" "$before" "$(look sw port1)"
}

# Filters behind ours still see the packets.
filters_go_on() {
	mktransit
	tc -n "sw-$$" filter add dev port1 ingress prio 60000 protocol all \
		matchall action pass
	cases h1/v0 h2/v1 <<-'EOF'
	tagged | c:0.31.0 | c:0.24.9
	EOF
	assert_ge "packets" 2 "$(tc -n "sw-$$" -s -j filter show dev port1 ingress |
		jq '[.[] | select(.pref == 60000) | .options.actions[]?.stats.packets] | add')"
}

twice() {
	local before

	mktransit
	before=$(look sw port2)
	assert_refused 2 'already' port_add sw port2 capacity 5mbit
	assert_eq "tc" "$before" "$(look sw port2)"
	assert_eq "capacity" 110000000000 "$(port_get sw port2 capacity_bps)"
	assert_eq "filters" 1 "$(our_filters sw port2 ingress)"
	tc -n "h1-$$" qdisc add dev v0 clsact
	port_add h1 v0 capacity 1gbit
	assert_refused 2 'already' port_add h1 v0 capacity 1gbit
	tc -n "h1-$$" filter add dev v0 egress matchall action csig push \
		signal abw
	cases h1/v0 h2/v1 <<-'EOF'
	exactly one tag | udp:100 | c:0.5.0 udp:100
	EOF
}

failure_undoes() {
	local before

	mkns sw h2
	mkveth sw port1 01 h2 v1 02
	# Somebody has our priority for another kind of filter.
	tc -n "sw-$$" qdisc add dev port1 clsact
	tc -n "sw-$$" filter add dev port1 ingress prio 50454 protocol ip flower \
		action pass
	before=$(look sw port1)
	assert_refused 2 'port1' port_add sw port1 capacity 10mbit
	assert_eq "after the failure" "$before" "$(look sw port1)"
	assert_eq "ports" "[]" "$(ctl sw -j port show)"
	tc -n "sw-$$" qdisc del dev port1 clsact
	tc -n "sw-$$" qdisc add dev port1 clsact
	tc -n "sw-$$" filter add dev port1 egress prio 50454 protocol ip flower \
		action pass
	before=$(look sw port1)
	assert_refused 2 'port1' port_add sw port1 capacity 10mbit qdisc keep
	assert_eq "after the failure" "$before" "$(look sw port1)"
	assert_eq "ports" "[]" "$(ctl sw -j port show)"
	tc -n "sw-$$" qdisc del dev port1 clsact
	# A word of the configuration that the kernel refuses
	before=$(look sw port1)
	assert_refused 2 'nowhere' port_add sw port1 lm nowhere=1
	assert_eq "after the refusal" "$before" "$(look sw port1)"
}

partly_gone() {
	local before

	mkns sw h2
	mkveth sw port1 01 h2 v1 02
	before=$(look sw port1)
	port_add sw port1
	tc -n "sw-$$" qdisc del dev port1 root
	ctl sw port del dev port1
	assert_eq "without the qdisc" "$before" "$(look sw port1)"
	port_add sw port1
	tc -n "sw-$$" qdisc del dev port1 clsact
	ctl sw port del dev port1
	assert_eq "without the clsact" "$before" "$(look sw port1)"
	port_add sw port1
	tc -n "sw-$$" qdisc del dev port1 clsact
	tc -n "sw-$$" qdisc del dev port1 root
	ctl sw port del dev port1
	assert_eq "without both" "$before" "$(look sw port1)"
	# The port is gone, its filter is not: a csig qdisc of ours goes with both.
	port_add sw port1 qdisc keep capacity 10mbit
	assert_eq "keep" "true filter" \
		"$(port_get sw port1 'operational') $(port_get sw port1 measured_by)"
	tc -n "sw-$$" filter del dev port1 egress
	assert_eq "without the filter" false "$(port_get sw port1 operational)"
	ctl sw port del dev port1
	assert_eq "keep" "$before" "$(look sw port1)"
	assert_refused 2 'no port' ctl sw port del dev port1
	port_add sw port1
	ip -n "sw-$$" link del dev port1
	assert_eq "ports" "[]" "$(ctl sw -j port show)"
}

# Nothing is changed where a filter of somebody else is in the place of ours.
priority_taken() {
	local hook before n

	mkns sw
	n=$(ns sw)
	ip -n "$n" link add name ifb7 type ifb
	ip -n "$n" link set dev ifb7 up
	tc -n "$n" qdisc add dev ifb7 root handle 7: csig
	for hook in ingress egress; do
		tc -n "$n" qdisc add dev ifb7 clsact
		tc -n "$n" filter add dev ifb7 $hook pref 50454 protocol ip flower \
			action pass
		before=$(look sw ifb7; ctl sw -j port show | jq 'map(del(.stats))')
		assert_refused 2 "ifb7: another filter .*tc filter del dev ifb7 $hook" \
			port_add sw ifb7 egress strip qdisc keep
		assert_eq "after the refusal" "$before" \
			"$(look sw ifb7; ctl sw -j port show | jq 'map(del(.stats))')"
		tc -n "$n" qdisc del dev ifb7 clsact
		# without a csig qdisc of its own the egress filter is needed
		tc -n "$n" qdisc del dev ifb7 root 2>/dev/null || true
	done
}

not_ethernet() {
	local dev before

	mkns sw
	modprobe -q tun || true
	ip -n "sw-$$" tuntap add dev tun7 mode tun 2>/dev/null || true
	ip -n "sw-$$" link add name ipip7 type ipip local 192.0.2.1 \
		remote 192.0.2.2 2>/dev/null || true
	ip -n "sw-$$" link add name wg7 type wireguard 2>/dev/null || true
	for dev in lo tun7 ipip7 wg7; do
		ip -n "sw-$$" link show dev $dev >/dev/null 2>&1 || continue
		before=$(look sw $dev)
		assert_refused 2 "$dev: not an Ethernet device" port_add sw $dev
		assert_eq "$dev" "$before" "$(look sw $dev)"
	done
	nsx sw ping -q -c 1 -W 2 127.0.0.1
}

# add and del under traffic lose no frame that went before or after
under_traffic() {
	mkns h1 sw h2
	mkveth h1 v0 01 sw port1 11
	mkveth sw port2 12 h2 v1 02
	mkbridge sw br0 "" port1 port2
	addr h1 v0 192.0.2.1/24
	addr h2 v1 192.0.2.2/24
	nsx h1 ping -q -f -c 2000 -w 60 192.0.2.2 >"$_csig_tmp/ping" &
	for _ in 1 2 3; do
		port_add sw port1 ingress trust capacity 10gbit
		port_add sw port2 ingress trust capacity 10gbit
		ctl sw port del dev port2
		ctl sw port del dev port1
	done
	wait $! || fail "$(cat "$_csig_tmp/ping")"
	assert_eq "ports" "[]" "$(ctl sw -j port show)"
	nsx h1 ping -q -c 3 -i 0.05 192.0.2.2
}

ktap_plan 12
run_test noqueue "devices without a queue"
run_test default_qdisc "a default qdisc becomes the child and comes back"
run_test multi_queue "one csig for each transmit queue"
run_test others_root "a root qdisc of somebody else stays"
run_test others_filters "clsact, ingress and filters of others stay"
run_test filters_go_on "filters behind ours still see packets"
run_test twice "add twice is refused, one tag on the wire"
run_test failure_undoes "a failure undoes everything"
run_test partly_gone "del cleans up what is left"
run_test priority_taken "a filter with our priority is in the way"
run_test not_ethernet "devices that are not Ethernet are refused"
run_test under_traffic "add and del under traffic"
