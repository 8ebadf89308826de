// SPDX-License-Identifier: GPL-2.0
/*
 * Scratch: what an ingress hook knows of a packet, for the rest of its way through
 * this machine: when it came in and the tag that was taken off.  And the tag that a
 * BPF program asks for at egress, until the action behind it takes it.
 *
 * NAPI hands packets to the stack in lists, so several are on their way at once; RPS,
 * the backlog and, from 7.3 on, the deferred enqueue of a qdisc may finish a packet on
 * another CPU than the one it came in on.  So this is one table for all CPUs, set-
 * associative by the packet's address, with a lock for each set: packets spread over
 * the sets, and only one that finds its address in a set takes the lock.  An old entry
 * in the way of a new one is overwritten.  A miss means "no tag", a legal strip.
 *
 * Addresses are used again.  An entry counts only for a packet that came in through
 * the device that is recorded, or through one on top of it (VLAN device, bridge,
 * bond), that looks the same (what a router leaves alone), and for a short while.
 * Packets made here came in through no device.
 *
 * Context of all functions: BH disabled, RCU.
 */
#include <linux/hash.h>
#include <linux/local_lock.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/unaligned.h>

#include "csig.h"

#define CSIG_SCRATCH_BITS	8
#define CSIG_SCRATCH_WAYS	4
/* Longer than any pass through the stack, short against the reuse of an address */
#define CSIG_SCRATCH_LIFE_NS	(250 * NSEC_PER_MSEC)

struct csig_scratch {
	const struct sk_buff *skb;	/* never dereferenced */
	const struct net *net;		/* never dereferenced */
	u64 time_in_ns;
	u32 print;
	int iif;
	bool has_tag;
	struct csig_tag tag;
};

struct csig_scratch_set {
	spinlock_t lock;
	u8 next;
	struct csig_scratch way[CSIG_SCRATCH_WAYS];
} ____cacheline_aligned_in_smp;

static struct csig_scratch_set csig_scratch[1 << CSIG_SCRATCH_BITS];

static struct csig_scratch_set *csig_scratch_set(const struct sk_buff *skb)
{
	return &csig_scratch[hash_ptr(skb, CSIG_SCRATCH_BITS)];
}

/* With the lock, or as a hint without */
static struct csig_scratch *csig_scratch_find(struct csig_scratch_set *set,
					      const struct sk_buff *skb)
{
	unsigned int way;

	for (way = 0; way < CSIG_SCRATCH_WAYS; way++)
		if (READ_ONCE(set->way[way].skb) == skb)
			return &set->way[way];
	return NULL;
}

/* What of an IP header neither routing nor address translation changes; 0: not IP */
static u32 csig_scratch_ip_print(const struct sk_buff *skb, int off, u16 type)
{
	u8 buf[8];
	const u8 *p;

	if (type != CSIG_ETH_IPV4 && type != CSIG_ETH_IPV6)
		return 0;
	p = skb_header_pointer(skb, off, sizeof(buf), buf);
	if (!p)
		return 0;
	if (type == CSIG_ETH_IPV4)	/* total length, identification */
		return get_unaligned_be32(p + 2) ?: 1;
	/* flow label, payload length */
	return ((get_unaligned_be32(p) & 0xfffff) << 12 ^
		get_unaligned_be16(p + 4)) ?: 1;
}

/**
 * csig_scratch_print() - how a tagged packet looks
 * @skb: packet
 * @w: result of csig_skb_walk(), CSIG_WALK_TAG
 *
 * Return: for csig_scratch_note()
 */
u32 csig_scratch_print(const struct sk_buff *skb, const struct csig_walk *w)
{
	int off = skb_mac_offset(skb) + w->offset + csig_layout(w->format)->len;

	return csig_scratch_ip_print(skb, off + 2, w->inner);
}

/* Is the entry about this packet, or about one that had its address before? */
static bool csig_scratch_valid(const struct csig_scratch *s,
			       const struct sk_buff *skb)
{
	struct net *net = dev_net(skb->dev);
	struct net_device *dev, *upper;
	u32 print;

	if (!skb->skb_iif || s->net != net ||
	    ktime_get_ns() - s->time_in_ns > CSIG_SCRATCH_LIFE_NS)
		return false;
	print = csig_scratch_ip_print(skb, skb_network_offset(skb),
				      ntohs(skb->protocol));
	/* What has no print may have lost or got a label on its way. */
	if (print && s->print && print != s->print)
		return false;
	if (likely(s->iif == skb->skb_iif))
		return true;
	dev = dev_get_by_index_rcu(net, s->iif);
	upper = dev_get_by_index_rcu(net, skb->skb_iif);
	return dev && upper && netdev_has_upper_dev_all_rcu(dev, upper);
}

/**
 * csig_scratch_enter() - a packet is at an ingress hook
 * @skb: packet
 * @keep: what a hook of a device below noted is still true
 *
 * Forgets what was known of the packet's address before.
 */
void csig_scratch_enter(const struct sk_buff *skb, bool keep)
{
	struct csig_scratch_set *set = csig_scratch_set(skb);
	struct csig_scratch *s;

	if (!csig_scratch_find(set, skb))
		return;
	spin_lock(&set->lock);
	s = csig_scratch_find(set, skb);
	if (s && !(keep && s->iif != skb->skb_iif &&
		   csig_scratch_valid(s, skb)))
		WRITE_ONCE(s->skb, NULL);
	spin_unlock(&set->lock);
}

