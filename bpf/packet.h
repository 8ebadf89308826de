/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the transport header of a packet is, and what of it is needed to know its
 * socket.  The packet may be at ingress or egress, linear or not, a super-packet or
 * one frame; it is read by copies only.
 */
#ifndef CSIG_BPF_PACKET_H
#define CSIG_BPF_PACKET_H

#include "core.h"

#define CSIG_IPV6_EXTENSIONS	4	/* headers that are looked behind */

struct csig_ipv4hdr {
	__u8 version_ihl;
	__u8 tos;
	__be16 tot_len;
	__be16 id;
	__be16 frag_off;
	__u8 ttl;
	__u8 protocol;
	__be16 check;
	__be32 saddr;
	__be32 daddr;
};

struct csig_ipv6hdr {
	__be32 flow;
	__be16 payload_len;
	__u8 nexthdr;
	__u8 hop_limit;
	__be32 saddr[4];
	__be32 daddr[4];
};

struct csig_tcphdr {
	__be16 source;
	__be16 dest;
	__be32 seq;
	__be32 ack;
	__u8 doff;	/* upper half */
	__u8 flags;
};

struct csig_udphdr {
	__be16 source;
	__be16 dest;
	__be16 len;
	__be16 check;
};

/**
 * struct csig_packet - a TCP or UDP packet
 * @tuple: addresses and ports as they are in the packet
 * @tuple_len: octets of @tuple, which tell the family
 * @protocol: IPPROTO_TCP or IPPROTO_UDP
 * @payload: octets behind the transport header; of a super-packet at least those of
 *	its first segment
 * @seq: TCP
 * @tcp_header_len: TCP, with options
 */
struct csig_packet {
	struct bpf_sock_tuple tuple;
	__u32 tuple_len;
	__u32 protocol;
	__u32 payload;
	__u32 seq;
	__u32 tcp_header_len;
};

/* IPv6: the protocol behind extension headers; < 0 for later fragments and others */
static __always_inline int csig_ipv6_transport(struct __sk_buff *skb,
					       __u8 nexthdr, __u32 *off)
{
	__u8 ext[2];
	int i;

	for (i = 0; i < CSIG_IPV6_EXTENSIONS; i++) {
		/* hop-by-hop, routing, destination options */
		if (nexthdr != 0 && nexthdr != 43 && nexthdr != 60)
			return nexthdr;
		if (bpf_skb_load_bytes_relative(skb, *off, ext, sizeof(ext),
						BPF_HDR_START_NET))
			return -1;
		nexthdr = ext[0];
		*off += (ext[1] + 1U) * 8;
	}
	return nexthdr;
}

/* Network header; octets from there to the end in *len, 0 when it does not say */
static __always_inline int csig_packet_network(struct __sk_buff *skb,
					       struct csig_packet *p,
					       __u32 *off, __u32 *len)
{
	if (skb->protocol == bpf_htons(ETH_P_IP)) {
		struct csig_ipv4hdr ip;

		if (bpf_skb_load_bytes_relative(skb, 0, &ip, sizeof(ip),
						BPF_HDR_START_NET) ||
		    ip.frag_off & bpf_htons(0x1fff))
			return -1;
		p->tuple.ipv4.saddr = ip.saddr;
		p->tuple.ipv4.daddr = ip.daddr;
		p->tuple_len = sizeof(p->tuple.ipv4);
		*off = (ip.version_ihl & 0xf) * 4;
		*len = bpf_ntohs(ip.tot_len);
		return ip.protocol;
	}
	if (skb->protocol == bpf_htons(ETH_P_IPV6)) {
		struct csig_ipv6hdr ip6;

		if (bpf_skb_load_bytes_relative(skb, 0, &ip6, sizeof(ip6),
						BPF_HDR_START_NET))
			return -1;
		__builtin_memcpy(p->tuple.ipv6.saddr, ip6.saddr, 16);
		__builtin_memcpy(p->tuple.ipv6.daddr, ip6.daddr, 16);
		p->tuple_len = sizeof(p->tuple.ipv6);
		*off = sizeof(ip6);
		*len = bpf_ntohs(ip6.payload_len);
		if (*len)
			*len += sizeof(ip6);
		return csig_ipv6_transport(skb, ip6.nexthdr, off);
	}
	return -1;
}

static __always_inline void csig_packet_ports(struct csig_packet *p,
					      __be16 source, __be16 dest)
{
	if (p->tuple_len == sizeof(p->tuple.ipv4)) {
		p->tuple.ipv4.sport = source;
		p->tuple.ipv4.dport = dest;
	} else {
		p->tuple.ipv6.sport = source;
		p->tuple.ipv6.dport = dest;
	}
}

static __always_inline __be16 csig_packet_sport(const struct csig_packet *p)
{
	return p->tuple_len == sizeof(p->tuple.ipv4) ? p->tuple.ipv4.sport :
						       p->tuple.ipv6.sport;
}

static __always_inline __be16 csig_packet_dport(const struct csig_packet *p)
{
	return p->tuple_len == sizeof(p->tuple.ipv4) ? p->tuple.ipv4.dport :
						       p->tuple.ipv6.dport;
}

/* Fills in *p; false when it is neither TCP nor UDP. */
static __always_inline bool csig_packet_parse(struct __sk_buff *skb,
					      struct csig_packet *p)
{
	__u32 off = 0, len = 0, header;
	int protocol = csig_packet_network(skb, p, &off, &len);

	if (protocol == IPPROTO_TCP) {
		struct csig_tcphdr th;

		if (bpf_skb_load_bytes_relative(skb, off, &th, sizeof(th),
						BPF_HDR_START_NET))
			return false;
		csig_packet_ports(p, th.source, th.dest);
		p->seq = bpf_ntohl(th.seq);
		header = (th.doff >> 4) * 4;
		p->tcp_header_len = header;
	} else if (protocol == IPPROTO_UDP) {
		struct csig_udphdr uh;

		if (bpf_skb_load_bytes_relative(skb, off, &uh, sizeof(uh),
						BPF_HDR_START_NET))
			return false;
		csig_packet_ports(p, uh.source, uh.dest);
		header = sizeof(uh);
	} else {
		return false;
	}
	p->protocol = (__u32)protocol;
	if (skb->gso_size)
		p->payload = skb->gso_size;
	else
		p->payload = len > off + header ? len - off - header : 0;
	return true;
}

static __always_inline __u32 csig_packet_segs(const struct __sk_buff *skb)
{
	return skb->gso_segs ? skb->gso_segs : 1;
}

#endif /* CSIG_BPF_PACKET_H */
