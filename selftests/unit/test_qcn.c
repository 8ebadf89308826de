// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of qcn.h, the congestion point: feedback against the formula in wide integers,
 * its clamps, the quantiser's steps, the table of intervals, jitter, and when a sample
 * is due.
 */
#include <csig/qcn.h>
#include <math.h>

#include "ktap.h"

/* Fb * 2^10 of the specification, before it is clamped; wide enough for anything */
static __int128 model_fb(const struct qcn_cp_params *p, __u32 q, __u32 qold)
{
	__int128 w = (__int128)1 << (10 + p->weight);

	return -(((__int128)q - p->qeq_bytes) * 1024 + w * ((__int128)q - qold));
}

static unsigned int model_qntzfb(const struct qcn_cp_params *p, __int128 fb)
{
	__int128 limit = (__int128)p->qeq_bytes *
			 (2 * ((__int128)1 << (10 + p->weight)) + 1024);

	if (fb >= 0)
		return 0;
	return -fb >= limit ? 63 : (unsigned int)(-fb * 63 / limit);
}

static struct qcn_sample sample(const struct qcn_cp_params *p, __u32 q,
				__u32 qold)
{
	struct qcn_sample s;
	struct qcn_cp cp;

	qcn_cp_init(&cp, p);
	cp.qold_bytes = qold;
	qcn_cp_sample(&cp, p, q, QCN_RND_MEAN, &s);
	CHECK_EQ(cp.qold_bytes, q, "Qold");
	return s;
}

static void random_params(struct qcn_cp_params *p)
{
	p->qeq_bytes = 1 + rnd_below(1ULL << (1 + rnd_below(30)));
	p->weight = (int)rnd_below(21) - 10;
	p->base_bytes = QCN_BASE_MIN_BYTES + (__u32)rnd_bits(32);
	if (p->base_bytes < QCN_BASE_MIN_BYTES)
		p->base_bytes = QCN_BASE_MIN_BYTES;
	CHECK(qcn_cp_valid(p), "qeq %u base %u weight %d", p->qeq_bytes,
	      p->base_bytes, p->weight);
}

static void cp_formula(void)
{
	struct qcn_cp_params p;
	struct qcn_sample s;
	unsigned int i, want;
	__u32 q, qold;

	for (i = 0; i < 500000; i++) {
		random_params(&p);
		/* around Qeq, or anything */
		q = rnd() & 1 ? rnd_bits(32) : rnd_below(4ULL * p.qeq_bytes);
		qold = rnd() & 1 ? rnd_bits(32) : rnd_below(4ULL * p.qeq_bytes);
		s = sample(&p, q, qold);
		want = model_qntzfb(&p, model_fb(&p, q, qold));
		CHECK_EQ(s.qntzfb, want, "qeq %u weight %d q %u qold %u",
			 p.qeq_bytes, p.weight, q, qold);
		CHECK(s.qoff_bytes == (__s64)q - p.qeq_bytes &&
		      s.qdelta_bytes == (__s64)q - qold, "q %u qold %u", q, qold);
	}
}

/* Largest and smallest of everything at once: nothing overflows. */
static void cp_extremes(void)
{
	static const __u32 qs[] = {
		0, 1, 25999, 26000, 26001, (1U << 30) - 1, 1U << 30, 1U << 31,
		~0U - 1, ~0U,
	};
	static const __u32 qeqs[] = { 1, 2, 26000, (1U << 30) - 1, 1U << 30 };
	struct qcn_cp_params p = { .base_bytes = ~0U };
	unsigned int i, j, k;
	int weight;

	for (weight = -10; weight <= 10; weight++) {
		p.weight = weight;
		for (i = 0; i < ARRAY_SIZE(qeqs); i++) {
			p.qeq_bytes = qeqs[i];
			CHECK(qcn_fb_limit(&p) > 0, "limit");
			for (j = 0; j < ARRAY_SIZE(qs); j++)
				for (k = 0; k < ARRAY_SIZE(qs); k++)
					CHECK_EQ(sample(&p, qs[j], qs[k]).qntzfb,
						 model_qntzfb(&p, model_fb(&p, qs[j], qs[k])),
						 "qeq %u weight %d q %u qold %u",
						 qeqs[i], weight, qs[j], qs[k]);
		}
	}
}

