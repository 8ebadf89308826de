#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A port with "egress strip": tags go, all else stays, short frames are padded.
#
#   h1                  sw                  h2
#   v0 ------- port1 [br0] port2 ------- v1
#                          egress strip

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

tagged_frames() {
	both_formats <<-'EOF'
	no VLAN | IN | same-
	802.1Q | q:100/3 IN | same-
	priority-tagged | q:0/7 IN | same-
	802.1ad | ad:100 IN | same-
	QinQ | ad:100 q:200 IN | same-
	QinQ, both VIDs equal | ad:100 q:100 IN | same-
	0x9100 | old:100 IN | same-
	four VLAN tags | ad:1 ad:2 q:3 q:4 IN | same-
	CN-TAG stays | cn:7 IN | same-
	VLAN and CN-TAG stay | q:100 cn:7 IN | same-
	MPLS | IN mpls:100 | same-
	IPv6 | IN ip:fd00::1>fd00::2 udp:1 | same-
	full frame | IN udp:1468 | same-
	any type | IN type:88b6 fill:77 | same-
	EOF
	# What the domain does not know is stripped, too: no tag leaves.
	both_formats <<-'EOF' | sed 's/:0\./:6./'
	undefined signal | IN | same-
	EOF
}

# "same-": what was sent, without the tag.
without_tag() {
	awk -F ' [|] ' 'BEGIN { OFS = " | " } {
		e = $2
		gsub(/(^| )[ce]:[0-9.a-fx]+/, "", e)
		print $1, $2, e
	}'
}

formats() {
	mktransit
	port_set sw port2 egress strip
	tagged_frames | without_tag | cases h1/v0 h2/v1
	assert_eq stripped "$(tagged_frames | wc -l)" "$(port_stat sw port2 stripped)"
	assert_eq updated 0 "$(port_stat sw port2 updated)"
}

octets() {
	mktransit
	port_set sw port2 egress strip
	tagged_frames | grep -v "full frame" | without_tag | cases sw/port2 h2/v1
}

padding() {
	mktransit
	port_set sw port2 egress strip
	cases h1/v0 h2/v1 <<-'EOF'
	60 with the tag, 56 without | c:0.31.0 udp:10 pad:60 | udp:10 pad:60
	60 with the tag, 52 without | e:0.1.0 udp:10 pad:60 | udp:10 pad:60
	64 with the tag, 60 without | c:0.31.0 udp:10 pad:64 | udp:10 pad:60
	63, one short | c:0.31.0 udp:10 pad:63 | udp:10 pad:60
	68, full | e:0.1.0 udp:10 pad:68 | udp:10 pad:60
	61 without the tag stays 61 | c:0.31.0 udp:10 pad:65 | udp:10 pad:61
	all of it is data | c:0.31.0 type:88b6 fill:42 | type:88b6 fill:42 pad:60
	VLAN tag counts | q:5 c:0.31.0 udp:2 pad:60 | q:5 udp:2 pad:60
	two VLAN tags | ad:5 q:6 c:0.31.0 udp:2 pad:62 | ad:5 q:6 udp:2 pad:60
	nothing but a type | c:0.31.0 type:88b6 | type:88b6 pad:60
	short as it came | c:0.31.0 udp:1 | udp:1 pad:60
	short as it came, in a VLAN | q:5 e:0.31.0 udp:1 | q:5 udp:1 pad:60
	untagged and short stays short | udp:1 | same
	EOF
}

untouched() {
	mktransit
	port_set sw port2 egress strip
	cases h1/v0 h2/v1 <<-'EOF'
	two tags | c:0.31.0 c:1.31.0 | same
	both formats | c:0.31.0 e:1.31.0 | same
	VLAN tag after it | c:0.31.0 q:5 | same
	five VLAN tags | q:1 q:2 q:3 q:4 q:5 c:0.31.0 | same
	cut | hex:9900fe | same
	untagged | udp:100 | same
	untagged VLAN | q:5 udp:100 | same
	EOF
	assert_eq stripped 0 "$(port_stat sw port2 stripped)"
	assert_eq malformed 5 "$(port_stat sw port2 malformed)"
}

