#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The kfuncs of BPF programs and "action csig push requested": what a program asks for is
# what goes out, every refusal has its error, a read tag stays for the port that carries it.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"

obj=

load() { # NS DEV ingress|egress PREF SECTION ACTION...
	local n=$1 dev=$2 hook=$3 pref=$4 sec=$5

	shift 5
	tc -n "$(ns "$n")" filter add dev "$dev" "$hook" pref "$pref" protocol all \
		matchall action bpf object-file "$obj" section "$sec" pipe "$@"
}

pair() {
	mkns a b
	mkveth a eth0 01 b eth0 02
	clsact a eth0
}

sees() {
	cases a/eth0 b/eth0 --marker="from:ff type:88cc text:@ fill:32"
}

requests() {
	pair
	load a eth0 egress 1 tc/request action csig push requested
	sees <<-'END'
		compact, min   | from:00 udp:20     | from:00 c:0.31.0 udp:20
		compact, max   | from:02 udp:20     | from:02 c:2.0.0 udp:20
		expanded, min  | from:11 udp:20     | from:11 e:1.1048575.0 udp:20
		expanded, max  | from:13 udp:20     | from:13 e:3.0.0 udp:20
		VLANs          | from:01 ad:3 q:4   | from:01 ad:3 q:4 c:1.31.0 udp:32
		IPv6           | from:01 ip:fd00::1>fd00::2 udp:20 | from:01 c:1.31.0 ip:fd00::1>fd00::2 udp:20
	END
	assert_eq "shown" "csig push requested" \
		"$(tc -n "$(ns a)" filter show dev eth0 egress | grep -o 'csig .*requested' |
			tr -s ' ')"
}

# Numbers of errno: ENOENT 2, EEXIST 17, EINVAL 22, EMSGSIZE 90, EOPNOTSUPP 95
refusals() {
	pair
	port_add a eth0 update off
	load a eth0 egress 1 tc/request action csig push requested
	sees <<-'END'
		undefined      | from:05 udp:20            | to:02 from:05 udp:20
		tagged         | from:00 c:0.3.1           | to:11 from:00 c:0.3.1
		T too large    | from:08 udp:20            | to:16 from:08 udp:20
		format         | from:20 udp:20            | to:16 from:20 udp:20
		too long       | from:10 udp:1472          | to:5a from:10 udp:1472
		too long by 1  | from:10 udp:1469          | to:5a from:10 udp:1469
		just fits      | from:12 udp:1468          | from:12 e:2.0.0 udp:1468
		control frame  | from:00 type:88cc fill:46 | to:5f from:00 type:88cc fill:46
		LLC            | from:00 llc:46            | to:5f from:00 llc:46
		malformed      | from:00 type:9900 fill:2  | to:5f from:00 type:9900 fill:2
		link-local     | to:0180c2000003 from:00   | to:0180c200005f from:00
	END
	# the marker is a control frame: not counted
	assert_eq "counted" 2 "$(port_stat a eth0 skipped_mtu)"
}

# At ingress nothing is asked for, and the action does nothing.
wrong_hook() {
	mkns a b c
	mkveth a eth0 01 b eth0 02
	mkveth b eth1 03 c eth0 04
	clsact b eth0
	load b eth0 ingress 1 tc/request action csig push requested pipe \
		action mirred egress redirect dev eth1
	cases a/eth0 c/eth0 <<<"at ingress | from:00 udp:20 | to:5f from:00 udp:20"
}

# A request that its action never saw is not another packet's.
not_another_ones() {
	local i

	pair
	# 10 octets of VLAN tags and no IP: the forgotten ones
	tc -n "$(ns a)" filter add dev eth0 egress pref 1 protocol 802.1q bpf direct-action \
		object-file "$obj" section tc/forget
	tc -n "$(ns a)" filter add dev eth0 egress pref 2 protocol all matchall \
		action csig push requested
	for i in {1..20}; do
		echo "forgotten $i | from:00 q:5 udp:20 | same"
		echo "nothing asked $i | from:00 udp:24 | same"
	done | sees
	# a program that asks each time: only the last request counts
	tc -n "$(ns a)" filter del dev eth0 egress
	load a eth0 egress 1 tc/request action csig push requested pipe \
		action csig push requested
	sees <<<"twice | from:00 udp:20 | from:00 c:0.31.0 udp:20"
}

through() { # b takes what comes from a, asks the program, and sends it on to c
	mkns a b c
	mkveth a eth0 01 b eth0 02
	mkveth b eth1 03 c eth0 04
	ip -n "$(ns a)" link set dev eth0 mtu 2000
	port_add b eth0 ingress "$1"
	load b eth0 ingress 0xc517 tc/read action mirred egress redirect dev eth1
}

# Addresses: format, S (3 octets), aggregate (min 0, max 1); T, R, LM (2 octets)
reads() {
	through trust
	lm_number b
	cases a/eth0 c/eth0 <<-'END'
		compact      | c:1.20.3 udp:20   | to:020000001400 from:020001000003 udp:20
		expanded     | e:2.703710.513.7 udp:20 | to:02010abcde01 from:020002070201 udp:20
		compact R    | c:0.0.127.1       | to:020000000000 from:02000001007f
		undefined    | c:7.20.3          | to:0200000014ff from:020007000003
		VLAN         | q:5 c:1.20.3      | to:020000001400 from:020001000003 q:5 udp:32
		untagged     | udp:20            | to:020000000002 from:000000000000 udp:20
		malformed    | tag:99000000 type:9900 fill:40 | to:020000000002 from:000000000000 tag:99000000 type:9900 fill:40
	END
}

