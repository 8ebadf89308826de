// SPDX-License-Identifier: GPL-2.0
/*
 * Answers the probes of "csigctl probe" in the kernel (tc).  At ingress, behind the
 * filters of the port and the host, a probe becomes its answer and goes back through
 * the device that it came in at; at egress, before the host's filter, the answer asks
 * for a tag of its own.  Sockets of programs are not involved.
 *
 * An answer is as long as its probe.  Answers, super-packets, fragments, packets with IP
 * options and what is for an address of another machine go on as if nothing was here.
 */
#include "maps.h"

#include <csig/probe.h>
#include <linux/pkt_cls.h>

#define PACKET_HOST	0
#define ETH_LEN		14
#define HOPS		64
#define RATE_BURST_NS	100000000ULL

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CSIG_DEVICES_MAX);
	__type(key, __u32);
	__type(value, struct csig_responder);
} csig_responders SEC(".maps") __weak;

/*
 * From ingress to egress.  A redirected packet gets there at once, on the same CPU,
 * unless the device does not take it; what is left then is not about the next one.
 */
struct answer {
	__u32 ifindex;	/* 0: none on its way */
	__u32 len;
	__u32 t;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct answer);
} csig_answer SEC(".maps") __weak;

struct ipv4 {
	__u8 version_ihl;
	__u8 tos;
	__be16 len;
	__be16 id;
	__be16 frag;
	__u8 ttl;
	__u8 protocol;
	__u16 check;
	__be32 src;
	__be32 dst;
};

struct ipv6 {
	__be32 flow;
	__be16 len;
	__u8 next;
	__u8 hops;
	__be32 src[4];
	__be32 dst[4];
};

struct udp {
	__be16 src;
	__be16 dst;
	__be16 len;
	__u16 check;
};

/**
 * struct packet - a probe or an answer
 * @ip4: header, when @is_ip6 is false
 * @ip6: header, when it is true
 * @udp: header
 * @msg: the octets of the message that an answer changes
 * @udp_at: offset of @udp
 */
struct packet {
	union {
		struct ipv4 ip4;
		struct ipv6 ip6;
	};
	struct udp udp;
	__u8 msg[CSIG_PROBE_CHANGED_LEN];
	__u32 udp_at;
	bool is_ip6;
};

/* Reads headers and message; false when it is no message of a probe */
static __always_inline bool packet_read(struct __sk_buff *skb, struct packet *p)
{
	__u32 payload, need = sizeof(p->udp) + CSIG_PROBE_LEN;
	__u8 last;

	p->is_ip6 = skb->protocol == bpf_htons(ETH_P_IPV6);
	if (p->is_ip6) {
		if (bpf_skb_load_bytes(skb, ETH_LEN, &p->ip6, sizeof(p->ip6)) ||
		    p->ip6.next != IPPROTO_UDP ||
		    bpf_ntohs(p->ip6.len) < need)
			return false;
		p->udp_at = ETH_LEN + sizeof(p->ip6);
		payload = bpf_ntohs(p->ip6.len);
	} else if (skb->protocol == bpf_htons(ETH_P_IP)) {
		if (bpf_skb_load_bytes(skb, ETH_LEN, &p->ip4, sizeof(p->ip4)) ||
		    p->ip4.version_ihl != 0x45 ||
		    p->ip4.frag & bpf_htons(0x3fff) ||
		    p->ip4.protocol != IPPROTO_UDP ||
		    bpf_ntohs(p->ip4.len) < sizeof(p->ip4) + need)
			return false;
		p->udp_at = ETH_LEN + sizeof(p->ip4);
		payload = bpf_ntohs(p->ip4.len) - sizeof(p->ip4);
	} else {
		return false;
	}
	if (bpf_skb_load_bytes(skb, p->udp_at, &p->udp, sizeof(p->udp)) ||
	    bpf_ntohs(p->udp.len) != payload ||
	    bpf_skb_load_bytes(skb, p->udp_at + sizeof(p->udp), p->msg,
			       sizeof(p->msg)) ||
	    /* is all of the message there? */
	    bpf_skb_load_bytes(skb, p->udp_at + need - 1, &last, sizeof(last)))
		return false;
	return csig_get16(p->msg + CSIG_PROBE_AT_MAGIC) == CSIG_OPT_EXID &&
	       p->msg[CSIG_PROBE_AT_VERSION] == CSIG_PROBE_VERSION;
}

