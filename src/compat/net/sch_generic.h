/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compatibility: what <net/sch_generic.h> lacks on older kernels.
 */
#ifndef CSIG_COMPAT_NET_SCH_GENERIC_H
#define CSIG_COMPAT_NET_SCH_GENERIC_H

#include <linux/version.h>
#include_next <net/sch_generic.h>

/* 6.19: qdisc_skb_cb counts segments */
static inline void qdisc_skb_set_one_seg(struct sk_buff *skb)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
	qdisc_skb_cb(skb)->pkt_segs = 1;
#endif
}

#endif /* CSIG_COMPAT_NET_SCH_GENERIC_H */
