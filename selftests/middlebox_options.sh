#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every connection is complete, whatever a middlebox does to segments with the option, and
# both ends know what they agreed on.  The path is that of hosts.sh, the middlebox is at r2.

# shellcheck disable=SC2119 # settings may follow, or not

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"
. "$(dirname "$0")/hosts.sh"

each=10		# connections over IPv4, and as many over IPv6

begin() { # MIDDLEBOX [ARGUMENT...]
	hosts_enable
	"$@"
	connections "$H2_4" --count $each --parallel $each
	connections "$H2_6" --count $each --parallel $each
}

end() {
	mb_off
	hosts_disable
}

counts_are() { # NS KEY NUMBER...
	local n=$1

	shift
	while [ $# -gt 0 ]; do
		assert_eq "$1 at $n" "$2" "$(host_count "$n" "$1")"
		shift 2
	done
}

# A longer flow, until it is as it has to be
flow_ends_up() { # EXPRESSION
	pace_start "$(path_flow)"
	flow_wait 25 h1 "length == 1 and (.[0] | $1)" dport 5001
	pace_stop
}

no_flow() {
	pace_start "$(path_flow)"
	flow_is h1 'length == 0' || fail "negotiated: $(head -c 900 "$_csig_tmp/flow")"
	pace_stop
}

syn_dropped() {
	begin mb_drops_syn
	counts_are h1 retried $((2 * each)) refused $((2 * each)) negotiated 0
	counts_are h2 negotiated 0
	no_flow
	end
}

synack_dropped() {
	begin mb_drops_synack
	counts_are h1 negotiated 0
	counts_are h2 negotiated 0
	no_flow
	end
}

option_stripped() {
	begin mb_strips_option
	counts_are h1 asked $((2 * each)) retried 0 refused $((2 * each)) negotiated 0
	no_flow
	end
}

# The tags arrive, but the sender never hears of it: no reason to stop, none to trust.
reflections_stripped() {
	begin mb_strips_reflections
	counts_are h1 negotiated $((2 * each)) blackholes 0
	flow_ends_up '.path == "unknown" and .stats.tagged > 30 and
		.stats.reflections_in == 0 and (.signals | map(.s) | unique == [null])'
	end
}

ktap_plan 4
need nft
path_make bridged
run_test syn_dropped "SYNs with the option are dropped"
run_test synack_dropped "SYN-ACKs with the option are dropped"
run_test option_stripped "the option is replaced by NOPs"
run_test reflections_stripped "options of established connections are replaced by NOPs"
