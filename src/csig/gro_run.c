// SPDX-License-Identifier: GPL-2.0
/*
 * Flows as GRO sees them, and which of them send tagged and untagged packets in turn.
 *
 * A sender that tags 1 packet in N has both in one flow.  For GRO they are two flows,
 * since their L2 headers differ: each is held for itself, and what completes first goes
 * up first.  TCP takes that for loss.  A tagged packet lets the untagged ones before it
 * go (gro.c), but an untagged one that follows knows nothing of tags.  So tagged packets
 * of such a flow are not held, unless they would overtake, which leaves its untagged ones
 * their GRO.
 *
 * Such a flow is known by gaps between the sequence numbers of its tagged packets, and
 * is one until the tagged ones were on their own for long enough.  Gaps by loss look the
 * same; that costs the merging of CSIG_GRO_RUN packets.
 *
 * A flow that is new is taken for one that has a tag in each packet: most have, and most
 * are shorter than CSIG_GRO_RUN, so that they would never merge.  Where it has to throw
 * out another it starts with what that one was: senders that tag now and then do so for
 * all flows.  For the same reason one that is known to be mixed stays for a while.
 */
#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/string.h>
#include <linux/tcp.h>

#include "csig.h"
#include "gro.h"

/* More segments than a super-packet has, which is what senders tag or don't */
#define CSIG_GRO_RUN	128
#define CSIG_GRO_SETS	64
#define CSIG_GRO_WAYS	4
#define CSIG_GRO_KEEP	HZ	/* mixed flows, since their last tagged packet */

/* The last tagged segment of a flow on a device.  A hint, nothing is wrong without it. */
struct csig_gro_run {
	u32 key;
	u32 next;	/* sequence number behind it */
	u32 used;	/* jiffies */
	u16 length;	/* segments without a gap, up to CSIG_GRO_RUN */
	bool mixed;
};

struct csig_gro_runs {
	struct csig_gro_run run[CSIG_GRO_SETS][CSIG_GRO_WAYS];
};

static struct csig_gro_runs __percpu *csig_gro_runs;
static u32 csig_gro_seed __read_mostly;

/* csig_gro_flow_len() octets of a packet; false when they are nothing that is merged */
static bool csig_gro_flow_read(struct csig_gro_flow *flow, const u8 *ip,
			       u16 type)
{
	if (type == CSIG_ETH_IPV4) {
		if (ip[0] != 0x45)	/* options: never merged */
			return false;
		flow->proto = ip[9];
		flow->ip_len = sizeof(struct iphdr);
		flow->naddr = 2;
		memcpy(flow->addr, ip + 12, 8);
		flow->payload = csig_get16(ip + 2);
		if (flow->payload)
			flow->payload -= min(flow->payload, flow->ip_len);
	} else {
		if (ip[0] >> 4 != 6)
			return false;
		flow->proto = ip[6];
		flow->ip_len = sizeof(struct ipv6hdr);
		flow->naddr = 8;
		memcpy(flow->addr, ip + 8, 32);
		flow->payload = csig_get16(ip + 4);
	}
	flow->type = type;
	flow->ports = 0;
	if (flow->proto == IPPROTO_TCP || flow->proto == IPPROTO_UDP)
		memcpy(&flow->ports, ip + flow->ip_len, sizeof(flow->ports));
	return true;
}

static unsigned int csig_gro_flow_len(u16 type)
{
	return (type == CSIG_ETH_IPV4 ? sizeof(struct iphdr) :
					sizeof(struct ipv6hdr)) + sizeof(u32);
}

/**
 * csig_gro_flow_get() - read the flow of a packet
 * @flow: filled in
 * @skb: packet, GRO's offset at its IP header
 * @type: EtherType
 *
 * Return: false when it is nothing that is merged
 */
bool csig_gro_flow_get(struct csig_gro_flow *flow, struct sk_buff *skb,
		       u16 type)
{
	unsigned int off = skb_gro_offset(skb);
	const u8 *ip;

	if (type != CSIG_ETH_IPV4 && type != CSIG_ETH_IPV6)
		return false;
	ip = csig_gro_header(skb, off + csig_gro_flow_len(type), off);
	return ip && csig_gro_flow_read(flow, ip, type);
}

