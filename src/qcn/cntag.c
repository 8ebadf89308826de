// SPDX-License-Identifier: GPL-2.0
/*
 * CN-TAGs in an skb: found, put in, taken off; and the way to the socket for data that
 * reaches the top of a device with one.  Which frames a port changes is hooks.c.
 */
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/skbuff.h>
#include <net/checksum.h>

#include "../l2.h"
#include "module.h"

/**
 * qcn_skb_has_tags() - is there anything to find for qcn_skb_parse()?
 * @skb: packet; data at the MAC header (egress) or after it (ingress)
 *
 * Most frames have no tags in their octets, which is cheaper to see.
 *
 * Return: false when the frame is no CNM and has neither CN-TAG nor VLAN tag in its octets
 */
bool qcn_skb_has_tags(const struct sk_buff *skb)
{
	__be16 buf, *type;

	type = skb_header_pointer(skb, skb_mac_offset(skb) + CSIG_MACS_LEN,
				  sizeof(buf), &buf);
	if (!type)
		return false;
	return *type == htons(CSIG_ETH_CNTAG) || *type == htons(CSIG_ETH_CNM) ||
	       csig_ethertype_is_vlan(ntohs(*type));
}

/**
 * qcn_skb_parse() - look at the L2 header of a packet
 * @skb: packet; data at the MAC header (egress) or after it (ingress)
 * @f: filled in, offsets from the MAC header
 *
 * Return: false for a malformed header, which QCN leaves alone
 */
bool qcn_skb_parse(const struct sk_buff *skb, struct qcn_frame *f)
{
	int off = skb_mac_offset(skb);
	unsigned int len = min_t(unsigned int, skb->len - off, CSIG_WALK_LEN);
	u16 tpid = 0, tci = 0;
	u8 buf[CSIG_WALK_LEN];
	const u8 *frame;

	frame = skb_header_pointer(skb, off, len, buf);
	if (unlikely(!frame))
		return false;
	if (skb_vlan_tag_present(skb)) {
		tpid = ntohs(skb->vlan_proto);
		tci = skb_vlan_tag_get(skb);
	}
	return qcn_frame_parse(frame, len, NULL, tpid, tci, f);
}

/**
 * qcn_skb_priority() - priority of a frame
 * @skb: packet
 * @f: result of qcn_skb_parse()
 *
 * Return: PCP of the outer VLAN tag; without one skb->priority when it is one, else 0
 */
u8 qcn_skb_priority(const struct sk_buff *skb, const struct qcn_frame *f)
{
	if (f->vlan_tpid)
		return qcn_pcp(f->vlan_tci);
	return skb->priority < QCN_PRIORITIES ? skb->priority : 0;
}

/**
 * qcn_skb_tag() - put a CN-TAG in
 * @skb: packet at egress, no GSO packet
 * @f: result of qcn_skb_parse(), without a CN-TAG
 * @rpid: name of the flow, 0 for all of the priority
 *
 * The protocol stays that of the packet behind the tag, and so does the network header:
 * checksum offload and flow dissection start from them.  What a queue accounts, pkt_len,
 * stays too.
 *
 * Return: 0; -EMSGSIZE when the device would not take the longer frame; -EEXIST;
 * -ENOMEM or -EBUSY.  On failure the packet is as it was.
 */
int qcn_skb_tag(struct sk_buff *skb, const struct qcn_frame *f, u16 rpid)
{
	int net = skb_network_offset(skb), err;
	u8 tag[CSIG_CNTAG_LEN];

	if (f->cntag)
		return -EEXIST;
	qcn_cntag_encode(rpid, tag);
	err = l2_insert(skb, f->msdu, tag, sizeof(tag));
	if (err)
		return err;
	/* It was behind the type of a VLAN tag before ours. */
	if (net < f->msdu + 2)
		skb_set_network_header(skb, net);
	skb_reset_mac_len(skb);
	return 0;
}

static int __qcn_skb_untag(struct sk_buff *skb, const struct qcn_frame *f)
{
	bool outer = skb->protocol == htons(CSIG_ETH_CNTAG);
	int net = skb_network_offset(skb), err;
	u16 type;

	err = l2_remove(skb, f->cntag, CSIG_CNTAG_LEN);
	if (err)
		return err;
	if (outer) {
		type = csig_get16(skb->data + f->cntag);
		skb->protocol = htons(type < CSIG_ETH_802_3_MIN ? ETH_P_802_2 :
								  type);
	}
	/* Up to behind the tag's type it counts from the beginning. */
	if (net < f->cntag + CSIG_CNTAG_LEN + 2)
		skb_set_network_header(skb, net);
	skb_reset_mac_len(skb);
	skb_clear_hash_if_not_l4(skb);
	return 0;
}

/**
 * qcn_skb_untag() - take the CN-TAG off a packet that leaves
 * @skb: packet at egress
 * @f: result of qcn_skb_parse(), with a CN-TAG
 *
 * A short frame is padded.  What a queue accounts, pkt_len, stays as it was.
 *
 * Return: 0, or -ENOMEM or -EBUSY and the packet is as it was
 */
