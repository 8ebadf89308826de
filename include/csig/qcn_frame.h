/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames of QCN (IEEE 802.1Qau) on the wire: the CN-TAG, which frames a congestion point
 * may answer, the CNM written and read.  Pure C.  What the numbers in a CNM mean is
 * qcn.h, who may tag is qcn_cnd.h.
 *
 *  CN-TAG  22E9 | RPID16                 after VLAN tags, before the original EtherType
 *
 *  CNM     DA, SA, perhaps a VLAN tag, CN-TAG, 22E7, then the PDU:
 *   0  Version4 = 0, ReservedV6 = 0, QntzFb6
 *   2  CPID, 8 octets
 *  10  cnmQOffset, signed, in units of 64 octets
 *  12  cnmQDelta, likewise
 *  14  priority of the sampled frame, in the upper 3 bits
 *  16  destination of the sampled frame
 *  22  n, 0..64
 *  24  n octets of the sampled frame, from the EtherType after VLAN and CN-TAG
 */
#ifndef CSIG_QCN_FRAME_H
#define CSIG_QCN_FRAME_H

#include <csig/qcn.h>
#include <csig/walk.h>

#define QCN_MAC_LEN		6
#define QCN_CPID_LEN		8
#define QCN_CNM_MSDU_MAX	64
#define QCN_CNM_MSDU_DEF	64	/* cpMinHeaderOctets; the MIB's default is 0 */
#define QCN_CNM_PRIORITY_DEF	6
#define QCN_CNM_UNIT_BYTES	64	/* of cnmQOffset and cnmQDelta */
#define QCN_CNM_VERSION		0

/* Places in the PDU */
#define QCN_CNM_AT_FB		0
#define QCN_CNM_AT_CPID		2
#define QCN_CNM_AT_QOFFSET	10
#define QCN_CNM_AT_QDELTA	12
#define QCN_CNM_AT_PRIORITY	14
#define QCN_CNM_AT_DST		16
#define QCN_CNM_AT_MSDU_LEN	22
#define QCN_CNM_AT_MSDU		24

#define QCN_CNM_PDU_MIN		QCN_CNM_AT_MSDU
#define QCN_CNM_PDU_MAX		(QCN_CNM_AT_MSDU + QCN_CNM_MSDU_MAX)
#define QCN_CNM_FRAME_MAX	(CSIG_MACS_LEN + CSIG_VLAN_LEN + \
				 CSIG_CNTAG_LEN + 2 + QCN_CNM_PDU_MAX)

#define QCN_PCP_SHIFT		13
#define QCN_VID_MASK		0x0fff

/* Where the source address of a CNM comes from */
enum qcn_cnm_source {
	QCN_CNM_SOURCE_CP,		/* the congestion point's own */
	QCN_CNM_SOURCE_DESTINATION,	/* destination of the sampled frame */
};

/* What cnmQOffset is */
enum qcn_cnm_qoffset {
	QCN_CNM_QOFFSET_STANDARD,	/* Qeq - Q */
	QCN_CNM_QOFFSET_SEED,		/* Q - Qeq */
};

/**
 * struct qcn_frame - what QCN has to know of a frame
 * @dst: destination address
 * @src: source address
 * @vlan_tpid: TPID of the outer VLAN tag, 0 without one
 * @vlan_tci: and its PCP, DEI and VID
 * @rpid: of the CN-TAG, 0 without one
 * @inner: final EtherType or length
 * @cntag: offset of the CN-TAG, 0 without one
 * @msdu: offset of what comes after VLAN tags and CN-TAG; a CN-TAG would go there
 */
struct qcn_frame {
	__u8 dst[QCN_MAC_LEN];
	__u8 src[QCN_MAC_LEN];
	__u16 vlan_tpid;
	__u16 vlan_tci;
	__u16 rpid;
	__u16 inner;
	__u8 cntag;
	__u8 msdu;
};

/**
 * struct qcn_cnm_params - settings of a congestion point's CNMs
 * @mac: address of the port or bridge
 * @cpid: name of the congestion point, see qcn_cpid()
 * @source: enum qcn_cnm_source
 * @qoffset: enum qcn_cnm_qoffset
 * @priority: PCP of CNMs, 0..7, not a CNPV
 * @msdu_max: octets of the sampled frame in a CNM, 0..QCN_CNM_MSDU_MAX
 */
