// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of coding.h against exact arithmetic with 128 bits and plain searches.
 */
#include <csig/coding.h>
#include <string.h>

#include "ktap.h"

#define BASE_BITS	62	/* csig_coding_valid()'s limits */
#define STEP_BITS	43
#define S_MAX		0xfffffULL

static __u32 exact_expanded(const struct csig_coding *c, __u64 value)
{
	unsigned __int128 q;

	if (value < c->base)
		return 0;
	q = ((unsigned __int128)value - c->base) / c->step;
	return q > S_MAX ? S_MAX : (__u32)q;
}

static void check_expanded(const struct csig_coding *c, __u64 value)
{
	CHECK_EQ(csig_code_expanded(c, value), exact_expanded(c, value),
		 "value %llu base %llu step %llu", (unsigned long long)value,
		 (unsigned long long)c->base, (unsigned long long)c->step);
}

static void expanded_exact(void)
{
	static const __u64 steps[] = {
		1, 2, 3, 7, 128, 8000000, (1ULL << 32) - 1, 1ULL << 32,
		(1ULL << 32) + 1, (1ULL << STEP_BITS) - 1, 1ULL << 42,
	};
	static const __u64 bases[] = { 0, 1, 1ULL << 32, (1ULL << BASE_BITS) - 1 };
	struct csig_coding c = {};
	unsigned int i, j;
	__u64 s, edge;

	for (i = 0; i < 3000000; i++) {
		if (i % 4 == 0) {
			c.base = rnd_bits(BASE_BITS);
			c.step = 1 + rnd_below(1ULL << rnd_below(STEP_BITS));
			csig_coding_prepare(&c);
		}
		/* far off, and near the edge of a code */
		check_expanded(&c, rnd_bits(64));
		edge = c.base + c.step * rnd_below(S_MAX + 2);
		check_expanded(&c, edge + rnd_below(3) - 1);
	}
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		for (j = 0; j < ARRAY_SIZE(bases); j++) {
			c.step = steps[i];
			c.base = bases[j];
			csig_coding_prepare(&c);
			for (s = 0; s <= S_MAX + 2; s += s < 9 ? 1 : 4093) {
				edge = c.base + s * c.step;
				check_expanded(&c, edge - 1);
				check_expanded(&c, edge);
				check_expanded(&c, edge + 1);
			}
			check_expanded(&c, c.base + S_MAX * c.step);
			check_expanded(&c, c.base + S_MAX * c.step - 1);
			check_expanded(&c, 0);
			check_expanded(&c, CSIG_U64_MAX);
		}
	}
}

/* rising boundaries, from dense to as far apart as 64 bits allow */
static void random_bounds(struct csig_coding *c)
{
	unsigned int k, bits = 1 + rnd_below(58);
	__u64 b = 0;

	c->nbounds = 1 + rnd_below(CSIG_BOUNDS_MAX);
	for (k = 0; k < c->nbounds; k++) {
		b += 1 + rnd_bits(bits);
		c->bounds[k] = b;
	}
}

static __u32 exact_compact(const struct csig_coding *c, __u64 value)
{
	__u32 k = 0;

	while (k < c->nbounds && value >= c->bounds[k])
		k++;
	return k;
}

static void compact_exact(void)
{
	struct csig_coding c = { .step = 1 };
	unsigned int i, k;
	__u64 v;

	for (i = 0; i < 20000; i++) {
		random_bounds(&c);
		CHECK(csig_coding_valid(&c), "%u bounds", c.nbounds);
		for (k = 0; k < c.nbounds; k++) {
			for (v = c.bounds[k] - 1; v <= c.bounds[k] + 1; v++)
				CHECK_EQ(csig_code_compact(&c, v),
					 exact_compact(&c, v), "value %llu",
					 (unsigned long long)v);
		}
		for (k = 0; k < 8; k++) {
			v = rnd_bits(64);
			CHECK_EQ(csig_code_compact(&c, v), exact_compact(&c, v),
				 "value %llu", (unsigned long long)v);
		}
		CHECK_EQ(csig_code_compact(&c, 0), 0U, "value 0");
		CHECK_EQ(csig_code_compact(&c, CSIG_U64_MAX), c.nbounds, "max");
	}
	/* a count that is too large must not read beyond the table */
	c.nbounds = 255;
	CHECK(csig_code_compact(&c, CSIG_U64_MAX) <= CSIG_BOUNDS_MAX, "255");
}

