#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Ingress policy of a port: strip (the default), trust, drop; checksums after a pop.
#
#   h1                  sw                  h2           h1 ----- vxlan0 ----- h2
#   v0 ------- port1 [br0] port2 ------- v1              v0 [tags]   [strip] v1
#            the policy

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

frames_in() {
	both_formats <<-'EOF'
	no VLAN | IN | STRIPPED
	802.1Q | q:100/3 IN | q:100/3 STRIPPED
	QinQ | ad:100 q:200 IN | ad:100 q:200 STRIPPED
	0x9100 | old:100 IN | old:100 STRIPPED
	four VLAN tags | ad:1 ad:2 q:3 q:4 IN | ad:1 ad:2 q:3 q:4 STRIPPED
	CN-TAG | cn:7 IN | cn:7 STRIPPED
	short, padded again | IN udp:10 pad:60 | STRIPPED udp:10 pad:60
	EOF
}

others() {
	cat <<-'EOF'
	untagged | udp:100 | same
	untagged in a VLAN | q:5 udp:100 | same
	two tags | c:0.31.0 c:1.31.0 | same
	both formats | c:0.31.0 e:1.31.0 | same
	VLAN tag after it | e:0.31.0 q:5 | same
	cut | hex:ccdd000000 | same
	EOF
}

# The policy of port1; port2 keeps and does not update, so that only port1 acts.
policy() { # [SETTING...]
	mktransit
	ctl sw port del dev port1
	port_add sw port1 capacity 220gbit "$@"
	port_set sw port2 update off
}

strip() {
	policy
	assert_eq default strip "$(port_get sw port1 ingress)"
	{ frames_in | sed 's/STRIPPED *//'; others; } | cases h1/v0 h2/v1
	assert_eq stripped "$(frames_in | wc -l)" "$(port_stat sw port1 stripped)"
	assert_eq malformed 4 "$(port_stat sw port1 malformed)"
	assert_eq "tags at port2" 0 "$(port_stat sw port2 tagged)"
}

trust() {
	policy ingress trust
	{ frames_in | sed 's/|[^|]*$/| same/'; others; } | cases h1/v0 h2/v1
	assert_eq stripped 0 "$(port_stat sw port1 stripped)"
	assert_eq "tags at port2" "$(frames_in | wc -l)" "$(port_stat sw port2 tagged)"
}

drop() {
	policy ingress drop
	{ frames_in | sed 's/|[^|]*$/| lost/'; others; } | cases h1/v0 h2/v1
	assert_eq dropped "$(frames_in | wc -l)" "$(port_stat sw port1 dropped)"
	assert_eq "tags at port2" 0 "$(port_stat sw port2 tagged)"
	assert_eq "strips at port1" 0 "$(port_stat sw port1 stripped)"
}

changes() {
	policy ingress drop
	echo "drop | c:0.31.0 | lost" | cases h1/v0 h2/v1
	port_set sw port1 ingress trust
	assert_eq ingress trust "$(port_get sw port1 ingress)"
	echo "trust | c:0.31.0 | same" | cases h1/v0 h2/v1
	port_set sw port1 ingress strip
	echo "strip | c:0.31.0 | udp:32" | cases h1/v0 h2/v1
	ctl sw port del dev port1
	echo "no port | c:0.31.0 | same" | cases h1/v0 h2/v1
}

# UDP for a closed port counts as NoPorts when its checksum is right.
udp_counter() {
	nsx h2 nstat -asz "$1" | awk -v n="$1" '$1 == n { print $2 }'
}

