#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Where a tag may stand: a bridge updates it there and changes no other octet.
#
#   h1                  sw                  h2
#   v0 ------- port1 [br0] port2 ------- v1
#
# At port2 the outer VLAN tag of a bridged frame is in the packet's metadata, that
# of a frame which sw itself sends there as raw octets is in the octets.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

places() {
	both_formats <<-'EOF'
	no VLAN | IN | OUT
	802.1Q | q:100 IN | q:100 OUT
	802.1Q with priority | q:100/5 IN | q:100/5 OUT
	802.1ad | ad:100 IN | ad:100 OUT
	QinQ | ad:100 q:200 IN | ad:100 q:200 OUT
	QinQ, both VIDs equal | ad:100 q:100 IN | ad:100 q:100 OUT
	two of 802.1Q | q:100 q:100 IN | q:100 q:100 OUT
	0x9100 | old:100 IN | old:100 OUT
	0x9100 and 802.1Q | old:100 q:100 IN | old:100 q:100 OUT
	0x9100 within 802.1Q | q:100 old:5 IN | q:100 old:5 OUT
	four VLAN tags | ad:100 ad:2 q:3 q:4 IN | ad:100 ad:2 q:3 q:4 OUT
	four of 0x9100 | old:1 old:2 old:3 old:4 IN | old:1 old:2 old:3 old:4 OUT
	CN-TAG | cn:7 IN | cn:7 OUT
	VLAN and CN-TAG | q:100 cn:0x9900 IN | q:100 cn:0x9900 OUT
	four VLAN tags and CN-TAG | ad:100 q:2 q:3 q:4 cn:7 IN | ad:100 q:2 q:3 q:4 cn:7 OUT
	IPv6 | IN ip:fd00::1>fd00::2 udp:33 | OUT ip:fd00::1>fd00::2 udp:33
	IPv6 in a VLAN | q:100 IN ip:fd00::1>fd00::2 tcp:1 | q:100 OUT ip:fd00::1>fd00::2 tcp:1
	MPLS | IN mpls:100 | OUT mpls:100
	ARP | IN type:0806 fill:28 pad:60 | OUT type:0806 fill:28 pad:60
	any type | q:100 IN type:88b6 fill:99 | q:100 OUT type:88b6 fill:99
	broadcast | to:ffffffffffff IN | to:ffffffffffff OUT
	full frame | IN udp:1468 | OUT udp:1468
	odd length | IN udp:77 | OUT udp:77
	nothing after the type | IN type:88b6 | OUT type:88b6
	tag looks like a TPID | IN type:88b6 hex:9900ccdd9900ccdd | OUT type:88b6 hex:9900ccdd9900ccdd
	untagged, TPID in the data | type:88b6 hex:9900fe0099000800 | same
	VID looks like a TPID | q:0x900 IN hex:88b69900fe00 | q:0x900 OUT hex:88b69900fe00
	EOF
	sed 's/\<IN\>/c:0.31.0.1/; s/\<OUT\>/c:0.24.9.1/' <<-'EOF'
	compact, reserved bit | IN | OUT
	compact, reserved bit in a VLAN | q:100 IN | q:100 OUT
	EOF
	sed 's/\<IN\>/e:0.0xfffff.0.0xa5/; s/\<OUT\>/e:0.13750.9.0xa5/' <<-'EOF'
	expanded, reserved octet | IN | OUT
	EOF
}

# Frames that a bridge with VLAN filtering would rewrite itself.
places_of_vid_0() {
	both_formats <<-'EOF'
	priority-tagged | q:0/3 IN | q:0/3 OUT
	priority-tagged, TCI 0 | q:0 IN | q:0 OUT
	802.1ad VID 0 | ad:0 IN | ad:0 OUT
	802.1ad VID 0 and 802.1Q VID 0 | ad:0 q:0 IN | ad:0 q:0 OUT
	EOF
}

in_metadata() {
	mktransit
	{ places; places_of_vid_0; } | cases h1/v0 h2/v1
	assert_ge updated 50 "$(port_stat sw port2 updated)"
	assert_eq malformed 0 "$(port_stat sw port2 malformed)"
	assert_eq "stripped at port1" 0 "$(port_stat sw port1 stripped)"
}

