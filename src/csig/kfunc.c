// SPDX-License-Identifier: GPL-2.0
/*
 * kfuncs: what BPF programs of tc read and ask of the module.  They never edit a
 * packet: the verifier does not know that a kfunc may move packet data.  Edits are
 * those of the csig action before (pop) and behind (push requested) the program.
 *
 * A module without BTF, or a kernel without BPF, has none and works all the same.
 */
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/if_arp.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include <net/addrconf.h>
#include <net/route.h>
#include <net/sch_generic.h>

#include <linux/csig_bpf.h>

#include "csig.h"

static bool csig_kfuncs __ro_after_init;

__bpf_kfunc_start_defs();

/**
 * bpf_csig_tag() - the tag that came with the packet in hand
 * @skb_ctx: context of the program, at ingress behind the port's filter
 * @tag: filled in; @tag->s is what arrived, without this port's own load
 *
 * The port's ingress filter has taken the tag off, the packet is clean.  The tag can be
 * read more than once.
 *
 * Return: 0; -ENOENT when the packet came without a tag, when the port does not trust
 * it ("ingress strip") or when the tag is still in the frame (ports of a bridge).
 */
__bpf_kfunc int bpf_csig_tag(struct __sk_buff *skb_ctx,
			     struct csig_bpf_tag *tag)
{
	const struct sk_buff *skb = (const struct sk_buff *)skb_ctx;
	const struct csig_signal *s;
	struct csig_tag known;
	int err = -ENOENT;

	if (!tag)
		return -EINVAL;
	rcu_read_lock();
	if (csig_scratch_peek(skb, &known)) {
		s = &rcu_dereference(csig_net(dev_net(skb->dev))->domain)->profile.signals[known.t];
		*tag = (struct csig_bpf_tag) {
			.format = known.format,
			.t = known.t,
			.r = known.r,
			.aggregate = s->defined ? s->aggregate :
						  CSIG_BPF_NO_AGGREGATE,
			.lm = known.lm,
			.s = known.s,
		};
		err = 0;
	}
	rcu_read_unlock();
	return err;
}

static int csig_request(const struct sk_buff *skb, const struct csig_tag *tag)
{
	const struct csig_profile *profile;
	struct csig_walk w;

	if (tag->format >= CSIG_FORMATS ||
	    tag->t > csig_layout(tag->format)->t_max)
		return -EINVAL;
	if (skb_at_tc_ingress(skb) || skb->dev->type != ARPHRD_ETHER ||
	    !skb_mac_header_was_set(skb))
		return -EOPNOTSUPP;
	profile = &rcu_dereference(csig_net(dev_net(skb->dev))->domain)->profile;
	if (!profile->signals[tag->t].defined)
		return -ENOENT;
	switch (csig_skb_walk(skb, profile->tpid, &w)) {
	case CSIG_WALK_TAG:
		return -EEXIST;
	case CSIG_WALK_MALFORMED:
		return -EOPNOTSUPP;
	}
	if (!w.offset || csig_ethertype_is_control(w.inner))
		return -EOPNOTSUPP;
	if (!csig_skb_fits(skb, csig_layout(tag->format)->len))
		return -EMSGSIZE;
	csig_request_put(skb, tag);
	return 0;
}

/**
 * bpf_csig_request() - ask for a tag on the packet in hand
 * @skb_ctx: context of the program, at egress
 * @tag: @tag->format and @tag->t are used; S is the initial value of the signal, the
 *	locator 0
 *
 * "action csig push requested" must be the next action that the packet meets; it
 * inserts the tag.  A request that no action follows is forgotten.  Only the tag's
 * insertion may still fail afterwards, for want of memory.
 *
 * Return: 0; -EMSGSIZE when the frame (each frame of a super-packet) would be too long
 * for the device, counted as skipped_mtu of the port; -EEXIST when it has a tag;
 * -ENOENT when the domain does not define the signal; -EINVAL when the format or T is
 * none; -EOPNOTSUPP for what is never tagged: link control, malformed L2 headers,
 * devices other than Ethernet, and at ingress.
 */
