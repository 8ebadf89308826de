// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of qcn_rp.h, the reaction point: the course from a cut to the release, each rule
 * by itself, and limits that no sequence of events may break.
 */
#include <csig/qcn_rp.h>
#include <math.h>

#include "ktap.h"

#define MBIT	1000000ULL
#define GBIT	1000000000ULL

static struct qcn_rp_params p;
static struct qcn_rp rp;

static void start(__u64 line_bps)
{
	qcn_rp_defaults(&p, line_bps);
	CHECK(qcn_rp_valid(&p), "line %llu", (unsigned long long)line_bps);
	qcn_rp_init(&rp, &p);
}

static void stages(unsigned int bytes, unsigned int times)
{
	while (bytes--)
		qcn_rp_byte_stage(&rp, &p, QCN_RND_MEAN);
	while (times--)
		qcn_rp_time_stage(&rp, &p);
}

/* One CNM with the largest feedback, then time alone */
static void course(void)
{
	static const double recovery[] = { 0.754, 0.877, 0.938, 0.969, 0.985 };
	unsigned int i, n;
	__u64 before;

	start(100 * MBIT);
	CHECK(!qcn_rp_done(&rp, &p, true), "nothing to release");
	CHECK(qcn_rp_cnm(&rp, &p, 63), "the timer starts");
	CHECK_EQ(rp.cr_bps, 100 * MBIT * 65 / 128, "cut");
	CHECK_EQ(rp.tr_bps, 100 * MBIT, "target");
	for (i = 0; i < ARRAY_SIZE(recovery); i++) {
		CHECK_EQ(qcn_rp_timer_ns(&rp, &p, QCN_RND_MEAN), 15000000U,
			 "stage %u", i);
		CHECK(qcn_rp_time_stage(&rp, &p), "the timer goes on");
		CHECK(fabs(rp.cr_bps / 1e8 - recovery[i]) < 0.0005,
		      "%f after stage %u", rp.cr_bps / 1e8, i + 1);
		CHECK_EQ(rp.tr_bps, 100 * MBIT, "fast recovery leaves the target");
		CHECK(!qcn_rp_done(&rp, &p, true), "too early");
	}
	/* active increase: half the time a stage, up to the line */
	for (n = 5; !qcn_rp_done(&rp, &p, true) && n < 1000; n++) {
		before = rp.cr_bps;
		CHECK_EQ(qcn_rp_timer_ns(&rp, &p, QCN_RND_MEAN),
			 n > 5 ? 7500000U : 15000000U, "stage %u", n);
		qcn_rp_time_stage(&rp, &p);
		CHECK(rp.cr_bps > before && rp.tr_bps == 100 * MBIT,
		      "%llu after %llu", (unsigned long long)rp.cr_bps,
		      (unsigned long long)before);
	}
	CHECK(n > 20 && n < 40, "released after %u stages", n);
	CHECK(!qcn_rp_done(&rp, &p, false), "frames wait");
	CHECK(qcn_rp_done(&rp, &p, true), "empty");
	qcn_rp_init(&rp, &p);
	CHECK(!qcn_rp_time_stage(&rp, &p), "the timer stops");
	CHECK(!qcn_rp_sent(&rp, ~0U), "nothing is counted");
	CHECK(!rp.active && rp.cr_bps == p.line_bps, "not limited");
	/* the next CNM is a first one again */
	CHECK(qcn_rp_cnm(&rp, &p, 1), "again");
	CHECK_EQ(rp.cr_bps, 100 * MBIT * 127 / 128, "cut");
}

/* The same by octets alone; both stages end together with a target below the line. */
static void increases(void)
{
	unsigned int i;
	__u64 tr;

	start(10 * GBIT);
	qcn_rp_cnm(&rp, &p, 63);
	stages(1, 0);			/* so that the next cut sets the target */
	tr = rp.cr_bps;
	qcn_rp_cnm(&rp, &p, 32);
	CHECK_EQ(rp.tr_bps, tr, "the rate before the cut");
	stages(5, 5);
	CHECK_EQ(rp.tr_bps, tr, "fast recovery");
	CHECK(rp.byte_stage == 5 && rp.time_stage == 5, "stages");
	stages(1, 0);
	CHECK_EQ(rp.tr_bps, tr + 5 * MBIT, "active increase, by octets");
	stages(1, 0);
	CHECK_EQ(rp.tr_bps, tr + 10 * MBIT, "active increase, by octets");
	/* 7 and 6: hyper-active, 50 Mbit/s for each stage of the slower one */
	stages(0, 1);
	CHECK_EQ(rp.tr_bps, tr + 60 * MBIT, "hyper-active");
	stages(0, 1);
	CHECK_EQ(rp.tr_bps, tr + 160 * MBIT, "hyper-active, second");
	stages(0, 1);			/* 7 and 8 */
	CHECK_EQ(rp.tr_bps, tr + 260 * MBIT, "the slower one counts");
	stages(1, 0);			/* 8 and 8 */
	CHECK_EQ(rp.tr_bps, tr + 410 * MBIT, "hyper-active, third");
	for (i = 0; i < 20; i++)
		stages(1, 1);
	CHECK_EQ(rp.tr_bps, 10 * GBIT, "capped at the line");

	/* by time alone it is active only, however long that takes */
	start(10 * GBIT);
	qcn_rp_cnm(&rp, &p, 63);
	stages(1, 0);
	tr = rp.cr_bps;
	qcn_rp_cnm(&rp, &p, 32);
	stages(0, 15);
	CHECK_EQ(rp.tr_bps, tr + 10 * 5 * MBIT, "active increase, by time");
}

