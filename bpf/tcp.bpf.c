// SPDX-License-Identifier: GPL-2.0
/*
 * A host's TCP connections (sockops): negotiation in SYN and SYN-ACK, and who is left
 * alone.  What established connections tell each other is reflect.h, packets are
 * host.bpf.c.
 *
 * Callback flags of a socket are only added to, since other sockops programs may want
 * theirs; what was not there before is noted as CSIG's own and taken back alone.
 */
#include "reflect.h"

#define CSIG_FLAGS_ESTABLISHED	(BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG |		\
				 BPF_SOCK_OPS_PARSE_UNKNOWN_HDR_OPT_CB_FLAG |	\
				 BPF_SOCK_OPS_RTO_CB_FLAG)
#define CSIG_SYNS_WITH_OPTION	2	/* the third SYN or SYN-ACK is without */
#define SOL_TCP			6
#define TCP_SAVE_SYN		27
#define TCPOPT_MPTCP		30

static __always_inline void flags_add(struct bpf_sock_ops *ctx,
				      struct csig_flow *flow, __u32 flags)
{
	__u32 old = ctx->bpf_sock_ops_cb_flags;

	flow->own_cb_flags |= flags & ~old;
	bpf_sock_ops_cb_flags_set(ctx, (int)(old | flags));
}

static __always_inline void flags_remove(struct bpf_sock_ops *ctx, __u32 flags)
{
	__u32 old = ctx->bpf_sock_ops_cb_flags;

	if (old & flags)
		bpf_sock_ops_cb_flags_set(ctx, (int)(old & ~flags));
}

/* Flags of the option in a SYN or SYN-ACK, those that we know; 0 without one */
static __always_inline __u8 load_flags(struct bpf_sock_ops *ctx, __u8 kind,
				       __u64 where)
{
	__u8 opt[CSIG_OPT_LEN_MAX + 2] = {};
	__u32 head = csig_opt_head(kind, 0, opt);

	if (!csig_opt_kind_is_shared(kind))
		opt[1] = 0;
	if (bpf_load_hdr_opt(ctx, opt, sizeof(opt), where) != (int)head + 1)
		return 0;
	return (head == 4 ? opt[4] : opt[2]) & CSIG_OPT_FLAGS_ALL;
}

static __always_inline long store_flags(struct bpf_sock_ops *ctx, __u8 kind,
					__u8 flags)
{
	__u8 opt[CSIG_OPT_LEN_MAX + 2] = {};

	if (csig_opt_head(kind, 1, opt) == 4)
		opt[4] = flags;
	else
		opt[2] = flags;
	return bpf_store_hdr_opt(ctx, opt, sizeof(opt), 0);
}

/* Signed segments have no room to spare and no header to change. */
static __always_inline bool is_signed(const struct tcp_sock *tp)
{
	if (bpf_core_field_exists(tp->md5sig_info) && tp->md5sig_info)
		return true;
	return bpf_core_field_exists(tp->ao_info) && tp->ao_info;
}

/* Who is left alone, counted */
static __always_inline bool excluded(const struct tcp_sock *tp)
{
	if (bpf_core_field_exists(tp->is_mptcp) && tp->is_mptcp) {
		csig_host_count(CSIG_HOST_MPTCP);
		return true;
	}
	if (is_signed(tp)) {
		csig_host_count(CSIG_HOST_SIGNED);
		return true;
	}
	return false;
}

/* A socket starts over: it may have been another connection's before. */
static __always_inline struct csig_flow *flow_new(struct bpf_sock *sk)
{
	struct csig_flow *flow = bpf_sk_storage_get(&csig_flows, sk, NULL, 0);
	__u16 own = flow ? flow->own_cb_flags : 0;
	__u8 save_syn = flow ? flow->save_syn : 0;

	if (flow)
		bpf_sk_storage_delete(&csig_flows, sk);
	flow = bpf_sk_storage_get(&csig_flows, sk, NULL,
				  BPF_SK_STORAGE_GET_F_CREATE);
	if (!flow) {
		csig_host_count(CSIG_HOST_NO_STORAGE);
		return NULL;
	}
	flow->version = CSIG_BPF_VERSION;
	flow->own_cb_flags = own;
	flow->save_syn = save_syn;
	return flow;
}

static __always_inline void flow_agreed(struct bpf_sock_ops *ctx,
					struct csig_flow *flow, __u8 flags)
{
	flags_add(ctx, flow, CSIG_FLAGS_ESTABLISHED);
	flow->peer_flags = flags;
	flow->established_ns = bpf_ktime_get_ns();
}

static __always_inline void flow_drop(struct bpf_sock_ops *ctx,
				      struct bpf_sock *sk, __u32 flags)
{
	flags_remove(ctx, flags);
	bpf_sk_storage_delete(&csig_flows, sk);
}

