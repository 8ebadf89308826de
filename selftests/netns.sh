#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Network namespaces: profile and ports of each, devices that move, and ends in any order
# under traffic.
# Needs two CPUs.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"

# Half of the 24 orders; CSIG_NETNS_ROUNDS=24 for all of them, 200 for more.
: "${CSIG_NETNS_ROUNDS:=12}"

own_profile() {
	local da db layouts

	mkns a b
	layouts=$(ctl a -j lm show)
	da=$(ctl a -j domain show | jq -r .digest)
	ctl a domain set compact-tpid 0x9912
	ctl a lm set signal all format compact fields stage:3,port:4
	db=$(ctl b -j domain show | jq -r .digest)
	assert_eq "digest of b, and of a before" "$da" "$db"
	[ "$(ctl a -j domain show | jq -r .digest)" != "$da" ] ||
		fail "the digest of a did not change"
	assert_eq "layouts of b" "$layouts" "$(ctl b -j lm show)"
	# the same names in both
	ip -n "$(ns a)" link add name dummy1 type dummy
	ip -n "$(ns b)" link add name dummy1 type dummy
	port_add a dummy1 capacity 10mbit
	assert_eq "ports of b" 0 "$(ctl b -j port show | jq length)"
	port_add b dummy1 capacity 20mbit
	assert_eq "capacity in a" 10000000 "$(port_get a dummy1 capacity_bps)"
	assert_eq "capacity in b" 20000000 "$(port_get b dummy1 capacity_bps)"
	ctl b port del dev dummy1
	assert_eq "ports of a" 1 "$(ctl a -j port show | jq length)"
}

new_namespace_is_fresh() {
	local before

	mkns a
	before=$(ctl a -j domain show)
	ctl a domain set compact-tpid 0x9913
	mkns b
	assert_eq "profile of a new namespace" "$before" "$(ctl b -j domain show)"
}

# Owners of a user namespace can't make the kernel look at any number of TPIDs; what they
# may have comes back when their namespaces go.  Others are not touched by it.
tpids_of_users() {
	mkns a
	python3 - "$CSIG_LIB_DIR" "$(ns a)" <<-END
		import errno, os, sys
		sys.path.insert(0, sys.argv[1])
		from genl import Error, Socket

		def exhaust():
		    os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNET)
		    spaces = []
		    for i in range(40):
		        s = Socket()
		        try:
		            s.do("domain-set", {"compact-tpid": 0x9a00 + i,
		                                "expanded-tpid": 0x9b00 + i})
		        except Error as e:
		            print("%d namespaces: %s" % (i, e), flush=True)
		            assert e.errno == errno.ENOSPC and e.msg and i > 25
		            break
		        spaces.append((s, os.open("/proc/self/ns/net", os.O_RDONLY)))
		        os.unshare(os.CLONE_NEWNET)     # starts, whatever there is
		    else:
		        sys.exit("none was refused")
		    s = Socket()
		    s.do("domain-set", {"compact-tpid": 0x9a00})    # is there
		    s.do("domain-set", {"compact-tpid": 0x9900})
		    return spaces

		ready, done = os.pipe(), os.pipe()
		pid = os.fork()
		if not pid:
		    os.close(done[1])
		    spaces = exhaust()
		    os.write(ready[1], b"1")
		    os.read(done[0], 1)
		    sys.exit()
		os.close(ready[1])
		if os.read(ready[0], 1):
		    Socket(sys.argv[2]).do("domain-set", {"compact-tpid": 0x9951})
		os.close(done[1])
		sys.exit(os.waitpid(pid, 0)[1] != 0)
	END
	wait_for 30 again || fail "no TPID came back"
}

again() {
	python3 - "$CSIG_LIB_DIR" <<-END
		import os, sys
		sys.path.insert(0, sys.argv[1])
		from genl import Socket
		os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNET)
		Socket().do("domain-set", {"compact-tpid": 0x9aff, "expanded-tpid": 0x9bff})
	END
}