/* CNMs in a row have one target; one after a stage in octets sets a new one. */
static void targets(void)
{
	__u64 cr;

	start(GBIT);
	qcn_rp_cnm(&rp, &p, 16);
	CHECK_EQ(rp.cr_bps, 875 * MBIT, "16/128");
	qcn_rp_cnm(&rp, &p, 47);
	CHECK_EQ(rp.cr_bps, 553710937U, "47/128");
	CHECK_EQ(rp.tr_bps, GBIT, "the first one's");
	stages(0, 3);
	qcn_rp_cnm(&rp, &p, 8);
	CHECK_EQ(rp.tr_bps, GBIT, "stages in time do not matter");
	CHECK_EQ(rp.time_stage, 0U, "from the beginning");
	stages(1, 0);
	cr = rp.cr_bps;
	qcn_rp_sent(&rp, 1000);
	qcn_rp_cnm(&rp, &p, 8);
	CHECK_EQ(rp.tr_bps, cr, "the rate before the cut");
	CHECK_EQ(rp.left_bytes, 150000U, "a whole stage in octets");
	CHECK_EQ(rp.byte_stage, 0U, "from the beginning");
	qcn_rp_sent(&rp, 1000);
	qcn_rp_cnm(&rp, &p, 8);
	CHECK_EQ(rp.left_bytes, 149000U, "goes on");
	/* no feedback changes nothing */
	cr = rp.cr_bps;
	stages(0, 1);
	CHECK(!qcn_rp_cnm(&rp, &p, 0), "0");
	CHECK(rp.time_stage == 1 && rp.cr_bps > cr, "0");
	start(GBIT);
	CHECK(!qcn_rp_cnm(&rp, &p, 0) && !rp.active, "0 does not activate");
}

static void byte_stages(void)
{
	start(GBIT);
	CHECK(!qcn_rp_sent(&rp, 1538), "not active");
	CHECK_EQ(rp.left_bytes, 150000U, "not active");
	qcn_rp_cnm(&rp, &p, 63);
	CHECK(!qcn_rp_sent(&rp, 150000), "at 0 the stage lasts");
	CHECK(qcn_rp_sent(&rp, 1), "below 0 it ended");
	qcn_rp_byte_stage(&rp, &p, 0);
	CHECK_EQ(rp.left_bytes, 127500U, "jitter");
	stages(4, 0);
	CHECK(rp.byte_stage == 5 && rp.left_bytes == 150000, "up to the threshold");
	stages(1, 0);
	CHECK(rp.byte_stage == 6 && rp.left_bytes == 75000, "past it");
	/* frames larger than a stage: one stage each */
	CHECK(qcn_rp_sent(&rp, ~0U), "large frame");
	stages(1, 0);
	CHECK(rp.byte_stage == 7 && rp.left_bytes == 75000, "large frame");
	/* stages do not wrap */
	rp.byte_stage = QCN_STAGE_MAX;
	rp.time_stage = QCN_STAGE_MAX;
	stages(1, 1);
	CHECK(rp.byte_stage == QCN_STAGE_MAX && rp.time_stage == QCN_STAGE_MAX,
	      "the last stage");
	rp.time_stage = 0;
	/* the timer's length is its own */
	CHECK_EQ(qcn_rp_timer_ns(&rp, &p, 0), 12750000U, "T * 0.85");
	CHECK_EQ(qcn_rp_timer_ns(&rp, &p, ~0U), 17249931U, "T * 1.15");
	stages(0, 6);
	CHECK_EQ(qcn_rp_timer_ns(&rp, &p, 0), 6375000U, "T / 2 * 0.85");
}

