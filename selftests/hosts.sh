# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2034,SC2154 # variables of the tests; _csig_tmp is lib.sh's
# Two end hosts, a path of three hops between them, and middleboxes on it.  Sourced after
# lib.sh and traffic.sh; it is no test itself.
#
#   h1           r1             r2             r3            h2
#   eth0 --- in0 [] out0 --- in0 [] out0 --- in0 [] out0 --- eth0
#
#   path_make bridged            r1..r3 are bridges, all in one subnet
#   path_make routed [vlan]      r1..r3 are routers; vlan: h1 and h2 in VLAN 10, as the
#                                routers' devices towards them are (bridged, too)
#   path_make ... mtu 9000       of all links, default 1500
#
# The ports towards h2 have the names r1/out0 to r3/out0 (hop 1 to 3), those towards h1
# r3/in0 to r1/in0 (hop 13 to 11).  Links are as fast as the machine; a port's capacity
# is what it is told.  With a flow of 2 Mbit/s and nothing else (path_traffic):
#
#   hop  capacity  cross traffic   abw    abw/c   delay    bottleneck of
#   1    60 Mbit/s     36          22     37 %             min(abwc)
#   2    15             -          13     87 %             min(abw)
#   3    100            -          98     98 %    20 ms    max(pd)

path_kbit=(60000 15000 100000)
path_back_kbit=200000
path_window=400ms		# of the ports' estimators; traffic on a busy machine comes in bursts
path_cross=36M			# over hop 1
path_delay=20ms			# of hop 3
path_hops=(r1 r2 r3)

# --- the path ---------------------------------------------------------------------

path_make() { # bridged|routed [vlan] [mtu N]
	local kind=$1 n

	shift
	path_vlan=
	path_mtu=1500
	while [ $# -gt 0 ]; do
		case $1 in
		vlan) path_vlan=.10 ;;
		mtu)
			path_mtu=$2
			shift
			;;
		esac
		shift
	done
	path_dev=eth0$path_vlan		# with the hosts' addresses
	H1_4=10.1.0.1 H1_6=fd00:1::1
	if [ "$kind" = routed ]; then
		H2_4=10.2.0.1 H2_6=fd00:2::1
		mkns h1 h2 r1 r2 r3 ipv6
	else
		H2_4=10.1.0.2 H2_6=fd00:1::2
		mkns r1 r2 r3
		mkns h1 h2 ipv6
	fi
	_path_links | ip -batch -
	for n in h1 h2; do
		"_path_host_$kind" $n | ip -n "$(ns $n)" -batch -
	done
	for n in 1 2 3; do
		"_path_hop_$kind" $n | ip -n "$(ns r$n)" -batch -
		[ "$kind" = bridged ] || nsx r$n sysctl -qw \
			net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	done
	_path_domain
	tc -n "$(ns r3)" qdisc replace dev out0 parent c519:1 netem \
		delay $path_delay limit 10000
}

_path_links() {
	local a

	for a in "h1 eth0 01 r1 in0 02" "r1 out0 03 r2 in0 04" \
		"r2 out0 05 r3 in0 06" "r3 out0 07 h2 eth0 08"; do
		# shellcheck disable=SC2086
		set -- $a
		echo "link add name $2 netns $(ns "$1") address 02:00:00:00:00:$3" \
			"mtu $path_mtu type veth peer name $5 netns $(ns "$4")" \
			"address 02:00:00:00:00:$6 mtu $path_mtu"
	done
}

_path_up() { # DEV: and its VLAN device
	echo "link set dev $1 up"
	[ -z "$path_vlan" ] || [ "$1${2:-}" = br0 ] ||
		printf '%s\n' "link add link $1 name $1$path_vlan type vlan id 10" \
			"link set dev $1$path_vlan up"
}

_path_host_bridged() { # NS
	_path_up eth0
	echo "addr add 10.1.0.${1#h}/24 dev $path_dev"
	echo "addr add fd00:1::${1#h}/64 dev $path_dev nodad"
}

