#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# csigctl qcn: words, the domain of a port, what the kernel refuses, JSON of points and
# limiters, adapters with QCN of their own (by a module that plays one).  LLDP is
# qcn_lldp.sh.
#
#   sw (port1) ---- (v1) h2

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2034 # read by lib.sh
csig_module=sch_qcn

switch() {
	mkns sw h2
	mkveth sw port1 01 h2 v1 02
}

domain() { # NS [dev DEV]
	local n=$1

	shift
	ctl "$n" -j qcn domain show "$@"
}

usage_errors() {
	local before set="qcn domain set dev port1" dcb="qcn dcb set dev port1"

	switch
	# shellcheck disable=SC2086
	ctl sw $set cnpv 3 mode interior
	before=$(domain sw | jq 'map(del(.stats))')
	all_refused 1 sw <<-EOF
	"frob" | qcn frob
	"frob" | qcn show frob frob
	"dev" needs | qcn show dev
	"frob" | qcn domain frob
	"dev" is missing | qcn domain set
	"cnpv" is missing | $set mode edge
	"cnpv" needs | $set mode edge cnpv
	priorities 0..7 | $set cnpv 8 mode edge
	priorities 0..7 | $set cnpv -1 mode edge
	priorities 0..7 | $set cnpv 3, mode edge
	priorities 0..7 | $set cnpv 3,,4 mode edge
	priorities 0..7 | $set cnpv 34 mode edge
	priorities 0..7 | $set cnpv 0x3 mode edge
	priority 3 twice | $set cnpv 3,4,3 mode edge
	nothing to set | $set cnpv 3
	mode "frob" | $set cnpv 3 mode frob
	given twice | $set cnpv 3 mode edge mode edge
	alternate "8" | $set cnpv 3 alternate 8
	alternate "255" | $set cnpv 3 alternate 255
	"cnpv" is given twice | $set cnpv 3 cnpv 4 mode edge
	"mode" is unknown | qcn domain del dev port1 mode edge
	"x" is unknown | qcn domain del dev port1 cnpv 3 x
	"frob" | qcn lldp frob
	"socket" needs | qcn lldp socket
	"dev" is missing | qcn dcb
	"prio" is missing | $dcb rps 3
	nothing to set | $dcb prio 3
	priorities 0..7 | $dcb prio 9 rps 3
	rps "101" | $dcb prio 3 rps 101
	rps "-1" | $dcb prio 3 rps -1
	whole Mbit/s | $dcb prio 3 rate 1500kbit
	whole Mbit/s | $dcb prio 3 rate -1mbit
	whole Mbit/s | $dcb prio 3 rate 1e30
	whole Mbit/s | $dcb prio 3 rate 1gbits
	below 4.3 Gbit/s | $dcb prio 3 min-rate 5gbit
	whole microseconds | $dcb prio 3 timer 1500ns
	whole microseconds | $dcb prio 3 timer 15
	min-dec "101" | $dcb prio 3 min-dec 101
	rp "yes" | $dcb prio 3 rp yes
	mode "auto" | $dcb prio 3 mode auto
	given twice | $dcb prio 3 gd 7 gd 7
	EOF
	assert_eq "domain" "$before" "$(domain sw | jq 'map(del(.stats))')"
	csigctl qcn help | grep -q '^Usage: csigctl qcn' || fail "no help"
}

