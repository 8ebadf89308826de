/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Octets put into the L2 header of an skb and taken out of it, as csig.ko and sch_qcn.ko
 * both do, and which devices look for headers themselves.  Data is at the MAC header.
 * Nothing here knows what the octets are.
 *
 * Edits make the header writable first (captures and flooded clones share data), keep
 * CHECKSUM_COMPLETE true and leave the packet as it was when they fail.
 */
#ifndef CSIG_L2_H
#define CSIG_L2_H

#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/checksum.h>
#include <net/gso.h>
#include <net/ipv6.h>

#define L2_MACSEC_LEN	32	/* SecTAG with SCI, and ICV */

static inline int l2_dev_is_hardware(struct net_device *dev,
				     struct netdev_nested_priv *priv)
{
	return dev->dev.parent && strcmp(dev_bus_name(dev->dev.parent), "virtio");
}

/**
 * l2_dev_parses_headers() - does a device, or one below it, segment or sum by itself?
 * @dev: device
 *
 * Such hardware looks for the headers where they are in frames without our tags.  Virtual
 * devices get them from the skb.  What a device stands on changes with
 * NETDEV_CHANGEUPPER.
 *
 * Context: RTNL.
 * Return: true when what has a tag of ours must be whole and summed before
 */
static inline bool l2_dev_parses_headers(struct net_device *dev)
{
	struct netdev_nested_priv priv = {};
	bool parses;

	rcu_read_lock();
	parses = l2_dev_is_hardware(dev, &priv) ||
		 netdev_walk_all_lower_dev_rcu(dev, l2_dev_is_hardware, &priv);
	rcu_read_unlock();
	return parses;
}

/**
 * l2_lower_changed() - look again at a device and at all that stand on it
 * @dev: upper device of a NETDEV_CHANGEUPPER
 * @look: called for each; does not sleep
 *
 * Context: RTNL.
 */
static inline void l2_lower_changed(struct net_device *dev,
				    int (*look)(struct net_device *dev,
						struct netdev_nested_priv *priv))
{
	struct netdev_nested_priv priv = {};

	look(dev, &priv);
	rcu_read_lock();
	netdev_walk_all_upper_dev_rcu(dev, look, &priv);
	rcu_read_unlock();
}

/* Own copy of the first len octets.  A shared skb can't be copied in place. */
static inline int l2_writable(struct sk_buff *skb, unsigned int len)
{
	if (unlikely(skb_shared(skb)))
		return -EBUSY;
	return skb_ensure_writable(skb, len);
}

/**
 * l2_pad() - pad a frame that is to leave and became too short
 * @skb: packet at egress
 *
 * A VLAN tag in the metadata is part of the frame.  Without memory it stays short:
 * drivers pad what their link needs.
 */
static inline void l2_pad(struct sk_buff *skb)
{
	unsigned int min = ETH_ZLEN;

	if (skb_vlan_tag_present(skb))
		min -= VLAN_HLEN;
	if (skb->len < min && __skb_put_padto(skb, min, false))
		net_dbg_ratelimited(KBUILD_MODNAME
				    ": %s: no memory to pad a frame\n",
				    skb->dev->name);
}

/*
 * BIG TCP of IPv6 may have a hop-by-hop header with the jumbo option, which
 * segmentation takes out: no frame on the wire is longer for it.
 */
static inline unsigned int l2_jumbo_len(const struct sk_buff *skb)
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
static inline bool l2_dev_has_vlan(const struct net_device *dev,
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

static inline int l2_dev_mtu(struct net_device *dev,
			     struct netdev_nested_priv *priv)
{
	return READ_ONCE(dev->mtu);
}

/*
 * The longest frame that a device takes.  MACsec has no octets beyond its MTU to give: it
 * drops what with SecTAG and ICV does not fit the MTU of the device below.
 *
 * Context: RCU
 */
static inline unsigned int l2_dev_max_len(struct net_device *dev)
{
	unsigned int max = READ_ONCE(dev->mtu) + dev->hard_header_len;
	struct netdev_nested_priv priv = {};
	struct net_device *macsec = dev;
	int len = -L2_MACSEC_LEN;

	if (is_vlan_dev(dev)) {
		macsec = vlan_dev_real_dev(dev);
		len -= VLAN_HLEN;
	}
	if (likely(!netif_is_macsec(macsec)))
		return max + VLAN_HLEN;
	/* the first one is the one below */
	len += netdev_walk_all_lower_dev_rcu(macsec, l2_dev_mtu, &priv);
	len += dev->hard_header_len;
	return clamp_t(int, len, max, max + VLAN_HLEN);
}

/**
 * l2_fits() - would the device take a longer packet?
 * @skb: packet at egress
 * @len: octets that come to each of its frames
 *
 * Return: false when l2_insert() would return -EMSGSIZE
 */
static inline bool l2_fits(const struct sk_buff *skb, unsigned int len)
{
	unsigned int max = l2_dev_max_len(skb->dev);

	if (l2_dev_has_vlan(skb->dev, skb))
		len += VLAN_HLEN;
	if (len > max)
		return false;
	if (skb_is_gso(skb))
		return skb_gso_validate_mac_len(skb, max - len +
						l2_jumbo_len(skb));
	return skb->len <= max - len;
}

/**
 * l2_remove() - take octets out
 * @skb: packet
 * @at: offset of the first one, even; two more come after the last one
 * @len: how many, even
 *
 * The network header stays where it was in memory, protocol and mac_len as they are.
 *
 * Return: 0, or -ENOMEM or -EBUSY and the packet is as it was
 */
static inline int l2_remove(struct sk_buff *skb, unsigned int at,
			    unsigned int len)
{
	int err = l2_writable(skb, at + len + 2);

	if (err)
		return err;
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->csum = csum_sub(skb->csum,
				     csum_partial(skb->data + at, len, 0));
	memmove(skb->data + len, skb->data, at);
	__skb_pull(skb, len);
	skb_reset_mac_header(skb);
	return 0;
}

/**
 * l2_insert() - put octets in
 * @skb: packet at egress
 * @at: offset, even, where two octets are
 * @octets: what goes there
 * @len: how many, even
 *
 * The network header stays where it was in memory, protocol and mac_len as they are.
 *
 * Return: 0; -EMSGSIZE when the device would not take the longer frame; -ENOMEM
 * or -EBUSY.  On failure the packet is as it was.
 */
static inline int l2_insert(struct sk_buff *skb, unsigned int at,
			    const u8 *octets, unsigned int len)
{
	unsigned int headroom;

	if (!l2_fits(skb, len))
		return -EMSGSIZE;
	if (unlikely(skb_shared(skb)))
		return -EBUSY;
	headroom = skb_headroom(skb);
	if (unlikely(!pskb_may_pull(skb, at + 2)) ||
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
	memmove(skb->data, skb->data + len, at);
	memcpy(skb->data + at, octets, len);
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->csum = csum_add(skb->csum,
				     csum_partial(skb->data + at, len, 0));
	skb_reset_mac_header(skb);
	return 0;
}

#endif /* CSIG_L2_H */
