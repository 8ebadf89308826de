// SPDX-License-Identifier: GPL-2.0
/*
 * Super-packets (GSO) become the frames that the wire will see before they are queued:
 * octets that are counted, sampled and paced are those of frames.  What a frame's
 * place in a queue is, the qdisc that owns it decides.
 */
#include <linux/netdevice.h>
#include <net/gso.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include "module.h"

/*
 * What the root's size table makes of a frame of this length.  The common one adds
 * octets to every frame; a table of cells is a look-up that modules can't ask for, so
 * its segments count as they are, as those of the kernel's own qdiscs do.
 */
static unsigned int qcn_segment_len(const struct sk_buff *skb,
				    const struct Qdisc *sch)
{
	const struct qdisc_size_table *stab;

	stab = rcu_dereference_bh(qdisc_root_bh(sch)->stab);
	if (likely(!stab) || stab->szopts.tsize)
		return skb->len;
	return max_t(int, (int)skb->len + stab->szopts.overhead, 1);
}

/**
 * qcn_enqueue_segments() - enqueue a super-packet as the frames that it becomes
 * @skb: GSO packet, given away
 * @sch: qdisc that they come to
 * @without: features of the device that the frames must not need
 * @to_free: what it drops
 * @enqueue: takes one frame, accounts it (qlen, backlog, drops) and returns
 *	NET_XMIT_SUCCESS or NET_XMIT_DROP
 *
 * The parents account one packet with the length of @skb for NET_XMIT_SUCCESS; they
 * are told here what came instead.  A packet that can't be segmented, for lack of
 * memory, is queued as it is: the driver's side tries again.
 *
 * Context: owner of the root's lock, BH.
 * Return: NET_XMIT_SUCCESS when any of the frames was queued
 */
int qcn_enqueue_segments(struct sk_buff *skb, struct Qdisc *sch,
			 netdev_features_t without, struct sk_buff **to_free,
			 qcn_enqueue_t enqueue)
{
	netdev_features_t features = netif_skb_features(skb);
	unsigned int skb_len = qdisc_pkt_len(skb), len = 0, seg_len;
	struct sk_buff *segs, *next;
	int n = 0;

	segs = skb_gso_segment(skb, features & ~(NETIF_F_GSO_MASK | without));
	if (IS_ERR_OR_NULL(segs))
		return enqueue(skb, sch, to_free);
	skb_list_walk_safe(segs, segs, next) {
		skb_mark_not_on_list(segs);
		/* read now: the frame is not ours after enqueue() */
		seg_len = qcn_segment_len(segs, sch);
		qdisc_skb_cb(segs)->pkt_len = seg_len;
		qdisc_skb_set_one_seg(segs);
		if (enqueue(segs, sch, to_free) == NET_XMIT_SUCCESS) {
			len += seg_len;
			n++;
		}
	}
	if (!n) {
		/* each frame is counted as dropped already */
		kfree_skb(skb);
		return NET_XMIT_DROP;
	}
	qdisc_tree_reduce_backlog(sch, 1 - n, (int)(skb_len - len));
	consume_skb(skb);
	return NET_XMIT_SUCCESS;
}
