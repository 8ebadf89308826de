// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of estimate.h: the three estimators against models in double precision, under
 * steady, random, paused and absurd traffic.
 */
#include <csig/estimate.h>
#include <math.h>

#include "ktap.h"

#define G		1000000000ULL
#define MS		1000000ULL

/* The estimator as a port uses it: roll first, then count. */
struct port {
	struct csig_est e;
	__u64 bits;
	__u64 now;
};

static void port_init(struct port *p, unsigned int kind, __u64 interval,
		      __u32 alpha, __u64 now)
{
	csig_est_init(&p->e, kind, interval, alpha, now);
	p->bits = 0;
	p->now = now;
}

/* A packet after a gap; the load that it sees is in p->e.util_bps. */
static void packet(struct port *p, __u64 gap, __u64 bits)
{
	p->now += gap;
	if (csig_est_due(&p->e, p->now)) {
		csig_est_roll(&p->e, p->bits, p->now);
		p->bits = 0;
	}
	p->bits += bits;
}

/* Packets at a constant rate for a time. */
static void steady(struct port *p, __u64 bps, __u64 bits, __u64 ns)
{
	double gap = (double)bits * G / bps, at = 0;
	__u64 start = p->now;

	while (at < ns) {
		at += gap;
		packet(p, start + (__u64)at - p->now, bits);
	}
}

static bool near(double got, double want, double relative)
{
	return fabs(got - want) <= relative * fabs(want);
}

static const __u64 intervals[] = {
	CSIG_INTERVAL_MIN_NS, 12345, CSIG_INTERVAL_DEF_NS, 10 * MS, 999 * MS,
	CSIG_INTERVAL_MAX_NS,
};

#define INTERVALS	ARRAY_SIZE(intervals)

/* gaps of all sizes around the interval, and now and then a pause */
static __u64 random_gap(__u64 interval)
{
	switch (rnd_below(16)) {
	case 0:
		return rnd_below(4 * interval);
	case 1:
		return rnd() & 1 ? rnd_below(40 * interval) : 0;
	default:
		return rnd_below(interval / 20);
	}
}

static __u64 random_bits(void)
{
	return 512 + rnd_below(20000);
}

static void constant_load(void)
{
	static const __u64 rates[] = { 4 * MS, 100 * MS, 10 * G, 800 * G };
	unsigned int kind, i, r;

	for (kind = CSIG_ESTIMATOR_RAW; kind <= CSIG_ESTIMATOR_DRE; kind++) {
		for (i = 0; i < INTERVALS; i++) {
			for (r = 0; r < 4; r++) {
				__u64 bits = 12304, n;
				struct port p;
				double got;

				/* a few hundred packets in each window */
				n = (double)rates[r] * intervals[i] / G / bits;
				if (n > 300)
					bits = (double)rates[r] * intervals[i] / G / 300;
				else if (n < 300)
					continue;
				port_init(&p, kind, intervals[i],
					  CSIG_ALPHA_DEF_PPM, rnd() >> 8);
				steady(&p, rates[r], bits, intervals[i] * 150);
				got = p.e.util_bps;
				CHECK(near(got, rates[r], 0.005),
				      "kind %u interval %llu: %.0f, not %llu",
				      kind, (unsigned long long)intervals[i],
				      got, (unsigned long long)rates[r]);
			}
		}
	}
}

/* raw: the windows that a list of packets falls into */
static void raw_model(void)
{
	unsigned int i, k;

	for (i = 0; i < INTERVALS; i++) {
		__u64 interval = intervals[i], w0, open = 0;
		double last = 0;
		struct port p;

		port_init(&p, CSIG_ESTIMATOR_RAW, interval, 0, rnd() >> 8);
		w0 = p.now;
		for (k = 0; k < 60000; k++) {
			__u64 gap = random_gap(interval), bits = random_bits();
			__u64 since = p.now + gap - w0;

			if (since >= 2 * interval) {
				last = 0;
				w0 += since;
				open = 0;
			} else if (since >= interval) {
				last = (double)open * G / interval;
				w0 += interval;
				open = 0;
			}
			packet(&p, gap, bits);
			open += bits;
			CHECK(fabs((double)p.e.util_bps - last) <=
			      1 + last * 0.0001, "interval %llu packet %u: %llu, not %.0f",
			      (unsigned long long)interval, k,
			      (unsigned long long)p.e.util_bps, last);
		}
	}
}

/*
 * ewma: once with the same lumps, where only the arithmetic may differ, and once with
 * every packet on its own as CSFQ has it, where the lumps of K/32 show
 */
