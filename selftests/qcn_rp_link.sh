#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The device below a reaction point: its speed, which changes or is not known; an adapter
# that sums for the stack where it finds the headers, below a bond and a VLAN device.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2034
csig_module=sch_qcn

speed() {
	mkns h
	modprobe tun
	py qcn_rp_link speed "$(ns h)"
}

# The first adapter of the machine that does TSO, if there is one
adapter() {
	local path

	for path in /sys/bus/pci/drivers/e1000e/*/net/*; do
		[ ! -e "$path" ] || basename "$path"
	done | sed -n 1p
}

# Out of the namespace, which must not go with it in it
adapter_home() {
	ip -n "$(ns h)" link set dev eth0 down nomaster
	ip -n "$(ns h)" link set dev eth0 name hwa netns 1 2>/dev/null || true
}

has_carrier() { # DEV
	[ "$(nsx h cat "/sys/class/net/$1/carrier" 2>/dev/null)" = 1 ]
}

sums_of() { # DEV
	wait_for 30 has_carrier "$1" || fail "$1: no carrier"
	addr h "$1" 10.0.0.1/24
	ip -n "$(ns h)" neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev "$1" nud permanent
	tc -n "$(ns h)" qdisc replace dev "$1" root handle 1: qcn_rp rate 100mbit
	py qcn_rp_link sums "$(ns h)/$1" "$(ns h)/eth0"
	ip -n "$(ns h)" addr flush dev "$1"
}

# The bond has its reaction point before its adapter.
sums() {
	local dev

	modprobe e1000e 2>/dev/null || skip "no driver e1000e in this kernel"
	wait_for 10 test -n "$(adapter)" || skip "no adapter of the driver e1000e"
	dev=$(adapter)
	mkns h
	at_leave adapter_home
	ip link set dev "$dev" down
	ip link set dev "$dev" name eth0 netns "$(ns h)"
	ip -n "$(ns h)" link set dev eth0 up
	nsx h ethtool -K eth0 tx on sg on tso on gso on >/dev/null
	sums_of eth0
	tc -n "$(ns h)" qdisc del dev eth0 root
	ip -n "$(ns h)" link add link eth0 name eth0.10 type vlan id 10
	ip -n "$(ns h)" link set dev eth0.10 up
	sums_of eth0.10
	ip -n "$(ns h)" -batch - <<-'END'
	link del dev eth0.10
	link add name bond0 type bond mode active-backup miimon 100
	link set dev bond0 up
	END
	tc -n "$(ns h)" qdisc add dev bond0 root handle 1: qcn_rp rate 100mbit
	ip -n "$(ns h)" link set dev eth0 down
	ip -n "$(ns h)" link set dev eth0 master bond0
	sums_of bond0
}

need csigctl ethtool
ktap_plan 2
run_test speed "the rate of a flow follows the speed of the link"
run_test sums "frames with a CN-TAG have their checksum before the adapter gets them"
