#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The actions push and pop in filters: never a second tag, no tag where none belongs, no
# harm where there is no room in front of a packet or no memory.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"

pair() {
	mkns a b
	mkveth a eth0 01 b eth0 02
	addr a eth0 10.0.0.1/24
	addr b eth0 10.0.0.2/24
	ip -n "$(ns a)" neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 dev eth0 nud permanent
	ip -n "$(ns b)" neigh add 10.0.0.1 lladdr 02:00:00:00:00:01 dev eth0 nud permanent
	clsact a eth0
}

egress() { # DEV PREF ACTION...
	local dev=$1 pref=$2

	shift 2
	tc -n "$(ns a)" filter add dev "$dev" egress pref "$pref" protocol all matchall \
		action csig "$@"
}

# Frames that a sends, on a device of it, and what b sees; cases as in frames.py.  The
# marker is LLDP, which never is tagged.
sees() { # [DEV]
	cases "a/${1:-eth0}" b/eth0 --marker="type:88cc text:@ fill:32"
}

# A filter of a, in the middle of cases
add_filter() { # DEV ACTION...
	local dev=$1

	shift
	echo "! tc -n $(ns a) filter add dev $dev egress pref 1 protocol all" \
		"matchall action csig $*"
}

del_filters() { # DEV
	echo "! tc -n $(ns a) filter del dev $1 egress"
}

formats() {
	pair
	sees <<-END
		$(add_filter eth0 push format compact signal abw lm 5)
		compact abw | udp:20 | c:0.31.5 udp:20
		$(del_filters eth0)
		$(add_filter eth0 push format expanded signal pd lm 516)
		expanded pd | udp:20 | e:2.0.516 udp:20
		$(del_filters eth0)
		$(add_filter eth0 push signal 1)
		by number | udp:20 | c:1.31.0 udp:20
		behind VLANs | ad:3 q:4 udp:20 | ad:3 q:4 c:1.31.0 udp:20
		behind a CN-TAG | cn:7 udp:20 | cn:7 c:1.31.0 udp:20
	END
}

# Two filters, two actions in one filter, frames that come with a tag
never_twice() {
	pair
	egress eth0 1 push signal abw continue
	egress eth0 2 push signal pd continue
	sees <<-END
		two filters | udp:20 | c:0.31.0 udp:20
		$(del_filters eth0)
		$(add_filter eth0 push format expanded signal abw pipe \
			action csig push format compact signal pd)
		two actions   | udp:20      | e:0.1048575.0 udp:20
		compact       | c:1.2.3     | same
		expanded      | e:9.99.8    | same
		behind a VLAN | q:5 c:1.2.3 | same
	END
}

# A VLAN device and its parent both tag: one tag, after the VLAN tag.
vlan_and_parent() {
	local offload

	pair
	ip -n "$(ns a)" link add link eth0 name vlan10 type vlan id 10
	ip -n "$(ns a)" link set dev vlan10 up
	clsact a vlan10
	egress vlan10 1 push signal abw
	for offload in on off; do
		nsx a ethtool -K eth0 tx-vlan-hw-insert $offload >/dev/null
		sees vlan10 <<-END
			the VLAN device alone | udp:20 | q:10 c:0.31.0 udp:20
			$(add_filter eth0 push signal pd)
			both                  | udp:20 | q:10 c:0.31.0 udp:20
			$(del_filters vlan10)
			the parent alone      | udp:20 | q:10 c:2.0.0 udp:20
			$(del_filters eth0)
			$(add_filter vlan10 push signal abw)
		END
	done
}

bridge_and_port() {
	pair
	mkbridge a br0 "" eth0
	clsact a br0
	egress br0 1 push signal abw
	egress eth0 1 push signal pd
	sees br0 <<<"bridge and port | udp:20 | c:0.31.0 udp:20"
}

pop() {
	pair
	egress eth0 1 push signal abw
	clsact b eth0
	tc -n "$(ns b)" filter add dev eth0 ingress protocol all matchall action csig pop
	nsx a ping -q -n -c 2 -i 0.01 -W 5 10.0.0.2
	# what has no tag is not touched
	tc -n "$(ns a)" filter del dev eth0 egress
	nsx a ping -q -n -c 2 -i 0.01 -W 5 10.0.0.2
	bulk "from=$(ns a),to=$(ns b),addr=10.0.0.2,bytes=1000000,size=65536"
}

bad_actions() {
	local words

	pair
	for words in "push" "push signal 16" "push signal 8 format compact" "push signal nosuch" \
		"push signal abw format nosuch" "push signal abw lm 128" \
		"push signal abw format expanded lm 65536" "nosuch"; do
		# shellcheck disable=SC2086
		! egress eth0 1 $words 2>"$_csig_tmp/err" || fail "accepted: $words"
		grep -q . "$_csig_tmp/err" || fail "refused without a word: $words"
		[ -z "$(tc -n "$(ns a)" filter show dev eth0 egress)" ] ||
			fail "a filter is left of: $words"
	done
}