static void ewma_model(void)
{
	unsigned int i, k;

	for (i = 0; i < INTERVALS; i++) {
		__u64 K = intervals[i], lump = 0, from;
		double r = 0, csfq = 0, peak = 0, worst = 0, x, sum = 0;
		struct port p;

		port_init(&p, CSIG_ESTIMATOR_EWMA, K, 0, rnd() >> 8);
		from = p.now;
		for (k = 0; k < 60000; k++) {
			__u64 gap = 1 + rnd_below(K / 40), bits = random_bits();

			if (k % 1000 > 900)
				gap *= 10;
			x = (double)(p.now + gap - from) / K;
			if (p.now + gap - from >= K / 32) {
				r = r * exp(-x) + lump * (double)G / K *
				    -expm1(-x) / x;
				lump = 0;
				from = p.now + gap;
			}
			/* the bits that lie behind, spread over the gap */
			x = (double)gap / K;
			csfq = csfq * exp(-x) + sum * G / gap * -expm1(-x);
			sum = bits;

			packet(&p, gap, bits);
			lump += bits;
			peak = fmax(peak, r);
			CHECK(fabs((double)p.e.util_bps - r) <= 2 + peak * 0.0005,
			      "K %llu packet %u: %llu, not %.0f",
			      (unsigned long long)K, k,
			      (unsigned long long)p.e.util_bps, r);
			if (!lump || from == p.now)
				worst = fmax(worst, fabs(r - csfq));
		}
		CHECK(worst <= peak * 0.05, "K %llu: %.4f of the peak off CSFQ",
		      (unsigned long long)K, worst / peak);
	}
}

static void ewma_steps(void)
{
	unsigned int i, k;
	struct port p;
	double x, want;

	/*
	 * Up to a load: 1 - e^-x; down in a pause: e^-x, whatever its length.  Up to
	 * K/32 of bits were not rolled yet and are spread over the pause, as CSFQ
	 * does with its last packet.
	 */
	for (i = 0; i < INTERVALS; i++) {
		__u64 K = intervals[i], bits = 10 * G / 500 * K / G;

		for (k = 1; k <= 40; k++) {
			port_init(&p, CSIG_ESTIMATOR_EWMA, K, 0, 77);
			steady(&p, 10 * G, bits, K / 4 * k);
			want = 10.0 * G * -expm1(-(double)k / 4);
			CHECK(fabs(p.e.util_bps - want) <= 0.035 * 10 * G,
			      "K %llu up %u/4: %llu, not %.0f",
			      (unsigned long long)K, k,
			      (unsigned long long)p.e.util_bps, want);

			port_init(&p, CSIG_ESTIMATOR_EWMA, K, 0, 77);
			steady(&p, 10 * G, bits, 20 * K);
			packet(&p, K / 2 * k, 0);
			x = k / 2.0;
			want = 10.0 * G * exp(-x);
			CHECK(fabs(p.e.util_bps - want) <=
			      10.0 * G * (0.005 + -expm1(-x) / x / 30),
			      "K %llu pause of %u/2: %llu, not %.0f",
			      (unsigned long long)K, k,
			      (unsigned long long)p.e.util_bps, want);
		}
	}
}

static void dre_model(void)
{
	static const __u32 alphas[] = {
		CSIG_ALPHA_MIN_PPM, 20000, CSIG_ALPHA_DEF_PPM, 500000, 999999,
		CSIG_ALPHA_MAX_PPM,
	};
	unsigned int i, a, k;

	for (i = 0; i < INTERVALS; i++) {
		for (a = 0; a < ARRAY_SIZE(alphas); a++) {
			__u64 T = intervals[i], from;
			double alpha = alphas[a] / 1e6, X = 0, shown = 0;
			double open = 0, peak = 0;
			struct port p;

			port_init(&p, CSIG_ESTIMATOR_DRE, T, alphas[a],
				  rnd() >> 8);
			from = p.now;
			for (k = 0; k < 20000; k++) {
				__u64 gap = random_gap(T), bits = random_bits();
				double util;

				for (X += open, open = 0; p.now + gap - from >= T;
				     from += T) {
					shown = X;
					X *= 1 - alpha;
				}
				packet(&p, gap, bits);
				open = bits;
				util = shown / (T / alpha) * G;
				peak = fmax(peak, util);
				CHECK(fabs((double)p.e.util_bps - util) <=
				      4 + peak * 0.0002 + (double)G / T / 64,
				      "T %llu alpha %u packet %u: %llu, not %.0f",
				      (unsigned long long)T, alphas[a], k,
				      (unsigned long long)p.e.util_bps, util);
			}
		}
	}
}