_path_host_routed() { # NS
	_path_up eth0
	echo "addr add 10.${1#h}.0.1/24 dev $path_dev"
	echo "addr add fd00:${1#h}::1/64 dev $path_dev nodad"
	echo "route add default via 10.${1#h}.0.254"
	echo "route add default via fd00:${1#h}::fe"
}

# With an address, for cross traffic from hop to hop
_path_hop_bridged() { # NUMBER
	echo "link add name br0 type bridge stp_state 0 forward_delay 0 mcast_snooping 0"
	echo "link set dev in0 up master br0"
	echo "link set dev out0 up master br0"
	echo "link set dev br0 up"
	echo "addr add 10.3.0.$1/24 dev br0"
}

_path_hop_routed() { # NUMBER
	local in=in0 out=out0 a b

	if [ "$1" = 1 ]; then
		_path_up in0
		in+=$path_vlan
	else
		echo "link set dev in0 up"
	fi
	if [ "$1" = 3 ]; then
		_path_up out0
		out+=$path_vlan
	else
		echo "link set dev out0 up"
	fi
	# the links 10.3.12 and 10.3.23, .1 is on the side of h1
	a=(10.1.0.254 10.3.1.2 10.3.2.2)
	b=(10.3.1.1 10.3.2.1 10.2.0.254)
	echo "addr add ${a[$1 - 1]}/24 dev $in"
	echo "addr add ${b[$1 - 1]}/24 dev $out"
	a=(fd00:1::fe fd00:31::2 fd00:32::2)
	b=(fd00:31::1 fd00:32::1 fd00:2::fe)
	echo "addr add ${a[$1 - 1]}/64 dev $in nodad"
	echo "addr add ${b[$1 - 1]}/64 dev $out nodad"
	[ "$1" = 1 ] || printf '%s\n' "route add 10.1.0.0/24 via 10.3.$(($1 - 1)).1" \
		"route add fd00:1::/64 via fd00:3$(($1 - 1))::1"
	[ "$1" = 3 ] || printf '%s\n' "route add 10.2.0.0/24 via 10.3.$1.2" \
		"route add fd00:2::/64 via fd00:3$1::2"
}

# The same profile everywhere
_path_domain() {
	local n

	for n in h1 h2 r1 r2 r3; do
		{
			echo "domain preset default scale-rate 1/1000 scale-time 1000"
			echo "lm set signal all format compact fields hop:7"
			echo "lm set signal all format expanded fields hop:16"
			[[ $n = h? ]] || _path_ports "${n#r}"
		} | csigctl -n "$(ns $n)" -b -
	done
	path_names=$_csig_tmp/names
	for n in 1 2 3; do
		printf '%s\n' "hop=$n r$n/out0" "hop=1$n r$n/in0"
	done >"$path_names"
}

_path_ports() { # NUMBER
	cat <<-EOF
	port add dev out0 capacity ${path_kbit[$1 - 1]}kbit estimator raw interval $path_window lm hop=$1 ingress trust
	port add dev in0 capacity ${path_back_kbit}kbit estimator raw interval $path_window lm hop=1$1 ingress trust
	EOF
}

# What hop N says of its capacity; a bottleneck moves by it.
path_capacity() { # HOP RATE
	port_set "r$1" out0 capacity "$2"
}

# What holds packets up at a hop: a qdisc below its port
path_child() { # HOP KIND [OPTION...]
	local n=r$1

	shift
	tc -n "$(ns "$n")" qdisc replace dev out0 parent c519:1 "$@"
}

# --- hosts ------------------------------------------------------------------------

# Both hosts; the device is eth0 unless path_host_dev names another.
# shellcheck disable=SC2120 # settings may follow, or not
hosts_enable() { # [SETTING...]
	local n

	at_leave hosts_off
	for n in h1 h2; do
		ctl $n host enable dev "${path_host_dev:-eth0}" "$@"
	done
}

# At the end of a test function that failed, too
hosts_off() {
	hosts_disable 2>/dev/null || true
}

