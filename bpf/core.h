/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every BPF program of a host starts with: types, helpers, license, and the
 * few members of kernel structures that are read.  They are found by name when the
 * object is loaded, so nothing here depends on a kernel's headers.
 */
#ifndef CSIG_BPF_CORE_H
#define CSIG_BPF_CORE_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>

typedef _Bool bool;
#define true	1
#define false	0
#ifndef NULL
#define NULL	((void *)0)
#endif

#include <csig/coding.h>
#include <csig/reflect.h>
#include <linux/csig_bpf.h>

#define CSIG_NO_ENTRY	(-2)	/* -ENOENT */
#define CSIG_NO_SPACE	(-28)	/* -ENOSPC */
#define CSIG_NO_OPTION	(-42)	/* -ENOMSG */
#define CSIG_TOO_LONG	(-90)	/* -EMSGSIZE */

#define AF_INET		2
#define AF_INET6	10
#define ETH_P_IP	0x0800
#define ETH_P_IPV6	0x86dd
#define IPPROTO_TCP	6
#define IPPROTO_UDP	17

char csig_license[] SEC("license") = "GPL";

#pragma clang attribute push(__attribute__((preserve_access_index)), \
			     apply_to = record)

typedef struct {
	__s64 counter;
} atomic64_t;

struct kernfs_node {
	__u64 id;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct sock_cgroup_data {
	struct cgroup *cgroup;
};

struct in6_addr {
	union {
		__be32 u6_addr32[4];
	} in6_u;
};

struct sock;

struct sock_common {
	struct sock *skc_listener;
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
	atomic64_t skc_cookie;
};

struct sock {
	struct sock_common __sk_common;
	int sk_rx_dst_ifindex;
	struct sock_cgroup_data sk_cgrp_data;
};

struct inet_sock {
	struct sock sk;
};

struct request_sock {
	struct sock_common __req_common;
	__u8 num_retrans;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 snd_nxt;
	__u32 snd_una;
	__u32 data_segs_in;
	__u32 total_retrans;
	__u32 srtt_us;
	__u32 snd_cwnd;
	__u32 mss_cache;
	__u64 bytes_acked;
	__u64 bytes_received;
	__u8 bpf_sock_ops_cb_flags;
	__u8 save_syn:2;
	bool is_mptcp;
	void *md5sig_info;
	void *ao_info;
};

struct udp_sock {
	struct inet_sock inet;
};

struct net_device {
	int ifindex;
};

struct dst_entry {
	struct net_device *dev;
};

struct sk_buff {
	unsigned long _skb_refdst;
	unsigned char *head;
};

struct bpf_sock_ops_kern {
	struct sock *sk;
	__u8 remaining_opt_len;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 session_id;
	__u64 seq_num;
};

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
};

struct bpf_iter__udp {
	struct bpf_iter_meta *meta;
	struct udp_sock *udp_sk;
};

#pragma clang attribute pop

/* Kernel functions; those of csig.ko are explained in src/csig/kfunc.c */
extern int bpf_csig_tag(struct __sk_buff *skb, struct csig_bpf_tag *tag)
	__ksym __weak;
extern int bpf_csig_request(struct __sk_buff *skb,
			    const struct csig_bpf_tag *tag) __ksym __weak;
extern int bpf_csig_is_local(struct __sk_buff *skb, const void *addr,
			     __u32 addr__sz) __ksym __weak;
extern void *bpf_cast_to_kern_ctx(void *ctx) __ksym;
extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym;

#endif /* CSIG_BPF_CORE_H */