/* Where the first CNM and the largest feedback begin, with the defaults */
static void cp_steps(void)
{
	unsigned int q, step, last = 0;
	struct qcn_cp_params p;

	qcn_cp_defaults(&p);
	CHECK(qcn_cp_valid(&p), "defaults");
	CHECK_EQ(qcn_fb_limit(&p), 130000U, "Qeq * (2w + 1)");
	CHECK_EQ(qcn_fb(&p, -1, 0), 0U, "clamped");
	CHECK_EQ(qcn_fb(&p, 200000, 0), 130000U, "clamped");
	/* a steady queue: feedback of 130000 / 63 = 2063.5 octets a step */
	CHECK_EQ(sample(&p, 26000, 26000).qntzfb, 0U, "at Qeq");
	CHECK_EQ(sample(&p, 26000 + 2063, 26000 + 2063).qntzfb, 0U, "below a step");
	CHECK_EQ(sample(&p, 26000 + 2064, 26000 + 2064).qntzfb, 1U, "first step");
	CHECK_EQ(sample(&p, 26000 + 129999, 26000 + 129999).qntzfb, 62U, "last");
	CHECK_EQ(sample(&p, 26000 + 130000, 26000 + 130000).qntzfb, 63U, "most");
	/* a queue that drains is not congested, however long it is */
	CHECK_EQ(sample(&p, 100000, 200000).qntzfb, 0U, "draining");
	/* the longer, the more: every value comes up, none goes back */
	for (q = 0; q <= 200000; q++) {
		step = sample(&p, q, q).qntzfb;
		CHECK(step == last || step == last + 1, "%u after %u at %u",
		      step, last, q);
		last = step;
	}
	CHECK_EQ(last, QCN_FB_MAX, "all values");
}

static void cp_intervals(void)
{
	static const __u32 row[] = {
		150000, 75000, 50000, 37500, 30000, 25000, 21500, 18500,
	};
	struct qcn_cp_params p;
	unsigned int i;

	qcn_cp_defaults(&p);
	for (i = 0; i <= QCN_FB_MAX; i++) {
		p.base_bytes = 150000;
		CHECK_EQ(qcn_cp_interval(&p, i), row[i / 8], "QntzFb %u", i);
		p.base_bytes = 300000;
		CHECK_EQ(qcn_cp_interval(&p, i), 2 * row[i / 8], "QntzFb %u", i);
		p.base_bytes = 10000;
		CHECK_EQ(qcn_cp_interval(&p, i), row[i / 8] / 15, "QntzFb %u", i);
		p.base_bytes = ~0U;
		CHECK_EQ(qcn_cp_interval(&p, i),
			 (__u64)~0U * row[i / 8] / 150000, "QntzFb %u", i);
	}
}