/* A CPU that stopped, or a port that was idle: no old load, no spike after it. */
static void pause_and_burst(void)
{
	static const __u64 pauses[] = { 300 * MS, 10 * G, 3600 * G };
	unsigned int kind, i, k;
	__u64 line = 10 * G, bits = 12304;

	for (kind = CSIG_ESTIMATOR_RAW; kind <= CSIG_ESTIMATOR_DRE; kind++) {
		for (i = 0; i < ARRAY_SIZE(pauses); i++) {
			struct port p;
			__u64 top = 0;

			port_init(&p, kind, CSIG_INTERVAL_DEF_NS,
				  CSIG_ALPHA_DEF_PPM, 12345);
			steady(&p, line, bits, 100 * CSIG_INTERVAL_DEF_NS);
			CHECK(near(p.e.util_bps, line, 0.02), "kind %u: %llu",
			      kind, (unsigned long long)p.e.util_bps);
			packet(&p, pauses[i], bits);
			CHECK(p.e.util_bps < line / 100,
			      "kind %u: %llu after the pause", kind,
			      (unsigned long long)p.e.util_bps);
			for (k = 0; k < 5000; k++) {
				packet(&p, bits * G / line, bits);
				if (p.e.util_bps > top)
					top = p.e.util_bps;
			}
			CHECK(top < line / 100 * 102, "kind %u: %llu", kind,
			      (unsigned long long)top);
			CHECK(near(p.e.util_bps, line, 0.02), "kind %u: %llu",
			      kind, (unsigned long long)p.e.util_bps);
		}
	}
}

static void raw_recovers(void)
{
	struct port p;

	port_init(&p, CSIG_ESTIMATOR_RAW, CSIG_INTERVAL_DEF_NS, 0, 0);
	steady(&p, 10 * G, 12304, 10 * CSIG_INTERVAL_DEF_NS);
	CHECK(p.e.util_bps > 9 * G, "%llu", (unsigned long long)p.e.util_bps);
	/* its window is not over: the last complete one was full */
	packet(&p, CSIG_INTERVAL_DEF_NS, 512);
	CHECK(p.e.util_bps, "%llu", (unsigned long long)p.e.util_bps);
	packet(&p, 2 * CSIG_INTERVAL_DEF_NS, 512);
	CHECK_EQ(p.e.util_bps, 0U, "one empty window");
	/* the packet after the pause is counted in a window of its own */
	packet(&p, CSIG_INTERVAL_DEF_NS, 0);
	CHECK_EQ(p.e.util_bps, 512 * G / CSIG_INTERVAL_DEF_NS, "512 bits");
}

/* more bits never read as less load, and nothing wraps */
static void extremes(void)
{
	static const __u32 alphas[] = { CSIG_ALPHA_MIN_PPM, CSIG_ALPHA_MAX_PPM };
	unsigned int kind, i, k, a;
	struct csig_est e;

	for (kind = CSIG_ESTIMATOR_RAW; kind <= CSIG_ESTIMATOR_DRE; kind++) {
		for (a = 0; a < 2; a++) {
			for (i = 0; i < INTERVALS; i++) {
				__u64 last = 0, bits = 1;

				for (k = 0; k < 64; k++, bits = bits << 1 | 1) {
					csig_est_init(&e, kind, intervals[i],
						      alphas[a], 0);
					csig_est_roll(&e, bits, intervals[i]);
					/* the scaled division loses 0.0001 */
					CHECK(e.util_bps >= last - last / 50 &&
					      e.util_bps <= CSIG_RATE_MAX_BPS,
					      "kind %u interval %llu bits %llu: %llu after %llu",
					      kind, (unsigned long long)intervals[i],
					      (unsigned long long)bits,
					      (unsigned long long)e.util_bps,
					      (unsigned long long)last);
					last = e.util_bps;
				}
			}
		}
	}
	for (k = 0; k < 1000000; k++) {
		i = rnd_below(INTERVALS);
		csig_est_init(&e, k % 3, intervals[i] + rnd_below(10000),
			      CSIG_ALPHA_MIN_PPM + rnd_below(999001), rnd());
		for (i = 0; i < 4; i++) {
			csig_est_roll(&e, rnd_bits(64), e.start_ns +
				      e.quantum_ns + rnd_bits(60));
			CHECK(e.util_bps <= CSIG_RATE_MAX_BPS, "kind %u: %llu", e.kind,
			      (unsigned long long)e.util_bps);
		}
	}

	/* 800 Gbit/s for 10 s in one window, and one bit in 10 s */
	csig_est_init(&e, CSIG_ESTIMATOR_RAW, 10 * G, 0, 0);
	csig_est_roll(&e, 8000 * G, 10 * G);
	CHECK(near(e.util_bps, 800.0 * G, 0.0001), "%llu",
	      (unsigned long long)e.util_bps);
	csig_est_roll(&e, 1, 20 * G);
	CHECK_EQ(e.util_bps, 0U, "a tenth of a bit per second");
	csig_est_init(&e, CSIG_ESTIMATOR_RAW, CSIG_INTERVAL_MIN_NS, 0, 0);
	csig_est_roll(&e, 1, CSIG_INTERVAL_MIN_NS);
	CHECK_EQ(e.util_bps, 100000U, "1 bit in 10 us");
}