in_octets() {
	mktransit
	{ places; places_of_vid_0; } | grep -v "full frame" | cases sw/port2 h2/v1
	assert_ge updated 50 "$(port_stat sw port2 updated)"
	assert_eq malformed 0 "$(port_stat sw port2 malformed)"
}

filtering_bridge() {
	local p

	mktransit
	ip -n "$(ns sw)" link set dev br0 type bridge vlan_filtering 1
	for p in port1 port2; do
		bridge -n "$(ns sw)" vlan add dev $p vid 2-4094
	done
	places | cases h1/v0 h2/v1
	assert_ge updated 50 "$(port_stat sw port2 updated)"
}

filtering_provider_bridge() {
	local p

	mktransit
	ip -n "$(ns sw)" link set dev br0 type bridge vlan_filtering 1 vlan_protocol 802.1ad
	for p in port1 port2; do
		bridge -n "$(ns sw)" vlan add dev $p vid 2-4094
	done
	places | cases h1/v0 h2/v1
}

# The bridge takes the VLAN tag off, or puts one on.
access_port() {
	mktransit
	ip -n "$(ns sw)" link set dev br0 type bridge vlan_filtering 1
	bridge -n "$(ns sw)" vlan add dev port1 vid 100
	bridge -n "$(ns sw)" vlan add dev port2 vid 100 pvid untagged
	both_formats <<-'EOF' | cases h1/v0 h2/v1 --marker="q:100 type:88b5 text:@"
	802.1Q off | q:100 IN | OUT
	outer off | q:100 q:7 IN | q:7 OUT
	EOF
	both_formats <<-'EOF' | cases h2/v1 h1/v0 --marker="to:01 from:02 type:88b5 text:@"
	802.1Q on | to:01 from:02 c:0.31.0 | to:01 from:02 q:100 c:0.28.7
	EOF
}

macsec_end() { # NS DEV NAME PEER-MAC OWN-KEY PEER-KEY
	local n=$1-$$

	ip -n "$n" link add link "$2" name "$3" type macsec encrypt on
	ip -n "$n" macsec add "$3" tx sa 0 pn 1 on key 01 "$5"
	ip -n "$n" macsec add "$3" rx port 1 address "$4"
	ip -n "$n" macsec add "$3" rx port 1 address "$4" sa 0 pn 1 on key 02 "$6"
	ip -n "$n" link set dev "$3" up
}

above_macsec() {
	local k1=11111111111111111111111111111111 k2=22222222222222222222222222222222

	modprobe macsec 2>/dev/null || skip "no macsec in this kernel"
	mkns h1 sw h2
	mkveth h1 v0 01 sw port1 11
	mkveth sw port2 12 h2 v1 02
	macsec_end sw port2 sec2 02:00:00:00:00:02 $k1 $k2
	macsec_end h2 v1 sec1 02:00:00:00:00:12 $k2 $k1
	mkbridge sw br0 "" port1 sec2
	lm_number sw
	port_add sw port1 capacity 220gbit estimator raw interval 10us ingress trust
	port_add sw sec2 capacity 110gbit estimator raw interval 10us lm port=9,port16=9 ingress trust
	# The port below sees cipher text only.
	port_add sw port2 capacity 10gbit lm port=1,port16=1 ingress trust
	places | grep -v "full frame" | cases h1/v0 h2/sec1
	assert_eq "tagged frames below" 0 "$(port_stat sw port2 tagged)"
	assert_ge "frames below" 50 "$(port_stat sw port2 untagged)"
}

ktap_plan 6
run_test in_metadata "every placement, outer VLAN in metadata"
run_test in_octets "every placement, all in the octets"
run_test filtering_bridge "every placement, bridge that filters 802.1Q"
run_test filtering_provider_bridge "every placement, bridge that filters 802.1ad"
run_test access_port "VLAN tag taken off or put on by the bridge"
run_test above_macsec "every placement above a MACsec device"
