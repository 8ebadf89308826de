#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# TCP whose packets are tagged by a filter, over a bridged and a routed transit device,
# with each kind of offload on and off.  Every segment carries the tag, nothing is
# damaged, nothing is sent again for the sake of a tag.
#
#   a/eth0 -- in0/s/out0 (bridge) -- in0/r/out0 (router) -- b/eth0

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"

octets=1500000

path() {
	mkns a s r b ipv6
	mkveth a eth0 01 s in0 11 mtu 1508
	mkveth s out0 12 r in0 21 mtu 1508
	mkveth r out0 22 b eth0 02 mtu 1508
	mkbridge s br0 "" in0 out0
	addr a eth0 10.0.0.1/24 fd00::1/64
	addr r in0 10.0.0.254/24 fd00::fe/64
	addr r out0 10.1.0.254/24 fd01::fe/64
	addr b eth0 10.1.0.2/24 fd01::2/64
	# packets of 1500 octets: room for a tag of 8
	ip -n "$(ns a)" route add default via 10.0.0.254 mtu 1500
	ip -n "$(ns b)" route add default via 10.1.0.254 mtu 1500
	ip -n "$(ns a)" -6 route add default via fd00::fe mtu 1500
	ip -n "$(ns b)" -6 route add default via fd01::fe mtu 1500
	nsx r sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	port_add s in0 ingress trust
	port_add s out0 capacity 10gbit ingress trust
	port_add r in0 ingress trust
	port_add r out0 capacity 10gbit ingress trust
	clsact a eth0
	clsact b eth0
	# what arrives without a tag, and what with one
	tc -n "$(ns b)" filter add dev eth0 ingress pref 1 protocol 0x9900 matchall \
		action continue
	tc -n "$(ns b)" filter add dev eth0 ingress pref 2 protocol 0xccdd matchall \
		action continue
	tc -n "$(ns b)" filter add dev eth0 ingress pref 3 protocol ip flower \
		ip_proto tcp action continue
	tc -n "$(ns b)" filter add dev eth0 ingress pref 4 protocol ipv6 flower \
		ip_proto tcp action continue
	tc -n "$(ns b)" filter add dev eth0 ingress pref 5 protocol all matchall \
		action csig pop
}

push() { # FORMAT
	tc -n "$(ns a)" filter replace dev eth0 egress pref 1 handle 1 protocol ip \
		flower ip_proto tcp action csig push format "$1" signal abwc
	tc -n "$(ns a)" filter replace dev eth0 egress pref 2 handle 1 protocol ipv6 \
		flower ip_proto tcp action csig push format "$1" signal abwc
}

# Packets that came to b so far: tagged, untagged
arrived() {
	tc -n "$(ns b)" -s -j filter show dev eth0 ingress |
		jq -r 'def packets(a; b): map(select(.pref == a or .pref == b) |
				.options.actions[]?.stats.packets) | add;
			"\(packets(1; 2)) \(packets(3; 4))"'
}

