#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# GRO of tagged packets: what merges, what the merged packet's tag says, what stays apart
# and in order; merged packets on their way through devices that know no tags.
#
#   a/eth0 -- b/eth0: a segments in software and holds back bursts, b has GRO
#
# The cases are those of gro.py.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"

slot=100	# ms; a burst that took longer to send is sent again
batch=$(sysctl -n net.core.gro_normal_batch)

pair() { # [ipv6]
	mkns a b "$@"
	mkveth a eth0 01 b eth0 02
	gro_on a b
}

# The kernel's veth leaves GRO to the peer of a device without TSO.
gro_on() { # FROM TO
	nsx "$1" ethtool -K eth0 tso off tx-udp-segmentation off >/dev/null
	nsx "$2" ethtool -K "${3:-eth0}" gro on >/dev/null
}

# A packet socket gets what only it wants at the end of a list of packets: no lists.
hold_back() {
	at_leave lists_again
	sysctl -qw net.core.gro_normal_batch=1
	tc -n "$(ns a)" qdisc add dev eth0 root netem slot ${slot}ms limit 1000
}

lists_again() {
	sysctl -qw net.core.gro_normal_batch="$batch"
}

bursts() { # SUBCOMMAND [NS/DEV]
	local to=${2:-b/eth0}

	py gro "$1" --slot $slot --from "$(ns a)/eth0" --to "$(ns "${to%/*}")/${to#*/}"
}

merging() {
	local many

	pair
	hold_back
	printf -v many 'c:0.20.3 %.0s' {1..32}
	bursts cases <<-END
		untagged      |     | u u u u                               | u*4
		compact       |     | c:0.20.3 c:0.20.3 c:0.20.3            | c:0.20.3*3
		expanded      |     | e:0.999.3 e:0.999.3 e:0.999.3         | e:0.999.3*3
		IPv6          | ip6 | c:0.20.3 c:0.20.3 c:0.20.3            | c:0.20.3*3
		IPv6 expanded | ip6 | e:2.999.3 e:2.999.3                   | e:2.999.3*2
		VLAN          | q:7 | c:0.20.3 c:0.20.3 c:0.20.3            | c:0.20.3*3
		two VLANs     | ad:9 q:7 | e:0.20.3 e:0.20.3                | e:0.20.3*2
		VLAN, IPv6    | q:7 ip6  | e:0.20.3 e:0.20.3                | e:0.20.3*2
		last is short |     | c:0.20.3 c:0.20.3 c:0.20.3/60         | c:0.20.3*3
		two flows     |     | 1@c:0.20.3 c:1.9.4 1@c:0.20.3 c:1.9.4 | 1@c:0.20.3*2 c:1.9.4*2
		one           |     | c:0.20.3                              | c:0.20.3
		many          |     | $many | c:0.20.3*32
	END
}

# min(ABW), min(ABW/C), max(PD); a signal that is nobody's has no worst.
worst_value() {
	pair
	hold_back
	bursts cases <<-'END'
		min, first   |     | c:0.5.1 c:0.20.2 c:0.31.3          | c:0.5.1*3
		min, middle  |     | c:0.20.1 c:0.5.2 c:0.31.3          | c:0.5.2*3
		min, last    | ip6 | e:1.20.1 e:1.20.2 e:1.4.3          | e:1.4.3*3
		max, first   |     | c:2.20.1 c:2.5.2 c:2.0.3           | c:2.20.1*3
		max, last    |     | e:2.20.1 e:2.5.2 e:2.1048575.65535 | e:2.1048575.65535*3
		in a VLAN    | q:7 | c:2.2.1 c:2.5.2 c:2.0.3            | c:2.5.2*3
		equal S      |     | c:0.5.1 c:0.5.2                    | c:0.5.1*2
		undefined    |     | c:5.5.1 c:5.5.1 c:5.5.1            | c:5.5.1*3
		undefined, S |     | c:5.5.1 c:5.6.1 c:5.6.1            | c:5.5.1 c:5.6.1 c:5.6.1
		undefined, LM |    | e:12.5.1 e:12.5.2                  | e:12.5.1 e:12.5.2
	END
	# sums and counts: the larger one, not one more
	ctl b signal set 4 source abw aggregate count buckets 1mbit base 0 step 1kbit
	ctl b signal set 5 source pd aggregate sum buckets 1us base 0 step 128ns
	bursts cases <<-'END'
		count | | c:4.3.1 c:4.5.2 c:4.4.3 | c:4.5.2*3
		sum   | | c:5.3.1 c:5.5.2 c:5.4.3 | c:5.5.2*3
	END
}

