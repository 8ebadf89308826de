#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Network adapters that segment and sum themselves and look for the headers where they
# are in untagged frames: tagged packets are whole and summed before they get there.
#
#   a/eth0 -- b/eth0         two adapters of the machine, wired to each other
#   10.0.0.1  10.0.0.2

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"

octets=1000000

# The adapters of a driver that does TSO
adapters() {
	local path

	for path in /sys/bus/pci/drivers/e1000e/*/net/*; do
		[ ! -e "$path" ] || basename "$path"
	done
}

# Back from the namespaces, which must be empty of them first
adapters_home() {
	local n

	for n in a b; do
		ip -n "$(ns $n)" link set dev eth0 name "hw$n" netns 1 2>/dev/null || true
	done
}

path() {
	local devs

	modprobe e1000e 2>/dev/null || skip_all "no driver e1000e in this kernel"
	wait_for 10 two_adapters || skip_all "no two adapters of the driver e1000e"
	read -r -a devs < <(adapters | paste -sd' ')
	mkns a b ipv6
	at_leave adapters_home
	ip link set dev "${devs[0]}" name eth0 netns "$(ns a)" mtu 1508
	ip link set dev "${devs[1]}" name eth0 netns "$(ns b)" mtu 1508
	ip -n "$(ns a)" link set dev eth0 up
	ip -n "$(ns b)" link set dev eth0 up
	addr a eth0 10.0.0.1/24 fd00::1/64
	addr b eth0 10.0.0.2/24 fd00::2/64
	ip -n "$(ns a)" route change 10.0.0.0/24 dev eth0 src 10.0.0.1 mtu 1500
	ip -n "$(ns a)" -6 route add fd00::/64 dev eth0 metric 1 mtu 1500
	nsx a ethtool -K eth0 tx on sg on tso on gso on >/dev/null
	# what arrives is counted by segments
	nsx b ethtool -K eth0 gro off
	port_add a eth0
	port_add b eth0 ingress strip
	wait_for 30 linked || skip_all "no link between the adapters"
}

two_adapters() {
	[ "$(adapters | wc -l)" -ge 2 ]
}

linked() {
	nsx a ping -q -c 1 -W 1 10.0.0.2 >/dev/null
}

# What the adapter segmented itself
hw_segmented() {
	nsx a ethtool -S eth0 | awk '$1 == "tx_tcp_seg_good:" { print $2 }'
}

transfer() { # WHAT ADDRESS
	bulk "from=$(ns a),to=$(ns b),addr=$2,size=65536,bytes=$octets"
	assert_eq "$1: intact" true "$(bulk_get intact)"
	assert_eq "$1: checksum errors" 0 "$(csum_errors b)"
}

untagged() {
	local before

	before=$(hw_segmented)
	transfer "IPv4" 10.0.0.2
	transfer "IPv6" fd00::2
	assert_ge "super-packets that the adapter segmented" $((before + 10)) "$(hw_segmented)"
	assert_eq "tags" 0 "$(port_stat a eth0 tagged)"
}

tagged() { # FORMAT
	local before tags

	push_all a eth0 format "$1" signal abwc
	before=$(hw_segmented)
	tags=$(port_stat b eth0 stripped)
	transfer "IPv4" 10.0.0.2
	transfer "IPv6" fd00::2
	assert_eq "tagged super-packets in the adapter" "$before" "$(hw_segmented)"
	tags=$((tags + 2 * octets / 1460))
	assert_ge "segments with a tag" $tags "$(port_stat b eth0 stripped)"
	tags=$(port_stat b eth0 stripped)
	flow udp a b 10.0.0.2 --count 20 --size 1 100 1400
	assert_ge "datagrams with a tag" $((tags + 20)) "$(port_stat b eth0 stripped)"
	tc -n "$(ns a)" filter del dev eth0 egress
}

# The adapter's 4 octets beyond the MTU are those of the VLAN tag, which it inserts itself.
vlan() {
	local n before

	for n in a b; do
		ip -n "$(ns $n)" link set dev eth0 mtu 1500
		ip -n "$(ns $n)" link add link eth0 name eth0.10 type vlan id 10
		ip -n "$(ns $n)" link set dev eth0.10 up
	done
	addr a eth0.10 10.1.0.1/24
	addr b eth0.10 10.1.0.2/24
	wait_for 10 nsx a ping -q -c 1 -W 1 10.1.0.2
	push_all a "$1" format compact signal abwc
	before=$(port_stat a eth0 tagged)
	nsx a ping -q -c 3 -i 0.01 -W 5 -M "do" -s 1472 10.1.0.2
	# others send something, too
	assert_le "tags in full frames" $((before + 2)) "$(port_stat a eth0 tagged)"
	nsx a ping -q -c 3 -i 0.01 -W 5 -M "do" -s 1468 10.1.0.2
	assert_ge "tags where they fit" $((before + 3)) "$(port_stat a eth0 tagged)"
	tc -n "$(ns a)" filter del dev "$1" egress
	for n in a b; do
		ip -n "$(ns $n)" link del dev eth0.10
	done
}

ktap_plan 5
path
run_test untagged "untagged: the adapter segments"
run_test tagged "compact: segmented and summed before the adapter" compact
run_test tagged "expanded: segmented and summed before the adapter" expanded
run_test vlan "a full frame with a VLAN tag has no room" eth0
run_test vlan "nor on the VLAN device" eth0.10
