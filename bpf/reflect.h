/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reflection on an established connection: which option a segment carries, and what an
 * option that came in says.  Part of tcp.bpf.c.
 *
 * The ingress program (host.bpf.c) writes received[] and pending while a segment of the
 * same socket is built on another CPU.  A word is one store; the program sets the bit
 * of pending after the word, here the bit is cleared before the word is read.  So a
 * value may be told twice, but none that came is left without its bit.
 */
#ifndef CSIG_BPF_REFLECT_H
#define CSIG_BPF_REFLECT_H

#include "path.h"

#include <csig/word.h>

#define CSIG_NO_SIGNAL_EVERY	16	/* data segments */
#define CSIG_TCP_OPTIONS_MAX	40	/* octets of all options of a segment */

/* What a segment is to carry */
enum csig_pick {
	CSIG_PICK_NONE = -1,
	CSIG_PICK_NO_SIGNAL = CSIG_SIGNALS,	/* below it: T */
};

static __always_inline __u32 csig_align4(__u32 len)
{
	return (len + 3) & ~3U;
}

static __always_inline __u32 csig_word_len(__u64 word)
{
	return csig_data_len(word & CSIG_BPF_WORD_EXPANDED ?
			     CSIG_FORMAT_EXPANDED : CSIG_FORMAT_COMPACT);
}

/*
 * Data segments that came without a tag.  Tags are counted as packets come in, segments
 * when TCP gets to them: never more than there were.
 */
static __always_inline __u32 csig_untagged(const struct csig_flow *flow,
					   __u32 data_segs_in)
{
	return data_segs_in - flow->rx_tagged_segs;
}

/*
 * The signal that has waited longest; without one "no signal", at once as long as no
 * tag ever came, else now and then.
 */
static __always_inline int csig_pick(const struct csig_flow *flow,
				     __u32 data_segs_in)
{
	__u32 pending = *(volatile __u32 *)&flow->pending;
	__u64 oldest = ~0ULL;
	__s32 untagged;
	int pick = CSIG_PICK_NONE, t;

	if (pending) {
		for (t = 0; t < CSIG_SIGNALS && pending >> t; t++) {
			if (!(pending >> t & 1) ||
			    flow->pending_since_ns[t] >= oldest)
				continue;
			oldest = flow->pending_since_ns[t];
			pick = t;
		}
		return pick;
	}
	untagged = (__s32)(csig_untagged(flow, data_segs_in) -
			   flow->rx_untagged_seen);
	if (untagged >= (flow->rx_tagged ? CSIG_NO_SIGNAL_EVERY : 1))
		return CSIG_PICK_NO_SIGNAL;
	return CSIG_PICK_NONE;
}

static __always_inline __u32 csig_pick_len(const struct csig_flow *flow,
					   int pick, __u8 kind)
{
	__u32 len = csig_opt_head_len(kind);

	if (pick < 0)
		return 0;
	if (pick < CSIG_SIGNALS)
		len += csig_word_len(flow->received[pick].word);
	return len;
}

/*
 * Room in full-size segments.  It must cover what later segments carry, so it is for the
 * largest option that this connection may need: none before a tag came in, who only
 * sends keeps full segments.  And for the tag where the device has no room beyond its
 * MTU.
 */
static __always_inline void csig_reserve_mss(struct bpf_sock_ops *ctx,
					     struct csig_flow *flow, __u8 kind)
{
	__u32 len = 0;

	if (flow->rx_formats) {
		len = csig_opt_head_len(kind);
		len += csig_data_len(flow->rx_formats >> CSIG_FORMAT_EXPANDED & 1);
		len = csig_align4(len);
	}
	flow->mss_reserved = (__u8)len;
	if (!(len + flow->mss_less) ||
	    !bpf_reserve_hdr_opt(ctx, len + flow->mss_less, 0))
		return;
	/* SACK blocks take what there is; they go again. */
	if (!flow->mss_less || bpf_reserve_hdr_opt(ctx, len, 0))
		flow->mss_reserved = 0;
}

