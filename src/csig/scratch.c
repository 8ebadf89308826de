// SPDX-License-Identifier: GPL-2.0
/*
 * Scratch: what an ingress hook knows of a packet, for the rest of its way through
 * this CPU in the same softirq pass: when it came in and the tag that was taken off.
 *
 * NAPI hands packets to the stack in lists, so several are on their way at once. They
 * are kept in a small set-associative table for each CPU; an old entry in the way of
 * a new one is overwritten.  A miss means "no tag", which is a legal strip.
 *
 * A packet is known by its address.  Addresses are used again, so an entry counts only
 * when the packet also came in through the device that is recorded, or through one on
 * top of it (VLAN device, bridge, bond); packets made here came through none.  Every
 * ingress hook forgets what was known of an address before.
 *
 * Context of all functions: BH disabled, RCU.
 */
#include <linux/hash.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>

#include "csig.h"

#define CSIG_SCRATCH_BITS	6
#define CSIG_SCRATCH_WAYS	4

struct csig_scratch {
	const struct sk_buff *skb;	/* never dereferenced */
	const struct net *net;		/* never dereferenced */
	u64 time_in_ns;
	int iif;
	bool has_tag;
	struct csig_tag tag;
};

struct csig_scratch_table {
	struct csig_scratch slot[1 << CSIG_SCRATCH_BITS][CSIG_SCRATCH_WAYS];
	u8 next[1 << CSIG_SCRATCH_BITS];
};

static struct csig_scratch_table __percpu *csig_scratch;

static struct csig_scratch *csig_scratch_find(const struct sk_buff *skb,
					      unsigned int *set)
{
	struct csig_scratch_table *table = this_cpu_ptr(csig_scratch);
	unsigned int way;

	*set = hash_ptr(skb, CSIG_SCRATCH_BITS);
	for (way = 0; way < CSIG_SCRATCH_WAYS; way++)
		if (table->slot[*set][way].skb == skb)
			return &table->slot[*set][way];
	return NULL;
}

void csig_scratch_forget(const struct sk_buff *skb)
{
	struct csig_scratch *s;
	unsigned int set;

	s = csig_scratch_find(skb, &set);
	if (s)
		s->skb = NULL;
}

/**
 * csig_scratch_note() - an ingress hook saw a tagged packet
 * @skb: packet
 * @now_ns: when
 * @tag: tag that was taken off; NULL when it is still in the frame
 */
void csig_scratch_note(const struct sk_buff *skb, u64 now_ns,
		       const struct csig_tag *tag)
{
	struct csig_scratch_table *table = this_cpu_ptr(csig_scratch);
	struct csig_scratch *s;
	unsigned int set;

	s = csig_scratch_find(skb, &set);
	if (!s)
		s = &table->slot[set][table->next[set]++ % CSIG_SCRATCH_WAYS];
	s->skb = skb;
	s->net = dev_net(skb->dev);
	s->iif = skb->skb_iif;
	s->time_in_ns = now_ns;
	s->has_tag = tag;
	if (tag)
		s->tag = *tag;
}

/* Did the packet come in where the entry says, or through a device on top? */
static bool csig_scratch_valid(const struct csig_scratch *s,
			       const struct sk_buff *skb)
{
	struct net *net = dev_net(skb->dev);
	struct net_device *dev, *upper;

	if (!skb->skb_iif || s->net != net)
		return false;
	if (likely(s->iif == skb->skb_iif))
		return true;
	dev = dev_get_by_index_rcu(net, s->iif);
	upper = dev_get_by_index_rcu(net, skb->skb_iif);
	return dev && upper && netdev_has_upper_dev_all_rcu(dev, upper);
}

/**
 * csig_scratch_take() - what is known of a packet, once
 * @skb: packet at egress
 * @time_in_ns: filled in, when it came in
 * @tag: filled in when @has_tag
 * @has_tag: filled in, a tag was taken off
 *
 * Return: false when nothing is known
 */
bool csig_scratch_take(const struct sk_buff *skb, u64 *time_in_ns,
		       struct csig_tag *tag, bool *has_tag)
{
	struct csig_scratch *s;
	unsigned int set;

	s = csig_scratch_find(skb, &set);
	if (!s)
		return false;
	s->skb = NULL;
	if (!csig_scratch_valid(s, skb))
		return false;
	*time_in_ns = s->time_in_ns;
	*has_tag = s->has_tag;
	if (s->has_tag)
		*tag = s->tag;
	return true;
}

int csig_scratch_init(void)
{
	csig_scratch = alloc_percpu(struct csig_scratch_table);
	return csig_scratch ? 0 : -ENOMEM;
}

void csig_scratch_exit(void)
{
	free_percpu(csig_scratch);
}
