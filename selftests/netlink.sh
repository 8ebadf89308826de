#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The generic netlink family: what is wrong is refused with a message and the offset and
# changes nothing; capabilities; dumps under change; the multicast group.

. "$(dirname "$0")/lib.sh"

nl() { # CASE [ARGUMENT...]
	py netlink_cases "$@"
}

prepare() {
	local dev

	mkns a
	for dev in port0 free0; do
		ip -n "$(ns a)" link add name $dev type dummy
	done
	ctl a lm set signal all format compact fields hop:7
	ctl a lm set signal all format expanded fields hop:7
	port_add a port0 capacity 100mbit lm hop=5
}

simple_case() { # CASE
	prepare
	nl "$1" "$(ns a)"
}

unprivileged() {
	prepare
	nsx a python3 -B "$CSIG_LIB_DIR/netlink_cases.py" unprivileged .
}

userns() {
	unshare -Urn true 2>/dev/null || skip "user namespaces are not to be had"
	unshare -Urn sh -ec "ip link add name port0 type dummy
		exec python3 -B $CSIG_LIB_DIR/netlink_cases.py userns ."
}

# Not root there, but in a user namespace of its own: that gives no right here.
userns_elsewhere() {
	prepare
	unshare -Ur true 2>/dev/null || skip "user namespaces are not to be had"
	assert_refused 2 'permitted' \
		nsx a unshare -Ur csigctl domain preset appendix-a
}

dump() {
	local i n=500

	prepare
	for ((i = 0; i < n; i++)); do
		echo "link add name many$i type dummy"
	done >"$_csig_tmp/batch"
	ip -n "$(ns a)" -batch "$_csig_tmp/batch"
	nl dump "$(ns a)" many $n
}

monitor() {
	prepare
	mkns b
	nl monitor "$(ns a)" "$(ns b)"
}

ktap_plan 10
run_test simple_case "valid requests take effect and read back" effect
run_test simple_case "each attribute: lengths, types, ranges, unknown ones" policy
run_test simple_case "requests without sense are refused and change nothing" meaning
run_test simple_case "a qdisc refused after its init changes nothing" undo
run_test simple_case "random attributes do no harm" random
run_test unprivileged "another user reads and gets EPERM for writes"
run_test userns "root of an own user namespace writes in its network namespace"
run_test userns_elsewhere "a user namespace gives no right in another's network"
run_test dump "dumps of 500 ports, under change, two at once"
run_test monitor "events of the monitor group, in this namespace only"
