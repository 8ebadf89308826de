// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of qcn_pace.h: rates that come out of the schedule, changes of the rate, pauses,
 * late frames, frames of any size, octets on the wire.
 */
#include <csig/qcn_pace.h>
#include <csig/qcn_rp.h>
#include <math.h>

#include "ktap.h"

#define MBIT	1000000ULL
#define GBIT	1000000000ULL
#define MS	1000000ULL

/* Over many frames of mixed sizes the rate is met, from 1 kbit/s to the most. */
static void pace_rates(void)
{
	__u64 bps, start, octets, last;
	struct qcn_pace pace;
	unsigned int i, len;
	double want, got;

	for (bps = QCN_RATE_MIN_BPS; bps <= QCN_RATE_MAX_BPS; bps += bps / 3) {
		start = rnd() >> 2;
		octets = 0;
		last = start;
		qcn_pace_init(&pace, bps, 0, start);
		for (i = 0; i < 3000; i++) {
			CHECK(qcn_pace_due(&pace, pace.next_ns) &&
			      !qcn_pace_due(&pace, pace.next_ns - 1), "due");
			len = rnd() & 7 ? 84 + rnd_below(1455) : 65536;
			last = qcn_pace_send(&pace, len, last);
			octets += len;
			last = pace.next_ns;
		}
		want = 8e9 * octets / bps;
		got = pace.next_ns - start;
		CHECK(fabs(got - want) <= 1 + want / 500000, "%f ns, not %f, at %llu bit/s",
		      got, want, (unsigned long long)bps);
	}
	/* a ns is not enough: 1518 octets take 121.44 ns */
	qcn_pace_init(&pace, 100 * GBIT, 0, 0);
	for (i = 0; i < 100; i++)
		qcn_pace_send(&pace, 1518, pace.next_ns);
	CHECK(pace.next_ns == 12143 || pace.next_ns == 12144, "%llu",
	      (unsigned long long)pace.next_ns);
}

static void pace_changes(void)
{
	struct qcn_pace pace;
	__u64 next, sum = 0;
	unsigned int i;

	qcn_pace_init(&pace, 100 * MBIT, QCN_CATCHUP_DEF_NS, 5000);
	CHECK_EQ(qcn_pace_send(&pace, 1250, 5000), 5000U, "the first one at once");
	CHECK_EQ(pace.next_ns, 105000U, "100 us later");
	/* what is planned stays, up and down; the frame itself has the new rate */
	qcn_pace_rate(&pace, GBIT);
	CHECK_EQ(pace.next_ns, 105000U, "faster");
	qcn_pace_rate(&pace, 10 * MBIT);
	CHECK_EQ(pace.next_ns, 105000U, "slower");
	CHECK(!qcn_pace_due(&pace, 104999) && qcn_pace_due(&pace, 105000), "due");
	CHECK_EQ(qcn_pace_send(&pace, 1250, 105000), 105000U, "on time");
	CHECK_EQ(pace.next_ns, 1105000U, "1 ms later");
	/* a change for each frame: no burst, nothing lost but parts of a ns */
	for (i = 0; i < 10000; i++) {
		__u64 bps = QCN_MIN_DEF_BPS + rnd_bits(34);

		qcn_pace_rate(&pace, bps);
		next = pace.next_ns;
		CHECK_EQ(qcn_pace_send(&pace, 1538, next), next, "on time");
		CHECK(fabs(pace.next_ns - next - 1538 * 8e9 / bps) < 1.1,
		      "%llu ns at %llu bit/s",
		      (unsigned long long)(pace.next_ns - next),
		      (unsigned long long)bps);
		sum += pace.next_ns - next;
	}
	CHECK_EQ(pace.next_ns, 1105000 + sum, "one schedule");
}

