#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# csigctl probe: signals of both directions through three hops, answered by sockets or in
# the kernel; a bottleneck that moves; what it says when something is missing.  The
# path is hosts.sh's, without other traffic.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=traffic.sh
. "$CSIG_LIB_DIR/traffic.sh"
# shellcheck source=hosts.sh
. "$CSIG_LIB_DIR/hosts.sh"

probe() { # NS DST [WORD...]: objects in $_csig_tmp/probe
	local n=$1

	shift
	ctl "$n" -j probe "$@" names "$path_names" >"$_csig_tmp/probe"
}

# What the summary says must be true; sig(DIRECTION; T) is a signal.
summary() { # EXPRESSION
	jq -es 'def sig(d; t): .signals[] | select(.direction == d and .t == t);
		map(select(.event == "summary"))[0] | '"$1" "$_csig_tmp/probe" >"$_csig_tmp/jq" ||
		fail "not true: $1: $(tail -n 1 "$_csig_tmp/probe")"
}

# r2 is the bottleneck of both directions.
path() { # KIND [WORD...]
	path_make "$@"
	port_set r2 in0 capacity 30mbit
}

both_ways() { # RESPONDER FORMAT 4|6 KIND [WORD...]
	local how=$1 format=$2 family=$3 addr n

	shift 3
	path "$@"
	hosts_enable signals abw,abwc,pd format "$format"
	addr=$H2_4
	[ "$family" = 4 ] || addr=$H2_6
	if [ "$how" = kernel ]; then
		ctl h2 reflect kernel dev eth0
	else
		reflect_start
	fi
	probe h1 "$addr" -c 4 -i 300ms
	[ "$how" = kernel ] || reflect_stop
	summary '.sent == 12 and .answered == 12 and .lost == 0 and .notes == []'
	summary ".dst == \"$addr\" and .ifname == \"eth0\""
	summary '.rtt_min_ns > 20e6 and .rtt_min_ns <= .rtt_avg_ns'
	# 15 and 30 Mbit/s and what the probes take of it
	summary 'sig("forward"; 0) | .bottleneck == "r2/out0" and .known and
		.value_min >= 12e6 and .value_max <= 20e6'
	summary 'sig("reverse"; 0) | .bottleneck == "r2/in0" and .known and
		.value_min >= 25e6 and .value_max <= 40e6'
	summary 'sig("forward"; 1) | .known and .value_min >= 900000'
	summary 'sig("forward"; 2) | .known and .bottleneck == "r3/out0" and
		.value_min >= 15e6'
	summary 'sig("reverse"; 2) | .known and .value_max <= 15e6'
	summary "[.signals[] | select(.format != \"$format\")] == []"
	summary 'all(.signals[]; .values >= 3 and .age_ns < 20e9)'
	[ "$how" = kernel ] || return 0
	ctl h2 -j reflect show | json '.[0] | .ifname == "eth0" and .operational and
		.answered == 12 and .tagged == 12 and .limited == 0 and .failed == 0'
	for n in h1 h2; do
		nsx $n cat /proc/net/snmp | awk '$1 == "Udp:" && ++n == 2 { exit $4 > 0 }' ||
			fail "$n: UDP errors"
	done
}

forward_at() { # PLACE: last said so
	jq -es "map(.signals[] | select(.direction == \"forward\" and .t == 0 and .known))
		| last.bottleneck == \"$1\"" "$_csig_tmp/probe" >/dev/null 2>&1
}

# In the output, from the moment that the capacity was set
moved_after() { # PLACE TIME_NS
	jq -s "map(select(.event == \"moved\") | select(.signals[0] |
		.direction == \"forward\" and .t == 0 and .bottleneck == \"$1\")) |
		last.time_ns - $2" "$_csig_tmp/probe"
}

moves() {
	local pid hop=2 to t ms

	path bridged
	hosts_enable signals abw,abwc,pd
	reflect_start
	csigctl -n "$(ns h1)" -j probe "$H2_4" names "$path_names" >"$_csig_tmp/probe" &
	pid=$!
	wait_for 30 forward_at r2/out0 || fail "never at hop 2"
	for to in 1 3 1; do
		path_capacity $to 5mbit
		t=$(date +%s%N)
		[ $hop = 2 ] || path_capacity $hop 100mbit
		wait_for 30 forward_at r$to/out0 || fail "never at hop $to"
		ms=$(($(moved_after r$to/out0 "$t") / 1000000))
		echo "hop $hop to $to: shown after $ms ms"
		[ $ms -le $((1000 * CSIG_TIME_SCALE)) ] || fail "more than a second"
		hop=$to
	done
	kill -INT $pid
	wait $pid || fail "probe: status $?"
	summary '[.places[] | select(.direction == "forward" and .t == 0) | .place] |
		contains(["r1/out0", "r2/out0", "r3/out0"])'
	reflect_stop
	grep -q '0 probes over the rate' "$_csig_tmp/reflect" ||
		fail "$(cat "$_csig_tmp/reflect")"
}

