// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of wire.h (every value of every field there and back, EtherTypes) and of
 * walk.h (frames built at random and cut at every length).
 */
#include <csig/walk.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"

static const __u16 tpids[CSIG_FORMATS] = {
	CSIG_TPID_COMPACT_DEFAULT, CSIG_TPID_EXPANDED_DEFAULT,
};

/* every 16 bit pattern is a compact tag and must come back */
static void wire_compact(void)
{
	struct csig_tag tag;
	__u8 in[2], out[2];
	unsigned int v;

	for (v = 0; v <= 0xffff; v++) {
		csig_put16(in, v);
		csig_decode(CSIG_FORMAT_COMPACT, in, &tag);
		CHECK(((unsigned int)tag.t << 13 | tag.r << 12 | tag.s << 7 |
		       tag.lm) == v && tag.t < 8 && tag.r < 2 && tag.s < 32 &&
		      tag.lm < 128, "%04x", v);
		csig_encode(&tag, out);
		CHECK(!memcmp(in, out, sizeof(in)), "%04x", v);
	}
}

static void wire_expanded(void)
{
	struct csig_tag tag, again;
	__u8 in[6] = { 0 }, out[6];
	unsigned int i, j;

	for (i = 0; i < 500000; i++) {
		__u64 v = i < 48 ? 1ULL << i : rnd() >> 16;

		for (j = 0; j < sizeof(in); j++)
			in[j] = v >> (40 - 8 * j);
		csig_decode(CSIG_FORMAT_EXPANDED, in, &tag);
		CHECK(((__u64)tag.lm << 32 | (__u64)tag.t << 28 |
		       (__u64)tag.s << 8 | tag.r) == v && tag.t < 16 &&
		      tag.s < 1 << 20, "%012llx", (unsigned long long)v);
		csig_encode(&tag, out);
		CHECK(!memcmp(in, out, sizeof(in)), "%012llx",
		      (unsigned long long)v);
	}
	/* fields that are too wide do not spill into their neighbours */
	memset(&tag, 0xff, sizeof(tag));
	tag.format = CSIG_FORMAT_EXPANDED;
	tag.lm = 0;
	tag.r = 0;
	csig_encode(&tag, out);
	csig_decode(CSIG_FORMAT_EXPANDED, out, &again);
	CHECK(!again.lm && !again.r && again.t == 15 && again.s == 0xfffff,
	      "wide t and s");
	memset(&tag, 0xff, sizeof(tag));
	tag.format = CSIG_FORMAT_COMPACT;
	tag.t = 8;
	tag.s = 32;
	tag.r = 2;
	csig_encode(&tag, out);
	CHECK_EQ(csig_get16(out), 0x7fU, "wide t, r, s and lm");
}

static void wire_layout(void)
{
	const struct csig_layout *c = csig_layout(CSIG_FORMAT_COMPACT);
	const struct csig_layout *x = csig_layout(CSIG_FORMAT_EXPANDED);

	CHECK(c->len == 4 && c->t_max == 7 && c->s_max == 31 &&
	      c->lm_max == 127 && c->lm_bits == 7, "compact");
	CHECK(x->len == 8 && x->t_max == 15 && x->s_max == 0xfffff &&
	      x->lm_max == 0xffff && x->lm_bits == 16, "expanded");
}