reads_back() {
	switch
	ctl sw qcn domain set dev port1 cnpv 3,5 mode edge
	ctl sw qcn domain set dev port1 cnpv 5 alternate 7
	domain sw | json '.[0] | .ifname == "port1" and .ifindex > 0 and .points == 0 and
		.cnpv == [{priority: 3, mode: "edge", oper_mode: "edge",
			alternate: null, oper_alternate: 2},
			{priority: 5, mode: "edge", oper_mode: "edge",
			alternate: 7, oper_alternate: 7}] and
		.neighbour == null and .tlv == {cnpv: [3, 5], ready: []} and
		(.stats | keys) == ["cnm_malformed", "cnm_received", "cnm_unused",
			"delivered", "remapped", "skipped_nomem", "stripped"]'
	ctl sw qcn domain set dev port1 cnpv 2 mode interior-ready
	ctl sw qcn domain set dev port1 cnpv 5 alternate auto
	domain sw dev port1 | json '.[0] | (.cnpv | map([.priority, .oper_mode,
			.alternate, .oper_alternate])) ==
		[[2, "interior-ready", null, 1], [3, "edge", null, 1],
		[5, "edge", null, 4]] and .tlv == {cnpv: [2, 3, 5], ready: [2]}'
	ctl sw qcn domain set dev port1 cnpv 3 mode auto
	domain sw | json '.[0].cnpv[1] | .mode == "auto" and .oper_mode == "edge"'
	ctl sw qcn domain show | grep -q 'priority 3  auto (edge)  alternate auto (1)$' ||
		fail "$(ctl sw qcn domain show)"
	ctl sw qcn domain del dev port1 cnpv 2,5
	domain sw | json '.[0].cnpv | map(.priority) == [3]'
	ctl sw qcn domain del dev port1
	assert_eq "ports" "[]" "$(domain sw)"
	assert_eq "ports" "[]" "$(ctl sw -j qcn show)"
}

kernel_refuses() {
	local before set="qcn domain set dev port1"

	switch
	ip -n "$(ns sw)" link set dev lo up
	# shellcheck disable=SC2086
	ctl sw $set cnpv 3 mode edge alternate 1
	before=$(domain sw | jq 'map(del(.stats))')
	all_refused 2 sw <<-EOF
	port1: .*at most 7 .*cnpv | $set cnpv 0,1,2,4,5,6,7 mode edge alternate auto
	port1: .*alternate .*cnpv.alternate | $set cnpv 3 alternate 3
	port1: .*alternate .*cnpv | $set cnpv 1 mode interior
	port1: .*no alternate.*cnpv.alternate | $set cnpv 4 alternate 0
	lo: .*no Ethernet.*dev | qcn domain set dev lo cnpv 3 mode edge
	lo: .*dev | qcn domain del dev lo
	lo: .*dev | qcn show dev lo
	"nodev" does not exist | qcn show dev nodev
	"nodev" does not exist | qcn domain set dev nodev cnpv 3 mode edge
	"nodev" does not exist | qcn dcb dev nodev
	port1: its driver has no DCB | qcn dcb show dev port1
	port1: its driver has no DCB | qcn dcb set dev port1 prio 3 rps 1
	EOF
	assert_eq "domain" "$before" "$(domain sw | jq 'map(del(.stats))')"
}

points() {
	switch
	tc -n "$(ns sw)" qdisc add dev port1 root handle 1: tbf rate 10mbit burst 10k limit 100k
	tc -n "$(ns sw)" qdisc replace dev port1 parent 1:1 handle 10: qcn_cp qeq 30000
	tc -n "$(ns h2)" qdisc add dev v1 root handle 2: qcn_rp rate 10mbit rps 1
	ctl sw qcn domain set dev port1 cnpv 3 mode edge
	ctl sw -j qcn show | json 'length == 1 and (.[0] | (keys == ["cps", "domain",
			"ifindex", "ifname", "rps"]) and .ifname == "port1" and
		(.domain | keys) == ["cnpv", "neighbour", "stats", "tlv"] and
		.rps == [] and (.cps | length) == 1 and (.cps[0] |
		.handle == "10:" and .parent == "1:1" and .cnpvs == [3] and
		.qeq_bytes == 30000 and .limit_bytes == 180000 and
		.backlog_bytes == 0 and .qlen == 0 and .queue_mean_bytes == null and
		(.cnm | length) == 8 and (.queue | length) == 33 and
		all(.sampled, .unanswerable, .transmitted, .discarded, .stripped,
			.cnm_dropped, .last_qntzfb, .queue_sum_bytes, .queue_max_bytes,
			.qold_bytes; . == 0)))'
	ctl h2 -j qcn show dev v1 | json '.[0] | .ifname == "v1" and .domain.cnpv == [] and
		.cps == [] and (.rps[0] | .handle == "2:" and .parent == "root" and
		.line_bps == 10000000 and .rps == 1 and .active == 0 and
		.limiters == [] and .cnpvs == [0, 1, 2, 3, 4, 5, 7] and
		all(.activations, .releases, .active_ns, .cnm_used, .cnm_ignored,
			.nomem, .tagged, .untagged_mtu, .untagged_nomem, .flow_drops,
			.limit_drops, .backlog_bytes, .qlen; . == 0))'
	ctl sw qcn show | grep -q 'qcn_cp 10: parent 1:1  cnpv 3' || fail "$(ctl sw qcn show)"
	ctl h2 qcn show | grep -q 'qcn_rp 2: root  line 10Mbit' || fail "$(ctl h2 qcn show)"
	ctl h2 -j qcn domain | json '.[0].points == 1'
}

