// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of reflect.h against the octets that the specification prints, of word.h and of
 * probe.h.  Inputs that are cut end where the block of memory ends.
 */
#include <csig/probe.h>
#include <csig/word.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"

/* The public vector of the specification: T1 S23 LM5 is 2b 85 */
static const struct csig_tag compact = {
	.format = CSIG_FORMAT_COMPACT, .t = 1, .s = 23, .lm = 5,
};

/* LM 0x1234, T 2, S 0xabcde, R 0x5a: 12 34 2a bc de 5a */
static const struct csig_tag expanded = {
	.format = CSIG_FORMAT_EXPANDED, .t = 2, .s = 0xabcde, .lm = 0x1234,
	.r = 0x5a,
};

static bool same_tag(const struct csig_tag *a, const struct csig_tag *b)
{
	return a->format == b->format && a->t == b->t && a->r == b->r &&
	       a->lm == b->lm && a->s == b->s;
}

static void random_tag(struct csig_tag *tag)
{
	const struct csig_layout *l;

	tag->format = rnd() & 1;
	l = csig_layout(tag->format);
	tag->t = rnd_below(l->t_max + 1);
	tag->s = rnd_below(l->s_max + 1);
	tag->lm = rnd_below(l->lm_max + 1);
	tag->r = rnd_below(tag->format == CSIG_FORMAT_EXPANDED ? 256 : 2);
}

/* What an end host would send: head, then data. */
static void check_option(__u8 kind, const __u8 *data, unsigned int data_len,
			 const char *hex)
{
	unsigned int len, want_len;
	__u8 *want = hex_octets(hex, &want_len), opt[CSIG_OPT_LEN_MAX];

	len = csig_opt_head(kind, data_len, opt);
	CHECK_EQ(len, csig_opt_head_len(kind), "%s", hex);
	memcpy(opt + len, data, data_len);
	len += data_len;
	CHECK_EQ(len, want_len, "%s", hex);
	CHECK(!memcmp(opt, want, want_len), "%s", hex);
	CHECK_EQ(opt[1], len, "Length counts Kind and Length: %s", hex);
	free(want);
}

static void reflect_option(void)
{
	const __u8 flags = CSIG_OPT_COMPACT | CSIG_OPT_EXPANDED |
			   CSIG_OPT_REFLECTS;
	__u8 data[6] = { 0 };

	/* FE 05 C5 16 ff, FE 04 C5 16, FE 06 C5 16 dd dd, FE 0A C5 16 and 6 octets */
	check_option(254, &flags, 1, "fe05c51607");
	check_option(254, data, 0, "fe04c516");
	csig_encode(&compact, data);
	check_option(254, data, 2, "fe06c5162b85");
	csig_encode(&expanded, data);
	check_option(254, data, 6, "fe0ac51612342abcde5a");
	check_option(CSIG_OPT_KIND_DEFAULT, data, 0, "fe04c516");
	/* the other Kind for experiments */
	check_option(253, data, 6, "fd0ac51612342abcde5a");
	/* private Kinds: Kind 04 dd dd, Kind 08 and 6 octets */
	csig_encode(&compact, data);
	check_option(0x91, data, 2, "91042b85");
	csig_encode(&expanded, data);
	check_option(0x91, data, 6, "910812342abcde5a");
	check_option(0x91, data, 0, "9102");
	check_option(0x91, &flags, 1, "910307");
	check_option(252, data, 0, "fc02");
	check_option(255, data, 0, "ff02");
}

static void reflect_lengths(void)
{
	unsigned int len, kind;

	CHECK_EQ(csig_data_len(CSIG_FORMAT_COMPACT), 2u, "compact");
	CHECK_EQ(csig_data_len(CSIG_FORMAT_EXPANDED), 6u, "expanded");
	for (len = 0; len < 256; len++)
		CHECK(csig_opt_format(len) ==
		      (len == 2 ? CSIG_FORMAT_COMPACT :
		       len == 6 ? CSIG_FORMAT_EXPANDED : -1), "%u octets", len);
	for (kind = 0; kind < 256; kind++) {
		bool shared = kind == 253 || kind == 254;

		CHECK_EQ(csig_opt_kind_is_shared(kind), shared, "Kind %u", kind);
		CHECK_EQ(csig_opt_head_len(kind), shared ? 4u : 2u, "Kind %u",
			 kind);
		CHECK(csig_opt_head_len(kind) + 6 <= CSIG_OPT_LEN_MAX,
		      "Kind %u", kind);
	}
	CHECK_EQ(CSIG_OPT_COMPACT | CSIG_OPT_EXPANDED | CSIG_OPT_REFLECTS,
		 CSIG_OPT_FLAGS_ALL, "flags");
	CHECK(CSIG_OPT_COMPACT == 1 && CSIG_OPT_EXPANDED == 2 &&
	      CSIG_OPT_REFLECTS == 4, "bits of the specification");
}

static void check_udp(unsigned int format, const struct csig_tag *tag,
		      const char *hex)
{
	unsigned int len, want_len, cut;
	__u8 *want = hex_octets(hex, &want_len), buf[CSIG_UDP_LEN_MAX + 1];
	struct csig_tag back;
	bool valid;

	memset(buf, 0xee, sizeof(buf));
	len = csig_udp_encode(format, tag, buf);
	CHECK_EQ(len, want_len, "%s", hex);
	CHECK(!memcmp(buf, want, want_len), "%s", hex);
	CHECK_EQ(buf[CSIG_UDP_LEN_MAX], 0xeeu, "octet behind %s", hex);
	for (cut = 0; cut <= want_len + 2; cut++) {
		/* of its own length, so that a read beyond it is found */
		unsigned int n = cut < want_len ? cut : want_len;
		__u8 *in = malloc(cut ? cut : 1);

		if (!in)
			abort();
		memset(in, 0xff, cut ? cut : 1);
		memcpy(in, want, n);
		valid = true;
		len = csig_udp_decode(in, cut, &back, &valid);
		CHECK_EQ(len, cut < want_len ? 0 : want_len, "%s, %u octets",
			 hex, cut);
		CHECK_EQ(valid, cut >= want_len && tag, "%s, %u octets", hex,
			 cut);
		if (valid && tag)
			CHECK(same_tag(&back, tag), "%s", hex);
		free(in);
	}
	free(want);
}