static void wire_ethertypes(void)
{
	static const __u16 in_use[] = {
		0x0800, 0x0806, 0x86dd, 0x8100, 0x9100, 0x88e5, 0x8847, 0x8848,
		0x88cc, 0x8808, 0x8809, 0x888e, 0x22e7, 0x22e9,
	};
	static const __u16 control[] = {
		0x8808, 0x8809, 0x888e, 0x88cc, 0x88f5, 0x88f7, 0x8902, 0x22e7,
	};
	static const __u16 data[] = {
		0x0800, 0x0806, 0x86dd, 0x8847, 0x8848, 0x88e5, 0x22e9, 0x0600,
	};
	__u8 dst[6] = { 0x01, 0x80, 0xc2, 0, 0, 0 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(in_use); i++)
		CHECK(csig_tpid_refused(in_use[i], false) &&
		      csig_tpid_refused(in_use[i], true), "%04x", in_use[i]);
	for (i = 0; i < 0x600; i++)
		CHECK(csig_tpid_refused(i, true) &&
		      csig_ethertype_is_control(i), "%04x", i);
	CHECK(csig_tpid_refused(0x88a8, false) &&
	      !csig_tpid_refused(0x88a8, true), "software assist");
	CHECK(!csig_tpid_refused(0x9900, false) &&
	      !csig_tpid_refused(0xccdd, false) &&
	      !csig_tpid_refused(0x0600, false) &&
	      !csig_tpid_refused(0xffff, false), "free TPIDs");
	for (i = 0; i < ARRAY_SIZE(control); i++)
		CHECK(csig_ethertype_is_control(control[i]), "%04x", control[i]);
	for (i = 0; i < ARRAY_SIZE(data); i++)
		CHECK(!csig_ethertype_is_control(data[i]), "%04x", data[i]);
	for (i = 0; i < 256; i++) {
		dst[5] = i;
		CHECK(csig_dst_is_link_local(dst) == (i < 16), "%02x", i);
	}
	for (i = 0, dst[5] = 2; i < 5; i++) {
		dst[i] ^= 0x10;
		CHECK(!csig_dst_is_link_local(dst), "octet %u", i);
		dst[i] ^= 0x10;
	}
}

const struct test tests_wire[] = {
	{ "wire: compact, every pattern", wire_compact },
	{ "wire: expanded, there and back", wire_expanded },
	{ "wire: widths", wire_layout },
	{ "wire: EtherTypes and link-local addresses", wire_ethertypes },
	{}
};

/* A frame as a list of types, and what a walk over it must say. */
struct built {
	__u8 octets[80];
	unsigned int len;	/* of all L2 octets with the final type */
	unsigned int offset;
	unsigned int cntag;	/* 0 without a CN-TAG */
	unsigned int tag_len;	/* 0 without a tag */
	unsigned int vlans;
	__u16 inner;
};

static void put_type(struct built *b, __u16 type, unsigned int more)
{
	unsigned int i;

	csig_put16(b->octets + b->len, type);
	b->len += 2;
	for (i = 0; i < more; i++)
		b->octets[b->len++] = rnd();
}

/* At most max VLAN tags, perhaps a CN-TAG, perhaps a tag, a final type. */
static void build(struct built *b, unsigned int max_vlans)
{
	static const __u16 vlan[] = { 0x8100, 0x88a8, 0x9100 };
	static const __u16 final[] = {
		0x0800, 0x86dd, 0x8847, 0x88e5, 0x0806, 0x0026, 0x05dc, 0x0000,
	};
	unsigned int tag = rnd_below(3), i;

	memset(b, 0, sizeof(*b));
	for (i = 0; i < CSIG_MACS_LEN; i++)
		b->octets[b->len++] = rnd();
	b->vlans = rnd_below(max_vlans + 1);
	for (i = 0; i < b->vlans; i++)
		put_type(b, vlan[rnd_below(3)], 2);
	if (rnd() & 1) {
		b->cntag = b->len;
		put_type(b, CSIG_ETH_CNTAG, 2);
	}
	b->offset = b->len;
	if (tag) {
		b->tag_len = csig_layout(tag - 1)->len;
		put_type(b, tpids[tag - 1], b->tag_len - 2);
	}
	b->inner = final[rnd_below(8)];
	put_type(b, b->inner, 0);
}

/* Walk over a copy that ends where the readable octets end. */
static int walk_exact(const __u8 *frame, unsigned int len,
		      unsigned int outside, struct csig_walk *w)
{
	__u8 *copy = malloc(len ? len : 1);
	int status;

	if (!copy)
		abort();
	memcpy(copy, frame, len);
	status = csig_walk(len ? copy : copy + 1, len, tpids, outside, w);
	free(copy);
	return status;
}

