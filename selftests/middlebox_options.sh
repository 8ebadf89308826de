#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every connection is complete, whatever a middlebox does to segments with the option, and
# both ends know what they agreed on.  The path is that of hosts.sh, the middlebox is at r2.

# shellcheck disable=SC2119 # settings may follow, or not

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"
. "$(dirname "$0")/hosts.sh"

no_flow() {
	pace_start "$(path_flow)"
	flow_is h1 'length == 0' || fail "negotiated: $(head -c 900 "$_csig_tmp/flow")"
	pace_stop
}

syn_dropped() {
	mb_begin mb_drops_syn
	counts_are h1 retried $((2 * mb_connections)) refused $((2 * mb_connections)) negotiated 0
	counts_are h2 negotiated 0
	no_flow
	mb_end
}

synack_dropped() {
	mb_begin mb_drops_synack
	counts_are h1 negotiated 0
	counts_are h2 negotiated 0
	no_flow
	mb_end
}

option_stripped() {
	mb_begin mb_strips_option
	counts_are h1 asked $((2 * mb_connections)) retried 0 refused $((2 * mb_connections)) negotiated 0
	no_flow
	mb_end
}

# The tags arrive, but the sender never hears of it: no reason to stop, none to trust.
reflections_stripped() {
	mb_begin mb_strips_reflections
	counts_are h1 negotiated $((2 * mb_connections)) blackholes 0
	flow_ends_up '.path == "unknown" and .stats.tagged > 30 and
		.stats.reflections_in == 0 and (.signals | map(.s) | unique == [null])'
	mb_end
}

ktap_plan 4
need nft
path_make bridged
run_test syn_dropped "SYNs with the option are dropped"
run_test synack_dropped "SYN-ACKs with the option are dropped"
run_test option_stripped "the option is replaced by NOPs"
run_test reflections_stripped "options of established connections are replaced by NOPs"
