#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The life of a CSIG packet: the figure of draft-ravi-ippm-csig-01 on real packets, at
# 1:10000 in rate and 1000:1 in time.  It fails when a bottleneck is named wrongly or a
# value is off.  Needs root, the module and csigctl; no test, but it uses their library.
#
#   hosta -- tor1 -- aggr1 -- core1 -- aggr2 -- tor2 -- hostb      tagged TCP ->
#             |        |        |        |        |
#            x1  ->   x2  ->   x3  ->   x4  ->   x5  -> hostb      cross traffic
#
# Every name is a network namespace.  tor and aggr are bridges, core1 is a router.
# A device's port towards hostb is out0, towards hosta in0, towards its x host loc0.

set -u
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"

hops=(tor1 aggr1 core1 aggr2 tor2)
hosts=(hosta hostb x1 x2 x3 x4 x5)
# The figure: capacity and ABW in kbit/s, delay in ms; hop 1 first.
capacity=(80000 10000 10000 10000 4000)
abw=(10000 9500 7000 9000 2000)
delay=(10 3 18 5 8)
# Octets of a packet of the cross traffic, and packets in one send: large where the rate is
size=(8900 400 4000 1000 1400)
gso=(3 1 1 1 1)
tagged=250		# kbit/s on the wire of the TCP transfer
packets=240		# tagged packets that the receiver looks at
signals=(abw abwc pd)

die() {
	echo "demo: $*" >&2
	exit 1
}

say() {
	printf '[%3d s] %s\n' $SECONDS "$*"
}

cleanup() {
	local rc=$?

	trap - EXIT INT TERM HUP
	_lib_kill_jobs
	_lib_del_ns
	[ "${loaded_here:-0}" = 0 ] || wait_for 10 _lib_rmmod
	[ -z "${dir:-}" ] || rm -rf "$dir"
	exit $rc
}

# The commands of ip for a network namespace, from a function's output
in_ns() { # NAME FUNCTION [ARGUMENT...]
	local n=$1

	shift
	"$@" | ip -n "$(ns "$n")" -batch - || die "making $n"
}

links() {
	local i n

	for n in "${hops[@]}" "${hosts[@]}"; do
		echo "netns add $(ns "$n")"
	done
	# frames of up to 9000 octets, as in data centres
	for i in 0 1 2 3; do
		echo "link add name out0 netns $(ns "${hops[i]}") mtu 9000 type veth" \
			"peer name in0 netns $(ns "${hops[i + 1]}") mtu 9000"
	done
	for i in hosta:tor1:in0 hostb:tor2:out0 x1:tor1:loc0 x2:aggr1:loc0 \
		x3:core1:loc0 x4:aggr2:loc0 x5:tor2:loc0; do
		IFS=: read -r host device port <<<"$i"
		echo "link add name eth0 netns $(ns "$host") mtu 9000 type veth" \
			"peer name $port netns $(ns "$device") mtu 9000"
	done
}

host() { # ADDRESS GATEWAY
	cat <<-END
		addr add $1/24 dev eth0
		link set dev eth0 up
		route add default via $2
	END
}

bridge() {
	local dev

	echo "link add name br0 type bridge stp_state 0 forward_delay 0 mcast_snooping 0"
	for dev in in0 out0 loc0; do
		echo "link set dev $dev master br0"
		echo "link set dev $dev up"
	done
	echo "link set dev br0 up"
}

router() {
	local i=0 dev

	for dev in in0 out0 loc0; do
		i=$((i + 1))
		echo "addr add 10.$i.0.254/24 dev $dev"
		echo "link set dev $dev up"
	done
}

build_path() {
	local n

	for n in "${hops[@]}" "${hosts[@]}"; do
		_csig_ns+=("$(ns "$n")")
	done
	links | ip -batch - || die "making the links"
	for n in tor1 aggr1 aggr2 tor2; do
		in_ns "$n" bridge
	done
	in_ns core1 router
	nsx core1 sysctl -qw net.ipv4.ip_forward=1
	in_ns hosta host 10.1.0.1 10.1.0.254
	in_ns x1 host 10.1.0.11 10.1.0.254
	in_ns x2 host 10.1.0.12 10.1.0.254
	in_ns x3 host 10.3.0.13 10.3.0.254
	in_ns x4 host 10.2.0.14 10.2.0.254
	in_ns x5 host 10.2.0.15 10.2.0.254
	in_ns hostb host 10.2.0.2 10.2.0.254
}

domain() {
	cat <<-END
		domain preset default scale-rate 1/10000 scale-time 1000
		lm set signal all format compact fields hop:7
		lm set signal all format expanded fields device:10,port:6
		domain show
	END
}

ports() { # INDEX
	cat <<-END
		port add dev out0 capacity ${capacity[$1]}kbit estimator raw interval 1s \
			lm hop=$(($1 + 1)),device=$(($1 + 1)),port=2 ingress trust
		port add dev in0 ingress trust
	END
}

