// SPDX-License-Identifier: GPL-2.0
/*
 * A host's packets (tc actions): tags of packets that come in are kept with their
 * socket, tags for packets that leave are asked for.  The csig action takes them off
 * before this, and inserts them behind it.  TCP options are tcp.bpf.c.
 */
#include "packet.h"
#include "path.h"

#include <csig/word.h>

/* The action's own control decides what comes next. */
#define GO_ON	(-1)

#define CSIG_GOLDEN	0x9e3779b97f4a7c15ULL	/* 2^64 / golden ratio */
#define CSIG_RUN_MAX	65536	/* octets: GRO merges no more */

/* --- ingress -------------------------------------------------------------------- */

/*
 * The worse of two tags of one signal, for the summary.  The new one wins a tie: its
 * locator is fresher.  What a domain does not define has no order.
 */
static __always_inline bool replaces(const struct csig_bpf_tag *tag, __u64 old)
{
	struct csig_tag t;

	if (!csig_word_decode(old, &t) || t.format != tag->format)
		return true;
	switch (tag->aggregate) {
	case CSIG_AGGREGATE_MIN:
		return tag->s <= t.s;
	case CSIG_AGGREGATE_MAX:
	case CSIG_AGGREGATE_SUM:
	case CSIG_AGGREGATE_COUNT:
		return tag->s >= t.s;
	default:
		return true;
	}
}

/* Word first, then its bit in pending; see reflect.h. */
static __always_inline void keep(struct csig_flow *flow,
				 const struct csig_bpf_tag *tag, bool summary)
{
	const struct csig_tag t = {
		.format = tag->format,
		.t = tag->t,
		.r = tag->r,
		.lm = tag->lm,
		.s = tag->s,
	};
	__u32 i = tag->t & (CSIG_SIGNALS - 1), bit = 1U << i, old;
	struct csig_flow_value *v = &flow->received[i];
	__u64 now = bpf_ktime_get_ns();

	old = *(volatile __u32 *)&flow->pending;
	if (!summary || !(old & bit) || replaces(tag, v->word)) {
		*(volatile __u64 *)&v->word = csig_word_encode(&t);
		v->time_ns = now;
	}
	flow->rx_formats |= 1 << (tag->format & 1);
	old = __sync_fetch_and_or(&flow->pending, bit);
	if (!(old & bit))
		flow->pending_since_ns[i] = now;
}

/*
 * Segments with a tag are counted here, all segments when TCP gets to them.  One that
 * comes again is on its way through several devices: what is sent again has no tag.
 */
static __always_inline void count_tcp(struct csig_flow *flow, struct bpf_sock *sk,
				      const struct csig_packet *p, __u32 segs)
{
	struct bpf_tcp_sock *tp = bpf_tcp_sock(sk);
	__u32 untagged;

	if (!tp || (p->payload && flow->rx_last_seq == p->seq && flow->rx_tagged))
		return;
	__sync_fetch_and_add(&flow->rx_tagged, 1);
	if (!p->payload)
		return;
	flow->rx_last_seq = p->seq;
	__sync_fetch_and_add(&flow->rx_tagged_segs, segs);
	untagged = tp->data_segs_in - flow->rx_tagged_segs;
	if (csig_before(flow->rx_untagged_seen, untagged))
		flow->rx_untagged_seen = untagged;
}

SEC("action")
int csig_ingress(struct __sk_buff *skb)
{
	struct csig_bpf_tag tag = {};
	struct csig_packet p = {};
	struct csig_host *host;
	struct csig_flow *flow;
	struct bpf_sock *sk;
	__u32 len;

	if (bpf_csig_tag(skb, &tag))
		return GO_ON;
	host = csig_host_get();
	if (!host || !csig_packet_parse(skb, &p))
		return GO_ON;
	/* The compiler knows its bounds, the verifier does not. */
	len = p.tuple_len;
	barrier_var(len);
	if (!len)
		return GO_ON;
	barrier_var(len);
	if (len > sizeof(p.tuple))
		return GO_ON;
	if (p.protocol == IPPROTO_TCP)
		sk = bpf_sk_lookup_tcp(skb, &p.tuple, len,
				       BPF_F_CURRENT_NETNS, 0);
	else
		sk = bpf_sk_lookup_udp(skb, &p.tuple, len,
				       BPF_F_CURRENT_NETNS, 0);
	if (!sk)
		return GO_ON;
	flow = bpf_sk_storage_get(&csig_flows, sk, NULL, 0);
	if (flow && flow->state == CSIG_FLOW_UNSURE)
		csig_flow_sure(flow, sk);
	if (flow && (flow->state == CSIG_FLOW_ON ||
		     flow->state == CSIG_FLOW_UDP)) {
		keep(flow, &tag, host->reflect == CSIG_REFLECT_SUMMARY);
		if (p.protocol == IPPROTO_TCP)
			count_tcp(flow, sk, &p, csig_packet_segs(skb));
		else
			__sync_fetch_and_add(&flow->rx_tagged, 1);
	}
	bpf_sk_release(sk);
	return GO_ON;
}

