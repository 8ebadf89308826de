# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2034,SC2154 # variables of the tests; _csig_tmp is lib.sh's
# N hosts that send to one over real bridges, the queues on the way, and load.  Sourced
# after lib.sh; it is no test itself.
#
#   h1 eth0 --- p1 [s1]
#   h2 eth0 --- p2 [s1] out0 --- in0 [s2] out0 --- eth0 hr       qcn_make 2 2
#   h1 ...      p1 [s1] out0 --- eth0 hr                         qcn_make N
#
# Hosts have 10.5.0.N, hr 10.5.0.100; the same with 10.6 in VLAN 10, where SO_PRIORITY is
# the PCP.  Addresses are known from the start: nothing but load is sent.  A queue is a
# tbf, which is the line, over the qdisc that is looked at.  Octets on the wire, 24 more
# than a frame has, are what both count.

qcn_bps=100000000		# of all lines
qcn_burst=32000			# what a late timer may lose, 2.6 ms
qcn_qeq=26000
qcn_limit=$((6 * qcn_qeq))

# The standard's settings are those of 10 Gbit/s: rates are shares of the line, and a timer
# period has to be long enough for 12 stages in octets, T * line / (8 * 150000).
qcn_scale() { # BPS [TIMER-MS]
	qcn_bps=$1
	qcn_t_ms=${2:-$((15000000000 / qcn_bps))}
	qcn_rp_options=(rate "$qcn_bps" min-rate $((qcn_bps / 2000))
		ai $((qcn_bps / 2000)) hai $((qcn_bps / 200)) timer "${qcn_t_ms}ms")
}
qcn_scale $qcn_bps

qcn_make() { # HOSTS [SWITCHES]
	local i n=$1 last=s${2:-1} spaces=(s1 hr)

	qcn_hosts=()
	for ((i = 1; i <= n; i++)); do
		qcn_hosts+=("h$i")
	done
	[ "$last" = s1 ] || spaces+=(s2)
	mkns "${qcn_hosts[@]}" "${spaces[@]}"
	_qcn_links "$last" | ip -batch -
	for i in "${qcn_hosts[@]}" hr; do
		_qcn_host "$i" | ip -n "$(ns "$i")" -batch -
	done
	_qcn_switch s1 "${qcn_hosts[@]/h/p}" out0
	[ "$last" = s1 ] || _qcn_switch s2 in0 out0
}

_qcn_mac() { # NUMBER
	printf '02:00:00:00:%02x:%02x' $(($1 / 256)) $(($1 % 256))
}

_qcn_link() { # NS1 DEV1 NUMBER1 NS2 DEV2 NUMBER2
	echo "link add name $2 netns $(ns "$1") address $(_qcn_mac "$3") type veth" \
		"peer name $5 netns $(ns "$4") address $(_qcn_mac "$6")"
}

