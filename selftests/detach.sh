#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# "host disable" and "host enable" under load: connections go on, what was added to them is
# gone, and nothing that belongs to others is touched.  The path is that of hosts.sh.

# shellcheck disable=SC2119 # settings may follow, or not

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"
. "$(dirname "$0")/hosts.sh"

# Transfers that last as long as the test wants
load() {
	pace_start "$(path_flow rate=4M)" "$(path_flow rate=4M port=5002 "addr=$H2_6")"
}

disable_under_load() {
	hosts_enable
	load
	flow_wait 15 h1 'length == 2 and (map(.path == "capable") | all)'
	hosts_disable
	assert_refused 2 "host enable" ctl h1 flow show
	wire_start h1/eth0
	sleep 1
	wire_stop
	wire_get '"\(.out.data) data, \(.out.tagged) tagged, \(.in.segments) back, \(.in.options) options"'
	[ "$(wire_get .out.data)" -gt 50 ] || fail "the connections do not go on"
	assert_eq "tags" 0 "$(wire_get '.out.tagged + .in.tagged')"
	assert_eq "options" 0 "$(wire_get '.out.options + .in.options')"
	pace_stop
}

# Old connections are left alone, new ones take part.
on_and_off() {
	local i

	load
	for i in 1 2 3; do
		hosts_enable
		connections "$H2_4" --count 5 --parallel 5
		assert_eq "negotiated, round $i" 5 "$(host_count h1 negotiated)"
		flow_is h1 'map(select(.dport == 5001 or .dport == 5002) |
			.negotiation == "off") | all' || fail "an old connection takes part"
		hosts_disable
	done
	pace_stop
}

# One end only
half() { # THE END THAT STAYS
	local gone=h1

	[ "$1" != h1 ] || gone=h2
	hosts_enable
	load
	flow_wait 15 h1 'length == 2 and (map(.path == "capable") | all)'
	ctl $gone host disable dev eth0
	wire_start h1/eth0
	sleep 1.5
	wire_stop
	wire_get '"\(.out.data) data, \(.out.tagged) tagged, \(.in.options) options back"'
	[ "$(wire_get .out.data)" -gt 50 ] || fail "the connections do not go on"
	[ $gone != h1 ] || assert_eq "tags" 0 "$(wire_get .out.tagged)"
	[ $gone != h2 ] || assert_eq "options" 0 "$(wire_get .in.options)"
	pace_stop
	ctl "$1" host disable dev eth0
	at_leave :
}

# The device goes, and the namespace of a host, under load.
device_goes() {
	path_make bridged
	hosts_enable
	load
	flow_wait 15 h1 'length == 2'
	kill -KILL "$pace_pid"
	ip -n "$(ns h1)" link del dev eth0
	ctl h1 host show >/dev/null
	at_leave :
}

ktap_plan 5
path_make bridged
run_test disable_under_load "disable under load leaves nothing behind"
run_test on_and_off "on and off under load"
run_test half "the sender is disabled" h2
run_test half "the receiver is disabled" h1
_lib_del_ns
run_test device_goes "the device goes under load"
