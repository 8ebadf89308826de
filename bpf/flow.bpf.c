// SPDX-License-Identifier: GPL-2.0
/*
 * Programs behind "csigctl flow show": iterators over the sockets of a network namespace
 * that write a struct csig_flow_record for each with storage, filters applied.  They read
 * only; what a record means is csigctl's.
 */
#include "cgroup.h"
#include "core.h"
#include "maps.h"

#define TCP_LISTEN		10

/* Set before the object is loaded */
const volatile struct csig_flow_filter csig_flow_filter = {};

static bool address_matches(const struct csig_address *a,
			    const volatile struct csig_address *want,
			    const volatile struct csig_address *mask)
{
	const volatile __u64 *w = (const volatile __u64 *)want;
	const volatile __u64 *m = (const volatile __u64 *)mask;
	const __u64 *v = (const __u64 *)a;

	return !((v[0] ^ w[0]) & m[0]) && !((v[1] ^ w[1]) & m[1]);
}

static void put_ipv4(struct csig_address *a, __be32 addr)
{
	__builtin_memset(a, 0, 10);
	a->octets[10] = 0xff;
	a->octets[11] = 0xff;
	__builtin_memcpy(a->octets + 12, &addr, sizeof(addr));
}

/* A dual-stack socket with an IPv4 peer has mapped addresses of its own. */
static void put_addresses(struct csig_flow_record *r, struct sock_common *sk)
{
	if (sk->skc_family == AF_INET6) {
		BPF_CORE_READ_INTO(&r->src, sk, skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO(&r->dst, sk, skc_v6_daddr);
	} else {
		put_ipv4(&r->src, sk->skc_rcv_saddr);
		put_ipv4(&r->dst, sk->skc_daddr);
	}
}

/* What all sockets have; false when the filter does not want this one. */
static bool put_socket(struct csig_flow_record *r, struct sock *sk)
{
	const volatile struct csig_flow_filter *f = &csig_flow_filter;
	struct sock_common *skc = &sk->__sk_common;
	struct cgroup *cgrp = sk->sk_cgrp_data.cgroup;

	r->sport = skc->skc_num;
	r->dport = bpf_ntohs(skc->skc_dport);
	if ((f->sport && f->sport != r->sport) ||
	    (f->dport && f->dport != r->dport))
		return false;
	put_addresses(r, skc);
	if (!address_matches(&r->src, &f->src, &f->src_mask) ||
	    !address_matches(&r->dst, &f->dst, &f->dst_mask))
		return false;
	if (f->cgroup_id && !csig_cgroup_within(cgrp, f->cgroup_id))
		return false;
	r->version = CSIG_BPF_VERSION;
	r->size = sizeof(*r) + sizeof(struct csig_flow);
	r->ifindex = sk->sk_rx_dst_ifindex;
	r->cookie = skc->skc_cookie.counter;
	r->cgroup_id = cgrp ? cgrp->kn->id : 0;
	r->now_ns = bpf_ktime_get_ns();
	return true;
}

/*
 * In two pieces, the second from the map: together they are larger than the stack.  When
 * the buffer is full in between, the iterator drops both and comes back to this socket.
 */
static void write_record(struct seq_file *seq, struct csig_flow_record *r,
			 struct csig_flow *flow)
{
	if (!bpf_seq_write(seq, r, sizeof(*r)))
		bpf_seq_write(seq, flow, sizeof(*flow));
}

SEC("iter/tcp")
int csig_flow_tcp(struct bpf_iter__tcp *ctx)
{
	struct sock_common *skc = ctx->sk_common;
	struct csig_flow_record r = {};
	struct csig_flow *flow;
	struct tcp_sock *tp;

	/* neither listeners nor what is no full socket (TIME-WAIT, requests) */
	if (!skc || skc->skc_state == TCP_LISTEN)
		return 0;
	tp = bpf_skc_to_tcp_sock(skc);
	if (!tp)
		return 0;
	flow = bpf_sk_storage_get(&csig_flows, skc, NULL, 0);
	if (!flow || !put_socket(&r, (struct sock *)tp))
		return 0;
	r.protocol = IPPROTO_TCP;
	r.tcp_state = skc->skc_state;
	r.bytes_acked = tp->bytes_acked;
	r.bytes_received = tp->bytes_received;
	r.srtt_us = tp->srtt_us >> 3;
	r.cwnd = tp->snd_cwnd;
	r.mss = tp->mss_cache;
	r.retrans = tp->total_retrans;
	write_record(ctx->meta->seq, &r, flow);
	return 0;
}

SEC("iter/udp")
int csig_flow_udp(struct bpf_iter__udp *ctx)
{
	struct udp_sock *up = ctx->udp_sk;
	struct csig_flow_record r = {};
	struct csig_flow *flow;

	if (!up)
		return 0;
	flow = bpf_sk_storage_get(&csig_flows, up, NULL, 0);
	if (!flow || !put_socket(&r, (struct sock *)up))
		return 0;
	r.protocol = IPPROTO_UDP;
	write_record(ctx->meta->seq, &r, flow);
	return 0;
}
