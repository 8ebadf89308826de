// SPDX-License-Identifier: GPL-2.0
/*
 * Tags in an skb: find, take off, replace, insert.  Data is at the MAC header for all
 * that edit.  Nothing here knows ports; the layout of a frame is include/csig/walk.h.
 *
 * Edits make the header writable first (captures and flooded clones share data), keep
 * CHECKSUM_COMPLETE true and leave the packet as it was when they fail.
 */
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/skbuff.h>
#include <net/checksum.h>
#include <net/gso.h>
#include <net/ipv6.h>
#include <net/sch_generic.h>

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

/* Own copy of the first len octets.  A shared skb can't be copied in place. */
static int csig_skb_writable(struct sk_buff *skb, unsigned int len)
{
	if (unlikely(skb_shared(skb)))
		return -EBUSY;
	return skb_ensure_writable(skb, len);
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

/* A VLAN tag in the metadata is part of the frame. */
static void csig_skb_pad(struct sk_buff *skb)
{
	unsigned int min = ETH_ZLEN;

	if (skb_vlan_tag_present(skb))
		min -= VLAN_HLEN;
	/* Without memory it stays short: drivers pad what their link needs. */
	if (skb->len < min && __skb_put_padto(skb, min, false))
		net_dbg_ratelimited("csig: %s: no memory to pad a frame\n",
				    skb->dev->name);
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
	u16 tpid;
	int err;

	err = csig_skb_writable(skb, w->offset + len + 2);
	if (err)
		return err;
	tpid = csig_get16(skb->data + w->offset);
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->csum = csum_sub(skb->csum,
				     csum_partial(skb->data + w->offset, len,
						  0));
	memmove(skb->data + len, skb->data, w->offset);
	__skb_pull(skb, len);
	skb_reset_mac_header(skb);
	if (skb->protocol == htons(tpid))
		skb->protocol = w->inner < CSIG_ETH_802_3_MIN ?
				htons(ETH_P_802_2) : htons(w->inner);
	skb_set_network_header(skb, w->offset + 2);
	skb_reset_mac_len(skb);
	skb_clear_hash_if_not_l4(skb);
	if (pad)
		csig_skb_pad(skb);
	return 0;
}

/*
 * BIG TCP of IPv6 may have a hop-by-hop header with the jumbo option, which
 * segmentation takes out: no frame on the wire is longer for it.
 */
static unsigned int csig_skb_jumbo_len(const struct sk_buff *skb)
{
	struct {
		struct ipv6hdr ip;
		u8 next, len, option, option_len;
	} *h, buf;

	if (likely(skb->len <= GRO_LEGACY_MAX_SIZE) ||
	    skb->protocol != htons(ETH_P_IPV6))
		return 0;
	h = skb_header_pointer(skb, skb_network_offset(skb), sizeof(buf), &buf);
	if (!h || h->ip.nexthdr != NEXTHDR_HOP || h->len ||
	    h->option != IPV6_TLV_JUMBO || h->next != IPPROTO_TCP)
		return 0;
	return 8;
}

/*
 * Ethernet has 4 octets beyond the MTU, for a VLAN tag or one of ours; behind real
 * adapters neighbours may drop what is longer.  Virtual devices count what is in the
 * octets of a frame only, or their own tags in the header's length.
 */
static bool csig_dev_has_vlan(const struct net_device *dev,
			      const struct sk_buff *skb)
{
	if (is_vlan_dev(dev))
		return vlan_dev_real_dev(dev)->dev.parent;
	return skb_vlan_tag_present(skb) &&
	       (dev->dev.parent ||
		!(dev->features & (skb->vlan_proto == htons(ETH_P_8021AD) ?
				   NETIF_F_HW_VLAN_STAG_TX :
				   NETIF_F_HW_VLAN_CTAG_TX)));
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
	const struct net_device *dev = skb->dev;
	unsigned int max = READ_ONCE(dev->mtu) + dev->hard_header_len +
			   VLAN_HLEN;

	if (csig_dev_has_vlan(dev, skb))
		len += VLAN_HLEN;
	if (len > max)
		return false;
	if (skb_is_gso(skb))
		return skb_gso_validate_mac_len(skb, max - len +
						csig_skb_jumbo_len(skb));
	return skb->len <= max - len;
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

	err = csig_skb_writable(skb, w->offset + len);
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
	unsigned int headroom;

	if (!csig_skb_fits(skb, len))
		return -EMSGSIZE;
	if (unlikely(skb_shared(skb)))
		return -EBUSY;
	headroom = skb_headroom(skb);
	if (unlikely(!pskb_may_pull(skb, w->offset + 2)) ||
	    unlikely(skb_cow_head(skb, len)))
		return -ENOMEM;
	/*
	 * A UDP super-packet for a device without checksum offload is
	 * CHECKSUM_NONE with a csum_start that segmentation compares; a new
	 * head moves only that of CHECKSUM_PARTIAL.
	 */
	if (skb_is_gso(skb) && skb->ip_summed == CHECKSUM_NONE)
		skb->csum_start += skb_headroom(skb) - headroom;

	__skb_push(skb, len);
	memmove(skb->data, skb->data + len, w->offset);
	csig_put16(skb->data + w->offset, tpid[tag->format]);
	csig_encode(tag, skb->data + w->offset + CSIG_TPID_LEN);
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->csum = csum_add(skb->csum,
				     csum_partial(skb->data + w->offset, len,
						  0));
	skb_reset_mac_header(skb);
	/* What a queue accounts was computed before: a tag in every frame */
	qdisc_skb_cb(skb)->pkt_len += len * (skb_is_gso(skb) ?
					     skb_shinfo(skb)->gso_segs : 1);
	tagged.status = CSIG_WALK_TAG;
	tagged.format = tag->format;
	csig_skb_normalise(skb, &tagged);
	return 0;
}
