#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What is a bit on the wire: minimum frames, VLAN tags wherever they are kept, the
# segments of a super-packet, tags that come and go.  All within 1 %.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"

pair() {
	mkns a b
	mkveth a eth0 01 b eth0 02
	addr a eth0 10.0.0.1/24
	addr b eth0 10.0.0.2/24
	neigh eth0 10.0.0
	port_add a eth0 capacity 100mbit
}

neigh() { # DEV NET
	ip -n "$(ns a)" neigh add "$2.2" lladdr 02:00:00:00:00:02 dev "$1" nud permanent
	ip -n "$(ns b)" neigh add "$2.1" lladdr 02:00:00:00:00:01 dev "$1" nud permanent
}

# The port counted what the sender knows that it sent.
same_bits() { # WHAT FLOW
	local bits

	bits=$(wire_bits a eth0)
	pace "$2"
	assert_near "$1" "$(sent wire_bits)" 1 $(($(wire_bits a eth0) - bits))
}

to_b() { # KEY=VALUE,...
	echo "from=$(ns a),to=$(ns b),addr=10.0.0.2,$1"
}

plain() {
	pair
	same_bits "large frames" "$(to_b size=1400,count=300)"
	same_bits "frames of 60 octets" "$(to_b size=18,count=300)"
	same_bits "minimum frames" "$(to_b size=1,count=300)"
}

vlan() {
	local n to

	pair
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
	to="from=$(ns a),to=$(ns b),count=300"
	same_bits "VLAN, small" "$to,addr=10.1.0.2,size=40,extra=4"
	same_bits "VLAN, minimum" "$to,addr=10.1.0.2,size=16,extra=4"
	same_bits "QinQ" "$to,addr=10.2.0.2,size=40,extra=8"
	same_bits "QinQ, super-packets" "$to,addr=10.2.0.2,size=40,gso=20,extra=8"
	nsx a ethtool -K eth0 tx-vlan-hw-insert off >/dev/null
	same_bits "VLAN in the octets" "$to,addr=10.1.0.2,size=40,extra=4"
	same_bits "VLAN in the octets, super-packets" \
		"$to,addr=10.1.0.2,size=40,gso=20,extra=4"
}

# Frames with the VLAN in their octets from a packet socket
vlan_in_octets() {
	local bits

	pair
	bits=$(wire_bits a eth0)
	frames send "$(ns a)/eth0" "q:10 q:20 udp:40" --count 200
	assert_near "frames of 90 octets" $((200 * (90 + 24) * 8)) 1 \
		$(($(wire_bits a eth0) - bits))
	bits=$(wire_bits a eth0)
	frames send "$(ns a)/eth0" "udp:1" --count 200
	assert_near "frames of 43 octets" $((200 * (60 + 24) * 8)) 1 \
		$(($(wire_bits a eth0) - bits))
}

udp_gso() {
	local size

	pair
	for size in 1 18 100 1400; do
		same_bits "40 datagrams of $size in one" "$(to_b size=$size,gso=40,count=30)"
	done
}

# TCP: the kernel says how many segments and octets it sent.
tcp_gso() {
	local bits segs before after expected

	pair
	for offload in on off; do
		nsx a ethtool -K eth0 tso $offload gso $offload >/dev/null
		before=$(tcp_sent)
		bits=$(wire_bits a eth0)
		bulk "$(to_b size=65536,bytes=8000000)"
		bits=$(($(wire_bits a eth0) - bits))
		after=$(tcp_sent)
		segs=$((after - before))
		# each segment: 14 Ethernet, 20 IP, 32 TCP; a few without or more options
		expected=$((($(bulk_get payload_bytes) + (66 + 24) * segs) * 8))
		assert_near "TCP with TSO $offload, $segs segments" $expected 1 "$bits"
	done
}

# Segments that left a, of data and without
tcp_sent() {
	nsx a cat /proc/net/snmp | awk '$1 == "Tcp:" && ++n == 2 { print $12 + $13 }'
}

# A tag is on the wire, too; a super-packet has one in each segment.
tagged() {
	pair
	clsact a eth0
	for f in compact:4 expanded:8; do
		tc -n "$(ns a)" filter del dev eth0 egress
		tc -n "$(ns a)" filter add dev eth0 egress protocol ip matchall \
			action csig push format "${f%:*}" signal abw
		same_bits "$f" "$(to_b size=20,count=300,extra=${f#*:})"
		same_bits "$f, super-packets" "$(to_b size=100,gso=40,count=30,extra=${f#*:})"
	done
	# stripped at the port: not on the wire
	port_set a eth0 egress strip
	same_bits "stripped" "$(to_b size=40,count=300)"
	same_bits "stripped, super-packets" "$(to_b size=40,gso=40,count=30)"
	same_bits "stripped, minimum frames" "$(to_b size=1,count=300)"
}

overhead() {
	local bits

	pair
	port_set a eth0 overhead 0
	bits=$(wire_bits a eth0)
	pace "$(to_b size=100,count=100)"
	assert_near "without overhead" $((100 * 142 * 8)) 1 $(($(wire_bits a eth0) - bits))
	port_set a eth0 overhead 38
	bits=$(wire_bits a eth0)
	pace "$(to_b size=100,gso=10,count=10)"
	assert_near "overhead 38" $((100 * (142 + 38) * 8)) 1 $(($(wire_bits a eth0) - bits))
}

# Counters of packets: a super-packet is one.
packets() {
	local n

	pair
	n=$(port_stat a eth0 untagged)
	pace "$(to_b size=100,gso=10,count=20)"
	assert_eq "untagged" 20 $(($(port_stat a eth0 untagged) - n))
	# code 0 with any load
	port_set a eth0 capacity 50mbit
	burst 40 a/eth0 b/eth0 <<-END
		no worse  | c:0.0.3 | same
		worse     | c:0.31.3 | c:0.0.0
	END
	assert_eq "tagged" 40 "$(port_stat a eth0 tagged)"
	assert_eq "updated" 20 "$(port_stat a eth0 updated)"
}

ktap_plan 8
run_test plain "large, small and minimum frames"
run_test vlan "VLAN devices, in metadata and in the octets, with GSO"
run_test vlan_in_octets "frames of a packet socket"
run_test udp_gso "UDP super-packets"
run_test tcp_gso "TCP with and without TSO"
run_test tagged "tags are on the wire, stripped ones are not"
run_test overhead "the overhead of a frame is a setting"
run_test packets "a super-packet counts as one packet"
