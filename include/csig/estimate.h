/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How busy a port is: three estimators over counted wire bits.  Pure C, no timer and
 * no clock; the caller brings the time.  Divisions happen when a window closes, not
 * for a packet.
 *
 *  raw   bits of the last complete window over its length (draft-ravi-ippm-csig-01)
 *  ewma  r = (1 - e^(-t/K)) * l/t + e^(-t/K) * r (CSFQ, SIGCOMM 1998)
 *  dre   X += bits, each interval X *= 1 - alpha, util = X / (interval / alpha)
 *        (CONGA, SIGCOMM 2014)
 */
#ifndef CSIG_ESTIMATE_H
#define CSIG_ESTIMATE_H

#include <csig/wire.h>

#define CSIG_INTERVAL_MIN_NS	10000ULL
#define CSIG_INTERVAL_MAX_NS	10000000000ULL
#define CSIG_INTERVAL_DEF_NS	128000ULL
#define CSIG_ALPHA_DEF_PPM	100000U	/* dre: 0.1 */
#define CSIG_ALPHA_MIN_PPM	1000U
#define CSIG_ALPHA_MAX_PPM	1000000U

/* Frame check sequence, preamble with delimiter, inter-frame gap */
#define CSIG_OVERHEAD_DEF_BYTES	24
#define CSIG_RATE_MAX_BPS	(1ULL << 62)	/* two of them can be added */

/**
 * struct csig_est - state of one estimator
 * @kind: enum csig_estimator
 * @alpha_ppm: dre, share forgotten each interval
 * @interval_ns: raw and dre: window; ewma: time constant K
 * @quantum_ns: shortest time between two rolls
 * @inv_q56: 2^56 / interval_ns, for ewma
 * @start_ns: begin of the open window
 * @acc: dre: X in bits, with 8 fraction bits
 * @util_bps: last published load
 */
struct csig_est {
	__u8 kind;
	__u32 alpha_ppm;
	__u64 interval_ns;
	__u64 quantum_ns;
	__u64 inv_q56;
	__u64 start_ns;
	__u64 acc;
	__u64 util_bps;
};

/**
 * csig_rate_bps() - bits over a time
 * @bits: any number
 * @ns: not 0
 *
 * Return: bit/s, exact below 17 s; CSIG_RATE_MAX_BPS and no more, whatever comes in
 */
static inline __u64 csig_rate_bps(__u64 bits, __u64 ns)
{
	__u64 q, r;

	while (ns >> 34) {	/* 17 s: at most 30 rounds */
		ns >>= 1;
		bits >>= 1;
	}
	if (!(bits >> 34))
		return csig_div64(bits * CSIG_NSEC_PER_SEC, ns);
	q = csig_div64(bits, ns);
	r = bits - q * ns;
	if (q >> 32)
		return CSIG_RATE_MAX_BPS;
	return q * CSIG_NSEC_PER_SEC + csig_div64(r * CSIG_NSEC_PER_SEC, ns);
}

/**
 * csig_est_init() - start an estimator on an idle port
 * @e: estimator
 * @kind: enum csig_estimator
 * @interval_ns: window or time constant, CSIG_INTERVAL_MIN_NS..MAX_NS
 * @alpha_ppm: dre only
 * @now_ns: time
 */
static inline void csig_est_init(struct csig_est *e, unsigned int kind,
				 __u64 interval_ns, __u32 alpha_ppm,
				 __u64 now_ns)
{
	e->kind = (__u8)kind;
	e->alpha_ppm = alpha_ppm;
	e->interval_ns = interval_ns;
	/* An average is smooth: 1/32 of its time constant is soon enough. */
	e->quantum_ns = kind == CSIG_ESTIMATOR_EWMA ? interval_ns / 32 : interval_ns;
	e->inv_q56 = csig_div64(1ULL << 56, interval_ns);
	e->start_ns = now_ns;
	e->acc = 0;
	e->util_bps = 0;
}

/**
 * csig_est_g() - (1 - e^-x) / x
 * @x_q16: x with 16 fraction bits
 *
 * Between 1/16 steps the curve is read linearly, 1.6e-4 off at most.  The decay
 * e^-x is made from it as 1 - x * g(x), so that a steady load is met exactly.
 *
 * Return: the value with 30 fraction bits; 0 from x = 16 on
 */
