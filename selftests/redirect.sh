#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Packets that filters redirect, between ingress and egress and through an ifb with a csig
# qdisc: none is damaged, none loses its tag.
#
#   h1                  sw                  h2
#   v0 ------- port1 [   ] port2 ------- v1         port1 ingress: to ifb7

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# What port1 gets goes through ifb7 first, a faster port than port2.
through_ifb() {
	ip -n "$(ns sw)" link add name ifb7 type ifb
	ip -n "$(ns sw)" link set dev ifb7 up
	port_add sw ifb7 capacity 550gbit estimator raw interval 10us
	tc -n "$(ns sw)" filter add dev port1 ingress pref 51000 protocol all matchall \
		action mirred egress redirect dev ifb7
}

ifb_to_bridge() {
	mktransit
	through_ifb
	{
		both_formats <<-'EOF'
		tagged | IN udp:40 | OUT udp:40
		802.1Q | q:100/3 IN | q:100/3 OUT
		QinQ | ad:100 q:200 IN | ad:100 q:200 OUT
		CN-TAG | cn:7 IN | cn:7 OUT
		any type | IN type:88b6 fill:77 | OUT type:88b6 fill:77
		EOF
		cat <<-'EOF'
		untagged | udp:100 | same
		untagged VLAN | q:5 udp:100 | same
		LLC | llc:60 | same
		two tags | c:0.31.0 c:1.31.0 udp:20 | same
		EOF
	} | cases h1/v0 h2/v1
	assert_ge "seen by the ifb" 10 "$(port_stat sw ifb7 tagged)"
	port_set sw ifb7 egress strip
	cases h1/v0 h2/v1 <<-'EOF'
	stripped at the ifb | c:0.31.0 udp:40 | udp:40
	stripped in a VLAN | q:9 e:0.1.0 udp:40 | q:9 udp:40
	EOF
}

ifb_to_router() {
	local v4="ip:10.0.1.1>10.0.2.1" v6="ip:fd00:1::1>fd00:2::1"

	mkns h1 h2
	mkns sw ipv6
	mkveth h1 v0 01 sw port1 11
	mkveth sw port2 12 h2 v1 02
	nsx sw sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	addr sw port1 10.0.1.254/24 fd00:1::fe/64
	addr sw port2 10.0.2.254/24 fd00:2::fe/64
	ip -n "$(ns sw)" neigh add 10.0.2.1 lladdr 02:00:00:00:00:02 dev port2
	ip -n "$(ns sw)" neigh add fd00:2::1 lladdr 02:00:00:00:00:02 dev port2
	lm_number sw
	port_add sw port1 ingress trust
	port_add sw port2 capacity 110gbit estimator raw interval 10us lm port=9,port16=9
	through_ifb
	both_formats <<-EOF | cases h1/v0 h2/v1 "--marker=to:11 $v4 udptext:@"
	IPv4 | to:11 IN $v4/64 udp:40 | from:12 OUT $v4/63 udp:40
	IPv6 | to:11 IN $v6/64 udp:40 | from:12 OUT $v6/63 udp:40
	untagged | to:11 $v4/64 udp:40 | from:12 $v4/63 udp:40
	EOF
	assert_eq "given back by the ifb" 0 "$(port_stat sw ifb7 carried)"
	assert_eq "given back by port2" 4 "$(port_stat sw port2 carried)"
}

# v0's egress hook sends to port1's ingress in the same namespace, where the tag goes.
egress_to_ingress() { # FORMAT
	mkns h1 h2
	ip -n "$(ns h1)" link add name v0 address 02:00:00:00:00:01 type dummy
	ip -n "$(ns h1)" link add name in0 type dummy
	ip -n "$(ns h1)" link set dev v0 up
	ip -n "$(ns h1)" link set dev in0 up
	mkveth h1 out0 12 h2 v1 02
	mkbridge h1 br0 "" in0 out0
	push_all h1 v0 format "$1" signal abw action mirred ingress redirect dev in0
	tc -n "$(ns h1)" qdisc add dev in0 clsact
	tc -n "$(ns h1)" filter add dev in0 ingress pref 1 protocol all matchall \
		action csig pop
	cases h1/v0 h2/v1 <<-'EOF'
	IPv4 | udp:100 | same
	IPv6 | ip:fd00::1>fd00::2 udp:100 | same
	any type | type:88b6 fill:77 | same
	EOF
}

ktap_plan 4
run_test ifb_to_bridge "ifb, then a bridge"
run_test ifb_to_router "ifb, then a router"
run_test egress_to_ingress "from an egress hook to an ingress hook, compact" compact
run_test egress_to_ingress "from an egress hook to an ingress hook, expanded" expanded