static void range_holds_value(void)
{
	struct csig_coding c = {};
	__u64 value, lo, hi;
	unsigned int i, f;
	__u32 s;

	for (i = 0; i < 300000; i++) {
		if (i % 8 == 0) {
			random_bounds(&c);
			c.base = rnd_bits(BASE_BITS);
			c.step = 1 + rnd_below(1ULL << rnd_below(STEP_BITS));
			csig_coding_prepare(&c);
		}
		value = rnd_bits(64);
		if (rnd() & 1)
			value = c.base + rnd_below(S_MAX + 9) * c.step + rnd_below(3);
		for (f = 0; f < CSIG_FORMATS; f++) {
			s = csig_code(&c, f, value);
			csig_decode_range(&c, f, s, &lo, &hi);
			CHECK(lo <= value && (value < hi || hi == CSIG_U64_MAX),
			      "format %u value %llu S %u: %llu..%llu", f,
			      (unsigned long long)value, s,
			      (unsigned long long)lo, (unsigned long long)hi);
			CHECK_EQ(csig_code(&c, f, lo), s, "lowest value");
			if (hi != CSIG_U64_MAX)
				CHECK_EQ(csig_code(&c, f, hi), s + 1, "next");
		}
	}
	/* the initial S of a minimum decodes with fewer buckets, too */
	c.nbounds = 7;
	csig_decode_range(&c, CSIG_FORMAT_COMPACT, 31, &lo, &hi);
	CHECK(lo == c.bounds[6] && hi == CSIG_U64_MAX, "S 31 of 8 codes");
}

static void aggregates(void)
{
	unsigned int a, f, i;

	for (i = 0; i < 200000; i++) {
		for (f = 0; f < CSIG_FORMATS; f++) {
			__u32 max = csig_layout(f)->s_max;
			__u32 s = i & 1 ? rnd_below(max + 1) : max - rnd_below(3);
			__u32 l = i & 2 ? rnd_below(max + 1) : max - rnd_below(3);
			__u32 sum = s + l > max ? max : s + l;
			__u32 one = s + 1 > max ? max : s + 1;

			CHECK_EQ(csig_aggregate(CSIG_AGGREGATE_MIN, f, s, l),
				 s < l ? s : l, "s %u local %u", s, l);
			CHECK_EQ(csig_aggregate(CSIG_AGGREGATE_MAX, f, s, l),
				 s > l ? s : l, "s %u local %u", s, l);
			CHECK_EQ(csig_aggregate(CSIG_AGGREGATE_SUM, f, s, l),
				 sum, "s %u local %u", s, l);
			CHECK_EQ(csig_aggregate(CSIG_AGGREGATE_COUNT, f, s, l),
				 one, "s %u local %u", s, l);
			/* the identity leaves the first hop's value */
			for (a = 0; a <= CSIG_AGGREGATE_SUM; a++)
				CHECK_EQ(csig_aggregate(a, f,
							csig_initial_s(a, f), l),
					 l, "aggregate %u local %u", a, l);
		}
	}
	CHECK_EQ(csig_initial_s(CSIG_AGGREGATE_COUNT, 1), 0U, "count");
}

static void coding_limits(void)
{
	struct csig_coding c = { .step = 1, .nbounds = 2, .bounds = { 5, 6 } };
	struct csig_coding bad;

	CHECK(csig_coding_valid(&c), "good");
#define REFUSED(change)						\
	do {							\
		bad = c;					\
		bad.change;					\
		CHECK(!csig_coding_valid(&bad), #change);	\
	} while (0)
	REFUSED(step = 0);
	REFUSED(step = 1ULL << STEP_BITS);
	REFUSED(base = 1ULL << BASE_BITS);
	REFUSED(nbounds = 0);
	REFUSED(nbounds = CSIG_BOUNDS_MAX + 1);
	REFUSED(bounds[0] = 0);
	REFUSED(bounds[1] = 5);
	REFUSED(bounds[1] = 4);
#undef REFUSED
	c.step = (1ULL << STEP_BITS) - 1;
	c.base = (1ULL << BASE_BITS) - 1;
	CHECK(csig_coding_valid(&c), "largest");
}

static void mulhi_exact(void)
{
	unsigned int i;

	for (i = 0; i < 2000000; i++) {
		__u64 a = rnd_bits(64), b = rnd_bits(64);

		if (i & 1)
			a = ~a;
		if (i & 2)
			b = ~b;
		CHECK_EQ(csig_mulhi64(a, b),
			 (__u64)((unsigned __int128)a * b >> 64), "%llx %llx",
			 (unsigned long long)a, (unsigned long long)b);
	}
}

const struct test tests_coding[] = {
	{ "coding: upper half of a product", mulhi_exact },
	{ "coding: expanded, exact", expanded_exact },
	{ "coding: compact, exact", compact_exact },
	{ "coding: a code's range holds its values", range_holds_value },
	{ "coding: aggregates", aggregates },
	{ "coding: limits of a table", coding_limits },
	{}
};
