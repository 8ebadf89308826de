#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Frames as long as the device takes: a tag that does not fit is left out and counted,
# the packet arrives anyway.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"

pair() { # MTU
	mkns a b
	mkveth a eth0 01 b eth0 02 mtu "$1"
	addr a eth0 10.0.0.1/24
	addr b eth0 10.0.0.2/24
	neigh eth0 10.0.0
	port_add a eth0 capacity 100mbit
	clsact a eth0
	clsact b eth0
	tc -n "$(ns b)" filter add dev eth0 ingress pref 1 protocol all matchall \
		action csig pop
}

# Nothing but the pings is to be counted.
neigh() { # DEV NET
	ip -n "$(ns a)" neigh add "$2.2" lladdr 02:00:00:00:00:02 dev "$1" nud permanent
	ip -n "$(ns b)" neigh add "$2.1" lladdr 02:00:00:00:00:01 dev "$1" nud permanent
}

push() { # DEV FORMAT
	tc -n "$(ns a)" filter del dev "$1" egress
	tc -n "$(ns a)" filter add dev "$1" egress pref 1 protocol all matchall \
		action csig push format "$2" signal abw
}

# Pings that must not be fragmented, payload for an IP packet of SIZE octets
ping_of() { # SIZE ADDRESS
	nsx a ping -q -n -c 3 -i 0.01 -W 5 -M "do" -s $(($1 - 28)) "$2" >"$_csig_tmp/ping" ||
		fail "DF packets of $1 octets are lost: $(cat "$_csig_tmp/ping")"
}

# What of 3 packets was tagged, and what was skipped
counts() { # COMMAND...
	local before now tagged skipped key='stats | "\(.tagged) \(.skipped_mtu)"'

	before=$(port_get a eth0 "$key")
	"$@"
	now=$(port_get a eth0 "$key")
	tagged=$((${now% *} - ${before% *}))
	skipped=$((${now#* } - ${before#* }))
	echo "$tagged tagged, $skipped skipped"
	[ $((tagged + skipped)) -ge 3 ] || fail "$*: packets are missing in the counts"
	[ $tagged = 0 ] || [ $skipped = 0 ] ||
		fail "$*: equal packets, different treatment"
}

# mtu + Ethernet header + 4 is the limit: 4 octets fit, 8 do not.
full_frames() {
	pair 1500
	push eth0 compact
	assert_eq "compact, 1500" "3 tagged, 0 skipped" "$(counts ping_of 1500 10.0.0.2)"
	push eth0 expanded
	assert_eq "expanded, 1496" "3 tagged, 0 skipped" "$(counts ping_of 1496 10.0.0.2)"
	assert_eq "expanded, 1497" "0 tagged, 3 skipped" "$(counts ping_of 1497 10.0.0.2)"
	assert_eq "expanded, 1500" "0 tagged, 3 skipped" "$(counts ping_of 1500 10.0.0.2)"
}

# VLAN devices: the tag of the VLAN is part of the frame.
vlans() {
	local fmt n=0

	pair 1500
	for n in a b; do
		ip -n "$(ns $n)" link add link eth0 name vlan10 type vlan id 10
		ip -n "$(ns $n)" link add link vlan10 name vlan20 type vlan id 20
		ip -n "$(ns $n)" link set dev vlan10 up
		ip -n "$(ns $n)" link set dev vlan20 up
	done
	addr a vlan10 10.1.0.1/24
	addr b vlan10 10.1.0.2/24
	addr a vlan20 10.2.0.1/24
	addr b vlan20 10.2.0.2/24
	neigh vlan10 10.1.0
	neigh vlan20 10.2.0
	# untagged first: what the devices take without a CSIG tag
	ping_of 1500 10.1.0.2
	ping_of 1496 10.2.0.2
	for fmt in compact expanded; do
		push eth0 $fmt
		# either is right, a lost packet is not
		counts ping_of 1500 10.1.0.2
		counts ping_of 1496 10.2.0.2
		assert_eq "$fmt, one VLAN, 1400" "3 tagged, 0 skipped" \
			"$(counts ping_of 1400 10.1.0.2)"
		assert_eq "$fmt, two VLANs, 1400" "3 tagged, 0 skipped" \
			"$(counts ping_of 1400 10.2.0.2)"
	done
}

# A TCP transfer sees nothing of it: MSS for 1500 octets, an expanded tag.
tcp() {
	pair 1500
	push eth0 expanded
	bulk "from=$(ns a),to=$(ns b),addr=10.0.0.2,size=65536,bytes=2000000"
	assert_eq "intact" true "$(bulk_get intact)"
	assert_ge "skipped" 1 "$(port_stat a eth0 skipped_mtu)"
}

other_mtu() { # MTU
	pair "$1"
	push eth0 compact
	assert_eq "compact" "3 tagged, 0 skipped" "$(counts ping_of "$1" 10.0.0.2)"
	push eth0 expanded
	assert_eq "expanded" "0 tagged, 3 skipped" "$(counts ping_of "$1" 10.0.0.2)"
}

# A routed transit device with an expanded tag towards a port whose MTU is just enough
# for the packet: the tag goes, the packet does not.
routed() {
	mkns a r b
	mkveth a eth0 01 r in0 11 mtu 9000
	mkveth r out0 12 b eth0 02 mtu 1500
	addr a eth0 10.0.0.1/24
	addr r in0 10.0.0.254/24
	addr r out0 10.1.0.254/24
	addr b eth0 10.1.0.2/24
	ip -n "$(ns a)" route add default via 10.0.0.254
	ip -n "$(ns b)" route add default via 10.1.0.254
	nsx r sysctl -qw net.ipv4.ip_forward=1
	port_add r in0 ingress trust
	port_add r out0 capacity 100mbit ingress trust
	clsact a eth0
	push eth0 expanded
	clsact b eth0
	tc -n "$(ns b)" filter add dev eth0 ingress matchall action csig pop
	ping_of 1400 10.1.0.2
	assert_ge "carried" 3 "$(port_stat r out0 carried)"
	ping_of 1500 10.1.0.2
	assert_ge "skipped" 3 "$(port_stat r out0 skipped_mtu)"
}

ktap_plan 7
run_test full_frames "DF packets of 1500 octets: 4 octets fit, 8 are left out"
run_test vlans "one and two VLAN devices"
run_test tcp "a TCP transfer of full segments"
run_test other_mtu "MTU 68" 68
run_test other_mtu "MTU 576" 576
run_test other_mtu "MTU 9000" 9000
run_test routed "a carried tag that does not fit the egress port"
