#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Who negotiates CSIG over TCP, with which octets, and who is left alone.
#
#   h1           h2
#   eth0 ------ eth0
#   10.1.0.1    10.1.0.2
#   fd00:1::1   fd00:1::2

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

OPTION=fe05c51607	# Kind 254, Length, ExID, flags: compact, expanded, reflects

two_hosts() { # [HOST...|none]: which of them are enabled, default both
	local h

	mkns h1 h2 ipv6
	mkveth h1 eth0 01 h2 eth0 02
	addr h1 eth0 10.1.0.1/24 fd00:1::1/64
	addr h2 eth0 10.1.0.2/24 fd00:1::2/64
	[ $# -gt 0 ] || set -- h1 h2
	[ "$1" != none ] || return 0
	for h in "$@"; do
		ctl "$h" host enable dev eth0
	done
}

# A connection from h1 to h2, as h1's eth0 sees it
talk() { # [OPTION...], see talk.py
	py talk --client "$(ns h1)" --server "$(ns h2)" --addr 10.1.0.2 \
		--peer 10.1.0.1 --watch "$(ns h1)/eth0" "$@" >"$_csig_tmp/talk" ||
		fail "talk: $(cat "$_csig_tmp/talk")"
}

talked() { # EXPRESSION: of the last one
	json '.ok' <"$_csig_tmp/talk"
	json "def syns: [.packets[] | select(.flags == \"S\") | .csig];
		def synacks: [.packets[] | select(.flags == \"SA\") | .csig];
		def later: [.packets[] | select(.flags != \"S\" and .flags != \"SA\") | .csig // empty];
		$1" <"$_csig_tmp/talk"
}

stats() { # NS EXPRESSION
	ctl "$1" -j host show | json ".stats | $2"
}

octets() {
	two_hosts
	talk
	talked "syns == [\"$OPTION\"] and synacks == [\"$OPTION\"]"
	# what follows is reflection: no octet of it has the length of the flags
	talked '(later | length) > 0 and all(later[]; startswith("fe06c516") or . == "fe04c516")'
	talk --addr fd00:1::2
	talked "syns == [\"$OPTION\"] and synacks == [\"$OPTION\"] and (later | length) > 0"
	stats h1 '.asked == 2 and .negotiated == 2 and .refused == 0'
	stats h2 '.asked == 0 and .negotiated == 2'
}

# MSS 1460, then the option with other flags: the answer is what both know.
intersection() {
	local mss=020405b4

	two_hosts h2
	talk --syn ${mss}fe05c51601
	talked 'synacks[0] == "fe05c51601"'
	talk --syn ${mss}fe05c51606
	talked 'synacks[0] == "fe05c51606"'
	talk --syn ${mss}fe05c516ff
	talked "synacks[0] == \"$OPTION\""
	# nothing in common, another ExID, wrong Length: no answer
	talk --syn ${mss}fe05c516f8
	talked 'synacks[0] == null'
	talk --syn ${mss}fe05c51707
	talked 'synacks[0] == null'
	talk --syn ${mss}fe04c516
	talked 'synacks[0] == null'
	talk --syn ${mss}fe06c5160700
	talked 'synacks[0] == null'
	talk --syn $mss
	talked 'synacks[0] == null'
	# cut, without a Length, of length 0 and 1: the connection is the kernel's alone
	talk --syn ${mss}010101fe
	talked 'synacks[0] == null'
	talk --syn ${mss}fe00c516
	talked 'synacks[0] == null'
	talk --syn ${mss}fe01c516
	talked 'synacks[0] == null'
}

# A Kind of one's own has no ExID.
private_kind() {
	two_hosts none
	ctl h1 host enable dev eth0 kind 79
	ctl h2 host enable dev eth0 kind 79
	talk --opt 79
	talked 'syns == ["4f0307"] and synacks == ["4f0307"]'
	talked '(later | length) > 0 and all(later[]; startswith("4f04") or . == "4f02")'
	# 253 is shared like 254
	ctl h1 host disable dev eth0
	ctl h2 host disable dev eth0
	ctl h1 host enable dev eth0 kind 253
	ctl h2 host enable dev eth0 kind 253
	talk --opt 253
	talked 'syns == ["fd05c51607"] and synacks == ["fd05c51607"] and (later | length) > 0'
}

# The other end has never heard of it; in both directions nothing else happens.
alone() {
	two_hosts h1
	talk
	talked "syns == [\"$OPTION\"] and synacks == [null] and later == []"
	talked '[.packets[] | select(.tag)] == []'
	stats h1 '.asked == 1 and .refused == 1 and .negotiated == 0'
	talk --client "$(ns h2)" --server "$(ns h1)" --addr 10.1.0.1
	talked 'syns == [null] and synacks == [null] and later == []'
	stats h1 '.asked == 1 and .refused == 1 and .negotiated == 0'
}

drop_at() { # NS FLAGS
	nsx "$1" nft -f - <<-EOF
	table netdev t {
		chain c {
			type filter hook ingress device "eth0" priority 0;
			tcp flags & (syn | ack) == $2 tcp option 254 exists drop
		}
	}
	EOF
}

syn_lost() {
	two_hosts
	drop_at h2 syn
	talk
	talked "syns == [\"$OPTION\", \"$OPTION\", null] and synacks == [null] and later == []"
	stats h1 '.asked == 2 and .retried == 1 and .refused == 1 and .negotiated == 0'
	stats h2 '.negotiated == 0'
}

synack_lost() {
	two_hosts
	drop_at h1 "(syn | ack)"
	talk
	talked 'synacks[:2] == ["'$OPTION'", "'$OPTION'"] and synacks[-1] == null and later == []'
	stats h1 '.negotiated == 0 and .refused == 1'
	stats h2 '.negotiated == 0 and .refused == 1'
}

# The third SYN-ACK goes without before the first one, which has it, is there.
synack_late() {
	two_hosts
	nsx h1 ping -q -c 1 -W 5 10.1.0.2
	nsx h2 tc qdisc replace dev eth0 parent c519:1 netem delay 1.5s
	talk --bytes 20000 --slow 0.01
	talked 'synacks[:3] == ["'$OPTION'", "'$OPTION'", null] and (later | length) > 2'
	stats h1 '.negotiated == 1 and .refused == 0 and .blackholes == 0'
	stats h2 '.negotiated == 1 and .refused == 0'
}

cookies() {
	two_hosts
	nsx h2 sysctl -qw net.ipv4.tcp_syncookies=2
	talk
	talked "syns == [\"$OPTION\"] and synacks == [null] and later == []"
	stats h2 '.cookies == 1 and .negotiated == 0'
	stats h1 '.refused == 1'
}

fast_open() {
	two_hosts
	nsx h1 sysctl -qw net.ipv4.tcp_fastopen=3
	nsx h2 sysctl -qw net.ipv4.tcp_fastopen=3
	talk --kind tfo --times 2
	talked "syns == [\"$OPTION\", \"$OPTION\"] and synacks == syns"
	# the second SYN has data
	talked '[.packets[] | select(.flags == "S") | .len > 0] == [false, true]'
	stats h1 '.negotiated == 2'
	stats h2 '.negotiated == 2'
}

defer_accept() {
	two_hosts
	talk --kind defer
	talked "syns == [\"$OPTION\"] and synacks == [\"$OPTION\"] and (later | length) > 0"
	stats h2 '.negotiated == 1'
}

signed() { # md5|ao
	two_hosts
	talk --kind "$1"
	talked 'syns == [null] and synacks == [null] and later == []'
	stats h1 '.asked == 0 and .signed == 1'
	stats h2 '.negotiated == 0 and .signed == 1'
}

mptcp() {
	two_hosts
	nsx h1 sysctl -qw net.mptcp.enabled=1 2>/dev/null || skip "the kernel has no MPTCP"
	nsx h2 sysctl -qw net.mptcp.enabled=1
	talk --kind mptcp
	talked 'all(.packets[] | select(.flags == "S"); .kinds | index(30))'
	talked 'syns == [null] and synacks == [null] and later == []'
	stats h1 '.asked == 0 and .mptcp == 1'
	# a plain connection to a listener of MPTCP is none
	talk --server-kind mptcp
	talked "syns == [\"$OPTION\"] and synacks == [\"$OPTION\"] and (later | length) > 0"
	stats h2 '.negotiated == 1'
}

dual_stack() {
	two_hosts
	talk --addr ::ffff:10.1.0.2
	talked "syns == [\"$OPTION\"] and synacks == [\"$OPTION\"] and (later | length) > 0"
	talk --addr ::ffff:10.1.0.2 --bind ::
	talked "synacks == [\"$OPTION\"] and (later | length) > 0"
	# one listener for both
	talk --addr fd00:1::2 --bind ::
	talked "synacks == [\"$OPTION\"] and (later | length) > 0"
	stats h2 '.negotiated == 3'
}

only_a_cgroup() {
	local cg

	two_hosts h2
	cg=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/csig-test-$$
	mkdir -p "$cg/in/below"
	at_leave "remove_cgroups"
	ctl h1 host enable dev eth0 cgroup "$cg/in"
	ctl h1 -j host show | json ".cgroup | endswith(\"csig-test-$$/in\")"
	talk --cgroup "$cg"
	talked 'syns == [null] and later == []'
	talk --cgroup "$cg/in"
	talked "syns == [\"$OPTION\"] and synacks == [\"$OPTION\"]"
	talk --cgroup "$cg/in/below"
	talked "syns == [\"$OPTION\"] and synacks == [\"$OPTION\"]"
	stats h1 '.asked == 2 and .negotiated == 2'
}

remove_cgroups() {
	local cg

	cg=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/csig-test-$$
	rmdir "$cg/in/below" "$cg/in" "$cg"
}

# Debian's kernels are without, the debug kernel has it.
tcp_ao() {
	grep -q ' tcp_ao_do_lookup' /proc/kallsyms
}

ktap_plan $((14 + $(tcp_ao && echo 1 || echo 0)))
need nft
run_test octets "SYN and SYN-ACK carry the option, octet for octet"
run_test intersection "a SYN-ACK answers with what both know, or not at all"
run_test private_kind "a private Kind has no ExID, Kind 253 has"
run_test alone "with a peer that knows nothing there are neither options nor tags"
run_test syn_lost "a SYN that is lost twice goes without the option"
run_test synack_lost "so does a SYN-ACK"
run_test synack_late "whose peer took an earlier one takes part"
run_test cookies "SYN cookies do not negotiate and are counted"
run_test fast_open "TCP Fast Open negotiates, with data in the SYN, too"
run_test defer_accept "TCP_DEFER_ACCEPT negotiates"
run_test signed "TCP-MD5 is left alone" md5
! tcp_ao || run_test signed "TCP-AO is left alone" ao
run_test mptcp "MPTCP is left alone, plain connections to its listeners are not"
run_test dual_stack "IPv6 sockets that talk IPv4 negotiate"
run_test only_a_cgroup "only sockets of the given cgroup and those below it take part"
