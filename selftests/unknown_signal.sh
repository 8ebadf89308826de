#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Signal types beyond the standard ones: undefined, and rows that a user adds.
#
#   h1                  sw                  h2        mktransit
#   v0 ------- port1 [br0] port2 ------- v1
#
#   h1         s1            s2            s3         h2         three hops
#   v0 -- port1 [] port2 -- ... [] port2 -- ... [] port2 -- v1

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

undefined() {
	local t

	for t in 4 5 6 7; do
		echo "compact $t | c:$t.31.5 | $1"
		echo "compact $t in a VLAN | q:100 c:$t.0.0 | $1"
	done
	for t in 4 7 8 9 12 15; do
		echo "expanded $t | e:$t.0xfffff.5 | $1"
	done
}

pass() {
	mktransit
	assert_eq default pass "$(port_get sw port2 unknown)"
	undefined same | cases h1/v0 h2/v1
	assert_eq unknown 14 "$(port_stat sw port2 unknown_signal)"
	assert_eq passed 14 "$(port_stat sw port2 passed)"
	assert_eq updated 0 "$(port_stat sw port2 updated)"
}

strip() {
	mktransit
	port_set sw port2 unknown strip
	undefined "udp:32" | sed '/VLAN/s/| udp/| q:100 udp/' | cases h1/v0 h2/v1
	assert_eq unknown 14 "$(port_stat sw port2 unknown_signal)"
	assert_eq stripped 14 "$(port_stat sw port2 stripped)"
	both_formats <<-'EOF' | cases h1/v0 h2/v1
	defined ones stay | IN | OUT
	EOF
	# Defined for a domain from now on.
	ctl sw signal set 5 source abw aggregate max buckets 1000 base 0 step 8000000
	cases h1/v0 h2/v1 <<-'EOF'
	defined now | c:5.0.0 | c:5.1.9
	defined now, expanded | e:5.0.0 | e:5.13750.9
	still undefined | c:4.0.0 | udp:32
	EOF
}

# h1 - s1 - s2 - s3 - h2: capacities 100, 200, 300 kbit/s, LM 1, 2, 3.
three_hops() {
	local i left=h1/v0/01 s

	mkns h1 s1 s2 s3 h2
	for i in 1 2 3; do
		IFS=/ read -r -a s <<<"$left"
		mkveth "${s[0]}" "${s[1]}" "${s[2]}" "s$i" port1 "${i}1"
		left=s$i/port2/${i}2
	done
	mkveth s3 port2 32 h2 v1 02
	for i in 1 2 3; do
		mkbridge s$i br0 "" port1 port2
		lm_number s$i
		port_add s$i port2 capacity ${i}00kbit estimator raw interval 10us \
			lm port=$i,port16=$i
		ctl s$i signal set 4 source abw aggregate sum \
			buckets 100000,200000,300000 base 0 step 1000
		ctl s$i signal set 5 source abw aggregate count \
			buckets 100000 base 0 step 1000
		ctl s$i signal set 6 source abw aggregate min \
			buckets 100000,200000,300000 base 0 step 1000
		ctl s$i signal set 7 source abw aggregate max \
			buckets 100000,200000,300000 base 0 step 1000
	done
}

aggregates() {
	three_hops
	cases h1/v0 h2/v1 <<-'EOF'
	sum of 1, 2 and 3 | c:4.0.0 | c:4.6.3
	sum of 100, 200 and 300 | e:4.0.0 | e:4.600.3
	sum on top | c:4.9.0 | c:4.15.3
	sum saturates at hop 3 | c:4.27.0 | c:4.31.3
	sum saturates at hop 2 | c:4.29.0 | c:4.31.2
	sum saturates at hop 1 | c:4.30.0 | c:4.31.1
	sum saturated before | c:4.31.77 | same
	expanded sum saturates | e:4.0xfffff.777 | same
	expanded sum saturates at hop 2 | e:4.0xfff38.0 | e:4.0xfffff.2
	count | c:5.0.0 | c:5.3.3
	count, expanded | e:5.0.0 | e:5.3.3
	count saturates | c:5.30.0 | c:5.31.1
	count saturated before | c:5.31.77 | same
	count, expanded, saturates at hop 2 | e:5.0xffffd.0 | e:5.0xfffff.2
	min is that of hop 1 | c:6.31.0 | c:6.1.1
	min, expanded | e:6.0xfffff.0 | e:6.100.1
	max is that of hop 3 | c:7.0.0 | c:7.3.3
	max, expanded | e:7.0.0 | e:7.300.3
	max of before | c:7.4.77 | same
	EOF
}

# Codes of hop 2 are 0: a sum of nothing changes neither S nor LM.
sum_of_zero() {
	three_hops
	port_set s2 port2 capacity 999
	port_set s3 port2 capacity 500
	cases h1/v0 h2/v1 <<-'EOF'
	hop 1 alone | c:4.0.0 | c:4.1.1
	hop 1 alone, expanded | e:4.0.0 | e:4.100.1
	count counts ports, not values | c:5.0.0 | c:5.3.3
	EOF
}

# Ten frames, 8 ms each at the capacity of 1 Mbit/s, behind a rate of a twentieth of it,
# so that all are there before the third goes: two go at once, it leaves seven behind.
nqd() {
	local n

	mktransit
	n=$(ns sw)
	port_set sw port2 capacity 1mbit
	# handle of the csig qdisc, whose one class takes any qdisc
	tc -n "$n" qdisc replace dev port2 \
		parent "$(csig_class sw port2)" handle 77: \
		tbf rate 50kbit burst 2000 limit 100000
	echo "idle | e:3.0.0 | same" | cases h1/v0 h2/v1
	frames recv "$(ns h2)/v1" --count 10 >"$_csig_tmp/got" &
	wait_for 10 grep -q ready "$_csig_tmp/got"
	frames send "$(ns h1)/v0" "e:3.0.0 udp:956" --count 10
	wait $!
	# tag at octet 12: TPID, LM, T S R
	grep -v ready "$_csig_tmp/got" | python3 -c '
import sys
s = []
for line in sys.stdin:
    w = int(line[32:40], 16)
    assert line[24:28] == "ccdd" and w >> 28 == 3, line
    s.append(((w >> 8 & 0xfffff) * 128, int(line[28:32], 16)))
ms = [x[0] / 1e6 for x in s]
print("nQD of each frame, ms:", *("%.1f" % x for x in ms))
assert 40 < max(ms) < 75, "the longest queue is 7 frames"
assert ms[-1] == 0 and s[-1][1] == 0, "nothing is behind the last"
assert all(lm == 9 for v, lm in s if v), "LM of those that were changed"
assert len([x for x in ms if x]) >= 6, "most had a queue behind them"
'
}

ktap_plan 5
run_test pass "undefined signals pass by default"
run_test strip "undefined signals are stripped on request"
run_test aggregates "min, max, sum and count over three hops"
run_test sum_of_zero "sum and count where the value is 0"
run_test nqd "nQD is the queue over the capacity"
