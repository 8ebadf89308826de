/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between gro.c, gro_run.c, gro_tpid.c and gso.c: the flow of a packet that is looked at
 * by GRO, what is known of TPIDs.
 */
#ifndef CSIG_GRO_H
#define CSIG_GRO_H

#include <net/gro.h>

/**
 * struct csig_gro_flow - a packet's flow, as far as GRO needs it
 * @type: EtherType, IPv4 or IPv6
 * @proto: protocol behind the IP header
 * @ports: ports of TCP and UDP, 0 for others
 * @addr: source and destination; IPv4 in the first two
 * @naddr: words in @addr
 * @ip_len: of the header
 * @payload: octets behind the IP header by what it says; 0 unknown
 */
struct csig_gro_flow {
	u16 type;
	u8 proto;
	u8 naddr;
	u32 ports;
	u32 addr[8];
	unsigned int ip_len;
	unsigned int payload;
};

/* As skb_gro_reset_offset() has it; without a linear part frag0 is a page that stays. */
static inline void csig_gro_frag0(struct sk_buff *skb)
{
	if (!skb_headlen(skb))
		return;
	NAPI_GRO_CB(skb)->frag0 = skb->data;
	NAPI_GRO_CB(skb)->frag0_len = skb_headlen(skb);
}

/**
 * csig_gro_header() - skb_gro_header() for looking ahead
 * @skb: packet
 * @hlen: octets that have to be there
 * @off: of those that are wanted
 *
 * The kernel's does without frag0 from the first time on that octets had to be put
 * together, since each layer asks for more than the one before.  After a look further
 * ahead the next layer asks for less, and would find a head or a page that was given
 * back.  Before it, few octets are asked for: napi_gro_frags() may have done the same.
 *
 * Return: octets at @off, or NULL
 */
static inline void *csig_gro_header(struct sk_buff *skb, unsigned int hlen,
				    unsigned int off)
{
	void *ptr;

	csig_gro_frag0(skb);
	ptr = skb_gro_header(skb, hlen, off);
	csig_gro_frag0(skb);
	return ptr;
}

/* Offset of the IP header in the layer that is looked at now */
static inline unsigned int csig_gro_network_offset(const struct sk_buff *p,
						   const struct sk_buff *skb)
{
	return NAPI_GRO_CB(p)->network_offsets[NAPI_GRO_CB(skb)->encap_mark];
}

static inline void csig_gro_network_offset_set(struct sk_buff *skb,
					       unsigned int off)
{
	NAPI_GRO_CB(skb)->network_offsets[NAPI_GRO_CB(skb)->encap_mark] = off;
}

bool csig_gro_flow_get(struct csig_gro_flow *flow, struct sk_buff *skb,
		       u16 type);
bool csig_gro_flow_has(const struct csig_gro_flow *flow,
		       const struct sk_buff *skb, const struct sk_buff *p);
bool csig_gro_run_next(const struct csig_gro_flow *flow, struct sk_buff *skb);
int csig_gro_run_init(void);
void csig_gro_run_exit(void);

struct sk_buff *csig_gro_receive(struct list_head *head, struct sk_buff *skb);
int csig_gro_complete(struct sk_buff *skb, int nhoff);
void csig_gro_count(u16 tpid, int n);
unsigned long csig_gro_formats(u16 tpid);
struct sk_buff *csig_gso_segment(struct sk_buff *skb,
				 netdev_features_t features);

#endif /* CSIG_GRO_H */