/* --- egress --------------------------------------------------------------------- */

/* 1 in N; a path that strips is only probed. */
static __always_inline bool is_due(struct csig_flow *flow,
				   const struct csig_device *dev)
{
	__u32 every = flow->every ? flow->every : dev->every;
	__u64 n = __sync_fetch_and_add(&flow->tx_packets, 1);

	if (flow->path == CSIG_PATH_STRIPS && every < CSIG_STRIPS_PROBE)
		every = CSIG_STRIPS_PROBE;
	return every < 2 || n % every == 0;
}

/* The device's format, or the one that the other end takes */
static __always_inline __u8 choose_format(const struct csig_flow *flow,
					  const struct csig_device *dev)
{
	__u8 format = dev->format == CSIG_FORMAT_EXPANDED;

	/* an application that uses UDP need not say anything */
	if ((flow->state == CSIG_FLOW_UDP && !flow->peer_flags) ||
	    flow->peer_flags >> format & 1)
		return format;
	return !format;
}

/*
 * Does the packet get the signal of the one before it?  Runs of an eighth of what is in
 * flight do, so that GRO merges them; even sixteen signals take turns within two RTTs.
 */
static __always_inline bool in_run(const struct csig_flow *flow,
				   const struct bpf_tcp_sock *tp, __u32 seq)
{
	__u32 run = (tp->snd_nxt - tp->snd_una) >> 3;

	return seq - flow->run_seq < (run < CSIG_RUN_MAX ? run : CSIG_RUN_MAX);
}

/*
 * Asks for the same signal again, or the next one in turn; those that the domain lacks
 * are passed over.
 */
static __always_inline int request(struct __sk_buff *skb, struct csig_flow *flow,
				   const struct csig_device *dev, __u8 format,
				   bool again)
{
	__u32 signals = flow->signals ? flow->signals : dev->signals;
	struct csig_bpf_tag tag = { .format = format };
	__u8 t = flow->rotation - again;
	int i, err;

	for (i = 0; i < CSIG_SIGNALS; i++, t++) {
		t &= CSIG_SIGNALS - 1;
		if (!(signals >> t & 1) || t > csig_layout(format)->t_max)
			continue;
		tag.t = t;
		err = bpf_csig_request(skb, &tag);
		if (err == CSIG_NO_ENTRY)
			continue;
		if (!err) {
			flow->rotation = (t + 1) & (CSIG_SIGNALS - 1);
			flow->format = format;
		}
		return err;
	}
	return CSIG_NO_ENTRY;
}

/* True when the packet gets a tag; @tp: NULL for UDP */
static __always_inline bool tag_packet(struct __sk_buff *skb,
				       struct csig_flow *flow,
				       const struct csig_device *dev,
				       const struct bpf_tcp_sock *tp, __u32 seq)
{
	__u8 format = choose_format(flow, dev), len;
	bool again;

	if (!is_due(flow, dev))
		return false;
	again = tp && in_run(flow, tp, seq);
	switch (request(skb, flow, dev, format, again)) {
	case 0:
		if (!again)
			flow->run_seq = seq;
		__sync_fetch_and_add(&flow->tx_tagged, 1);
		__sync_fetch_and_add(&flow->tx_unanswered, 1);
		return true;
	case CSIG_TOO_LONG:
		__sync_fetch_and_add(&flow->tx_skipped, 1);
		len = csig_layout(format)->len;
		if (flow->mss_less < len)
			flow->mss_less = len;
		return false;
	default:
		return false;
	}
}

