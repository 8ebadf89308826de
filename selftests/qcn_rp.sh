#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The reaction point: rates after CNMs, by stages and on the wire; which CNMs count; flows
# and their RPIDs; a flood; order of frames; limits, parents and refusals.
#
#   h1                        w
#   v0 [qcn_rp] ------------ v1          CNMs come from w, which has no address
#   10.0.0.1

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2034
csig_module=sch_qcn

# So long that neither timer nor counter ends a stage
STILL="timer 10s bytes 1000000000"
# An emulated machine's timers are 0.1 ms late as a rule, and some by 7 ms, which the default
# would not catch up. So long that all of it is: the schedule itself is exact.
LATE="catchup 100ms"

link() { # [VETH OPTION...]
	mkns h1 w
	mkveth h1 v0 01 w v1 02 "$@"
	addr h1 v0 10.0.0.1/24
	ip -n "$(ns h1)" neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev v0 nud permanent
}

htc() { # tc in h1
	tc -n "$(ns h1)" "$@"
}

rp() { # OPTION...
	htc qdisc replace dev v0 root handle 1: qcn_rp "$@"
}

# A line of RATE that the queue builds up behind
line() { # RATE BURST OPTION...
	htc qdisc replace dev v0 root handle 1: tbf rate "$1" burst "$2" limit 100000
	htc qdisc add dev v0 parent 1:1 handle 10: qcn_rp "${@:3}"
}

run() { # COMMAND [--more=COMMAND]
	py qcn_rp "$@" --host "$(ns h1)/v0" --wire "$(ns w)/v1"
}

domain() { # MODE
	ctl h1 qcn domain set dev v0 cnpv 0 mode "$1"
}

stages() {
	link
	rp rate 20mbit timer 100ms bytes 30000 ai 400kbit
	run stages
}

rate() {
	link
	# shellcheck disable=SC2086
	rp rate 20mbit $STILL $LATE
	run rate
}

kinds() {
	link
	# shellcheck disable=SC2086
	rp rate 20mbit $STILL
	run cases
}

flood() {
	link
	rp rate 20mbit min-rate 1mbit ai 2mbit hai 20mbit timer 20ms bytes 30000
	run flood
}

rpids() {
	link
	domain interior-ready
	# shellcheck disable=SC2086
	rp rate 20mbit min-rate 1kbit rps 4 hash flow $STILL
	run rpids --more="csigctl -n $(ns h1) qcn domain set dev v0 cnpv 0 mode"
}

many() {
	link
	domain interior-ready
	rp rate 50mbit rps 100 hash flow timer 300ms
	run many
}

# A veth has a backlog for each CPU, where frames of two overtake each other. With GRO,
# which takes no packets of senders that segment in hardware, it is one queue.
one_queue() {
	nsx h1 ethtool -K v0 tso off >/dev/null
	nsx w ethtool -K v1 gro on >/dev/null
}

order() {
	link
	one_queue
	line 20mbit 9000 rate 20mbit timer 2ms bytes 10000
	run order
}

order_tagged() {
	link
	one_queue
	domain interior-ready
	line 20mbit 9000 rate 20mbit rps 4 hash flow timer 2ms bytes 10000
	run order
}

cnms_first() {
	link
	line 2mbit 3000 rate 2mbit
	run cnms_first
}

limits() {
	link
	# shellcheck disable=SC2086
	line 20mbit 3000 rate 1mbit min-rate 1kbit flow-limit 40 $STILL
	run limits --more="tc -n $(ns h1) qdisc change dev v0 parent 1:1 handle 10: qcn_rp"
}