/* Will the option make no segment longer than it was cut for? */
static __always_inline bool csig_has_room(const struct bpf_sock_ops *ctx,
					  const struct csig_flow *flow,
					  const struct bpf_tcp_sock *tp,
					  __u32 len)
{
	__u32 payload = ctx->skb_len;

	return csig_align4(len) <= flow->mss_reserved || !payload ||
	       payload + CSIG_TCP_OPTIONS_MAX <= tp->mss_cache;
}

/* Length of the option of a segment; its choice is made again when it is written. */
static __always_inline void csig_reserve(struct bpf_sock_ops *ctx,
					 struct csig_flow *flow, __u8 kind)
{
	struct bpf_tcp_sock *tp;
	__u32 len;

	if (!ctx->sk)
		return;
	tp = bpf_tcp_sock(ctx->sk);
	if (!tp)
		return;
	len = csig_pick_len(flow, csig_pick(flow, tp->data_segs_in), kind);
	if (!len)
		return;
	if (!csig_has_room(ctx, flow, tp, len))
		return;		/* with the next one that has */
	if (!bpf_reserve_hdr_opt(ctx, len, 0))
		return;
	flow->no_room++;
	csig_host_count(CSIG_HOST_NO_ROOM);
}

static __always_inline void csig_write(struct bpf_sock_ops *ctx,
				       struct csig_flow *flow, __u8 kind)
{
	__u8 opt[CSIG_OPT_LEN_MAX + 2] = {};
	struct bpf_tcp_sock *tp;
	__u32 segs, head, bit;
	struct csig_tag tag;
	__u64 word;
	int pick;

	if (!ctx->sk)
		return;
	tp = bpf_tcp_sock(ctx->sk);
	if (!tp)
		return;
	segs = tp->data_segs_in;
	pick = csig_pick(flow, segs);
	if (pick == CSIG_PICK_NO_SIGNAL) {
		head = csig_opt_head(kind, 0, opt);
		if (bpf_store_hdr_opt(ctx, opt, head, 0))
			return;
		flow->rx_untagged_seen = csig_untagged(flow, segs);
		flow->no_signal_out++;
		return;
	}
	if (pick < 0 || pick >= CSIG_SIGNALS)
		return;
	bit = 1U << pick;
	__sync_fetch_and_and(&flow->pending, ~bit);
	word = *(volatile __u64 *)&flow->received[pick].word;
	if (!csig_word_decode(word, &tag))
		return;
	head = csig_opt_head(kind, csig_data_len(tag.format), opt);
	/* two cases: the verifier wants a known offset */
	if (head == 4)
		csig_encode(&tag, opt + 4);
	else
		csig_encode(&tag, opt + 2);
	if (bpf_store_hdr_opt(ctx, opt, sizeof(opt), 0)) {
		/* a longer one came in since the length was asked for */
		__sync_fetch_and_or(&flow->pending, bit);
		return;
	}
	flow->reflections_out++;
}

/* An option of ours in a segment that came in?  True when it is well formed. */
static __always_inline bool csig_parse(struct bpf_sock_ops *ctx,
				       struct csig_flow *flow, __u8 kind)
{
	__u8 opt[CSIG_OPT_LEN_MAX + 2] = {};
	struct csig_tag tag = {};
	int len, format;
	__u32 head;

	head = csig_opt_head(kind, 0, opt);
	if (!csig_opt_kind_is_shared(kind))
		opt[1] = 0;
	len = bpf_load_hdr_opt(ctx, opt, sizeof(opt), 0);
	if (len == CSIG_NO_SPACE) {
		flow->malformed_in++;
		return false;
	}
	if (len < 0)
		return false;
	if ((__u32)len == head) {
		flow->no_signal_in++;
		csig_path_no_signal(flow);
		return true;
	}
	format = csig_opt_format((__u32)len - head);
	if (format < 0) {
		flow->malformed_in++;
		return false;
	}
	if (head == 4)
		csig_decode((__u32)format, opt + 4, &tag);
	else
		csig_decode((__u32)format, opt + 2, &tag);
	flow->reflected[tag.t & (CSIG_SIGNALS - 1)].time_ns = bpf_ktime_get_ns();
	flow->reflected[tag.t & (CSIG_SIGNALS - 1)].word = csig_word_encode(&tag);
	flow->reflections_in++;
	csig_path_answer(flow);
	return true;
}

#endif /* CSIG_BPF_REFLECT_H */