static void cp_valid(void)
{
	struct qcn_cp_params p;

#define REFUSED(member, value)						\
	do {								\
		qcn_cp_defaults(&p);					\
		p.member = (value);					\
		CHECK(!qcn_cp_valid(&p), #member " " #value);		\
	} while (0)
	REFUSED(qeq_bytes, 0);
	REFUSED(qeq_bytes, (1U << 30) + 1);
	REFUSED(base_bytes, 0);
	REFUSED(base_bytes, 9999);
	REFUSED(weight, 11);
	REFUSED(weight, -11);
	qcn_cp_defaults(&p);
	CHECK(p.qeq_bytes == 26000 && p.base_bytes == 150000 && p.weight == 1,
	      "defaults of the MIB");
	p.base_bytes = 10000;
	p.qeq_bytes = 1U << 30;
	p.weight = -10;
	CHECK(qcn_cp_valid(&p), "ends of the ranges");
}

/* U(0.85, 1.15): its ends, its mean, its deviation */
static void jitter(void)
{
	double sum = 0, squares = 0, x, mean;
	const unsigned int n = 200000;
	unsigned int i;
	__u64 v, j;

	CHECK_EQ(qcn_jitter(150000, 0), 127500U, "least");
	CHECK_EQ(qcn_jitter(150000, ~0U), 172499U, "most");
	CHECK_EQ(qcn_jitter(0, ~0U), 0U, "nothing");
	for (i = 0; i < 10000; i++) {
		v = rnd_bits(43);
		CHECK_EQ(qcn_jitter(v, QCN_RND_MEAN), v, "the mean");
		j = qcn_jitter(v, rnd());
		CHECK(j >= v / 100 * 85 && j <= v + v / 100 * 15 + 15,
		      "%llu from %llu", (unsigned long long)j,
		      (unsigned long long)v);
	}
	for (i = 0; i < n; i++) {
		x = (double)qcn_jitter(1000000000, rnd() >> 32) / 1e9;
		sum += x;
		squares += x * x;
	}
	mean = sum / n;
	CHECK(fabs(mean - 1) < 0.002, "mean %f", mean);
	CHECK(fabs(sqrt(squares / n - mean * mean) - 0.3 / sqrt(12)) < 0.002,
	      "deviation");
}

static void cp_due(void)
{
	struct qcn_cp_params p;
	struct qcn_sample s;
	struct qcn_cp cp;
	unsigned int i;

	qcn_cp_defaults(&p);
	qcn_cp_init(&cp, &p);
	/* the first: after one base interval */
	CHECK(!qcn_cp_count(&cp, 149999), "one octet too early");
	CHECK(qcn_cp_count(&cp, 1), "due");
	/* until it is taken, however many frames can't be answered */
	for (i = 0; i < 1000; i++)
		CHECK(qcn_cp_count(&cp, ~0U), "still due");
	qcn_cp_sample(&cp, &p, 78000, QCN_RND_MEAN, &s);
	CHECK_EQ(s.qntzfb, 63U, "grew to 3 Qeq");
	/* one interval from the sample, not from when it was due */
	CHECK(!qcn_cp_count(&cp, 18499), "one octet too early");
	CHECK(qcn_cp_count(&cp, 1), "due");
	/* Qold is the queue at the last sample, with or without a CNM */
	qcn_cp_sample(&cp, &p, 20000, QCN_RND_MEAN, &s);
	CHECK_EQ(s.qntzfb, 0U, "no CNM");
	CHECK_EQ(s.qdelta_bytes + 58000, 0U, "since the sample with a CNM");
	CHECK(!qcn_cp_count(&cp, 149999) && qcn_cp_count(&cp, 1), "base");
	qcn_cp_sample(&cp, &p, 30000, QCN_RND_MEAN, &s);
	CHECK_EQ(s.qdelta_bytes, 10000U, "since the sample without");
	/* jitter makes the interval */
	qcn_cp_sample(&cp, &p, 0, 0, &s);
	CHECK(!qcn_cp_count(&cp, 127499) && qcn_cp_count(&cp, 1), "least");
	/* frames that are larger than the interval: each is due */
	for (i = 0; i < 10; i++) {
		CHECK(qcn_cp_count(&cp, 65536 * 4), "large frame");
		qcn_cp_sample(&cp, &p, 0, rnd(), &s);
	}
}

const struct test tests_qcn[] = {
	{ "qcn: feedback against the formula", cp_formula },
	{ "qcn: feedback at the ends of all ranges", cp_extremes },
	{ "qcn: steps of the feedback", cp_steps },
	{ "qcn: intervals, any base", cp_intervals },
	{ "qcn: refused settings", cp_valid },
	{ "qcn: jitter", jitter },
	{ "qcn: when a sample is due", cp_due },
	{}
};
