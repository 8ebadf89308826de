/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The profile of a CSIG domain: what all its devices must agree on, the presets of
 * the specification and the digest that tells two profiles apart.  Pure C.
 */
#ifndef CSIG_PROFILE_H
#define CSIG_PROFILE_H

#include <csig/coding.h>
#include <csig/lm.h>

/* Row of struct csig_profile.layouts for signals that have none of their own */
#define CSIG_LAYOUT_ANY		CSIG_SIGNALS
#define CSIG_LAYOUT_ROWS	(CSIG_LAYOUT_ANY + 1)

enum csig_preset {
	CSIG_PRESET_DEFAULT,
	CSIG_PRESET_APPENDIX_A,
};

/**
 * struct csig_profile - settings of a domain
 * @tpid: EtherType of each format, host order
 * @software_assist: 0x88a8 may be the compact TPID
 * @signals: the table of signals, by T
 * @layouts: locator metadata by T and format; row CSIG_LAYOUT_ANY is the default
 */
struct csig_profile {
	__u16 tpid[CSIG_FORMATS];
	__u8 software_assist;
	struct csig_signal signals[CSIG_SIGNALS];
	struct csig_lm_layout layouts[CSIG_LAYOUT_ROWS][CSIG_FORMATS];
};

/* Layout in force for a signal and format */
static inline const struct csig_lm_layout *
csig_profile_layout(const struct csig_profile *p, unsigned int t,
		    unsigned int format)
{
	const struct csig_lm_layout *l = &p->layouts[t][format];

	return l->nfields ? l : &p->layouts[CSIG_LAYOUT_ANY][format];
}

/* value * num / den without overflow, saturating below 2^62; at least 1 */
static inline __u64 csig_scale(__u64 v, __u32 num, __u32 den)
{
	__u64 q = csig_div64(v, den), r = v - q * den;

	if (num && q >= (1ULL << 62) / num)
		return 1ULL << 62;
	q = q * num + csig_div64(r * num, den);
	return q ? q : 1;
}

/**
 * csig_profile_scale() - stretch a profile for slow links
 * @p: profile
 * @rate_num: rates are multiplied by rate_num / rate_den
 * @rate_den: not 0
 * @time: times are multiplied by this
 *
 * Bandwidths follow the rate, delays the time; shares stay.
 */
static inline void csig_profile_scale(struct csig_profile *p, __u32 rate_num,
				      __u32 rate_den, __u32 time)
{
	unsigned int t, i;

	for (t = 0; t < CSIG_SIGNALS; t++) {
		struct csig_signal *s = &p->signals[t];
		__u32 num = time, den = 1;

		if (!s->defined || s->source == CSIG_SOURCE_ABWC)
			continue;
		if (s->source == CSIG_SOURCE_ABW) {
			num = rate_num;
			den = rate_den;
		}
		for (i = 0; i < s->coding.nbounds; i++)
			s->coding.bounds[i] = csig_scale(s->coding.bounds[i],
							 num, den);
		if (s->coding.base)
			s->coding.base = csig_scale(s->coding.base, num, den);
		s->coding.step = csig_scale(s->coding.step, num, den);
		csig_coding_prepare(&s->coding);
	}
}

/**
 * csig_profile_preset() - fill a profile
 * @p: profile, wholly overwritten
 * @preset: enum csig_preset
 */
