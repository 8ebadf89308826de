/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compatibility: what <net/netlink.h> lacks on older kernels.
 */
#ifndef CSIG_COMPAT_NET_NETLINK_H
#define CSIG_COMPAT_NET_NETLINK_H

#include <linux/version.h>
#include_next <net/netlink.h>

/* 6.13 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline u64 nla_get_u64_default(const struct nlattr *nla, u64 other)
{
	return nla ? nla_get_u64(nla) : other;
}

static inline u32 nla_get_u32_default(const struct nlattr *nla, u32 other)
{
	return nla ? nla_get_u32(nla) : other;
}

static inline u8 nla_get_u8_default(const struct nlattr *nla, u8 other)
{
	return nla ? nla_get_u8(nla) : other;
}
#endif

#endif /* CSIG_COMPAT_NET_NETLINK_H */
