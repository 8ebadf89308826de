#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# csigctl capture and monitor: what they decode, when they write it, how they end.
#
#   h1                  sw                  h2
#   v0 ------- port1 [br0] port2 ------- v1

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# A packet socket of somebody else than the shell is open: captures can begin.
capturing() { # NS
	[ "$(nsx "$1" cat /proc/net/packet | wc -l)" -gt 1 ]
}

capture_decodes() {
	local out=$_csig_tmp/out err=$_csig_tmp/err names=$_csig_tmp/names pid

	mklinks
	ctl sw lm set signal all format compact fields stage:3,port:4
	ctl sw lm set signal all format expanded fields device:10,port:6
	port_add sw port1 ingress trust update off
	port_add sw port2 capacity 110gbit estimator raw interval 10us \
		lm stage=2,port=5,device=33
	ctl h2 domain import - <<<"$(ctl sw domain export)"
	cat >"$names" <<-'EOF'
	# what the fields stand for
	stage=2,port=5   leaf3/eth5
	device=33        spine33
	EOF
	ctl h2 -j capture dev v1 count 4 names "$names" >"$out" 2>"$err" &
	pid=$!
	wait_for 30 capturing h2
	frames send "h1-$$/v0" "ip:192.0.2.1>192.0.2.2 udp:100"
	frames send "h1-$$/v0" "c:0.31.0 ip:192.0.2.1>192.0.2.2 udp:100"
	frames send "h1-$$/v0" "q:7 e:0.0xfffff.0 ip:2001:db8::1>2001:db8::2 tcp:9"
	frames send "h1-$$/v0" "c:1.3.127 type:88b5 fill:50"
	frames send "h1-$$/v0" "c:6.3.127.1 mpls:16 ip:192.0.2.1>192.0.2.2 udp:1"
	wait "$pid" || fail "capture: status $? $(cat "$err")"
	json 'length == 4' <"$out"
	json '.[0] | .src == "192.0.2.1" and .dst == "192.0.2.2" and
		(.sport | type == "number") and .protocol == 17 and
		.format == "compact" and .t == 0 and .signal == "min(abw)" and
		.s == 24 and .value_min == 100000000000 and
		.value_max == 125000000000 and .unit == "bps" and
		.lm_fields == {"stage": 2, "port": 5} and
		.bottleneck == "leaf3/eth5" and .time_ns > 1000000000000000000' <"$out"
	json '.[1] | .src == "2001:db8::1" and .protocol == 6 and
		.format == "expanded" and .vlans == 1 and .s == 13750 and
		.value_min == 110000000000 and
		.lm_fields == {"device": 33, "port": 5} and
		.bottleneck == "spine33"' <"$out"
	json '.[2] | .protocol == null and .src == "02:00:00:00:00:01" and
		.sport == null and .signal == "min(abwc)" and .s == 3 and
		.value_min == 20000 and .lm == 127 and .bottleneck == null' <"$out"
	json '.[3] | .signal == null and .value_min == null and .r == 1 and
		.src == "192.0.2.1" and .t == 6' <"$out"
	grep -q '5 packets: 4 tagged, 1 untagged, 0 malformed' "$err" ||
		fail "summary: $(cat "$err")"
}

capture_text_and_interrupt() {
	local out=$_csig_tmp/out err=$_csig_tmp/err pid

	mktransit
	csigctl -n "h2-$$" capture v1 direction in >"$out" 2>"$err" &
	pid=$!
	wait_for 30 capturing h2
	frames send "h1-$$/v0" "c:0.31.0 ip:192.0.2.1>192.0.2.2 udp:100"
	# Each line is written at once.
	wait_for 30 test -s "$out" || fail "no line"
	kill -INT "$pid"
	wait "$pid" || fail "status $? after Ctrl-C"
	grep -E '^[0-9:.]+ 192.0.2.1:[0-9]+ > 192.0.2.2:[0-9]+ compact T0 min\(abw\) S 24 100Gbit..125Gbit lm 9 port=9$' \
		"$out" || fail "line: $(cat "$out")"
	assert_eq "lines" 1 "$(wc -l <"$out")"
	grep -q '1 tagged' "$err" || fail "summary: $(cat "$err")"
	csigctl -n "h2-$$" -j capture v1 >"$out" 2>"$err" &
	pid=$!
	wait_for 30 capturing h2
	frames send "h1-$$/v0" "c:0.31.0"
	frames send "h1-$$/v0" "c:0.31.0 c:0.31.0"
	wait_for 30 grep -q '"t"' "$out"
	kill -INT "$pid"
	wait "$pid" || fail "status $? after Ctrl-C"
	json 'length == 1' <"$out"
	assert_refused 2 'nope0' ctl h2 capture dev nope0
	assert_refused 2 'lo' ctl h2 capture dev nope0 names /nonexistent/lo
}

