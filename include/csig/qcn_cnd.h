/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The congestion notification domain of QCN (IEEE 802.1Qau): what a port does with the
 * priorities of the domain, and how neighbours agree on it by LLDP.  Pure C; sending and
 * receiving LLDP is somebody else's.
 */
#ifndef CSIG_QCN_CND_H
#define CSIG_QCN_CND_H

#include <csig/qcn.h>
#include <csig/wire.h>
#include <linux/qcn.h>

#define QCN_CNPVS_MAX		7	/* one is left for all others */

/* Congestion notification TLV: type 127, length 6, OUI 00-80-C2, subtype 8, two octets */
#define QCN_TLV_LEN		8	/* with type and length */
#define QCN_TLV_TYPE		127
#define QCN_TLV_TYPE_SHIFT	9
#define QCN_TLV_INFO_LEN	6
#define QCN_TLV_INFO_MASK	0x1ff
#define QCN_TLV_AT_CNPV		6
#define QCN_TLV_AT_READY	7

/**
 * struct qcn_mode_rules - what a mode means
 * @cnpv: the priority is one of the domain's
 * @remap: incoming frames of it get the alternate priority
 * @strip: outgoing frames of it lose their CN-TAG
 * @tag: a host may add CN-TAGs
 * @ready: the neighbour is told that this port does not remap
 */
struct qcn_mode_rules {
	bool cnpv;
	bool remap;
	bool strip;
	bool tag;
	bool ready;
};

/**
 * qcn_mode_rules() - look a mode up
 * @mode: enum qcn_defence, in force
 *
 * Return: its row; that of QCN_DEFENCE_DISABLED for what can't be in force
 */
static inline const struct qcn_mode_rules *qcn_mode_rules(unsigned int mode)
{
	static const struct qcn_mode_rules rules[] = {
		[QCN_DEFENCE_DISABLED] = { .cnpv = false },
		[QCN_DEFENCE_EDGE] = { .cnpv = true, .remap = true,
				       .strip = true },
		[QCN_DEFENCE_INTERIOR] = { .cnpv = true, .strip = true,
					   .ready = true },
		[QCN_DEFENCE_INTERIOR_READY] = { .cnpv = true, .tag = true,
						 .ready = true },
	};

	return &rules[mode < QCN_DEFENCE_AUTO ? mode : QCN_DEFENCE_DISABLED];
}

/**
 * struct qcn_tlv - congestion notification TLV
 * @cnpvs: priorities of the domain, bit n for priority n
 * @ready: priorities that are not remapped, likewise
 */
struct qcn_tlv {
	__u8 cnpvs;
	__u8 ready;
};

/**
 * qcn_cnpvs_valid() - can these be the priorities of a domain?
 * @cnpvs: bit n for priority n
 *
 * Return: false when no priority is left for other traffic
 */
static inline bool qcn_cnpvs_valid(__u8 cnpvs)
{
	return cnpvs != 0xff;
}

/**
 * qcn_alternate() - priority that an edge port remaps to
 * @cnpvs: priorities of the domain
 * @priority: one of them
 *
 * Return: the next lower one that is none of them, else the next higher; -1 when
 * there is none
 */
static inline int qcn_alternate(__u8 cnpvs, unsigned int priority)
{
	int p;

	for (p = (int)priority - 1; p >= 0; p--)
		if (!qcn_has(cnpvs, (unsigned int)p))
			return p;
	for (p = (int)priority + 1; p < QCN_PRIORITIES; p++)
		if (!qcn_has(cnpvs, (unsigned int)p))
			return p;
	return -1;
}

/**
 * qcn_remap_allowed() - may a port change priorities like this?
 * @cnpvs: priorities of the domain
 * @from: priority of incoming frames
 * @to: priority that they would get
 *
 * Return: false when other traffic would get a priority of the domain
 */
static inline bool qcn_remap_allowed(__u8 cnpvs, unsigned int from,
				     unsigned int to)
{
	return from == to || !qcn_has(cnpvs, to);
}

/**
 * qcn_tlv_encode() - write the TLV
 * @t: fields
 * @tlv: room for QCN_TLV_LEN octets
 */
static inline void qcn_tlv_encode(const struct qcn_tlv *t, __u8 *tlv)
{
	csig_put16(tlv, QCN_TLV_TYPE << QCN_TLV_TYPE_SHIFT | QCN_TLV_INFO_LEN);
	tlv[2] = 0x00;
	tlv[3] = 0x80;
	tlv[4] = 0xc2;
	tlv[5] = 8;
	tlv[QCN_TLV_AT_CNPV] = t->cnpvs;
	tlv[QCN_TLV_AT_READY] = t->ready;
}

/**
 * qcn_tlv_decode() - read one TLV
 * @tlv: type and length, then the information
 * @len: octets that may be read
 * @t: filled in
 *
 * As 802.1AB has it, what follows in a longer one is of a later version and ignored.
 *
 * Return: false when it is another one, or cut
 */
static inline bool qcn_tlv_decode(const __u8 *tlv, unsigned int len,
				  struct qcn_tlv *t)
{
	unsigned int info;
	__u16 head;

	if (len < QCN_TLV_LEN)
		return false;
	head = csig_get16(tlv);
	info = head & QCN_TLV_INFO_MASK;
	if (head >> QCN_TLV_TYPE_SHIFT != QCN_TLV_TYPE ||
	    info < QCN_TLV_INFO_LEN || info > len - 2 || tlv[2] != 0x00 ||
	    tlv[3] != 0x80 || tlv[4] != 0xc2 || tlv[5] != 8)
		return false;
	t->cnpvs = tlv[QCN_TLV_AT_CNPV];
	t->ready = tlv[QCN_TLV_AT_READY];
	return true;
}

/**
 * qcn_mode_auto() - mode that follows from what the neighbour says
 * @neighbour: its TLV, NULL when there is none (any more)
 * @priority: of the domain, 0..7
 *
 * Return: enum qcn_defence, from edge to interior-ready
 */
static inline unsigned int qcn_mode_auto(const struct qcn_tlv *neighbour,
					 unsigned int priority)
{
	if (!neighbour || !qcn_has(neighbour->cnpvs, priority))
		return QCN_DEFENCE_EDGE;
	return qcn_has(neighbour->ready, priority) ?
	       QCN_DEFENCE_INTERIOR_READY : QCN_DEFENCE_INTERIOR;
}

#endif /* CSIG_QCN_CND_H */