static __always_inline bool ipv4_is_unicast(__be32 addr)
{
	__u32 a = bpf_ntohl(addr);

	/* 0/8, 127/8, 224/3 */
	return a >> 24 && a >> 24 != 127 && a < 0xe0000000;
}

static __always_inline bool ipv6_is_unicast(const __be32 *addr)
{
	if (addr[0] || addr[1] || addr[2])
		return (bpf_ntohl(addr[0]) >> 24) != 0xff;
	return bpf_ntohl(addr[3]) > 1;	/* neither :: nor ::1 */
}

/* One of our addresses, and no source that an answer must not go to */
static __always_inline bool is_for_us(struct __sk_buff *skb, struct packet *p)
{
	if (p->is_ip6)
		return ipv6_is_unicast(p->ip6.src) &&
		       ipv6_is_unicast(p->ip6.dst) &&
		       bpf_csig_is_local(skb, p->ip6.dst,
					 sizeof(p->ip6.dst)) == 1;
	return ipv4_is_unicast(p->ip4.src) && ipv4_is_unicast(p->ip4.dst) &&
	       bpf_csig_is_local(skb, &p->ip4.dst, sizeof(p->ip4.dst)) == 1;
}

/* At most one answer in interval_ns, with bursts of RATE_BURST_NS */
static __always_inline bool within_rate(struct csig_responder *r)
{
	__u64 now = bpf_ktime_get_ns(), old = r->next_ns, next = old;

	if (next + RATE_BURST_NS < now)
		next = now - RATE_BURST_NS;
	if (next > now)
		return false;
	/* whoever loses the race is one answer too many */
	return __sync_val_compare_and_swap(&r->next_ns, old,
					   next + r->interval_ns) == old;
}

static __always_inline void swap_macs(struct __sk_buff *skb)
{
	__u8 macs[12], swapped[12];

	if (bpf_skb_load_bytes(skb, 0, macs, sizeof(macs)))
		return;
	__builtin_memcpy(swapped, macs + 6, 6);
	__builtin_memcpy(swapped + 6, macs, 6);
	bpf_skb_store_bytes(skb, 0, swapped, sizeof(swapped), 0);
}

/*
 * Swapped, with all hops ahead and with another identification or flow label: scratch
 * must not take the answer for the probe, whose tag it remembers.  The checksum of an
 * IPv4 header makes up for its changes, so a sum over the packet stays true.
 */
static __always_inline long turn_ip4(struct __sk_buff *skb, struct ipv4 *ip)
{
	__be32 addr = ip->src;
	__u32 sum;

	ip->src = ip->dst;
	ip->dst = addr;
	ip->ttl = HOPS;
	ip->id = ~ip->id;
	ip->check = 0;
	sum = bpf_csum_diff(NULL, 0, (__be32 *)ip, sizeof(*ip), 0);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	ip->check = (__u16)~sum;
	return bpf_skb_store_bytes(skb, ETH_LEN, ip, sizeof(*ip), 0);
}

static __always_inline long turn_ip6(struct __sk_buff *skb, struct ipv6 *ip)
{
	__be32 addr[4];

	__builtin_memcpy(addr, ip->src, sizeof(addr));
	__builtin_memcpy(ip->src, ip->dst, sizeof(addr));
	__builtin_memcpy(ip->dst, addr, sizeof(addr));
	ip->hops = HOPS;
	ip->flow ^= bpf_htonl(0xfffff);
	return bpf_skb_store_bytes(skb, ETH_LEN, ip, sizeof(*ip),
				   BPF_F_RECOMPUTE_CSUM);
}

/* Ports; the checksum stays, as both ends just change places */
static __always_inline long turn_udp(struct __sk_buff *skb, struct packet *p)
{
	__be16 ports[2] = { p->udp.dst, p->udp.src };

	return bpf_skb_store_bytes(skb, p->udp_at, ports, sizeof(ports), 0);
}

