#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Frames that need no change leave as they came, and none is lost.
#
#   h1                  sw                  h2
#   v0 ------- port1 [br0] port2 ------- v1

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

untagged() {
	sed 's/$/ | same/' <<-'EOF'
	smallest | udp:0
	odd | udp:1
	padded | udp:3 pad:60
	largest | udp:1472
	TCP | tcp:536
	IPv6 | ip:fd00::1>fd00::2 udp:100
	IPv6 TCP | ip:fd00::1>fd00::2 tcp:1
	ARP | to:ffffffffffff type:0806 hex:0001080006040001020000000001 fill:14 pad:60
	MPLS | mpls:17
	VLAN | q:100/5 udp:77
	priority-tagged | q:0/1 udp:77
	QinQ | ad:5 q:6 udp:77
	0x9100 | old:100 udp:77
	four VLAN tags | ad:1 ad:2 q:3 q:4 udp:9
	five VLAN tags | ad:1 ad:2 q:3 q:4 q:5 udp:9
	CN-TAG | cn:7 udp:100
	VLAN and CN-TAG | q:5 cn:7 udp:100
	MACsec, cipher text like tags | hex:88e52c00000000019900fe00 fill:64
	LLC | llc:100
	PPPoE | type:8864 hex:110000010022002145 fill:33
	RoCE | type:8915 fill:88
	type only | type:88b6
	TPID in the payload | type:88b6 hex:9900fe000800ccdd0000
	TPID as IPv4 total length | type:0800 hex:45009900
	TPID as CN-TAG's flow | cn:0x9900 type:ccde fill:50
	near the compact TPID | type:9901 hex:fe000800 fill:46
	near the expanded TPID | type:ccdc hex:00000000 fill:46
	broadcast | to:ffffffffffff udp:32
	multicast | to:01005e000001 udp:32
	EOF
}

no_change() {
	sed 's/$/ | same/' <<-'EOF'
	better | c:0.1.99 udp:64
	zero | c:0.0.0 udp:64
	R set | c:0.2.1.1 udp:1000
	better, expanded | e:0.7.999 udp:65
	R octet | q:5 e:0.0.0xffff.0xff udp:65
	in a VLAN | q:100/7 c:0.1.99 udp:66
	in QinQ | ad:4 q:4 e:0.3.1 udp:67
	delay is larger | c:2.31.5 udp:68
	delay is larger, expanded | e:2.0xfffff.5 udp:68
	undefined | c:7.31.127.1 udp:69
	undefined, expanded | old:5 e:15.0xfffff.0xffff.0xff udp:69
	TCP | c:0.1.9 tcp:1400
	IPv6 | e:0.1.9 ip:fd00::1>fd00::2 udp:70
	MPLS | c:0.1.9 mpls:19
	ARP | c:0.1.9 type:0806 fill:28 pad:60
	short | e:0.1.9 udp:0
	CN-TAG | cn:1 c:0.1.9 udp:99
	two tags | c:0.31.0 e:0.0xfffff.0 udp:20
	cut | c:0.31.0 hex:08
	EOF
}

all_kinds() { # FROM
	local tagged=17 all

	mktransit
	all=$({ untagged; no_change; } | wc -l)
	{ untagged; no_change; } | if [ "$1" = sw/port2 ]; then grep -v largest; else cat; fi |
		cases "$1" h2/v1
	assert_eq updated 0 "$(port_stat sw port2 updated)"
	assert_eq stripped 0 "$(port_stat sw port2 stripped)"
	assert_eq tagged $tagged "$(port_stat sw port2 tagged)"
	assert_eq passed $tagged "$(port_stat sw port2 passed)"
	# "five VLAN tags" is malformed, too
	assert_eq malformed 3 "$(port_stat sw port2 malformed)"
	assert_eq "frames that were changed" 0 \
		$(($(port_stat sw port2 tagged) - $(port_stat sw port2 passed)))
	echo "$all kinds"
}

settings() {
	mktransit
	untagged >"$_csig_tmp/untagged"
	port_set sw port2 egress strip unknown strip
	cases h1/v0 h2/v1 <"$_csig_tmp/untagged"
	port_set sw port1 ingress drop
	cases h1/v0 h2/v1 <"$_csig_tmp/untagged"
	port_set sw port1 ingress strip
	cases h1/v0 h2/v1 <"$_csig_tmp/untagged"
	port_set sw port2 egress keep update off
	cases h1/v0 h2/v1 <"$_csig_tmp/untagged"
}

# Thousands of both kinds, and those that do change among them.
thousands() {
	mktransit
	ctl sw signal set 4 source abw aggregate min buckets 1000 base 0 step 8000000000000
	port_set sw port2 capacity 900tbit
	{ untagged; no_change; cat <<-'EOF'; } | burst 6000 h1/v0 h2/v1
	compact that changes | c:4.31.0 udp:100 | c:4.1.9 udp:100
	expanded that changes | q:7 e:4.0xfffff.0 udp:101 | q:7 e:4.112.9 udp:101
	EOF
	assert_eq "all frames" $((6000 - $(kinds_malformed) )) \
		$(($(port_stat sw port2 tagged) + $(port_stat sw port2 untagged)))
	assert_eq malformed "$(kinds_malformed)" "$(port_stat sw port2 malformed)"
}

# 50 kinds in turn, 3 of them malformed
kinds_malformed() {
	echo 360
}

# Both directions and both ports of a bridge under TCP: not one octet differs.
streams() {
	mktransit
	ip -n "$(ns h1)" link set dev v0 mtu 1500
	addr h1 v0 10.0.0.1/24
	addr h2 v1 10.0.0.2/24
	flow tcp h1 h2 10.0.0.2 --bytes 4000000
	flow tcp h2 h1 10.0.0.1 --bytes 4000000
	flow gso h1 h2 10.0.0.2 --count 300 --size 1400
	assert_eq tagged 0 "$(port_stat sw port2 tagged)"
	assert_eq malformed 0 "$(port_stat sw port2 malformed)"
	assert_ge untagged 100 "$(port_stat sw port2 untagged)"
}

ktap_plan 5
run_test all_kinds "every kind, VLAN tag in metadata" h1/v0
run_test all_kinds "every kind, all in the octets" sw/port2
run_test settings "untagged frames under every policy"
run_test thousands "none of thousands is lost or changed"
run_test streams "untagged TCP and UDP, merged and segmented"
