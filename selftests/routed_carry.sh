#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Routed transit: the tag comes off at ingress and is put back at the egress port.
#
#   h1                      r                       h2
#   v0 ------------ port1 [routes] port2 ------------ v1
#   10.0.1.1     10.0.1.254        10.0.2.254     10.0.2.1
#   fd00:1::1    fd00:1::fe        fd00:2::fe     fd00:2::1
#
# With raw frames h2 has no address and all neighbours are fixed, so that nothing but
# the test's frames is on the links.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

MARK="--marker=to:11 ip:10.0.1.1>10.0.2.1 udptext:@"
# What leaves for h2: other addresses, TTL 63.
V4="ip:10.0.1.1>10.0.2.1"
V6="ip:fd00:1::1>fd00:2::1"

router() {
	mkns h1 h2
	mkns r ipv6
	mkveth h1 v0 01 r port1 11
	mkveth r port2 12 h2 v1 02
	ip -n "$(ns h1)" link set dev v0 mtu 2000
	nsx r sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	lm_number r
	port_add r port1 capacity 220gbit estimator raw interval 10us \
		lm port=7,port16=7 ingress trust
	port_add r port2 capacity 110gbit estimator raw interval 10us \
		lm port=9,port16=9 ingress trust
}

router_addresses() { # DEV1 DEV2
	addr r "$1" 10.0.1.254/24 fd00:1::fe/64
	addr r "$2" 10.0.2.254/24 fd00:2::fe/64
	neigh "$1" 10.0.1.1 fd00:1::1 01
	neigh "$2" 10.0.2.1 fd00:2::1 02
}

neigh() { # DEV IPV4 IPV6 XX
	ip -n "$(ns r)" neigh replace "$2" lladdr "02:00:00:00:00:$4" dev "$1" nud permanent
	ip -n "$(ns r)" neigh replace "$3" lladdr "02:00:00:00:00:$4" dev "$1" nud permanent
}

addresses_of_hosts() {
	nsx h1 sysctl -qw net.ipv6.conf.v0.disable_ipv6=0
	nsx h2 sysctl -qw net.ipv6.conf.v1.disable_ipv6=0
	ip -n "$(ns h1)" link set dev v0 mtu 1500
	addr h1 v0 10.0.1.1/24 fd00:1::1/64
	addr h2 v1 10.0.2.1/24 fd00:2::1/64
	# Room for a tag in the frame of a full segment.
	ip -n "$(ns h1)" route add default via 10.0.1.254 dev v0 mtu 1492
	ip -n "$(ns h1)" -6 route add default via fd00:1::fe dev v0 mtu 1492
	ip -n "$(ns h2)" route add default via 10.0.2.254 dev v1
	ip -n "$(ns h2)" -6 route add default via fd00:2::fe dev v1
}

raw_frames() {
	both_formats <<-EOF
	IPv4 | to:11 IN $V4/64 udp:40 | from:12 OUT $V4/63 udp:40
	IPv4, odd | to:11 IN $V4/64 udp:41 | from:12 OUT $V4/63 udp:41
	IPv4, no payload | to:11 IN $V4/2 udp:0 | from:12 OUT $V4/1 udp:0
	IPv4, full | to:11 IN $V4/64 udp:1468 | from:12 OUT $V4/63 udp:1468
	IPv6 | to:11 IN $V6/64 udp:40 | from:12 OUT $V6/63 udp:40
	IPv6, TCP | to:11 IN $V6/64 tcp:99 | from:12 OUT $V6/63 tcp:99
	untagged | to:11 $V4/64 udp:40 | from:12 $V4/63 udp:40
	untagged IPv6 | to:11 $V6/64 udp:40 | from:12 $V6/63 udp:40
	not for the router | to:99 IN $V4/64 udp:40 | lost
	EOF
	cat <<-EOF
	no change | to:11 c:0.3.77 $V4/64 udp:40 | from:12 c:0.3.77 $V4/63 udp:40
	reserved bit | to:11 c:0.31.0.1 $V4/64 udp:40 | from:12 c:0.24.9.1 $V4/63 udp:40
	reserved octet | to:11 e:0.1.5.0xa5 $V4/64 udp:40 | from:12 e:0.1.5.0xa5 $V4/63 udp:40
	undefined | to:11 c:7.0.1 $V4/64 udp:40 | from:12 c:7.0.1 $V4/63 udp:40
	TTL runs out | to:11 c:0.31.0 $V4/1 udp:40 | lost
	no route | to:11 c:0.31.0 ip:10.0.1.1>10.0.99.1 udp:40 | lost
	untagged after those | to:11 $V4/64 udp:40 | from:12 $V4/63 udp:40
	EOF
}

