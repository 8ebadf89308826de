#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The congestion notification domain: priorities remapped where a port is an edge, CN-TAGs
# kept or taken off as the modes say, data with CN-TAGs at sockets, modes that follow the
# neighbour, and the netlink family.
#
#   h1 v0 --- port1 [sw, br0] port2 --- v1 h2
#                             port3 --- v2 h2

. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2034
csig_module=sch_qcn

dom() { # set|del|get|stats NS/DEV [ARGUMENT...], or a case; see qcn_domain.py
	local what=$1 where=$2

	shift 2
	py qcn_domain "$what" "${where%%/*}-$$${where#"${where%%/*}"}" "$@"
}

switch() {
	mklinks
	mkveth sw port3 13 h2 v2 03
	ip -n "$(ns sw)" link set dev port3 master br0
	ip -n "$(ns h2)" link set dev v2 mtu 2000
}

remapped() {
	switch
	dom set sw/port1 3=edge 5=edge/0 6=interior
	cases h1/v0 h2/v1 <<-'EOF'
	next lower           | q:10/3                    | q:10/2
	as it is set         | q:10/5                    | q:10/0
	priority-tagged      | q:0/3                     | q:0/2
	S-tag                | ad:10/3                   | ad:10/2
	QinQ: the outer one  | ad:10/3 q:20/3            | ad:10/2 q:20/3
	QinQ: not the inner  | ad:10/1 q:20/3            | same
	9100, in the octets  | old:10/3 q:20/3           | old:10/2 q:20/3
	no priority of it    | q:10/2                    | same
	nor this             | q:10/7                    | same
	interior             | q:10/6                    | same
	interior, untagged   |                           | same
	with a CN-TAG        | q:10/3 cn:5               | q:10/2 cn:5
	a CNM                | q:10/3 cn:5 type:22e7 fill:60 | same
	a CNM without CN-TAG | q:10/3 type:22e7 fill:60  | same
	802.2                | q:10/3 llc:60             | q:10/2 llc:60
	cut                  | q:10/3 type:22e9 hex:0007 | same
	too many VLAN tags   | q:10/3 q:1 q:2 q:3 q:4    | same
	EOF
	assert_eq "remapped" 8 "$(dom stats sw/port1 remapped)"
	# link control is not for the bridge: it ends here, as it is
	frames send "$(ns h1)/v0" "to:0180c2000002 q:10/3 type:8809 fill:60"
	dom set sw/port1 3=interior 5=disabled
	cases h1/v0 h2/v1 <<-'EOF'
	interior             | q:10/3                    | same
	none of the domain's | q:10/5                    | same
	EOF
	assert_eq "remapped" 8 "$(dom stats sw/port1 remapped)"
	dom del sw/port1
	cases h1/v0 h2/v1 <<<"no port | q:10/3 | same"
}

stripped() {
	switch
	dom set sw/port2 0=edge 3=edge 4=interior 5=interior-ready
	# What a device floods shares its octets: port3 has no modes.
	cases h1/v0 h2/v1 h2/v2 <<-'EOF'
	edge                 | to:99 q:10/3 cn:7         | to:99 q:10/3    | same
	interior             | to:99 q:10/4 cn:7         | to:99 q:10/4    | same
	interior-ready       | to:99 q:10/5 cn:7         | same            | same
	none of the domain's | to:99 q:10/6 cn:7         | same            | same
	RPID 0               | to:99 q:10/3 cn:0         | to:99 q:10/3    | same
	untagged             | to:99 cn:7                | to:99           | same
	QinQ                 | to:99 ad:10/3 q:20/5 cn:7 | to:99 ad:10/3 q:20/5 | same
	9100, in the octets  | to:99 old:10/3 cn:7       | to:99 old:10/3  | same
	VLAN tag after it    | to:99 cn:7 q:10/5         | same            | same
	and before it        | to:99 q:10/3 cn:7 q:20/5  | same            | same
	S-tag after it       | to:99 cn:7 ad:10/5        | same            | same
	802.2                | to:99 q:10/3 cn:7 llc:60  | to:99 q:10/3 llc:60 | same
	IPv6                 | to:99 q:10/3 cn:7 ip:fd00::1>fd00::2 udp:100 | to:99 q:10/3 ip:fd00::1>fd00::2 udp:100 | same
	short                | to:99 cn:7 type:88b6 pad:60 | to:99 type:88b6 pad:60 | same
	short, VLAN          | to:99 q:10/3 cn:7 type:88b6 pad:64 | to:99 q:10/3 type:88b6 pad:60 | same
	full                 | to:99 q:10/3 cn:7 type:88b6 fill:1496 | to:99 q:10/3 type:88b6 fill:1496 | same
	two of them          | to:99 q:10/3 cn:7 cn:8    | same            | same
	a CNM                | to:99 q:10/3 cn:7 type:22e7 fill:60 | same  | same
	cut                  | to:99 q:10/3 type:22e9 hex:0007 | same      | same
	EOF
	assert_eq "stripped" 11 "$(dom stats sw/port2 stripped)"
}

# PCP of what comes in decides where the bridge has taken off the VLAN tag.
untagged_port() {
	switch
	ip -n "$(ns sw)" link set dev br0 type bridge vlan_filtering 1 vlan_default_pvid 10
	bridge -n "$(ns sw)" vlan add vid 10 dev port1
	dom set sw/port1 3=interior 4=edge
	dom set sw/port2 3=edge
	cases h1/v0 h2/v1 --marker="q:10 type:88b5 text:@ fill:32" <<-'EOF'
	kept     | q:10/3 cn:7 |
	remapped | q:10/4 cn:7 | cn:7
	another  | q:10/5 cn:7 | cn:7
	EOF
}

# Host b as hosts take CN-TAGs: device, VLAN device, priority tag, bridge; v4 and v6
hosts() {
	mkns a b ipv6
	mkveth a eth0 01 b eth0 02
	mkveth a eth1 03 b eth1 04
	mkbridge b br0 "vlan_filtering 1" eth1
	ip -n "$(ns b)" -batch - <<-'EOF'
	link add link eth0 name eth0.10 type vlan id 10
	link set dev eth0.10 up
	link set dev br0 address 02:00:00:00:00:05
	link add link br0 name br0.10 type vlan id 10
	link set dev br0.10 up
	EOF
	addr b eth0 10.1.0.2/24 fd01::2/64
	addr b eth0.10 10.2.0.2/24
	addr b br0 10.3.0.2/24
	addr b br0.10 10.4.0.2/24
}

# A VLAN tag behind the CN-TAG, where none should be, leads into no VLAN.
delivered() { # FUNCTION that makes ports
	hosts
	"$@"
	dom deliver b "$(ns a)" \
		"eth0;cn:7 ip:10.1.0.1>10.1.0.2" \
		"eth0;q:0/3 cn:7 ip:10.1.0.1>10.1.0.2" \
		"eth0;cn:7 ip:fd01::1>fd01::2" \
		"eth0;q:10/3 cn:7 ip:10.2.0.1>10.2.0.2" \
		"!eth0;cn:7 q:10/3 ip:10.2.0.1>10.2.0.2" \
		"!eth0;q:0/3 cn:7 q:10/3 ip:10.2.0.1>10.2.0.2" \
		"eth1;from:03 to:05 cn:7 ip:10.3.0.1>10.3.0.2" \
		"eth1;from:03 to:05 q:0/3 cn:7 ip:10.3.0.1>10.3.0.2" \
		"!eth1;from:03 to:05 cn:7 q:10/3 ip:10.4.0.1>10.4.0.2" \
		"!eth1;from:03 to:05 cn:7 ad:10/3 ip:10.4.0.1>10.4.0.2" \
		"eth0;ip:10.1.0.1>10.1.0.2"
}

# None of the devices that data comes to
port_elsewhere() {
	ip -n "$(ns b)" link add name port0 type dummy
	dom set b/port0 3=edge
}

ports() {
	dom set b/eth0 3=edge
	dom set b/eth0.10 3=interior
	dom set b/eth1 3=interior-ready
	dom set b/br0 3=edge
}

delivered_by_ports() {
	delivered ports
	assert_eq "eth0" "4 2" "$(dom stats b/eth0 delivered undelivered)"
	assert_eq "eth0.10" 0 "$(dom stats b/eth0.10 delivered)"
	assert_eq "bridge port" 0 "$(dom stats b/eth1 delivered)"
	assert_eq "bridge" "2 2" "$(dom stats b/br0 delivered undelivered)"
	# what no socket can get ends, counted; a frame that is none's is none of it
	frames send "$(ns a)/eth0" "cn:7 cn:8" "cn:7 q:10 cn:8" "cn:7 cn:8 type:22e7 fill:60" \
		"type:22e9 hex:00" "to:99 cn:7"
	dom deliver b "$(ns a)" "eth0;ip:10.1.0.1>10.1.0.2"
	assert_eq "delivered, undelivered" "4 6" "$(dom stats b/eth0 delivered undelivered)"
}

rx_dropped() { # NS DEV
	ip -n "$(ns "$1")" -s -j link show dev "$2" | jq '.[0].stats64.rx.dropped'
}

# The module alone, which anybody can have loaded, takes nothing off.
nobody_asked() {
	local before

	hosts
	before=$(rx_dropped b eth0)
	dom deliver b "$(ns a)" "!eth0;cn:7 ip:10.1.0.1>10.1.0.2" \
		"!eth0;q:10/3 cn:7 ip:10.2.0.1>10.2.0.2" \
		"!eth1;from:03 to:05 cn:7 ip:10.3.0.1>10.3.0.2" \
		"eth0;ip:10.1.0.1>10.1.0.2"
	assert_eq "dropped at eth0" $((before + 1)) "$(rx_dropped b eth0)"
	assert_eq "dropped at eth0.10" 1 "$(rx_dropped b eth0.10)"
	assert_eq "dropped at br0" 1 "$(rx_dropped b br0)"
}

# Filters at ingress see what is delivered, also where no port is.
filtered() {
	hosts
	port_elsewhere
	tc -n "$(ns b)" -batch - <<-'EOF'
	qdisc add dev eth0 clsact
	filter add dev eth0 ingress protocol ip flower src_ip 10.1.0.9 action drop
	EOF
	dom deliver b "$(ns a)" "!eth0;ip:10.1.0.9>10.1.0.2" \
		"!eth0;cn:7 ip:10.1.0.9>10.1.0.2" \
		"!eth0;q:0/3 cn:7 ip:10.1.0.9>10.1.0.2" \
		"eth0;cn:7 ip:10.1.0.1>10.1.0.2"
}

# A port is no port any more, or its module is gone: frames pass as they are.
unloaded() {
	switch
	dom set sw/port1 3=edge
	dom set sw/port2 3=interior
	dom set h2/v1 3=edge
	cases h1/v0 h2/v1 <<<"loaded | q:10/3 cn:7 | q:10/2 cn:7"
	wait_for 30 _lib_rmmod || fail "rmmod: $(rmmod sch_qcn 2>&1)"
	cases h1/v0 h2/v1 <<<"unloaded | q:10/3 cn:7 | same"
	module_load
	cases h1/v0 h2/v1 <<<"loaded again | q:10/3 cn:7 | same"
	assert_refused 1 "no priority of the domain" dom get sw/port1
}

devices() {
	local dev

	mkns a b
	for dev in port0 free0; do
		ip -n "$(ns a)" link add name $dev type dummy
	done
	dom set a/port0 5=interior
}

netlink() { # CASE
	devices
	dom "$1" a
}

auto() {
	devices
	dom auto a free0
}

namespaces() {
	devices
	dom namespaces a "$(ns b)"
}

need bridge
ktap_plan 15
run_test remapped "an edge port remaps PCP, in metadata and octets, of nothing else"
run_test stripped "CN-TAGs of outgoing frames: edge, interior, interior-ready"
run_test untagged_port "the priority survives a bridge that takes the VLAN tag off"
run_test nobody_asked "data with a CN-TAG reaches no socket where nothing is a port"
run_test delivered "it reaches sockets where any device is, by none of them" port_elsewhere
run_test delivered_by_ports "and by ports, counted; what is malformed ends"
run_test filtered "filters at ingress see it without its CN-TAG"
run_test auto "auto follows the neighbour, until it is silent"
run_test netlink "at most seven priorities, alternates follow" seven
run_test netlink "each attribute: lengths, types, ranges, those of replies" policy
run_test netlink "requests without sense are refused, where it says" meaning
run_test netlink "random attributes do no harm" random
run_test netlink "another user reads and gets EPERM for writes" unprivileged
run_test namespaces "a port is its namespace's and goes with its device"
run_test unloaded "rmmod with ports; nothing is done to frames then"
