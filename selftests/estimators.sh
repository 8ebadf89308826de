#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a port measures of known traffic: the estimators, pauses, changes of the capacity,
# link speeds that are none, and one clock with the device's own counters.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/traffic.sh"

# a/raw0, a/ewma0, a/dre0 -- b; 20 Mbit/s each
three_ports() { # K: times the time constants
	local i dev

	mkns a b
	i=0
	for dev in raw0 ewma0 dre0; do
		mkveth a $dev "1$i" b "sink$i" "2$i"
		addr a $dev 10.0.$i.1/24
		addr b "sink$i" 10.0.$i.2/24
		i=$((i + 1))
	done
	port_add a raw0 capacity 20mbit estimator raw interval "$1s"
	port_add a ewma0 capacity 20mbit estimator ewma time-constant $(($1 * 500))ms
	port_add a dre0 capacity 20mbit estimator dre interval $(($1 * 50))ms alpha 0.1
}

flows() { # RATE SIZE
	local i

	for i in 0 1 2; do
		echo "from=$(ns a),to=$(ns b),addr=10.0.$i.2,rate=$1,size=$2"
	done
}

known_traffic() {
	local rate size util slow=1 k=1 near=10

	# a debug kernel can't send a thousand packets a second, and stalls
	[ "$CSIG_TIME_SCALE" = 1 ] || { slow=80; k=5; near=25; }
	three_ports $k
	for size in 200 1200; do
		rate=$((size * 10000 / slow))
		# shellcheck disable=SC2046
		pace_start $(flows $rate $size)
		# five time constants of ewma and dre, a window of raw
		sleep $((k * 5 / 2)).5
		util=$(looks a raw0 util_bps 3 $k)
		assert_near "raw, $rate bit/s in packets of $size" $rate 5 "$util"
		assert_eq "capacity - load - abw" 0 \
			"$(port_get a raw0 'capacity_bps - .[0].util_bps - .[0].abw_bps')"
		assert_near "ewma, $rate bit/s" $rate $near "$(looks a ewma0 util_bps 7 0.1)"
		assert_near "dre, $rate bit/s" $rate $near "$(looks a dre0 util_bps 7 0.1)"
		pace_stop
	done
	# the pause: within a window, and as the averages decay
	wait_for $((3 * k)) idle raw0 0 || fail "raw after a pause: $(port_get a raw0 util_bps)"
	wait_for 4 idle ewma0 1 || fail "ewma after a pause: $(port_get a ewma0 util_bps)"
	wait_for 4 idle dre0 1 || fail "dre after a pause: $(port_get a dre0 util_bps)"
}

idle() { # DEV PERCENT of the capacity that may still seem used
	[ "$(port_get a "$1" util_bps)" -le $((200000 * $2)) ]
}

one_port() { # SETTING...
	mkns a b
	mkveth a eth0 01 b eth0 02 mtu 9000
	addr a eth0 10.0.0.1/24
	addr b eth0 10.0.0.2/24
	port_add a eth0 "$@"
}

expect_s() { # S: of a tag for expanded abw
	cases a/eth0 b/eth0 <<-END
		abw | e:0.1048575.0 | e:0.$1.0
	END
}

# The codes of expanded abw are steps of 8 Mbit/s.
after_a_pause() {
	local est

	one_port capacity 84mbit
	for est in "raw interval 100ms" "ewma time-constant 100ms" \
		"dre interval 10ms alpha 0.1"; do
		# shellcheck disable=SC2086
		port_set a eth0 estimator $est
		pace_start "from=$(ns a),to=$(ns b),addr=10.0.0.2,rate=40M,size=8900"
		# looked at under traffic: csigctl may take longer to start than a window
		wait_for 5 loaded || fail "$est: no load is seen"
		pace_stop
		sleep 1.2	# the pause, twelve windows
		echo "$est"
		expect_s 10	# 80 to 88 Mbit/s
	done
}

loaded() {
	[ "$(port_get a eth0 util_bps)" -ge 10000000 ]
}