ip_transit() {
	router
	router_addresses port1 port2
	raw_frames | cases h1/v0 h2/v1 "$MARK"
	assert_eq carried 16 "$(port_stat r port2 carried)"
	# ICMP errors, made while a tag was remembered
	assert_eq "tags at port1's egress" 0 "$(port_stat r port1 tagged)"
	assert_ge "errors at port1's egress" 2 "$(port_stat r port1 untagged)"
}

ttl_at_bottleneck() {
	router
	router_addresses port1 port2
	ctl r lm set signal all format expanded fields ttl:8,port16:8
	cases h1/v0 h2/v1 "$MARK" <<-EOF
	IPv4 | to:11 e:0.0xfffff.0 $V4/64 udp:40 | from:12 e:0.13750.16137 $V4/63 udp:40
	IPv6 | to:11 e:0.0xfffff.0 $V6/64 udp:40 | from:12 e:0.13750.16137 $V6/63 udp:40
	EOF
}

# 63 << 8 | 9 = 16137

vlan_devices() {
	local n

	router
	n=$(ns r)
	ip -n "$n" link add link port1 name port1.10 type vlan id 10
	ip -n "$n" link add link port2 name port2.20 type vlan id 20
	ip -n "$n" link set dev port1.10 up
	ip -n "$n" link set dev port2.20 up
	router_addresses port1.10 port2.20
	both_formats <<-EOF | cases h1/v0 h2/v1 "--marker=to:11 q:10 ip:10.0.1.1>10.0.2.1 udptext:@"
	IPv4 | to:11 q:10 IN $V4/64 udp:40 | from:12 q:20 OUT $V4/63 udp:40
	IPv6 | to:11 q:10 IN $V6/64 udp:40 | from:12 q:20 OUT $V6/63 udp:40
	untagged | to:11 q:10 $V4/64 udp:40 | from:12 q:20 $V4/63 udp:40
	other VLAN | to:11 q:11 IN $V4/64 udp:40 | lost
	EOF
	# The VLAN tag in the octets, not in the metadata.
	ip -n "$n" link del dev port2.20
	nsx r ethtool -K port2 tx-vlan-hw-insert off >/dev/null
	ip -n "$n" link add link port2 name port2.20 type vlan id 20 reorder_hdr off
	ip -n "$n" link set dev port2.20 up
	router_addresses port1.10 port2.20
	both_formats <<-EOF | cases h1/v0 h2/v1 "--marker=to:11 q:10 ip:10.0.1.1>10.0.2.1 udptext:@"
	IPv4 in octets | to:11 q:10 IN $V4/64 udp:40 | from:12 q:20 OUT $V4/63 udp:40
	IPv6 in octets | to:11 q:10 IN $V6/64 udp:40 | from:12 q:20 OUT $V6/63 udp:40
	EOF
}

qinq_devices() {
	local n

	router
	n=$(ns r)
	ip -n "$n" link add link port1 name port1.10 type vlan id 10 proto 802.1ad
	ip -n "$n" link set dev port1.10 up
	ip -n "$n" link add link port1.10 name port1.11 type vlan id 11
	ip -n "$n" link set dev port1.11 up
	router_addresses port1.11 port2
	both_formats <<-EOF | cases h1/v0 h2/v1 "--marker=to:11 ad:10 q:11 ip:10.0.1.1>10.0.2.1 udptext:@"
	IPv4 | to:11 ad:10 q:11 IN $V4/64 udp:40 | from:12 OUT $V4/63 udp:40
	IPv6 | to:11 ad:10 q:11 IN $V6/64 udp:40 | from:12 OUT $V6/63 udp:40
	EOF
}

