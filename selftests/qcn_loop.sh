#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The loop of QCN closed over real bridges: queues stay around their set point and lose
# nothing, lines stay busy, and who is no part of it notices nothing.  Bands with their
# statistics are bench/qcn.sh's.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/qcn_net.sh"

# shellcheck disable=SC2034
csig_module=sch_qcn
qcn_scale 50000000		# T is 300 ms

# Per mille of what a line of BPS could carry
busy() { # BPS
	load_get ".bps * 1000 / $1"
}

cnms() {
	load_get ".leaf.cnm | add"
}

clear() {
	local n

	for n in h1 h2; do
		qcn_off $n eth0
	done
	qcn_off s1 out0
	qcn_off s2 out0
}

controlled() { # BPS: no drops, busy, around the set point
	load_show
	assert_eq "drops" 0 "$(load_get .drops)"
	assert_ge "use of the line, per mille" 930 "$(busy "$1")"
	assert_ge "mean queue, percent of Qeq" 40 "$(load_get ".leaf |
		(.queue_sum_bytes / (.queue | add)) * 100 / $qcn_qeq")"
	assert_le "mean queue, percent of Qeq" 180 "$(load_get ".leaf |
		(.queue_sum_bytes / (.queue | add)) * 100 / $qcn_qeq")"
	assert_ge "CNMs" 1 "$(cnms)"
	assert_le "CNMs, per mille of the frames" 15 \
		"$(load_get "(.leaf.cnm | add) * 1000 / .frames")"
}

uncontrolled() { # queue at its limit, and drops
	load_show
	assert_ge "longest queue" $((qcn_limit * 9 / 10)) "$(load_get .backlog_max_bytes)"
	assert_ge "mean queue" $((qcn_limit * 3 / 4)) "$(load_get .backlog_mean_bytes)"
	assert_ge "drops" 10 "$(load_get .drops)"
}

rp_args() {
	local h

	for h in "$@"; do
		echo "--rp=$(ns "$h")/eth0"
	done
}

two_to_one() {
	clear
	qcn_rp h1 h2
	qcn_cp s1 out0 "$qcn_bps"
	# shellcheck disable=SC2046
	qcn_load 2 --warmup 3 --seconds 4 --cp "$(ns s1)/out0" $(rp_args h1 h2)
	controlled "$qcn_bps"
	assert_ge "CNMs that h1 used" 1 "$(load_get '.rp[0].cnm_used')"
	assert_ge "CNMs that h2 used" 1 "$(load_get '.rp[1].cnm_used')"
	# all that were sent, but for one on its way
	assert_le "CNMs that were lost" 2 \
		"$(load_get '(.leaf.cnm | add) - (.rp | map(.cnm_used) | add)')"
	# the same without
	qcn_no_rp h1 h2
	qcn_queue s1 out0 "$qcn_bps" bfifo limit "$qcn_limit"
	qcn_load 2 --warmup 1 --seconds 1 --cp "$(ns s1)/out0"
	uncontrolled
}

# The narrow one controls, the other one is idle; then the other way round.
two_in_a_row() {
	local narrow=$((qcn_bps * 2 / 5)) wide=$((qcn_bps * 4 / 5))

	clear
	qcn_rp h1 h2
	qcn_cp s1 out0 $wide
	qcn_cp s2 out0 $narrow
	qcn_load 2 --warmup 3 --seconds 3 --cp "$(ns s2)/out0"
	load_show
	assert_eq "drops at the narrow one" 0 "$(load_get .drops)"
	assert_ge "use of the narrow line, per mille" 900 "$(busy $narrow)"
	assert_ge "CNMs of the narrow one" 1 "$(cnms)"
	assert_eq "drops at the wide one" 0 "$(qcn_get s1 out0 .drops)"
	tc -n "$(ns s1)" qdisc change dev out0 root tbf rate $((narrow / 2))bit \
		burst "$qcn_burst" limit "$qcn_limit" overhead 24
	qcn_load 2 --warmup 2 --seconds 2 --cp "$(ns s1)/out0"
	load_show
	assert_ge "use of the line, per mille" 900 "$(busy $((narrow / 2)))"
	assert_ge "CNMs" 1 "$(cnms)"
}