static void reflect_udp(void)
{
	struct csig_tag tag, back;
	__u8 buf[CSIG_UDP_LEN_MAX];
	unsigned int i, len;
	bool valid;

	/* bit 7 valid, bit 6 format, then the data fields: 3 or 7 octets */
	check_udp(CSIG_FORMAT_COMPACT, &compact, "802b85");
	check_udp(CSIG_FORMAT_COMPACT, NULL, "000000");
	check_udp(CSIG_FORMAT_EXPANDED, &expanded, "c012342abcde5a");
	check_udp(CSIG_FORMAT_EXPANDED, NULL, "40000000000000");
	for (i = 0; i < 100000; i++) {
		random_tag(&tag);
		len = csig_udp_encode(tag.format, &tag, buf);
		CHECK_EQ(csig_udp_decode(buf, len, &back, &valid), len,
			 "there and back");
		CHECK(valid && same_tag(&tag, &back), "there and back");
	}
	/* bits that are reserved do not matter */
	buf[0] = 0xbf;
	buf[1] = 0x2b;
	buf[2] = 0x85;
	CHECK_EQ(csig_udp_decode(buf, 3, &back, &valid), 3u, "reserved bits");
	CHECK(valid && same_tag(&compact, &back), "reserved bits");
}

static void reflect_word(void)
{
	struct csig_tag tag, back;
	unsigned int i;
	__u64 word;

	CHECK_EQ(csig_word_encode(&compact), 0x8000000000002b85ULL, "compact");
	CHECK_EQ(csig_word_encode(&expanded), 0xc00012342abcde5aULL, "expanded");
	CHECK(!csig_word_decode(0, &back), "never");
	CHECK(!csig_word_decode(~CSIG_BPF_WORD_VALID, &back), "not valid");
	for (i = 0; i < 100000; i++) {
		random_tag(&tag);
		word = csig_word_encode(&tag);
		CHECK(csig_word_decode(word, &back) && same_tag(&tag, &back),
		      "%llx", (unsigned long long)word);
	}
}

static void reflect_probe(void)
{
	struct csig_probe p = {
		.t = 2, .signals = 0x8003, .session = 0xdeadbeef,
		.seq = 0x01020304, .time_ns = 0x1122334455667788ULL,
	}, back;
	unsigned int want_len, len, i;
	__u8 msg[CSIG_PROBE_LEN], before[CSIG_PROBE_LEN], *cut, *want;
	struct csig_tag tag;
	bool valid;

	want = hex_octets("802b850000000000c516010000028003deadbeef010203041122334455667788",
			  &want_len);
	memset(msg, 0xee, sizeof(msg));
	csig_probe_encode(&p, &compact, msg);
	CHECK_EQ(want_len, CSIG_PROBE_LEN, "length");
	CHECK(!memcmp(msg, want, want_len), "octets of a probe");
	free(want);
	for (len = 0; len <= sizeof(msg); len++) {
		cut = malloc(len ? len : 1);
		if (!cut)
			abort();
		memcpy(cut, msg, len);
		CHECK_EQ(csig_probe_decode(cut, len, &back), len == sizeof(msg),
			 "%u octets", len);
		free(cut);
	}
	CHECK(!back.answer && back.t == p.t && back.signals == p.signals &&
	      back.session == p.session && back.seq == p.seq &&
	      back.time_ns == p.time_ns, "there and back");

	/* an answer differs in the header, the type and the flags */
	memcpy(before, msg, sizeof(msg));
	csig_probe_answer(msg, &expanded, CSIG_PROBE_READS);
	CHECK(!memcmp(msg + CSIG_PROBE_CHANGED_LEN,
		      before + CSIG_PROBE_CHANGED_LEN,
		      sizeof(msg) - CSIG_PROBE_CHANGED_LEN), "what stays");
	CHECK(csig_probe_decode(msg, sizeof(msg), &back) && back.answer &&
	      back.flags == CSIG_PROBE_READS && back.t == p.t, "answer");
	CHECK_EQ(csig_udp_decode(msg, CSIG_PROBE_HEADER_LEN, &tag, &valid), 7u,
		 "header");
	CHECK(valid && same_tag(&tag, &expanded), "tag in the answer");
	csig_probe_answer(msg, NULL, 0);
	for (i = 0; i < CSIG_PROBE_HEADER_LEN; i++)
		CHECK_EQ(msg[i], 0u, "octet %u without a tag", i);

	/* neither another magic, nor version, nor type */
	for (i = CSIG_PROBE_AT_MAGIC; i <= CSIG_PROBE_AT_ANSWER; i++) {
		msg[i] ^= 0x80;
		CHECK(!csig_probe_decode(msg, sizeof(msg), &back), "octet %u", i);
		msg[i] ^= 0x80;
	}
}

const struct test tests_reflect[] = {
	{ "reflect: TCP options as in the specification", reflect_option },
	{ "reflect: Kinds, lengths, flags", reflect_lengths },
	{ "reflect: header of UDP transports, cut at every length", reflect_udp },
	{ "reflect: tags in words", reflect_word },
	{ "reflect: probes and answers", reflect_probe },
	{}
};