hosts_disable() {
	local n

	for n in h1 h2; do
		ctl $n host disable dev "${path_host_dev:-eth0}"
	done
	at_leave :
}

host_count() { # NS KEY: a counter of "host show"
	ctl "$1" -j host show | jq -r ".stats.$2"
}

# Offloads of both ends of both hosts' links
hosts_features() { # FEATURE on|off...
	local a

	for a in "h1 eth0" "r1 in0" "r3 out0" "h2 eth0"; do
		nsx "${a% *}" ethtool -K "${a#* }" "$@" >/dev/null
	done
}

# --- traffic: FLOWs of traffic.py ---------------------------------------------------

# From h1 to h2, 2 Mbit/s; more settings replace these.
# shellcheck disable=SC2120
path_flow() { # [KEY=VALUE...]
	local IFS=,

	echo "kind=tcp,from=$(ns h1),to=$(ns h2),addr=$H2_4,size=1000,rate=2M${*:+,$*}"
}

# Over one hop's port only, 1 or 2
path_cross_flow() { # HOP RATE
	local addr=10.3.0.$(($1 + 1))

	[[ $H2_4 != 10.2.* ]] || addr=10.3.$1.2
	echo "from=$(ns "r$1"),to=$(ns "r$(($1 + 1))"),addr=$addr,size=1400,gso=20,rate=$2"
}

# The table at the top; more flows may be given.  pace_stop ends it.
path_traffic() { # [FLOW...]
	# shellcheck disable=SC2119
	pace_start "$(path_flow)" "$(path_cross_flow 1 $path_cross)" "$@"
}

# Many connections, all of which must be complete; see connections.py.
connections() { # ADDRESS OF h2 [OPTION...]
	local addr=$1

	shift
	py connections --client "$(ns h1)" --server "$(ns h2)" --addr "$addr" "$@" ||
		fail "not all connections were complete: $addr $*"
}