vxlan_pair() { # "VXLAN OPTION"
	mkns h1 h2
	mkveth h1 v0 01 h2 v1 02
	addr h1 v0 10.9.0.1/24
	addr h2 v1 10.9.0.2/24
	ip -n "$(ns h1)" link add vxlan0 address 02:00:00:00:01:01 type vxlan id 7 \
		remote 10.9.0.2 dstport 4789 dev v0 "$1"
	ip -n "$(ns h2)" link add vxlan0 address 02:00:00:00:01:02 type vxlan id 7 \
		remote 10.9.0.1 dstport 4789 dev v1 "$1"
	ip -n "$(ns h1)" link set dev vxlan0 up
	ip -n "$(ns h2)" link set dev vxlan0 up
	addr h1 vxlan0 10.0.0.1/24
	addr h2 vxlan0 10.0.0.2/24
	port_add h2 vxlan0 capacity 1gbit ingress strip
}

# Raw frames with tags whose sum is at the edges, checksums in software.
vxlan_edges() { # "VXLAN OPTION"
	local before sent tag n list=()

	vxlan_pair "$1"
	nsx h1 ethtool -K v0 tx off gso off tso off >/dev/null
	nsx h1 ethtool -K vxlan0 tx off >/dev/null
	nsx h2 ethtool -K v1 gro on >/dev/null
	before=$(udp_counter UdpNoPorts)
	for tag in c:7.31.127.1 c:0.0.0 c:0.0.1 c:7.31.126.1 c:2.29.78 \
		e:15.0xfffff.0xffff.0xff e:0.0.0 e:0.0.0.1 e:1.0xfffff.0xffff \
		e:2.0xabcde.0x1235.0x77; do
		for n in 0 1 2 33 70 601 1300; do
			list+=("to:020000000102 from:020000000101 $tag udp:$n")
		done
	done
	sent=${#list[@]}
	frames send "$(ns h1)/vxlan0" "${list[@]}"
	wait_for 5 sent_arrived $((before + sent)) || true
	assert_eq "datagrams with a right checksum" $((before + sent)) \
		"$(udp_counter UdpNoPorts)"
	assert_eq "datagrams with a wrong checksum" 0 "$(udp_counter UdpInCsumErrors)"
	assert_eq stripped "$sent" "$(port_stat h2 vxlan0 stripped)"
}

sent_arrived() {
	[ "$(udp_counter UdpNoPorts)" -ge "$1" ]
}

# Each pair of offloads with both formats: one here, the other with the other option.
vxlan_flows() { # "VXLAN OPTION" FORMAT FORMAT
	local outer inner format

	vxlan_pair "$1"
	nsx h2 ethtool -K v1 gro on >/dev/null
	# Room for the tag in the tunnel.
	ip -n "$(ns h1)" route change 10.0.0.0/24 dev vxlan0 src 10.0.0.1 mtu 1440
	for outer in on off; do
		for inner in on off; do
			[ $inner = on ] && format=$2 || format=$3
			nsx h1 ethtool -K v0 tx $outer >/dev/null
			nsx h1 ethtool -K vxlan0 tx $inner >/dev/null
			echo "$format, outer $outer, inner $inner"
			push_all h1 vxlan0 format "$format" signal abwc lm 127
			flow udp h1 h2 10.0.0.2 --count 10 --size 101 16
			flow tcp h1 h2 10.0.0.2 --bytes 100000
			tc -n "$(ns h1)" filter del dev vxlan0 egress
		done
	done
	assert_eq "wrong checksums" 0 "$(udp_counter UdpInCsumErrors)"
	assert_eq "wrong TCP checksums" 0 "$(udp_counter TcpInCsumErrors)"
	assert_ge stripped 60 "$(port_stat h2 vxlan0 stripped)"
	assert_eq tagged 0 "$(port_stat h2 vxlan0 tagged)"
}

ktap_plan 8
run_test strip "strip is the default"
run_test trust "trust"
run_test drop "drop"
run_test changes "the policy of a port changes"
run_test vxlan_edges "checksums of edge values, vxlan with UDP checksums" udpcsum
run_test vxlan_edges "checksums of edge values, vxlan without" noudpcsum
run_test vxlan_flows "UDP and TCP in vxlan with UDP checksums" udpcsum compact expanded
run_test vxlan_flows "UDP and TCP in vxlan without" noudpcsum expanded compact