struct qcn_cnm_params {
	__u8 mac[QCN_MAC_LEN];
	__u8 cpid[QCN_CPID_LEN];
	__u8 source;
	__u8 qoffset;
	__u8 priority;
	__u8 msdu_max;
};

/**
 * struct qcn_cnm - a received CNM
 * @version: QCN_CNM_VERSION; others are no reason to refuse it
 * @qntzfb: feedback, 0..QCN_FB_MAX
 * @cpid: name of the congestion point
 * @qoffset: in units of 64 octets; the sender chose its sign (enum qcn_cnm_qoffset)
 * @qdelta: Q - Qold, in units of 64 octets
 * @priority: of the sampled frame
 * @dst: destination of the sampled frame
 * @msdu_len: octets of the sampled frame, at QCN_CNM_AT_MSDU of the PDU
 */
struct qcn_cnm {
	__u8 version;
	__u8 qntzfb;
	__u8 cpid[QCN_CPID_LEN];
	__s16 qoffset;
	__s16 qdelta;
	__u8 priority;
	__u8 dst[QCN_MAC_LEN];
	__u8 msdu_len;
};

static inline bool qcn_mac_is_group(const __u8 *mac)
{
	return mac[0] & 1;
}

static inline bool qcn_mac_eq(const __u8 *a, const __u8 *b)
{
	unsigned int i, diff = 0;

	for (i = 0; i < QCN_MAC_LEN; i++)
		diff |= a[i] ^ b[i];
	return !diff;
}

static inline __u8 qcn_pcp(__u16 tci)
{
	return (__u8)(tci >> QCN_PCP_SHIFT);
}

/**
 * qcn_cntag_encode() - write a CN-TAG
 * @rpid: name of the flow, 0 for all of the priority
 * @tag: room for CSIG_CNTAG_LEN octets
 */
static inline void qcn_cntag_encode(__u16 rpid, __u8 *tag)
{
	csig_put16(tag, CSIG_ETH_CNTAG);
	csig_put16(tag + 2, rpid);
}

/**
 * qcn_cpid() - name of a congestion point
 * @mac: of the port or bridge
 * @port: number of the port on it; 13 bits are told apart
 * @priority: of the queue
 * @cpid: filled in: address, lower 8 bits of @port, then the others and 3 bits of
 *	@priority
 */
static inline void qcn_cpid(const __u8 *mac, __u32 port, __u8 priority,
			    __u8 *cpid)
{
	__builtin_memcpy(cpid, mac, QCN_MAC_LEN);
	cpid[6] = (__u8)port;
	cpid[7] = (__u8)((port >> 8) << 3 | (priority & 7));
}

/**
 * qcn_frame_parse() - look at the L2 header of a frame
 * @frame: first octet of the destination address
 * @len: octets that may be read; all of the frame or at least CSIG_WALK_LEN
 * @tpid: of CSIG tags, see csig_walk(); NULL when none are expected
 * @tpid_outside: TPID of a VLAN tag that is not in those octets, 0 without one
 * @tci_outside: and its PCP, DEI and VID
 * @f: filled in
 *
 * Return: false for a malformed header, which QCN leaves alone
 */
static inline bool qcn_frame_parse(const __u8 *frame, unsigned int len,
				   const __u16 tpid[CSIG_FORMATS],
				   __u16 tpid_outside, __u16 tci_outside,
				   struct qcn_frame *f)
{
	/* an EtherType that is reserved */
	static const __u16 none[CSIG_FORMATS] = { 0xffff, 0xffff };
	struct csig_walk w;
	__u16 type;

