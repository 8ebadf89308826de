// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of qcn_frame.h: which frames are answered, CNMs under all settings, malformed
 * ones cut at every length.
 */
#include <csig/qcn_frame.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"

static const __u8 own[6] = { 0x02, 0, 0, 0, 0, 0xaa };
static const __u8 sender[6] = { 0x02, 0, 0, 0, 0, 0x01 };
static const __u8 receiver[6] = { 0x02, 0, 0, 0, 0, 0x02 };

/* A frame from a list of types; noise behind */
struct made {
	__u8 octets[200];
	unsigned int len;
};

static void make(struct made *m, const __u8 *dst, const __u8 *src)
{
	unsigned int i;

	for (i = 0; i < sizeof(m->octets); i++)
		m->octets[i] = rnd();
	memcpy(m->octets, dst, 6);
	memcpy(m->octets + 6, src, 6);
	m->len = 12;
}

static void add(struct made *m, __u16 value)
{
	csig_put16(m->octets + m->len, value);
	m->len += 2;
}

static struct qcn_frame parsed(const struct made *m)
{
	struct qcn_frame f;

	CHECK(qcn_frame_parse(m->octets, m->len, NULL, 0, 0, &f), "parse");
	return f;
}

static struct qcn_cnm_params settings(void)
{
	struct qcn_cnm_params p = {
		.source = QCN_CNM_SOURCE_CP,
		.qoffset = QCN_CNM_QOFFSET_STANDARD,
		.priority = QCN_CNM_PRIORITY_DEF,
		.msdu_max = QCN_CNM_MSDU_DEF,
	};

	memcpy(p.mac, own, 6);
	qcn_cpid(own, 1, 5, p.cpid);
	return p;
}

static void frame_parse(void)
{
	const __u16 tpid[CSIG_FORMATS] = { 0x9900, 0xccdd };
	struct qcn_frame f;
	struct made m;
	__u8 tag[4];

	make(&m, receiver, sender);
	add(&m, 0x0800);
	f = parsed(&m);
	CHECK(!memcmp(f.dst, receiver, 6) && !memcmp(f.src, sender, 6) &&
	      !f.vlan_tpid && !f.rpid && !f.cntag && f.msdu == 12 &&
	      f.inner == 0x0800, "plain");

	/* where a CN-TAG would go is where it is found */
	qcn_cntag_encode(0xbeef, tag);
	CHECK(!memcmp(tag, "\x22\xe9\xbe\xef", 4), "CN-TAG");
	make(&m, receiver, sender);
	add(&m, 0x8100);
	add(&m, 0xa07b);
	add(&m, 0x22e9);
	add(&m, 0xbeef);
	add(&m, 0x9900);	/* a CSIG tag belongs to the MSDU */
	add(&m, 0x1234);
	add(&m, 0x86dd);
	CHECK(qcn_frame_parse(m.octets, m.len, tpid, 0, 0, &f), "parse");
	CHECK(f.vlan_tpid == 0x8100 && f.vlan_tci == 0xa07b && f.rpid == 0xbeef &&
	      f.cntag == 16 && f.msdu == 20 && f.inner == 0x86dd, "all tags");
	f = parsed(&m);
	CHECK(f.msdu == 20 && f.inner == 0x9900, "without CSIG's TPIDs");

	/* VLAN tag outside of the octets, alone and before another one */
	make(&m, receiver, sender);
	add(&m, 0x0800);
	CHECK(qcn_frame_parse(m.octets, m.len, tpid, 0x88a8, 0xe005, &f), "parse");
	CHECK(f.vlan_tpid == 0x88a8 && f.vlan_tci == 0xe005 && f.msdu == 12,
	      "outside");
	make(&m, receiver, sender);
	add(&m, 0x8100);
	add(&m, 0x0006);
	add(&m, 0x0800);
	CHECK(qcn_frame_parse(m.octets, m.len, tpid, 0x88a8, 0xe005, &f), "parse");
	CHECK(f.vlan_tpid == 0x88a8 && f.vlan_tci == 0xe005 && f.msdu == 16,
	      "the outer one");
	f = parsed(&m);
	CHECK(f.vlan_tpid == 0x8100 && f.vlan_tci == 6, "the only one");

	/* a VLAN tag after the CN-TAG is not where the frame came from */
	make(&m, receiver, sender);
	add(&m, 0x22e9);
	add(&m, 7);
	add(&m, 0x8100);
	add(&m, 5);
	add(&m, 0x0800);
	f = parsed(&m);
	CHECK(!f.vlan_tpid && f.rpid == 7 && f.cntag == 12 && f.msdu == 20,
	      "VLAN after CN-TAG");
	for (m.len = 0; m.len < 22; m.len++)
		CHECK(!qcn_frame_parse(m.octets, m.len, NULL, 0, 0, &f),
		      "cut at %u", m.len);
}