/* At most what a flow may be behind leaves at once, after a pause of any length. */
static void pace_pauses(void)
{
	unsigned int i, burst;
	struct qcn_pace pace;
	__u64 now = 0;

	qcn_pace_init(&pace, 100 * MBIT, QCN_CATCHUP_DEF_NS, 0);
	for (i = 0; i < 1000; i++) {
		now += 2 * QCN_CATCHUP_DEF_NS + rnd_bits(50);
		for (burst = 0; qcn_pace_due(&pace, now); burst++)
			CHECK(now - qcn_pace_send(&pace, 1250, now) <=
			      QCN_CATCHUP_DEF_NS, "too far behind");
		CHECK_EQ(burst, 3U, "frames at once");
	}
	/* none at all without catching up */
	qcn_pace_init(&pace, 100 * MBIT, 0, now);
	for (i = 0; i < 1000; i++) {
		now = pace.next_ns + rnd_bits(50);
		CHECK_EQ(qcn_pace_send(&pace, 1250, now), now, "now");
		CHECK_EQ(pace.next_ns, now + 100000, "and the next");
	}
	/* a watchdog that is always 50 us late does not cost anything */
	qcn_pace_init(&pace, 100 * MBIT, QCN_CATCHUP_DEF_NS, 0);
	for (i = 0; i < 1000; i++) {
		now = pace.next_ns + 50000;
		while (qcn_pace_due(&pace, now))
			qcn_pace_send(&pace, 1250, now);
	}
	CHECK_EQ(pace.next_ns, 1000 * 100000U, "the rate is met");
	/* the clock may wrap */
	qcn_pace_init(&pace, 100 * MBIT, QCN_CATCHUP_DEF_NS, 0ULL - 50000);
	qcn_pace_send(&pace, 1250, 0ULL - 50000);
	CHECK(pace.next_ns == 50000 && !qcn_pace_due(&pace, 0ULL - 1) &&
	      qcn_pace_due(&pace, 50000), "wrapped");
}

/* No size of a frame blocks: a super-packet leaves like others, and is paid for. */
static void pace_sizes(void)
{
	struct qcn_pace pace;

	qcn_pace_init(&pace, 5 * MBIT, 0, 0);
	CHECK(qcn_pace_due(&pace, 0), "due");
	qcn_pace_send(&pace, 65536 * 8, 0);
	CHECK(fabs(pace.next_ns - 65536 * 8 * 8 / 5e6 * 1e9) < 2, "%llu",
	      (unsigned long long)pace.next_ns);
	CHECK(qcn_pace_due(&pace, pace.next_ns), "due");
	qcn_pace_init(&pace, QCN_RATE_MIN_BPS, 0, 0);
	qcn_pace_send(&pace, ~0U, 0);
	CHECK(fabs(pace.next_ns - 4294967295e9 * 8 / 1000) < 1e12, "largest: %llu",
	      (unsigned long long)pace.next_ns);
	qcn_pace_init(&pace, QCN_RATE_MAX_BPS, 0, 0);
	qcn_pace_send(&pace, 0, 0);
	CHECK_EQ(pace.next_ns, 0U, "nothing");
	/* 1 bit/s: out of range, but defined */
	qcn_pace_init(&pace, 1, 0, 0);
	qcn_pace_send(&pace, 1, 0);
	CHECK(pace.next_ns > GBIT, "1 bit/s");
}

static void pace_wire(void)
{
	CHECK_EQ(qcn_wire_bytes(1514, 1, false), 1538U, "full frame");
	CHECK_EQ(qcn_wire_bytes(1518, 1, false), 1542U, "VLAN tag in the octets");
	CHECK_EQ(qcn_wire_bytes(1514, 1, true), 1542U, "outside: the same");
	CHECK_EQ(qcn_wire_bytes(9014, 1, false), 9038U, "jumbo");
	CHECK_EQ(qcn_wire_bytes(42, 1, false), 84U, "padded");
	CHECK_EQ(qcn_wire_bytes(42, 1, true), 84U, "padded with the tag");
	CHECK_EQ(qcn_wire_bytes(60, 1, true), 88U, "not padded");
	CHECK_EQ(qcn_wire_bytes(44 * 1514, 44, true), 44 * 1542U, "super-packet");
}

const struct test tests_qcn_pace[] = {
	{ "qcn pace: rates", pace_rates },
	{ "qcn pace: changes keep the schedule", pace_changes },
	{ "qcn pace: pauses and late timers", pace_pauses },
	{ "qcn pace: frames of any size", pace_sizes },
	{ "qcn pace: octets on the wire", pace_wire },
	{}
};
