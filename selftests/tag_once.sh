#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# One tag a frame where a packet passes several devices on which a host is enabled: bond
# and its links, VLAN device and its parent, bridge and its port.
#
#   h1 eth0, eth1 ====== eth0, eth1 h2

# shellcheck disable=SC2119 # settings may follow, or not

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"
. "$(dirname "$0")/hosts.sh"

links() { # two between h1 and h2
	mkns h1 h2
	mkveth h1 eth0 01 h2 eth0 02
	mkveth h1 eth1 03 h2 eth1 04
	H1_4=10.1.0.1 H2_4=10.1.0.2
}

bond() { # NS MODE ADDRESS
	local n

	n=$(ns "$1")
	ip -n "$n" link add name bond0 type bond mode "$2" miimon 100 xmit_hash_policy layer2 ||
		skip "no bonding in this kernel"
	for dev in eth0 eth1; do
		ip -n "$n" link set dev $dev down
		ip -n "$n" link set dev $dev master bond0
	done
	# both ends must choose the same link
	[ "$2" != active-backup ] ||
		ip -n "$n" link set dev bond0 type bond primary eth0
	ip -n "$n" link set dev bond0 up
	addr "$1" bond0 "$3/24"
}

enable() { # DEV...: on both hosts
	local n dev

	for n in h1 h2; do
		for dev in "$@"; do
			ctl $n host enable dev "$dev"
		done
	done
}

# A transfer, seen at h2's devices: one tag a frame, and all signals come back.  A bond
# takes one of its links for it.
once() { # DEV...: where the frames may be
	local dev

	for dev in "$@"; do
		wire_start "h2/$dev" --src "$H1_4"
		bulk "from=$(ns h1),to=$(ns h2),addr=$H2_4,size=16000,bytes=2000000"
		wire_stop
		[ "$(wire_get .out.data)" = 0 ] || break
	done
	wire_get '.out | "\(.data) data, \(.data_tagged) tagged, at most \(.tags_max) tags"'
	assert_eq intact true "$(bulk_get intact)"
	# a slow machine sends some again; those that do not fit would all be
	assert_le "retransmissions" $(($(wire_get .out.data) / 5)) \
		"$(bulk_get retransmissions)"
	assert_eq "most tags in a frame" 1 "$(wire_get .out.tags_max)"
	[ "$(wire_get '.in.reflections | length')" = 3 ] ||
		fail "not all signals came back: $(wire_get '.in.reflections | keys')"
}

bonded() { # MODE DEV...: where the host is enabled
	local mode=$1

	shift
	modprobe bonding max_bonds=0 2>/dev/null || skip "no bonding in this kernel"
	links
	bond h1 "$mode" "$H1_4"
	bond h2 "$mode" "$H2_4"
	wait_for 10 nsx h1 ping -q -c 1 -W 1 "$H2_4"
	enable "$@"
	once eth0 eth1
}

vlan_links() {
	local n

	links
	for n in h1 h2; do
		ip -n "$(ns $n)" link add link eth0 name eth0.10 type vlan id 10
		ip -n "$(ns $n)" link set dev eth0.10 up
		addr $n eth0.10 10.1.0.${n#h}/24
	done
	enable eth0 eth0.10
}

# A packet of UDP counts once, too: it would have no tag where every second one has.
vlan_udp() {
	local probe sent

	vlan_links
	reflect_start
	csigctl -n "$(ns h1)" -j probe "$H2_4" -c 1000 -i 20ms >"$_csig_tmp/probe" &
	probe=$!
	flow_wait 30 h1 '.[0].stats.packets >= 40'
	sent=$(nsx h1 cat /proc/net/snmp | awk '$1 == "Udp:" && ++n == 2 { print $5 }')
	kill -INT $probe
	wait $probe
	reflect_stop
	jq -c '.[0].stats | [.packets, .tagged]' "$_csig_tmp/flow"
	assert_le "packets of the socket" "$sent" "$(jq '.[0].stats.packets' "$_csig_tmp/flow")"
	jq -e '.[0].stats | .packets == .tagged' "$_csig_tmp/flow" >/dev/null ||
		fail "not all are tagged"
}

vlan_and_parent() {
	vlan_links
	once eth0
	# with the VLAN tag in the octets, too
	nsx h1 ethtool -K eth0 tx-vlan-hw-insert off >/dev/null
	once eth0
}

bridge_and_port() {
	links
	mkbridge h1 br0 "" eth0
	addr h1 br0 "$H1_4/24"
	addr h2 eth0 "$H2_4/24"
	ctl h1 host enable dev br0
	ctl h1 host enable dev eth0
	ctl h2 host enable dev eth0
	once eth0
}

# Enabled twice, with other settings the second time: still one tag.
enabled_twice() {
	links
	addr h1 eth0 "$H1_4/24"
	addr h2 eth0 "$H2_4/24"
	enable eth0
	enable eth0
	once eth0
}

ktap_plan 6
run_test bonded "active-backup bond" active-backup bond0
run_test bonded "balance-xor bond and its links" balance-xor bond0 eth0 eth1
run_test vlan_and_parent "VLAN device and its parent"
run_test vlan_udp "VLAN device and its parent, UDP"
run_test bridge_and_port "bridge and its port"
run_test enabled_twice "enabled twice"