# The port stays behind, the device starts anew.
move() {
	mkns a b c
	mkveth a eth0 01 c eth0 02
	addr a eth0 10.0.0.1/24
	addr c eth0 10.0.0.2/24
	port_add a eth0 capacity 100mbit
	pace_start "from=$(ns a),to=$(ns c),addr=10.0.0.2,rate=2M,size=200"
	ip -n "$(ns a)" link set dev eth0 netns "$(ns b)"
	assert_eq "ports of a" 0 "$(ctl a -j port show | jq length)"
	assert_eq "ports of b" 0 "$(ctl b -j port show | jq length)"
	! tc -n "$(ns b)" qdisc show dev eth0 | grep -q csig || fail "the qdisc moved along"
	port_add b eth0 capacity 50mbit
	assert_eq "capacity" 50000000 "$(port_get b eth0 capacity_bps)"
	ip -n "$(ns b)" link set dev eth0 name eth7
	assert_eq "name" eth7 "$(ctl b -j port show | jq -r '.[0].ifname')"
	pace_stop || true
}

# One world: a bridge with two ports, tagged traffic from a namespace that stays, since
# a socket inside would keep the namespace alive.
world() { # SUFFIX
	local x=$1

	ip netns add "w$x-$$"
	ip -n "w$x-$$" -batch - <<-END
		link add name in0 type veth peer name h0 netns $(ns src)
		link add name out0 type veth peer name h1
		link add name br0 type bridge
		link set dev in0 master br0
		link set dev out0 master br0
		link set dev in0 up
		link set dev out0 up
		link set dev h1 up
		link set dev br0 up
	END
	ip -n "$(ns src)" link set dev h0 up
	csigctl -n "w$x-$$" -b - <<-END
		port add dev in0 ingress trust
		port add dev out0 capacity 100mbit ingress trust
	END
	child "w$x" out0 netem delay 5ms
}

# Tagged frames into h0 of each world, until that is gone; a line for each.
flood() {
	python3 - "$(ns src)" "$CSIG_LIB_DIR" <<-END
		import socket, sys, time
		sys.path.insert(0, sys.argv[2])
		from frames import build, in_ns
		frame = build("c:2.0.0")
		while True:
		    try:
		        with in_ns(sys.argv[1]):
		            s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
		            s.bind(("h0", 0))
		        s.send(frame)
		        print("sends", flush=True)
		        while True:
		            s.send(frame)
		            time.sleep(0.0005)
		    except OSError:     # not there yet, or gone
		        time.sleep(0.01)
	END
}

floods() { # WORLDS
	[ "$(wc -l <"$_csig_tmp/flood")" -ge "$1" ]
}

step() { # WHAT SUFFIX
	local n=w$2-$$

	case $1 in
	0) ip -n "$n" link del dev out0 ;;
	1) csigctl -n "$n" port del dev in0 ;;
	2) tc -n "$n" qdisc del dev out0 root ;;
	3) ip netns del "$n" ;;
	esac >/dev/null 2>&1 || true
}

# All 24 orders of: a link goes, a port goes, a root qdisc goes, the namespace goes.
orders() {
	local a b c d

	for a in 0 1 2 3; do for b in 0 1 2 3; do for c in 0 1 2 3; do
		d=$((6 - a - b - c))
		[ $a = $b ] || [ $a = $c ] || [ $b = $c ] || echo "$a $b $c $d"
	done; done; done
}

ends_in_any_order() {
	local round=0 order all s

	mapfile -t all < <(orders)
	assert_eq "orders" 24 "${#all[@]}"
	mkns src
	flood >"$_csig_tmp/flood" &
	_csig_ns+=("w0-$$")
	while [ $round -lt "$CSIG_NETNS_ROUNDS" ]; do
		order=${all[round * 7 % 24]}
		world 0
		round=$((round + 1))
		wait_for 30 floods $round || fail "no traffic in round $round"
		for s in $order; do
			step "$s" 0
		done
	done
	echo "$round rounds"
}

ktap_plan 5
run_test own_profile "profile and ports are a namespace's own"
run_test new_namespace_is_fresh "a new namespace starts with the default profile"
run_test tpids_of_users "the TPIDs of user namespaces are limited"
run_test move "a device moves under traffic: its port does not"
run_test ends_in_any_order "link, port, qdisc and namespace end in any order under traffic"