# Segments that differ in more than the value go up in the order in which they came. (One
# that lets others go does not wait itself.)
apart_in_order() {
	pair
	hold_back
	bursts cases <<-'END'
		T          |     | c:0.9.1 c:0.9.1 c:1.9.1 c:1.9.1 c:1.9.1 c:2.9.1 | c:0.9.1*2 c:1.9.1 c:1.9.1*2 c:2.9.1
		T, IPv6    | ip6 | e:0.9.1 e:0.9.1 e:1.9.1 e:1.9.1 e:1.9.1         | e:0.9.1*2 e:1.9.1 e:1.9.1*2
		T, VLAN    | q:7 | c:0.9.1 c:0.9.1 c:1.9.1                         | c:0.9.1*2 c:1.9.1
		R          |     | c:0.9.1 c:0.9.1.1 c:0.9.1.1 c:0.9.1.1           | c:0.9.1 c:0.9.1.1 c:0.9.1.1*2
		each its own |   | c:0.9.1 c:1.9.1 c:0.9.1 c:1.9.1                 | c:0.9.1 c:1.9.1 c:0.9.1 c:1.9.1
		T of another flow | | 1@c:0.9.1 c:1.9.1 1@c:0.9.1 c:1.9.1 1@c:0.9.1 | 1@c:0.9.1*3 c:1.9.1*2
		T of other, later |  | 1@c:0.9.1 c:1.9.1/50! 1@c:0.9.1              | c:1.9.1 1@c:0.9.1*2
		format     |     | c:0.9.1 c:0.9.1 e:0.9.1 c:0.9.1                 | c:0.9.1*2 e:0.9.1 c:0.9.1
		untagged before PSH | | u u c:0.9.1! u u                           | u*2 c:0.9.1 u*2
		untagged before  | | u u c:0.9.1 u u                               | u*2 c:0.9.1 u*2
		in turn          | | c:0.9.1 u c:0.9.1 u c:0.9.1 u                  | c:0.9.1 u c:0.9.1 u c:0.9.1 u
		in turn, IPv6  | ip6 | e:0.9.1 u e:0.9.1 u u e:0.9.1                | e:0.9.1 u e:0.9.1 u*2 e:0.9.1
		formats in turn  | | c:0.9.1 e:0.9.1 u c:0.9.1                      | c:0.9.1 e:0.9.1 u c:0.9.1
		format and VLAN  | q:7 | c:0.9.1 c:0.9.1 e:0.9.1!                   | c:0.9.1*2 e:0.9.1
	END
}

# One packet in some is tagged: once that is known, the order is right whatever comes.
sampled() {
	local many

	pair
	hold_back
	bursts cases <<-'END'
		at first |      | c:0.9.1 c:0.9.1 u u u! c:0.9.1              | ?
		later    | more | c:0.9.1 c:0.9.1 u u u! c:0.9.1 c:0.9.1 u u! | c:0.9.1 c:0.9.1 u*3 c:0.9.1 c:0.9.1 u*2
		once     | more | u c:0.9.1 u u!                              | u c:0.9.1 u*2
		another  |      | c:0.9.1 c:0.9.1                             | c:0.9.1*2
	END
	# Many other flows do not make it forget; all of them are expected in any order.
	printf -v many '%d@c:0.9.1 ' {1..120}
	bursts cases <<-END
		at first |      | c:0.9.1 c:0.9.1 u u u! c:0.9.1              | ?
		others   | more | $many                                       | any
		later    | more | c:0.9.1 c:0.9.1 u u u! c:0.9.1 c:0.9.1 u u! | c:0.9.1 c:0.9.1 u*3 c:0.9.1 c:0.9.1 u*2
	END
}

udp() {
	pair
	nsx b ethtool -K eth0 rx-udp-gro-forwarding on >/dev/null
	hold_back
	bursts cases <<-'END'
		untagged | udp         | u u u                              | u*3
		compact  | udp         | c:2.9.1 c:2.5.2 c:2.11.3           | c:2.11.3*3
		expanded | udp ip6     | e:0.9.1 e:0.5.2 e:0.11.3           | e:0.5.2*3
		VLAN     | udp q:7     | e:0.9.1 e:0.5.2                    | e:0.5.2*2
		T        | udp         | c:0.9.1 c:0.9.1 c:1.9.1 c:1.9.1    | c:0.9.1*2 c:1.9.1 c:1.9.1
		untagged before | udp  | u u c:1.9.1                        | u*2 c:1.9.1
		between  | udp         | c:1.9.1 c:1.9.1 u c:1.9.1          | c:1.9.1*2 u c:1.9.1
	END
}