/* Before the SYN of our side */
static __always_inline void on_connect(struct bpf_sock_ops *ctx,
				       struct bpf_sock *sk)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct csig_flow *flow;

	if (!tp)
		return;
	flow = flow_new(sk);
	if (!flow)
		return;
	if (excluded(tp)) {
		flow_drop(ctx, sk, flow->own_cb_flags);
		return;
	}
	flow->state = CSIG_FLOW_ASKED;
	flags_add(ctx, flow, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
}

/* The flags are inherited by connections, and asked for by their SYN-ACKs. */
static __always_inline void on_listen(struct bpf_sock_ops *ctx,
				      struct csig_host *host,
				      struct bpf_sock *sk)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct csig_flow *flow;
	int one = 1;

	if (!tp)
		return;
	flow = flow_new(sk);
	if (!flow)
		return;
	host->foreign_cb_flags |= ctx->bpf_sock_ops_cb_flags &
				  ~flow->own_cb_flags & CSIG_FLAGS_ESTABLISHED;
	flags_add(ctx, flow, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
	/* The established side wants to know what the SYN said. */
	if (!BPF_CORE_READ_BITFIELD(tp, save_syn) &&
	    !bpf_setsockopt(ctx, SOL_TCP, TCP_SAVE_SYN, &one, sizeof(one)))
		flow->save_syn = 1;
}

static __always_inline void on_active(struct bpf_sock_ops *ctx,
				      struct csig_host *host,
				      struct bpf_sock *sk)
{
	struct csig_flow *flow = bpf_sk_storage_get(&csig_flows, sk, NULL, 0);
	__u8 flags;

	if (!flow || flow->state != CSIG_FLOW_ASKED)
		return;
	flags = load_flags(ctx, host->opt_kind, 0);
	if (flags & (CSIG_OPT_COMPACT | CSIG_OPT_EXPANDED)) {
		flow_agreed(ctx, flow, flags);
		csig_flow_begin(flow, sk);
		return;
	}
	csig_host_count(CSIG_HOST_REFUSED);
	flow_drop(ctx, sk, flow->own_cb_flags);
}

static __always_inline void on_passive(struct bpf_sock_ops *ctx,
				       struct csig_host *host,
				       struct bpf_sock *sk)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	__u16 inherited = CSIG_FLAGS_ESTABLISHED & ~host->foreign_cb_flags;
	struct csig_flow *flow;
	__u8 flags;

	if (!tp || excluded(tp))
		goto leave;
	flags = load_flags(ctx, host->opt_kind, BPF_LOAD_HDR_OPT_TCP_SYN);
	/* Fast open: the SYN is at hand, it makes the connection. */
	if (!flags && ctx->skb_tcp_flags & 0x02)
		flags = load_flags(ctx, host->opt_kind, 0);
	if (!(flags & (CSIG_OPT_COMPACT | CSIG_OPT_EXPANDED)))
		goto leave;
	flow = flow_new(sk);
	if (!flow)
		goto leave;
	flow->own_cb_flags = inherited;
	flow_agreed(ctx, flow, flags);
	if (tp->total_retrans < CSIG_SYNS_WITH_OPTION) {
		csig_flow_begin(flow, sk);
	} else {
		csig_host_count(CSIG_HOST_REFUSED);
		flow->state = CSIG_FLOW_UNSURE;
	}
	return;
leave:
	flags_remove(ctx, inherited);
}

/* A listener of MPTCP takes plain connections, too; those are like any other. */
static __always_inline bool syn_is_mptcp(struct bpf_sock_ops *ctx)
{
	__u8 opt[4] = { TCPOPT_MPTCP };

	return bpf_load_hdr_opt(ctx, opt, sizeof(opt),
				BPF_LOAD_HDR_OPT_TCP_SYN) != CSIG_NO_OPTION;
}

/*
 * What a SYN-ACK answers, 0 for nothing.  The socket is a request, of which sockops
 * shows next to nothing: its kernel structures are looked at.
 */
static __always_inline __u8 synack_flags(struct bpf_sock_ops *ctx,
					 struct csig_host *host)
{
	struct bpf_sock_ops_kern *kern = bpf_cast_to_kern_ctx(ctx);
	struct request_sock *req;
	struct tcp_sock *listener;
	__u8 flags;

	if (bpf_get_netns_cookie(ctx) != host->netns_cookie)
		return 0;
	flags = load_flags(ctx, host->opt_kind, BPF_LOAD_HDR_OPT_TCP_SYN);
	if (!flags)
		return 0;
	if (ctx->args[0] == BPF_WRITE_HDR_TCP_SYNACK_COOKIE) {
		if (ctx->op == BPF_SOCK_OPS_HDR_OPT_LEN_CB)
			csig_host_count(CSIG_HOST_COOKIES);
		return 0;
	}
	req = bpf_rdonly_cast(kern->sk,
			      bpf_core_type_id_kernel(struct request_sock));
	/* counted after it was sent: it is 1 when the third is made */
	if (req->num_retrans >= CSIG_SYNS_WITH_OPTION - 1 || syn_is_mptcp(ctx))
		return 0;
	listener = bpf_rdonly_cast(req->__req_common.skc_listener,
				   bpf_core_type_id_kernel(struct tcp_sock));
	return is_signed(listener) ? 0 : flags;
}