/* A target far above the rate comes down in the first stage of either kind. */
static void far_target(void)
{
	unsigned int kind, i;

	for (kind = 0; kind < 2; kind++) {
		start(10 * GBIT);
		for (i = 0; i < 20; i++)
			qcn_rp_cnm(&rp, &p, 63);
		CHECK_EQ(rp.cr_bps, p.min_bps, "at the bottom");
		CHECK_EQ(rp.tr_bps, 10 * GBIT, "target");
		stages(kind, !kind);
		CHECK_EQ(rp.tr_bps, 10 * GBIT / 8, "an eighth");
		CHECK_EQ(rp.cr_bps, (10 * GBIT / 8 + 5 * MBIT) / 2, "half way");
		stages(kind, !kind);
		CHECK_EQ(rp.tr_bps, 10 * GBIT / 8, "once");
	}
	/* ten times is not far */
	start(50 * MBIT);
	for (i = 0; i < 20; i++)
		qcn_rp_cnm(&rp, &p, 63);
	CHECK_EQ(rp.tr_bps, 10 * rp.cr_bps, "ten times");
	stages(1, 0);
	CHECK_EQ(rp.tr_bps, 50 * MBIT, "stays");
}

static void cuts(void)
{
	unsigned int q;

	start(128 * MBIT);
	for (q = 1; q <= 63; q++)
		CHECK_EQ(qcn_rp_cut(&p, 128 * MBIT, q), (128 - q) * MBIT,
			 "QntzFb %u", q);
	CHECK_EQ(qcn_rp_cut(&p, 6 * MBIT, 63), p.min_bps, "not below");
	/* minDecFac: no more than this share */
	p.min_dec = 25;
	CHECK_EQ(qcn_rp_cut(&p, 128 * MBIT, 63), 96 * MBIT, "a quarter");
	CHECK_EQ(qcn_rp_cut(&p, 128 * MBIT, 16), 112 * MBIT, "less is less");
	p.min_dec = 100;
	CHECK_EQ(qcn_rp_cut(&p, 128 * MBIT, 63), 65 * MBIT, "Gd alone");
	/* Gd of 1/32: 32 and more would stop the flow */
	p.gd = 5;
	CHECK_EQ(qcn_rp_cut(&p, 128 * MBIT, 31), p.min_bps, "1/32 of it");
	CHECK_EQ(qcn_rp_cut(&p, 128 * MBIT, 32), p.min_bps, "nothing");
	CHECK_EQ(qcn_rp_cut(&p, 128 * MBIT, 63), p.min_bps, "nothing");
	p.min_dec = 50;
	CHECK_EQ(qcn_rp_cut(&p, 128 * MBIT, 63), 64 * MBIT, "half");
	p.gd = 0;
	CHECK_EQ(qcn_rp_cut(&p, 128 * MBIT, 1), 64 * MBIT, "half");
	p.gd = 15;
	CHECK_EQ(qcn_rp_cut(&p, QCN_RATE_MAX_BPS, 63),
		 QCN_RATE_MAX_BPS - 63 * (QCN_RATE_MAX_BPS >> 15), "largest");
}

