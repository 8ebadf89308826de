#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# qcn_cp below all kinds of qdiscs: what they think waits in it is what waits, whether
# super-packets come, limits change or it is taken away; and data arrives.
#
#   h1 v0 --- p1 [sw br0] p2 --- v1 h2      4 transmit queues each
#   10.0.0.1                     10.0.0.2

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"

# shellcheck disable=SC2034
csig_module=sch_qcn

net() {
	mkns h1 sw h2
	mkveth h1 v0 01 sw p1 11 numtxqueues 4 numrxqueues 4
	mkveth sw p2 12 h2 v1 02 numtxqueues 4 numrxqueues 4
	mkbridge sw br0 "" p1 p2
	addr h1 v0 10.0.0.1/24
	addr h2 v1 10.0.0.2/24
	ip -n "$(ns h1)" neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 dev v0 nud permanent
	ip -n "$(ns h2)" neigh add 10.0.0.1 lladdr 02:00:00:00:00:01 dev v1 nud permanent
}

swtc() {
	tc -n "$(ns sw)" "$@"
}

# Classes that take a qcn_cp
leaves() { # KIND
	case $1 in
	tbf | htb | hfsc) echo 1:1 ;;
	prio) echo 2:1 2:2 2:3 ;;
	ets) echo 2:1 2:2 ;;
	drr) echo 2:1 ;;
	mq | mqprio) echo 11:1 12:1 13:1 14:1 ;;
	esac
}

# What takes them, of one rate in all; a super-packet fits into the burst.
tree() { # KIND RATE
	local tbf="tbf rate $2 burst 20000 limit 1000000" i

	echo "qdisc replace dev p2 root handle 9: pfifo"
	case $1 in
	tbf) echo "qdisc replace dev p2 root handle 1: $tbf" ;;
	htb)
		echo "qdisc replace dev p2 root handle 1: htb default 1"
		echo "class add dev p2 parent 1: classid 1:1 htb rate $2 burst 20000 cburst 20000"
		;;
	hfsc)
		echo "qdisc replace dev p2 root handle 1: hfsc default 1"
		echo "class add dev p2 parent 1: classid 1:1 hfsc sc rate $2 ul rate $2"
		;;
	prio | ets | drr)
		echo "qdisc replace dev p2 root handle 1: $tbf"
		case $1 in
		prio) echo "qdisc add dev p2 parent 1:1 handle 2: prio" ;;
		ets) echo "qdisc add dev p2 parent 1:1 handle 2: ets bands 2 quanta 3000 1500" ;;
		drr)
			echo "qdisc add dev p2 parent 1:1 handle 2: drr"
			echo "class add dev p2 parent 2: classid 2:1 drr"
			echo "filter add dev p2 parent 2: protocol all matchall classid 2:1"
			;;
		esac
		;;
	mq | mqprio)
		if [ "$1" = mq ]; then
			echo "qdisc replace dev p2 root handle 1: mq"
		else
			echo "qdisc replace dev p2 root handle 1: mqprio num_tc 2" \
				"map 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 queues 2@0 2@2 hw 0"
		fi
		for i in 1 2 3 4; do
			echo "qdisc replace dev p2 parent 1:$i handle 1$i: $tbf"
		done
		;;
	esac
}

# The same of each qcn_cp
each() { # KIND COMMAND [OPTION...]
	local kind=$1 command=$2 class i=30

	shift 2
	for class in $(leaves "$kind"); do
		case $command in
		del) echo "qdisc del dev p2 parent $class" ;;
		*) echo "qdisc $command dev p2 parent $class handle $i: qcn_cp $*" ;;
		esac
		i=$((i + 1))
	done
}

waits() { # what waits by KIND of qdisc, in octets and frames
	swtc -s -j qdisc show dev p2 | jq -c '[.[] | select(.kind != "clsact")] |
		group_by(.kind) | map({key: .[0].kind,
			value: [(map(.backlog) | add), (map(.qlen) | add)]}) | from_entries'
}

empty() {
	waits | jq -e 'all(.[]; . == [0, 0])' >/dev/null
}