_qcn_links() { # LAST SWITCH
	local h

	for h in "${qcn_hosts[@]}"; do
		_qcn_link "$h" eth0 "${h#h}" s1 "p${h#h}" $((256 + ${h#h}))
	done
	if [ "$1" = s2 ]; then
		_qcn_link s1 out0 513 s2 in0 514
	fi
	_qcn_link "$1" out0 515 hr eth0 100
}

_qcn_host() { # NS
	local i=${1#h} peer peers=(100)

	if [ "$i" = r ]; then
		i=100
		peers=("${qcn_hosts[@]#h}")
	fi
	cat <<-EOF
	link set dev eth0 up
	link add link eth0 name eth0.10 type vlan id 10 egress-qos-map 1:1 2:2 3:3 4:4 5:5 6:6 7:7
	link set dev eth0.10 up
	addr add 10.5.0.$i/24 dev eth0
	addr add 10.6.0.$i/24 dev eth0.10
	EOF
	for peer in "${peers[@]}"; do
		echo "neigh add 10.5.0.$peer lladdr $(_qcn_mac "$peer") dev eth0 nud permanent"
		echo "neigh add 10.6.0.$peer lladdr $(_qcn_mac "$peer") dev eth0.10 nud permanent"
	done
}

_qcn_switch() { # NS PORT... PORT TOWARDS hr
	local n=$1 h dev

	shift
	for dev in "$@"; do
		echo "link set dev $dev up"
	done | ip -n "$(ns "$n")" -batch -
	mkbridge "$n" br0 "" "$@"
	{
		echo "fdb replace $(_qcn_mac 100) dev ${!#} master static"
		for h in "${qcn_hosts[@]}"; do
			dev=in0
			[ "$n" = s2 ] || dev=${h/h/p}
			echo "fdb replace $(_qcn_mac "${h#h}") dev $dev master static"
		done
	} | bridge -n "$(ns "$n")" -batch -
}

# As on a wire: the first switch takes TCP's packets out of their sockets' accounts, which
# would otherwise hold the sender back (TCP small queues) before the switch's queue does.
# It is what the receive path of a veth does for GRO.
qcn_wires() {
	local h

	for h in "${qcn_hosts[@]}"; do
		nsx "$h" ethtool -K eth0 tso off >/dev/null
		nsx s1 ethtool -K "${h/h/p}" gro on >/dev/null
	done
}

# --- queues -----------------------------------------------------------------------

# A line and its queue; the handles are 1: and 10:
qcn_queue() { # NS DEV BPS KIND [OPTION...]
	local n=$1 dev=$2 bps=$3

	shift 3
	qcn_off "$n" "$dev"
	tc -n "$(ns "$n")" -batch - <<-EOF
	qdisc add dev $dev root handle 1: tbf rate ${bps}bit burst $qcn_burst limit $qcn_limit overhead 24
	qdisc add dev $dev parent 1:1 handle 10: $*
	EOF
}

qcn_off() { # NS DEV
	tc -n "$(ns "$1")" qdisc del dev "$2" root 2>/dev/null || true
}

# shellcheck disable=SC2120 # options may follow, or not
qcn_cp() { # NS DEV BPS [OPTION...]
	qcn_queue "$1" "$2" "$3" qcn_cp qeq $qcn_qeq limit $qcn_limit "${@:4}"
}

# Hosts whose reaction point is scaled to their line
qcn_rp() { # NS... [-- OPTION...]
	local h hosts=()

	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		hosts+=("$1")
		shift
	done
	for h in "${hosts[@]}"; do
		qcn_queue "$h" eth0 "$qcn_bps" qcn_rp "${qcn_rp_options[@]}" "${@:2}"
	done
}

# Hosts that know no congestion notification
qcn_no_rp() { # NS...
	local h

	for h in "$@"; do
		qcn_queue "$h" eth0 "$qcn_bps" pfifo limit 1000
	done
}

# --- load; see qcn_load.py -----------------------------------------------------------

# SOURCEs of the first N hosts; more settings follow each
qcn_sources() { # N [KEY=VALUE...]
	local i n=$1 net=${qcn_net:-10.5.0} IFS=,

	shift
	for ((i = 1; i <= n; i++)); do
		echo "from=$(ns h$i),to=$(ns hr),src=$net.$i,addr=$net.100${*:+,$*}"
	done
}

# Until it ended; the report is in $_csig_tmp/load.
qcn_load() { # N OPTION... [-- KEY=VALUE...]
	local n=$1 options=() sources

	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	mapfile -t sources < <(qcn_sources "$n" "${@:2}")
	py qcn_load "${options[@]}" "${sources[@]}" >"$_csig_tmp/load"
}

# Numbers of the report as whole ones
load_get() { # JQ-EXPRESSION
	jq -r "$1 | if type == \"number\" then round else . end" "$_csig_tmp/load"
}

# The report with what follows from it, for people
load_show() {
	jq -c --argjson qeq "$qcn_qeq" '{seconds, bps, frames, drops, jain,
		mean: (.backlog_mean_bytes / $qeq), max: (.backlog_max_bytes / $qeq),
		cnms: (.leaf.cnm // [] | add), cnm: .leaf.cnm,
		rp: [.rp[] | {cnm_used, cnm_ignored, activations, active}]}' "$_csig_tmp/load"
}

# A queue without tc between; see qcn_tc.py.
qcn_get() { # NS DEV JQ-EXPRESSION: of its leaf, or with .limiters
	py qcn_tc "$(ns "$1")/$2" | jq -r '.[] | . as $all | .qdiscs |
		(map(select(.parent | startswith("ffff") | not)) + .)[0] |
		.limiters = $all.limiters | '"$3"
}