static void settings(void)
{
	start(GBIT);
	CHECK(p.timer_ns == 15000000 && p.reset_bytes == 150000 &&
	      p.threshold == 5 && p.ai_bps == 5 * MBIT && p.hai_bps == 50 * MBIT &&
	      p.min_bps == 5 * MBIT && p.gd == 7 && p.min_dec == 50,
	      "defaults of the MIB");
#define REFUSED(member, value)						\
	do {								\
		qcn_rp_defaults(&p, GBIT);				\
		p.member = (value);					\
		CHECK(!qcn_rp_valid(&p), #member " " #value);		\
	} while (0)
	REFUSED(line_bps, QCN_RATE_MAX_BPS + 1);
	REFUSED(line_bps, 5 * MBIT - 1);
	REFUSED(min_bps, 0);
	REFUSED(min_bps, 999);
	REFUSED(min_bps, GBIT + 1);
	REFUSED(ai_bps, QCN_RATE_MAX_BPS + 1);
	REFUSED(hai_bps, QCN_RATE_MAX_BPS + 1);
	REFUSED(timer_ns, 0);
	REFUSED(timer_ns, QCN_TIMER_MAX_NS + 1);
	REFUSED(reset_bytes, 0);
	REFUSED(threshold, 0);
	REFUSED(gd, 16);
	REFUSED(min_dec, 0);
	REFUSED(min_dec, 101);
	/* slower than the default minimum */
	qcn_rp_defaults(&p, MBIT);
	CHECK(qcn_rp_valid(&p) && p.min_bps == MBIT, "slow line");

	/* a new speed of the port */
	start(GBIT);
	qcn_rp_cnm(&rp, &p, 32);
	p.line_bps = 100 * MBIT;
	qcn_rp_settle(&rp, &p);
	CHECK(rp.cr_bps == 100 * MBIT && rp.tr_bps == 100 * MBIT, "slower");
	p.line_bps = GBIT;
	p.min_bps = 200 * MBIT;
	qcn_rp_settle(&rp, &p);
	CHECK(rp.cr_bps == 200 * MBIT && rp.tr_bps == 200 * MBIT && rp.active,
	      "faster, with a higher minimum");
	qcn_rp_init(&rp, &p);
	p.line_bps = 10 * GBIT;
	qcn_rp_settle(&rp, &p);
	CHECK(rp.cr_bps == 10 * GBIT && !rp.active, "not limited");
}

static void flows(void)
{
	unsigned int rps, i, seen[QCN_RPS_MAX + 1] = { 0 };

	for (rps = 1; rps <= QCN_RPS_MAX; rps++) {
		CHECK_EQ(qcn_rpid(0, rps), 1U, "of %u", rps);
		CHECK_EQ(qcn_rpid(~0U, rps), rps, "of %u", rps);
	}
	for (i = 0; i < 100000; i++)
		seen[qcn_rpid(rnd() >> 32, QCN_RPS_MAX)]++;
	CHECK_EQ(seen[0], 0U, "0 is for all");
	for (i = 1; i <= QCN_RPS_MAX; i++)
		CHECK(seen[i] > 800 && seen[i] < 1200, "flow %u: %u", i, seen[i]);
	CHECK(qcn_rpid_matches(7, 7) && qcn_rpid_matches(7, 0) &&
	      !qcn_rpid_matches(7, 8) && qcn_rpid_matches(0xffff, 0xffff), "RPID");
}

/* Whatever happens: min <= CR <= TR <= line, a cut is a cut, a stage no cut. */
static void any_events(void)
{
	unsigned int i, j;
	__u64 cr;

	for (i = 0; i < 2000; i++) {
		do {
			p.line_bps = rnd_bits(44);
			p.min_bps = rnd() & 1 ? rnd_bits(44) : 1000;
			p.ai_bps = rnd_bits(44);
			p.hai_bps = rnd_bits(44);
			p.timer_ns = QCN_TIMER_MIN_NS + rnd_bits(32);
			p.reset_bytes = 1 + rnd_bits(31);
			p.threshold = 1 + rnd_below(255);
			p.gd = rnd_below(QCN_GD_MAX + 1);
			p.min_dec = 1 + rnd_below(100);
		} while (!qcn_rp_valid(&p));
		qcn_rp_init(&rp, &p);
		for (j = 0; j < 300; j++) {
			cr = rp.cr_bps;
			switch (rnd_below(8)) {
			case 0:
				qcn_rp_cnm(&rp, &p, rnd_below(64));
				CHECK(rp.cr_bps <= cr, "cut to more");
				break;
			case 1:
			case 2:
				qcn_rp_time_stage(&rp, &p);
				CHECK(rp.cr_bps >= cr, "raised to less");
				break;
			case 3:		/* a long time without a CNM */
				rp.byte_stage = QCN_STAGE_MAX - rnd_below(3);
				rp.time_stage = QCN_STAGE_MAX - rnd_below(3);
				break;
			default:
				if (qcn_rp_sent(&rp, rnd_bits(32)))
					qcn_rp_byte_stage(&rp, &p, rnd());
				CHECK(rp.cr_bps >= cr, "raised to less");
				CHECK(!rp.active || rp.left_bytes >= 0, "stage");
				break;
			}
			CHECK(rp.cr_bps >= p.min_bps && rp.cr_bps <= rp.tr_bps &&
			      rp.tr_bps <= p.line_bps,
			      "min %llu cr %llu tr %llu line %llu",
			      (unsigned long long)p.min_bps,
			      (unsigned long long)rp.cr_bps,
			      (unsigned long long)rp.tr_bps,
			      (unsigned long long)p.line_bps);
		}
	}
}

const struct test tests_qcn_rp[] = {
	{ "qcn rp: cut, fast recovery, active increase, release", course },
	{ "qcn rp: active and hyper-active increase", increases },
	{ "qcn rp: target of CNMs in a row", targets },
	{ "qcn rp: stages in octets and in time", byte_stages },
	{ "qcn rp: a target far above the rate", far_target },
	{ "qcn rp: cuts", cuts },
	{ "qcn rp: settings", settings },
	{ "qcn rp: flows", flows },
	{ "qcn rp: limits hold for any events", any_events },
	{}
};
