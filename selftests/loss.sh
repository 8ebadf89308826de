#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Reflection survives loss, one in seven data packets at r2 of hosts.sh's path, and never
# takes room from SACK blocks.

# shellcheck disable=SC2119 # settings may follow, or not

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"
. "$(dirname "$0")/hosts.sh"

# No super-packets: each packet has its own chance to be lost.
setup() { # 1 IN N, [SETTING...]
	local n=$1

	shift
	hosts_features tso off gso off gro off
	hosts_enable "$@"
	mb_drops_data "$n"
}

end() {
	mb_off
	hosts_disable
}

# At least one of each signal per 4 round trips, over the whole transfer.  These are
# long, so that timeouts, 200 ms at least, are no large part of it.
reflections_per_rtt() { # FORMAT
	local rtt t n want

	path_child 3 netem delay 80ms limit 10000
	setup 7 format "$1"
	wire_start h1/eth0 --times
	pace_start "$(path_flow)"
	sleep 8
	flow_is h1 'length == 1' dport 5001 || fail "no flow"
	rtt=$(jq '.[0].rtt_ns' "$_csig_tmp/flow")
	pace_stop
	wire_stop
	json '.[0].retransmissions > 20' <"$_csig_tmp/flow"
	echo "round trip $rtt ns"
	for t in 0 1 2; do
		n=$(wire_get ".in.reflections[\"$t\"].count // 0")
		want=$(wire_get "(.in.reflections[\"$t\"].times[-1] - .out.first_data_s) *
			1e9 / 4 / $rtt | ceil")
		echo "T$t: $n reflections, $want wanted; longest gap in round trips:" \
			"$(wire_get "[.in.reflections[\"$t\"].times | .[1:] as \$b |
				range(\$b | length) as \$i | \$b[\$i] - .[\$i]] |
				max * 1e9 / $rtt * 10 | round / 10")"
		assert_ge "reflections of T$t" "$want" "$n"
	done
	end
	path_child 3 netem delay $path_delay limit 10000
}

# As many blocks as there is room for, whether CSIG has something to say or not
sack_blocks() { # BLOCKS THAT FILL THE HEADER, TIMESTAMPS
	local n

	for n in h1 h2; do
		nsx $n sysctl -qw net.ipv4.tcp_timestamps="$2"
	done
	# holes enough in one flight
	ip -n "$(ns h1)" route replace 10.1.0.0/24 dev eth0 src "$H1_4" initcwnd 60
	setup 4
	wire_start h2/eth0 --src "$H2_4"
	bulk "from=$(ns h1),to=$(ns h2),addr=$H2_4,size=16000,bytes=250000"
	wire_stop
	for n in h1 h2; do
		nsx $n sysctl -qw net.ipv4.tcp_timestamps=1
	done
	ip -n "$(ns h1)" route replace 10.1.0.0/24 dev eth0 src "$H1_4"
	wire_get '"SACK blocks: \(.out.sacks), with a reflection: \(.out.sacks_with_option)"'
	assert_eq intact true "$(bulk_get intact)"
	assert_eq "most blocks" "$1" "$(wire_get '.out.sacks | keys | max')"
	assert_eq "reflections beside $1 blocks" null \
		"$(wire_get ".out.sacks_with_option[\"$1\"]")"
	[ "$(wire_get '.out.sacks_with_option | length')" -gt 0 ] ||
		fail "no reflection beside fewer blocks"
	[ "$(host_count h2 no_room)" -gt 0 ] || fail "no room, and not counted"
	end
}

ktap_plan 4
need nft
path_make bridged
run_test reflections_per_rtt "each signal comes back once in 4 round trips, compact" compact
run_test reflections_per_rtt "each signal comes back once in 4 round trips, expanded" expanded
run_test sack_blocks "SACK blocks come first, with timestamps" 3 1
run_test sack_blocks "SACK blocks come first, without timestamps" 4 0
