// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of profile.h (presets, scale, digest) and lm.h (layouts of the locator).
 */
#include <csig/profile.h>
#include <string.h>

#include "ktap.h"

/* Digests of the presets; another value means that old and new devices disagree. */
#define DIGEST_DEFAULT		0xa9fb92a6dd25e070ULL
#define DIGEST_APPENDIX_A	0xd6ff0668701c0655ULL

static struct csig_profile def, prof;

static void presets(void)
{
	const struct csig_coding *c;
	unsigned int t;

	csig_profile_preset(&def, CSIG_PRESET_DEFAULT);
	CHECK(def.tpid[0] == 0x9900 && def.tpid[1] == 0xccdd, "TPIDs");
	for (t = 0; t < CSIG_SIGNALS; t++) {
		CHECK_EQ(def.signals[t].defined, t < 4U, "T %u", t);
		if (!def.signals[t].defined)
			continue;
		c = &def.signals[t].coding;
		CHECK(csig_coding_valid(c), "T %u", t);
		CHECK_EQ(c->nbounds, 31U, "T %u", t);
		CHECK_EQ(def.signals[t].source, t, "T %u", t);
		CHECK_EQ(def.signals[t].aggregate, t < 2 ? CSIG_AGGREGATE_MIN :
			 CSIG_AGGREGATE_MAX, "T %u", t);
	}
	CHECK(def.signals[0].coding.bounds[0] == 100000000 &&
	      def.signals[0].coding.bounds[30] == 350000000000 &&
	      def.signals[0].coding.step == 8000000, "abw");
	CHECK(def.signals[1].coding.bounds[0] == 5000 &&
	      def.signals[1].coding.bounds[30] == 950000 &&
	      def.signals[1].coding.step == 1, "abwc");
	CHECK(def.signals[2].coding.bounds[0] == 1000 &&
	      def.signals[2].coding.bounds[30] == 10000000 &&
	      def.signals[2].coding.step == 128, "pd");

	csig_profile_preset(&prof, CSIG_PRESET_APPENDIX_A);
	CHECK(prof.signals[1].coding.nbounds == 7 &&
	      prof.signals[1].coding.bounds[6] == 900000 &&
	      prof.signals[0].coding.bounds[6] == 90000000000 &&
	      prof.signals[2].coding.bounds[6] == 2000000, "appendix-a");
	CHECK_EQ(csig_code_compact(&prof.signals[1].coding, 1000000), 7U,
		 "largest code");
}