static inline __u64 csig_est_g(__u64 x_q16)
{
	static const __u32 g_q30[] = {
		1073741823, 1040875655, 1009343921, 979085795, 950043403,
		922161677, 895388214, 869673137, 844968974, 821230532,
		798414786, 776480768, 755389467, 735103727, 715588158,
		696809050, 678734282, 661333251, 644576792, 628437111,
		612887713, 597903339, 583459909, 569534460, 556105093,
		543150919, 530652014, 518589368, 506944842, 495701125,
		484841697, 474350786, 464213335, 454414967, 444941953,
		435781179, 426920119, 418346805, 410049801, 402018178,
		394241491, 386709754, 379413420, 372343358, 365490838,
		358847508, 352405376, 346156797, 340094455, 334211347,
		328500768, 322956300, 317571795, 312341368, 307259378,
		302320422, 297519323, 292851119, 288311055, 283894569,
		279597290, 275415024, 271343748, 267379604, 263518889,
		259758049, 256093674, 252522487, 249041346, 245647229,
		242337236, 239108581, 235958584, 232884673, 229884374,
		226955307, 224095187, 221301812, 218573067, 215906917,
		213301402, 210754636, 208264804, 205830159, 203449018,
		201119759, 198840821, 196610699, 194427943, 192291155,
		190198988, 188150142, 186143363, 184177444, 182251218,
		180363559, 178513381, 176699635, 174921310, 173177427,
		171467042, 169789244, 168143149, 166527908, 164942695,
		163386716, 161859201, 160359405, 158886608, 157440113,
		156019248, 154623359, 153251814, 151904003, 150579333,
		149277231, 147997142, 146738527, 145500865, 144283651,
		143086394, 141908619, 140749867, 139609690, 138487654,
		137383339, 136296338, 135226254, 134172703, 133135311,
		132113717, 131107567, 130116521, 129140246, 128178419,
		127230727, 126296865, 125376536, 124469452, 123575333,
		122693906, 121824906, 120968076, 120123163, 119289924,
		118468121, 117657522, 116857901, 116069041, 115290725,
		114522747, 113764903, 113016995, 112278831, 111550223,
		110830988, 110120947, 109419926, 108727755, 108044270,
		107369308, 106702711, 106044326, 105394003, 104751596,
		104116961, 103489959, 102870453, 102258310, 101653401,
		101055598, 100464778, 99880818, 99303602, 98733012,
		98168936, 97611263, 97059885, 96514696, 95975594,
		95442476, 94915245, 94393802, 93878054, 93367908,
		92863274, 92364062, 91870187, 91381562, 90898105,
		90419735, 89946371, 89477936, 89014352, 88555547,
		88101444, 87651974, 87207066, 86766650, 86330658,
		85899026, 85471687, 85048578, 84629636, 84214801,
		83804011, 83397210, 82994337, 82595338, 82200156,
		81808738, 81421028, 81036976, 80656529, 80279638,
		79906252, 79536322, 79169802, 78806644, 78446802,
		78090231, 77736887, 77386725, 77039704, 76695781,
		76354915, 76017065, 75682191, 75350255, 75021217,
		74695041, 74371688, 74051123, 73733309, 73418212,
		73105796, 72796027, 72488873, 72184299, 71882274,
		71582766, 71285744, 70991176, 70699032, 70409283,
		70121899, 69836852, 69554113, 69273653, 68995447,
		68719465, 68445683, 68174074, 67904612, 67637272,
		67372028, 67108856, 66847733,
	};
	unsigned int i = (unsigned int)(x_q16 >> 12);

	if (x_q16 >> 20)
		return 0;
	return g_q30[i] - ((__u64)(g_q30[i] - g_q30[i + 1]) *
			   (x_q16 & 0xfff) >> 12);
}

/* ewma over t ns that saw the given bits */
static inline __u64 csig_est_ewma(const struct csig_est *e, __u64 bits,
				  __u64 t)
{
	__u64 x_q16, xg, g, r;

	/* 16 time constants and more: the past is forgotten, e^-16 is 1e-7 */
	if (t >> 4 >= e->interval_ns)
		return csig_rate_bps(bits, t);
	x_q16 = csig_mulhi64(t << 24, e->inv_q56);	/* t * 2^16 / K */
	g = csig_est_g(x_q16);
	/* r + g * (l/K - x*r), in two products that can't be negative */
	xg = x_q16 * g;			/* 1 - e^-x with 46 fraction bits */
	if (xg >> 46)			/* the table's error near x = 16 */
		xg = (1ULL << 46) - 1;
	r = e->util_bps;
	r -= csig_mulhi64(r, xg << 18);
	r += csig_mulhi64(csig_rate_bps(bits, e->interval_ns), g << 34);
	return r < CSIG_RATE_MAX_BPS ? r : CSIG_RATE_MAX_BPS;
}