# Every node by itself, from the same words; then all must have the same digest.
make_domain() {
	local i n digest first=

	for i in a 0 1 2 3 4 b; do
		case $i in
		a | b) n=host$i ;;
		*) n=${hops[i]} ;;
		esac
		digest=$({ domain; [ "$n" = "host$i" ] || ports "$i"; } |
			csigctl -n "$(ns "$n")" -j -b -) ||
			die "the domain or a port of $n"
		digest=$(jq -r .digest <<<"$digest")
		[ "${first:=$digest}" = "$digest" ] ||
			die "$n has another profile: digest $digest, not $first"
	done
	say "all 7 nodes have the profile $first"
}

make_delays() {
	local i n

	for i in 0 1 2 3 4; do
		n=${hops[i]}
		child "$n" out0 netem delay "${delay[i]}ms" limit 10000 ||
			die "the delay of $n"
		cat <<-END >>"$dir/names"
			hop=$((i + 1)) $n/out0
			device=$((i + 1)),port=2 $n/out0
		END
	done
}

# The sender's authorisation: what may be tagged, and how.  Of each 8 packets by their
# IP identification, 6 ask for the three signals in both formats, 2 go without a tag.
tag_at_sender() {
	local n f id=0 s

	n=$(ns hosta)
	tc -n "$n" qdisc add dev eth0 clsact
	for f in compact expanded; do
		for s in "${signals[@]}"; do
			tc -n "$n" filter add dev eth0 egress protocol ip pref 10 u32 \
				match ip protocol 6 0xff match u16 $id 7 at 4 \
				action csig push format $f signal "$s" ||
				die "the filter of the sender"
			id=$((id + 1))
		done
	done
	tc -n "$(ns hostb)" qdisc add dev eth0 clsact
	tc -n "$(ns hostb)" filter add dev eth0 ingress protocol all matchall \
		action csig pop || die "the filter of the receiver"
}

start_traffic() {
	local i to flows

	to=(10.1.0.12 10.3.0.13 10.2.0.14 10.2.0.15 10.2.0.2)
	flows=("kind=tcp,from=$(ns hosta),to=$(ns hostb),addr=10.2.0.2,size=400,extra=4")
	flows[0]+=",rate=${tagged}k"
	for i in 0 1 2 3 4; do
		n=$(ns x$((i + 2)))
		[ $i -lt 4 ] || n=$(ns hostb)
		flows+=("from=$(ns x$((i + 1))),to=$n,addr=${to[i]},size=${size[i]},gso=${gso[i]}")
		flows[i + 1]+=",rate=$((capacity[i] - abw[i] - tagged))k"
	done
	python3 -SEB "$CSIG_LIB_DIR/traffic.py" pace "${flows[@]}" \
		--ready "$dir/ready" >"$dir/traffic" &
	traffic=$!
	wait_for 30 traffic_runs || die "no traffic"
}

traffic_runs() {
	kill -0 $traffic 2>/dev/null || die "the traffic ended"
	[ -e "$dir/ready" ]
}

# One line: the objects of the five ports.
sample_ports() {
	local n

	for n in "${hops[@]}"; do
		csigctl -n "$(ns "$n")" -j port show dev out0 || die "port show of $n"
	done | jq -cs 'map(.[0])'
}

# Two looks a window apart that differ by less than 2 % of the capacity.
ports_steady() {
	local now

	now=$(sample_ports)
	jq -ne --argjson a "$before" --argjson b "$now" \
		'[range($b | length) | ($a[.] // {abw_bps: -1e12}) as $x | $b[.] as $y |
		  ($x.abw_bps - $y.abw_bps | fabs) < 0.02 * $y.capacity_bps and
		  $y.abw_bps < $y.capacity_bps] | all' >/dev/null && return
	before=$now
	sleep 1.1	# a window of the estimators
	return 1
}

receive() {
	csigctl -n "$(ns hostb)" -j capture dev eth0 count $packets \
		names "$dir/names" >"$dir/capture" &
	capture=$!
	while kill -0 $capture 2>/dev/null; do
		sample_ports >>"$dir/ports"
		[ "$(wc -l <"$dir/ports")" -lt 120 ] || die "the receiver sees no tags"
		sleep 0.4
	done
	wait $capture || die "the capture failed"
	kill $traffic
	wait $traffic || die "the TCP transfer did not arrive as it was sent"
}

[ "$(id -u)" = 0 ] || die "needs root"
need ip tc jq python3 csigctl
dir=$(mktemp -d /tmp/csig-demo-XXXXXX)
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
before='[]'
: >"$dir/ports"
if [ ! -d /sys/module/csig ]; then
	modprobe csig || die "the module does not load"
	loaded_here=1
fi

say "building the path: 2 hosts, 5 devices, 5 hosts for the cross traffic"
build_path
make_domain
make_delays
tag_at_sender
say "starting a TCP transfer of $tagged kbit/s and the cross traffic"
start_traffic
say "waiting until the ports measure the same twice"
wait_for 60 ports_steady ||
	die "the ports do not become steady: $(jq -c 'map([.ifname, .abw_bps])' <<<"$before")"
say "looking at $packets tagged packets at the receiver"
receive
say "done"
csigctl -n "$(ns hostb)" -j signal show >"$dir/signals"
python3 -SEB "$CSIG_LIB_DIR/demo_report.py" "$dir" "${capacity[*]}" "${abw[*]}" "${delay[*]}" \
	"${hops[*]}"
