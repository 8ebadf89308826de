// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of qcn_cnd.h: the TLV of LLDP there and back and cut at every length, alternate
 * priorities of all domains, the table of modes, two ports that agree.
 */
#include <csig/qcn_cnd.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"

static void cnd_tlv(void)
{
	struct qcn_tlv t = { .cnpvs = 0x28, .ready = 0x08 }, back;
	__u8 tlv[QCN_TLV_LEN + 2], *copy;
	unsigned int i, len;

	memset(tlv, 0xee, sizeof(tlv));
	qcn_tlv_encode(&t, tlv);
	CHECK(!memcmp(tlv, "\xfe\x06\x00\x80\xc2\x08\x28\x08\xee", 9), "octets");
	for (len = 0; len <= sizeof(tlv); len++) {
		copy = malloc(len ? len : 1);
		if (!copy)
			abort();
		memcpy(copy, tlv, len);
		back = (struct qcn_tlv){};
		CHECK_EQ(qcn_tlv_decode(copy, len, &back), len >= 8, "%u octets",
			 len);
		free(copy);
	}
	CHECK(back.cnpvs == 0x28 && back.ready == 0x08, "there and back");
	/* type, length, OUI, subtype of another TLV */
	for (i = 0; i < 6 * 8; i++) {
		tlv[i / 8] ^= 1 << i % 8;
		/* a longer one must be all there */
		CHECK(!qcn_tlv_decode(tlv, 8, &back), "bit %u", i);
		tlv[i / 8] ^= 1 << i % 8;
	}
	tlv[1] = 8;
	CHECK(qcn_tlv_decode(tlv, 10, &back) && !qcn_tlv_decode(tlv, 9, &back),
	      "of a later version");
}

static void cnd_priorities(void)
{
	unsigned int cnpvs, p, from, to;
	int alt, want, i;

	CHECK(qcn_has(0x80, 7) && !qcn_has(0x7f, 7) && !qcn_has(0xff, 8) &&
	      !qcn_has(0xff, 32) && !qcn_has(0xff, ~0U), "sets");
	CHECK_EQ(qcn_alternate(0x20, 5), 4, "the next lower one");
	CHECK_EQ(qcn_alternate(0x38, 5), 2, "that is none of them");
	CHECK_EQ(qcn_alternate(0x01, 0), 1, "else the next higher");
	CHECK_EQ(qcn_alternate(0x7f, 3), 7, "the only one");
	CHECK_EQ(qcn_alternate(0xfe, 7), 0, "the only one");
	CHECK(qcn_alternate(0xff, 4) == -1 && !qcn_cnpvs_valid(0xff), "none");
	for (cnpvs = 0; cnpvs < 0xff; cnpvs++) {
		CHECK(qcn_cnpvs_valid(cnpvs), "%02x", cnpvs);
		CHECK(__builtin_popcount(cnpvs) <= QCN_CNPVS_MAX, "%02x", cnpvs);
		for (p = 0; p < 8; p++) {
			if (!(cnpvs >> p & 1))
				continue;
			want = -1;
			for (i = 7; i > (int)p; i--)
				if (!(cnpvs >> i & 1))
					want = i;
			for (i = 0; i < (int)p; i++)
				if (!(cnpvs >> i & 1))
					want = i;
			alt = qcn_alternate(cnpvs, p);
			CHECK_EQ(alt, want, "%u of %02x", p, cnpvs);
			CHECK(qcn_remap_allowed(cnpvs, p, alt), "%u", p);
		}
		for (from = 0; from < 8; from++)
			for (to = 0; to < 8; to++)
				CHECK_EQ(qcn_remap_allowed(cnpvs, from, to),
					 from == to || !(cnpvs >> to & 1),
					 "%u to %u, %02x", from, to, cnpvs);
	}
}

static void cnd_modes(void)
{
	static const struct {
		unsigned int mode;
		const char *rules;	/* cnpv remap strip tag ready */
	} want[] = {
		{ QCN_DEFENCE_DISABLED,	   "-----" },
		{ QCN_DEFENCE_EDGE,	   "crs--" },
		{ QCN_DEFENCE_INTERIOR,	   "c-s-r" },
		{ QCN_DEFENCE_INTERIOR_READY, "c--tr" },
		{ QCN_DEFENCE_AUTO,	   "-----" },
		{ ~0U,			   "-----" },
	};
	struct qcn_tlv t = { .cnpvs = 0x30, .ready = 0x28 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(want); i++) {
		const struct qcn_mode_rules *r = qcn_mode_rules(want[i].mode);
		const char *w = want[i].rules;

		CHECK(r->cnpv == (w[0] != '-') && r->remap == (w[1] != '-') &&
		      r->strip == (w[2] != '-') && r->tag == (w[3] != '-') &&
		      r->ready == (w[4] != '-'), "mode %u", want[i].mode);
	}
	/* starts at the edge, follows the neighbour, falls back without it */
	CHECK_EQ(qcn_mode_auto(NULL, 5), QCN_DEFENCE_EDGE, "no neighbour");
	CHECK_EQ(qcn_mode_auto(&t, 4), QCN_DEFENCE_INTERIOR, "in its domain");
	CHECK_EQ(qcn_mode_auto(&t, 5), QCN_DEFENCE_INTERIOR_READY, "and ready");
	CHECK_EQ(qcn_mode_auto(&t, 3), QCN_DEFENCE_EDGE, "ready for what is not in it");
	CHECK_EQ(qcn_mode_auto(&t, 0), QCN_DEFENCE_EDGE, "not in its domain");
	CHECK_EQ(qcn_mode_auto(&t, 12), QCN_DEFENCE_EDGE, "no priority");
}

/* Two ports that follow each other arrive, and only then tags may be added. */
static void cnd_agree(void)
{
	unsigned int mode[2] = { QCN_DEFENCE_EDGE, QCN_DEFENCE_EDGE }, round, i;
	__u8 wire[2][QCN_TLV_LEN];
	struct qcn_tlv t;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < 2; i++) {
			t.cnpvs = qcn_mode_rules(mode[i])->cnpv << 5;
			t.ready = qcn_mode_rules(mode[i])->ready << 5;
			qcn_tlv_encode(&t, wire[i]);
		}
		for (i = 0; i < 2; i++) {
			CHECK(qcn_tlv_decode(wire[!i], QCN_TLV_LEN, &t), "TLV");
			mode[i] = qcn_mode_auto(&t, 5);
		}
		CHECK_EQ(mode[0], round ? QCN_DEFENCE_INTERIOR_READY :
			 QCN_DEFENCE_INTERIOR, "round %u", round);
		CHECK_EQ(mode[1], mode[0], "round %u", round);
	}
}

const struct test tests_qcn_cnd[] = {
	{ "qcn cnd: LLDP", cnd_tlv },
	{ "qcn cnd: alternate priorities", cnd_priorities },
	{ "qcn cnd: modes", cnd_modes },
	{ "qcn cnd: neighbours agree", cnd_agree },
	{}
};