# A bridge with an address: in through its port, and out through it.
bridge_device() {
	router
	mkbridge r br0 "" port1
	ip -n "$(ns r)" link set dev br0 address 02:00:00:00:00:21
	router_addresses br0 port2
	both_formats <<-EOF | cases h1/v0 h2/v1 "--marker=to:21 ip:10.0.1.1>10.0.2.1 udptext:@"
	in, IPv4 | to:21 IN $V4/64 udp:40 | from:12 OUT $V4/63 udp:40
	in, IPv6 | to:21 IN $V6/64 udp:40 | from:12 OUT $V6/63 udp:40
	EOF
	# 220 Gbit/s is code 28
	cases h2/v1 h1/v0 "--marker=to:12 from:02 ip:10.0.2.1>10.0.1.1 udptext:@" <<-EOF
	out, IPv4 | to:12 from:02 c:0.31.0 ip:10.0.2.1>10.0.1.1/64 udp:40 | to:01 from:21 c:0.28.7 ip:10.0.2.1>10.0.1.1/63 udp:40
	out, IPv6 | to:12 from:02 e:0.0xfffff.0 ip:fd00:2::1>fd00:1::1/64 udp:40 | to:01 from:21 e:0.27500.7 ip:fd00:2::1>fd00:1::1/63 udp:40
	EOF
}

mpls() {
	modprobe mpls_router 2>/dev/null || skip "no MPLS in this kernel"
	modprobe mpls_iptunnel 2>/dev/null || skip "no MPLS tunnels in this kernel"
	router
	router_addresses port1 port2
	nsx r sysctl -qw net.mpls.platform_labels=1000 net.mpls.conf.port1.input=1
	ip -n "$(ns r)" -f mpls route add 100 as 200 via inet 10.0.2.1 dev port2
	ip -n "$(ns r)" -f mpls route add 101 via inet 10.0.2.1 dev port2
	ip -n "$(ns r)" route add 10.0.3.0/24 encap mpls 300 via 10.0.2.1 dev port2
	both_formats <<-EOF | cases h1/v0 h2/v1 "$MARK"
	label switched | to:11 IN mpls:100/64 $V4/64 udp:40 | from:12 OUT mpls:200/63 $V4/64 udp:40
	last label off | to:11 IN mpls:101/64 $V4/64 udp:40 | from:12 OUT $V4/63 udp:40
	label put on | to:11 IN ip:10.0.1.1>10.0.3.1/64 udp:40 | from:12 OUT mpls:300/63 ip:10.0.1.1>10.0.3.1/63 udp:40
	untagged | to:11 mpls:100/64 $V4/64 udp:40 | from:12 mpls:200/63 $V4/64 udp:40
	no such label | to:11 IN mpls:555/64 $V4/64 udp:40 | lost
	EOF
}

# No tag is known at ports that are no csig ports.
one_side_only() {
	router
	router_addresses port1 port2
	ctl r port del dev port2
	both_formats <<-EOF | cases h1/v0 h2/v1 "$MARK"
	no port at egress: clean | to:11 IN $V4/64 udp:40 | from:12 $V4/63 udp:40
	EOF
	ctl r port del dev port1
	port_add r port1 ingress strip
	port_add r port2 capacity 110gbit ingress trust
	both_formats <<-EOF | cases h1/v0 h2/v1 "$MARK"
	stripped at ingress: clean | to:11 IN $V4/64 udp:40 | from:12 $V4/63 udp:40
	EOF
	assert_eq carried 0 "$(port_stat r port2 carried)"
}

# Frames come out of netem in slots, many at once, so that NAPI hands them on in lists.
bursts() {
	local trace=/sys/kernel/tracing events=0

	router
	router_addresses port1 port2
	port_set r port2 capacity 100tbit lm port=9,port16=9
	nsx r ethtool -K port1 gro on >/dev/null
	nsx r tc qdisc replace dev port2 parent "$(csig_class r port2)" pfifo limit 10000
	# a veth device takes the way of NAPI only for a peer without TSO
	nsx h1 ethtool -K v0 tso off >/dev/null
	nsx h1 tc qdisc replace dev v0 root netem slot 30ms limit 10000
	if [ -w $trace/events/napi/napi_poll/enable ]; then
		echo 'work > 8' >$trace/events/napi/napi_poll/filter
		echo 1 >$trace/events/napi/napi_poll/enable
		echo >$trace/trace
	fi
	burst 3000 h1/v0 h2/v1 <<-EOF
	IPv4 compact | to:11 c:0.3.77 $V4/64 udp:40 | from:12 c:0.3.77 $V4/63 udp:40
	IPv4 untagged | to:11 $V4/64 udp:44 | from:12 $V4/63 udp:44
	IPv6 expanded | to:11 e:3.5.1234 $V6/64 udp:77 | from:12 e:3.5.1234 $V6/63 udp:77
	IPv4 other tag | to:11 c:7.31.127.1 $V4/64 udp:40 | from:12 c:7.31.127.1 $V4/63 udp:40
	IPv6 untagged | to:11 $V6/64 udp:700 | from:12 $V6/63 udp:700
	IPv4 large | to:11 e:0.7.1.0xff $V4/64 udp:1400 | from:12 e:0.7.1.0xff $V4/63 udp:1400
	IPv4 zero | to:11 c:0.0.0 $V4/64 udp:40 | from:12 c:0.0.0 $V4/63 udp:40
	EOF
	if [ -w $trace/events/napi/napi_poll/enable ]; then
		echo 0 >$trace/events/napi/napi_poll/enable
		events=$(grep -c 'device port1 ' $trace/trace || true)
		echo "polls of port1 with more than 8 packets: $events"
		echo >$trace/trace
		[ "$events" -gt 0 ] || fail "no list was handed on: the test shows nothing"
	fi
	assert_eq carried 2143 "$(port_stat r port2 carried)"
}

