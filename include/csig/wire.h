/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CSIG tag on the wire: both formats, encode and decode, EtherTypes.
 * Pure C; the only place that knows the bit layout.  Finding a tag in a frame is
 * walk.h, the meaning of S is coding.h.
 *
 *  compact   TPID16 | T3 R1 S5 LM7           shaped like a VLAN tag
 *  expanded  TPID16 | LM16 | T4 S20 R8
 */
#ifndef CSIG_WIRE_H
#define CSIG_WIRE_H

#include <csig/types.h>

#define CSIG_FRAME_MIN_BYTES	60	/* without the frame check sequence */

#define CSIG_TPID_COMPACT_DEFAULT	0x9900
#define CSIG_TPID_EXPANDED_DEFAULT	0xccdd

#define CSIG_TPID_LEN			2
#define CSIG_DATA_LEN_COMPACT		2	/* data fields, without the TPID */
#define CSIG_DATA_LEN_EXPANDED		6
#define CSIG_TAG_LEN_MAX		8
#define CSIG_FORMATS			2	/* enum csig_format */

/* EtherTypes that the walk, the push or the TPID check must know. */
#define CSIG_ETH_802_3_MIN		0x0600
#define CSIG_ETH_IPV4			0x0800
#define CSIG_ETH_ARP			0x0806
#define CSIG_ETH_RARP			0x8035
#define CSIG_ETH_8021Q			0x8100
#define CSIG_ETH_IPV6			0x86dd
#define CSIG_ETH_PAUSE			0x8808
#define CSIG_ETH_SLOW			0x8809	/* LACP, OAM */
#define CSIG_ETH_MPLS_UC		0x8847
#define CSIG_ETH_MPLS_MC		0x8848
#define CSIG_ETH_PPPOE_DISC		0x8863
#define CSIG_ETH_PPPOE_SESS		0x8864
#define CSIG_ETH_EAPOL			0x888e
#define CSIG_ETH_8021AD			0x88a8
#define CSIG_ETH_LLDP			0x88cc
#define CSIG_ETH_MACSEC			0x88e5
#define CSIG_ETH_MVRP			0x88f5
#define CSIG_ETH_PTP			0x88f7
#define CSIG_ETH_CFM			0x8902
#define CSIG_ETH_FCOE			0x8906
#define CSIG_ETH_FIP			0x8914
#define CSIG_ETH_ROCE			0x8915
#define CSIG_ETH_LOOPBACK		0x9000
#define CSIG_ETH_QINQ1			0x9100
#define CSIG_ETH_CNM			0x22e7
#define CSIG_ETH_CNTAG			0x22e9

/**
 * struct csig_layout - sizes of one tag format
 * @len: octets of the tag, TPID included
 * @t_max: largest signal type
 * @s_max: largest code; all ones, the initial S of a minimum
 * @lm_max: largest locator metadata
 * @lm_bits: width of the locator metadata
 */
struct csig_layout {
	__u8 len;
	__u8 t_max;
	__u8 lm_bits;
	__u16 lm_max;
	__u32 s_max;
};

#define CSIG_LAYOUTS {							\
	[CSIG_FORMAT_COMPACT]  = {					\
			    .len = CSIG_TPID_LEN + CSIG_DATA_LEN_COMPACT,	\
			    .t_max = 7,  .lm_bits = 7,			\
			    .lm_max = 0x7f,   .s_max = 0x1f },		\
	[CSIG_FORMAT_EXPANDED] = {					\
			    .len = CSIG_TPID_LEN + CSIG_DATA_LEN_EXPANDED,	\
			    .t_max = 15, .lm_bits = 16,			\
			    .lm_max = 0xffff, .s_max = 0xfffff },	\
}

static inline const struct csig_layout *csig_layout(unsigned int format)
{
	static const struct csig_layout layouts[CSIG_FORMATS] = CSIG_LAYOUTS;

	return &layouts[format == CSIG_FORMAT_EXPANDED];
}

/**
 * struct csig_tag - a decoded tag
 * @format: enum csig_format
 * @t: signal type
 * @r: reserved bits, forwarded as received
 * @lm: locator metadata of the bottleneck
 * @s: coded signal value
 */
struct csig_tag {
	__u8 format;
	__u8 t;
	__u8 r;
	__u16 lm;
	__u32 s;
};

static inline __u16 csig_get16(const __u8 *p)
{
	return (__u16)(p[0] << 8 | p[1]);
}

static inline void csig_put16(__u8 *p, __u16 v)
{
	p[0] = (__u8)(v >> 8);
	p[1] = (__u8)(v & 0xff);	/* sparse: constants are not cut */
}

/**
 * csig_decode() - read the data fields of a tag
 * @format: enum csig_format
 * @data: the octets after the TPID, 2 (compact) or 6 (expanded)
 * @tag: filled in
 */
