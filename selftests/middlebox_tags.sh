#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every connection is complete, whatever a middlebox does to tagged frames and to
# acknowledgments, and the sender knows at the end what kind of path it has.  The path is
# that of hosts.sh, the middlebox is at r2.

# shellcheck disable=SC2119 # settings may follow, or not

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"
. "$(dirname "$0")/hosts.sh"

tags_stripped() {
	mb_begin mb_strips_tags
	counts_are h1 negotiated $((2 * mb_connections)) blackholes 0
	flow_ends_up '.path == "strips" and .stats.no_signal_in > 0 and
		.stats.reflections_in == 0 and .stats.packets > 300 and
		.stats.tagged < .stats.packets / 4'
	mb_end
}

# Once the destination is known for it, connections to it do not try any more.
tagged_dropped() {
	mb_begin mb_drops_tagged
	flow_ends_up '.path == "drops" and .stats.tagged < 60'
	[ "$(host_count h1 blackholes)" -ge 1 ] || fail "no black hole was counted"
	connections "$H2_4" --count $mb_connections --parallel $mb_connections
	assert_ge "avoided" $mb_connections "$(host_count h1 avoided)"
	flow_ends_up '.path == "drops" and .stats.tagged == 0 and .retransmissions == 0'
	mb_end
}

data_dropped() {
	hosts_features tso off gso off
	mb_begin mb_drops_data 7
	flow_ends_up '.path == "capable" and .retransmissions > 5 and
		(.signals | map(.s != null) | all)'
	hosts_features tso on gso on
	mb_end
}

acks_coalesced() {
	mb_begin mb_coalesces_acks 4
	flow_ends_up '.path == "capable" and (.signals | map(.s != null) | all)'
	mb_end
}

# What was stripped is found again when the middlebox is gone: probes go on.
comes_back() {
	hosts_enable
	mb_strips_tags
	pace_start "$(path_flow)"
	flow_wait 25 h1 '.[0].path == "strips"' dport 5001
	mb_off
	flow_wait 25 h1 '.[0].path == "capable"' dport 5001
	pace_stop
	hosts_disable
}

ktap_plan 5
need nft
path_make bridged
run_test tags_stripped "tags are taken off"
run_test tagged_dropped "tagged frames are dropped"
run_test data_dropped "one in seven data packets is dropped"
run_test acks_coalesced "three of four acknowledgments are dropped"
run_test comes_back "a path that strips no more is found again"