# A CNM as one comes from the wire makes a limiter.
limiter() {
	local cnm

	switch
	tc -n "$(ns h2)" qdisc add dev v1 root handle 2: qcn_rp rate 10mbit timer 10s
	cnm=$(python3 -c '
pdu = (0 << 12 | 63).to_bytes(2, "big") + bytes(8) + bytes(4) + (3 << 13).to_bytes(2, "big")
pdu += bytes(6) + bytes(2)
print((bytes.fromhex("020000000002" "020000000001" "22e9" "0000" "22e7") + pdu).ljust(60, b"\0").hex())')
	nsx sw python3 - "$cnm" <<-'END'
		import socket, sys
		s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
		s.bind(("port1", 0))
		s.send(bytes.fromhex(sys.argv[1]))
	END
	ctl h2 -j qcn show >"$_csig_tmp/show"
	json '.[0] | .domain.stats.cnm_received == 1 and (.rps[0] | .active == 1 and
		.cnm_used == 1 and (.limiters | length) == 1 and (.limiters[0] |
		.priority == 3 and .rpid == 1 and .cnms == 1 and .last_qntzfb == 63 and
		.cr_bps >= 5000000 and .cr_bps < 10000000 and .tr_bps == 10000000 and
		.byte_stage == 0 and .left_bytes > 0 and .timer_ns > 0 and
		.active_ns >= 0 and .backlog_bytes == 0 and .qlen == 0 and .dropped == 0))' \
		<"$_csig_tmp/show"
	ctl h2 qcn show | grep -q 'priority 3 rpid 1  rate' || fail "$(ctl h2 qcn show)"
}

own_namespace() {
	local user="setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all"

	switch
	ctl sw qcn domain set dev port1 cnpv 3 mode interior
	assert_eq "ports of h2" "[]" "$(ctl h2 -j qcn show)"
	assert_refused 2 '"port1" does not exist' ctl h2 qcn show dev port1
	# shellcheck disable=SC2086
	nsx sw $user csigctl -j qcn show | json '.[0].domain.cnpv[0].priority == 3'
	# shellcheck disable=SC2086
	assert_refused 2 'permitted' nsx sw $user csigctl qcn domain del dev port1
	domain sw | json 'length == 1'
}

dcb_gone() {
	rmmod dcbqcn 2>/dev/null || true
}

dcb() {
	local ko=$CSIG_LIB_DIR/dcbqcn/dcbqcn.ko

	[ -e "$ko" ] || skip "no dcbqcn.ko: make -C selftests/dcbqcn"
	at_leave dcb_gone
	insmod "$ko"
	csigctl -j qcn dcb show dev dcbqcn0 | json '.[0] | .ifname == "dcbqcn0" and
		(.priorities | length) == 8 and .priorities[3] == {priority: 3,
		mode: "disabled", rp: false, rps: 1, rate_bps: 10000000000,
		min_rate_bps: 5000000, ai_bps: 5000000, hai_bps: 50000000,
		timer_ns: 15000000, bytes: 150000, threshold: 5, gd: 7,
		min_dec_percent: 50, stats: {rps: 3, active_ns: 3000000000}}'
	csigctl qcn dcb set dev dcbqcn0 prio 3,5 rp on rps 4 rate 1gbit min-rate 1500kbit \
		ai 6mbit hai 60mbit timer 1500us bytes 15000 threshold 6 gd 6 min-dec 40 \
		mode interior-ready
	csigctl -j qcn dcb dev dcbqcn0 | json '.[0].priorities | .[5] == (.[3] |
			.priority = 5 | .stats = {rps: 5, active_ns: 5000000000}) and
		(.[3] | del(.stats)) == {priority: 3, mode: "interior-ready", rp: true,
		rps: 4, rate_bps: 1000000000, min_rate_bps: 1500000, ai_bps: 6000000,
		hai_bps: 60000000, timer_ns: 1500000, bytes: 15000, threshold: 6, gd: 6,
		min_dec_percent: 40} and (.[4] | .mode == "disabled" and .rps == 1)'
	csigctl qcn dcb show dev dcbqcn0 | grep -q 'priority 3  interior-ready  rp on  rps 4' ||
		fail "$(csigctl qcn dcb show dev dcbqcn0)"
	csigctl qcn dcb set dev dcbqcn0 prio all rps 2
	csigctl -j qcn dcb dev dcbqcn0 | json '.[0].priorities | all(.[]; .rps == 2)'
	assert_refused 2 'dcbqcn0: its driver refused: .*range' \
		csigctl qcn dcb set dev dcbqcn0 prio 1 threshold 200
	assert_refused 2 'dcbqcn0: its driver did not take it' \
		csigctl qcn dcb set dev dcbqcn0 prio 1 ai 7mbit
}

