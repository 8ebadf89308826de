// SPDX-License-Identifier: GPL-2.0
/*
 * GRO of frames with a tag in their octets.  Without it a tagged flow loses GRO.  When
 * the kernel calls is decided in gro_tpid.c.
 *
 * Packets of a flow merge when format, T and reserved bits are the same; the merged
 * packet keeps the worst S with its locator.  What must not merge stays in order: see
 * csig_gro_look() and gro_run.c.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <net/gro.h>

#include "csig.h"
#include "gro.h"

/* Format that a TPID has here; others may use it for something else. */
static int csig_gro_format(const struct csig_profile *profile, u16 tpid)
{
	unsigned int f;

	for (f = 0; f < CSIG_FORMATS; f++)
		if (profile->tpid[f] == tpid)
			return f;
	return -1;
}

/* Context: RCU */
static const struct csig_profile *csig_gro_profile(const struct sk_buff *skb)
{
	return &rcu_dereference(csig_net(dev_net(skb->dev))->domain)->profile;
}

/* Where the tag and what it says, of a packet in csig_gro_receive() */
struct csig_gro_ctx {
	const struct csig_signal *signal;
	struct csig_gro_flow flow;
	struct csig_tag tag;
	unsigned int off;	/* of the data fields */
	unsigned int len;	/* of these with the EtherType behind them */
	u16 tpid;
};

static bool csig_gro_same_signal(const struct csig_gro_ctx *c,
				 const struct csig_tag *tag)
{
	if (tag->t != c->tag.t || tag->r != c->tag.r)
		return false;
	return c->signal->defined ||
	       (tag->s == c->tag.s && tag->lm == c->tag.lm);
}

/* Is the new packet's S worse than that of a held one? */
static bool csig_gro_is_worse(const struct csig_gro_ctx *c,
			      const struct csig_tag *held)
{
	if (c->signal->aggregate == CSIG_AGGREGATE_MIN)
		return c->tag.s < held->s;
	return c->tag.s > held->s;
}

static void csig_gro_tag(const struct csig_gro_ctx *c, const struct sk_buff *p,
			 struct csig_tag *tag)
{
	csig_decode(c->tag.format, p->data + c->off, tag);
}

/**
 * struct csig_gro_held - what is held already of the new packet's flow
 * @oldest: the one that came first
 * @number: how many
 * @apart: some of them can't merge with the new one, whatever TCP or UDP say
 */
struct csig_gro_held {
	struct sk_buff *oldest;
	unsigned int number;
	bool apart;
};

static bool csig_gro_may_merge(const struct csig_gro_ctx *c, struct sk_buff *p)
{
	struct csig_tag held;

	csig_gro_tag(c, p, &held);
	if (!csig_gro_same_signal(c, &held))
		return false;
	return !csig_gro_is_worse(c, &held) || !skb_header_cloned(p) ||
	       !skb_unclone(p, GFP_ATOMIC);
}

/*
 * Compare the packet with those that are held, of which the youngest comes first.  Those
 * of its flow with another format or without a tag are none that the protocols will find;
 * those with which it must not merge are made so.  UDP would merge past a younger one, as
 * it has no sequence numbers to tell.
 */
static void csig_gro_look(const struct csig_gro_ctx *c, struct list_head *head,
			  struct sk_buff *skb, struct csig_gro_held *h)
{
	struct sk_buff *p;

	list_for_each_entry(p, head, list) {
		/* The TPIDs of the domain were swapped just now. */
		if (NAPI_GRO_CB(p)->same_flow &&
		    csig_gro_network_offset(p, skb) != c->off + c->len)
			NAPI_GRO_CB(p)->same_flow = 0;
		if (!csig_gro_flow_has(&c->flow, skb, p))
			continue;
		if (NAPI_GRO_CB(p)->same_flow &&
		    ((h->apart && c->flow.proto != IPPROTO_TCP) ||
		     !csig_gro_may_merge(c, p)))
			NAPI_GRO_CB(p)->same_flow = 0;
		if (!NAPI_GRO_CB(p)->same_flow)
			h->apart = true;
		h->oldest = p;
		h->number++;
	}
}

/*
 * A packet that did not merge: one that is held goes up first.  Where that is the only
 * one, the new packet follows at once; where there are more, it waits behind them.
 *
 * For TCP that is the oldest one, whichever TCP names: it does not know all of them.  What
 * others name stays: the oldest may be of another flow in the same tunnel.
 */
static struct sk_buff *csig_gro_order(const struct csig_gro_ctx *c,
				      const struct csig_gro_held *h,
				      struct sk_buff *skb, struct sk_buff *pp,
				      bool wait)
{
	if ((h->apart || !wait) && h->number <= 1)
		NAPI_GRO_CB(skb)->flush = 1;
	if (h->oldest && (pp ? c->flow.proto == IPPROTO_TCP : h->apart))
		return h->oldest;
	return pp;
}

/* The packet that a new one was merged with is the first that still matches. */
static struct sk_buff *csig_gro_match(struct list_head *head)
{
	struct sk_buff *p;

	list_for_each_entry(p, head, list)
		if (NAPI_GRO_CB(p)->same_flow)
			return p;
	return NULL;
}