domain() { # MODE
	local a

	for a in "h1 eth0" "h2 eth0" "s1 p1" "s1 p2" "s1 out0"; do
		ctl "${a% *}" qcn domain set dev "${a#* }" cnpv 3 mode "$1"
	done
}

domain_off() {
	local a

	for a in "h1 eth0" "h2 eth0" "s1 p1" "s1 p2" "s1 out0"; do
		ctl "${a% *}" qcn domain del dev "${a#* }" || true
	done
}

vlan_pcp() {
	clear
	at_leave domain_off
	domain interior-ready
	ctl s1 qcn domain set dev out0 cnpv 3 mode interior
	qcn_rp h1 h2 -- rps 8 hash flow
	qcn_cp s1 out0 "$qcn_bps"
	# room for VLAN tag and CN-TAG
	# shellcheck disable=SC2046
	qcn_net=10.6.0 qcn_load 2 --warmup 3 --seconds 3 --cp "$(ns s1)/out0" \
		$(rp_args h1 h2) -- prio=3 size=1400
	controlled "$qcn_bps"
	assert_ge "CN-TAGs of h1" 100 "$(load_get '.rp[0].tagged')"
	assert_near "CN-TAGs taken off" "$(load_get .frames)" 3 "$(load_get .leaf.stripped)"
	assert_ge "received" 1000000 "$(load_get '.received_bytes[0]')"
	# Another priority is none of the domain's.
	qcn_net=10.6.0 qcn_load 2 --warmup 1 --seconds 1 --cp "$(ns s1)/out0" \
		--rp "$(ns h1)/eth0" -- prio=2 size=1400
	uncontrolled
	assert_eq "CNMs for priority 2" 0 "$(cnms)"
	assert_eq "CN-TAGs for priority 2" 0 "$(load_get '.rp[0].tagged')"
}

tcp() {
	clear
	qcn_wires
	qcn_rp h1 h2
	qcn_cp s1 out0 "$qcn_bps"
	# shellcheck disable=SC2046
	qcn_load 2 --warmup 3 --seconds 3 --cp "$(ns s1)/out0" $(rp_args h1 h2) -- kind=tcp
	load_show
	assert_eq "drops" 0 "$(load_get .drops)"
	assert_ge "use of the line, per mille" 900 "$(busy "$qcn_bps")"
	assert_ge "CNMs" 1 "$(cnms)"
}

# A third of the line for a while, and open again.
hot_spot() {
	clear
	qcn_rp h1 h2
	qcn_cp s1 out0 "$qcn_bps"
	qcn_load 2 --warmup 2 --seconds 7 --cp "$(ns s1)/out0" --csv "$_csig_tmp/csv" \
		--at 1:$((qcn_bps / 3)) --at 3.5:"$qcn_bps"
	load_show
	awk -F, -v qeq="$qcn_qeq" -v bps="$qcn_bps" '
	function rate(from, to) { return (bits[to] - bits[from]) / (t[to] - t[from]) / bps }
	NR > 1 {
		t[NR] = $1; bits[NR] = 8 * ($3 + 24 * $4)
		if (!a && $1 >= 2.5) a = NR
		if (!b && $1 >= 3.3) b = NR
		if (!c && $1 >= 6) c = NR
		if ($1 >= 2.5 && $1 < 3.3) { q += $2; n++ }
	}
	END {
		printf "closed: %.3f of the line, queue %.2f Qeq; open: %.3f\n",
			rate(a, b), q / n / qeq, rate(c, NR)
		exit !(rate(a, b) > 0.30 && rate(a, b) < 0.36 && q / n < 2 * qeq &&
			rate(c, NR) > 0.9)
	}' "$_csig_tmp/csv"
}

need bridge csigctl ethtool
ktap_plan 5
qcn_make 2 2
run_test two_to_one "two sources: at the set point, no drops; a fifo is full and drops"
run_test two_in_a_row "two congestion points in a row: the narrower one decides"
run_test vlan_pcp "VLAN, PCP 3: controlled, CN-TAGs on and off; PCP 2: left alone"
run_test tcp "TCP sources"
run_test hot_spot "a hot spot comes and goes"