# Count frames with a tag that arrive at v1, in up to two VLANs, and those without.
count_at_h2() {
	local n pref=1 type

	n=$(ns h2)
	tc -n "$n" qdisc add dev v1 clsact
	for type in 0x9900 0xccdd; do
		tc -n "$n" filter add dev v1 ingress pref $((pref++)) \
			protocol $type matchall action pass
		tc -n "$n" filter add dev v1 ingress pref $((pref++)) \
			protocol 802.1Q flower vlan_ethtype $type action pass
		tc -n "$n" filter add dev v1 ingress pref $((pref++)) \
			protocol 802.1Q flower vlan_ethtype 802.1Q \
			cvlan_ethtype $type action pass
	done
	tc -n "$n" filter add dev v1 ingress pref 9 matchall action pass
}

counted_at_h2() { # JQ-CONDITION-ON-PREF
	tc -n "$(ns h2)" -s -j filter show dev v1 ingress |
		jq "[.[] | select(.options.actions) | select(.pref $1) |
			.options.actions[0].stats.packets] | add // 0"
}

# Streams with all offloads and with none from h1, which tags, through the stripping port.
streams() { # ADDRESS
	local features

	for features in "tso on gso on tx on" "tso off gso off tx off"; do
		# shellcheck disable=SC2086
		nsx h1 ethtool -K v0 $features >/dev/null
		echo "$features"
		flow tcp h1 h2 "$1" --bytes 400000
	done
}

transfers() { # FORMAT ADDRESS
	mktransit
	nsx h1 sysctl -qw net.ipv6.conf.v0.disable_ipv6=0
	nsx h2 sysctl -qw net.ipv6.conf.v1.disable_ipv6=0
	ip -n "$(ns h1)" link set dev v0 mtu 1500
	addr h1 v0 10.0.0.1/24 fd00::1/64
	addr h2 v1 10.0.0.2/24 fd00::2/64
	# Room for the tag: full segments are tagged, too.
	ip -n "$(ns h1)" route change 10.0.0.0/24 dev v0 src 10.0.0.1 mtu 1492
	ip -n "$(ns h1)" -6 route add fd00::/64 dev v0 metric 1 mtu 1492
	count_at_h2
	port_set sw port1 ingress trust
	port_set sw port2 egress strip
	# last: IPv6 sends reports of its own at any time
	push_all h1 v0 format "$1" signal abw
	streams "$2"
	assert_eq "tagged frames at h2" 0 "$(counted_at_h2 '< 9')"
	assert_ge "clean frames at h2" 100 "$(counted_at_h2 '== 9')"
	assert_ge stripped 100 "$(port_stat sw port2 stripped)"
	# The same without strip: the counters above can count.
	port_set sw port2 egress keep
	flow udp h1 h2 10.0.0.2 --count 1 --timeout 2 2>/dev/null &&
		fail "h2 understands tags"
	assert_ge "tagged frames at h2" 1 "$(counted_at_h2 '< 9')"
}

vlan_transfers() {
	local n

	mktransit
	for n in "h1 v0 1" "h2 v1 2"; do
		# shellcheck disable=SC2086
		set -- $n
		ip -n "$(ns "$1")" link add link "$2" name "$2.10" type vlan id 10
		ip -n "$(ns "$1")" link set dev "$2.10" up
		ip -n "$(ns "$1")" link add link "$2.10" name "$2.20" type vlan id 20
		ip -n "$(ns "$1")" link set dev "$2.20" up
		addr "$1" "$2.10" "10.0.10.$3/24"
		addr "$1" "$2.20" "10.0.20.$3/24"
	done
	ip -n "$(ns h1)" link set dev v0 mtu 1500
	ip -n "$(ns h1)" link set dev v0.20 mtu 1492
	ip -n "$(ns h1)" link set dev v0.10 mtu 1496
	count_at_h2
	port_set sw port2 egress strip
	push_all h1 v0 format compact signal abw
	streams 10.0.20.2
	assert_eq "tagged frames at h2" 0 "$(counted_at_h2 '< 9')"
	assert_ge stripped 100 "$(port_stat sw port2 stripped)"
}

ktap_plan 7
run_test formats "every placement and format, VLAN tag in metadata"
run_test octets "every placement and format, all in the octets"
run_test padding "padded to 60 octets with zeros"
run_test untouched "malformed and untagged frames stay"
run_test transfers "TCP with all offloads and none, compact" compact 10.0.0.2
run_test transfers "TCP with all offloads and none, expanded" expanded fd00::2
run_test vlan_transfers "TCP in two VLANs"