# What is on the wire of a device, seen from now on; see wire.py.  wire_stop ends it,
# wire_get reads it.
wire_start() { # NS/DEV [OPTION...]
	local where

	where=$(ns "${1%%/*}")/${1#*/}
	shift
	rm -f "$_csig_tmp/wire_ready"
	python3 -SEB "$CSIG_LIB_DIR/wire.py" "$where" --ready "$_csig_tmp/wire_ready" \
		"$@" >"$_csig_tmp/wire" &
	wire_pid=$!
	wait_for 30 test -e "$_csig_tmp/wire_ready" || fail "wire.py does not start"
}

wire_stop() {
	kill "$wire_pid"
	wait "$wire_pid" || fail "wire.py failed"
	[ "$(wire_get .lost)" = 0 ] || echo "wire.py lost $(wire_get .lost) frames"
}

wire_get() { # JQ
	jq -r "$1" "$_csig_tmp/wire"
}

# h2 answers probes, by sockets.
reflect_start() {
	csigctl -n "$(ns h2)" reflect >"$_csig_tmp/reflect" 2>&1 &
	responder=$!
	wait_for 30 grep -q answering "$_csig_tmp/reflect" ||
		fail "$(cat "$_csig_tmp/reflect")"
}

reflect_stop() {
	kill -INT "$responder"
	wait "$responder" || fail "reflect: status $?: $(cat "$_csig_tmp/reflect")"
}

# --- what "flow show" says of it ------------------------------------------------------

flows() { # NS [WORD...]
	local n=$1

	shift
	ctl "$n" -j flow show ${path_names:+names "$path_names"} "$@"
}

# All flows that match, in an array; the expression must be true.
flow_is() { # NS EXPRESSION [WORD...]
	local n=$1 expr=$2

	shift 2
	flows "$n" "$@" >"$_csig_tmp/flow" || fail "flow show failed"
	jq -e "$expr" "$_csig_tmp/flow" >/dev/null
}

flow_wait() { # SECONDS NS EXPRESSION [WORD...]
	local seconds=$1

	shift
	wait_for "$seconds" flow_is "$@" ||
		fail "not within $seconds s: $2: $(head -c 3000 "$_csig_tmp/flow")"
}

# A jq expression: the first flow's signal T has its bottleneck there and is fresh.
flow_at() { # T PLACE [PLACE OF T + 1...]
	local t=$1 expr=true

	shift
	while [ $# -gt 0 ]; do
		expr+=" and ([.[0].signals[] | select(.t == $t and .bottleneck == \"$1\""
		expr+=" and .age_ns < 1e9)] | length == 1)"
		t=$((t + 1))
		shift
	done
	echo "$expr"
}

# --- middleboxes, at r2 ---------------------------------------------------------------
#
# Each sees untagged packets where r2 routes, and frames as they are where it bridges.

_mb_nft() { # DEVICE THEY COME FROM, RULE...
	local dev=$1 rule

	shift
	{
		echo "table netdev mb_$dev {"
		echo "chain c {"
		echo "type filter hook ingress device \"$dev\" priority 0;"
		printf '%s\n' "$@" "}" "}"
	} | nsx r2 nft -f -
}

mb_drops_syn() { # SYNs with the option
	_mb_nft in0 "tcp flags syn tcp option ${1:-254} exists drop"
}

mb_drops_synack() { # SYN-ACKs with the option
	_mb_nft out0 "tcp flags & syn == syn tcp option ${1:-254} exists drop"
}

mb_strips_option() { # from all segments, both directions
	_mb_nft in0 "reset tcp option ${1:-254}"
	_mb_nft out0 "reset tcp option ${1:-254}"
}

mb_strips_reflections() { # from all segments but SYNs
	_mb_nft in0 "tcp flags & syn == 0 reset tcp option ${1:-254}"
	_mb_nft out0 "tcp flags & syn == 0 reset tcp option ${1:-254}"
}

mb_strips_tags() {
	port_set r2 out0 egress strip
}

mb_drops_tagged() { # before csig sees them
	tc -n "$(ns r2)" filter add dev in0 ingress pref 1 protocol 0x9900 \
		matchall action drop
	tc -n "$(ns r2)" filter add dev in0 ingress pref 2 protocol 0xccdd \
		matchall action drop
}

# Of what comes from h1 with data.  At random: in turn, with one packet sent again for each
# that is lost, it would always be the same signal's.
mb_drops_data() { # 1 IN N
	_mb_nft in0 "meta length > 200 numgen random mod $1 == 0 drop"
}

# Of N acknowledgments without data one gets through.
mb_coalesces_acks() { # N
	_mb_nft out0 "tcp flags & (syn | fin | rst | ack) == ack meta length < 120 numgen inc mod $1 != 0 drop"
}

mb_counts() { # DEV: what its rule counts, "counter" in the rule
	nsx r2 nft -j list table netdev "mb_$1" |
		jq '[.. | .counter? // empty | .packets] | add // 0'
}

mb_off() {
	nsx r2 nft flush ruleset
	port_set r2 out0 egress keep
	tc -n "$(ns r2)" filter del dev in0 ingress pref 1 2>/dev/null || true
	tc -n "$(ns r2)" filter del dev in0 ingress pref 2 2>/dev/null || true
}

# --- tests of a middlebox: begin, what is to be seen, end ---------------------------

mb_connections=10		# connections over IPv4, and as many over IPv6

# shellcheck disable=SC2119
mb_begin() { # MIDDLEBOX [ARGUMENT...]
	hosts_enable
	"$@"
	connections "$H2_4" --count $mb_connections --parallel $mb_connections
	connections "$H2_6" --count $mb_connections --parallel $mb_connections
}

mb_end() {
	mb_off
	hosts_disable
}

counts_are() { # NS KEY NUMBER...
	local n=$1

	shift
	while [ $# -gt 0 ]; do
		assert_eq "$1 at $n" "$2" "$(host_count "$n" "$1")"
		shift 2
	done
}

# A longer flow, until it is as it has to be
flow_ends_up() { # EXPRESSION
	pace_start "$(path_flow)"
	flow_wait 25 h1 "length == 1 and (.[0] | $1)" dport 5001
	pace_stop
}