static bool answerable(const __u8 *dst, const __u8 *src, __u16 type, __u8 cnpvs,
		       __u8 priority)
{
	struct qcn_frame f;
	struct made m;

	make(&m, dst, src);
	add(&m, type);
	f = parsed(&m);
	return qcn_frame_answerable(&f, own, cnpvs, priority);
}

static void frame_answerable(void)
{
	static const __u8 broadcast[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	static const __u8 multicast[6] = { 0x33, 0x33, 0, 0, 0, 1 };
	static const __u8 group_source[6] = { 0x03, 0, 0, 0, 0, 1 };
	__u8 link_local[6] = { 0x01, 0x80, 0xc2, 0, 0, 0 };
	struct qcn_frame f;
	struct made m;
	unsigned int i;

	CHECK(answerable(receiver, sender, 0x0800, 0x20, 5), "data");
	CHECK(answerable(multicast, sender, 0x0800, 0x20, 5), "group destination");
	CHECK(answerable(broadcast, sender, 0x0800, 0x20, 5), "broadcast");
	CHECK(!answerable(receiver, group_source, 0x0800, 0x20, 5), "group source");
	CHECK(!answerable(receiver, broadcast, 0x0800, 0x20, 5), "group source");
	CHECK(!answerable(receiver, own, 0x0800, 0x20, 5), "own source");
	CHECK(!answerable(receiver, sender, 0x22e7, 0x20, 5), "CNM");
	for (i = 0; i < 256; i++) {
		link_local[5] = i;
		CHECK_EQ(answerable(link_local, sender, 0x88cc, 0xff, 5), i > 15,
			 "01-80-c2-00-00-%02x", i);
	}
	for (i = 0; i < 8; i++) {
		CHECK_EQ(answerable(receiver, sender, 0x0800, 0x28, i),
			 i == 3 || i == 5, "priority %u", i);
		CHECK(!answerable(receiver, sender, 0x0800, 0, i), "no CNPV");
	}
	CHECK(!answerable(receiver, sender, 0x0800, 0xff, 13), "no priority");
	/* a CNM behind tags is one as well */
	make(&m, receiver, sender);
	add(&m, 0x8100);
	add(&m, 0xa007);
	add(&m, 0x22e9);
	add(&m, 1);
	add(&m, 0x22e7);
	f = parsed(&m);
	CHECK(!qcn_frame_answerable(&f, own, 0x20, 5), "tagged CNM");
}

/* A frame of 60 octets: those, then zeros */
static void check_padded(const __u8 *got, unsigned int len, const char *hex)
{
	unsigned int want_len, i;
	__u8 *want = hex_octets(hex, &want_len);

	CHECK_EQ(len, 60U, "%s", hex);
	CHECK(want_len < 60 && !memcmp(got, want, want_len), "%s", hex);
	for (i = want_len; i < 60; i++)
		CHECK_EQ(got[i], 0U, "octet %u", i);
	free(want);
}

/* Both rules for the source, both for cnmQOffset, padding, VLAN, n */
static void cnm_rules(void)
{
	struct qcn_sample s = {
		.qoff_bytes = 6400, .qdelta_bytes = -640, .qntzfb = 63,
	};
	static const __u8 msdu[80] = { 0x08, 0x00, 0x45, 0x00 };
	struct qcn_cnm_params p = settings();
	__u8 out[QCN_CNM_FRAME_MAX + 1];
	struct qcn_frame f;
	struct made m;
	unsigned int n;

	make(&m, receiver, sender);
	add(&m, 0x0800);
	f = parsed(&m);
	out[QCN_CNM_FRAME_MAX] = 0xee;
	n = qcn_cnm_encode(&p, &f, 5, &s, msdu, 4, out);
	/* DA, SA, CN-TAG, 22E7, QntzFb, CPID, Q offset and delta, priority, DA, n */
	check_padded(out, n, "0200000000010200000000aa22e9000022e7003f0200000000aa0105ff9cfff6a000020000000002000408004500");

	p.source = QCN_CNM_SOURCE_DESTINATION;
	p.qoffset = QCN_CNM_QOFFSET_SEED;
	f.rpid = 0x1234;
	f.vlan_tpid = 0x88a8;
	f.vlan_tci = 0xbabc;	/* PCP 5, DEI, VID abc */
	s.qntzfb = 1;
	n = qcn_cnm_encode(&p, &f, 5, &s, msdu, 4, out);
	check_padded(out, n, "02000000000102000000000288a8cabc22e9123422e700010200000000aa01050064fff6a000020000000002000408004500");
	/* never from a group */
	memcpy(f.dst, "\x33\x33\0\0\0\1", 6);
	n = qcn_cnm_encode(&p, &f, 5, &s, msdu, 4, out);
	CHECK(!memcmp(out + 6, own, 6), "group destination");

	/* n: what there is, what is wanted, what fits */
	n = qcn_cnm_encode(&p, &f, 5, &s, msdu, 0, out);
	CHECK(n == 60 && csig_get16(out + 44) == 0, "no MSDU");
	n = qcn_cnm_encode(&p, &f, 5, &s, msdu, 80, out);
	CHECK(n == 110 && csig_get16(out + 44) == 64, "largest");
	p.msdu_max = 200;
	n = qcn_cnm_encode(&p, &f, 5, &s, msdu, 80, out);
	CHECK(n == QCN_CNM_FRAME_MAX && csig_get16(out + 44) == 64, "too many");
	p.msdu_max = 0;
	n = qcn_cnm_encode(&p, &f, 5, &s, msdu, 80, out);
	CHECK(n == 60 && csig_get16(out + 44) == 0, "none wanted");
	p.msdu_max = 20;
	n = qcn_cnm_encode(&p, &f, 5, &s, msdu, 80, out);
	CHECK(n == 66 && csig_get16(out + 44) == 20, "some wanted");
	CHECK_EQ(out[QCN_CNM_FRAME_MAX], 0xeeu, "octet behind");
}

static void cnm_units(void)
{
	__s64 v;

	CHECK(!qcn_cnm_units(0) && !qcn_cnm_units(63) && !qcn_cnm_units(-63),
	      "below a unit");
	CHECK(qcn_cnm_units(64) == 1 && qcn_cnm_units(-64) == -1 &&
	      qcn_cnm_units(127) == 1 && qcn_cnm_units(-127) == -1, "towards 0");
	for (v = 1; v < 1LL << 62; v = v * 3 + 1) {
		CHECK_EQ(qcn_cnm_units(v), v / 64 < 32767 ? v / 64 : 32767, "%lld",
			 (long long)v);
		CHECK_EQ(-qcn_cnm_units(-v), v / 64 < 32768 ? v / 64 : 32768,
			 "-%lld", (long long)v);
	}
	CHECK(qcn_cnm_units((__s64)(1ULL << 63)) == -32768 &&
	      qcn_cnm_units((1ULL << 63) - 1) == 32767, "largest");
	CHECK(qcn_cnm_units(32767 * 64 + 63) == 32767 &&
	      qcn_cnm_units(32768 * 64) == 32767 &&
	      qcn_cnm_units(-32768 * 64 - 63) == -32768 &&
	      qcn_cnm_units(-32769 * 64) == -32768, "saturates");
}

/* Decode a copy that ends where the PDU ends. */
static bool decode_exact(const __u8 *pdu, unsigned int len, struct qcn_cnm *cnm)
{
	__u8 *copy = malloc(len ? len : 1);
	bool ok;

	if (!copy)
		abort();
	memcpy(copy, pdu, len);
	ok = qcn_cnm_decode(len ? copy : copy + 1, len, cnm);
	free(copy);
	return ok;
}

static void cnm_malformed(void)
{
	__u8 pdu[QCN_CNM_PDU_MAX + 20];
	unsigned int len, n, i;
	struct qcn_cnm cnm;

	for (n = 0; n <= 200; n++) {
		for (i = 0; i < sizeof(pdu); i++)
			pdu[i] = rnd();
		csig_put16(pdu + QCN_CNM_AT_MSDU_LEN, n);
		for (len = 0; len <= sizeof(pdu); len++)
			CHECK_EQ(decode_exact(pdu, len, &cnm),
				 len >= 24 + n && n <= 64, "n %u in %u octets", n,
				 len);
	}
	csig_put16(pdu + QCN_CNM_AT_MSDU_LEN, 0xffff);
	CHECK(!decode_exact(pdu, sizeof(pdu), &cnm), "n 65535");
	csig_put16(pdu + QCN_CNM_AT_MSDU_LEN, 0x100);
	CHECK(!decode_exact(pdu, sizeof(pdu), &cnm), "n 256");

	/* version and reserved bits say nothing, whatever they are */
	csig_put16(pdu + QCN_CNM_AT_MSDU_LEN, 10);
	csig_put16(pdu + QCN_CNM_AT_PRIORITY, 0x7fff);
	csig_put16(pdu + QCN_CNM_AT_QOFFSET, 0x8000);
	csig_put16(pdu + QCN_CNM_AT_QDELTA, 0x7fff);
	for (i = 0; i < 0x10000; i += 0x40) {
		csig_put16(pdu, i | (i >> 6 & 0x3f));
		CHECK(decode_exact(pdu, 34, &cnm) && cnm.qntzfb == (i >> 6 & 0x3f) &&
		      cnm.version == i >> 12, "%04x", i);
	}
	CHECK(cnm.priority == 3 && cnm.qoffset == -32768 && cnm.qdelta == 32767 &&
	      cnm.msdu_len == 10 &&
	      !memcmp(cnm.cpid, pdu + 2, 8) && !memcmp(cnm.dst, pdu + 16, 6),
	      "fields");
}

/* Any frame, any settings: what was written is read, and nothing else. */
static void cnm_round_trip(void)
{
	struct qcn_cnm_params p = settings();
	struct qcn_frame f, got;
	unsigned int i, len, at, want_n, msdu_len;
	__u8 out[QCN_CNM_FRAME_MAX];
	struct qcn_sample s;
	struct qcn_cnm cnm;
	struct made m;
	__u8 prio;

	for (i = 0; i < 50000; i++) {
		bool vlan = rnd() & 1, tag = rnd() & 1;

		make(&m, rnd() & 1 ? receiver : (const __u8 *)"\x33\x33\0\0\0\1",
		     sender);
		if (vlan) {
			add(&m, 0x8100);
			add(&m, rnd());
		}
		if (tag) {
			add(&m, 0x22e9);
			add(&m, rnd());
		}
		add(&m, 0x0800);
		m.len += rnd_below(120);
		f = parsed(&m);
		p.source = rnd() & 1;
		p.qoffset = rnd() & 1;
		p.priority = rnd_below(8);
		p.msdu_max = rnd_below(65);
		s.qoff_bytes = (__s64)rnd_bits(33) - (1LL << 32);
		s.qdelta_bytes = (__s64)rnd_bits(33) - (1LL << 32);
		s.qntzfb = rnd_below(64);
		prio = rnd_below(8);
		msdu_len = m.len - f.msdu;
		want_n = msdu_len < p.msdu_max ? msdu_len : p.msdu_max;

		len = qcn_cnm_encode(&p, &f, prio, &s, m.octets + f.msdu, msdu_len,
				     out);
		CHECK(len >= 60 && len <= QCN_CNM_FRAME_MAX, "%u octets", len);
		CHECK(qcn_frame_parse(out, len, NULL, 0, 0, &got), "parse");
		CHECK(qcn_cnm_is_for(&got, sender) &&
		      !qcn_cnm_is_for(&got, receiver), "destination");
		CHECK(!qcn_mac_is_group(got.src), "source");
		CHECK(got.vlan_tpid == (vlan ? 0x8100 : 0) && got.rpid == f.rpid &&
		      got.cntag, "tags");
		if (vlan)
			CHECK_EQ(got.vlan_tci, (f.vlan_tci & 0xfff) | p.priority << 13,
				 "TCI");
		at = qcn_cnm_at(out, &got);
		CHECK(at && qcn_cnm_decode(out + at, len - at, &cnm), "decode");
		CHECK(cnm.qntzfb == s.qntzfb && cnm.priority == prio &&
		      qcn_mac_eq(cnm.dst, f.dst) && cnm.msdu_len == want_n &&
		      cnm.qoffset == qcn_cnm_units(p.qoffset ? s.qoff_bytes :
						   -s.qoff_bytes) &&
		      cnm.qdelta == qcn_cnm_units(s.qdelta_bytes), "fields");
		CHECK(!memcmp(out + at + QCN_CNM_AT_MSDU, m.octets + f.msdu, want_n),
		      "MSDU");
		/* cut anywhere: no CNM, or the same */
		len = rnd_below(len);
		if (qcn_frame_parse(out, len, NULL, 0, 0, &got) &&
		    qcn_cnm_at(out, &got))
			CHECK_EQ(decode_exact(out + at, len - at, &cnm),
				 len >= at + 24 + want_n, "cut at %u", len);
	}
}

static void cnm_others(void)
{
	const __u16 tpid[CSIG_FORMATS] = { 0x9900, 0xccdd };
	struct qcn_frame f;
	struct made m;
	__u8 cpid[8];

	make(&m, receiver, sender);
	add(&m, 0x22e7);
	f = parsed(&m);
	CHECK_EQ(qcn_cnm_at(m.octets, &f), 14U, "without any tag");
	CHECK(qcn_cnm_is_for(&f, receiver) && !qcn_cnm_is_for(&f, own), "for whom");
	m.octets[0] |= 1;
	f = parsed(&m);
	CHECK(!qcn_cnm_is_for(&f, f.dst), "a group");
	make(&m, receiver, sender);
	add(&m, 0x0800);
	add(&m, 0x22e7);
	f = parsed(&m);
	CHECK_EQ(qcn_cnm_at(m.octets, &f), 0U, "data");
	make(&m, receiver, sender);
	add(&m, 0x9900);
	add(&m, 0);
	add(&m, 0x22e7);
	CHECK(qcn_frame_parse(m.octets, m.len, tpid, 0, 0, &f) &&
	      f.inner == 0x22e7, "behind a CSIG tag");
	CHECK_EQ(qcn_cnm_at(m.octets, &f), 0U, "behind a CSIG tag");

	qcn_cpid(own, 1, 5, cpid);
	CHECK(!memcmp(cpid, "\x02\0\0\0\0\xaa\x01\x05", 8), "port 1, priority 5");
	qcn_cpid(own, 0x1fff, 7, cpid);
	CHECK(!memcmp(cpid, "\x02\0\0\0\0\xaa\xff\xff", 8), "port 8191, priority 7");
	qcn_cpid(own, 256, 0, cpid);
	CHECK(!memcmp(cpid, "\x02\0\0\0\0\xaa\0\x08", 8), "port 256, priority 0");
}

const struct test tests_qcn_frame[] = {
	{ "qcn frame: L2 headers", frame_parse },
	{ "qcn frame: which frames are answered", frame_answerable },
	{ "qcn frame: CNMs under all rules", cnm_rules },
	{ "qcn frame: units of 64 octets", cnm_units },
	{ "qcn frame: malformed CNMs", cnm_malformed },
	{ "qcn frame: CNMs there and back", cnm_round_trip },
	{ "qcn frame: what is no CNM, names", cnm_others },
	{}
};