# A frame may leave between two looks at a line that is not quite closed.
agree() { # KIND: all that pass it say the same
	local i now

	for i in 1 2 3 4 5; do
		now=$(waits)
		jq -e '[.[]] | unique | length == 1' <<<"$now" >/dev/null && return
	done
	fail "$1: $now"
}

cp_waits() { # JQ-EXPRESSION over [octets, frames]
	waits | jq -e ".qcn_cp | $1" >/dev/null || fail "waiting: $(waits)"
}

# Super-packets into a line that is next to closed
closed() { # KIND
	{ tree "$1" 1kbit; each "$1" add limit 300000; } | swtc -batch -
	pace "from=$(ns h1),to=$(ns h2),addr=10.0.0.2,gso=10,count=25,size=1000"
	agree "$1"
	cp_waits '.[0] >= 150000 and .[1] >= 150'
	swtc -s -j qdisc show dev p2 | json 'all(.[] | select(.kind == "qcn_cp");
		.qlen == 0 or .backlog / .qlen == 1042)'
	each "$1" change limit 5000 | swtc -batch -
	agree "$1"
	cp_waits '.[0] <= 4 * 7000 and .[1] > 0'
	assert_refused 1 "in use" rmmod sch_qcn
	each "$1" del | swtc -batch -
	empty || fail "$1: $(waits)"
}

# Whole streams arrive while limits change.
open() { # KIND
	local i tcp

	{ tree "$1" 50mbit; each "$1" add limit 500000; } | swtc -batch -
	flow gso h1 h2 10.0.0.2 --count 100 --size 1000
	flow tcp h1 h2 10.0.0.2 --bytes 2000000 &
	tcp=$!
	for i in 1 2 3 4 5 6; do
		each "$1" change limit 20000 qeq 5000 base 10000
		each "$1" change limit 100000 qeq 9000
		each "$1" change limit 3000
		each "$1" change limit 200000 qeq 26000 cnpv 3
	done | swtc -batch -
	wait $tcp || fail "$1: TCP"
	wait_for 20 empty || fail "$1: $(waits)"
	# frames, not super-packets
	swtc -s -j qdisc show dev p2 | json '[.[] | select(.kind == "qcn_cp") | .transmitted] |
		add > 1400'
}

# Taken away and put back, the qcn_cp and all of it, under traffic
taken() { # KIND
	local i

	pace_start "from=$(ns h1),to=$(ns h2),addr=10.0.0.2,gso=4,size=1000,rate=30M"
	{
		for i in 1 2 3; do
			tree "$1" 20mbit
			each "$1" add limit 30000
			each "$1" change limit 5000
			each "$1" del
			each "$1" add qeq 5000
			echo "qdisc del dev p2 root"
		done
		tree "$1" 20mbit
		each "$1" add
	} | swtc -batch -
	pace_stop
	wait_for 20 empty || fail "$1: $(waits)"
	swtc qdisc del dev p2 root
}

parent() { # KIND
	modprobe "sch_$1" 2>/dev/null || true
	net
	closed "$1"
	open "$1"
	taken "$1"
	wait_for 20 _lib_rmmod || fail "rmmod: $(rmmod sch_qcn 2>&1)"
	modprobe sch_qcn
}

# No qdisc between
direct() {
	local root i

	net
	for root in "root" "mq"; do
		if [ $root = root ]; then
			swtc qdisc replace dev p2 root handle 1: qcn_cp limit 500000
		else
			{
				echo "qdisc replace dev p2 root handle 2: mq"
				for i in 1 2 3 4; do
					echo "qdisc replace dev p2 parent 2:$i handle 3$i: qcn_cp limit 500000"
				done
			} | swtc -batch -
		fi
		flow tcp h1 h2 10.0.0.2 --bytes 2000000
		flow gso h1 h2 10.0.0.2 --count 200 --size 1000
		wait_for 20 empty || fail "$root: $(waits)"
		swtc -s -j qdisc show dev p2 | json '[.[] | select(.kind == "qcn_cp") |
			.transmitted] | add > 1500'
	done
}

ktap_plan 9
run_test direct "as a root, below mq"
for kind in tbf htb prio ets drr hfsc mq mqprio; do
	run_test parent "below $kind: closed, open, taken away" $kind
done