# Devices without an Ethernet header: no port, and the action leaves packets alone.
no_ethernet() {
	local dev

	mkns a b ipv6
	mkveth a eth0 01 b eth0 02
	addr a eth0 10.0.0.1/24
	addr b eth0 10.0.0.2/24
	ip -n "$(ns a)" link add name ipip1 type ipip local 10.0.0.1 remote 10.0.0.2
	ip -n "$(ns b)" link add name ipip1 type ipip local 10.0.0.2 remote 10.0.0.1
	modprobe -q tun || true
	ip -n "$(ns a)" tuntap add dev tun0 mode tun
	ip -n "$(ns a)" link add name wg0 type wireguard 2>/dev/null || true
	for dev in ipip1 tun0 lo wg0; do
		ip -n "$(ns a)" link set dev $dev up 2>/dev/null || continue
		assert_refused 2 "ethernet" csigctl -n "$(ns a)" port add dev $dev
		assert_refused 2 "ethernet" tc -n "$(ns a)" qdisc add dev $dev root csig
		clsact a $dev
		egress $dev 1 push signal abw 2>"$_csig_tmp/err" || grep -q . "$_csig_tmp/err"
	done
	addr a ipip1 10.9.0.1/24
	addr b ipip1 10.9.0.2/24
	ip -n "$(ns b)" link set dev ipip1 up
	nsx a ping -q -n -c 2 -i 0.01 -W 5 10.9.0.2
	nsx a ping -q -n -c 2 -i 0.01 -W 5 127.0.0.1
}

# Packets that the kernel makes with little room in front
headroom() {
	pair
	mkns c
	mkveth a eth1 03 c eth0 04
	egress eth0 1 push format expanded signal abw
	clsact a eth1
	egress eth1 1 push format expanded signal abw
	port_add a eth1 capacity 100mbit
	# rejects of a router and of a bridge
	nsx a nft -f - <<-END
		table inet filter {
			chain input {
				type filter hook input priority 0;
				tcp dport 81 reject with tcp reset
				udp dport 81 reject
				udp dport 82 reject with icmp type admin-prohibited
			}
		}
	END
	clsact b eth0
	tc -n "$(ns b)" filter add dev eth0 ingress matchall action csig pop
	assert_refused 1 "refused" nsx b socat -T 5 - TCP:10.0.0.1:81,connect-timeout=5
	nsx b socat -u - UDP:10.0.0.1:81 <<<x || true
	nsx b socat -u - UDP:10.0.0.1:82 <<<x || true
	addr a eth1 10.2.0.1/24
	# IGMP and MLD reports
	ip -n "$(ns a)" addr add 239.1.2.3/32 dev eth1 autojoin
	ip -n "$(ns a)" addr del 239.1.2.3/32 dev eth1
	# packet sockets: exactly as long as the frame, down to nothing but the header
	python3 - "$(ns a)" <<-END
		import socket, sys
		sys.path.insert(0, "$CSIG_LIB_DIR")
		from frames import in_ns
		with in_ns(sys.argv[1]):
		    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
		    d = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
		s.bind(("eth1", 0))
		d.bind(("eth1", 0x0800))
		head = bytes.fromhex("020000000004" "020000000003" "0800")
		for n in list(range(0, 64)) + [200, 1000, 1480, 1500]:
		    s.send(head + bytes(n))
		    if n:
		        d.sendto(bytes(n), ("eth1", 0x0800, 0, 0, head[:6]))
	END
	# bridged rejects
	mkbridge a br0 "" eth1
	nsx a nft -f - <<-END
		table bridge filter {
			chain input {
				type filter hook input priority 0;
				udp dport 83 reject
				tcp dport 83 reject with tcp reset
			}
		}
	END
	addr a br0 10.2.0.2/24
	addr c eth0 10.2.0.9/24
	nsx c socat -T 1 - TCP:10.2.0.2:83,connect-timeout=2 </dev/null || true
	nsx c socat -u - UDP:10.2.0.2:83 <<<x || true
	sees <<<"still alive | udp:20 | e:0.1048575.0 udp:20"
}

# No memory for an own copy: the packet goes on as it is, and is counted.
no_memory() {
	local fault=/sys/kernel/debug/failslab slab=/sys/kernel/slab/skbuff_small_head

	pair
	mkns c
	mkveth a eth1 03 c eth0 04
	mkbridge a br0 "" eth0 eth1
	port_add a eth0 capacity 100mbit ingress trust
	# a capture shares the frames: each update needs its own copy
	nsx a tcpdump -q -n -i br0 -w /dev/null 2>/dev/null &
	nsx a tcpdump -q -n -i eth1 -w /dev/null 2>/dev/null &
	wait_for 30 listeners 2 || fail "no captures"
	echo 0 >$fault/verbose
	echo Y >$fault/cache-filter
	echo 1 >$slab/failslab
	echo Y >$fault/ignore-gfp-wait
	echo -1 >$fault/times
	echo 100 >$fault/probability
	frames send "$(ns c)/eth0" "c:0.31.3" --count 200
	echo 0 >$fault/probability
	echo 0 >$slab/failslab
	echo N >$fault/cache-filter
	assert_ge "skipped" 1 "$(port_stat a eth0 skipped_nomem)"
	assert_eq "frames that went on" 200 "$(port_stat a eth0 tagged)"
}

listeners() { # NUMBER
	[ "$(nsx a cat /proc/net/packet | grep -c ' 0003 ')" -ge "$1" ]
}

# Fault injection is the debug kernel's; others have nothing to skip.
faults() {
	[ -d /sys/kernel/debug/failslab ] && [ -w /sys/kernel/slab/skbuff_small_head/failslab ]
}

ktap_plan $((8 + $(faults && echo 1 || echo 0)))
run_test formats "push: formats, signals, initial values"
run_test never_twice "two filters, two actions, frames that have a tag: one tag"
run_test vlan_and_parent "a VLAN device and its parent: one tag behind the VLAN's"
run_test bridge_and_port "a bridge and its port: one tag"
run_test pop "pop at a receiver"
run_test bad_actions "actions without sense are refused and leave nothing"
run_test no_ethernet "devices without Ethernet header: refused, traffic goes on"
run_test headroom "little room in front: rejects, IGMP, packet sockets"
! faults || run_test no_memory "no memory for a copy: counted, the packet goes on"
