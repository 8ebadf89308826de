#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Compare and replace: every record of csig-compare-replace.json through a port.
#
#   h1                  sw                  h2
#   v0 ------- port1 [br0] port2 ------- v1
#
# The available bandwidth of an idle port is its capacity: setting the capacity sets
# the local value exactly.  For records of ABW/C and PD the rows T 1 and 2 of the
# table keep boundaries, base, step and aggregate, and take their value from there
# too; what the sources measure is the topic of other tests.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

VECTORS=$CSIG_LIB_DIR/unit/vectors/csig-compare-replace.json

# Row T from source abw, with the numbers that the row has now.
from_abw() { # T
	local row

	row=$(ctl sw -j signal show | jq -c ".[] | select(.t == $1)")
	ctl sw signal set "$1" source abw \
		aggregate "$(jq -r .aggregate <<<"$row")" \
		buckets "$(jq -r '.buckets | join(",")' <<<"$row")" \
		base "$(jq -r .base <<<"$row")" step "$(jq -r .step <<<"$row")"
}

records() {
	jq -r --arg set "csigctl -n $(ns sw) port set dev port2" '
		def lm: if .tag | startswith("9900") then "port" else "port16" end;
		to_entries[] | .key as $n | .value |
		"! \($set) capacity \([.local_value, 1] | max) lm \(lm)=\(.port_lm)",
		"record \($n): \(.local_value) | tag:\(.tag) | tag:\(.out)"' "$VECTORS"
}

vectors() {
	local want

	mktransit
	from_abw 1
	from_abw 2
	records | cases h1/v0 h2/v1
	want=$(jq '[.[] | select(.changed)] | length' "$VECTORS")
	assert_eq updated "$want" "$(port_stat sw port2 updated)"
	assert_eq tagged "$(jq length "$VECTORS")" "$(port_stat sw port2 tagged)"
}

# One above and one below each boundary of a coding.
boundaries() {
	local set k b c

	mktransit
	ctl sw signal set 4 source abw aggregate min buckets 1000,2000,5000 \
		base 1000 step 10
	set="csigctl -n $(ns sw) port set dev port2 capacity"
	while read -r b c k; do
		echo "! $set $b"
		echo "compact $b | c:4.31.0 | c:4.$c.9"
		echo "expanded $b | e:4.0xfffff.0 | e:4.$k.9"
	done <<-'EOF' | cases h1/v0 h2/v1
	1 0 0
	999 0 0
	1000 1 0
	1009 1 0
	1010 1 1
	1999 1 99
	2000 2 100
	4999 2 399
	5000 3 400
	10486739 3 1048573
	10486740 3 1048574
	EOF
}

# Equal codes: no change, neither of S nor of LM, in both directions.
equal_and_better() {
	mktransit
	ctl sw signal set 5 source abw aggregate max buckets 1000,200000000000 \
		base 0 step 1000000000
	cases h1/v0 h2/v1 <<-'EOF'
	min, equal | c:0.24.77 | same
	min, below | c:0.23.77 | same
	min, above | c:0.25.77 | c:0.24.9
	min, zero | c:0.0.77 | same
	min, expanded, equal | e:0.13750.777 | same
	min, expanded, below | e:0.13749.777 | same
	min, expanded, above | e:0.13751.777 | e:0.13750.9
	max, equal | c:5.1.77 | same
	max, above | c:5.2.77 | same
	max, below | c:5.0.77 | c:5.1.9
	max, expanded, equal | e:5.110.777 | same
	max, expanded, above | e:5.0xfffff.777 | same
	max, expanded, below | e:5.109.777 | e:5.110.9
	EOF
	assert_eq updated 4 "$(port_stat sw port2 updated)"
	assert_eq passed 9 "$(port_stat sw port2 passed)"
}

update_off() {
	mktransit
	port_set sw port2 update off
	both_formats <<-'EOF' | cases h1/v0 h2/v1
	pass-through | IN | same
	EOF
	assert_eq updated 0 "$(port_stat sw port2 updated)"
	port_set sw port2 update on
	both_formats <<-'EOF' | cases h1/v0 h2/v1
	full | IN | OUT
	EOF
}

ktap_plan 4
run_test vectors "every record of csig-compare-replace.json"
run_test boundaries "values around each boundary, base and step"
run_test equal_and_better "replaced only when the code is worse"
run_test update_off "update off and on again"
