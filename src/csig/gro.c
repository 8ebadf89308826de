// SPDX-License-Identifier: GPL-2.0
/*
 * GRO of frames with a tag in their octets: a packet_offload for each TPID that
 * the domain of any network namespace has.  Without it a tagged flow loses GRO.
 *
 * Packets of a flow merge when format, T and reserved bits are the same; the merged
 * packet keeps the worst S with its locator.  What must not merge stays in order: see
 * csig_gro_look() and gro_run.c.
 *
 * DOC: life of an offload
 *
 * Packets may wait in a GRO list for longer than an RCU grace period, and the kernel
 * warns of one whose offload is gone when it leaves the list.  So receiving and
 * completing are two offloads: the first one is taken away, what waits is waited for,
 * then the second one goes.
 */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <net/gro.h>

#include "csig.h"
#include "gro.h"

/*
 * Frames of other EtherTypes look through all of them, and whoever owns a namespace can
 * have a TPID.  Those beyond do without GRO.
 */
#define CSIG_GRO_MAX	64

/**
 * struct csig_gro - what the kernel knows of a TPID
 * @receive: its gro_receive
 * @complete: its gro_complete and gso_segment
 * @users: domains with this TPID; csig_gro_lock
 * @formats: bits of all that it was in a domain since then; only more of them come
 * @on: the offloads are registered; csig_gro_lock
 * @held: per CPU, super-packets that wait for gro_complete; only the sum makes sense
 */
struct csig_gro {
	struct packet_offload receive;
	struct packet_offload complete;
	unsigned int users;
	unsigned long formats;
	bool on;
	int __percpu *held;
};

static DEFINE_XARRAY(csig_gros);	/* by TPID; read by RCU */
static DEFINE_MUTEX(csig_gro_lock);
static bool csig_gro_running;		/* csig_gro_lock, as the next one */
static unsigned int csig_gro_number;	/* of those that are on */

static void csig_gro_count(u16 tpid, int n)
{
	struct csig_gro *g = xa_load(&csig_gros, tpid);

	if (g)
		this_cpu_add(*g->held, n);
}

/**
 * csig_gro_formats() - what is a TPID?
 * @tpid: perhaps one
 *
 * Return: bits of the formats that some domain has it for
 */
unsigned long csig_gro_formats(u16 tpid)
{
	unsigned long formats = 0;
	const struct csig_gro *g;

	rcu_read_lock();
	g = xa_load(&csig_gros, tpid);
	if (g)
		formats = READ_ONCE(g->formats);
	rcu_read_unlock();
	return formats;
}

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

static struct sk_buff *csig_gro_receive(struct list_head *head,
					struct sk_buff *skb)
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

/* The two octets before the data fields are the TPID, whatever was before them. */
static int csig_gro_complete(struct sk_buff *skb, int nhoff)
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

static struct csig_gro *csig_gro_alloc(u16 tpid)
{
	struct csig_gro *g = kzalloc(sizeof(*g), GFP_KERNEL_ACCOUNT);

	if (!g)
		return NULL;
	g->held = alloc_percpu_gfp(int, GFP_KERNEL_ACCOUNT);
	if (!g->held) {
		kfree(g);
		return NULL;
	}
	g->receive.type = htons(tpid);
	g->receive.priority = 10;	/* as VLANs */
	g->receive.callbacks.gro_receive = csig_gro_receive;
	g->complete.type = htons(tpid);
	g->complete.priority = 10;
	g->complete.callbacks.gro_complete = csig_gro_complete;
	g->complete.callbacks.gso_segment = csig_gso_segment;
	return g;
}

static void csig_gro_free(struct csig_gro *g)
{
	free_percpu(g->held);
	kfree(g);
}

static void csig_gro_on(struct csig_gro *g)
{
	if (csig_gro_number == CSIG_GRO_MAX)
		return;
	csig_gro_number++;
	g->on = true;
	dev_add_offload(&g->complete);
	dev_add_offload(&g->receive);
}