offload() { # FEATURE on|off...: on all devices of the path
	local n dev

	for n in a:eth0 s:in0 s:out0 r:in0 r:out0 b:eth0; do
		dev=${n#*:}
		nsx "${n%:*}" ethtool -K "$dev" "$@" >/dev/null 2>&1 || true
	done
}

# What the devices came with
defaults() {
	offload tx on sg on tso on gso on gro off tx-udp-segmentation on
}

transfer() { # WHAT ADDRESS [WRITE SIZE [OCTETS]]
	local before now errors limit lost=0

	read -r -a before < <(arrived)
	errors=$(csum_errors b)
	bulk "from=$(ns a),to=$(ns b),addr=$2,size=${3:-65536},bytes=${4:-$octets}"
	assert_eq "$1: intact" true "$(bulk_get intact)"
	read -r -a now < <(arrived)
	# A router that holds a packet for 250 ms forgets its tag: a debug kernel may.
	[ "$CSIG_TIME_SCALE" = 1 ] || lost=20
	assert_le "$1: segments without a tag" $lost $((now[1] - before[1]))
	[ "${now[0]}" -gt "${before[0]}" ] || fail "$1: no tagged segment"
	assert_eq "$1: checksum errors" "$errors" "$(csum_errors b)"
	# Many are spurious where the machine stalls; without super-packets nearly every
	# segment would be one.
	limit=$(((now[0] - before[0]) / 4))
	[ $limit -ge 20 ] || limit=20	# super-packets count once
	assert_le "$1: retransmissions" $limit "$(bulk_get retransmissions)"
}

both_families() { # WHAT
	transfer "$1, IPv4" 10.1.0.2
	transfer "$1, IPv6" fd01::2
}

all_formats() { # WHAT
	local f

	for f in compact expanded; do
		push $f
		both_families "$1, $f"
	done
}

# Each format and each family once
one_each() { # WHAT
	push compact
	transfer "$1, compact, IPv4" 10.1.0.2
	push expanded
	transfer "$1, expanded, IPv6" fd01::2
}

default_offload() {
	defaults
	all_formats "all offloads"
	assert_ge "the bridge updated" 1 "$(port_stat s out0 updated)"
	assert_ge "the router carried" 1 "$(port_stat r out0 carried)"
	assert_eq "malformed" 0 "$(port_stat r out0 malformed)"
}

no_tso() {
	defaults
	offload tso off
	one_each "TSO off"
}

no_gso() {
	defaults
	offload tso off gso off
	all_formats "GSO off"
}

no_csum() {
	defaults
	offload tx off
	one_each "checksum offload off"
}

no_sg() {
	defaults
	offload sg off
	push expanded
	both_families "scatter-gather off"
}

with_gro() {
	defaults
	offload gro on
	push compact
	both_families "GRO on"
	offload gro on tso off
	both_families "GRO on, TSO off"
}

# Payloads around the size of a segment
odd_sizes() {
	local mss size

	defaults
	offload tso off
	push compact
	mss=1448	# 1500 - 20 - 32
	for size in $mss $((mss + 1)) 1; do
		transfer "writes of $size, compact, IPv4" 10.1.0.2 "$size" $((size * 30))
	done
	push expanded
	for size in $((mss - 1)) $((2 * mss + 1)); do
		transfer "writes of $size, expanded, IPv4" 10.1.0.2 "$size" $((size * 30))
	done
	mss=1428
	for size in $((mss + 1)) $((3 * mss - 1)); do
		transfer "writes of $size, expanded, IPv6" fd01::2 "$size" $((size * 30))
	done
}

big_tcp() {
	local n

	defaults
	for n in a:eth0 s:in0 s:out0 r:in0 r:out0 b:eth0; do
		ip -n "$(ns "${n%:*}")" link set dev "${n#*:}" gso_max_size 150000 \
			gro_max_size 150000 gso_ipv4_max_size 150000 \
			gro_ipv4_max_size 150000 2>/dev/null ||
			skip "no BIG TCP on these devices"
	done
	push expanded
	transfer "BIG TCP, IPv6" fd01::2 1000000 10000000
	transfer "BIG TCP, IPv4" 10.1.0.2 1000000 10000000
}

# The kernel puts the VLAN tag into the octets, then segments.
vlan_without_insertion() {
	local n limit

	mkns c d
	mkveth c eth0 01 d eth0 02 mtu 1520
	for n in c d; do
		nsx $n ethtool -K eth0 tx-vlan-hw-insert off tso off >/dev/null
		ip -n "$(ns $n)" link add link eth0 name vlan10 mtu 1500 type vlan id 10
		ip -n "$(ns $n)" link set dev vlan10 up
	done
	addr c vlan10 10.2.0.1/24
	addr d vlan10 10.2.0.2/24
	port_add c eth0
	port_add d eth0 ingress strip
	for n in compact expanded; do
		push_all c eth0 format $n signal abwc
		bulk "from=$(ns c),to=$(ns d),addr=10.2.0.2,size=65536,bytes=$octets"
		assert_eq "$n: intact" true "$(bulk_get intact)"
		limit=$(($(port_stat d eth0 stripped) / 4))
		assert_ge "$n: tags that arrived" 250 $limit
		assert_le "$n: retransmissions" $limit "$(bulk_get retransmissions)"
		flow gso c d 10.2.0.2 --count 200 --size 1000
		tc -n "$(ns c)" filter del dev eth0 egress
	done
}

# UDP super-packets: each datagram is tagged.
udp_gso() {
	local before after

	defaults
	offload tso off tx-udp-segmentation off
	tc -n "$(ns a)" filter add dev eth0 egress pref 3 protocol ip flower ip_proto udp \
		action csig push format compact signal abw
	read -r before _ < <(arrived)
	# without a socket error and with all octets right
	py flows gso --client "$(ns a)" --server "$(ns b)" \
		--addr 10.1.0.2 --count 200 --size 1000
	read -r after _ < <(arrived)
	assert_ge "datagrams with a tag" $((before + 200)) "$after"
}

# A bridge in a namespace that has other TPIDs, with a way out that can't segment
other_domain() {
	local n f

	mkns c t d
	mkveth c eth0 01 t in0 11 mtu 1508
	mkveth t out0 12 d eth0 02 mtu 1508
	mkbridge t br0 "" in0 out0
	ctl t domain set compact-tpid 0x9901 expanded-tpid 0x9902
	nsx t ethtool -K out0 tso off tx-udp-segmentation off >/dev/null
	addr c eth0 10.3.0.1/24
	addr d eth0 10.3.0.2/24
	for n in c d; do
		ip -n "$(ns $n)" route change 10.3.0.0/24 dev eth0 mtu 1500
	done
	port_add d eth0 ingress strip
	for f in compact expanded; do
		push_all c eth0 format $f signal abwc
		bulk "from=$(ns c),to=$(ns d),addr=10.3.0.2,size=65536,bytes=$octets"
		assert_eq "$f: intact" true "$(bulk_get intact)"
		echo "$f: $(bulk_get retransmissions) again"
		assert_eq "$f: dropped" 0 "$(nsx t cat /sys/class/net/out0/statistics/tx_dropped)"
		tc -n "$(ns c)" filter del dev eth0 egress
	done
}

ktap_plan 11
path
run_test default_offload "all offloads, IPv4 and IPv6, both formats"
run_test no_tso "TSO off: the kernel segments"
run_test no_gso "GSO off"
run_test no_csum "checksum offload off"
run_test no_sg "scatter-gather off"
run_test with_gro "GRO on the way"
run_test odd_sizes "writes of one octet more than a segment, and others"
run_test big_tcp "BIG TCP"
run_test udp_gso "UDP super-packets"
run_test vlan_without_insertion "VLAN device over one that inserts no tags"
run_test other_domain "super-packets on their way through another domain"
