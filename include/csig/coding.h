/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From a measured value to the code S and back, and what a port does to a tag:
 * aggregate, compare, replace.  Pure C; only csig_coding_prepare() divides.
 */
#ifndef CSIG_CODING_H
#define CSIG_CODING_H

#include <csig/wire.h>

/**
 * struct csig_coding - value to code, both formats
 * @base: expanded, the value of code 0
 * @step: expanded, width of a code; at least 1
 * @step_inv: floor((2^64 - 1) / step), set by csig_coding_prepare()
 * @bounds: compact, lower boundary of code k + 1, rising
 * @nbounds: boundaries in use, 1..31; codes are 0..nbounds
 */
struct csig_coding {
	__u64 base;
	__u64 step;
	__u64 step_inv;
	__u64 bounds[CSIG_BOUNDS_MAX];
	__u8 nbounds;
};

/**
 * struct csig_signal - one row of the table of signals
 * @coding: how values become codes
 * @defined: the domain has this T
 * @source: enum csig_source
 * @aggregate: enum csig_aggregate
 */
struct csig_signal {
	struct csig_coding coding;
	__u8 defined;
	__u8 source;
	__u8 aggregate;
};

/**
 * csig_coding_prepare() - derive what coding needs
 * @c: coding with a step above 0; once after every change of the step
 */
static inline void csig_coding_prepare(struct csig_coding *c)
{
	c->step_inv = csig_div64(CSIG_U64_MAX, c->step);
}

/**
 * csig_code_compact() - bucket of a value
 * @c: coding
 * @value: in the unit of the signal's source
 *
 * Return: k with value in [bound k, bound k+1), 0..nbounds
 */
static inline __u32 csig_code_compact(const struct csig_coding *c, __u64 value)
{
	unsigned int lo = 0, hi = c->nbounds, i;

	if (hi > CSIG_BOUNDS_MAX)
		hi = CSIG_BOUNDS_MAX;
	/* five halvings cover 31 boundaries */
	for (i = 0; i < 5 && lo < hi; i++) {
		unsigned int mid = (lo + hi) / 2;

		if (value >= c->bounds[mid])
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/**
 * csig_code_expanded() - uniform code of a value
 * @c: coding
 * @value: in the unit of the signal's source
 *
 * The quotient comes from the reciprocal: below the clamp it is short by at most
 * one, which a compare repairs, so the result is exact.
 *
 * Return: clamp((value - base) / step, 0, 2^20 - 1)
 */
static inline __u32 csig_code_expanded(const struct csig_coding *c, __u64 value)
{
	const __u32 s_max = csig_layout(CSIG_FORMAT_EXPANDED)->s_max;
	__u64 d, q;

	if (value <= c->base)
		return 0;
	d = value - c->base;
	q = csig_mulhi64(d, c->step_inv);
	if (q >= s_max)
		return s_max;
	if (d - q * c->step >= c->step)
		q++;
	return (__u32)q;
}

static inline __u32 csig_code(const struct csig_coding *c, unsigned int format,
			      __u64 value)
{
	return format == CSIG_FORMAT_COMPACT ? csig_code_compact(c, value) :
					csig_code_expanded(c, value);
}

/**
 * csig_decode_range() - the values that a code stands for
 * @c: coding
 * @format: enum csig_format
 * @s: code
 * @lo: lowest value
 * @hi: lowest value above; CSIG_U64_MAX when there is none
 */
static inline void csig_decode_range(const struct csig_coding *c,
				     unsigned int format, __u32 s,
				     __u64 *lo, __u64 *hi)
{
	unsigned int n = c->nbounds > CSIG_BOUNDS_MAX ? CSIG_BOUNDS_MAX :
							c->nbounds;

	if (format == CSIG_FORMAT_COMPACT) {
		if (s > n)	/* the initial value of a minimum, too */
			s = n;
		*lo = s ? c->bounds[s - 1] : 0;
		*hi = s < n ? c->bounds[s] : CSIG_U64_MAX;
		return;
	}
	*lo = s ? c->base + s * c->step : 0;
	*hi = s < csig_layout(CSIG_FORMAT_EXPANDED)->s_max ?
	      c->base + (s + 1) * c->step : CSIG_U64_MAX;
}

/**
 * csig_initial_s() - what a sender puts into S
 * @aggregate: enum csig_aggregate
 * @format: enum csig_format
 *
 * Return: the identity of the aggregate
 */
static inline __u32 csig_initial_s(unsigned int aggregate, unsigned int format)
{
	return aggregate == CSIG_AGGREGATE_MIN ? csig_layout(format)->s_max : 0;
}

/**
 * csig_aggregate() - S of a tag after this port
 * @aggregate: enum csig_aggregate
 * @format: enum csig_format
 * @s: code in the tag
 * @local: code of this port
 *
 * Return: the code to send; equal to @s when the tag stays as it is
 */
static inline __u32 csig_aggregate(unsigned int aggregate, unsigned int format,
				   __u32 s, __u32 local)
{
	__u32 s_max = csig_layout(format)->s_max, sum;

	switch (aggregate) {
	case CSIG_AGGREGATE_MIN:
		return local < s ? local : s;
	case CSIG_AGGREGATE_MAX:
		return local > s ? local : s;
	case CSIG_AGGREGATE_COUNT:
		local = 1;
		break;
	default:
		break;
	}
	sum = s + local;	/* both below 2^20: no overflow */
	return sum > s_max ? s_max : sum;
}

/**
 * csig_coding_valid() - can this coding be used?
 * @c: coding
 *
 * Return: true with 1..31 rising boundaries, the first above 0, and a step
 */
static inline bool csig_coding_valid(const struct csig_coding *c)
{
	unsigned int i;

	if (!c->step || c->step >> 43 || c->base >> 62 || !c->nbounds ||
	    c->nbounds > CSIG_BOUNDS_MAX || !c->bounds[0])
		return false;
	for (i = 1; i < c->nbounds; i++)
		if (c->bounds[i] <= c->bounds[i - 1])
			return false;
	return true;
}

#endif /* CSIG_CODING_H */
