#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tunnels over tagged links, and hosts that tag inside of tunnels: traffic passes, no
# checksum is wrong, no layer has more than one tag.
#
#   h1 eth0 --- port1 [bridge sw] port2 --- eth0 h2
#   10.1.0.1    capacity  40    20 Mbit/s   10.1.0.2       tunnels: 10.9.0.1, 10.9.0.2

# shellcheck disable=SC2119 # settings may follow, or not

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"
. "$(dirname "$0")/hosts.sh"

IN_1=10.9.0.1 IN_2=10.9.0.2

underlay() {
	mkns h1 h2 sw
	mkveth h1 eth0 01 sw port1 11 mtu 1600
	mkveth sw port2 12 h2 eth0 02 mtu 1600
	mkbridge sw br0 "" port1 port2
	addr h1 eth0 10.1.0.1/24
	addr h2 eth0 10.1.0.2/24
	csigctl -n "$(ns sw)" -b - <<-EOT
	port add dev port1 capacity 40mbit ingress trust
	port add dev port2 capacity 20mbit ingress trust
	EOT
}

in_both() { # COMMAND OF ip, with LOCAL and REMOTE for the addresses
	local words=("${@/#LOCAL/10.1.0.1}")

	ip -n "$(ns h1)" "${words[@]/#REMOTE/10.1.0.2}"
	words=("${@/#LOCAL/10.1.0.2}")
	ip -n "$(ns h2)" "${words[@]/#REMOTE/10.1.0.1}"
}

up() { # DEV: the tunnel has its addresses
	local n

	for n in h1 h2; do
		ip -n "$(ns $n)" link set dev "$1" up
		addr $n "$1" 10.9.0.${n#h}/24
	done
}

# Bulk and short connections, there and back; MOST tags in a frame at h2's eth0.
passes() { # ADDRESS OF h2
	local before after

	before=$(($(csum_errors h1) + $(csum_errors h2)))
	bulk "from=$(ns h1),to=$(ns h2),addr=$1,size=16000,bytes=1000000"
	assert_eq intact true "$(bulk_get intact)"
	bulk "from=$(ns h2),to=$(ns h1),addr=${1%.2}.1,size=700,bytes=200000"
	assert_eq "intact, back" true "$(bulk_get intact)"
	connections "$1" --count 5 --parallel 5
	after=$(($(csum_errors h1) + $(csum_errors h2)))
	assert_eq "wrong checksums" "$before" "$after"
	assert_eq "malformed" 0 $(($(port_stat sw port2 malformed) +
		$(port_stat sw port1 malformed)))
}

enable() { # DEV...
	local n dev

	for n in h1 h2; do
		for dev in "$@"; do
			ctl $n host enable dev "$dev"
		done
	done
}

# What is in a tunnel has no tag outside: the other end could not tell whose it was.  Beside
# it tags pass as ever.
tags_are_plain() {
	assert_eq "tags outside of the tunnel" 0 "$(port_stat sw port2 tagged)"
	bulk "from=$(ns h1),to=$(ns h2),addr=10.1.0.2,size=16000,bytes=500000"
	assert_ge "tagged beside the tunnel" 5 "$(port_stat sw port2 tagged)"
}

# A tunnel that is an Ethernet device: the tag is inside, outside, in both
ethernet_tunnel() { # MODULE DEV COMMAND OF ip...
	local dev=$2 n before

	modprobe "$1" 2>/dev/null || skip "no $1 in this kernel"
	shift 2
	underlay
	in_both "$@"
	up "$dev"
	nsx h1 ping -q -c 1 -W 5 $IN_2
	echo "--- tagged underlay"
	enable eth0
	passes $IN_2
	tags_are_plain
	echo "--- underlay and tunnel"
	enable "$dev"
	passes $IN_2
	before=$(port_stat sw port2 tagged)
	reflect_start
	ctl h1 probe $IN_2 -c 3 -i 100ms
	reflect_stop
	assert_eq "tags around tagged probes" "$before" "$(port_stat sw port2 tagged)"
	echo "--- tunnel only"
	for n in h1 h2; do
		ctl $n host disable dev eth0
	done
	wire_start "h2/$dev" --src $IN_1
	passes $IN_2
	wire_stop
	wire_get '.out | "\(.data) data, \(.data_tagged) tagged inside"'
	assert_eq "most tags inside" 1 "$(wire_get .out.tags_max)"
	assert_ge "tagged inside" 20 "$(wire_get .out.data_tagged)"
	[ "$(wire_get '.in.reflections | length')" -ge 2 ] || fail "nothing came back"
	segmented_below
}

# The device below can't segment what is in a tunnel: the kernel finds the tag, and cuts.
# Super-packets that it can't cut are sent again as single segments.
segmented_below() {
	local n dropped

	echo "--- tunnel only, segmented by the kernel"
	for n in h1 h2; do
		nsx $n ethtool -K eth0 tx-udp_tnl-segmentation off tx-udp_tnl-csum-segmentation off \
			tx-gre-segmentation off tx-gre-csum-segmentation off >/dev/null
	done
	dropped=$(tunnel_drops)
	bulk "from=$(ns h1),to=$(ns h2),addr=$IN_2,size=65536,bytes=1000000"
	echo "$(bulk_get retransmissions) again, $(($(tunnel_drops) - dropped)) dropped"
	assert_eq intact true "$(bulk_get intact)"
	assert_eq "dropped below the tunnel" "$dropped" "$(tunnel_drops)"
}

tunnel_drops() {
	nsx h1 cat /sys/class/net/eth0/statistics/tx_dropped
}

vxlan() {
	ethernet_tunnel vxlan vx0 link add name vx0 mtu 1500 type vxlan id 7 \
		local LOCAL remote REMOTE dstport 4789 udpcsum
}

geneve() {
	ethernet_tunnel geneve gn0 link add name gn0 mtu 1500 type geneve id 7 remote REMOTE
}

gretap() {
	ethernet_tunnel ip_gre gt0 link add name gt0 mtu 1500 type gretap local LOCAL remote REMOTE
}

too_long() { # frames that MACsec at h1 dropped
	nsx h1 ip -s macsec show ms0 | awk '/OutPktsTooLong/ {
		for (i = 2; i <= NF; i++) if ($i == "OutPktsTooLong") n = i - 1
		getline; print $n }'
}

