// SPDX-License-Identifier: GPL-2.0
/*
 * Tags in an skb: find, take off, replace, insert.  Data is at the MAC header for all
 * that edit.  Nothing here knows ports; the layout of a frame is include/csig/walk.h.
 * How octets are put in and taken out is ../l2.h.
 */
#include <linux/if_ether.h>
#include <linux/skbuff.h>
#include <net/checksum.h>
#include <net/sch_generic.h>

#include "../l2.h"
#include "csig.h"

/**
 * csig_skb_walk() - walk over the L2 header of a packet
 * @skb: packet; data at the MAC header (egress) or after it (ingress)
 * @tpid: TPIDs of the domain
 * @w: filled in, offsets from the MAC header
 *
 * Return: enum csig_walk_status
 */
int csig_skb_walk(const struct sk_buff *skb, const u16 *tpid,
		  struct csig_walk *w)
{
	int off = skb_mac_offset(skb);
	unsigned int len = min_t(unsigned int, skb->len - off, CSIG_WALK_LEN);
	u8 buf[CSIG_WALK_LEN];
	const u8 *frame;

	frame = skb_header_pointer(skb, off, len, buf);
	if (unlikely(!frame)) {
		memset(w, 0, sizeof(*w));
		w->status = CSIG_WALK_MALFORMED;
		return w->status;
	}
	/* Link control is not ours, whatever is in it. */
	if (len >= ETH_HLEN && csig_dst_is_link_local(frame)) {
		memset(w, 0, sizeof(*w));
		w->status = CSIG_WALK_NONE;
		return w->status;
	}
	return csig_walk(frame, len, tpid, skb_vlan_tag_present(skb), w);
}

/**
 * csig_skb_tag() - decode the tag that a walk found
 * @skb: packet
 * @w: result of csig_skb_walk(), CSIG_WALK_TAG
 * @tag: filled in
 */
void csig_skb_tag(const struct sk_buff *skb, const struct csig_walk *w,
		  struct csig_tag *tag)
{
	u8 buf[CSIG_TAG_LEN_MAX];
	const u8 *data;

	data = skb_header_pointer(skb, skb_mac_offset(skb) + w->offset +
				  CSIG_TPID_LEN,
				  csig_layout(w->format)->len - CSIG_TPID_LEN,
				  buf);
	if (WARN_ON_ONCE(!data))	/* the walk read it just now */
		data = memset(buf, 0, sizeof(buf));
	csig_decode(w->format, data, tag);
}

/**
 * csig_skb_normalise() - let the stack see through the tag
 * @skb: packet at egress
 * @w: result of csig_skb_walk() with the tag in the frame
 *
 * The protocol and the network header become those of the packet behind the tag:
 * flow dissection and software GSO start from them.
 */
void csig_skb_normalise(struct sk_buff *skb, const struct csig_walk *w)
{
	unsigned int hlen = w->offset + csig_layout(w->format)->len + 2;

	if (w->inner < CSIG_ETH_802_3_MIN)
		return;
	skb->protocol = htons(w->inner);
	skb_set_network_header(skb, hlen);
	skb->mac_len = hlen;
	skb_clear_hash_if_not_l4(skb);
}

/**
 * csig_skb_remove() - take the tag off
 * @skb: packet, data at the MAC header
 * @w: result of csig_skb_walk(), CSIG_WALK_TAG
 * @pad: pad a frame below the minimum; not wanted where the tag comes back
 *
 * Return: 0, or -ENOMEM or -EBUSY and the packet is as it was
 */
int csig_skb_remove(struct sk_buff *skb, const struct csig_walk *w, bool pad)
{
	unsigned int len = csig_layout(w->format)->len;
	__be16 buf, *tpid;
	bool outer;
	int err;

	tpid = skb_header_pointer(skb, w->offset, sizeof(buf), &buf);
	outer = tpid && skb->protocol == *tpid;
	err = l2_remove(skb, w->offset, len);
	if (err)
		return err;
	if (outer)
		skb->protocol = w->inner < CSIG_ETH_802_3_MIN ?
				htons(ETH_P_802_2) : htons(w->inner);
	skb_set_network_header(skb, w->offset + 2);
	skb_reset_mac_len(skb);
	skb_clear_hash_if_not_l4(skb);
	if (pad)
		l2_pad(skb);
	return 0;
}

/**
 * csig_skb_fits() - would the device take a longer packet?
 * @skb: packet at egress
 * @len: octets that come to each of its frames
 *
 * Return: false when csig_skb_insert() would return -EMSGSIZE
 */
bool csig_skb_fits(const struct sk_buff *skb, unsigned int len)
{
	return l2_fits(skb, len);
}

/**
 * csig_skb_replace() - write the data fields of the tag
 * @skb: packet, data at the MAC header
 * @w: result of csig_skb_walk(), CSIG_WALK_TAG
 * @tag: new fields, of the same format
 *
 * Return: 0, or -ENOMEM or -EBUSY and the packet is as it was
 */
int csig_skb_replace(struct sk_buff *skb, const struct csig_walk *w,
		     const struct csig_tag *tag)
{
	unsigned int len = csig_layout(w->format)->len;
	u8 *data;
	int err;

	err = l2_writable(skb, w->offset + len);
	if (err)
		return err;
	data = skb->data + w->offset + CSIG_TPID_LEN;
	len -= CSIG_TPID_LEN;
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->csum = csum_sub(skb->csum, csum_partial(data, len, 0));
	csig_encode(tag, data);
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->csum = csum_add(skb->csum, csum_partial(data, len, 0));
	return 0;
}

/**
 * csig_skb_insert() - put a tag before the final EtherType
 * @skb: packet at egress, data at the MAC header
 * @w: result of csig_skb_walk(), CSIG_WALK_NONE
 * @tpid: TPIDs of the domain
 * @tag: fields
 *
 * Return: 0; -EMSGSIZE when the device would not take the longer frame; -ENOMEM
 * or -EBUSY.  On failure the packet is as it was.
 */
int csig_skb_insert(struct sk_buff *skb, const struct csig_walk *w,
		    const u16 *tpid, const struct csig_tag *tag)
{
	unsigned int len = csig_layout(tag->format)->len;
	struct csig_walk tagged = *w;
	u8 octets[CSIG_TAG_LEN_MAX];
	int err;

	csig_put16(octets, tpid[tag->format]);
	csig_encode(tag, octets + CSIG_TPID_LEN);
	err = l2_insert(skb, w->offset, octets, len);
	if (err)
		return err;
	/* What a queue accounts was computed before: a tag in every frame */
	qdisc_skb_cb(skb)->pkt_len += len * (skb_is_gso(skb) ?
					     skb_shinfo(skb)->gso_segs : 1);
	tagged.status = CSIG_WALK_TAG;
	tagged.format = tag->format;
	csig_skb_normalise(skb, &tagged);
	return 0;
}
