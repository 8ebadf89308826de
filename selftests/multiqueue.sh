#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A port of several transmit queues: one csig qdisc under each queue of mq, one port that
# sums them.
# Needs two CPUs.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"

queues=4

pair() {
	mkns a b
	ip link add name eth0 address 02:00:00:00:00:01 netns "$(ns a)" mtu 9000 \
		numtxqueues $queues numrxqueues $queues type veth \
		peer name eth0 address 02:00:00:00:00:02 netns "$(ns b)" mtu 9000 \
		numtxqueues $queues numrxqueues $queues
	ip -n "$(ns a)" link set dev eth0 up
	ip -n "$(ns b)" link set dev eth0 up
	addr a eth0 10.0.0.1/24
	addr b eth0 10.0.0.2/24
}

under_mq() { # SETTING...
	local i

	tc -n "$(ns a)" qdisc replace dev eth0 root handle 1: mq
	for ((i = 1; i <= queues; i++)); do
		tc -n "$(ns a)" qdisc add dev eth0 parent "1:$i" handle "1$i:" csig "$@"
	done
}

# Packets that each csig qdisc has sent
sent_by_queue() {
	tc -n "$(ns a)" -s -j qdisc show dev eth0 |
		jq -r 'map(select(.kind == "csig") | .packets) | .[]'
}

# 32 flows: the hash of their ports spreads them over the queues.
sum_of_queues() {
	local rate=8000000 used

	pair
	under_mq capacity 100mbit estimator raw interval 1s
	assert_eq "qdiscs of the port" $queues "$(port_get a eth0 qdiscs)"
	assert_eq "ports" 1 "$(ctl a -j port show | jq length)"
	pace_start "from=$(ns a),to=$(ns b),addr=10.0.0.2,ports=32,size=8900,rate=$rate"
	sleep 1.5	# the first whole window
	assert_near "load of all queues" $rate 5 "$(looks a eth0 util_bps 3 1)"
	pace_stop
	used=$(sent_by_queue | awk '$1 > 0' | wc -l)
	assert_ge "queues that had packets" 2 "$used"
	assert_near "bits of all queues" "$(sent wire_bits)" 1 "$(wire_bits a eth0)"
}

# Each queue finds the same port: settings of one are those of all.
one_setting() {
	pair
	under_mq capacity 100mbit
	tc -n "$(ns a)" qdisc change dev eth0 parent 1:2 handle 12: csig capacity 50mbit
	assert_eq "capacity" 50000000 "$(port_get a eth0 capacity_bps)"
	assert_eq "capacities that tc shows" 50000000 "$(tc -n "$(ns a)" -j qdisc show dev eth0 |
		jq -r 'map(select(.kind == "csig") | .options.capacity_bps) | unique | .[]')"
}

come_and_go() {
	local i

	pair
	under_mq capacity 100mbit
	pace_start "from=$(ns a),to=$(ns b),addr=10.0.0.2,ports=32,size=200,rate=5M"
	for ((i = 1; i <= queues; i++)); do
		tc -n "$(ns a)" qdisc del dev eth0 parent "1:$i" handle "1$i:"
		[ $i = $queues ] ||
			assert_eq "qdiscs left" $((queues - i)) \
				"$(port_get a eth0 qdiscs)"
	done
	assert_eq "ports without a qdisc" 0 "$(ctl a -j port show | jq length)"
	under_mq capacity 100mbit
	assert_eq "qdiscs" $queues "$(port_get a eth0 qdiscs)"
	tc -n "$(ns a)" qdisc del dev eth0 root
	assert_eq "ports without mq" 0 "$(ctl a -j port show | jq length)"
	pace_stop
	assert_ge "packets sent" 1 "$(sent packets)"
}

# csigctl does it by itself, and takes it back.
by_csigctl() {
	local before

	pair
	before=$(kinds)
	port_add a eth0 capacity 100mbit
	assert_eq "qdiscs" $queues "$(port_get a eth0 qdiscs)"
	csigctl -n "$(ns a)" port del dev eth0
	assert_eq "qdiscs after del" "$before" "$(kinds)"
}

kinds() {
	tc -n "$(ns a)" -j qdisc show dev eth0 | jq -r 'map(.kind) | sort | join(" ")'
}

# Tagged packets on all queues: each meets the one port.  100 Mbit/s, idle or not, is
# less than the initial code, so all are written.
tags_on_all_queues() {
	pair
	under_mq capacity 100mbit
	clsact a eth0
	tc -n "$(ns a)" filter add dev eth0 egress protocol ip matchall \
		action csig push format compact signal abw
	pace "from=$(ns a),to=$(ns b),addr=10.0.0.2,ports=128,size=200,rate=2M,count=256"
	assert_eq "queues that had packets" $queues \
		"$(sent_by_queue | awk '$1 > 0' | wc -l)"
	assert_ge "tagged" 256 "$(port_stat a eth0 tagged)"
	assert_eq "updated" "$(port_stat a eth0 tagged)" "$(port_stat a eth0 updated)"
}

ktap_plan 5
run_test sum_of_queues "the load is that of all queues, within 5 %"
run_test one_setting "queues share the settings of the port"
run_test come_and_go "queues come and go under traffic"
run_test tags_on_all_queues "tags on all queues"
run_test by_csigctl "csigctl serves all queues and puts back what was there"
