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

/*
 * Compare the packet with those that are held.  Where it belongs to a flow but must
 * not merge, the flush flag makes TCP and UDP let the held one go first.
 *
 * A held packet of the same flow with another format or without a tag is none that
 * the protocols will find, though the new one must not overtake it.
 *
 * Return: such a packet, to be let go; or NULL
 */
static struct sk_buff *csig_gro_look(const struct csig_gro_ctx *c,
				     struct list_head *head,
				     struct sk_buff *skb)
{
	struct sk_buff *p, *other = NULL;
	struct csig_tag held;
	bool same;

	list_for_each_entry(p, head, list) {
		same = csig_gro_flow_has(&c->flow, skb, p);
		if (!NAPI_GRO_CB(p)->same_flow) {
			if (same)
				other = p;	/* the oldest one is the last */
			continue;
		}
		/* The TPIDs of the domain were swapped just now. */
		if (csig_gro_network_offset(p, skb) != c->off + c->len) {
			NAPI_GRO_CB(p)->same_flow = 0;
			continue;
		}
		if (!same)
			continue;
		csig_gro_tag(c, p, &held);
		if (!csig_gro_same_signal(c, &held) ||
		    (csig_gro_is_worse(c, &held) && skb_header_cloned(p) &&
		     skb_unclone(p, GFP_ATOMIC)))
			NAPI_GRO_CB(skb)->flush = 1;
	}
	if (other)
		NAPI_GRO_CB(skb)->flush = 1;
	return other;
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
	struct sk_buff *pp = NULL, *other, *p;
	const struct packet_offload *inner;
	struct csig_gro_ctx c;
	int flush = 1;

	if (!csig_gro_parse(&c, skb))
		goto out;
	inner = gro_find_receive_by_type(htons(c.flow.type));
	if (!inner)
		goto out;
	flush = 0;
	other = csig_gro_look(&c, head, skb);
	if (!csig_gro_run_next(&c.flow, skb))
		NAPI_GRO_CB(skb)->flush = 1;
	pp = call_gro_receive(inner->callbacks.gro_receive, head, skb);
	if (PTR_ERR(pp) == -EINPROGRESS)
		return pp;	/* not ours any more */
	if (NAPI_GRO_CB(skb)->same_flow) {
		p = csig_gro_match(head);
		if (!WARN_ON_ONCE(!p))
			csig_gro_merged(&c, p, NAPI_GRO_CB(skb)->count);
	} else if (!NAPI_GRO_CB(skb)->flush && NAPI_GRO_CB(skb)->count > 1) {
		csig_gro_count(c.tpid, 1);	/* came as a super-packet */
	}
	if (!pp)
		pp = other;
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