# A datagram socket gets many datagrams in one read, through a port that takes tags off.
udp_socket() {
	pair
	addr a eth0 10.0.0.1/24
	addr b eth0 10.0.0.2/24
	port_add b eth0 ingress trust
	push_all a eth0 format compact signal abw
	py gro udp --client "$(ns a)" --server "$(ns b)" --addr 10.0.0.2
}

# A capture shares the headers of what it sees at the sender.
captured() {
	pair
	hold_back
	nsx a tcpdump -q -n -i eth0 -w "$_csig_tmp/pcap" -U 2>"$_csig_tmp/tcpdump" &
	wait_for 30 grep -q listening "$_csig_tmp/tcpdump" || fail "no capture"
	bursts cases <<-'END'
		min, last | | c:0.20.1 c:0.20.1 c:0.4.3 | c:0.4.3*3
	END
	wait_for 10 pcap_has 3 || fail "captured: $(pcap_words)"
	assert_eq "captured" "c:0.20.1 c:0.20.1 c:0.4.3" "$(pcap_words)"
}

pcap_words() {
	tcpdump -r "$_csig_tmp/pcap" -n -xx 2>/dev/null | awk '/0x0000/ { print $8 $9 }' |
		sed 's/9900\(....\)/\1/' | while read -r v; do
			v=$((16#$v))
			echo "c:$((v >> 13)).$((v >> 7 & 31)).$((v & 127))"
		done | paste -sd' '
}

pcap_has() { # NUMBER
	[ "$(pcap_words | wc -w)" -ge "$1" ]
}

tcp_bulk() {
	local f addr wire ip before

	pair ipv6
	addr a eth0 10.0.0.1/24 fd00::1/64
	addr b eth0 10.0.0.2/24 fd00::2/64
	for f in a b; do
		ip -n "$(ns $f)" link set dev eth0 mtu 1508
		ip -n "$(ns $f)" route change 10.0.0.0/24 dev eth0 mtu 1500
		ip -n "$(ns $f)" -6 route del fd00::/64 dev eth0
		ip -n "$(ns $f)" -6 route add fd00::/64 dev eth0 mtu 1500
	done
	port_add b eth0 ingress trust
	push_all a eth0 format compact signal abw
	for f in compact expanded; do
		tc -n "$(ns a)" filter del dev eth0 egress
		push_all a eth0 format $f signal abwc
		for addr in 10.0.0.2 fd00::2; do
			before=$(received b)
			wire=$(sent_packets)
			bulk "from=$(ns a),to=$(ns b),addr=$addr,size=65536,bytes=4000000"
			assert_eq "$f, $addr: intact" true "$(bulk_get intact)"
			wire=$(($(sent_packets) - wire))
			ip=$(($(received b) - before))
			diag "$f, $addr: $wire packets on the wire, $ip for IP," \
				"$(bulk_get retransmissions) retransmissions"
			assert_ge "$f, $addr: packets on the wire" 2700 $wire
			assert_le "$f, $addr: packets for IP" $((wire * 3 / 4)) $ip
		done
	done
}

received() { # NS: packets that its IP got
	nsx "$1" cat /proc/net/snmp /proc/net/snmp6 |
		awk '$1 == "Ip:" && $3 ~ /^[0-9]/ { n += $4 } $1 == "Ip6InReceives" { n += $2 }
			END { print n }'
}

sent_packets() {
	nsx a cat /sys/class/net/eth0/statistics/tx_packets
}

# A bridge without any port of ours, on devices with and without segmentation
forwarded() {
	local tso

	mkns a s b
	mkveth a eth0 01 s in0 11
	mkveth s out0 12 b eth0 02
	mkbridge s br0 "" in0 out0
	gro_on a s in0
	nsx s ethtool -K in0 rx-udp-gro-forwarding on >/dev/null
	hold_back
	for tso in on off; do
		nsx s ethtool -K out0 tso $tso tx-udp-segmentation $tso >/dev/null
		bursts cases <<-'END'
			compact  |         | c:0.9.1 c:0.5.2 c:0.7.3         | c:0.5.2 c:0.5.2 c:0.5.2
			expanded | ip6     | e:0.9.1 e:0.5.2 e:0.7.3/60      | e:0.5.2 e:0.5.2 e:0.5.2
			VLAN     | q:7     | c:2.9.1 c:2.5.2                 | c:2.9.1 c:2.9.1
			UDP      | udp     | c:2.9.1 c:2.5.2 c:2.11.3        | c:2.11.3 c:2.11.3 c:2.11.3
			UDP, IPv6, VLANs | udp ip6 ad:3 q:7 | e:2.9.1 e:2.5.2 | e:2.9.1 e:2.9.1
			T        |         | c:0.9.1 c:0.8.2 c:1.7.3         | c:0.8.2 c:0.8.2 c:1.7.3
		END
	done
	nsx s ethtool -K in0 rx-gro-list on >/dev/null
	bursts cases <<-'END'
		list, compact  | udp | c:0.9.1 c:0.5.2 c:0.7.3 | c:0.5.2 c:0.5.2 c:0.5.2
		list, expanded | udp | e:2.9.1 e:2.5.2 e:2.7.3 | e:2.9.1 e:2.9.1 e:2.9.1
	END
}

# Each namespace has TPIDs of its own; in others they are nothing that merges.
tpids() {
	pair
	hold_back
	bursts cases <<<"default | | c:0.9.1 c:0.9.1 | c:0.9.1*2"
	ctl b domain set compact-tpid 0x9901
	bursts cases <<<"another | | c:0.9.1 c:0.9.1 | c:0.9.1 c:0.9.1"
	ctl b domain set compact-tpid 0x9900
	bursts cases <<<"default again | | c:0.9.1 c:0.9.1 | c:0.9.1*2"
	# the same TPIDs, formats swapped
	ctl b domain set compact-tpid 0xccdd expanded-tpid 0x9900
	bursts cases <<<"swapped | | c:0.9.1 c:0.9.1 | c:0.9.1 c:0.9.1"
	ctl b domain set compact-tpid 0x9900 expanded-tpid 0xccdd
	bursts cases <<<"back | | e:0.9.1 e:0.9.1 | e:0.9.1*2"
}

# Held packets have a TPID that goes, and comes back: nobody else has it.
tpids_while_held() {
	local i

	pair
	hold_back
	at_leave tpid_again
	csigctl domain set compact-tpid 0x9955
	ctl a domain set compact-tpid 0x9955
	nsx b sh -c 'echo 1 >/sys/class/net/eth0/napi_defer_hard_irqs
		echo 300000000 >/sys/class/net/eth0/gro_flush_timeout'
	for ((i = 0; i < 3; i++)); do
		bursts cases <<<"held | | c:0.9.1 c:0.5.1 c:0.9.1 | c:0.5.1*3" &
		wait_for 10 held || fail "nothing is held"
		ctl b domain set compact-tpid 0x9901
		[ $i = 0 ] || ctl b domain set compact-tpid 0x9900
		wait $! || fail "the packet got lost"
		ctl b domain set compact-tpid 0x9900
	done
}

tpid_again() {
	csigctl domain set compact-tpid 0x9900
	lists_again
}

cut_frames() {
	local status=0

	pair
	hold_back
	bursts cut
	modprobe -q tun || true
	py gro frags "$(ns b)" || status=$?
	[ $status = 0 ] || [ $status = 4 ]
}

# The list of a device with gro_flush_timeout is not empty when the module goes.
unload_while_held() {
	local i

	pair
	hold_back
	nsx b sh -c 'echo 1 >/sys/class/net/eth0/napi_defer_hard_irqs
		echo 300000000 >/sys/class/net/eth0/gro_flush_timeout'
	for ((i = 0; i < 3; i++)); do
		bursts cases <<<"held | | c:0.9.1 c:0.5.1 c:0.9.1 | c:0.5.1*3" &
		wait_for 10 held || fail "nothing is held"
		rmmod csig
		wait $! || fail "the packet got lost"
		modprobe csig
	done
}

held() { # frames that went to b, of which nobody knows yet
	[ "$(nsx b cat /sys/class/net/eth0/statistics/rx_packets)" -ge $((3 * i + 3)) ]
}

ktap_plan 13
run_test merging "TCP with equal tags merges: formats, IPv6, VLANs"
run_test worst_value "the worst value and its locator survive"
run_test apart_in_order "other T, format, no tag: apart and in order"
run_test sampled "tagged now and then: in order"
run_test udp "UDP"
run_test udp_socket "UDP to a socket, through a port"
run_test captured "a capture at the sender keeps what was sent"
run_test tcp_bulk "bulk TCP: far fewer packets for IP than on the wire"
run_test forwarded "forwarded by a bridge: the tag on each segment"
run_test tpids "TPIDs of a namespace, changed"
run_test tpids_while_held "TPIDs change while packets are held"
run_test cut_frames "frames that end anywhere"
run_test unload_while_held "the module goes while packets are held"