static void csig_gro_merged(const struct csig_gro_ctx *c, struct sk_buff *p,
			    unsigned int added)
{
	struct csig_tag held;

	if (NAPI_GRO_CB(p)->count == added + 1)
		csig_gro_count(c->tpid, 1);
	csig_gro_tag(c, p, &held);
	if (c->signal->defined && csig_gro_same_signal(c, &held) &&
	    csig_gro_is_worse(c, &held))
		csig_encode(&c->tag, p->data + c->off);
}

static bool csig_gro_parse(struct csig_gro_ctx *c, struct sk_buff *skb)
{
	unsigned int off = skb_gro_offset(skb), hlen;
	const struct csig_profile *profile = csig_gro_profile(skb);
	u8 data[CSIG_TAG_LEN_MAX], *hdr;
	int format;
	u16 inner;

	/*
	 * The TPID has to be in the octets, where csig_gro_complete() looks.  Devices
	 * without Ethernet have it in the metadata only.
	 */
	if (!off && (skb->dev->type != ARPHRD_ETHER ||
		     eth_hdr(skb)->h_proto != skb->protocol))
		return false;
	if (off) {	/* behind a VLAN tag, or in a tunnel */
		hdr = csig_gro_header(skb, off, off - CSIG_TPID_LEN);
		if (unlikely(!hdr))
			return false;
		c->tpid = csig_get16(hdr);
	} else {
		c->tpid = ntohs(skb->protocol);
	}
	format = csig_gro_format(profile, c->tpid);
	if (format < 0)
		return false;
	/* The TPID is behind us, the next EtherType to be read: as long as the tag */
	c->off = off;
	c->len = csig_layout(format)->len;
	hlen = off + c->len;
	hdr = csig_gro_header(skb, hlen, off);
	if (unlikely(!hdr))
		return false;
	memcpy(data, hdr, c->len);
	csig_decode(format, data, &c->tag);
	c->signal = &profile->signals[c->tag.t];
	inner = csig_get16(data + c->len - 2);
	csig_gro_network_offset_set(skb, hlen);
	skb_gro_pull(skb, c->len);
	skb_gro_postpull_rcsum(skb, data, c->len);
	return csig_gro_flow_get(&c->flow, skb, inner);
}

/**
 * csig_gro_receive() - gro_receive of a TPID
 * @head: packets that are held
 * @skb: packet, GRO's offset behind the TPID
 *
 * Context: NAPI, RCU.
 * Return: a held packet that is to go up; or NULL
 */
struct sk_buff *csig_gro_receive(struct list_head *head, struct sk_buff *skb)
{
	const struct packet_offload *inner;
	struct sk_buff *pp = NULL, *p;
	struct csig_gro_held h = {};
	struct csig_gro_ctx c;
	int flush = 1;
	bool wait;

	if (!csig_gro_parse(&c, skb))
		goto out;
	inner = gro_find_receive_by_type(htons(c.flow.type));
	if (!inner)
		goto out;
	flush = 0;
	csig_gro_look(&c, head, skb, &h);
	wait = csig_gro_run_next(&c.flow, skb);
	pp = call_gro_receive(inner->callbacks.gro_receive, head, skb);
	if (PTR_ERR(pp) == -EINPROGRESS)
		return pp;	/* not ours any more */
	if (NAPI_GRO_CB(skb)->same_flow) {
		p = csig_gro_match(head);
		if (!WARN_ON_ONCE(!p))
			csig_gro_merged(&c, p, NAPI_GRO_CB(skb)->count);
		goto out;
	}
	pp = csig_gro_order(&c, &h, skb, pp, wait);
	/* came as a super-packet */
	if (!NAPI_GRO_CB(skb)->flush && NAPI_GRO_CB(skb)->count > 1)
		csig_gro_count(c.tpid, 1);
out:
	skb_gro_flush_final(skb, pp, flush);
	return pp;
}

/*
 * The domain may have changed since the packets merged: the length of the tag is what
 * it was then.
 */
static unsigned int csig_gro_tag_len(const struct sk_buff *skb, int nhoff)
{
	unsigned int i, len;

	for (i = 0; i < ARRAY_SIZE(NAPI_GRO_CB(skb)->network_offsets); i++) {
		len = NAPI_GRO_CB(skb)->network_offsets[i] - nhoff;
		if (len == csig_layout(CSIG_FORMAT_COMPACT)->len ||
		    len == csig_layout(CSIG_FORMAT_EXPANDED)->len)
			return len;
	}
	return 0;
}

/**
 * csig_gro_complete() - gro_complete of a TPID
 * @skb: merged packet
 * @nhoff: offset of the data fields: the two octets before them are the TPID
 *
 * Return: 0 or what the next layer says
 */
int csig_gro_complete(struct sk_buff *skb, int nhoff)
{
	unsigned int len = csig_gro_tag_len(skb, nhoff);
	const u8 *data = skb->data + nhoff;
	struct packet_offload *inner;
	int err = -ENOENT;

	csig_gro_count(csig_get16(data - CSIG_TPID_LEN), -1);
	if (WARN_ON_ONCE(!len))
		return err;
	inner = gro_find_complete_by_type(htons(csig_get16(data + len - 2)));
	if (inner)
		err = inner->callbacks.gro_complete(skb, nhoff + len);
	/*
	 * Hardware that segments looks for IP where the tag is.  Where the packet is
	 * forwarded with its tag, this lets software do it, gso.c.
	 */
	if (!err)
		skb_shinfo(skb)->gso_type |= SKB_GSO_DODGY;
	return err;
}