# Unknown is not idle; the other direction goes on.
strips() {
	path bridged
	hosts_enable signals abw,pd
	reflect_start
	mb_strips_tags
	probe h1 "$H2_4" -c 4 -i 200ms
	summary '.answered == .sent and (.notes | length == 1) and
		(.notes[0] | test("forward.*strips"))'
	summary 'sig("forward"; 0) | (.known | not) and .value_min == null and
		.bottleneck == null and .age_ns == null'
	summary 'sig("reverse"; 0) | .known and .bottleneck == "r2/in0"'
	mb_off
	port_set r2 in0 egress strip
	probe h1 "$H2_4" -c 4 -i 200ms
	summary '.answered == .sent and (.notes | length == 1) and
		(.notes[0] | test("reverse.*strips"))'
	summary 'sig("reverse"; 0) | .known | not'
	summary 'sig("forward"; 0) | .known and .bottleneck == "r2/out0"'
	reflect_stop
}

last_round() { # EXPRESSION
	jq -es "map(select(.event == \"round\")) | last | $1" "$_csig_tmp/probe" >/dev/null 2>&1
}

# The host is disabled and enabled again while it runs.
again() {
	local pid

	path bridged
	hosts_enable signals abw,pd
	reflect_start
	csigctl -n "$(ns h1)" -j probe "$H2_4" names "$path_names" >"$_csig_tmp/probe" &
	pid=$!
	wait_for 30 forward_at r2/out0 || fail "never at hop 2"
	ctl h1 host disable dev eth0
	wait_for 30 last_round '[.notes[] | select(test("host enable dev eth0"))] | length == 1' ||
		fail "it does not see that: $(tail -n 1 "$_csig_tmp/probe")"
	ctl h1 host enable dev eth0 signals abw,pd
	wait_for 30 last_round '.notes == [] and all(.signals[]; .known and .age_ns < 1e9)' ||
		fail "signals do not come back: $(tail -n 1 "$_csig_tmp/probe")"
	kill -INT $pid
	wait $pid || fail "probe: status $?"
	reflect_stop
}

# Many probes, and none is answered: that shows while it runs.
overrun() {
	local n

	path bridged
	for n in $(seq 3 15); do
		echo "signal set $n source nqd aggregate max"
	done >"$_csig_tmp/signals"
	for n in h1 h2; do
		csigctl -n "$(ns $n)" -b "$_csig_tmp/signals"
	done
	hosts_enable format expanded signals "$(seq -s , 0 15)"
	mb_drops_tagged
	if probe h1 "$H2_4" -c 300 -i 10ms; then
		fail "it was answered"
	fi
	summary '.sent == 4800 and .lost == 4800'
	last_round '.lost > 1000' || fail "nothing is lost: $(tail -n 2 "$_csig_tmp/probe")"
}

# "No port" and the port with LM 0 are two places.
lm_zero() {
	local pid n

	path bridged
	hosts_enable signals abw
	reflect_start
	port_set r2 out0 lm hop=0
	echo "hop=0 r2/zero" >>"$path_names"
	csigctl -n "$(ns h1)" -j probe "$H2_4" names "$path_names" >"$_csig_tmp/probe" &
	pid=$!
	wait_for 30 forward_at r2/zero || fail "never at hop 2"
	# faster than any signal says
	for n in r1 r2 r3; do
		port_set $n out0 capacity 100gbit
	done
	wait_for 30 last_round '.signals[] | select(.direction == "forward") |
		.known and .bottleneck == null' ||
		fail "a port is the bottleneck: $(tail -n 1 "$_csig_tmp/probe")"
	kill -INT $pid
	wait $pid || fail "probe: status $?"
	summary '[.places[] | select(.direction == "forward") | .place] |
		contains(["r2/zero", "no port"])'
	reflect_stop
}

