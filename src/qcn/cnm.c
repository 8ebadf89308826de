// SPDX-License-Identifier: GPL-2.0
/*
 * CNMs: built for a frame that a congestion point sampled, and read for the reaction
 * points of a port.  When to sample is cp.c's, what a CNM does to a rate is rp.c's, the
 * octets are include/csig/qcn_frame.h.
 *
 * DOC: how a CNM leaves
 *
 * It is received, not sent: netif_rx() on the congested port, as if the neighbour there
 * had sent it, and the bridge takes it to the port where the sampled frame came in, in
 * the VLAN that the sampled frame left with.  A congestion point holds a qdisc's lock;
 * to transmit would take that of another port, while that one may be waiting for this.
 *
 * The hook that remaps priorities and looks for CNMs sees them as well.  It needs no
 * mark to know them: their priority is none of the domain's, so it is not remapped,
 * and they are never for the address of the device where they come in
 * (qcn_cnm_send()), so that they are not taken for the wire's.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ktime.h>

#include "module.h"

/* First octets of the frame behind its tags, at most n; how many there were */
static unsigned int qcn_cnm_msdu(const struct sk_buff *skb,
				 const struct qcn_frame *f, u8 *msdu,
				 unsigned int n)
{
	if (skb->len < f->msdu)
		return 0;
	n = min_t(unsigned int, n, skb->len - f->msdu);
	return skb_copy_bits(skb, f->msdu, msdu, n) ? 0 : n;
}

/**
 * qcn_cnm_send() - send a CNM to where a frame came from
 * @dev: congested port
 * @p: settings of the congestion point
 * @skb: sampled frame, data at the MAC header
 * @f: and what is in its header
 * @priority: of the sampled frame
 * @s: what the sample found
 *
 * Context: BH, under the lock of a qdisc.
 * Return: false when it could not be built or delivered, or would be for @dev itself
 */
bool qcn_cnm_send(struct net_device *dev, const struct qcn_cnm_params *p,
		  const struct sk_buff *skb, const struct qcn_frame *f,
		  u8 priority, const struct qcn_sample *s)
{
	u8 msdu[QCN_CNM_MSDU_MAX];
	struct sk_buff *cnm;
	unsigned int n;

	if (qcn_mac_eq(f->src, dev->dev_addr))
		return false;
	/*
	 * The datapath's one allocation: for a sample, of which there is at most one
	 * in 8.5 full frames, and only where the queue is congested.
	 */
	cnm = __netdev_alloc_skb_ip_align(dev, QCN_CNM_FRAME_MAX,
					  GFP_ATOMIC | __GFP_NOWARN);
	if (unlikely(!cnm))
		return false;
	n = qcn_cnm_msdu(skb, f, msdu, min_t(unsigned int, p->msdu_max,
					     sizeof(msdu)));
	/* A VLAN tag is in the octets, as it is on the wire; the stack takes it out. */
	n = qcn_cnm_encode(p, f, priority, s, msdu, n, cnm->data);
	skb_put(cnm, n);
	cnm->priority = p->priority;
	cnm->protocol = eth_type_trans(cnm, dev);
	return netif_rx(cnm) == NET_RX_SUCCESS;
}

static void qcn_inbox_put(struct qcn_inbox *inbox,
			  const struct qcn_notice *notice)
{
	spin_lock(&inbox->lock);
	if (likely(inbox->count < QCN_INBOX_LEN)) {
		inbox->notice[inbox->count] = *notice;
		WRITE_ONCE(inbox->count, inbox->count + 1);
	} else {
		inbox->overrun++;
	}
	spin_unlock(&inbox->lock);
}

/**
 * qcn_cnm_receive() - take a CNM that came to a port
 * @port: port, to whose address it was sent
 * @skb: CNM, with its MAC header; the hook does with it what it wants afterwards
 * @f: what is in its header, qcn_cnm_at() said that it is a CNM
 *
 * Context: BH, RCU.
 */
void qcn_cnm_receive(struct qcn_port *port, const struct sk_buff *skb,
		     const struct qcn_frame *f)
{
	/* the PDU comes after the EtherType */
	int at = skb_mac_offset(skb) + f->msdu + 2, len = (int)skb->len - at;
	struct qcn_notice notice = { .time_ns = ktime_get_ns() };
	u8 pdu[QCN_CNM_PDU_MAX];
	struct qcn_inbox *inbox;
	struct qcn_cnm cnm;
	bool used = false;

	qcn_stat_inc(port, QCN_A_PORT_STATS_CNM_RECEIVED);
	len = min_t(int, len, sizeof(pdu));
	if (len < QCN_CNM_PDU_MIN || skb_copy_bits(skb, at, pdu, len) ||
	    !qcn_cnm_decode(pdu, len, &cnm)) {
		qcn_stat_inc(port, QCN_A_PORT_STATS_CNM_MALFORMED);
		return;
	}
	notice.rpid = f->rpid;
	notice.priority = cnm.priority;
	notice.qntzfb = cnm.qntzfb;
	list_for_each_entry_rcu(inbox, &port->inboxes, list) {
		qcn_inbox_put(inbox, &notice);
		used = true;
	}
	if (!used)
		qcn_stat_inc(port, QCN_A_PORT_STATS_CNM_UNUSED);
}