static void clock_wraps(void)
{
	unsigned int kind;
	struct port p;

	for (kind = CSIG_ESTIMATOR_RAW; kind <= CSIG_ESTIMATOR_DRE; kind++) {
		port_init(&p, kind, CSIG_INTERVAL_DEF_NS, CSIG_ALPHA_DEF_PPM,
			  0ULL - 50 * CSIG_INTERVAL_DEF_NS);
		steady(&p, 10 * G, 12304, 100 * CSIG_INTERVAL_DEF_NS);
		CHECK(near(p.e.util_bps, 10.0 * G, 0.02), "kind %u: %llu", kind,
		      (unsigned long long)p.e.util_bps);
		/* a time before the window's begin closes nothing */
		CHECK(!csig_est_due(&p.e, p.e.start_ns - 1), "kind %u", kind);
		CHECK(!csig_est_due(&p.e, p.e.start_ns - G), "kind %u", kind);
		CHECK(!csig_est_due(&p.e, p.e.start_ns + p.e.quantum_ns - 1),
		      "kind %u", kind);
		CHECK(csig_est_due(&p.e, p.e.start_ns + p.e.quantum_ns),
		      "kind %u", kind);
	}
}

static void available(void)
{
	unsigned int i;

	for (i = 0; i < 1000000; i++) {
		__u64 cap = 1 + rnd_bits(53), util = rnd_bits(54), abw;
		__u32 got;

		abw = csig_est_abw(util, cap);
		CHECK_EQ(abw, util >= cap ? 0 : cap - util, "%llu of %llu",
			 (unsigned long long)util, (unsigned long long)cap);
		got = csig_est_abwc(abw, cap);
		CHECK(got <= CSIG_PPM, "%u", got);
		CHECK(fabs(got - (double)abw * CSIG_PPM / cap) < 1.001,
		      "%llu of %llu: %u", (unsigned long long)abw,
		      (unsigned long long)cap, got);
	}
	CHECK_EQ(csig_est_abwc(10 * MS, 80 * MS), 125000U, "12.5 %%");
	CHECK_EQ(csig_est_abwc(1, 1), CSIG_PPM, "idle");
	CHECK_EQ(csig_est_abwc((1ULL << 53) - 1, (1ULL << 53) - 1), CSIG_PPM,
		 "idle");
}

static void wire_bits(void)
{
	CHECK_EQ(csig_wire_bits(1514, 1, 24), 12304U, "full frame");
	CHECK_EQ(csig_wire_bits(42, 1, 24), 84 * 8U, "padded");
	CHECK_EQ(csig_wire_bits(60, 1, 24), 84 * 8U, "minimum");
	CHECK_EQ(csig_wire_bits(61, 1, 24), 85 * 8U, "minimum and one");
	CHECK_EQ(csig_wire_bits(3 * 1514, 3, 24), 3 * 12304U, "three segments");
	CHECK_EQ(csig_wire_bits(0, 0, 0), 0U, "nothing");
	CHECK_EQ(csig_wire_bits(0xffffffff, 65535, 1024),
		 (0xffffffffULL + 65535ULL * 1024) * 8, "largest");
}

const struct test tests_estimate[] = {
	{ "estimate: constant load", constant_load },
	{ "estimate: raw against a model", raw_model },
	{ "estimate: raw after a pause", raw_recovers },
	{ "estimate: ewma against models", ewma_model },
	{ "estimate: ewma up and down", ewma_steps },
	{ "estimate: dre against a model", dre_model },
	{ "estimate: stopped CPU and burst", pause_and_burst },
	{ "estimate: extremes", extremes },
	{ "estimate: clock wraps and goes back", clock_wraps },
	{ "estimate: available bandwidth and share", available },
	{ "estimate: bits on the wire", wire_bits },
	{}
};
