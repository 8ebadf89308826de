#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What CSIG adds to a connection, from frames on the wire: a tag and an option are at most
# 12 octets a data packet with the compact format, and below 0.2 % at an MTU of 9000.
# The path is that of hosts.sh; both ends send at the same time.

# shellcheck disable=SC2119 # settings may follow, or not

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"
. "$(dirname "$0")/hosts.sh"

cost() { # FORMAT MTU OCTETS ADDRESS
	local total packets octets src=${4/H2/H1}

	path_make bridged mtu "$2"
	hosts_features tso off gso off gro off
	hosts_enable format "$1"
	wire_start r1/in0 --src "${!src}"
	connections "${!4}" --count 3 --parallel 3 --bytes 600000 --echo
	wire_stop
	wire_get '[.out, .in][] |
		"\(.data) data frames, \(.data_tagged) tagged, \(.options) options, at most \(.overhead_max) octets, in all \(.overhead_octets) of \(.wire_octets)"'
	assert_eq "frames that were missed" 0 "$(wire_get .lost)"
	assert_le "octets in a data packet" "$3" \
		"$(wire_get '[.out, .in] | map(.overhead_max) | max')"
	assert_le "most tags in a frame" 1 \
		"$(wire_get '[.out, .in] | map(.tags_max) | max')"
	read -r total packets octets < <(wire_get '[.out, .in] |
		[(map(.overhead_octets) | add), (map(.data) | add),
		 (map(.wire_octets) | add)] | @tsv')
	# acknowledgments without data are paid for by the data packets
	assert_le "octets of $packets data packets" $((packets * $3)) "$total"
	assert_ge "tagged data packets" $((packets / 2)) \
		"$(wire_get '[.out, .in] | map(.data_tagged) | add')"
	assert_ge "options" $((packets / 8)) "$(wire_get '[.out, .in] | map(.options) | add')"
	[ "$2" != 9000 ] || [ "$1" != compact ] ||
		assert_le "octets of $octets, times 500" "$octets" $((total * 500))
}

ktap_plan 4
run_test cost "compact, MTU 1500" compact 1500 12 H2_4
run_test cost "compact, MTU 9000, below 0.2 %" compact 9000 12 H2_4
run_test cost "compact, MTU 9000, IPv6" compact 9000 12 H2_6
run_test cost "expanded, MTU 1500" expanded 1500 20 H2_4
