/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between gro.c, gro_run.c and gso.c: the flow of a packet that is looked at by GRO,
 * what is known of TPIDs.
 */
#ifndef CSIG_GRO_H
#define CSIG_GRO_H

#include <net/gro.h>

/**
 * struct csig_gro_flow - a packet's flow, as far as GRO needs it
 * @type: EtherType, IPv4 or IPv6
 * @proto: protocol behind the IP header
 * @ports: ports, or whatever is in their place
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
void csig_gro_run_init(void);

unsigned long csig_gro_formats(u16 tpid);
struct sk_buff *csig_gso_segment(struct sk_buff *skb,
				 netdev_features_t features);

#endif /* CSIG_GRO_H */