# What is for the router itself is clean, and what it sends has no tag.
local_sockets() {
	router
	addr r port1 10.0.1.254/24 fd00:1::fe/64
	addr r port2 10.0.2.254/24
	nsx h1 sysctl -qw net.ipv6.conf.v0.disable_ipv6=0
	ip -n "$(ns h1)" link set dev v0 mtu 1500
	addr h1 v0 10.0.1.1/24 fd00:1::1/64
	push_all h1 v0 format compact signal abw
	flow udp h1 r 10.0.1.254 --count 100
	flow udp h1 r fd00:1::fe --count 100
	flow tcp h1 r 10.0.1.254 --bytes 1000000
	nsx h1 ping -q -c 3 -i 0.2 10.0.1.254
	assert_eq "tags at port1's egress" 0 "$(port_stat r port1 tagged)"
	assert_eq "carried back" 0 "$(port_stat r port1 carried)"
	assert_ge "replies" 200 "$(port_stat r port1 untagged)"
}

# Streams through the router, merged and segmented in all ways: one family as port1 gets
# it, the other merged there, so that the router forwards super-packets.
streams() { # FORMAT ADDRESS ADDRESS-IF-MERGED
	local features

	router
	addr r port1 10.0.1.254/24 fd00:1::fe/64
	addr r port2 10.0.2.254/24 fd00:2::fe/64
	addresses_of_hosts
	push_all h1 v0 format "$1" signal abw
	port_add h2 v1 ingress strip
	for features in "tso on gso on tx on" "tso off gso on tx on" \
		"tso off gso off tx off"; do
		echo "$features"
		# shellcheck disable=SC2086
		nsx h1 ethtool -K v0 $features >/dev/null
		flow tcp h1 h2 "$2" --bytes 300000
		flow gso h1 h2 "$2" --count 200 --size 700
		nsx r ethtool -K port1 gro on >/dev/null
		flow tcp h1 h2 "$3" --bytes 300000
		flow gso h1 h2 "$3" --count 200 --size 700
		nsx r ethtool -K port1 gro off >/dev/null
	done
	assert_ge carried 100 "$(port_stat r port2 carried)"
	assert_eq "every tag that left" "$(port_stat r port2 carried)" \
		"$(port_stat r port2 tagged)"
	assert_ge "stripped at h2" 100 "$(port_stat h2 v1 stripped)"
	assert_eq "tags on the way back" 0 "$(port_stat r port1 tagged)"
}

ktap_plan 11
run_test ip_transit "IPv4 and IPv6"
run_test ttl_at_bottleneck "field ttl has the forwarded packet's TTL"
run_test vlan_devices "VLAN devices on both sides"
run_test qinq_devices "VLAN device on a VLAN device"
run_test bridge_device "a bridge with an address, in and out"
run_test mpls "MPLS: label switched, popped, pushed"
run_test one_side_only "without a port at the egress side, or with strip"
run_test bursts "every packet of a NAPI list keeps its own tag"
run_test local_sockets "local sockets get clean packets and send clean ones"
run_test streams "TCP and UDP with all offloads, compact" compact 10.0.2.1 fd00:2::1
run_test streams "TCP and UDP with all offloads, expanded" expanded fd00:2::1 10.0.2.1
