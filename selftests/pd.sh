#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The delay of a packet in the device: children that delay, lose, duplicate and reorder.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"

pair() {
	mkns a b
	mkveth a eth0 01 b eth0 02
	addr a eth0 10.0.0.1/24
	addr b eth0 10.0.0.2/24
	port_add a eth0 capacity 100mbit
}

# Delays in ns of 40 tagged frames, smallest first; the steps are 128 ns.
delays() { # [FRAMES EXPECTED]
	capture_of "$(ns b)/eth0" "${1:-40}" \
		frames send "$(ns a)/eth0" "e:2.0.0" --count 40
	tag_values expanded <"$_csig_tmp/frames" | sort -n | awk '{ print $1 * 128 }'
}

# The fifth smallest.  A virtual machine without its CPU only adds to what a child does.
undisturbed() { # NUMBER...
	printf '%s\n' "$@" | sort -n | sed -n 5p
}

# Never less than what the child does, and 1 ms more at most where nothing disturbed.
within() { # NS DELAYS...
	local want=$1

	shift
	assert_ge "smallest delay" $((want - 128)) "$1"
	assert_le "undisturbed delay" $((want + 1000000)) "$(undisturbed "$@")"
}

netem_delay() {
	local ms d

	pair
	for ms in 10 2 50; do
		child a eth0 netem delay ${ms}ms
		d=$(delays)
		# shellcheck disable=SC2086
		within ${ms}000000 $d
		assert_ge "largest delay so far" "$(tail -n 1 <<<"$d")" \
			"$(port_get a eth0 pd_max_ns)"
	done
	# a child without delay again
	child a eth0 pfifo
	d=$(delays)
	# shellcheck disable=SC2086
	assert_le "undisturbed delay without netem" 1000000 "$(undisturbed $d)"
	# what was largest stays
	assert_ge "pd_max_ns" 50000000 "$(port_get a eth0 pd_max_ns)"
}

compact_delay() {
	local s

	pair
	child a eth0 netem delay 4ms
	capture_of "$(ns b)/eth0" 40 frames send "$(ns a)/eth0" "c:2.0.5" --count 40
	s=$(tag_values compact <"$_csig_tmp/frames")
	# code 29: 3 to 5 ms
	# shellcheck disable=SC2086
	assert_eq "undisturbed code of 4 ms" 29 "$(undisturbed $s)"
}

# A second port sees more only when it delays more: the maximum of both.
compare() {
	local d

	pair
	child a eth0 netem delay 5ms
	capture_of "$(ns b)/eth0" 40 \
		frames send "$(ns a)/eth0" "e:2.500000.77" --count 40	# 64 ms
	d=$(tag_values expanded <"$_csig_tmp/frames" | sort -u)
	assert_eq "S of a tag with a larger delay" 500000 "$d"
	grep -q '^.\{24\}ccdd004d' "$_csig_tmp/frames" || fail "its locator changed"
}

backlog_is_empty() {
	tc -n "$(ns a)" -s -j qdisc show dev eth0 |
		jq -e 'map(select(.kind == "csig" or .kind == "netem") | .qlen) | add == 0' \
		>/dev/null
}

duplicates() {
	local d

	pair
	child a eth0 netem delay 10ms duplicate 100%
	# netem sends copies through the root again
	d=$(delays 80)
	assert_eq "frames" 80 "$(wc -l <<<"$d")"
	# shellcheck disable=SC2086
	within 10000000 $d
	wait_for 5 backlog_is_empty || fail "packets stay: $(tc -n "$(ns a)" -s qdisc)"
}

losses() {
	local n

	pair
	child a eth0 netem loss 50% delay 1ms
	burst 400 a/eth0 b/eth0 --timeout=2 \
		<<<"x | e:7.1.2 | same" >"$_csig_tmp/burst" && fail "nothing was lost"
	cat "$_csig_tmp/burst"
	n=$(sed -n 's/.*received \([0-9]*\).*/\1/p' "$_csig_tmp/burst")
	assert_ge "frames that survived" 100 "$n"
	assert_le "frames that survived" 300 "$n"
	wait_for 5 backlog_is_empty || fail "packets stay: $(tc -n "$(ns a)" -s qdisc)"
}

reordering() {
	local d

	pair
	child a eth0 netem delay 20ms reorder 30% 50%
	d=$(delays)
	# those that went first did not wait
	# shellcheck disable=SC2086
	set -- $d
	assert_le "smallest delay" 2000000 "$1"
	assert_ge "largest delay" 19900000 "${!#}"
}

# A rate limit: the queue is the delay.
limiter() {
	pair
	child a eth0 tbf rate 200kbit burst 1600 latency 3s
	capture_of "$(ns b)/eth0" 20 frames send "$(ns a)/eth0" \
		"e:2.0.0 udp:1400" --count 20
	# The last of 20 has 19 before it, 58 ms each, less what the sender takes: the
	# code stands for 134 ms and more.
	assert_ge "delay of the last" 130000000 \
		$(($(tag_values expanded <"$_csig_tmp/frames" | tail -n 1) * 128))
}

# Traffic that another device redirects to an ifb with a csig qdisc
ifb() {
	local d

	pair
	ip -n "$(ns a)" link add name ifb0 type ifb
	ip -n "$(ns a)" link set dev ifb0 up
	ctl a port del dev eth0
	port_add a ifb0 capacity 100mbit
	child a ifb0 netem delay 10ms
	clsact a eth0
	tc -n "$(ns a)" filter add dev eth0 egress matchall \
		action mirred egress redirect dev ifb0
	d=$(delays)
	# shellcheck disable=SC2086
	within 10000000 $d
	assert_ge "tags that the ifb updated" 40 "$(port_stat a ifb0 updated)"
}

# The csig qdisc below another: refused, or it works; never a crash.
below_netem() {
	mkns a b
	mkveth a eth0 01 b eth0 02
	tc -n "$(ns a)" qdisc add dev eth0 root handle 1: netem delay 1ms
	if tc -n "$(ns a)" qdisc add dev eth0 parent 1:1 csig 2>"$_csig_tmp/err"; then
		cases a/eth0 b/eth0 <<<"x | udp:20 | same"
	else
		grep -q . "$_csig_tmp/err" || fail "refused without a message"
		cases a/eth0 b/eth0 <<<"x | udp:20 | same"
	fi
}

ktap_plan 9
run_test netem_delay "delays of 2, 10 and 50 ms, within 1 ms"
run_test compact_delay "the compact code of a delay"
run_test compare "a larger delay in the tag stays"
run_test duplicates "netem with duplication"
run_test losses "netem with losses"
run_test reordering "netem with reordering: each packet its own delay"
run_test limiter "a rate limit: the queue is the delay"
run_test ifb "redirected to an ifb"
run_test below_netem "below netem"
