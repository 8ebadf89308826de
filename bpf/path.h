/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a sender concludes about the path of a flow: it brings tags (CAPABLE), takes
 * them off (STRIPS) or loses what is tagged (DROPS).  Evidence comes from options
 * (tcp.bpf.c) and from packets that are sent again (host.bpf.c).
 */
#ifndef CSIG_BPF_PATH_H
#define CSIG_BPF_PATH_H

#include "maps.h"

#define CSIG_STRIPS_AFTER	8	/* tagged packets without an answer */
#define CSIG_STRIPS_PROBE	64	/* then 1 in so many is tagged */
#define CSIG_DROPS_AFTER	3	/* timeouts, or losses of what was tagged */
#define CSIG_DROPS_AFTER_CAPABLE 8	/* losses where tags came back before */

/* Serial numbers: is a before b? */
static __always_inline bool csig_before(__u32 a, __u32 b)
{
	return (__s32)(a - b) < 0;
}

/* A tag came back. */
static __always_inline void csig_path_answer(struct csig_flow *flow)
{
	flow->tx_unanswered = 0;
	flow->rto_silent = 0;
	flow->lost_in_a_row = 0;
	if (flow->path != CSIG_PATH_DROPS)
		flow->path = CSIG_PATH_CAPABLE;
}

/* The other end sees data without tags. */
static __always_inline void csig_path_no_signal(struct csig_flow *flow)
{
	if (flow->path != CSIG_PATH_DROPS &&
	    flow->tx_unanswered >= CSIG_STRIPS_AFTER)
		flow->path = CSIG_PATH_STRIPS;
}

/* No tags any more on this connection and, for a while, to this destination */
static __always_inline void csig_path_drops(struct csig_flow *flow,
					    const struct csig_address *dst)
{
	struct csig_host *host = csig_host_get();
	__u64 until;

	if (flow->path == CSIG_PATH_DROPS || !host)
		return;
	flow->path = CSIG_PATH_DROPS;
	__sync_fetch_and_add(&host->count[CSIG_HOST_BLACKHOLES], 1);
	until = bpf_ktime_get_ns() + host->avoid_ns;
	bpf_map_update_elem(&csig_avoid, dst, &until, BPF_ANY);
}

/* Is this a destination that lost tagged packets a while ago? */
static __always_inline bool csig_path_avoid(const struct csig_address *dst)
{
	const __u64 *until = bpf_map_lookup_elem(&csig_avoid, dst);

	if (!until)
		return false;
	if (*until > bpf_ktime_get_ns())
		return true;
	bpf_map_delete_elem(&csig_avoid, dst);
	return false;
}

/*
 * One tagged packet at a time is watched.  Three of them in a row lost, and no tag came
 * back in between: it is the tag.  Plain congestion loses some and lets others
 * through, a path that strips delivers them.  Where tags came back before it takes
 * eight: a connection that sends little over a lossy path has three by chance.
 */
static __always_inline void csig_path_watch(struct csig_flow *flow, __u32 seq,
					    __u32 len)
{
	if (flow->probe_seq != flow->probe_end)
		return;
	flow->probe_seq = seq;
	flow->probe_end = seq + len;
	flow->probe_lost = 0;
}

static __always_inline void csig_path_acked(struct csig_flow *flow, __u32 una)
{
	if (flow->probe_seq == flow->probe_end ||
	    csig_before(una, flow->probe_end))
		return;
	flow->probe_seq = flow->probe_end;
	if (!flow->probe_lost) {
		flow->lost_in_a_row = 0;
		flow->rto_silent = 0;
	}
}

/* Octets are sent again; true when that makes it enough. */
static __always_inline bool csig_path_resent(struct csig_flow *flow, __u32 seq,
					     __u32 len)
{
	if (flow->probe_seq == flow->probe_end || flow->probe_lost ||
	    csig_before(flow->probe_seq, seq) ||
	    !csig_before(flow->probe_seq, seq + len))
		return false;
	flow->probe_lost = 1;
	flow->lost_in_a_row++;
	if (!flow->tx_unanswered)
		return false;
	return flow->lost_in_a_row >= (flow->reflections_in ?
				       CSIG_DROPS_AFTER_CAPABLE :
				       CSIG_DROPS_AFTER);
}

static __always_inline void csig_address_ipv4(struct csig_address *a,
					      __be32 addr)
{
	__builtin_memset(a->octets, 0, 10);
	a->octets[10] = 0xff;
	a->octets[11] = 0xff;
	__builtin_memcpy(a->octets + 12, &addr, 4);
}

/* IPv4 peers of dual-stack sockets have mapped addresses of their own. */
static __always_inline void csig_remote_address(const struct bpf_sock *sk,
						struct csig_address *a)
{
	/* volatile: one word at a time is all that may be read */
	const volatile __u32 *ip6 = sk->dst_ip6;
	__u32 v6[4];

	if (sk->family != AF_INET6) {
		csig_address_ipv4(a, sk->dst_ip4);
		return;
	}
	v6[0] = ip6[0];
	v6[1] = ip6[1];
	v6[2] = ip6[2];
	v6[3] = ip6[3];
	__builtin_memcpy(a->octets, v6, sizeof(v6));
}

/* A connection takes part from here on. */
static __always_inline void csig_flow_begin(struct csig_flow *flow,
					    const struct bpf_sock *sk)
{
	struct csig_address dst;

	flow->state = CSIG_FLOW_ON;
	csig_host_count(CSIG_HOST_NEGOTIATED);
	csig_remote_address(sk, &dst);
	if (csig_path_avoid(&dst)) {
		flow->path = CSIG_PATH_DROPS;
		csig_host_count(CSIG_HOST_AVOIDED);
	}
}

/* The peer did take a SYN-ACK with the option: it sends tags or options. */
static __always_inline void csig_flow_sure(struct csig_flow *flow,
					   const struct bpf_sock *sk)
{
	struct csig_host *host = csig_host_get();

	if (host)
		__sync_fetch_and_add(&host->count[CSIG_HOST_REFUSED], -1);
	csig_flow_begin(flow, sk);
}

#endif /* CSIG_BPF_PATH_H */