int qcn_skb_untag(struct sk_buff *skb, const struct qcn_frame *f)
{
	int err = __qcn_skb_untag(skb, f);

	if (!err)
		l2_pad(skb);
	return err;
}

/**
 * qcn_skb_deliver() - take the CN-TAG off a packet that came in
 * @skb: packet at ingress, data after the MAC header
 * @f: result of qcn_skb_parse(), with a CN-TAG
 *
 * Return: 0, or -ENOMEM or -EBUSY and the packet is as it was
 */
int qcn_skb_deliver(struct sk_buff *skb, const struct qcn_frame *f)
{
	unsigned int hlen = -skb_mac_offset(skb);
	int err;

	skb_push_rcsum(skb, hlen);
	err = __qcn_skb_untag(skb, f);
	skb_pull_rcsum(skb, hlen);
	if (!err) {
		skb_reset_network_header(skb);
		skb_reset_mac_len(skb);
	}
	return err;
}

/**
 * qcn_skb_set_pcp() - change the priority in the outer VLAN tag
 * @skb: packet at ingress, data after the MAC header
 * @f: result of qcn_skb_parse(); without a VLAN tag nothing is done
 * @pcp: priority
 *
 * Return: 0, or -ENOMEM or -EBUSY and the packet is as it was
 */
int qcn_skb_set_pcp(struct sk_buff *skb, const struct qcn_frame *f, u8 pcp)
{
	unsigned int hlen = -skb_mac_offset(skb);
	u16 tci = (f->vlan_tci & ~VLAN_PRIO_MASK) | pcp << VLAN_PRIO_SHIFT;
	u8 *pos;
	int err;

	if (!f->vlan_tpid)
		return 0;
	if (likely(skb_vlan_tag_present(skb))) {
		skb->vlan_tci = tci;
		return 0;
	}
	/* 0x9100, which the kernel leaves in the octets */
	skb_push_rcsum(skb, hlen);
	err = l2_writable(skb, CSIG_MACS_LEN + CSIG_VLAN_LEN);
	if (!err) {
		pos = skb->data + CSIG_MACS_LEN + 2;
		if (skb->ip_summed == CHECKSUM_COMPLETE)
			skb->csum = csum_sub(skb->csum, csum_partial(pos, 2, 0));
		csig_put16(pos, tci);
		if (skb->ip_summed == CHECKSUM_COMPLETE)
			skb->csum = csum_add(skb->csum, csum_partial(pos, 2, 0));
	}
	skb_pull_rcsum(skb, hlen);
	return err;
}

/*
 * What has a CN-TAG at the top of a device is for this host: from a bridge, a bond, a
 * VLAN device, or a device that is no port.  It goes through the device's handlers once
 * more, so a second CN-TAG ends here.  A port's hook has seen it; what filters at ingress
 * of any other device is to see it as it is delivered.
 *
 * The module may be there for somebody else: where nothing is a port it takes nothing off,
 * and frames end, counted by the device, as without it.
 */
static int qcn_cntag_rcv(struct sk_buff *skb, struct net_device *dev,
			 struct packet_type *pt, struct net_device *orig_dev)
{
	struct qcn_port *port = qcn_port_find(dev);
	struct qcn_frame f;

	if (skb->pkt_type == PACKET_OTHERHOST)
		goto drop;
	if (xa_empty(&qcn_net(dev_net(dev))->ports)) {
		dev_core_stats_rx_dropped_inc(dev);
		kfree_skb_reason(skb, SKB_DROP_REASON_UNHANDLED_PROTO);
		return NET_RX_DROP;
	}
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (unlikely(!skb))
		return NET_RX_DROP;
	if (dev->type != ARPHRD_ETHER || !skb_mac_header_was_set(skb) ||
	    !qcn_skb_parse(skb, &f) || !qcn_frame_tagged(&f) ||
	    qcn_skb_deliver(skb, &f)) {
		if (port)
			qcn_stat_inc(port, QCN_A_PORT_STATS_UNDELIVERED);
		else
			dev_core_stats_rx_dropped_inc(dev);
		goto drop;
	}
	if (port) {
		qcn_stat_inc(port, QCN_A_PORT_STATS_DELIVERED);
		qcn_skb_pass_hooks(skb);
	}
	return netif_receive_skb(skb);

drop:
	kfree_skb(skb);
	return NET_RX_DROP;
}

static struct packet_type qcn_cntag_type __read_mostly = {
	.type = cpu_to_be16(CSIG_ETH_CNTAG),
	.func = qcn_cntag_rcv,
};

int qcn_cntag_init(void)
{
	dev_add_pack(&qcn_cntag_type);
	return 0;
}

/* Waits until nobody is in the handler. */
void qcn_cntag_exit(void)
{
	dev_remove_pack(&qcn_cntag_type);
}