# Below classes that shape, choose, or do nothing; then all of it goes, full.
parents() {
	local i parent

	link
	for i in "htb default 1" "prio" "tbf rate 50mbit burst 5000 limit 100000" "hfsc default 1"; do
		echo "$i"
		# shellcheck disable=SC2086
		htc qdisc add dev v0 root handle 1: $i
		parent=1:1
		case $i in
		htb*) htc class add dev v0 parent 1: classid 1:1 htb rate 50mbit ;;
		hfsc*) htc class add dev v0 parent 1: classid 1:1 hfsc ls m2 50mbit ;;
		prio*) parent=1:2 ;;
		esac
		# shellcheck disable=SC2086
		htc qdisc add dev v0 parent $parent handle 10: qcn_rp rate 10mbit $STILL $LATE
		run parent
		nsx h1 ping -q -f -c 30 -w 1 -s 1400 -W 0.01 10.0.0.2 >/dev/null || true
		htc qdisc change dev v0 parent $parent handle 10: qcn_rp rate 5mbit
		htc qdisc del dev v0 root
	done
}

# Super-packets: frames of the line, each with its CN-TAG, and TCP arrives.
super_packets() {
	local features

	link
	domain interior-ready
	addr w v1 10.0.0.2/24
	ctl w qcn domain set dev v1 cnpv 0 mode interior
	nsx h1 ethtool -K v0 tso on gso on tx on >/dev/null
	# shellcheck disable=SC2086
	rp rate 50mbit $STILL
	for features in "tso on gso on tx on" "tso off gso on tx on" "tso off gso off tx off"; do
		echo "$features"
		# shellcheck disable=SC2086
		nsx h1 ethtool -K v0 $features >/dev/null
		flow tcp h1 w 10.0.0.2 --bytes 300000
		flow gso h1 w 10.0.0.2 --count 100 --size 700
	done
	htc -j -s qdisc show dev v0 | json '.[0].tagged >= 900 and .[0].untagged_mtu == 0 and
		.[0].untagged_nomem == 0'
	htc -j -s qdisc show dev v0 | json '.[0].backlog == 0 and .[0].qlen == 0'
}

refused() {
	link numtxqueues 4
	rp rate 20mbit
	run refused
	htc qdisc del dev v0 root
	# one for each queue would not see the CNMs for the others
	htc qdisc add dev v0 root handle 2: mq
	assert_refused 2 'make qcn_rp the root' \
		htc qdisc add dev v0 parent 2:1 qcn_rp rate 20mbit
	htc qdisc replace dev v0 root handle 3: qcn_rp rate 20mbit
	# a veth says 10 Gbit/s, a bridge without ports does not know
	htc qdisc replace dev v0 root handle 3: qcn_rp rate auto
	htc -j -s qdisc show dev v0 | json '.[0].line_bps == 10000000000'
	ip -n "$(ns h1)" link add name br9 up type bridge
	assert_refused 2 'give a rate' htc qdisc add dev br9 root qcn_rp
	htc qdisc add dev br9 root qcn_rp rate 20mbit
	assert_refused 2 'give a rate' htc qdisc change dev br9 root qcn_rp rate auto
	assert_refused 2 'min-rate' htc qdisc change dev br9 root qcn_rp min-rate 30mbit
	htc qdisc replace dev br9 root handle 4: qcn_rp rate 20mbit
	assert_refused 2 'class not found' htc qdisc add dev br9 parent 4:1 pfifo
}

need csigctl ethtool
ktap_plan 13
run_test stages "one CNM: 65/128 of the line, back by stages, released; active increase"
run_test rate "frames leave at CR, other priorities pass"
run_test kinds "CNMs of all kinds: used, ignored, malformed, for others"
run_test rpids "RPIDs: in CN-TAGs, in CNMs, and gone with the mode"
run_test many "a hundred limiters and no more"
run_test order "no frame is overtaken or lost as limiters come and go"
run_test order_tagged "the same with CN-TAGs and several flows"
run_test cnms_first "CNMs that pass are first"
run_test limits "limits hold, also when they are lowered under load"
run_test parents "below htb, prio, tbf and hfsc"
run_test super_packets "TCP and UDP in super-packets: frames with CN-TAGs"
run_test flood "a flood of CNMs: the minimum rate is kept, and all is well afterwards"
run_test refused "refused: values, places, unknown speeds"