static __always_inline void on_len(struct bpf_sock_ops *ctx,
				   struct csig_host *host)
{
	struct bpf_sock *sk = ctx->sk;
	struct csig_flow *flow;
	struct bpf_tcp_sock *tp;
	__u32 len = csig_opt_head_len(host->opt_kind) + 1;

	if (!sk) {
		if (synack_flags(ctx, host) &&
		    bpf_reserve_hdr_opt(ctx, len, 0))
			csig_host_count(CSIG_HOST_NO_ROOM);
		return;
	}
	flow = bpf_sk_storage_get(&csig_flows, sk, NULL, 0);
	if (!flow)
		return;
	if (flow->state == CSIG_FLOW_ON) {
		if (ctx->args[0] == BPF_WRITE_HDR_TCP_CURRENT_MSS)
			csig_reserve_mss(ctx, flow, host->opt_kind);
		else
			csig_reserve(ctx, flow, host->opt_kind);
		return;
	}
	tp = bpf_tcp_sock(sk);
	if (!tp || flow->state != CSIG_FLOW_ASKED ||
	    ctx->args[0] == BPF_WRITE_HDR_TCP_CURRENT_MSS)
		return;
	if (tp->total_retrans >= CSIG_SYNS_WITH_OPTION) {
		if (tp->total_retrans == CSIG_SYNS_WITH_OPTION)
			csig_host_count(CSIG_HOST_RETRIED);
		return;
	}
	if (bpf_reserve_hdr_opt(ctx, len, 0))
		csig_host_count(CSIG_HOST_NO_ROOM);
}

static __always_inline void on_write(struct bpf_sock_ops *ctx,
				     struct csig_host *host)
{
	struct bpf_sock *sk = ctx->sk;
	struct csig_flow *flow;
	__u8 flags;

	if (!sk) {
		flags = synack_flags(ctx, host);
		if (flags)
			store_flags(ctx, host->opt_kind, flags);
		return;
	}
	flow = bpf_sk_storage_get(&csig_flows, sk, NULL, 0);
	if (!flow)
		return;
	if (flow->state == CSIG_FLOW_ON)
		csig_write(ctx, flow, host->opt_kind);
	else if (flow->state == CSIG_FLOW_ASKED &&
		 !store_flags(ctx, host->opt_kind, CSIG_OPT_FLAGS_ALL))
		csig_host_count(CSIG_HOST_ASKED);
}

static __always_inline void on_timeout(const struct bpf_sock *sk,
				       struct csig_flow *flow)
{
	struct csig_address dst;

	if (!flow->tx_unanswered)
		return;
	flow->rto_silent++;
	if (flow->rto_silent < CSIG_DROPS_AFTER)
		return;
	csig_remote_address(sk, &dst);
	csig_path_drops(flow, &dst);
}

SEC("sockops")
int csig_tcp(struct bpf_sock_ops *ctx)
{
	struct csig_host *host = csig_host_get();
	struct bpf_sock *sk = ctx->sk;
	struct csig_flow *flow;

	if (!host)
		return 1;
	switch (ctx->op) {
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		on_len(ctx, host);
		return 1;
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		on_write(ctx, host);
		return 1;
	case BPF_SOCK_OPS_PARSE_HDR_OPT_CB:
	case BPF_SOCK_OPS_RTO_CB:
		if (!sk)
			return 1;
		/* Only sockets of this namespace have storage here. */
		flow = bpf_sk_storage_get(&csig_flows, sk, NULL, 0);
		if (!flow || (flow->state != CSIG_FLOW_ON &&
			      flow->state != CSIG_FLOW_UNSURE))
			return 1;
		if (ctx->op == BPF_SOCK_OPS_RTO_CB)
			on_timeout(sk, flow);
		else if (csig_parse(ctx, flow, host->opt_kind) &&
			 flow->state == CSIG_FLOW_UNSURE)
			csig_flow_sure(flow, sk);
		return 1;
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		break;
	default:
		return 1;
	}
	if (!sk || bpf_get_netns_cookie(ctx) != host->netns_cookie)
		return 1;
	switch (ctx->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
		on_connect(ctx, sk);
		break;
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
		on_listen(ctx, host, sk);
		break;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
		on_active(ctx, host, sk);
		break;
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		on_passive(ctx, host, sk);
		break;
	}
	return 1;
}