missing() {
	path bridged
	assert_refused 2 'host enable dev eth0' ctl h1 probe "$H2_4" -c 1
	assert_refused 2 'this machine' ctl h1 probe "$H1_4" -c 1
	assert_refused 2 'unreachable' ctl h1 probe 192.0.2.1 -c 1
	assert_refused 2 'unreachable' ctl h1 probe 2001:db8::1 -c 1
	assert_refused 2 'nope' ctl h1 probe nope.invalid -c 1
	assert_refused 2 'family' ctl h1 probe "$H2_4" -6 -c 1
	ctl h1 host enable dev eth0 signals abw,pd
	# tagged frames are lost at a host that does not know of them
	assert_refused 2 'nobody answers.*csigctl host enable' \
		ctl h1 probe "$H2_4" -c 1 -i 100ms
	port_set r3 out0 egress strip
	assert_refused 2 'refused.*csigctl reflect' ctl h1 probe "$H2_4" -c 1
	mb_drops_tagged
	assert_refused 2 'nobody answers at [^:]*; there' ctl h1 probe "$H2_4" -c 1 -i 100ms
	mb_off
	assert_refused 1 'not a time' ctl h1 probe "$H2_4" -i 1ms
	assert_refused 1 'count' ctl h1 probe "$H2_4" -c 0
	assert_refused 1 'destination' ctl h1 probe
	assert_refused 1 'unknown' ctl h1 probe "$H2_4" now
	assert_refused 1 'signal "xyz" is unknown' ctl h1 probe "$H2_4" signals xyz
	assert_refused 2 'signal 9' ctl h1 probe "$H2_4" signals 9
	# the other host is not enabled: answers, but it sees no tags
	reflect_start
	grep -q 'host enable' "$_csig_tmp/reflect" || fail "$(cat "$_csig_tmp/reflect")"
	probe h1 "$H2_4" -c 3 -i 200ms
	summary '.answered == .sent and ([.notes[] | select(test("see tags"))] | length == 1)'
	summary 'all(.signals[]; .known | not)'
	# it gets to know, without being started again
	ctl h2 host enable dev eth0 signals abw,pd
	port_set r3 out0 egress keep
	wait_for 30 grep -q 'host is enabled' "$_csig_tmp/reflect" ||
		fail "$(cat "$_csig_tmp/reflect")"
	probe h1 "$H2_4" -c 3 -i 200ms signals abw
	summary '[.signals[] | .t] == [0, 0] and all(.signals[]; .known)'
	reflect_stop
}

# The other format than the device's, some signals only; text; a terminal
words() {
	path bridged
	hosts_enable signals abw,abwc,pd
	reflect_start
	probe h1 "$H2_4" -4 -c 2 -i 0.2 format expanded signals pd,0 port 7516
	summary '[.signals[] | .t] == [0, 2, 0, 2] and .sent == 4'
	summary 'sig("forward"; 0).format == "expanded"'
	summary 'sig("forward"; 2).format == "expanded"'
	summary 'sig("reverse"; 0).format == "compact"'
	ctl h1 probe "$H2_4" -c 2 -i 200ms names "$path_names" >"$_csig_tmp/text"
	grep -Eq '^  forward  min\(abw\) +(15Mbit\.\.20Mbit|12\.5Mbit\.\.15Mbit) +r2/out0 ' \
		"$_csig_tmp/text" || fail "$(cat "$_csig_tmp/text")"
	grep -q '^summary of' "$_csig_tmp/text" || fail "$(cat "$_csig_tmp/text")"
	py probes screen --until r2/in0 csigctl -n "$(ns h1)" probe "$H2_4" \
		names "$path_names" >"$_csig_tmp/text" || fail "status $?"
	grep -q '^summary of.*answered' "$_csig_tmp/text" || fail "$(cat "$_csig_tmp/text")"
	grep -q $'\033\[H' "$_csig_tmp/text" || fail "not drawn again"
	reflect_stop
}

ktap_plan 11
run_test both_ways "sockets, compact, IPv4, bridged" run compact 4 bridged
run_test both_ways "sockets, expanded, IPv6, routed, VLAN" run expanded 6 routed vlan
run_test both_ways "kernel, expanded, IPv4, bridged, VLAN" kernel expanded 4 bridged vlan
run_test both_ways "kernel, compact, IPv6, routed" kernel compact 6 routed
run_test moves "a bottleneck that moves is named within a second"
run_test strips "a path that strips: unknown, and said so"
run_test again "the host is disabled and enabled again"
run_test overrun "thousands of probes without an answer are lost"
run_test lm_zero "no port is another place than the port with LM 0"
run_test missing "what is missing is said"
run_test words "other format, some signals, text, a terminal"