static inline void csig_profile_preset(struct csig_profile *p,
				       unsigned int preset)
{
	/* Mbit/s, 0.1 %, us: small integers of one scale per source */
	static const __u32 def[3][CSIG_BOUNDS_MAX] = {
		{ 100, 250, 500, 750, 1000, 1500, 2000, 3000, 4000, 5000, 6000,
		  8000, 10000, 12500, 15000, 20000, 25000, 30000, 40000, 50000,
		  60000, 75000, 90000, 100000, 125000, 150000, 175000, 200000,
		  250000, 300000, 350000 },
		{ 5, 10, 20, 30, 40, 50, 60, 80, 100, 120, 140, 160, 180, 200,
		  230, 260, 300, 340, 380, 420, 460, 500, 550, 600, 650, 700,
		  750, 800, 850, 900, 950 },
		{ 1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 125,
		  150, 200, 250, 300, 400, 500, 600, 800, 1000, 1250, 1500,
		  2000, 3000, 5000, 10000 },
	};
	static const __u32 apx[3][7] = {
		{ 1000, 5000, 10000, 20000, 50000, 75000, 90000 },
		{ 10, 50, 100, 200, 500, 750, 900 },
		{ 10, 50, 100, 200, 400, 800, 2000 },
	};
	static const struct {
		__u8 source, aggregate, table;
		__u32 unit, step;
	} rows[] = {	/* by T */
		{ CSIG_SOURCE_ABW,  CSIG_AGGREGATE_MIN, 0, 1000000, 8000000 },
		{ CSIG_SOURCE_ABWC, CSIG_AGGREGATE_MIN, 1, 1000, 1 },
		{ CSIG_SOURCE_PD,   CSIG_AGGREGATE_MAX, 2, 1000, 128 },
		{ CSIG_SOURCE_NQD,  CSIG_AGGREGATE_MAX, 2, 1000, 128 },
	};
	static const struct csig_lm_layout layouts[CSIG_FORMATS] = {
		[CSIG_FORMAT_COMPACT] = { 1, { { "port", 7 } } },
		[CSIG_FORMAT_EXPANDED] = { 2, { { "device", 10 },
						{ "port", 6 } } },
	};
	unsigned int t, i;

	__builtin_memset(p, 0, sizeof(*p));
	p->layouts[CSIG_LAYOUT_ANY][CSIG_FORMAT_COMPACT] =
		layouts[CSIG_FORMAT_COMPACT];
	p->layouts[CSIG_LAYOUT_ANY][CSIG_FORMAT_EXPANDED] =
		layouts[CSIG_FORMAT_EXPANDED];
	p->tpid[CSIG_FORMAT_COMPACT] = CSIG_TPID_COMPACT_DEFAULT;
	p->tpid[CSIG_FORMAT_EXPANDED] = CSIG_TPID_EXPANDED_DEFAULT;
	for (t = 0; t < sizeof(rows) / sizeof(rows[0]); t++) {
		struct csig_signal *s = &p->signals[t];
		bool a = preset == CSIG_PRESET_APPENDIX_A;

		s->defined = 1;
		s->source = rows[t].source;
		s->aggregate = rows[t].aggregate;
		s->coding.step = rows[t].step;
		s->coding.nbounds = a ? 7 : CSIG_BOUNDS_MAX;
		for (i = 0; i < s->coding.nbounds; i++)
			s->coding.bounds[i] = (__u64)rows[t].unit *
				(a ? apx[rows[t].table][i] :
				     def[rows[t].table][i]);
		csig_coding_prepare(&s->coding);
	}
}

static inline __u64 csig_fnv1a(__u64 h, __u64 v, unsigned int octets)
{
	while (octets--) {
		h = (h ^ (v & 0xff)) * 0x100000001b3ULL;
		v >>= 8;
	}
	return h;
}

/**
 * csig_profile_digest() - short name of all settings that must agree
 * @p: profile
 *
 * Return: FNV-1a over TPIDs, defined signals and layouts, in the order of T
 */
static inline __u64 csig_profile_digest(const struct csig_profile *p)
{
	__u64 h = 0xcbf29ce484222325ULL;
	unsigned int t, f, i, j;

	h = csig_fnv1a(h, p->tpid[CSIG_FORMAT_COMPACT], 2);
	h = csig_fnv1a(h, p->tpid[CSIG_FORMAT_EXPANDED], 2);
	for (t = 0; t < CSIG_SIGNALS; t++) {
		const struct csig_signal *s = &p->signals[t];

		if (!s->defined)
			continue;
		h = csig_fnv1a(h, t, 1);
		h = csig_fnv1a(h, s->source, 1);
		h = csig_fnv1a(h, s->aggregate, 1);
		h = csig_fnv1a(h, s->coding.base, 8);
		h = csig_fnv1a(h, s->coding.step, 8);
		h = csig_fnv1a(h, s->coding.nbounds, 1);
		for (i = 0; i < s->coding.nbounds; i++)
			h = csig_fnv1a(h, s->coding.bounds[i], 8);
	}
	for (t = 0; t <= CSIG_LAYOUT_ANY; t++) {
		for (f = 0; f < CSIG_FORMATS; f++) {
			const struct csig_lm_layout *l = &p->layouts[t][f];

			h = csig_fnv1a(h, l->nfields, 1);
			for (i = 0; i < l->nfields; i++) {
				for (j = 0; l->fields[i].name[j]; j++)
					h = csig_fnv1a(h, (__u8)l->fields[i].name[j],
						       1);
				h = csig_fnv1a(h, l->fields[i].bits, 2);
			}
		}
	}
	return h;
}

#endif /* CSIG_PROFILE_H */
