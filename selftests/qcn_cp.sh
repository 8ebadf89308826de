#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The congestion point: which frames it answers with which CNMs, octet by octet; how often
# it samples; what it counts; what it lets itself be told.
#
#   h1 v0 (01) --- (11) p1 [sw br0] p2 (12) --- (02) v1 h2
#                                   qcn_cp
#
# CNMs are looked at where they come to the source, at v0.  See qcn_cp.py.

. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2034
csig_module=sch_qcn

net() {
	mkns h1 sw h2
	mkveth h1 v0 01 sw p1 11
	mkveth sw p2 12 h2 v1 02
	mkbridge sw br0 "" p1 p2
	# a sender of raw frames counts VLAN tags as payload
	ip -n "$(ns h1)" link set dev v0 mtu 2000
}

qcn_cp_py() { # WHAT
	py qcn_cp "$1" --source "$(ns h1)/v0" --port "$(ns sw)/p2" --sink "$(ns h2)/v1"
}

swtc() {
	tc -n "$(ns sw)" "$@"
}

vectors() {
	py qcn_cp vectors "$CSIG_LIB_DIR/unit/vectors/qcn-cnm.json"
}

on_the_wire() {
	net
	qcn_cp_py cases
}

bridge_learns() {
	net
	qcn_cp_py fdb
}

intervals() {
	net
	qcn_cp_py intervals
}

ahead() {
	net
	qcn_cp_py ahead
}

strip() {
	net
	ctl sw qcn domain set dev p2 cnpv 5 mode interior
	qcn_cp_py strip
}

# CN-TAGs are left to a congestion point only where every frame has to pass it, or where
# it was told which priorities are its own.
classes() {
	local i

	net
	ctl sw qcn domain set dev p1 cnpv 3,5 mode interior-ready
	ctl sw qcn domain set dev p2 cnpv 3,5 mode interior
	swtc qdisc add dev p2 root handle 1: prio bands 2 \
		priomap 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1
	for i in auto 3; do
		swtc qdisc replace dev p2 parent 1:1 handle 10: qcn_cp cnpv $i
		cases h1/v0 h2/v1 <<-EOF
		cnpv $i, its class | q:10/3 cn:7 | q:10/3
		cnpv $i, another | q:10/5 cn:7 | q:10/5
		EOF
	done
	swtc -s -j qdisc show dev p2 | json '.[1] | .kind == "qcn_cp" and .stripped == 1'
	for i in "tbf rate 50mbit burst 10k limit 100k" "netem delay 1ms" \
		"red limit 100k avpkt 1000"; do
		swtc qdisc del dev p2 root
		# shellcheck disable=SC2086
		swtc qdisc add dev p2 root handle 1: $i
		swtc qdisc add dev p2 parent 1:1 handle 10: qcn_cp
		cases h1/v0 h2/v1 <<-EOF
		below ${i%% *} | q:10/3 cn:7 | q:10/3
		below ${i%% *} | q:10/5 cn:7 | q:10/5
		EOF
		swtc -s -j qdisc show dev p2 |
			json '.[1] | .kind == "qcn_cp" and .stripped == 2'
	done
}

options() {
	swtc -j qdisc show dev p2 | jq -S -c '.[] | select(.kind == "qcn_cp") | .options'
}

refused() {
	local before

	net
	swtc qdisc add dev p2 root handle 1: qcn_cp limit 100000 qeq 9000 weight -3 \
		base 20000 header 33 mac 02:00:00:00:00:aa port 77 cnm-priority 6 \
		source destination qoffset seed cnpv 0,3
	before=$(options)
	[ -n "$before" ] || fail "no options"
	py qcn_cp refused --port "$(ns sw)/p2"
	assert_eq "options" "$before" "$(options)"
	# a start that is refused leaves nothing
	assert_refused 2 "cnpv has 6" tc -n "$(ns sw)" qdisc replace dev p2 root handle 2: \
		qcn_cp cnpv 3,6
	assert_eq "options" "$before" "$(options)"
	assert_refused 2 . tc -n "$(ns sw)" qdisc add dev lo root qcn_cp
}

# Defaults, and what a change does and does not
settings() {
	net
	swtc qdisc add dev p2 root handle 1: qcn_cp
	options | json '.limit_bytes == 156000 and .qeq_bytes == 26000 and .weight == 1 and
		.base_bytes == 150000 and .header_bytes == 64 and .cnm_priority == 6 and
		.source == "cp" and .qoffset == "standard"'
	swtc qdisc change dev p2 root qcn_cp qeq 10000
	options | json '.limit_bytes == 60000 and .qeq_bytes == 10000 and .header_bytes == 64'
	# CNMs are no data of the domain, whichever comes first
	assert_refused 2 "cnm-priority" ctl sw qcn domain set dev p2 cnpv 3,6 mode interior
	swtc qdisc change dev p2 root qcn_cp cnm-priority 7
	ctl sw qcn domain set dev p2 cnpv 3,6 mode interior
	assert_refused 2 "cnm-priority 6 is a CNPV" tc -n "$(ns sw)" qdisc change dev p2 root \
		qcn_cp cnm-priority 6
	assert_refused 2 "cnm-priority" ctl sw qcn domain set dev p2 cnpv 7 mode edge
	ctl sw -j qcn domain show dev p2 | json '.[0].cnpv | map(.priority) == [3, 6]'
	ctl sw qcn domain del dev p2
	swtc qdisc change dev p2 root qcn_cp limit 20000 header 0
	swtc qdisc change dev p2 root qcn_cp qeq 30000 cnpv 0,1,2
	options | json '.limit_bytes == 20000 and .qeq_bytes == 30000 and .header_bytes == 0
		and .cnpv == [0, 1, 2]'
	swtc -s -j qdisc show dev p2 | json '.[0] | .cnpvs == [0, 1, 2] and .sampled == 0 and
		.backlog == 0'
}

need bridge csigctl
ktap_plan 9
run_test vectors "the test's own CNMs are those of the test vectors"
run_test on_the_wire "CNMs octet by octet, and frames that get none"
run_test bridge_learns "what the bridge learns from CNMs"
run_test intervals "intervals of samples, statistics"
run_test ahead "CNMs pass data that waits"
run_test strip "the CN-TAG goes as a frame leaves, the CNM has its RPID"
run_test classes "CN-TAGs of classes that do not pass it are taken off all the same"
run_test refused "bad options are refused, nothing changed"
run_test settings "defaults and changes"
