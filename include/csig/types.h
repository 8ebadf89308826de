/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Integer types and constants for the pure headers, wherever they are compiled:
 * kernel, BPF (after vmlinux.h) or user space.  No kernel or libc API is used.  The
 * enumerations are those of the netlink family.
 */
#ifndef CSIG_TYPES_H
#define CSIG_TYPES_H

#if defined(__KERNEL__)
#include <linux/math64.h>
#include <linux/types.h>
#elif !defined(__bpf__)
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#endif

#include <linux/csig.h>

#define CSIG_NSEC_PER_SEC	1000000000ULL
#define CSIG_PPM		1000000U

#define CSIG_U64_MAX		(~0ULL)

#if defined(__KERNEL__)
#define csig_div64(a, b)	div64_u64(a, b)
#else
#define csig_div64(a, b)	((a) / (b))
#endif

/**
 * csig_mulhi64() - upper half of a 64 by 64 bit product
 * @a: factor
 * @b: factor
 *
 * BPF has no 128 bit integers, so the product is put together from halves.
 *
 * Return: a * b / 2^64
 */
static inline __u64 csig_mulhi64(__u64 a, __u64 b)
{
	__u64 al = (__u32)a, ah = a >> 32, bl = (__u32)b, bh = b >> 32;
	__u64 mid1 = ah * bl + ((al * bl) >> 32);
	__u64 mid2 = al * bh + (__u32)mid1;

	return ah * bh + (mid1 >> 32) + (mid2 >> 32);
}

#endif /* CSIG_TYPES_H */
