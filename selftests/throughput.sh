#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tagged bulk TCP keeps its super-packets: as few and as large packets as without tags, on
# both sides, and no retransmission more.  How fast it is, is bench/throughput.sh.

# shellcheck disable=SC2119 # settings may follow, or not

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"
. "$(dirname "$0")/hosts.sh"

octets=8000000

# Packets that h1 sends and h2's IP gets for a transfer, and its retransmissions
sizes() { # ADDRESS
	local before after

	before=$(received)
	wire_start h1/eth0
	bulk "from=$(ns h1),to=$(ns h2),addr=$1,size=65536,bytes=$octets"
	wire_stop
	after=$(received)
	assert_eq intact true "$(bulk_get intact)"
	sent=$(wire_get .out.data)
	got=$((after - before))
	again=$(bulk_get retransmissions)
	echo "$sent packets with data sent, $(wire_get .out.data_tagged) tagged;" \
		"$got received; $again again"
}

# What IP took in, both families; merged packets are one.
received() {
	nsx h2 cat /proc/net/snmp /proc/net/snmp6 | awk '
		$1 == "Ip:" && ++n == 2 { sum += $4 }
		$1 == "Ip6InReceives" { sum += $2 }
		END { print sum + 0 }'
}

as_large_as_untagged() { # FORMAT ADDRESS
	local sent got again plain_sent plain_got plain_again

	sizes "${!2}"
	plain_sent=$sent plain_got=$got plain_again=$again
	hosts_enable format "$1"
	sizes "${!2}"
	hosts_disable
	assert_ge "tagged" $((sent * 9 / 10)) "$(wire_get .out.data_tagged)"
	# the size of super-packets follows the round trip time
	assert_le "packets sent" $((plain_sent * 2 + 100)) "$sent"
	assert_le "packets received" $((plain_got * 2 + 200)) "$got"
	# a slow machine sends some again before their acknowledgment is looked at
	assert_le "retransmissions" $((plain_again + 5)) "$again"

}

ktap_plan 4
path_make bridged
path_child 3 pfifo limit 10000
run_test as_large_as_untagged "compact, IPv4" compact H2_4
run_test as_large_as_untagged "expanded, IPv4" expanded H2_4
run_test as_large_as_untagged "compact, IPv6" compact H2_6
run_test as_large_as_untagged "expanded, IPv6" expanded H2_6