/**
 * csig_gro_flow_has() - does a held packet belong to a flow?
 * @flow: flow
 * @skb: packet that it was read from
 * @p: held packet: what is before its payload was pulled
 *
 * Return: true when device, addresses, protocol and ports are the same, whatever the
 * L2 headers are
 */
bool csig_gro_flow_has(const struct csig_gro_flow *flow,
		       const struct sk_buff *skb, const struct sk_buff *p)
{
	unsigned int off = csig_gro_network_offset(p, skb);
	struct csig_gro_flow other;

	return p->dev == skb->dev && p->vlan_all == skb->vlan_all &&
	       NAPI_GRO_CB(p)->encap_mark == NAPI_GRO_CB(skb)->encap_mark &&
	       off + csig_gro_flow_len(flow->type) <= skb_headlen(p) &&
	       csig_gro_flow_read(&other, p->data + off, flow->type) &&
	       other.proto == flow->proto && other.ports == flow->ports &&
	       !memcmp(other.addr, flow->addr, flow->naddr * sizeof(u32));
}

/* The one of the least use is the first to be thrown out. */
static u32 csig_gro_run_age(const struct csig_gro_run *run, u32 now)
{
	u32 age = now - run->used;

	return run->mixed && age < CSIG_GRO_KEEP ? 0 : age + 1;
}

/* Context: BH disabled */
static struct csig_gro_run *csig_gro_run_find(u32 key, bool *found)
{
	struct csig_gro_run *set, *run, *out;
	u32 now = (u32)jiffies;

	set = this_cpu_ptr(csig_gro_runs)->run[key % CSIG_GRO_SETS];
	out = set;
	*found = true;
	for (run = set; run < set + CSIG_GRO_WAYS; run++) {
		if (run->key == key)
			goto out;
		if (csig_gro_run_age(run, now) > csig_gro_run_age(out, now))
			out = run;
	}
	*found = false;
	run = out;
	run->key = key;
	run->mixed = !csig_gro_run_age(run, now);
out:
	run->used = now;
	return run;
}

/**
 * csig_gro_run_next() - may this tagged packet be held?
 * @flow: flow of the packet
 * @skb: packet, GRO's offset at its IP header
 *
 * Context: NAPI, so BH disabled.
 * Return: false when untagged packets of the flow may come behind it
 */
bool csig_gro_run_next(const struct csig_gro_flow *flow, struct sk_buff *skb)
{
	unsigned int off = skb_gro_offset(skb) + flow->ip_len, len;
	struct csig_gro_run *run;
	const struct tcphdr *th;
	u32 key, seq;
	bool found;

	if (flow->proto != IPPROTO_TCP)
		return true;
	th = csig_gro_header(skb, off + sizeof(*th), off);
	if (unlikely(!th))
		return true;
	/* BIG TCP has no length in its IP header. */
	len = flow->payload ? flow->payload : skb->len - off;
	len -= min(len, th->doff * 4U);
	if (!len)
		return true;
	seq = ntohl(th->seq);

	/* It may pass several devices on this CPU: a veth, a tunnel. */
	key = jhash2(flow->addr, flow->naddr, flow->ports ^ csig_gro_seed ^
		     hash_ptr(skb->dev, 32));
	run = csig_gro_run_find(key, &found);
	if (!found) {
		run->length = 0;
	} else if (run->next != seq) {
		/* Behind the gap is what the sender sent anew, or untagged. */
		if ((s32)(seq - run->next) > 0)
			run->mixed = true;
		run->length = 0;
	} else if (run->length < CSIG_GRO_RUN) {
		run->length++;
	} else {
		run->mixed = false;
	}
	run->next = seq + len;
	return !run->mixed;
}

/**
 * csig_gro_run_init() - before the first packet
 *
 * Return: 0 or -ENOMEM
 */
int csig_gro_run_init(void)
{
	csig_gro_runs = alloc_percpu(struct csig_gro_runs);
	if (!csig_gro_runs)
		return -ENOMEM;
	csig_gro_seed = get_random_u32();
	return 0;
}

/* After the last packet */
void csig_gro_run_exit(void)
{
	free_percpu(csig_gro_runs);
}