static bool csig_gro_is_held(const struct csig_gro *g)
{
	int cpu, sum = 0;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(g->held, cpu));
	return sum > 0;
}

/*
 * Most lists empty at the end of a poll, others by gro_flush_timeout.  Those of a device
 * that went away are never completed, so there is an end to the waiting.
 */
static void csig_gro_off(struct csig_gro *g)
{
	unsigned int i;

	if (!g->on)
		return;
	csig_gro_number--;
	g->on = false;
	dev_remove_offload(&g->receive);
	for (i = 0; i < 50 && csig_gro_is_held(g); i++)
		msleep(20);
	dev_remove_offload(&g->complete);
}

/* The kernel has its own for this one. */
static bool csig_gro_wants(u16 tpid)
{
	return tpid != CSIG_ETH_8021AD;
}

static int csig_gro_get_tpid(const struct csig_profile *profile,
			     unsigned int format)
{
	u16 tpid = profile->tpid[format];
	struct csig_gro *g;
	int err;

	if (!csig_gro_wants(tpid))
		return 0;
	g = xa_load(&csig_gros, tpid);
	if (g) {
		g->users++;
		WRITE_ONCE(g->formats, g->formats | BIT(format));
		return 0;
	}
	g = csig_gro_alloc(tpid);
	if (!g)
		return -ENOMEM;
	g->formats = BIT(format);
	err = xa_err(xa_store(&csig_gros, tpid, g, GFP_KERNEL_ACCOUNT));
	if (err) {
		csig_gro_free(g);
		return err;
	}
	g->users = 1;
	if (csig_gro_running)
		csig_gro_on(g);
	return 0;
}

static void csig_gro_put_tpid(u16 tpid)
{
	struct csig_gro *g;

	if (!csig_gro_wants(tpid))
		return;
	g = xa_load(&csig_gros, tpid);
	if (WARN_ON_ONCE(!g) || --g->users)
		return;
	csig_gro_off(g);
	xa_erase(&csig_gros, tpid);
	csig_gro_free(g);
}

/**
 * csig_gro_get() - a domain's packets are to be merged
 * @profile: its profile
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM
 */
int csig_gro_get(const struct csig_profile *profile)
{
	int err;

	mutex_lock(&csig_gro_lock);
	err = csig_gro_get_tpid(profile, CSIG_FORMAT_COMPACT);
	if (!err) {
		err = csig_gro_get_tpid(profile, CSIG_FORMAT_EXPANDED);
		if (err)
			csig_gro_put_tpid(profile->tpid[CSIG_FORMAT_COMPACT]);
	}
	mutex_unlock(&csig_gro_lock);
	return err;
}

/**
 * csig_gro_put() - undo csig_gro_get()
 * @profile: profile of the domain that is going
 *
 * Context: process, may sleep.
 */
void csig_gro_put(const struct csig_profile *profile)
{
	mutex_lock(&csig_gro_lock);
	csig_gro_put_tpid(profile->tpid[CSIG_FORMAT_COMPACT]);
	csig_gro_put_tpid(profile->tpid[CSIG_FORMAT_EXPANDED]);
	mutex_unlock(&csig_gro_lock);
}

/* From now on every namespace has a domain. */
void csig_gro_start(void)
{
	struct csig_gro *g;
	unsigned long tpid;

	csig_gro_run_init();
	mutex_lock(&csig_gro_lock);
	csig_gro_running = true;
	xa_for_each(&csig_gros, tpid, g)
		csig_gro_on(g);
	mutex_unlock(&csig_gro_lock);
}

/* After this namespaces may lose their domain. */
void csig_gro_stop(void)
{
	struct csig_gro *g;
	unsigned long tpid;

	mutex_lock(&csig_gro_lock);
	csig_gro_running = false;
	xa_for_each(&csig_gros, tpid, g)
		csig_gro_off(g);
	mutex_unlock(&csig_gro_lock);
}
