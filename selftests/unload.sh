#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module goes when nothing uses it, and not before; a start that fails leaves nothing.
# Needs two CPUs.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"

# The tests here take the module away and bring it back.
again() {
	[ -d /sys/module/csig ] || modprobe csig
}

refused() { # WHY
	! rmmod csig 2>"$_csig_tmp/err" || fail "rmmod in spite of $1"
	grep -q -i "in use" "$_csig_tmp/err" || fail "$1: $(cat "$_csig_tmp/err")"
}

in_use() {
	again
	mkns a b
	mkveth a eth0 01 b eth0 02
	addr a eth0 10.0.0.1/24
	addr b eth0 10.0.0.2/24
	tc -n "$(ns a)" qdisc add dev eth0 root csig capacity 10mbit
	pace_start "from=$(ns a),to=$(ns b),addr=10.0.0.2,rate=2M,size=200"
	refused "a qdisc"
	tc -n "$(ns a)" qdisc del dev eth0 root
	clsact a eth0
	tc -n "$(ns a)" filter add dev eth0 egress protocol ip matchall \
		action csig push signal abw
	refused "an action"
	tc -n "$(ns a)" filter del dev eth0 egress
	wait_for 30 _lib_rmmod || fail "rmmod: $(rmmod csig 2>&1)"
	# traffic goes on without it
	pace_stop
	assert_ge "packets" 1 "$(sent packets)"
}

# Ports that nothing uses, a profile and listeners hold nothing.
with_ports() {
	again
	mkns a
	ip -n "$(ns a)" link add name dummy1 type dummy
	python3 - "$(ns a)" "$CSIG_LIB_DIR" <<-END
		import os, sys
		sys.path.insert(0, sys.argv[2])
		from genl import Socket, ifindex
		ns = sys.argv[1]
		s = Socket(ns)
		s.subscribe("monitor")
		s.do("domain-set", {"compact-tpid": 0x9914})
		s.do("port-add", {"ifindex": ifindex(ns, "dummy1")})
		sys.exit(os.system("rmmod csig") != 0)
	END
	[ ! -d /sys/module/csig ] || fail "still there"
	# the device is free
	ip -n "$(ns a)" link del dev dummy1
	again
	assert_eq "ports" 0 "$(ctl a -j port show | jq length)"
}

many_times() {
	local i

	mkns a
	ip -n "$(ns a)" link add name dummy1 type dummy
	for ((i = 0; i < 12; i++)); do
		again
		[ $((i % 4)) != 0 ] || port_add a dummy1 capacity 10mbit
		[ $((i % 4)) != 0 ] || ctl a port del dev dummy1
		wait_for 30 _lib_rmmod || fail "round $i: $(rmmod csig 2>&1)"
	done
	again
}

# Under traffic through a bridge with ports: attach, detach, go, come.
under_traffic() {
	local i

	again
	mkns a s b
	mkveth a eth0 01 s in0 11
	mkveth s out0 12 b eth0 02
	mkbridge s br0 "" in0 out0
	addr a eth0 10.0.0.1/24
	addr b eth0 10.0.0.2/24
	pace_start "from=$(ns a),to=$(ns b),addr=10.0.0.2,rate=4M,size=200"
	for ((i = 0; i < 5; i++)); do
		again
		port_add s in0 ingress trust
		port_add s out0 capacity 100mbit
		ctl s port del dev out0
		ctl s port del dev in0
		wait_for 30 _lib_rmmod || fail "round $i: $(rmmod csig 2>&1)"
	done
	pace_stop
	assert_eq "sends refused" 0 "$(sent errors)"
}

# Another module that registers the same names: a copy of csig called csix.  Its start
# fails at the first of them and has to take back what came before.
failed_start() {
	local ko

	again
	ko=${CSIG_KO:-$(modinfo -n csig)}
	python3 - "$ko" "$_csig_tmp/csix.ko" <<-END
		import lzma, subprocess, sys
		data = open(sys.argv[1], "rb").read()
		if sys.argv[1].endswith(".xz"):
		    data = lzma.decompress(data)
		elif not sys.argv[1].endswith(".ko"):
		    sys.exit("compressed in another way: " + sys.argv[1])
		# the name stands in struct module, followed by zeros, and in .modinfo
		data = data.replace(b"csig" + bytes(48), b"csix" + bytes(48))
		data = data.replace(b"\0name=csig\0", b"\0name=csix\0")
		open(sys.argv[2], "wb").write(data)
	END
	for _ in 1 2 3; do
		! insmod "$_csig_tmp/csix.ko" 2>"$_csig_tmp/err" ||
			{ rmmod csix; fail "the copy started"; }
	done
	cat "$_csig_tmp/err"
	# newer kernels keep "exists" for a module that is loaded
	grep -q -i -E "exists|busy" "$_csig_tmp/err" || skip "the copy fails before its start"
	[ ! -d /sys/module/csix ] || fail "the copy is still there"
	# the first one still works, and goes
	mkns a b
	mkveth a eth0 01 b eth0 02
	port_add a eth0 capacity 84mbit
	cases a/eth0 b/eth0 <<<"abw | e:0.1048575.0 | e:0.10.0"
	ctl a port del dev eth0
	wait_for 30 _lib_rmmod || fail "rmmod: $(rmmod csig 2>&1)"
	again
}

failing_allocations() {
	again
	wait_for 30 _lib_rmmod || fail "rmmod: $(rmmod csig 2>&1)"
	py faults start "${CSIG_KO:-$(modinfo -n csig)}"
	again
}

# Fault injection is the debug kernel's; others have nothing to skip.
faults() {
	[ -w /proc/self/fail-nth ] && [ -d /sys/kernel/debug/failslab ]
}

ktap_plan $((5 + $(faults && echo 1 || echo 0)))
run_test in_use "refused while a qdisc or an action exists, then done, under traffic"
run_test with_ports "ports, a profile and listeners hold nothing"
run_test many_times "12 times in and out"
run_test under_traffic "ports, in and out, under traffic through a bridge"
run_test failed_start "a start that fails leaves nothing"
! faults || run_test failing_allocations "a start that runs out of memory leaves nothing"