# MACsec: what is inside is encrypted, the tag too.  The device below has no room beyond
# its MTU, so segments become shorter by the tag, and none is lost before.
macsec() {
	local n peer key=0123456789abcdef0123456789abcdef

	modprobe macsec 2>/dev/null || skip "no macsec in this kernel"
	underlay
	for n in h1 h2; do
		peer=02
		[ $n = h1 ] || peer=01
		ip -n "$(ns $n)" link add link eth0 name ms0 mtu 1500 type macsec encrypt on
		ip -n "$(ns $n)" macsec add ms0 tx sa 0 pn 1 on key 00 $key
		ip -n "$(ns $n)" macsec add ms0 rx port 1 address "02:00:00:00:00:$peer"
		ip -n "$(ns $n)" macsec add ms0 rx port 1 address "02:00:00:00:00:$peer" \
			sa 0 pn 1 on key 00 $key
	done
	up ms0
	nsx h1 ping -q -c 1 -W 5 $IN_2
	echo "--- the device below"
	enable eth0
	passes $IN_2
	assert_eq "tags before a SecTAG" 0 "$(port_stat sw port2 tagged)"
	echo "--- both"
	enable ms0
	wire_start h2/ms0 --src $IN_1
	passes $IN_2
	wire_stop
	assert_eq "most tags inside" 1 "$(wire_get .out.tags_max)"
	assert_eq "tags before a SecTAG" 0 "$(port_stat sw port2 tagged)"
	[ "$(wire_get '.in.reflections | length')" -ge 2 ] || fail "nothing came back"
	bulk "from=$(ns h1),to=$(ns h2),addr=$IN_2,size=16000,bytes=500000"
	assert_eq "frames too long for MACsec" 0 "$(too_long)"
}

# Devices without Ethernet headers are refused; over tagged links they work.
ipip() {
	modprobe ipip 2>/dev/null || skip "no ipip in this kernel"
	underlay
	in_both link add name ip0 type ipip local LOCAL remote REMOTE
	up ip0
	assert_refused 2 "ip0" ctl h1 host enable dev ip0
	enable eth0
	passes $IN_2
	tags_are_plain
}

esp() { # transport|tunnel
	local n

	modprobe esp4 2>/dev/null || skip "no ESP in this kernel"
	underlay
	for n in h1 h2; do
		states "$1" $n | ip -n "$(ns $n)" -batch - || skip "no xfrm in this kernel"
	done
	enable eth0
	passes 10.1.0.2
	assert_eq "tags outside of ESP" 0 "$(port_stat sw port2 tagged)"
	[ "$(nsx h2 cat /proc/net/xfrm_stat 2>/dev/null |
		awk '$1 != "" && $2 > 0 { n++ } END { print n + 0 }')" = 0 ] ||
		fail "xfrm errors: $(nsx h2 cat /proc/net/xfrm_stat)"
}

states() { # MODE NS
	local one=10.1.0.1 two=10.1.0.2 mode=$1 to_b=out to_a=in

	[ "$2" = h1 ] || { to_b=in to_a=out; }
	cat <<-EOT
	xfrm state add src $one dst $two proto esp spi 0x100 mode $mode aead rfc4106(gcm(aes)) 0x0123456789abcdef0123456789abcdef01234567 128
	xfrm state add src $two dst $one proto esp spi 0x101 mode $mode aead rfc4106(gcm(aes)) 0x0123456789abcdef0123456789abcdef01234567 128
	xfrm policy add src $one dst $two dir $to_b tmpl src $one dst $two proto esp mode $mode
	xfrm policy add src $two dst $one dir $to_a tmpl src $two dst $one proto esp mode $mode
	EOT
}

ktap_plan 7
run_test vxlan "VXLAN"
run_test geneve "GENEVE"
run_test gretap "GRE with Ethernet inside"
run_test ipip "IPIP"
run_test esp "ESP, transport mode" transport
run_test esp "ESP, tunnel mode" tunnel
run_test macsec "MACsec"
