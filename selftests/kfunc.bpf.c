// SPDX-License-Identifier: GPL-2.0
/*
 * Programs for kfunc.sh.  Frames say what is asked and are told the answer:
 *
 * request: the last octet of the source address is FT, format and T of a request; an
 * error replaces the last octet of the destination address.
 * read: the addresses of the frame become what bpf_csig_tag() says.
 * local: the last octets of the addresses become what bpf_csig_is_local() says of those
 * of IP; of another size it must say nothing.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/* As in linux/csig_bpf.h, written again: this is what programs depend on. */
struct csig_bpf_tag {
	__u8 format;
	__u8 t;
	__u8 r;
	__u8 aggregate;
	__u16 lm;
	__u16 pad;
	__u32 s;
};

extern int bpf_csig_tag(struct __sk_buff *skb, struct csig_bpf_tag *tag) __ksym;
extern int bpf_csig_request(struct __sk_buff *skb,
			    const struct csig_bpf_tag *tag) __ksym;
extern int bpf_csig_is_local(struct __sk_buff *skb, const void *addr,
			     __u32 addr__sz) __ksym;

char LICENSE[] SEC("license") = "GPL";

#define DST_LAST	5
#define SRC_LAST	11
#define IP4_SRC		26	/* with that of Ethernet, without VLAN */
#define IP6_SRC		22
#define EINVAL		22

static int request(struct __sk_buff *skb, int done)
{
	struct csig_bpf_tag tag = {};
	__u8 what, answer;
	int err;

	if (bpf_skb_load_bytes(skb, SRC_LAST, &what, sizeof(what)))
		return TC_ACT_SHOT;
	tag.format = what >> 4;
	tag.t = what & 0xf;
	err = bpf_csig_request(skb, &tag);
	if (!err)
		return done;
	answer = -err;
	bpf_skb_store_bytes(skb, DST_LAST, &answer, sizeof(answer), 0);
	return done;
}

SEC("tc/request")
int csig_request_and_go_on(struct __sk_buff *skb)
{
	return request(skb, TC_ACT_PIPE);
}

/* Nobody takes the request. */
SEC("tc/forget")
int csig_request_and_pass(struct __sk_buff *skb)
{
	return request(skb, TC_ACT_OK);
}

SEC("tc/read")
int csig_read(struct __sk_buff *skb)
{
	struct csig_bpf_tag tag = {}, again = {};
	__u8 macs[12] = { 2 };
	int err;

	err = bpf_csig_tag(skb, &tag);
	/* It can be read more than once. */
	if (!err && (bpf_csig_tag(skb, &again) || again.s != tag.s ||
		     again.lm != tag.lm))
		return TC_ACT_SHOT;
	if (err) {
		macs[DST_LAST] = -err;
	} else {
		macs[1] = tag.format;
		macs[2] = tag.s >> 16;
		macs[3] = tag.s >> 8;
		macs[4] = tag.s;
		macs[5] = tag.aggregate;
		macs[6] = 2;
		macs[8] = tag.t;
		macs[9] = tag.r;
		macs[10] = tag.lm >> 8;
		macs[11] = tag.lm;
	}
	bpf_skb_store_bytes(skb, 0, macs, sizeof(macs), 0);
	return TC_ACT_PIPE;
}

SEC("tc/local")
int csig_local(struct __sk_buff *skb)
{
	__u8 addr[32] = {}, src, dst;

	if (skb->protocol == bpf_htons(0x86dd)) {
		if (bpf_skb_load_bytes(skb, IP6_SRC, addr, 32))
			return TC_ACT_SHOT;
		src = bpf_csig_is_local(skb, addr, 16);
		dst = bpf_csig_is_local(skb, addr + 16, 16);
	} else {
		if (bpf_skb_load_bytes(skb, IP4_SRC, addr, 8))
			return TC_ACT_SHOT;
		src = bpf_csig_is_local(skb, addr, 4);
		dst = bpf_csig_is_local(skb, addr + 4, 4);
	}
	if (bpf_csig_is_local(skb, addr, 8) != -EINVAL)
		return TC_ACT_SHOT;
	bpf_skb_store_bytes(skb, DST_LAST, &dst, sizeof(dst), 0);
	bpf_skb_store_bytes(skb, SRC_LAST, &src, sizeof(src), 0);
	return TC_ACT_PIPE;
}

/* Other kinds of programs get no kfunc: this one is refused. */
SEC("xdp")
int csig_not_here(struct xdp_md *ctx)
{
	struct csig_bpf_tag tag = {};

	bpf_csig_tag((void *)ctx, &tag);
	return XDP_PASS;
}
