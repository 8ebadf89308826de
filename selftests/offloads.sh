#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tagged TCP with segmentation and receive offloads in all states, both formats, IPv4 and
# IPv6, with and without VLAN: it arrives, tagged and reflected, one tag a frame.  The path
# is that of hosts.sh; r3 is what receives merged packets, as h2 does.

# shellcheck disable=SC2119 # settings may follow, or not

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"
. "$(dirname "$0")/hosts.sh"

states=("tso on gso on gro on tx on" "tso off gso on gro on tx on"
	"tso off gso off gro on tx on" "tso off gso off gro off tx on"
	"tso off gso off gro off tx off")

# iperf3 from h1; its JSON in $_csig_tmp/iperf
transfer() { # ADDRESS OCTETS
	nsx h1 iperf3 -c "$1" -n "$2" -J --connect-timeout 10000 \
		>"$_csig_tmp/iperf" ||
		fail "iperf3: $(jq -r .error "$_csig_tmp/iperf")"
}

server() {
	nsx h2 iperf3 -s -D -I "$_csig_tmp/iperf.pid" >/dev/null
	wait_for 15 test -s "$_csig_tmp/iperf.pid"
}

all_states() { # FORMAT
	local state addr before sums

	hosts_enable format "$1"
	sums=$(csum_errors h2)
	for state in "${states[@]}"; do
		# shellcheck disable=SC2086
		hosts_features $state
		for addr in "$H2_4" "$H2_6"; do
			before=$(port_stat r3 out0 tagged)
			transfer "$addr" 1M
			echo "$state, $addr:" "$(jq -c '.end | [(.sum_sent.bits_per_second |
				round), .sum_sent.retransmits, .sum_received.bytes]' \
				"$_csig_tmp/iperf")"
			assert_eq "octets that arrived, $state" 1048576 \
				"$(jq '.end.sum_received.bytes' "$_csig_tmp/iperf")"
			[ "$(port_stat r3 out0 tagged)" -gt $((before + 8)) ] ||
				fail "nothing was tagged with $state"
		done
	done
	assert_eq "wrong checksums" "$sums" "$(csum_errors h2)"
	assert_eq "malformed" 0 "$(port_stat r3 out0 malformed)"
	# long enough to be seen
	hosts_features tso on gso on gro on tx on
	path_traffic
	flow_wait 10 h1 "$(flow_at 0 r2/out0 r1/out0 r3/out0)" dport 5001
	flow_is h1 '.[0].path == "capable" and .[0].stats.malformed_in == 0' dport 5001
	pace_stop
	hosts_disable
}

# Tagged segments are merged: the receiver's stack sees fewer and larger packets.
merged() {
	local before segs packets

	hosts_enable
	hosts_features tso off gso off gro on
	path_child 3 netem delay 20ms slot 5ms limit 10000
	before=$(tcp_in_segs)
	wire_start h1/eth0
	transfer "$H2_4" 2M
	wire_stop
	segs=$(wire_get .out.data)
	packets=$(($(tcp_in_segs) - before))
	path_child 3 netem delay "$path_delay" limit 10000
	hosts_features tso on gso on gro on
	echo "$segs data segments sent, $(wire_get .out.data_tagged) tagged;" \
		"$packets packets received by TCP"
	assert_ge "tagged segments" $((segs * 9 / 10)) "$(wire_get .out.data_tagged)"
	assert_le "packets" $((segs / 2)) "$packets"
	hosts_disable
}

# What ip_rcv() sees: merged packets are one
tcp_in_segs() {
	nsx h2 cat /proc/net/snmp | awk '$1 == "Ip:" && ++n == 2 { print $4 }'
}

ktap_plan 5
need iperf3 ethtool
path_make bridged
server
run_test all_states "all offloads, bridged, compact" compact
run_test all_states "all offloads, bridged, expanded" expanded
run_test merged "GRO merges tagged segments"
kill "$(tr -d '\0' <"$_csig_tmp/iperf.pid")"
_lib_del_ns
path_make routed vlan
server
run_test all_states "all offloads, routed, in a VLAN, compact" compact
run_test all_states "all offloads, routed, in a VLAN, expanded" expanded
kill "$(tr -d '\0' <"$_csig_tmp/iperf.pid")"