reads_stripped() {
	through strip
	cases a/eth0 c/eth0 <<-'END'
		not trusted  | c:1.20.3 udp:20   | to:020000000002 from:000000000000 udp:20
	END
}

# What was read is carried, and counted, as if nobody had read it.
reads_and_carries() {
	through trust
	port_add b eth1 update off
	cases a/eth0 c/eth0 <<-'END'
		carried  | c:1.20.3 udp:20 | to:020000001400 from:020001000003 c:1.20.3 udp:20
		untagged | udp:20          | to:020000000002 from:000000000000 udp:20
	END
	assert_eq "carried" 1 "$(port_stat b eth1 carried)"
}

# The last octets become 1 for an address of this machine, 0 for another's.
local_addresses() {
	mkns a b c
	mkveth a eth0 01 b eth0 02
	mkveth b eth1 03 c eth0 04
	nsx b sysctl -qw net.ipv6.conf.eth0.disable_ipv6=0 net.ipv6.conf.eth1.disable_ipv6=0
	addr b eth0 10.0.0.2/24 fd00::2/64 fe80::2/64
	addr b eth1 10.0.1.2/24 fd00:1::2/64 fe80::3/64
	ip -n "$(ns b)" route add unreachable 10.0.8.0/24
	clsact b eth0
	load b eth0 ingress 1 tc/local action mirred egress redirect dev eth1
	cases a/eth0 c/eth0 <<-'END'
		IPv4          | ip:10.0.0.1>10.0.0.2 udp:20   | from:00 to:01 ip:10.0.0.1>10.0.0.2 udp:20
		other device  | ip:10.0.0.3>10.0.1.2 udp:20   | from:00 to:01 ip:10.0.0.3>10.0.1.2 udp:20
		both          | ip:10.0.1.2>10.0.0.2 udp:20   | from:01 to:01 ip:10.0.1.2>10.0.0.2 udp:20
		neighbour     | ip:10.0.0.1>10.0.0.9 udp:20   | from:00 to:00 ip:10.0.0.1>10.0.0.9 udp:20
		no route      | ip:10.0.0.1>10.0.9.2 udp:20   | from:00 to:00 ip:10.0.0.1>10.0.9.2 udp:20
		unreachable   | ip:10.0.0.1>10.0.8.2 udp:20   | from:00 to:00 ip:10.0.0.1>10.0.8.2 udp:20
		broadcast     | ip:10.0.0.1>10.0.0.255 udp:20 | from:00 to:00 ip:10.0.0.1>10.0.0.255 udp:20
		multicast     | ip:10.0.0.1>224.0.0.1 udp:20  | from:00 to:00 ip:10.0.0.1>224.0.0.1 udp:20
		IPv6          | ip:fd00::1>fd00::2 udp:20     | from:00 to:01 ip:fd00::1>fd00::2 udp:20
		IPv6, other   | ip:fd00::1>fd00:1::2 udp:20   | from:00 to:01 ip:fd00::1>fd00:1::2 udp:20
		IPv6, none    | ip:fd00::1>fd00::9 udp:20     | from:00 to:00 ip:fd00::1>fd00::9 udp:20
		link-local    | ip:fe80::1>fe80::2 udp:20     | from:00 to:01 ip:fe80::1>fe80::2 udp:20
		another link  | ip:fe80::1>fe80::3 udp:20     | from:00 to:00 ip:fe80::1>fe80::3 udp:20
		IPv6 group    | ip:fe80::1>ff02::1 udp:20     | from:00 to:00 ip:fe80::1>ff02::1 udp:20
	END
}

other_programs() {
	pair
	! nsx a ip link set dev eth0 xdp obj "$obj" sec xdp 2>"$_csig_tmp/err" ||
		fail "an XDP program got a kfunc"
	grep -q "bpf_csig_tag" "$_csig_tmp/err" || fail "$(cat "$_csig_tmp/err")"
}

doctor_knows() {
	assert_eq "parameter" Y "$(cat /sys/module/csig/parameters/kfuncs)"
	csigctl -j doctor | json 'any(.[]; .check == "btf" and .status == "OK")'
	# nobody sets it
	! { echo N >/sys/module/csig/parameters/kfuncs; } 2>/dev/null
}

need clang
ktap_plan 10
[ "$(cat /sys/module/csig/parameters/kfuncs)" = Y ] || skip_all "no kfuncs: csigctl doctor"
obj=$_csig_tmp/kfunc.bpf.o
clang -target bpf -mcpu=v3 -O2 -g -idirafter "/usr/include/$(uname -m)-linux-gnu" \
	-c "$CSIG_LIB_DIR/kfunc.bpf.c" -o "$obj" || skip_all "clang can't compile for BPF"
run_test requests "a request becomes a tag"
run_test refusals "refusals: each has its error"
run_test wrong_hook "no requests at ingress"
run_test not_another_ones "a request is of one packet, and taken once"
run_test reads "the tag of a packet, read at ingress"
run_test reads_stripped "no tag from a port that is not trusted"
run_test reads_and_carries "a tag that was read is carried all the same"
run_test local_addresses "which addresses are this machine's"
run_test other_programs "other kinds of programs get no kfunc"
run_test doctor_knows "the module says whether it has kfuncs"
