// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets that are there already (iterators): when a host is enabled its listeners join,
 * when the last device is disabled the callback flags that were CSIG's own are taken
 * back.  Both see the sockets of their namespace only; whether a set has any sockets is
 * known everywhere.  Sockets that come later are tcp.bpf.c.
 */
#include "cgroup.h"
#include "maps.h"

#define SOL_TCP			6
#define TCP_SAVE_SYN		27
#define TCP_ESTABLISHED		1
#define TCP_LISTEN		10

struct bpf_iter__bpf_sk_storage_map {
	struct bpf_iter_meta *meta;
	struct sock *sk;
} __attribute__((preserve_access_index));

static long set_flags(struct tcp_sock *tp, int flags)
{
	return bpf_setsockopt(tp, SOL_TCP, TCP_BPF_SOCK_OPS_CB_FLAGS, &flags,
			      sizeof(flags));
}

/* As sockops does when a socket starts to listen */
static void join(struct csig_host *host, struct tcp_sock *tp)
{
	int old = tp->bpf_sock_ops_cb_flags, one = 1;
	int want = BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG;
	struct csig_flow *flow;

	flow = bpf_sk_storage_get(&csig_flows, tp, NULL,
				  BPF_SK_STORAGE_GET_F_CREATE);
	if (!flow) {
		csig_host_count(CSIG_HOST_NO_STORAGE);
		return;
	}
	if (flow->version)	/* sockops was first */
		return;
	flow->version = CSIG_BPF_VERSION;
	host->foreign_cb_flags |= (__u16)old;
	if (!(old & want) && !set_flags(tp, old | want))
		flow->own_cb_flags = (__u16)want;
	if (!BPF_CORE_READ_BITFIELD(tp, save_syn) &&
	    !bpf_setsockopt(tp, SOL_TCP, TCP_SAVE_SYN, &one, sizeof(one)))
		flow->save_syn = 1;
}

SEC("iter/tcp")
int csig_sockets_join(struct bpf_iter__tcp *ctx)
{
	struct sock_common *skc = ctx->sk_common;
	struct csig_host *host = csig_host_get();
	struct tcp_sock *tp;

	if (!skc || !host)
		return 0;
	tp = bpf_skc_to_tcp_sock(skc);
	if (!tp || !csig_cgroup_within(((struct sock *)tp)->sk_cgrp_data.cgroup,
				       host->cgroup_id))
		return 0;
	if (skc->skc_state == TCP_LISTEN)
		join(host, tp);
	else if (skc->skc_state == TCP_ESTABLISHED &&
		 !bpf_sk_storage_get(&csig_flows, tp, NULL, 0))
		csig_host_count(CSIG_HOST_EARLIER);
	return 0;
}

SEC("iter/tcp")
int csig_sockets_leave(struct bpf_iter__tcp *ctx)
{
	struct sock_common *skc = ctx->sk_common;
	struct csig_flow *flow;
	struct tcp_sock *tp;
	int zero = 0;

	if (!skc)
		return 0;
	tp = bpf_skc_to_tcp_sock(skc);
	if (!tp)
		return 0;
	flow = bpf_sk_storage_get(&csig_flows, tp, NULL, 0);
	if (!flow)
		return 0;
	if (flow->own_cb_flags)
		set_flags(tp, tp->bpf_sock_ops_cb_flags & ~flow->own_cb_flags);
	if (flow->save_syn)
		bpf_setsockopt(tp, SOL_TCP, TCP_SAVE_SYN, &zero, sizeof(zero));
	bpf_sk_storage_delete(&csig_flows, tp);
	return 0;
}

/* An octet for each socket that has storage, in whatever namespace */
SEC("iter/bpf_sk_storage_map")
int csig_sockets_any(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	const char one = 1;

	if (ctx->sk)
		bpf_seq_write(ctx->meta->seq, &one, sizeof(one));
	return 0;
}