	if (csig_walk(frame, len, tpid ? tpid : none, !!tpid_outside, &w) ==
	    CSIG_WALK_MALFORMED)
		return false;
	__builtin_memcpy(f->dst, frame, QCN_MAC_LEN);
	__builtin_memcpy(f->src, frame + QCN_MAC_LEN, QCN_MAC_LEN);
	f->vlan_tpid = tpid_outside;
	f->vlan_tci = tci_outside;
	if (!tpid_outside && w.vlans) {
		type = csig_get16(frame + CSIG_MACS_LEN);
		/* else it comes after the CN-TAG: not ours to echo */
		if (type != CSIG_ETH_CNTAG) {
			f->vlan_tpid = type;
			f->vlan_tci = csig_get16(frame + CSIG_MACS_LEN + 2);
		}
	}
	f->rpid = w.cntag ? csig_get16(frame + w.cntag + 2) : 0;
	f->inner = w.inner;
	f->cntag = w.cntag;
	f->msdu = w.offset;
	return true;
}

/**
 * qcn_frame_answerable() - may a CNM go to the sender of this frame?
 * @f: frame
 * @own: address of the port or bridge that would send it
 * @cnpvs: priorities with congestion notification, bit n for priority n
 * @priority: of the frame, 0..7
 *
 * Never for CNMs, link-local frames, other priorities, or when the sender is a group
 * or ourselves.
 *
 * Return: true when the frame may be sampled
 */
static inline bool qcn_frame_answerable(const struct qcn_frame *f,
					const __u8 *own, __u8 cnpvs,
					__u8 priority)
{
	return f->inner != CSIG_ETH_CNM && !qcn_mac_is_group(f->src) &&
	       !qcn_mac_eq(f->src, own) && !csig_dst_is_link_local(f->dst) &&
	       qcn_has(cnpvs, priority);
}

/**
 * qcn_cnm_units() - queue length as it fits into a CNM
 * @bytes: signed
 *
 * Return: @bytes / 64 towards 0, saturating at the ends of 16 bits
 */
static inline __s16 qcn_cnm_units(__s64 bytes)
{
	/* unsigned: BPF has no other division */
	__u64 units = (bytes < 0 ? 0 - (__u64)bytes : (__u64)bytes) /
		      QCN_CNM_UNIT_BYTES;

	if (bytes < 0)
		return units > 0x8000 ? -0x8000 : (__s16)-(__s32)units;
	return units > 0x7fff ? 0x7fff : (__s16)units;
}

/* TCI of a CNM: the VLAN of the sampled frame, never eligible to be dropped first */
static inline __u16 qcn_cnm_tci(__u16 tci, __u8 priority)
{
	return (__u16)((tci & QCN_VID_MASK) | (priority & 7) << QCN_PCP_SHIFT);
}

/**
 * qcn_cnm_encode() - write a CNM
 * @p: settings
 * @f: the sampled frame; with vlan_tpid 0 the CNM has no VLAN tag in its octets
 * @priority: of the sampled frame, 0..7
 * @s: what the sample found
 * @msdu: first octets of the sampled frame after VLAN tags and CN-TAG
 * @msdu_len: how many there are; no more than @p allows are taken
 * @cnm: room for QCN_CNM_FRAME_MAX octets
 *
 * Return: octets of the frame, CSIG_FRAME_MIN_BYTES..QCN_CNM_FRAME_MAX
 */
