#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# "csigctl flow show" as a command: filters, JSON, text, -w, many short connections.  What
# the values mean is flow.sh.

# shellcheck disable=SC2119 # settings may follow, or not

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"
. "$(dirname "$0")/hosts.sh"

table="r2/out0 r1/out0 r3/out0"		# places of abw, abwc, pd

# Two flows, over IPv4 and IPv6
start() {
	hosts_enable
	path_traffic "$(path_flow "addr=$H2_6" port=5002)"
}

finish() {
	pace_stop
	hosts_disable
}

count_is() { # NUMBER [WORD...]
	local want=$1

	shift
	flow_is h1 "length == $want" "$@" ||
		fail "$*: $(jq length "$_csig_tmp/flow"), not $want"
}

filters() {
	local cgroup=/sys/fs/cgroup

	start
	flow_wait 10 h1 'length == 2'
	count_is 1 dport 5001
	count_is 1 dst "$H2_6"
	count_is 1 dst 10.2.0.0/16
	count_is 0 dst 10.2.0.0/17 dport 5002
	count_is 2 src ::/0
	count_is 1 src 0.0.0.0/0
	count_is 1 src "$H1_6" dst "$H2_6" dport 5002
	count_is 0 dst "$H1_4"
	flow_is h1 true dport 5001
	count_is 1 sport "$(jq '.[0].sport' "$_csig_tmp/flow")"
	if [ -e $cgroup/cgroup.procs ]; then
		mkdir -p "$cgroup/csig-$$"
		count_is 2 cgroup /
		count_is 0 cgroup "/csig-$$"
		count_is 0 cgroup "$cgroup/csig-$$"
		rmdir "$cgroup/csig-$$"
	fi
	assert_refused 1 "not an address" ctl h1 flow show dst 10.2.0.300
	assert_refused 1 "length is not" ctl h1 flow show dst 10.2.0.0/33
	assert_refused 1 "not 1 to 65535" ctl h1 flow show sport 0
	assert_refused 1 "needs a value" ctl h1 flow show dport
	assert_refused 1 "is unknown" ctl h1 flow show nonsense
	assert_refused 1 "given twice" ctl h1 flow show dport 1 dport 2
	assert_refused 2 "cgroup" ctl h1 flow show cgroup /no/such/group
	assert_refused 2 "csigctl host enable" ctl r1 flow show
	finish
}

schema_and_text() {
	local text

	start
	# shellcheck disable=SC2086
	flow_wait 15 h1 "$(flow_at 0 $table)" dport 5001
	flows h1 >"$_csig_tmp/all"
	flows h2 >"$_csig_tmp/all2"
	for text in all all2; do
		python3 -W ignore -m jsonschema -i "$_csig_tmp/$text" "$CSIG_LIB_DIR/flow_schema.json"
	done
	text=$(csigctl -n "$(ns h1)" flow show names "$path_names" dport 5001)
	[[ $text == *"tcp $H1_4:"*" > $H2_4:5001 established rtt "* ]] ||
		fail "text without addresses: $text"
	[[ $text == *"csig on compact expanded  path capable"* ]] ||
		fail "text without the negotiation: $text"
	[[ $text == *"T0 min(abw) "*" at r2/out0"* ]] ||
		fail "text without the bottleneck: $text"
	finish
}

# Each is complete, and none leaves anything behind.
short_connections() {
	local before after

	hosts_enable
	before=$(host_count h1 negotiated)
	connections "$H2_4" --count 300 --bytes 3000 --parallel 50
	connections "$H2_6" --count 100 --bytes 3000 --parallel 50
	after=$(host_count h1 negotiated)
	assert_eq "negotiated" 400 $((after - before))
	assert_eq "negotiated at the server" "$after" "$(host_count h2 negotiated)"
	flow_wait 10 h1 'map(select(.tcp_state == "established")) | length == 0'
	hosts_disable
}

# On a terminal: a screen of its own, as much as the window holds, given back at Ctrl-C.
watch_on_terminal() {
	local out=$_csig_tmp/screen

	command -v script >/dev/null || skip "needs script(1)"
	start
	flow_wait 10 h1 'length == 2'
	script -qec "stty rows 7 cols 60; echo \$\$ >$out.pid
		exec csigctl -n $(ns h1) flow show -w 0.2" "$out" >/dev/null </dev/null &
	wait_for 15 eval "[ \"\$(grep -aco '2 flows' $out 2>/dev/null)\" -ge 2 ]" ||
		fail "nothing on the screen: $(cat -v "$out")"
	kill -INT "$(cat "$out.pid")" || fail "it ended by itself"
	wait $! || fail "status $? after Ctrl-C"
	grep -aqF $'\e[?1049h' "$out" || fail "no screen of its own"
	tail -c 200 "$out" | grep -aqF $'\e[?1049l' || fail "the screen is not given back"
	grep -aq 'not all fit' "$out" || fail "it does not say that not all fit"
	finish
}

# What is shown again and again is that of the host as it is now.
watch_again() {
	local out=$_csig_tmp/watch pid

	start
	csigctl -n "$(ns h1)" -j flow show -w 0.2 dport 5001 >>"$out" 2>"$out.err" &
	pid=$!
	wait_for 15 grep -q '"dport":5001' "$out" || fail "nothing"
	finish
	wait_for 15 grep -q 'host enable' "$out.err" || fail "no word of it: $(cat "$out.err")"
	: >"$out"
	start
	wait_for 15 grep -q '"dport":5001' "$out" || fail "nothing any more"
	kill -INT $pid
	wait $pid || fail "status $?"
	finish
}

ktap_plan 5
path_make routed
run_test filters "filters, and what is refused"
run_test schema_and_text "JSON as described, text"
run_test short_connections "400 short connections"
run_test watch_on_terminal "-w on a terminal"
run_test watch_again "-w, disabled and enabled meanwhile"
