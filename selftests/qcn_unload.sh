#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Qdiscs replaced, links and namespaces deleted, the module taken away, in any order, under
# traffic and CNMs: nothing is lost, nothing is left, nothing waits for ever.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/qcn_net.sh"

# shellcheck disable=SC2034
csig_module=sch_qcn
load_pid=

# Narrow, so that there are many CNMs
narrow() {
	qcn_rp h1 h2
	qcn_cp s1 out0 $((qcn_bps / 5)) base 20000
}

load_start() {
	local sources

	rm -f "$_csig_tmp/ready"
	mapfile -t sources < <(qcn_sources 2)
	python3 -SEB "$CSIG_LIB_DIR/qcn_load.py" --seconds 600 --every 60 \
		--ready "$_csig_tmp/ready" "${sources[@]}" >"$_csig_tmp/load" &
	load_pid=$!
	wait_for 30 test -e "$_csig_tmp/ready" || fail "no load"
}

load_stop() {
	kill "$load_pid"
	wait "$load_pid" || true
}

# The sources of the load never end; what is still on its way has to arrive.
empty() { # NS DEV
	[ "$(qcn_get "$1" "$2" '"\(.qlen) \(.backlog)"')" = "0 0" ]
}

cnms_used() {
	qcn_get h1 eth0 .cnm_used
}

got_cnms() { # MORE THAN
	[ "$(cnms_used)" -gt "$1" ]
}

shuffle() {
	local i j x

	for ((i = ${#order[@]} - 1; i > 0; i--)); do
		j=$((RANDOM % (i + 1)))
		x=${order[i]}
		order[i]=${order[j]}
		order[j]=$x
	done
}

# What replaces what is by chance; one tc makes all changes.
replacements() { # DEV PARENT KIND OTHER CHANGE...
	local dev=$1 parent=$2 kind=$3 other=$4 i changes

	shift 4
	changes=("$@")
	for ((i = 0; i < 60; i++)); do
		case $((RANDOM % 4)) in
		0) echo "qdisc replace dev $dev parent $parent handle 2$i: $other" ;;
		1 | 2) echo "qdisc replace dev $dev parent $parent handle 3$i: $kind" ;;
		3)
			echo "qdisc replace dev $dev parent $parent handle 4$i: $kind"
			echo "qdisc change dev $dev parent $parent handle 4$i:" \
				"${kind%% *} ${changes[RANDOM % ${#changes[@]}]}"
			;;
		esac
	done
	echo "qdisc replace dev $dev parent $parent handle 10: $kind"
}

replaced() {
	local rp="qcn_rp ${qcn_rp_options[*]}"

	narrow
	load_start
	wait_for 20 got_cnms 3 || fail "no CNMs"
	replacements out0 1:1 "qcn_cp qeq $qcn_qeq" "bfifo limit 50000" "limit 20000" \
		"qeq 5000" "base 10000 weight 2" "limit 300000 qeq 50000" "cnpv 0,3" |
		tc -n "$(ns s1)" -batch - || fail "s1"
	replacements eth0 1:1 "$rp" "pfifo limit 100" "limit 10" "rate 50mbit" \
		"timer 20ms" "flow-limit 5" "rps 10" "cnpv 0,3" |
		tc -n "$(ns h1)" -batch - || fail "h1"
	# the root, too
	replacements eth0 root "$rp" "pfifo limit 100" "limit 10" "min-rate 1mbit" |
		sed 's/parent root/root/; /^qdisc change/s/handle [0-9]*: //' |
		tc -n "$(ns h2)" -batch - || fail "h2"
	# still a closed loop
	qcn_rp h2
	qcn_cp s1 out0 $((qcn_bps / 5)) base 20000
	wait_for 20 got_cnms "$(cnms_used)" || fail "no CNMs any more"
	load_stop
	wait_for 20 empty h1 eth0 || fail "h1: $(qcn_get h1 eth0 .)"
	wait_for 20 empty h2 eth0 || fail "h2: $(qcn_get h2 eth0 .)"
	wait_for 20 empty s1 out0 || fail "s1: $(qcn_get s1 out0 .)"
	tc -n "$(ns s1)" qdisc show dev out0 | grep -q qcn_cp || fail "no qcn_cp"
	assert_eq "backlog of the tbf" "0b 0p" "$(tc -n "$(ns s1)" -s qdisc show dev out0 |
		sed -n '0,/backlog/s/.*backlog \([^ ]* [^ ]*\).*/\1/p')"
}

# A pair of devices, one in the bridge, with all that may hang on them
pair() {
	mkveth h1 eth1 31 s1 p9 39
	ip -n "$(ns s1)" link set dev p9 master br0
	addr h1 eth1 10.7.0.1/24
	ip -n "$(ns h1)" neigh add 10.7.0.2 lladdr 02:00:00:00:00:99 dev eth1 nud permanent
	tc -n "$(ns h1)" qdisc add dev eth1 root handle 1: qcn_rp rate 50mbit
	tc -n "$(ns s1)" qdisc add dev p9 root handle 1: qcn_cp qeq 3000 base 10000
	ctl h1 qcn domain set dev eth1 cnpv 3 mode interior-ready
	ctl s1 qcn domain set dev p9 cnpv 3 mode auto
}