lldp_is_missing() {
	switch
	ctl sw qcn domain set dev port1 cnpv 3 mode auto
	assert_refused 2 'lldpcli is not installed; try: apt install lldpd' \
		env PATH="$_csig_tmp" "$(command -v csigctl)" -n "$(ns sw)" qcn lldp once
	assert_refused 2 'v1: no priority of the domain' ctl h2 qcn lldp once dev v1
	assert_refused 2 '"nodev" does not exist' ctl sw qcn lldp dev nodev
	PATH=$_csig_tmp $(command -v csigctl) -n "$(ns sw)" -j doctor >"$_csig_tmp/doctor" || true
	jq -e 'any(.[]; .check == "lldp" and .status == "WARN" and
		(.message | test("lldpcli is not installed")))' <"$_csig_tmp/doctor" >/dev/null ||
		fail "doctor: $(cat "$_csig_tmp/doctor")"
}

module_back() {
	echo "$modprobe" >/proc/sys/kernel/modprobe
	modprobe sch_qcn
}

# The kernel would load the module by itself; this time it can't.
without_module() {
	modprobe=$(cat /proc/sys/kernel/modprobe)
	at_leave module_back
	wait_for 30 _lib_rmmod
	echo >/proc/sys/kernel/modprobe
	switch
	sed 's/^/the sch_qcn module is not loaded; try: modprobe sch_qcn | /' <<-'EOF' |
	qcn
	qcn show
	qcn show dev port1
	qcn domain
	qcn domain set dev port1 cnpv 3 mode auto
	qcn domain del dev port1
	qcn domain del dev port1 cnpv 3
	qcn lldp
	qcn lldp once
	EOF
		all_refused 2 sw
	csigctl -j doctor >"$_csig_tmp/doctor" || true
	jq -e 'any(.[]; .check == "qcn" and .status == "OK" and
		(.message | test("modprobe sch_qcn")))' <"$_csig_tmp/doctor" >/dev/null ||
		fail "doctor: $(cat "$_csig_tmp/doctor")"
}

completes() { # WORD...
	# shellcheck disable=SC2016
	bash -c '
		. /usr/share/bash-completion/completions/csigctl 2>/dev/null ||
			. /usr/local/share/bash-completion/completions/csigctl
		COMP_WORDS=(csigctl "$@" "")
		COMP_CWORD=$(($# + 1))
		_csigctl
		echo "${COMPREPLY[*]}"' bash "$@"
}

completion() {
	assert_eq "qcn" "show domain lldp dcb help" "$(completes qcn)"
	assert_eq "qcn domain" "show set del" "$(completes qcn domain)"
	assert_eq "mode" "disabled edge interior interior-ready auto" \
		"$(completes qcn domain set dev eth0 cnpv 3 mode)"
}

ktap_plan 10
run_test usage_errors "wrong words are usage errors and nothing is sent"
run_test reads_back "a domain that is set reads back, as text and JSON"
run_test kernel_refuses "the kernel's refusals name the attribute"
run_test points "congestion and reaction points as JSON"
run_test limiter "a CNM makes a limiter, which is shown"
run_test own_namespace "namespaces are apart; reads for all, writes for CAP_NET_ADMIN"
run_test dcb "adapters with QCN: show, set, refusals, units"
run_test lldp_is_missing "without lldpd: what to do"
run_test without_module "without the module: one clear line"
run_test completion "completion"