capture_file() {
	local file=$_csig_tmp/x.pcap

	mkns h2
	frames pcap "c:1.5.3 ip:192.0.2.1>192.0.2.2 udp:50" "q:1 e:2.100.77 udp:50" \
		"c:1.5.3 c:1.5.3" "udp:50" cut:6 >"$file"
	ctl h2 -j capture file "$file" >"$_csig_tmp/out" 2>"$_csig_tmp/err"
	json 'length == 2 and .[0].s == 5 and .[0].time_ns == 1000002000 and
		.[1].value_min == 12800 and .[1].value_max == 12928' <"$_csig_tmp/out"
	grep -q '5 packets: 2 tagged, 1 untagged, 2 malformed' "$_csig_tmp/err" ||
		fail "$(cat "$_csig_tmp/err")"
	ctl h2 domain export |
		jq 'del(.digest) | .compact_tpid = "0x88b5"' >"$_csig_tmp/profile"
	ctl h2 -j capture file "$file" profile "$_csig_tmp/profile" 2>/dev/null |
		json 'length == 1 and .[0].format == "expanded"'
	head -c 30 "$file" >"$file.cut"
	assert_refused 2 'truncated|bytes' ctl h2 capture file "$file.cut"
}

# The monitor may not be listening yet: set until it has said something.
provoke() { # NS DEV FILE
	port_set "$1" "$2" overhead 38
	[ -s "$3" ]
}

monitor_prints_events() {
	local out=$_csig_tmp/out pid

	mktransit
	csigctl -n "sw-$$" -j monitor >"$out" &
	pid=$!
	wait_for 30 provoke sw port1 "$out" || fail "no event"
	ctl sw domain set compact-tpid 0x88b5
	ip -n "sw-$$" link add name extra0 type dummy
	port_add sw extra0 capacity 5mbit
	ctl sw port del dev extra0
	ctl sw domain set compact-tpid 0x9900
	frames send "h1-$$/v0" "c:0.31.0"
	wait_for 30 grep -q '"bottleneck"' "$out" || fail "$(cat "$out")"
	kill -INT "$pid"
	wait "$pid" || fail "status $? after Ctrl-C"
	jq -s . <"$out" | json 'all(.[]; .time_ns > 0) and
		any(.[]; .event == "domain" and .compact_tpid == "0x88b5") and
		any(.[]; .event == "port" and .ifname == "extra0" and
			.capacity_bps == 5000000) and
		any(.[]; .event == "port-del" and .ifname == "extra0") and
		any(.[]; .event == "bottleneck" and .ifname == "port2" and
			.t == 0 and .format == "compact" and .s == 24 and
			.lm == 9 and .updated >= 1)'
	: >"$out"
	csigctl -n "sw-$$" monitor count 1 >"$out" &
	pid=$!
	wait_for 30 provoke sw port1 "$out" || fail "no event"
	wait "$pid"
	assert_eq "lines" 1 "$(wc -l <"$out")"
	grep -q ' port port1 capacity 220Gbit ' "$out" || fail "$(cat "$out")"
}

ktap_plan 4
run_test capture_decodes "capture decodes tags, values, places"
run_test capture_text_and_interrupt "capture writes lines at once and ends well"
run_test capture_file "capture reads files, with another profile"
run_test monitor_prints_events "monitor prints every kind of event"