__bpf_kfunc int bpf_csig_request(struct __sk_buff *skb_ctx,
				 const struct csig_bpf_tag *tag)
{
	const struct sk_buff *skb = (const struct sk_buff *)skb_ctx;
	struct csig_port *port;
	int err;

	if (!tag)
		return -EINVAL;
	rcu_read_lock();
	err = csig_request(skb, &(struct csig_tag) {
		.format = tag->format,
		.t = tag->t,
	});
	if (err == -EMSGSIZE) {
		port = csig_port_find(skb->dev);
		if (port)
			csig_stat_inc(port, CSIG_A_PORT_STATS_SKIPPED_MTU);
	}
	rcu_read_unlock();
	return err;
}

static bool csig_is_local6(const struct net_device *dev,
			   const struct in6_addr *addr)
{
#if IS_ENABLED(CONFIG_IPV6)
	/* with "ipv6.disable=1" there is no table of addresses */
	return ipv6_mod_enabled() && ipv6_chk_addr(dev_net(dev), addr, dev, 0);
#else
	return false;
#endif
}

/**
 * bpf_csig_is_local() - is an address one of this machine's?
 * @skb_ctx: context of the program; its device says in which network namespace and VRF
 * @addr: the address, in network order; need not be aligned
 * @addr__sz: its octets, 4 for IPv4 and 16 for IPv6
 *
 * A FIB lookup of BPF can't tell: where packets are not forwarded it looks nothing up,
 * and its "not forwarded" is also "no route".  IPv4 addresses are those with a local
 * route; IPv6 ones are unicast addresses of devices, link-local ones of this device.
 *
 * Return: 1 when it is, 0 when it is not; -EINVAL for other sizes.
 */
__bpf_kfunc int bpf_csig_is_local(struct __sk_buff *skb_ctx, const void *addr,
				  u32 addr__sz)
{
	const struct net_device *dev = ((const struct sk_buff *)skb_ctx)->dev;
	struct in6_addr addr6;
	__be32 addr4;

	switch (addr__sz) {
	case sizeof(addr4):
		memcpy(&addr4, addr, sizeof(addr4));
		return inet_addr_type_dev_table(dev_net(dev), dev, addr4) ==
		       RTN_LOCAL;
	case sizeof(addr6):
		memcpy(&addr6, addr, sizeof(addr6));
		return csig_is_local6(dev, &addr6);
	}
	return -EINVAL;
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(csig_kfunc_ids)
BTF_ID_FLAGS(func, bpf_csig_tag)
BTF_ID_FLAGS(func, bpf_csig_request)
BTF_ID_FLAGS(func, bpf_csig_is_local)
BTF_KFUNCS_END(csig_kfunc_ids)

static const struct btf_kfunc_id_set csig_kfunc_set = {
	.owner = THIS_MODULE,
	.set = &csig_kfunc_ids,
};

/* Without BTF of the module registration does nothing and succeeds. */
static bool csig_has_btf(void)
{
#ifdef CONFIG_DEBUG_INFO_BTF_MODULES
	return THIS_MODULE->btf_data_size;
#else
	return false;
#endif
}

/* Offers the kfuncs to BPF.  Context: module init. */
void __init csig_kfunc_init(void)
{
	int err;

	if (!csig_has_btf())
		return;
	err = register_btf_kfunc_id_set(BPF_PROG_TYPE_SCHED_CLS,
					&csig_kfunc_set);
	if (!err)
		err = register_btf_kfunc_id_set(BPF_PROG_TYPE_SCHED_ACT,
						&csig_kfunc_set);
	if (err)
		pr_warn("csig: BPF does not take the kfuncs, error %d\n", err);
	csig_kfuncs = !err;
}

static int csig_kfuncs_set(const char *val, const struct kernel_param *kp)
{
	return -EPERM;
}

static const struct kernel_param_ops csig_kfuncs_ops = {
	.set = csig_kfuncs_set,
	.get = param_get_bool,
};

module_param_cb(kfuncs, &csig_kfuncs_ops, &csig_kfuncs, 0444);
MODULE_PARM_DESC(kfuncs, "read only: are there kfuncs for BPF programs?");
