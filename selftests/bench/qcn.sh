#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What QCN's loop does on real bridges, measured: 1, 2, 4, 10 sources of UDP and TCP, a hot
# spot, one CNM, a flood of them; against fifo, red with ECN and fq_codel.  No test: raw
# samples go to OUT/qcn, the claims with what was measured to OUT/qcn.json.  The status is
# 1 when a claim does not hold.
#
#   qcn.sh                      OUT=DIR, CSIG_QCN_SECONDS=N of a run with QCN
#
# h1..h10, s1 and hr are those of qcn_net.sh; all lines have 100 Mbit/s.

# shellcheck disable=SC2119,SC2317

set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../qcn_net.sh"

csig_module=sch_qcn
out=${OUT:-.}
raw=$out/qcn
seconds=${CSIG_QCN_SECONDS:-40}
most=10

leave() {
	local rc=$?

	trap - EXIT
	_lib_kill_jobs
	_lib_del_ns
	[ -z "$_csig_py" ] || kill "$_csig_py"
	wait_for 10 _lib_rmmod
	rm -rf "$_csig_tmp"
	exit "$rc"
}

die() {
	echo "qcn: $*" >&2
	exit 1
}

# The switch's queue and what hosts do, by name; as much buffer for all
set_up() { # QUEUE BPS
	local h ecn=0

	case $1 in
	fifo) qcn_queue s1 out0 "$2" bfifo limit "$qcn_limit" ;;
	red)
		ecn=1
		qcn_queue s1 out0 "$2" red limit "$qcn_limit" min $((qcn_qeq / 2)) \
			max $((qcn_qeq * 3 / 2)) avpkt 1514 burst 15 probability 0.1 \
			bandwidth "${2}bit" ecn
		;;
	fq_codel)
		ecn=1
		qcn_queue s1 out0 "$2" fq_codel limit $((qcn_limit / 1514)) ecn
		;;
	qcn) qcn_cp s1 out0 "$2" ;;
	esac
	for h in "${qcn_hosts[@]}"; do
		echo $ecn | nsx "$h" tee /proc/sys/net/ipv4/tcp_ecn >/dev/null
	done
	if [ "$1" = qcn ]; then
		qcn_rp "${qcn_hosts[@]}"
	else
		qcn_no_rp "${qcn_hosts[@]}"
	fi
}

run() { # NAME N OPTION... [-- KEY=VALUE...]
	local name=$1 n=$2 i options=()

	shift 2
	for ((i = 1; i <= n; i++)); do
		options+=("--rp=$(ns h$i)/eth0")
	done
	echo "$name ..."
	qcn_load "$n" --cp "$(ns s1)/out0" --csv "$raw/$name.csv" "${options[@]}" "$@" ||
		die "$name: no load"
	cp "$_csig_tmp/load" "$raw/$name.json"
	load_show
}

# Shares even out slowly at 100 Mbit/s: with few frames there are few CNMs.
steady() { # KIND N QUEUE
	set_up "$3" "$qcn_bps"
	if [ "$3" = qcn ]; then
		run "$1-$2-$3" "$2" --warmup 15 --seconds "$seconds" -- "kind=$1"
	else
		run "$1-$2-$3" "$2" --warmup 2 --seconds 6 -- "kind=$1"
	fi
}

# Closed for 20 T, then open for as long.  A narrow line carries few octets, and so few
# samples, in a period of 150 ms: here it is the fourfold.
hot_spot() { # N QUEUE PART
	local spot_ms=$((qcn_t_ms * 4)) line_ms=$qcn_t_ms

	qcn_scale "$qcn_bps" $spot_ms
	set_up "$2" "$qcn_bps"
	run "spot$3-$1-$2" "$1" --warmup 10 --seconds $((2 + spot_ms * 40 / 1000)) \
		--every 0.1 --at 2:$((qcn_bps / $3)) \
		--at $((2 + spot_ms * 20 / 1000)):"$qcn_bps"
	qcn_scale "$qcn_bps" "$line_ms"
}

one_cnm() {
	set_up qcn "$qcn_bps"
	echo "series ..."
	py qcn_cnm series --rp "$(ns h1)/eth0" --from "$(ns s1)/p1" \
		--mac "$(_qcn_mac 1)" >"$raw/series.csv" || echo "the limiter is still there"
}

flooded() {
	set_up qcn "$qcn_bps"
	run flood 1 --warmup 1 --seconds 25 --flood "2:5:$(ns s1)/p1:$(_qcn_mac 1)"
}

[ "$(id -u)" = 0 ] || die "needs root"
need ip tc bridge ethtool jq python3
mkdir -p "$raw" || die "no folder $raw"
rm -f "$raw"/*.csv "$raw"/*.json
_csig_tmp=$(mktemp -d /tmp/csig-qcn-XXXXXX)
trap leave EXIT
modprobe "$csig_module" || die "the module does not load"
_lib_py_start
qcn_make $most
for n in 1 2 4; do
	hot_spot $n qcn 19
done
hot_spot 2 fifo 19
hot_spot 2 qcn 2
one_cnm
flooded
for kind in udp tcp; do
	[ $kind = udp ] || qcn_wires
	for n in 1 2 4 10; do
		for queue in fifo red fq_codel qcn; do
			steady $kind $n $queue
		done
	done
done
jq -n --argjson bps "$qcn_bps" --argjson t "$qcn_t_ms" --argjson qeq "$qcn_qeq" \
	--argjson limit "$qcn_limit" --argjson min $((qcn_bps / 2000)) \
	'{line_bps: $bps, timer_ms: $t, spot_timer_ms: ($t * 4), qeq_bytes: $qeq, limit_bytes: $limit,
	min_rate_bps: $min}' >"$raw/settings.json"
python3 -B "$(dirname "$0")/qcn_report.py" "$raw" "$out/qcn.json"
