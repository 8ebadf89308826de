/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compatibility: what <linux/ethtool.h> lacks on older kernels.
 */
#ifndef CSIG_COMPAT_LINUX_ETHTOOL_H
#define CSIG_COMPAT_LINUX_ETHTOOL_H

#include <linux/version.h>
#include_next <linux/ethtool.h>

/* 7.2: the other one takes the device's own lock, which qdiscs are called with */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
static inline int netif_get_link_ksettings(struct net_device *dev,
					   struct ethtool_link_ksettings *ks)
{
	return __ethtool_get_link_ksettings(dev, ks);
}
#endif

#endif /* CSIG_COMPAT_LINUX_ETHTOOL_H */
