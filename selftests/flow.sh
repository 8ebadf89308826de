#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# "csigctl flow show" against a path whose ports are known: values and places of every
# signal, a bottleneck that moves, flows that must not see each other's.  The path and its
# ports are those of hosts.sh, the command's words are flow_show.sh.

# shellcheck disable=SC2119 # settings may follow, or not

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"
. "$(dirname "$0")/hosts.sh"

table="r2/out0 r1/out0 r3/out0"		# places of abw, abwc, pd

# Two flows, over IPv4 and IPv6
start() { # [SETTING...]
	hosts_enable "$@"
	path_traffic "$(path_flow "addr=$H2_6" port=5002)"
}

finish() {
	pace_stop
	hosts_disable
}

# The value of signal T that a flow shows includes what the port says, within PERCENT.
# Both move with the traffic: what is wrong never agrees.
value_is() { # T PORT KEY PERCENT PORT OF THE FLOW
	local lo hi got

	flow_is h1 true dport "$5"

	read -r lo hi < <(jq -r ".[0].signals[] | select(.t == $1) |
		[.value_min, .value_max // 1e15] | map(floor) | @tsv" "$_csig_tmp/flow")
	got=$(port_get "${2%/*}" "${2#*/}" "$3")
	if [ $((got * (100 + $4))) -lt $((lo * 100)) ] ||
		[ $((got * (100 - $4))) -gt $((hi * 100)) ]; then
		echo "T$1 is $lo to $hi, $2 says $3 $got"
		return 1
	fi
}

values_and_places() { # FORMAT
	local port

	start format "$1"
	for port in 5001 5002; do
		# shellcheck disable=SC2086
		flow_wait 15 h1 "$(flow_at 0 $table)" dport $port
		wait_for 15 value_is 0 r2/out0 abw_bps 15 $port
		wait_for 15 value_is 1 r1/out0 abwc_ppm 15 $port
		json 'length == 1 and (.[0] | .negotiation == "on" and
			.path == "capable" and .reflects and .rtt_ns > 20e6 and
			.format == "'"$1"'" and (.formats | length) == 2 and
			.stats.tagged > 10 and .stats.reflections_in > 5 and
			.stats.malformed_in == 0 and
			(.signals | map(.format == "'"$1"'") | all))' <"$_csig_tmp/flow"
		# what the netem below r3's port adds, and no more than the port saw
		json '.[0].signals[] | select(.t == 2) |
			.value_min <= '"$(port_get r3 out0 pd_max_ns)"' and
			.value_max >= 19e6' <"$_csig_tmp/flow"
	done
	# The receiver knows the same from the tags themselves.
	flow_wait 5 h2 'length == 1 and (.[0].received | map(.bottleneck) ==
		["r2/out0", "r1/out0", "r3/out0"])' sport 5001
	flow_is h2 '.[0].stats | .received_tagged > 10 and .reflections_out > 5' \
		sport 5001
	finish
}

# From the first data to the last of the three signals, of a transfer that starts; the
# handshake tells how long a round trip is.
two_round_trips() {
	local rtt t took

	hosts_enable
	path_child 3 netem delay 100ms limit 10000
	wire_start h1/eth0
	bulk "from=$(ns h1),to=$(ns h2),addr=$H2_4,size=65536,bytes=300000"
	wire_stop
	path_child 3 netem delay $path_delay limit 10000
	rtt=$(wire_get '(.in.first_s - .out.first_s) * 1e6 | round')
	assert_ge "round trip" 100000 "$rtt"
	for t in 0 1 2; do
		took=$(wire_get "(.in.reflections[\"$t\"].first_s - .out.first_data_s) *
			1e6 | round")
		echo "T$t came back after $took us, a round trip takes $rtt"
		assert_le "time until T$t" $((2 * rtt)) "$took"
	done
	hosts_disable
}

# From the change of the port to the line that names it: one second.
bottleneck_moves() {
	local line start took=none

	start
	# shellcheck disable=SC2086
	flow_wait 15 h1 "$(flow_at 0 $table)" dport 5001
	exec {watch}< <(exec csigctl -n "$(ns h1)" -j flow show dport 5001 \
		names "$path_names" -w 0.1)
	read -r -t 10 -u "$watch" line || fail "flow show -w shows nothing"
	port_set r3 out0 interval 100ms
	path_capacity 3 5mbit
	start=${EPOCHREALTIME/./}
	while read -r -t 10 -u "$watch" line; do
		[[ $line == *'"t":0,'*r3/out0*'"t":1,'* ]] || continue
		took=$((${EPOCHREALTIME/./} - start))
		break
	done
	exec {watch}<&-
	echo "shown after $took us"
	port_set r3 out0 capacity "${path_kbit[2]}kbit" interval $path_window
	[ "$took" != none ] || fail "the move was not shown: $line"
	assert_le "microseconds" $((1000000 * CSIG_TIME_SCALE)) "$took"
	finish
}

# r2 is a host, too: a flow to it has its bottlenecks at r1 only.  Its delay there rounds to
# nothing.
not_each_others() {
	local i

	hosts_enable
	ctl r2 host enable dev in0
	pace_start "$(path_flow)" "$(path_cross_flow 1 $path_cross)" \
		"kind=tcp,from=$(ns h1),to=$(ns r2),addr=10.3.1.2,port=5003,size=1000,rate=2M"
	# shellcheck disable=SC2086
	flow_wait 15 h1 "$(flow_at 0 $table)" dport 5001
	flow_wait 15 h1 "$(flow_at 0 r1/out0 r1/out0)" dport 5003
	for i in 1 2 3 4 5; do
		flow_is h1 '([.[] | select(.dport == 5001) | .signals[2].bottleneck] ==
				["r3/out0"]) and
			([.[] | select(.dport == 5003) | .signals[].bottleneck] - [null] |
				unique == ["r1/out0"])' ||
			fail "look $i: $(jq -c 'map([.dport, .signals[].bottleneck])' \
				"$_csig_tmp/flow")"
	done
	ctl r2 host disable dev in0
	finish
}

ktap_plan 5
path_make routed
run_test values_and_places "values and places, compact" compact
run_test values_and_places "values and places, expanded" expanded
run_test two_round_trips "all signals are known after two round trips"
run_test bottleneck_moves "a bottleneck that moves is shown within a second"
run_test not_each_others "flows do not see each other's values"
