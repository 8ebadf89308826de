#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Malformed frames are counted and forwarded untouched, whatever the ports' settings.
#
#   h1                  sw                  h2
#   v0 ------- port1 [br0] port2 ------- v1
#
# The frames are those of csig-walk.json.  One that ends before its EtherType can't
# be sent: Linux gives no such frame to a device.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

VECTORS=$CSIG_LIB_DIR/unit/vectors/csig-walk.json

of_status() { # STATUS
	jq -r --arg s "$1" 'to_entries[] | .key as $n | .value |
		select(.status == $s and (.frame | length) >= 28) |
		"record \($n) | to:\(.frame[0:12]) from:\(.frame[12:24]) hex:\(.frame[24:]) | same"' \
		"$VECTORS"
}

# More of the kind, with contents that would be updated if they were looked at.
more() {
	cat <<-'EOF'
	two compact | c:0.31.0 c:0.31.0 | same
	two expanded | e:0.0xfffff.0 e:0.0xfffff.0 | same
	compact, expanded | q:5 c:0.31.0 e:0.0xfffff.0 | same
	expanded, compact | q:5 e:0.0xfffff.0 c:0.31.0 | same
	three | c:0.31.0 c:0.31.0 c:0.31.0 | same
	802.1Q after it | c:0.31.0 q:5 | same
	802.1ad after it | e:0.0xfffff.0 ad:5 | same
	0x9100 after it | c:0.31.0 old:5 | same
	five VLAN tags | ad:1 q:2 q:3 q:4 q:5 c:0.31.0 | same
	six VLAN tags | old:1 q:2 q:3 q:4 q:5 q:6 e:0.1.1 | same
	TPID and nothing | hex:9900 | same
	TPID and one octet | hex:990000 | same
	tag and nothing | c:0.31.0 hex: | same
	tag and one octet | c:0.31.0 hex:08 | same
	expanded TPID and nothing | hex:ccdd | same
	expanded cut at 7 | hex:ccdd0000000fffff | same
	expanded and one octet | e:0.0xfffff.0 hex:08 | same
	in a VLAN, TPID and nothing | q:5 hex:9900 hex:0000 | same
	in a VLAN, tag and one octet | q:5 c:0.31.0 hex:08 | same
	EOF
}

malformed() {
	of_status malformed
	more
}

everything() { # FROM
	local skipped n

	skipped=$(jq '[.[] | select(.frame | length < 28)] | length' "$VECTORS")
	echo "$skipped of the records are no frames that could be sent"
	assert_le "records that are no frames" 2 "$skipped"
	n=$(malformed | wc -l)
	assert_ge "malformed frames" 28 "$n"
	mktransit
	malformed | cases "$1" h2/v1
	assert_eq malformed "$n" "$(port_stat sw port2 malformed)"
	assert_eq tagged 0 "$(port_stat sw port2 tagged)"
	assert_eq updated 0 "$(port_stat sw port2 updated)"
	of_status none | cases "$1" h2/v1
	assert_eq "malformed after frames without tag" "$n" \
		"$(port_stat sw port2 malformed)"
}

with_policies() {
	local n

	n=$(malformed | wc -l)
	mktransit
	port_set sw port2 egress strip unknown strip
	malformed | cases h1/v0 h2/v1
	port_set sw port1 ingress strip
	malformed | cases h1/v0 h2/v1
	port_set sw port1 ingress drop
	malformed | cases h1/v0 h2/v1
	assert_eq malformed $((3 * n)) "$(port_stat sw port2 malformed)"
	assert_eq dropped 0 "$(port_stat sw port1 dropped)"
	assert_eq stripped 0 "$(port_stat sw port1 stripped)"
	assert_eq stripped 0 "$(port_stat sw port2 stripped)"
}

# A push filter for everything adds no tag to them.
with_push() {
	mktransit
	push_all sw port2 format compact signal abw
	malformed | cases h1/v0 h2/v1 "--marker=c:0.1.1 type:88b5 text:@"
}

at_speed() {
	mktransit
	burst 3000 h1/v0 h2/v1 <<-'EOF'
	two tags | c:0.31.0 c:0.31.0 | same
	good | c:0.3.5 udp:900 | same
	VLAN after it | q:7 e:0.31.0 q:5 | same
	untagged | udp:900 | same
	cut | c:0.31.0 hex:08 | same
	EOF
	assert_eq malformed 1800 "$(port_stat sw port2 malformed)"
}

ktap_plan 5
run_test everything "every record, bridged" h1/v0
run_test everything "every record, all in the octets" sw/port2
run_test with_policies "untouched by strip and drop"
run_test with_push "untouched by push"
run_test at_speed "none is lost among thousands"