capacity_changes() {
	one_port capacity 84mbit estimator raw interval 200ms
	assert_eq "source" user "$(port_get a eth0 capacity_source)"
	expect_s 10
	port_set a eth0 capacity 164mbit
	expect_s 20
	assert_near "abw" 164000000 1 "$(port_get a eth0 abw_bps)"
	port_set a eth0 capacity 12mbit
	expect_s 1
	assert_near "abwc" 1000000 1 "$(port_get a eth0 abwc_ppm)"
	# below the load, whatever of it gets through: nothing is left, never less
	port_set a eth0 capacity 200kbit
	pace_start "from=$(ns a),to=$(ns b),addr=10.0.0.2,rate=24M,size=8900"
	wait_for 5 nothing_left || fail "abw $(port_get a eth0 abw_bps) under overload"
	assert_eq "abwc under overload" 0 "$(port_get a eth0 abwc_ppm)"
	pace_stop
	# back to what the link says: a veth pair says 10 Gbit/s
	port_set a eth0 capacity auto
	assert_eq "source" ethtool "$(port_get a eth0 capacity_source)"
	assert_eq "link speed" 10000000000 "$(port_get a eth0 capacity_bps)"
}

nothing_left() {
	[ "$(port_get a eth0 abw_bps)" = 0 ]
}

capacity_is() { # BPS
	[ "$(port_get a tap0 capacity_bps)" = "$1" ]
}

# The link comes up with another speed; a tap device alone tells nobody of it.
link_comes_up() { # MBIT/S
	nsx a ethtool -s tap0 speed "$1" duplex full autoneg off || return
	ip -n "$(ns a)" link set dev tap0 down
	ip -n "$(ns a)" link set dev tap0 up
}

link_speed() {
	local speed

	mkns a
	modprobe -q tun || true
	ip -n "$(ns a)" tuntap add dev tap0 mode tap
	ip -n "$(ns a)" link set dev tap0 up
	nsx a ethtool -s tap0 speed 100 duplex full autoneg off ||
		skip "the speed of a tap device can't be set"
	port_add a tap0
	wait_for 5 capacity_is 100000000 || fail "capacity: $(port_get a tap0 capacity_bps)"
	assert_eq "source" ethtool "$(port_get a tap0 capacity_source)"
	link_comes_up 2500
	wait_for 5 capacity_is 2500000000 ||
		fail "the speed is not followed: $(port_get a tap0 capacity_bps)"
	for speed in 0 65535 2147483647 4294967295; do
		link_comes_up 1000
		wait_for 5 capacity_is 1000000000 || fail "1000: $(port_get a tap0 capacity_bps)"
		# one that the device refuses is not this test's
		link_comes_up $speed || continue
		wait_for 5 capacity_is null ||
			fail "speed $speed is taken for $(port_get a tap0 capacity_bps)"
		assert_eq "source with speed $speed" unknown \
			"$(port_get a tap0 capacity_source)"
		assert_eq "abw with speed $speed" null "$(port_get a tap0 abw_bps)"
		assert_eq "abwc with speed $speed" null "$(port_get a tap0 abwc_ppm)"
	done
}

unknown_capacity() {
	mkns a
	# a dummy device reports no speed
	ip -n "$(ns a)" link add name dummy1 type dummy
	port_add a dummy1
	assert_eq "capacity" null "$(port_get a dummy1 capacity_bps)"
	assert_eq "source" unknown "$(port_get a dummy1 capacity_source)"
	assert_eq "abw" null "$(port_get a dummy1 abw_bps)"
	assert_eq "signals of a bandwidth" 0 \
		"$(port_raw a dummy1 '[.signal[] | select(.t < 2 and .s != null)] | length')"
}

one_clock() {
	local before after bits octets frames

	one_port capacity 100mbit estimator raw interval 200ms
	before=$(nsx a ip -s -j link show dev eth0 | jq '.[0].stats64.tx')
	bits=$(wire_bits a eth0)
	pace "from=$(ns a),to=$(ns b),addr=10.0.0.2,rate=8M,size=700,count=1000"
	after=$(nsx a ip -s -j link show dev eth0 | jq '.[0].stats64.tx')
	bits=$(($(wire_bits a eth0) - bits))
	octets=$(jq -n "$after.bytes - $before.bytes")
	frames=$(jq -n "$after.packets - $before.packets")
	assert_ge "frames" 1000 "$frames"
	assert_near "bits beside the device's counters" $(((octets + 24 * frames) * 8)) 1 \
		"$bits"
}

ktap_plan 6
run_test known_traffic "known traffic: raw within 5 %, averages within 10 %, idle again"
run_test after_a_pause "a packet after a pause sees the state of its own time"
run_test capacity_changes "the capacity changes: user's value, below the load, link"
run_test link_speed "the link speed is followed; 0, 65535, 2^31-1 and -1 are unknown"
run_test unknown_capacity "an unknown capacity is null and no signal of a bandwidth"
run_test one_clock "the bits are those of the device's own counters"