/* x after n intervals of dre: x * (1 - alpha)^n by repeated squaring */
static inline __u64 csig_est_decay(const struct csig_est *e, __u64 x, __u64 n)
{
	__u64 keep = CSIG_U64_MAX - e->alpha_ppm * (CSIG_U64_MAX / CSIG_PPM);

	for (; n && x; n >>= 1) {	/* 64 rounds at most */
		if (n & 1)
			x = csig_mulhi64(x, keep);
		keep = csig_mulhi64(keep, keep);
	}
	return x;
}

/**
 * csig_est_due() - does a packet at this time close a window?
 * @e: estimator
 * @now_ns: time of the packet
 *
 * Return: true when csig_est_roll() has something to do
 */
static inline bool csig_est_due(const struct csig_est *e, __u64 now_ns)
{
	return (__s64)(now_ns - e->start_ns) >= (__s64)e->quantum_ns;
}

/**
 * csig_est_roll() - close the windows that ended before now
 * @e: estimator
 * @bits: wire bits counted since the last roll
 * @now_ns: time, not before the last roll
 *
 * The bits belong to the oldest of the windows; the others passed empty.
 */
static inline void csig_est_roll(struct csig_est *e, __u64 bits, __u64 now_ns)
{
	__u64 gone = now_ns - e->start_ns, empty;

	if (e->kind == CSIG_ESTIMATOR_EWMA) {
		e->util_bps = csig_est_ewma(e, bits, gone ? gone : 1);
		e->start_ns = now_ns;
		return;
	}
	if (e->kind == CSIG_ESTIMATOR_RAW) {
		if (gone < 2 * e->interval_ns) {
			e->util_bps = csig_rate_bps(bits, e->interval_ns);
			e->start_ns += e->interval_ns;
		} else {	/* the last window that is complete was empty */
			e->util_bps = 0;
			e->start_ns = now_ns;
		}
		return;
	}
	/* 10 s at 3.5 Tbit/s: X stays below 2^55 bits for any alpha */
	if (bits >> 45)
		bits = 1ULL << 45;
	e->acc += bits << 8;
	/* What X was when the window closed: the steady load is met exactly. */
	if (gone >= 2 * e->interval_ns) {
		empty = csig_div64(gone, e->interval_ns) - 1;
		e->acc = csig_est_decay(e, e->acc, empty);
		e->start_ns += empty * e->interval_ns;
	}
	e->util_bps = csig_mulhi64(csig_rate_bps(e->acc, e->interval_ns),
				   e->alpha_ppm * (CSIG_U64_MAX / CSIG_PPM)) >> 8;
	e->acc = csig_est_decay(e, e->acc, 1);
	e->start_ns += e->interval_ns;
}

/**
 * csig_est_abw() - available bandwidth
 * @util_bps: load
 * @capacity_bps: of the port
 *
 * Return: capacity - load, never below 0
 */
static inline __u64 csig_est_abw(__u64 util_bps, __u64 capacity_bps)
{
	return util_bps < capacity_bps ? capacity_bps - util_bps : 0;
}

/**
 * csig_est_abwc() - available share of the capacity
 * @abw_bps: available bandwidth
 * @capacity_bps: of the port, not 0
 *
 * Return: ppm, 0..1000000
 */
static inline __u32 csig_est_abwc(__u64 abw_bps, __u64 capacity_bps)
{
	while (abw_bps >> 43) {		/* 8.8 Tbit/s: at most 21 rounds */
		abw_bps >>= 1;
		capacity_bps >>= 1;
	}
	return (__u32)csig_div64(abw_bps * CSIG_PPM, capacity_bps);
}

/**
 * csig_wire_bits() - what a packet takes on the wire
 * @len: octets of all its frames, without frame check sequence
 * @frames: how many, 1 without segmentation
 * @overhead: octets added to each frame
 *
 * Frames under the minimum are padded on the wire.
 *
 * Return: bits
 */
static inline __u64 csig_wire_bits(__u32 len, __u32 frames, __u32 overhead)
{
	__u64 min = (__u64)CSIG_FRAME_MIN_BYTES * frames, bytes = len;

	if (bytes < min)
		bytes = min;
	return (bytes + (__u64)overhead * frames) * 8;
}

#endif /* CSIG_ESTIMATE_H */
