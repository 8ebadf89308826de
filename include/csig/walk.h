/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Find the CSIG tag of an Ethernet frame, or the place where one would go.
 * Pure C, bounded: at most CSIG_WALK_LEN octets are looked at, whatever the frame
 * holds.  It changes nothing.
 */
#ifndef CSIG_WALK_H
#define CSIG_WALK_H

#include <csig/wire.h>

#define CSIG_MACS_LEN		12	/* both addresses */
#define CSIG_VLAN_LEN		4
#define CSIG_VLANS_MAX		4
#define CSIG_CNTAG_LEN		4
/* addresses, VLANs, CN-TAG, the larger tag, the final EtherType */
#define CSIG_WALK_LEN		(CSIG_MACS_LEN + CSIG_VLANS_MAX * CSIG_VLAN_LEN + \
				 CSIG_CNTAG_LEN + CSIG_TAG_LEN_MAX + 2)

enum csig_walk_status {
	CSIG_WALK_NONE,		/* no tag */
	CSIG_WALK_TAG,		/* one tag, well formed */
	CSIG_WALK_MALFORMED,	/* count it and forward the frame untouched */
};

/**
 * struct csig_walk - where things are in a frame
 * @status: enum csig_walk_status
 * @format: enum csig_format of the tag
 * @vlans: VLAN tags seen in the octets
 * @cntag: offset of QCN's CN-TAG, 0 without one
 * @offset: of the tag; without one, of the final EtherType, where a tag would go
 * @inner: final EtherType or length, host order
 */
struct csig_walk {
	__u8 status;
	__u8 format;
	__u8 vlans;
	__u8 cntag;
	__u8 offset;
	__u16 inner;
};

static inline bool csig_ethertype_is_vlan(__u16 type)
{
	return type == CSIG_ETH_8021Q || type == CSIG_ETH_8021AD ||
	       type == CSIG_ETH_QINQ1;
}

/**
 * csig_walk() - walk over the L2 header of a frame
 * @frame: first octet of the destination address
 * @len: octets that may be read; all of the frame or at least CSIG_WALK_LEN
 * @tpid: the TPID of each format, host order
 * @vlans_outside: VLAN tags of the frame that are not in its octets (0 or 1)
 * @w: filled in
 *
 * A CSIG tag is the last tag: a second one, a VLAN tag after it, more than four
 * VLAN tags, or a frame that ends inside a tag is malformed.  A MACsec SecTAG
 * ends the walk, what follows is cipher text.
 *
 * Return: w->status
 */
static inline int csig_walk(const __u8 *frame, unsigned int len,
			    const __u16 tpid[CSIG_FORMATS],
			    unsigned int vlans_outside, struct csig_walk *w)
{
	unsigned int off = CSIG_MACS_LEN, tag_len, i;
	__u16 type;

	w->status = CSIG_WALK_MALFORMED;
	w->format = CSIG_FORMAT_COMPACT;
	w->vlans = 0;
	w->cntag = 0;
	w->offset = 0;
	w->inner = 0;

	/* VLAN tags, one CN-TAG and the type that ends the walk */
	for (i = 0; i < CSIG_VLANS_MAX + 2; i++) {
		if (off + 2 > len)
			return w->status;
		type = csig_get16(frame + off);
		if (type == tpid[CSIG_FORMAT_COMPACT] || type == tpid[CSIG_FORMAT_EXPANDED]) {
			w->format = type == tpid[CSIG_FORMAT_EXPANDED];
			tag_len = csig_layout(w->format)->len;
			if (off + tag_len + 2 > len)
				return w->status;
			w->inner = csig_get16(frame + off + tag_len);
			if (w->inner == tpid[CSIG_FORMAT_COMPACT] ||
			    w->inner == tpid[CSIG_FORMAT_EXPANDED] ||
			    csig_ethertype_is_vlan(w->inner))
				return w->status;
			w->offset = (__u8)off;
			w->status = CSIG_WALK_TAG;
			return w->status;
		}
		if (csig_ethertype_is_vlan(type)) {
			if (w->vlans + vlans_outside == CSIG_VLANS_MAX)
				return w->status;
			w->vlans++;
			off += CSIG_VLAN_LEN;
		} else if (type == CSIG_ETH_CNTAG && !w->cntag) {
			w->cntag = (__u8)off;
			off += CSIG_CNTAG_LEN;
		} else {
			break;
		}
	}
	w->offset = (__u8)off;
	w->inner = type;
	w->status = CSIG_WALK_NONE;
	return w->status;
}

#endif /* CSIG_WALK_H */