/*
 * Packets leave in the context that holds the socket, before snd_nxt moves: what starts
 * before it is sent again, and goes without a tag, in case the tag is what was lost.
 */
static __always_inline void egress_tcp(struct __sk_buff *skb, struct bpf_sock *sk,
				       struct csig_flow *flow,
				       const struct csig_device *dev,
				       const struct csig_packet *p)
{
	struct bpf_tcp_sock *tp = bpf_tcp_sock(sk);
	struct csig_address dst;

	if (!tp)
		return;
	/* Without a single free word sockops is not even asked. */
	if (p->tcp_header_len == 60 && flow->pending) {
		flow->no_room++;
		csig_host_count(CSIG_HOST_NO_ROOM);
	}
	if (!p->payload)
		return;
	csig_path_acked(flow, tp->snd_una);
	if (csig_before(p->seq, tp->snd_nxt)) {
		if (csig_path_resent(flow, p->seq,
				     p->payload * csig_packet_segs(skb))) {
			csig_remote_address(sk, &dst);
			csig_path_drops(flow, &dst);
		}
		return;
	}
	/* a device above had its turn */
	if (p->seq == flow->tx_last_seq && flow->tx_packets)
		return;
	flow->tx_last_seq = p->seq;
	if (flow->path == CSIG_PATH_DROPS ||
	    !(flow->peer_flags & CSIG_OPT_REFLECTS))
		return;
	if (tag_packet(skb, flow, dev, tp, p->seq))
		csig_path_watch(flow, p->seq, p->payload);
}

/*
 * Did an enabled device above this one have the packet?  It has the same head then (a
 * hash of it: addresses are nobody's business).  Another packet may have that head later,
 * but at the device where its route ends it is a new one, whatever came before.
 */
static __always_inline bool taken_above(struct __sk_buff *skb,
					struct csig_flow *flow)
{
	/* not by bpf_cast_to_kern_ctx(): libbpf links one user of a kfunc only */
	const struct sk_buff *kern = (struct sk_buff *)skb;
	unsigned long ref = BPF_CORE_READ(kern, _skb_refdst);
	const struct dst_entry *dst = (void *)(ref & ~1UL);
	__u64 head = (unsigned long)BPF_CORE_READ(kern, head);
	__u32 id = (__u32)(head * CSIG_GOLDEN >> 32);

	if (!(dst && (__u32)BPF_CORE_READ(dst, dev, ifindex) == skb->ifindex) &&
	    flow->tx_skb == id && flow->tx_ifindex != skb->ifindex)
		return true;
	flow->tx_skb = id;
	flow->tx_ifindex = skb->ifindex;
	return false;
}

/* Around a packet of the socket may be UDP that is not the socket's: a tunnel. */
static __always_inline void egress_udp(struct __sk_buff *skb, struct bpf_sock *sk,
				       struct csig_flow *flow,
				       const struct csig_device *dev,
				       const struct csig_packet *p)
{
	__be16 dst_port = sk->dst_port;

	if (!p->payload || csig_packet_sport(p) != bpf_htons(sk->src_port) ||
	    (dst_port && csig_packet_dport(p) != dst_port) ||
	    taken_above(skb, flow))
		return;
	tag_packet(skb, flow, dev, NULL, 0);
}

SEC("action")
int csig_egress(struct __sk_buff *skb)
{
	__u32 ifindex = skb->ifindex;
	const struct csig_device *dev;
	struct csig_packet p = {};
	struct csig_flow *flow;
	struct bpf_sock *sk;

	sk = skb->sk;
	if (!sk)
		return GO_ON;
	sk = bpf_sk_fullsock(sk);
	if (!sk)
		return GO_ON;
	flow = bpf_sk_storage_get(&csig_flows, sk, NULL, 0);
	if (!flow)
		return GO_ON;
	dev = bpf_map_lookup_elem(&csig_devices, &ifindex);
	if (!dev || !csig_packet_parse(skb, &p))
		return GO_ON;
	if (flow->state == CSIG_FLOW_ON && p.protocol == IPPROTO_TCP)
		egress_tcp(skb, sk, flow, dev, &p);
	else if (flow->state == CSIG_FLOW_UDP && p.protocol == IPPROTO_UDP)
		egress_udp(skb, sk, flow, dev, &p);
	return GO_ON;
}