# With packets in their queues, from either end; frames of the bridge to nowhere are
# flooded to p9, too.
links() {
	local i

	narrow
	load_start
	for ((i = 0; i < 8; i++)); do
		pair
		nsx h1 ping -q -f -c 50 -w 1 -s 1400 -I eth1 10.7.0.2 >/dev/null || true
		case $((RANDOM % 3)) in
		0) ip -n "$(ns h1)" link del dev eth1 ;;
		1) ip -n "$(ns s1)" link del dev p9 ;;
		2)
			ip -n "$(ns h1)" link set dev eth1 netns "$(ns hr)"
			ip -n "$(ns hr)" link del dev eth1
			;;
		esac
	done
	wait_for 20 got_cnms 3 || fail "no CNMs"
	load_stop
	assert_eq "ports that are left" 0 "$(ctl h1 -j qcn show |
		jq '[.. | .ifname? // empty | select(. == "eth1")] | length')"
}

# All parts of a net in any order, with packets in its queues; every other time with the
# load's sockets, too, which keep the namespaces alive.
namespaces() {
	local i n order

	for ((i = 0; i < 5; i++)); do
		qcn_make 2
		narrow
		ctl h1 qcn domain set dev eth0 cnpv 0 mode interior-ready
		load_start
		wait_for 20 got_cnms 1 || fail "round $i: no CNMs"
		[ $((i % 2)) = 0 ] || load_stop
		order=(h1 h2 s1 hr)
		shuffle
		for n in "${order[@]}"; do
			ip netns del "$(ns "$n")"
		done
		[ $((i % 2)) = 1 ] || load_stop
		_csig_ns=()
	done
	wait_for 30 _lib_rmmod || fail "rmmod: $(rmmod sch_qcn 2>&1)"
	modprobe sch_qcn
}

refused() { # WHY
	! rmmod sch_qcn 2>"$_csig_tmp/err" || fail "rmmod in spite of $1"
	grep -q -i "in use" "$_csig_tmp/err" || fail "$1: $(cat "$_csig_tmp/err")"
}

again() {
	[ -d /sys/module/sch_qcn ] || modprobe sch_qcn
}

# Refused as long as there is a qdisc; domains hold nothing.
unloaded() {
	local i order where

	again
	load_start
	for ((i = 0; i < 10; i++)); do
		again
		narrow
		ctl h1 qcn domain set dev eth0 cnpv 3 mode interior-ready
		ctl s1 qcn domain set dev out0 cnpv 3 mode interior
		wait_for 20 got_cnms 0 || fail "round $i: no CNMs"
		order=(h1/eth0 h2/eth0 s1/out0)
		shuffle
		for where in "${order[@]}"; do
			refused "a qdisc"
			tc -n "$(ns "${where%/*}")" qdisc del dev "${where#*/}" root
		done
		wait_for 30 _lib_rmmod || fail "round $i: $(rmmod sch_qcn 2>&1)"
	done
	again
	# CN-TAGs and CNMs of a domain that is gone do no harm
	load_stop
}

failing_start() {
	local ko

	again
	wait_for 30 _lib_rmmod || fail "rmmod: $(rmmod sch_qcn 2>&1)"
	ko=$(modinfo -n sch_qcn)
	[ -z "${CSIG_KO:-}" ] || ko=$(dirname "$CSIG_KO")/sch_qcn.ko
	py faults start "$ko"
	again
}

failing_qdiscs() {
	mkveth h1 eth2 41 h2 eth2 42
	py faults qdisc "$(ns h1)/eth2" qcn_cp sch_qcn
	py faults qdisc "$(ns h1)/eth2" qcn_rp sch_qcn
	ip -n "$(ns h1)" link del dev eth2
}

faults_end() {
	py faults none
}

# CNMs, limiters and CN-TAGs for which there is often no memory: data goes on.
failing_traffic() {
	narrow
	at_leave faults_end
	py faults some sch_qcn 30
	qcn_load 2 --warmup 1 --seconds 3 --cp "$(ns s1)/out0" --rp "$(ns h1)/eth0"
	load_show
	assert_ge "use of the line, per mille" 700 "$(load_get ".bps * 5000 / $qcn_bps")"
	assert_ge "CNMs without memory" 1 "$(load_get '.leaf.cnm_dropped + .rp[0].nomem')"
}

faults() {
	[ -w /proc/self/fail-nth ] && [ -d /sys/kernel/debug/failslab ]
}

need bridge csigctl ping
RANDOM=${QCN_SEED:-1}
ktap_plan $((4 + $(faults && echo 3 || echo 0)))
run_test namespaces "namespaces deleted in any order, 5 times"
qcn_make 2
run_test replaced "180 replacements of qdiscs, with changes"
run_test links "links deleted and moved, 8 times"
run_test unloaded "rmmod refused as long as there is a qdisc, then done, 10 times"
! faults || run_test failing_start "a start that runs out of memory leaves nothing"
! faults || run_test failing_qdiscs "a qdisc that runs out of memory leaves nothing"
! faults || run_test failing_traffic "CNMs and limiters without memory"