static void walk_built(void)
{
	struct csig_walk w;
	struct built b;
	unsigned int i, len, outside;

	for (i = 0; i < 20000; i++) {
		outside = rnd() & 1;
		build(&b, CSIG_VLANS_MAX - outside);
		CHECK(b.len <= CSIG_WALK_LEN, "%u octets", b.len);
		for (len = 0; len < b.len; len++)
			CHECK_EQ(walk_exact(b.octets, len, outside, &w),
				 CSIG_WALK_MALFORMED, "cut at %u of %u", len,
				 b.len);
		for (; len <= b.len + 3; len++) {
			CHECK_EQ(walk_exact(b.octets, len, outside, &w),
				 b.tag_len ? CSIG_WALK_TAG : CSIG_WALK_NONE,
				 "%u VLANs, %u octets", b.vlans, len);
			CHECK_EQ(w.offset, b.offset, "%u octets", len);
			CHECK_EQ(w.inner, b.inner, "%u octets", len);
			CHECK_EQ(w.vlans, b.vlans, "%u octets", len);
			CHECK_EQ(w.cntag, b.cntag, "%u octets", len);
			if (b.tag_len)
				CHECK_EQ(w.format, b.tag_len == 8U, "format");
		}
	}
}

static void walk_malformed(void)
{
	static const __u16 bad[] = { 0x9900, 0xccdd, 0x8100, 0x88a8, 0x9100 };
	struct csig_walk w;
	struct built b;
	unsigned int i, len;

	/* a VLAN tag or another CSIG tag after the tag */
	for (i = 0; i < 20000; i++) {
		build(&b, CSIG_VLANS_MAX);
		if (!b.tag_len)
			continue;
		csig_put16(b.octets + b.offset + b.tag_len, bad[i % 5]);
		CHECK_EQ(walk_exact(b.octets, sizeof(b.octets), 0, &w),
			 CSIG_WALK_MALFORMED, "%04x after the tag", bad[i % 5]);
	}
	/* one VLAN tag too many, all in the octets or one outside */
	for (i = 0; i < 2; i++) {
		memset(&b, 0, sizeof(b));
		b.len = CSIG_MACS_LEN;
		while (b.vlans++ < CSIG_VLANS_MAX + 1 - i)
			put_type(&b, CSIG_ETH_8021Q, 2);
		put_type(&b, CSIG_ETH_IPV4, 0);
		CHECK_EQ(walk_exact(b.octets, b.len, i, &w),
			 CSIG_WALK_MALFORMED, "%u outside", i);
	}
	/* a second CN-TAG ends the walk */
	memset(&b, 0, sizeof(b));
	b.len = CSIG_MACS_LEN;
	put_type(&b, CSIG_ETH_CNTAG, 2);
	put_type(&b, CSIG_ETH_CNTAG, 2);
	put_type(&b, tpids[0], 2);
	put_type(&b, CSIG_ETH_IPV4, 0);
	CHECK_EQ(walk_exact(b.octets, b.len, 0, &w), CSIG_WALK_NONE, "CN-TAGs");
	CHECK(w.cntag == CSIG_MACS_LEN && w.inner == CSIG_ETH_CNTAG, "CN-TAGs");
	/* nothing but noise: no read beyond the end, whatever the answer */
	for (i = 0; i < 200000; i++) {
		for (len = 0; len < sizeof(b.octets); len++)
			b.octets[len] = rnd();
		len = CSIG_MACS_LEN;
		while (len < sizeof(b.octets) - 2 && rnd() & 7) {
			csig_put16(b.octets + len, rnd() & 1 ? bad[rnd() % 5] :
				   CSIG_ETH_CNTAG);
			len += rnd() & 3 ? 4 : 8;
		}
		len = rnd_below(sizeof(b.octets) + 1);
		walk_exact(b.octets, len, 0, &w);
		CHECK(w.status == CSIG_WALK_MALFORMED ||
		      w.offset + 2u <= len, "offset %u of %u", w.offset, len);
	}
}

const struct test tests_walk[] = {
	{ "walk: built frames, cut at every length", walk_built },
	{ "walk: malformed frames and noise", walk_malformed },
	{}
};