static void digest(void)
{
	static __u64 seen[64];
	unsigned int n = 0, i;

	csig_profile_preset(&def, CSIG_PRESET_DEFAULT);
	CHECK(csig_profile_digest(&def) == DIGEST_DEFAULT, "default 0x%llx",
	      (unsigned long long)csig_profile_digest(&def));
	csig_profile_preset(&prof, CSIG_PRESET_APPENDIX_A);
	CHECK(csig_profile_digest(&prof) == DIGEST_APPENDIX_A,
	      "appendix-a 0x%llx",
	      (unsigned long long)csig_profile_digest(&prof));
	seen[n++] = csig_profile_digest(&def);
	seen[n++] = csig_profile_digest(&prof);

#define DIFFERS(change)							\
	do {								\
		prof = def;						\
		prof.change;						\
		seen[n] = csig_profile_digest(&prof);			\
		for (i = 0; i < n; i++)					\
			CHECK(seen[i] != seen[n], #change " is like %u", i); \
		n++;							\
	} while (0)
	DIFFERS(tpid[0]++);
	DIFFERS(tpid[0] ^= 0x100);
	DIFFERS(tpid[1]++);
	DIFFERS(signals[0].defined = 0);
	DIFFERS(signals[3].defined = 0);
	DIFFERS(signals[15].defined = 1);
	DIFFERS(signals[14].defined = 1);
	DIFFERS(signals[0].source = CSIG_SOURCE_NQD);
	DIFFERS(signals[3].source = CSIG_SOURCE_PD);
	DIFFERS(signals[2].aggregate = CSIG_AGGREGATE_SUM);
	DIFFERS(signals[2].coding.base = 1);
	DIFFERS(signals[2].coding.base = 1ULL << 61);
	DIFFERS(signals[2].coding.step++);
	DIFFERS(signals[2].coding.step |= 1ULL << 42);
	DIFFERS(signals[2].coding.nbounds--);
	DIFFERS(signals[2].coding.bounds[30]++);
	DIFFERS(signals[2].coding.bounds[30] ^= 1ULL << 63);
	DIFFERS(signals[0].coding.bounds[0]++);
	DIFFERS(layouts[0][0] = ((struct csig_lm_layout){ 1, {{"ab", 7}} }));
	DIFFERS(layouts[0][1] = ((struct csig_lm_layout){ 1, {{"ab", 7}} }));
	DIFFERS(layouts[16][0] = ((struct csig_lm_layout){ 1, {{"ab", 7}} }));
	DIFFERS(layouts[16][0] = ((struct csig_lm_layout){ 1, {{"ab", 6}} }));
	DIFFERS(layouts[16][0] = ((struct csig_lm_layout){ 1, {{"ba", 7}} }));
	DIFFERS(layouts[16][0] = ((struct csig_lm_layout){ 2, {{"a", 3}, {"b", 4}} }));
	DIFFERS(layouts[16][0] = ((struct csig_lm_layout){ 2, {{"b", 4}, {"a", 3}} }));
	DIFFERS(layouts[16][0] = ((struct csig_lm_layout){ 2, {{"a", 3}, {"b", 3}} }));
#undef DIFFERS

	/* what is no setting of the domain, or belongs to an undefined signal */
#define SAME(change)							\
	do {								\
		prof = def;						\
		prof.change;						\
		CHECK(csig_profile_digest(&prof) == seen[0], #change);	\
	} while (0)
	SAME(software_assist = 1);
	SAME(signals[9].coding.step = 9);
	SAME(signals[2].coding.step_inv = 9);
	SAME(layouts[3][0].fields[0].bits = 9);
#undef SAME
}

static void scale(void)
{
	unsigned int i, t;

	csig_profile_preset(&def, CSIG_PRESET_DEFAULT);
	prof = def;
	csig_profile_scale(&prof, 1, 10000, 1000);
	for (t = 0; t < 4; t++)
		CHECK(csig_coding_valid(&prof.signals[t].coding), "T %u", t);
	for (i = 0; i < CSIG_BOUNDS_MAX; i++) {
		CHECK_EQ(prof.signals[0].coding.bounds[i],
			 def.signals[0].coding.bounds[i] / 10000, "abw %u", i);
		CHECK_EQ(prof.signals[1].coding.bounds[i],
			 def.signals[1].coding.bounds[i], "abwc %u", i);
		CHECK_EQ(prof.signals[2].coding.bounds[i],
			 def.signals[2].coding.bounds[i] * 1000, "pd %u", i);
		CHECK_EQ(prof.signals[3].coding.bounds[i],
			 def.signals[3].coding.bounds[i] * 1000, "nqd %u", i);
	}
	CHECK_EQ(prof.signals[0].coding.step, 800U, "abw");
	CHECK_EQ(prof.signals[1].coding.step, 1U, "abwc");
	CHECK_EQ(prof.signals[2].coding.step, 128000U, "pd");
	CHECK_EQ(prof.signals[0].coding.base, 0U, "a base of 0 stays");
	CHECK(csig_profile_digest(&prof) != csig_profile_digest(&def), "digest");
	/* the reciprocal follows the step */
	CHECK_EQ(csig_code_expanded(&prof.signals[0].coding, 8000000), 10000U,
		 "8 Mbit/s in steps of 800 bit/s");
	/* 18 ms at hop 3 is the bucket of 18 us */
	CHECK_EQ(csig_code_compact(&prof.signals[2].coding, 18000000),
		 csig_code_compact(&def.signals[2].coding, 18000), "PD");

	for (i = 0; i < 1000000; i++) {
		unsigned __int128 want;
		__u32 num = 1 + rnd_bits(31), den = 1 + rnd_bits(31);
		__u64 v = rnd_bits(63), got = csig_scale(v, num, den);

		want = (unsigned __int128)v * num / den;
		if (!want)
			want = 1;
		CHECK(want + num < (unsigned __int128)1 << 62 ?
		      got == (__u64)want :
		      got >= (1ULL << 62) - num && got <= (1ULL << 62) + num,
		      "%llu * %u / %u is %llu", (unsigned long long)v, num, den,
		      (unsigned long long)got);
	}
}

static void lm_fields(void)
{
	static const struct csig_lm_layout clos = { 3, {
		{ "stage", 3 }, { "dir", 2 }, { "speed", 2 } } };
	static const struct csig_lm_layout wide = { 1, { { "all", 16 } } };
	static const struct csig_lm_layout full = { 1, {
		{ "fifteen_letters", 7 } } };
	unsigned int shift = 99;
	__u16 mask = 0;

	CHECK(csig_lm_valid(&clos, CSIG_FORMAT_COMPACT), "7 bits");
	CHECK(csig_lm_valid(&clos, CSIG_FORMAT_EXPANDED), "7 of 16 bits");
	CHECK_EQ(csig_lm_bits(&clos), 7U, "sum");
	CHECK(csig_lm_find(&clos, "stage", &shift, &mask) && shift == 4 &&
	      mask == 7, "stage: %u %x", shift, mask);
	CHECK(csig_lm_find(&clos, "dir", &shift, &mask) && shift == 2 &&
	      mask == 3, "dir: %u %x", shift, mask);
	CHECK(csig_lm_find(&clos, "speed", &shift, &mask) && shift == 0 &&
	      mask == 3, "speed: %u %x", shift, mask);
	CHECK(!csig_lm_find(&clos, "spee", &shift, &mask), "shorter");
	CHECK(!csig_lm_find(&clos, "speeds", &shift, &mask), "longer");
	CHECK(!csig_lm_find(&clos, "", &shift, &mask), "empty");
	CHECK(csig_lm_find(&full, "fifteen_letters", &shift, &mask) &&
	      mask == 127, "longest name");
	CHECK(!csig_lm_find(&full, "fifteen_letterz", &shift, &mask), "last");
	CHECK(csig_lm_find(&wide, "all", &shift, &mask) && shift == 0 &&
	      mask == 0xffff, "16 bits: %x", mask);
	CHECK(!csig_lm_valid(&wide, CSIG_FORMAT_COMPACT), "too wide");
	CHECK(csig_lm_valid(&wide, CSIG_FORMAT_EXPANDED), "just fits");
}

static void lm_refused(void)
{
	struct csig_lm_layout l = { 2, { { "a", 3 }, { "b", 4 } } }, bad;
	unsigned int i;

	CHECK(csig_lm_valid(&l, CSIG_FORMAT_COMPACT), "good");
	bad = l;
	bad.fields[1].bits = 5;
	CHECK(!csig_lm_valid(&bad, CSIG_FORMAT_COMPACT), "8 bits");
	bad.fields[1].bits = 0;
	CHECK(!csig_lm_valid(&bad, CSIG_FORMAT_COMPACT), "no bits");
	bad.fields[1].bits = 17;
	CHECK(!csig_lm_valid(&bad, CSIG_FORMAT_EXPANDED), "17 bits");
	bad = l;
	bad.fields[1].name[0] = 'a';
	CHECK(!csig_lm_valid(&bad, CSIG_FORMAT_COMPACT), "same name");
	bad.fields[1].name[0] = 0;
	CHECK(!csig_lm_valid(&bad, CSIG_FORMAT_COMPACT), "no name");
	bad = l;
	bad.nfields = CSIG_LM_FIELDS_MAX + 1;
	CHECK(!csig_lm_valid(&bad, CSIG_FORMAT_EXPANDED), "9 fields");
	memset(&bad, 0, sizeof(bad));
	CHECK(csig_lm_valid(&bad, CSIG_FORMAT_COMPACT), "no layout");
	bad.nfields = CSIG_LM_FIELDS_MAX;
	for (i = 0; i < CSIG_LM_FIELDS_MAX; i++) {
		bad.fields[i].name[0] = 'a' + i;
		bad.fields[i].bits = 2;
	}
	CHECK(csig_lm_valid(&bad, CSIG_FORMAT_EXPANDED), "8 fields");
	bad.fields[7].bits = 3;
	CHECK(!csig_lm_valid(&bad, CSIG_FORMAT_EXPANDED), "17 bits in sum");
}

static void layout_in_force(void)
{
	csig_profile_preset(&prof, CSIG_PRESET_DEFAULT);
	CHECK(csig_lm_valid(csig_profile_layout(&prof, 2, 0), 0) &&
	      csig_lm_bits(csig_profile_layout(&prof, 2, 0)) == 7, "compact");
	CHECK(csig_lm_valid(csig_profile_layout(&prof, 2, 1), 1) &&
	      csig_lm_bits(csig_profile_layout(&prof, 2, 1)) == 16, "expanded");
	CHECK(csig_profile_layout(&prof, 2, 0) ==
	      &prof.layouts[CSIG_LAYOUT_ANY][0], "that of all");
	prof.layouts[2][0].nfields = 1;
	CHECK(csig_profile_layout(&prof, 2, 0) == &prof.layouts[2][0], "its own");
	CHECK(csig_profile_layout(&prof, 2, 1) ==
	      &prof.layouts[CSIG_LAYOUT_ANY][1], "other format");
	memset(prof.layouts, 0, sizeof(prof.layouts));
	CHECK(!csig_profile_layout(&prof, 2, 0)->nfields, "none");
}

const struct test tests_profile[] = {
	{ "profile: presets", presets },
	{ "profile: digest", digest },
	{ "profile: scale", scale },
	{ "profile: layout in force", layout_in_force },
	{ "lm: fields", lm_fields },
	{ "lm: refused layouts", lm_refused },
	{}
};
