#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Link control is never tagged, stripped or updated.
#
#   h1                  sw                  h2
#   v0 ------- port1 [br0] port2 ------- v1
#
# The bridge forwards all group addresses but that of PAUSE; PAUSE and, once more, all
# others go from port1 to port2 by a redirect that knows no addresses.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

control() {
	cat <<-'EOF'
	STP | to:0180c2000000 hex:0026424203000000000000000000000000000000000000000000 pad:60
	LACP | to:0180c2000002 type:8809 hex:0101 fill:108
	slow protocols to a station | type:8809 hex:0301 fill:60
	EAPOL | to:0180c2000003 type:888e hex:02010000 pad:60
	EAPOL to a station | type:888e hex:02000005 fill:5 pad:60
	LLDP | to:0180c200000e type:88cc hex:020704 fill:40 pad:60
	LLDP to a station | type:88cc hex:020704 fill:40 pad:60
	PTP peer delay | to:0180c200000e type:88f7 fill:54
	PTP | to:011b19000000 type:88f7 fill:54
	MVRP | to:0180c2000021 type:88f5 fill:46
	CFM | to:0180c2000030 type:8902 fill:70
	CNM | type:22e7 fill:46
	CNM in a VLAN | q:100/6 type:22e7 fill:46
	CNM with a CN-TAG | cn:7 type:22e7 fill:46
	LLC to a station | llc:46
	SNAP | hex:0026aaaa03000000 fill:40
	LLC in a VLAN | q:5 llc:46
	PTP in a VLAN | q:5 type:88f7 fill:54
	any type to a link address | to:0180c200000f type:0800 fill:46
	EOF
}

pause() {
	echo "PAUSE | to:0180c2000001 type:8808 hex:0001ffff pad:60"
}

# The same with a tag, that has no business there.
tagged_control() {
	sed 's/^\([^|]*\)|\(\( *\(to\|q\|cn\):[^ ]*\)*\) /\1 with a tag |\2 c:0.31.0 /' |
		sed '/ hex:00[0-9a-f]/d'
}

same() {
	sed 's/$/ | same/'
}

forward_all() {
	ip -n "$(ns sw)" link set dev port1 type bridge_slave group_fwd_mask 65533
	ip -n "$(ns sw)" link set dev br0 type bridge mcast_snooping 0
}

redirect() {
	mktransit
	tc -n "$(ns sw)" filter add dev port1 ingress pref 1 matchall \
		action mirred egress redirect dev port2
}

LINK_MARK="--marker=to:0180c200000e type:88cc text:@"

never_pushed() {
	mktransit
	forward_all
	push_all sw port2 format compact signal abw
	control | same | cases h1/v0 h2/v1 "$LINK_MARK"
	assert_eq tagged 0 "$(port_stat sw port2 tagged)"
	cases h1/v0 h2/v1 "$LINK_MARK" <<-'EOF'
	others are | udp:40 | c:0.24.9 udp:40
	others in a VLAN are | q:5 udp:40 | q:5 c:0.24.9 udp:40
	tagged ones are not tagged twice | c:0.3.77 udp:40 | same
	expanded ones neither | q:5 e:0.1.77 udp:40 | same
	EOF
}

never_touched() { # EXPECTED PORT SETTING...
	local expected=$1

	shift
	mktransit
	forward_all
	port_set sw "$@"
	control | same | cases h1/v0 h2/v1
	control | tagged_control | same | cases h1/v0 h2/v1
	assert_eq "tags at port2" 0 "$(port_stat sw port2 tagged)"
	assert_eq "updates at port2" 0 "$(port_stat sw port2 updated)"
	assert_eq "strips at port2" 0 "$(port_stat sw port2 stripped)"
	assert_eq "strips at port1" 0 "$(port_stat sw port1 stripped)"
	assert_eq "drops at port1" 0 "$(port_stat sw port1 dropped)"
	echo "others are | IN | $expected" | both_formats | cases h1/v0 h2/v1
}

redirected() {
	redirect
	{ pause; control; } | same | cases h1/v0 h2/v1
	{ pause; control; } | tagged_control | same | cases h1/v0 h2/v1
	port_set sw port2 egress strip
	{ pause; control; } | tagged_control | same | cases h1/v0 h2/v1
	assert_eq stripped 0 "$(port_stat sw port2 stripped)"
	port_set sw port2 egress keep
	push_all sw port2 format expanded signal abwc
	{ pause; control; } | same | cases h1/v0 h2/v1 "$LINK_MARK"
	echo "others are | udp:40 | e:1.1000000.9 udp:40" |
		cases h1/v0 h2/v1 "$LINK_MARK"
}

ktap_plan 6
run_test never_pushed "a push filter for everything leaves them alone"
run_test never_touched "not updated" OUT port2 update on
run_test never_touched "not stripped at egress" udp:32 port2 egress strip
run_test never_touched "not stripped at ingress" udp:32 port1 ingress strip
run_test never_touched "not dropped at ingress" lost port1 ingress drop
run_test redirected "PAUSE and all others without a bridge"