static inline void csig_decode(unsigned int format, const __u8 *data,
			       struct csig_tag *tag)
{
	__u16 v = csig_get16(data);
	__u32 w;

	tag->format = (__u8)format;
	if (format == CSIG_FORMAT_COMPACT) {
		tag->t = (__u8)(v >> 13);
		tag->r = v >> 12 & 1;
		tag->s = v >> 7 & 0x1f;
		tag->lm = v & 0x7f;
		return;
	}
	w = (__u32)csig_get16(data + 2) << 16 | csig_get16(data + 4);
	tag->lm = v;
	tag->t = (__u8)(w >> 28);
	tag->s = w >> 8 & 0xfffff;
	tag->r = (__u8)w;
}

/**
 * csig_encode() - write the data fields of a tag
 * @tag: the fields; bits beyond the format's widths are cut off
 * @data: room for 2 (compact) or 6 (expanded) octets
 */
static inline void csig_encode(const struct csig_tag *tag, __u8 *data)
{
	__u32 w;

	if (tag->format == CSIG_FORMAT_COMPACT) {
		csig_put16(data, (__u16)((tag->t & 7) << 13 |
					 (tag->r & 1) << 12 |
					 (tag->s & 0x1f) << 7 |
					 (tag->lm & 0x7f)));
		return;
	}
	w = (__u32)(tag->t & 0xf) << 28 | (tag->s & 0xfffff) << 8 | tag->r;
	csig_put16(data, tag->lm);
	csig_put16(data + 2, (__u16)(w >> 16));
	csig_put16(data + 4, (__u16)w);
}

/**
 * csig_tpid_refused() - may this EtherType not be a TPID of the domain?
 * @tpid: EtherType, host order
 * @software_assist: 0x88a8 is wanted for VLAN hardware (spec, section 8)
 *
 * Return: true when it is a length or an EtherType that is in use.
 */
static inline bool csig_tpid_refused(__u16 tpid, bool software_assist)
{
	static const __u16 known[] = {
		CSIG_ETH_IPV4, CSIG_ETH_ARP, CSIG_ETH_RARP, CSIG_ETH_8021Q,
		CSIG_ETH_IPV6, CSIG_ETH_PAUSE, CSIG_ETH_SLOW, CSIG_ETH_MPLS_UC,
		CSIG_ETH_MPLS_MC, CSIG_ETH_PPPOE_DISC, CSIG_ETH_PPPOE_SESS,
		CSIG_ETH_EAPOL, CSIG_ETH_LLDP, CSIG_ETH_MACSEC, CSIG_ETH_MVRP,
		CSIG_ETH_PTP, CSIG_ETH_CFM, CSIG_ETH_FCOE, CSIG_ETH_FIP,
		CSIG_ETH_ROCE, CSIG_ETH_LOOPBACK, CSIG_ETH_QINQ1, CSIG_ETH_CNM,
		CSIG_ETH_CNTAG,
	};
	unsigned int i;

	if (tpid < CSIG_ETH_802_3_MIN)
		return true;
	if (tpid == CSIG_ETH_8021AD)
		return !software_assist;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i] == tpid)
			return true;
	return false;
}

/**
 * csig_ethertype_is_control() - link control, never tagged
 * @type: final EtherType or length of a frame, host order
 *
 * LLC (any length), PAUSE, LACP, EAPOL, LLDP, MVRP, PTP, CFM and CNM frames
 * belong to the link or to a protocol that a tag would hide it from.
 *
 * Return: true for those
 */
static inline bool csig_ethertype_is_control(__u16 type)
{
	switch (type) {
	case CSIG_ETH_PAUSE:
	case CSIG_ETH_SLOW:
	case CSIG_ETH_EAPOL:
	case CSIG_ETH_LLDP:
	case CSIG_ETH_MVRP:
	case CSIG_ETH_PTP:
	case CSIG_ETH_CFM:
	case CSIG_ETH_FIP:
	case CSIG_ETH_LOOPBACK:
	case CSIG_ETH_CNM:
		return true;
	default:
		return type < CSIG_ETH_802_3_MIN;
	}
}

/**
 * csig_dst_is_link_local() - destination 01-80-C2-00-00-0x?
 * @dst: destination address of a frame, 6 octets
 *
 * Bridges do not forward these; they are never tagged, stripped or updated.
 *
 * Return: true for those
 */
static inline bool csig_dst_is_link_local(const __u8 *dst)
{
	return dst[0] == 0x01 && dst[1] == 0x80 && dst[2] == 0xc2 &&
	       dst[3] == 0 && dst[4] == 0 && (dst[5] & 0xf0) == 0;
}

#endif /* CSIG_WIRE_H */
