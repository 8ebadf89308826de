#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What comes back to the sender: the values of the path's ports, in both formats, the
# latest or the worst; how full-size segments make room; when tagging stops and starts.
#
# The hosts and the path are those of hosts.sh.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=traffic.sh
. "$(dirname "$0")/traffic.sh"
# shellcheck source=hosts.sh
. "$(dirname "$0")/hosts.sh"

# A connection from h1 to h2 as h2's eth0 sees it; see talk.py
talk() { # [OPTION...]
	py talk --client "$(ns h1)" --server "$(ns h2)" --addr "$H2_4" \
		--watch "$(ns h2)/eth0" "$@" >"$_csig_tmp/talk" ||
		fail "talk: $(cat "$_csig_tmp/talk")"
}

talked() { # EXPRESSION
	json ".ok and ($1)" <"$_csig_tmp/talk"
}

sent_once() {
	talked '[.packets[] | select(.dir == ">" and .len > 0) | .seq] |
		length <= (unique | length) + 2'
}

# The sender knows what the ports say.  Their windows end at other times than a look.
values() { # FORMAT
	hosts_enable format "$1"
	# shellcheck disable=SC2119
	path_traffic
	abw_said=() abwc_said=()
	wait_for 20 values_agree "$1" || fail "other values: $(head -c 2000 "$_csig_tmp/flow")"
	pace_stop
	hosts_disable
}

# Three signals in this format, each from its place; the first two are among the last
# things that the ports said.
values_agree() { # FORMAT
	abw_said=("$(port_get r2 out0 abw_bps)" "${abw_said[@]:0:5}")
	abwc_said=("$(port_get r1 out0 abwc_ppm)" "${abwc_said[@]:0:5}")
	flow_is h1 "$(flow_at 0 r2/out0 r1/out0 r3/out0)" dport 5001 || return
	echo "abw ${abw_said[*]}, abwc ${abwc_said[*]}:" \
		"$(jq -c '[.[0].signals[] | [.t, .value_min, .value_max]]' "$_csig_tmp/flow")"
	jq -e --arg abw "${abw_said[*]}" --arg abwc "${abwc_said[*]}" --arg format "$1" '
		def near($said): . as $s | any($said | split(" ")[] | select(. != "") | tonumber;
			$s.value_min <= . * 1.01 and ($s.value_max == null or $s.value_max >= . * 0.99));
		length == 1 and (.[0] | .path == "capable" and (.signals | length) == 3 and
		(.signals[0] | near($abw)) and (.signals[1] | near($abwc)) and
		(.signals[2] | .value_max == null or .value_max >= 20000000) and
		all(.signals[]; .format == $format))' "$_csig_tmp/flow" >/dev/null
}

# Delays that change from packet to packet; each option at h2 is compared with the
# tags that came before it.
policy() { # latest|summary
	hosts_enable format expanded signals pd reflect "$1"
	# with a rate netem keeps the order, and in order there is one ACK for two
	path_child 3 netem delay 10ms 8ms rate 100mbit limit 10000
	talk --bytes 60000 --back 10 --slow 0.004
	path_child 3 netem delay $path_delay limit 10000
	talked '[.packets[] | select(.dir == ">" and .tag)] | length > 30'
	py reflected "$1" <"$_csig_tmp/talk"
	hosts_disable
}

# 1 in 4 packets has a tag; T takes turns.
sampling() {
	local tags data

	hosts_enable every 4 signals abw,pd
	talk --bytes 40000 --back 10 --slow 0.002
	data=$(jq '[.packets[] | select(.dir == ">" and .len > 0)] | length' "$_csig_tmp/talk")
	tags=$(jq '[.packets[] | select(.dir == ">" and .tag)] | length' "$_csig_tmp/talk")
	assert_near "tags of $data packets" $(((data + 3) / 4)) 20 "$tags"
	# the bits of T in the first octet of the data
	# shellcheck disable=SC2016
	talked '[.packets[] | select(.dir == ">" and .tag) | .tag[4:5]] |
		(map(select(. == "0" or . == "1")) | length) as $abw |
		(map(select(. == "4" or . == "5")) | length) as $pd |
		$abw + $pd == length and ([$abw, $pd] | min * 3 >= max)'
	hosts_disable
}

# What sends little has another signal in each packet.
thin() {
	hosts_enable
	talk --bytes 15000 --back 10 --slow 0.15
	# shellcheck disable=SC2016
	talked '[.packets[] | select(.dir == ">" and .tag) | .tag[4:5] |
			if . < "2" then 0 elif . < "4" then 1 else 2 end] as $t |
		($t | length) > 8 and all(range(1; $t | length); $t[.] != $t[. - 1])'
	hosts_disable
}

# An expanded tag has no place beyond MTU 1500: segments become shorter, none is lost,
# and almost all of them have a tag.
room() { # FORMAT
	hosts_features tso off gso off
	hosts_enable format "$1"
	talk --bytes 600000 --back 600000
	hosts_features tso on gso on
	talked '[.packets[] | select(.dir == ">") | .frame] | max <= 1518'
	# what a busy machine sends again has none, but had one
	talked '[.packets[] | select(.dir == ">" and .len > 1300)] | group_by(.seq) |
		length > 300 and (map(select(any(.[]; .tag))) | length) > length * 0.9'
	# nothing was lost; a tail may be probed
	sent_once
	hosts_disable
}

no_timestamps() { # FORMAT
	local n

	for n in h1 h2; do
		nsx $n sysctl -qw net.ipv4.tcp_timestamps=0
	done
	hosts_enable format "$1"
	talk --bytes 60000 --back 60000 --slow 0.002
	for n in h1 h2; do
		nsx $n sysctl -qw net.ipv4.tcp_timestamps=1
	done
	talked 'all(.packets[]; .kinds | index(8) == null)'
	talked '[.packets[] | select(.csig and (.csig | length) == '$((2 * $2))')] | length > 10'
	sent_once
	hosts_disable
}

# A destination that lost tagged packets is tagged again after the time that was set.
avoided() {
	hosts_enable avoid 10s
	ctl h1 -j host show | json '.avoid_ns == 10000000000'
	mb_drops_tagged
	pace_start "$(path_flow)"
	flow_wait 25 h1 '.[0].path == "drops"' dport 5001
	pace_stop
	[ "$(host_count h1 blackholes)" = 1 ] || fail "no black hole was counted"
	mb_off
	talk
	talked '[.packets[] | select(.dir == ">" and .tag)] == []'
	assert_eq "avoided" 1 "$(host_count h1 avoided)"
	wait_for 25 tags_again || fail "no tags after the time"
	hosts_disable
}

tags_again() {
	talk
	jq -e '[.packets[] | select(.dir == ">" and .tag)] | length > 0' "$_csig_tmp/talk" >/dev/null
}

ktap_plan 10
need nft
path_make bridged
run_test values "the sender knows what the ports say, compact" compact
run_test values "the sender knows what the ports say, expanded" expanded
run_test policy "latest: each reflection is the last tag" latest
run_test policy "summary: each reflection is the worst since the last one" summary
run_test sampling "every N, and signals take turns"
run_test thin "what sends little takes turns by packet"
run_test room "full-size segments have room for tag and option, compact" compact
run_test room "full-size segments have room for tag and option, expanded" expanded
run_test no_timestamps "without timestamps" compact 6
run_test avoided "a black hole is avoided for a while"
