// SPDX-License-Identifier: GPL-2.0
/*
 * Software segmentation of super-packets with a tag in their octets: a tag for each
 * segment.  Segments get all that is before their IP header from the super-packet, so it
 * is IP's own segmentation that is called, with data behind the tag.
 *
 * Nothing here asks a domain.  A tag may come from another namespace than the one of the
 * device that it leaves by, and the kernel calls only for what csig registered.
 */
#include <linux/skbuff.h>
#include <net/gso.h>

#include "csig.h"
#include "gro.h"

/* EtherType at a place with the IP header that it says behind it; or 0 */
static u16 csig_gso_ip(const u8 *type)
{
	u16 inner = csig_get16(type);

	if (inner == CSIG_ETH_IPV4 && type[2] >> 4 == 4)
		return inner;
	if (inner == CSIG_ETH_IPV6 && type[2] >> 4 == 6)
		return inner;
	return 0;
}

/* Length of the tag whose TPID is right before data; *inner is what is behind it. */
static unsigned int csig_gso_tag_at_data(struct sk_buff *skb, u16 *inner)
{
	unsigned long formats;
	unsigned int len, f;

	formats = csig_gro_formats(csig_get16(skb->data - CSIG_TPID_LEN));
	for_each_set_bit(f, &formats, CSIG_FORMATS) {
		len = csig_layout(f)->len;
		if (!pskb_may_pull(skb, len + 1))
			continue;
		*inner = csig_gso_ip(skb->data + len - 2);
		if (*inner)
			return len;
	}
	return 0;
}

/*
 * A tunnel whose device below can't segment what is in it takes the length of the inner
 * L2 header from the inner network header.  That is behind the tag, csig_skb_normalise(),
 * and so is data then.
 */
static u16 csig_gso_tag_before_data(struct sk_buff *skb)
{
	unsigned int room = skb->data - skb_mac_header(skb), len, f;
	unsigned long formats;
	u16 inner;

	if (!pskb_may_pull(skb, 1))
		return 0;
	inner = csig_gso_ip(skb->data - 2);
	for (f = 0; inner && f < CSIG_FORMATS; f++) {
		len = csig_layout(f)->len;
		if (room < len + 2)
			continue;
		formats = csig_gro_formats(csig_get16(skb->data - len - 2));
		if (formats & BIT(f))
			return inner;
	}
	return 0;
}

/**
 * csig_gso_segment() - gso_segment of a TPID
 * @skb: super-packet; data behind the TPID, or behind the whole tag
 * @features: of the device
 *
 * Return: segments, data where it was, or an ERR_PTR
 */
struct sk_buff *csig_gso_segment(struct sk_buff *skb,
				 netdev_features_t features)
{
	unsigned int len;
	u16 inner;

	if (unlikely(!skb_mac_header_was_set(skb) ||
		     skb->data < skb_mac_header(skb) + CSIG_TPID_LEN))
		return ERR_PTR(-EINVAL);
	len = csig_gso_tag_at_data(skb, &inner);
	if (len)
		__skb_pull(skb, len);
	else
		inner = csig_gso_tag_before_data(skb);
	if (!inner)
		return ERR_PTR(-EPROTONOSUPPORT);
	return skb_eth_gso_segment(skb, features & ~NETIF_F_GSO_MASK,
				   htons(inner));
}
