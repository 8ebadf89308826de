#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Shared packets: floods, captures, mirrors and retransmits each keep their own tag.
#
#                        sw            port2 ------- v1 h2
#   h1 v0 ------- port1 [br0]          port3 ------- v2 h3
#                                      port4 ------- v3 h4

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# Capacities 110, 60 and 20 Gbit/s: codes 24, 21, 16; LM 2, 3, 4.
four_ports() {
	local i caps=(0 220 110 60 20)

	mkns h1 sw h2 h3 h4
	mkveth h1 v0 01 sw port1 11
	mkveth sw port2 12 h2 v1 02
	mkveth sw port3 13 h3 v2 03
	mkveth sw port4 14 h4 v3 04
	ip -n "$(ns h1)" link set dev v0 mtu 2000
	lm_number sw
	for i in 1 2 3 4; do
		port_add sw port$i capacity "${caps[i]}gbit" ingress trust \
			lm port=$i,port16=$i
	done
}

flooded() {
	sed 's/\<IN\>/c:0.31.0/; s/\<O1\>/c:0.24.2/; s/\<O2\>/c:0.21.3/; s/\<O3\>/c:0.16.4/' <<-'EOF'
	compact | IN | O1 | O2 | O3 | same
	compact in a VLAN | q:5 IN | q:5 O1 | q:5 O2 | q:5 O3 | same
	broadcast | to:ffffffffffff IN | to:ffffffffffff O1 | to:ffffffffffff O2 | to:ffffffffffff O3 | same
	some are better | c:0.21.99 | same | same | O3 | same
	EOF
	sed 's/\<IN\>/e:0.0xfffff.0/; s/\<O1\>/e:0.13750.2/; s/\<O2\>/e:0.7500.3/; s/\<O3\>/e:0.2500.4/' <<-'EOF'
	expanded | IN | O1 | O2 | O3 | same
	expanded in QinQ | ad:7 q:7 IN | ad:7 q:7 O1 | ad:7 q:7 O2 | ad:7 q:7 O3 | same
	EOF
}

# The fourth receiver is a capture on the ingress port.
flood() {
	four_ports
	for i in 1 2 3 4; do
		port_set sw port$i estimator raw interval 10us
	done
	mkbridge sw br0 "" port1 port2 port3 port4
	flooded | cases h1/v0 h2/v1 h3/v2 h4/v3 sw/port1
	# One of the copies is stripped, one is left alone.
	port_set sw port3 egress strip
	port_set sw port4 update off
	flooded | awk -F ' [|] ' 'BEGIN { OFS = " | " } {
		e = $2
		gsub(/(^| )[ce]:[0-9.a-fx]+/, "", e)
		print $1, $2, $3, e, "same", "same"
	}' | cases h1/v0 h2/v1 h3/v2 h4/v3 sw/port1
}

# Codes that do not change under load are needed here, so capacities are in Tbit/s.
flood_with_captures() {
	local p

	four_ports
	ctl sw signal set 4 source abw aggregate min \
		buckets 1000000000000,30000000000000,80000000000000 base 0 step 8000000000000
	port_set sw port2 capacity 110tbit
	port_set sw port3 capacity 60tbit
	port_set sw port4 capacity 20tbit
	mkbridge sw br0 "" port1 port2 port3 port4
	for p in port1 port2 port3 any; do
		nsx sw tcpdump -n -U -i $p -w /dev/null -B 8192 \
			2>"$_csig_tmp/tcpdump-$p" &
		wait_for 20 grep -q "listening on" "$_csig_tmp/tcpdump-$p"
	done
	burst 2000 h1/v0 h2/v1 h3/v2 h4/v3 sw/port1 <<-'EOF'
	untagged | udp:99 | same | same | same | same
	compact | c:4.31.0 | c:4.3.2 | c:4.2.3 | c:4.1.4 | same
	better | c:4.0.77 udp:700 | same | same | same | same
	expanded | q:5 e:4.9.0 | same | q:5 e:4.7.3 | q:5 e:4.2.4 | same
	EOF
}

mirror_at_ingress() {
	four_ports
	for i in 1 2 3 4; do
		port_set sw port$i estimator raw interval 10us
	done
	mkbridge sw br0 "" port1 port2
	tc -n "$(ns sw)" filter add dev port1 ingress pref 1 matchall \
		action mirred egress mirror dev port3 continue
	cases h1/v0 h2/v1 h3/v2 sw/port1 <<-'EOF'
	compact | c:0.31.0 | c:0.24.2 | c:0.21.3 | same
	compact in a VLAN | q:9 c:0.31.0 | q:9 c:0.24.2 | q:9 c:0.21.3 | same
	expanded | e:0.0xfffff.0 | e:0.13750.2 | e:0.7500.3 | same
	untagged | udp:9 | same | same | same
	EOF
}

mirror_at_egress() {
	four_ports
	for i in 1 2 3 4; do
		port_set sw port$i estimator raw interval 10us
	done
	mkbridge sw br0 "" port1 port2
	tc -n "$(ns sw)" filter add dev port2 egress pref 1 matchall \
		action mirred egress mirror dev port3 continue
	cases h1/v0 h2/v1 h3/v2 sw/port1 <<-'EOF'
	compact | c:0.31.0 | c:0.24.2 | c:0.21.3 | same
	compact in a VLAN | q:9 c:0.31.0 | q:9 c:0.24.2 | q:9 c:0.21.3 | same
	expanded | e:0.0xfffff.0 | e:0.13750.2 | e:0.7500.3 | same
	untagged | udp:9 | same | same | same
	EOF
}

# What was lost after it got its tag is sent again from the same data: one tag each.
retransmits() { # FORMAT
	local again

	mktransit
	ip -n "$(ns h1)" link set dev v0 mtu 1500
	addr h1 v0 10.0.0.1/24
	addr h2 v1 10.0.0.2/24
	ip -n "$(ns h1)" route change 10.0.0.0/24 dev v0 src 10.0.0.1 mtu 1492
	push_all h1 v0 format "$1" signal abw
	port_add h2 v1 ingress strip
	nsx h1 tc qdisc replace dev v0 root netem loss 5% limit 10000
	# TCP hands super-packets to the qdisc even with GSO off: make each a segment.
	nsx h1 ethtool -K v0 tso off gso off >/dev/null
	ip -n "$(ns h1)" link set dev v0 gso_max_segs 1
	flow tcp h1 h2 10.0.0.2 --bytes 1000000 --timeout 60
	ip -n "$(ns h1)" link set dev v0 gso_max_segs 44
	nsx h1 ethtool -K v0 tso on gso on >/dev/null
	flow tcp h1 h2 10.0.0.2 --bytes 1000000 --timeout 60
	again=$(nsx h1 nstat -asz TcpRetransSegs | awk '/TcpRetransSegs/ { print $2 }')
	assert_ge retransmits 10 "$again"
	assert_eq "malformed at port2" 0 "$(port_stat sw port2 malformed)"
	assert_eq "malformed at v1" 0 "$(port_stat h2 v1 malformed)"
	assert_ge tagged 200 "$(port_stat sw port2 tagged)"
	assert_eq "stripped at v1" "$(port_stat sw port2 tagged)" \
		"$(port_stat h2 v1 stripped)"
}

ktap_plan 6
run_test flood "a flooded frame gets each port's value, the capture the original"
run_test flood_with_captures "floods while tcpdump runs"
run_test mirror_at_ingress "mirrored at ingress"
run_test mirror_at_egress "mirrored at egress"
run_test retransmits "retransmits get one tag, compact" compact
run_test retransmits "retransmits get one tag, expanded" expanded