/**
 * csig_scratch_note() - an ingress hook saw a tagged packet
 * @skb: packet
 * @print: csig_scratch_print() of the packet when it had its tag
 * @tag: tag that was taken off; NULL when it is still in the frame
 */
void csig_scratch_note(const struct sk_buff *skb, u32 print,
		       const struct csig_tag *tag)
{
	struct csig_scratch_set *set = csig_scratch_set(skb);
	struct csig_scratch *s;

	spin_lock(&set->lock);
	s = csig_scratch_find(set, skb);
	if (!s)
		s = &set->way[set->next++ % CSIG_SCRATCH_WAYS];
	WRITE_ONCE(s->skb, skb);
	s->net = dev_net(skb->dev);
	s->iif = skb->skb_iif;
	s->time_in_ns = ktime_get_ns();
	s->print = print;
	s->has_tag = tag;
	if (tag)
		s->tag = *tag;
	spin_unlock(&set->lock);
}

/**
 * csig_scratch_take() - what is known of a packet, once
 * @skb: packet at egress; protocol and network header are those behind its tag
 * @time_in_ns: filled in, when it came in
 * @tag: filled in when @has_tag
 * @has_tag: filled in, a tag was taken off
 *
 * Return: false when nothing is known
 */
bool csig_scratch_take(const struct sk_buff *skb, u64 *time_in_ns,
		       struct csig_tag *tag, bool *has_tag)
{
	struct csig_scratch_set *set = csig_scratch_set(skb);
	struct csig_scratch *s;
	bool valid = false;

	if (!csig_scratch_find(set, skb))
		return false;
	spin_lock(&set->lock);
	s = csig_scratch_find(set, skb);
	if (s) {
		WRITE_ONCE(s->skb, NULL);
		valid = csig_scratch_valid(s, skb);
	}
	if (valid) {
		*time_in_ns = s->time_in_ns;
		*has_tag = s->has_tag;
		*tag = s->tag;
	}
	spin_unlock(&set->lock);
	return valid;
}

/**
 * csig_scratch_peek() - the tag that was taken off a packet
 * @skb: packet; protocol and network header are those behind its tag
 * @tag: filled in
 *
 * What is known stays known, for the egress port.
 *
 * Return: false when the packet came without a tag or still has it
 */
bool csig_scratch_peek(const struct sk_buff *skb, struct csig_tag *tag)
{
	struct csig_scratch_set *set = csig_scratch_set(skb);
	struct csig_scratch *s;
	bool valid;

	if (!csig_scratch_find(set, skb))
		return false;
	spin_lock(&set->lock);
	s = csig_scratch_find(set, skb);
	valid = s && s->has_tag && csig_scratch_valid(s, skb);
	if (valid)
		*tag = s->tag;
	spin_unlock(&set->lock);
	return valid;
}

/*
 * Between the BPF program that asks for a tag and the action that inserts it nothing
 * else runs on the CPU.  A program whose action never comes leaves its request behind:
 * the packet's looks tell it from another one at the same address.
 */
struct csig_request {
	local_lock_t lock;
	const struct sk_buff *skb;	/* never dereferenced, as the next two */
	const unsigned char *head;
	const struct net_device *dev;
	unsigned int len;
	u32 print;
	struct csig_tag tag;
};

static DEFINE_PER_CPU(struct csig_request, csig_request) = {
	.lock = INIT_LOCAL_LOCK(lock),
};

static u32 csig_request_print(const struct sk_buff *skb)
{
	return csig_scratch_ip_print(skb, skb_network_offset(skb),
				     ntohs(skb->protocol));
}

/**
 * csig_request_put() - the packet in hand wants a tag
 * @skb: packet at egress
 * @tag: tag to insert
 */
void csig_request_put(const struct sk_buff *skb, const struct csig_tag *tag)
{
	struct csig_request *r;

	local_lock_nested_bh(&csig_request.lock);
	r = this_cpu_ptr(&csig_request);
	r->skb = skb;
	r->head = skb->head;
	r->dev = skb->dev;
	r->len = skb->len;
	r->print = csig_request_print(skb);
	r->tag = *tag;
	local_unlock_nested_bh(&csig_request.lock);
}

/**
 * csig_request_take() - was a tag asked for this packet?
 * @skb: packet at egress
 * @tag: filled in when it was
 *
 * Return: true once for each csig_request_put()
 */
bool csig_request_take(const struct sk_buff *skb, struct csig_tag *tag)
{
	struct csig_request *r;
	bool found;

	local_lock_nested_bh(&csig_request.lock);
	r = this_cpu_ptr(&csig_request);
	found = r->skb == skb && r->head == skb->head && r->dev == skb->dev &&
		r->len == skb->len && r->print == csig_request_print(skb);
	if (found)
		*tag = r->tag;
	r->skb = NULL;
	local_unlock_nested_bh(&csig_request.lock);
	return found;
}

void csig_scratch_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(csig_scratch); i++)
		spin_lock_init(&csig_scratch[i].lock);
}