/* The message, which the checksum has to follow if there is one */
static __always_inline long turn_message(struct __sk_buff *skb, struct packet *p,
					 const __u8 *msg)
{
	__u32 at = p->udp_at + sizeof(p->udp);
	__s64 diff;
	long err;

	err = bpf_skb_store_bytes(skb, at, msg, CSIG_PROBE_CHANGED_LEN,
				  p->udp.check ? 0 : BPF_F_RECOMPUTE_CSUM);
	if (err || !p->udp.check)
		return err;
	diff = bpf_csum_diff((__be32 *)p->msg, CSIG_PROBE_CHANGED_LEN,
			     (__be32 *)msg, CSIG_PROBE_CHANGED_LEN, 0);
	return bpf_l4_csum_replace(skb, p->udp_at +
				   __builtin_offsetof(struct udp, check), 0,
				   diff, BPF_F_MARK_MANGLED_0);
}

SEC("tc")
int csig_responder_in(struct __sk_buff *skb)
{
	__u8 msg[CSIG_PROBE_CHANGED_LEN] __attribute__((aligned(8)));
	struct csig_bpf_tag came = {};
	__u32 ifindex = skb->ifindex, zero = 0;
	struct csig_tag tag = {};
	struct csig_responder *r;
	struct packet p = {};
	struct answer *a;
	bool tagged;

	/* GRO: many probes behind one header, of which one would be answered */
	if (skb->gso_size)
		return TC_ACT_UNSPEC;
	r = bpf_map_lookup_elem(&csig_responders, &ifindex);
	if (!r || skb->pkt_type != PACKET_HOST || !packet_read(skb, &p) ||
	    p.msg[CSIG_PROBE_AT_ANSWER] || p.udp.dst != bpf_htons(r->port) ||
	    !p.udp.src || (p.is_ip6 && !p.udp.check) || !is_for_us(skb, &p))
		return TC_ACT_UNSPEC;
	if (!within_rate(r)) {
		__sync_fetch_and_add(&r->limited, 1);
		return TC_ACT_SHOT;
	}
	tagged = !bpf_csig_tag(skb, &came);
	if (tagged) {
		tag.format = came.format;
		tag.t = came.t;
		tag.r = came.r;
		tag.lm = came.lm;
		tag.s = came.s;
	}
	__builtin_memcpy(msg, p.msg, sizeof(msg));
	csig_probe_answer(msg, tagged ? &tag : NULL, CSIG_PROBE_READS);
	if (turn_message(skb, &p, msg) || turn_udp(skb, &p) ||
	    (p.is_ip6 ? turn_ip6(skb, &p.ip6) : turn_ip4(skb, &p.ip4))) {
		__sync_fetch_and_add(&r->failed, 1);
		return TC_ACT_SHOT;	/* half an answer */
	}
	swap_macs(skb);
	__sync_fetch_and_add(&r->answered, 1);
	if (tagged)
		__sync_fetch_and_add(&r->tagged, 1);
	a = bpf_map_lookup_elem(&csig_answer, &zero);
	if (a) {
		a->ifindex = ifindex;
		a->len = skb->len;
		a->t = p.msg[CSIG_PROBE_AT_T];
	}
	return bpf_redirect(ifindex, 0);
}

/* The signal that the prober wants, or the next one that the device may send */
static __always_inline int pick_signal(__u32 t, __u32 signals)
{
	int i;

	for (i = 0; i < CSIG_SIGNALS; i++, t++)
		if (signals & 1U << (t % CSIG_SIGNALS))
			return (int)(t % CSIG_SIGNALS);
	return -1;
}

SEC("tc")
int csig_responder_out(struct __sk_buff *skb)
{
	__u32 ifindex = skb->ifindex, zero = 0;
	struct csig_bpf_tag tag = {};
	struct csig_device *dev;
	struct answer *a;
	bool ours;
	int t;

	a = bpf_map_lookup_elem(&csig_answer, &zero);
	if (!a || !a->ifindex)
		return TC_ACT_UNSPEC;
	/* what was redirected to the device came in there */
	ours = a->ifindex == ifindex && skb->ingress_ifindex == ifindex &&
	       a->len == skb->len;
	a->ifindex = 0;
	dev = bpf_map_lookup_elem(&csig_devices, &ifindex);
	if (!ours || !dev)
		return TC_ACT_UNSPEC;
	t = pick_signal(a->t, dev->signals);
	if (t < 0)
		return TC_ACT_UNSPEC;
	tag.format = dev->format;
	tag.t = (__u8)t;
	bpf_csig_request(skb, &tag);
	return TC_ACT_UNSPEC;
}
