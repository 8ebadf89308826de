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
iperf() { # ADDRESS [OPTION...]
	local addr=$1

	shift
	nsx h1 iperf3 -c "$addr" -J --connect-timeout 10000 "$@" >"$_csig_tmp/iperf" ||
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
			bulk "from=$(ns h1),to=$(ns h2),addr=$addr,size=30000,bytes=300000"
			echo "$state, $addr: $(bulk_get retransmissions) again"
			assert_eq "intact, $state" true "$(bulk_get intact)"
			[ "$(port_stat r3 out0 tagged)" -gt $((before + 4)) ] ||
				fail "nothing was tagged with $state"
		done
	done
	hosts_features tso on gso on gro on tx on
	assert_eq "wrong checksums" "$sums" "$(csum_errors h2)"
	assert_eq "malformed" 0 "$(port_stat r3 out0 malformed)"
	# both directions, long enough to be seen
	iperf "$H2_4" -t $((3 * CSIG_TIME_SCALE)) --bidir -b 4M &
	flow_wait 15 h1 'map(select(.path == "capable" and .stats.malformed_in == 0 and
		(.signals | map(.s != null and .age_ns < 1e9) | all))) | length > 0' dport 5201
	wait $! || fail "iperf3 failed"
	hosts_disable
}

# Tagged segments are merged: the receiver's stack sees fewer and larger packets.  What a
# super-packet was cut into has one signal, and may be one again.  On a slow machine those
# are two segments each.
merged() {
	local before segs=1382 packets	# of 2 MB

	hosts_enable
	hosts_features tso off gso on gro on
	path_child 3 netem delay 20ms slot 5ms limit 10000
	# a slow machine polls for each segment, and holds none without
	gro_waits 1 3000000
	before=$(ip_in)
	bulk "from=$(ns h1),to=$(ns h2),addr=$H2_4,size=65536,bytes=2000000"
	packets=$(($(ip_in) - before))
	gro_waits 0 0
	path_child 3 netem delay "$path_delay" limit 10000
	hosts_features tso on gso on gro on
	echo "$packets packets received, $segs segments;" \
		"tagged: $(port_stat r3 out0 tagged)"
	assert_eq intact true "$(bulk_get intact)"
	assert_le "packets" $((segs * 3 / 5)) "$packets"
	hosts_disable
}

gro_waits() { # POLLS NANOSECONDS
	nsx h2 sh -c "echo $1 >/sys/class/net/eth0/napi_defer_hard_irqs
		echo $2 >/sys/class/net/eth0/gro_flush_timeout"
}

# What ip_rcv() sees: merged packets are one
ip_in() {
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