static inline unsigned int qcn_cnm_encode(const struct qcn_cnm_params *p,
					  const struct qcn_frame *f,
					  __u8 priority,
					  const struct qcn_sample *s,
					  const __u8 *msdu, unsigned int msdu_len,
					  __u8 *cnm)
{
	bool own = p->source == QCN_CNM_SOURCE_CP || qcn_mac_is_group(f->dst);
	__s64 qoff = p->qoffset == QCN_CNM_QOFFSET_STANDARD ? -s->qoff_bytes :
							      s->qoff_bytes;
	unsigned int max = p->msdu_max, i;
	__u8 *pos = cnm + CSIG_MACS_LEN;

	if (max > QCN_CNM_MSDU_MAX)
		max = QCN_CNM_MSDU_MAX;
	if (msdu_len > max)
		msdu_len = max;

	__builtin_memset(cnm, 0, QCN_CNM_FRAME_MAX);
	__builtin_memcpy(cnm, f->src, QCN_MAC_LEN);
	__builtin_memcpy(cnm + QCN_MAC_LEN, own ? p->mac : f->dst, QCN_MAC_LEN);
	if (f->vlan_tpid) {
		csig_put16(pos, f->vlan_tpid);
		csig_put16(pos + 2, qcn_cnm_tci(f->vlan_tci, p->priority));
		pos += CSIG_VLAN_LEN;
	}
	qcn_cntag_encode(f->rpid, pos);
	pos += CSIG_CNTAG_LEN;
	csig_put16(pos, CSIG_ETH_CNM);
	pos += 2;

	csig_put16(pos + QCN_CNM_AT_FB, s->qntzfb & QCN_FB_MAX);
	__builtin_memcpy(pos + QCN_CNM_AT_CPID, p->cpid, QCN_CPID_LEN);
	csig_put16(pos + QCN_CNM_AT_QOFFSET, (__u16)qcn_cnm_units(qoff));
	csig_put16(pos + QCN_CNM_AT_QDELTA,
		   (__u16)qcn_cnm_units(s->qdelta_bytes));
	csig_put16(pos + QCN_CNM_AT_PRIORITY,
		   (__u16)((priority & 7) << QCN_PCP_SHIFT));
	__builtin_memcpy(pos + QCN_CNM_AT_DST, f->dst, QCN_MAC_LEN);
	csig_put16(pos + QCN_CNM_AT_MSDU_LEN, (__u16)msdu_len);
	pos += QCN_CNM_AT_MSDU;
	for (i = 0; i < QCN_CNM_MSDU_MAX && i < msdu_len; i++)
		pos[i] = msdu[i];
	pos += msdu_len;
	/* the rest is 0 already */
	if (pos - cnm < CSIG_FRAME_MIN_BYTES)
		return CSIG_FRAME_MIN_BYTES;
	return (unsigned int)(pos - cnm);
}

/**
 * qcn_cnm_decode() - read the PDU of a CNM
 * @pdu: octets after the EtherType 22E7
 * @len: how many there are, padding included
 * @cnm: filled in
 *
 * Return: false for a malformed one: shorter than 24 octets, n above 64 or beyond the
 * end
 */
static inline bool qcn_cnm_decode(const __u8 *pdu, unsigned int len,
				  struct qcn_cnm *cnm)
{
	__u16 n, fb;

	if (len < QCN_CNM_PDU_MIN)
		return false;
	n = csig_get16(pdu + QCN_CNM_AT_MSDU_LEN);
	if (n > QCN_CNM_MSDU_MAX || n > len - QCN_CNM_AT_MSDU)
		return false;
	fb = csig_get16(pdu + QCN_CNM_AT_FB);
	cnm->version = (__u8)(fb >> 12);
	cnm->qntzfb = fb & QCN_FB_MAX;
	__builtin_memcpy(cnm->cpid, pdu + QCN_CNM_AT_CPID, QCN_CPID_LEN);
	cnm->qoffset = (__s16)csig_get16(pdu + QCN_CNM_AT_QOFFSET);
	cnm->qdelta = (__s16)csig_get16(pdu + QCN_CNM_AT_QDELTA);
	cnm->priority = (__u8)(csig_get16(pdu + QCN_CNM_AT_PRIORITY) >>
			       QCN_PCP_SHIFT);
	__builtin_memcpy(cnm->dst, pdu + QCN_CNM_AT_DST, QCN_MAC_LEN);
	cnm->msdu_len = (__u8)n;
	return true;
}

/**
 * qcn_cnm_at() - where the PDU of a CNM begins
 * @frame: first octet of the destination address
 * @f: what qcn_frame_parse() found
 *
 * Return: offset of the octet after 22E7; 0 when the frame is no CNM, or hides one
 * behind a CSIG tag, where none may be
 */
static inline unsigned int qcn_cnm_at(const __u8 *frame,
				      const struct qcn_frame *f)
{
	if (csig_get16(frame + f->msdu) != CSIG_ETH_CNM)
		return 0;
	return f->msdu + 2U;
}

/**
 * qcn_cnm_is_for() - is a CNM for this port?
 * @f: frame, a CNM
 * @mac: the port's address
 *
 * Return: true when it was sent to that address alone
 */
static inline bool qcn_cnm_is_for(const struct qcn_frame *f, const __u8 *mac)
{
	return !qcn_mac_is_group(f->dst) && qcn_mac_eq(f->dst, mac);
}

#endif /* CSIG_QCN_FRAME_H */
