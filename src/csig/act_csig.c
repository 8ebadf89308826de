// SPDX-License-Identifier: GPL-2.0
/*
 * The csig action: push, pop, update, carry, and the ingress policy of a port.  A tc
 * filter decides which packets it sees, and so which flows may be tagged; or a BPF
 * program that asks for a tag (kfunc.c).
 *
 * An action of ours never drops a packet that it can't handle: it counts it as an
 * overlimit and lets it go on.  Only the ingress policy "drop" drops.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_bridge.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/act_api.h>
#include <net/netlink.h>
#include <net/pkt_cls.h>

#include <linux/tc_csig.h>

#include "csig.h"
#include "trace.h"

static struct tc_action_ops csig_act_ops;

/**
 * struct csig_act_params - settings of an action
 * @rcu: for freeing
 * @action: what tc does afterwards
 * @mode: enum tc_csig_act_mode
 * @format: enum csig_format, push
 * @t: signal type, push
 * @carry: pop remembers the tag
 * @lm: initial locator metadata, push
 */
struct csig_act_params {
	struct rcu_head rcu;
	int action;
	u8 mode;
	u8 format;
	u8 t;
	u8 carry;
	u16 lm;
};

struct csig_act {
	struct tc_action common;
	struct csig_act_params __rcu *params;
};

#define to_csig_act(a) container_of(a, struct csig_act, common)

/* A packet in the hands of an action */
struct csig_act_ctx {
	struct csig_act *act;
	const struct csig_act_params *params;
	struct csig_port *port;			/* of skb->dev, may be NULL */
	const struct csig_profile *profile;
};

static void csig_act_stat(const struct csig_act_ctx *ctx, unsigned int attr)
{
	if (ctx->port)
		csig_stat_inc(ctx->port, attr);
}

/* What could not be done, by the error of an edit */
static void csig_act_skipped(const struct csig_act_ctx *ctx, int err)
{
	tcf_action_inc_overlimit_qstats(&ctx->act->common);
	csig_act_stat(ctx, err == -EMSGSIZE ? CSIG_A_PORT_STATS_SKIPPED_MTU :
					      CSIG_A_PORT_STATS_SKIPPED_NOMEM);
}

/* Take the tag off.  Data is at the MAC header during the edit only. */
static bool csig_act_remove(const struct csig_act_ctx *ctx, struct sk_buff *skb,
			    const struct csig_walk *w, bool pad)
{
	bool ingress = skb_at_tc_ingress(skb);
	unsigned int mac_len = skb->mac_len;
	int err;

	if (ingress)
		skb_push_rcsum(skb, mac_len);
	err = csig_skb_remove(skb, w, pad);
	if (ingress) {
		/* An egress hook that redirects to here sees behind the tag. */
		if (!err && mac_len > w->offset + CSIG_TPID_LEN)
			mac_len -= csig_layout(w->format)->len;
		skb_pull_rcsum(skb, mac_len);
		skb_reset_network_header(skb);
		skb_reset_mac_len(skb);
	}
	if (err)
		csig_act_skipped(ctx, err);
	return !err;
}

/* The walk, with what it finds accounted: true for a tag that is ours to handle */
static bool csig_act_find(const struct csig_act_ctx *ctx,
			  const struct sk_buff *skb, struct csig_walk *w,
			  struct csig_tag *tag)
{
	switch (csig_skb_walk(skb, ctx->profile->tpid, w)) {
	case CSIG_WALK_MALFORMED:
		csig_act_stat(ctx, CSIG_A_PORT_STATS_MALFORMED);
		trace_csig_malformed(skb->dev, skb->len);
		return false;
	case CSIG_WALK_NONE:
		return false;
	}
	if (csig_ethertype_is_control(w->inner))
		return false;
	csig_skb_tag(skb, w, tag);
	return true;
}

/* Insert a tag with the initial value of its signal */
static void csig_act_insert(const struct csig_act_ctx *ctx, struct sk_buff *skb,
			    u8 format, u8 t, u16 lm)
{
	const struct csig_signal *s = &ctx->profile->signals[t];
	struct csig_tag tag = {
		.format = format,
		.t = t,
		.s = csig_initial_s(s->aggregate, format),
		.lm = lm,
	};
	struct csig_walk w;
	int err;

	if (skb_at_tc_ingress(skb) || !s->defined) {
		tcf_action_inc_overlimit_qstats(&ctx->act->common);
		return;
	}
	if (csig_skb_walk(skb, ctx->profile->tpid, &w) != CSIG_WALK_NONE ||
	    !w.offset || csig_ethertype_is_control(w.inner))
		return;
	err = csig_skb_insert(skb, &w, ctx->profile->tpid, &tag);
	if (err)
		csig_act_skipped(ctx, err);
	else
		trace_csig_push(skb->dev, &tag);
}

static void csig_act_push(const struct csig_act_ctx *ctx, struct sk_buff *skb)
{
	const struct csig_act_params *p = ctx->params;

	csig_act_insert(ctx, skb, p->format, p->t, p->lm);
}

static void csig_act_requested(const struct csig_act_ctx *ctx,
			       struct sk_buff *skb)
{
	struct csig_tag tag;

	if (csig_request_take(skb, &tag))
		csig_act_insert(ctx, skb, tag.format, tag.t, 0);
}

/*
 * IPv6 clones a packet that has no room for the next L2 header, and a clone is not the
 * packet that scratch knows.  Receive buffers of hardware have the room.
 */
static void csig_act_make_room(struct sk_buff *skb)
{
	unsigned int room = LL_RESERVED_SPACE(skb->dev) + VLAN_ETH_HLEN +
			    CSIG_TAG_LEN_MAX;

	if (skb_headroom(skb) < room && !skb_shared(skb))
		pskb_expand_head(skb, SKB_DATA_ALIGN(room - skb_headroom(skb)),
				 0, GFP_ATOMIC);
}

/* Take off a tag that was found, for good or to be carried */
static void csig_act_take(const struct csig_act_ctx *ctx, struct sk_buff *skb,
			  const struct csig_walk *w, const struct csig_tag *tag,
			  bool carry)
{
	u32 print = csig_scratch_print(skb, w);

	if (!csig_act_remove(ctx, skb, w, !carry))
		return;
	if (carry) {
		csig_act_make_room(skb);
		csig_scratch_note(skb, print, tag);
	} else {
		csig_act_stat(ctx, CSIG_A_PORT_STATS_STRIPPED);
	}
	trace_csig_pop(skb->dev, tag);
}

static void csig_act_pop(const struct csig_act_ctx *ctx, struct sk_buff *skb)
{
	struct csig_walk w;
	struct csig_tag tag;

	csig_scratch_enter(skb, ctx->params->carry);
	if (csig_act_find(ctx, skb, &w, &tag))
		csig_act_take(ctx, skb, &w, &tag, ctx->params->carry);
}

/* Before the queue: no delay is known, and the bits are counted here. */
static void csig_act_update(const struct csig_act_ctx *ctx, struct sk_buff *skb)
{
	const struct csig_hop hop = {};
	struct csig_port *port = ctx->port;
	struct csig_stats *stats;

	if (!port || skb_at_tc_ingress(skb)) {
		tcf_action_inc_overlimit_qstats(&ctx->act->common);
		return;
	}
	if (!READ_ONCE(port->nqueues)) {
		csig_port_tick(port, ktime_get_ns());
		if (!READ_ONCE(port->pre_queue))
			WRITE_ONCE(port->pre_queue, true);
		stats = this_cpu_ptr(port->stats);
		u64_stats_update_begin(&stats->syncp);
		u64_stats_add(&stats->count[CSIG_A_PORT_STATS_BITS],
			      csig_skb_wire_bits(skb, READ_ONCE(port->overhead_bytes)));
		u64_stats_update_end(&stats->syncp);
	}
	csig_egress(port, skb, &hop);
}

static void csig_act_carry(const struct csig_act_ctx *ctx, struct sk_buff *skb)
{
	u64 time_in_ns;
	struct csig_tag tag;
	bool has_tag;

	if (!ctx->port || skb_at_tc_ingress(skb)) {
		tcf_action_inc_overlimit_qstats(&ctx->act->common);
		return;
	}
	if (csig_scratch_take(skb, &time_in_ns, &tag, &has_tag) && has_tag)
		csig_egress_carry(ctx->port, skb, &tag);
}

/* Will a bridge hand the frame to its own IP?  The walk read the addresses. */
static bool csig_act_for_bridge(const struct sk_buff *skb)
{
	const struct net_device *br;

	br = netdev_master_upper_dev_get_rcu(skb->dev);
	return ether_addr_equal(eth_hdr(skb)->h_dest, skb->dev->dev_addr) ||
	       (br && ether_addr_equal(eth_hdr(skb)->h_dest, br->dev_addr));
}

/*
 * A device with a receive handler passes frames on as they are (bridge, bond, team,
 * macvlan), so the tag stays; the others hand them to the stack.
 */
static bool csig_act_ingress(const struct csig_act_ctx *ctx, struct sk_buff *skb)
{
	struct csig_walk w;
	struct csig_tag tag;

	/* What the port below took off is the tag that comes in here. */
	csig_scratch_enter(skb, ctx->port && READ_ONCE(ctx->port->ingress) ==
					    CSIG_INGRESS_TRUST);
	if (!ctx->port || !csig_act_find(ctx, skb, &w, &tag))
		return true;
	switch (READ_ONCE(ctx->port->ingress)) {
	case CSIG_INGRESS_DROP:
		csig_stat_inc(ctx->port, CSIG_A_PORT_STATS_DROPPED);
		return false;
	case CSIG_INGRESS_STRIP:
		csig_act_take(ctx, skb, &w, &tag, false);
		return true;
	}
	if (rcu_access_pointer(skb->dev->rx_handler) &&
	    !(netif_is_bridge_port(skb->dev) && csig_act_for_bridge(skb)))
		csig_scratch_note(skb, csig_scratch_print(skb, &w), NULL);
	else
		csig_act_take(ctx, skb, &w, &tag, true);
	return true;
}

static int csig_act_run(struct sk_buff *skb, const struct tc_action *a,
			struct tcf_result *res)
{
	struct csig_act *act = to_csig_act(a);
	const struct csig_act_params *p = rcu_dereference_bh(act->params);
	struct csig_net *cn = csig_net(dev_net(skb->dev));
	struct csig_act_ctx ctx = {
		.act = act,
		.params = p,
		.profile = &rcu_dereference_bh(cn->domain)->profile,
	};

	tcf_lastuse_update(&act->tcf_tm);
	tcf_action_update_bstats(&act->common, skb);
	if (skb->dev->type != ARPHRD_ETHER || !skb_mac_header_was_set(skb))
		return p->action;
	ctx.port = csig_port_find(skb->dev);

	switch (p->mode) {
	case TC_CSIG_ACT_PUSH:
		csig_act_push(&ctx, skb);
		break;
	case TC_CSIG_ACT_REQUESTED:
		csig_act_requested(&ctx, skb);
		break;
	case TC_CSIG_ACT_POP:
		csig_act_pop(&ctx, skb);
		break;
	case TC_CSIG_ACT_UPDATE:
		csig_act_update(&ctx, skb);
		break;
	case TC_CSIG_ACT_CARRY:
		csig_act_carry(&ctx, skb);
		break;
	case TC_CSIG_ACT_INGRESS:
		if (!csig_act_ingress(&ctx, skb)) {
			tcf_action_inc_drop_qstats(&act->common);
			return TC_ACT_SHOT;
		}
		break;
	}
	return p->action;
}

static const struct nla_policy csig_act_policy[TCA_CSIG_ACT_MAX + 1] = {
	[TCA_CSIG_ACT_UNSPEC] = { .strict_start_type = TCA_CSIG_ACT_TM },
	[TCA_CSIG_ACT_PARMS] = NLA_POLICY_EXACT_LEN(sizeof(struct tc_csig_act)),
	[TCA_CSIG_ACT_FORMAT] = NLA_POLICY_MAX(NLA_U8, CSIG_FORMAT_EXPANDED),
	[TCA_CSIG_ACT_SIGNAL] = NLA_POLICY_MAX(NLA_U8, CSIG_SIGNALS - 1),
	[TCA_CSIG_ACT_LM] = { .type = NLA_U16 },
	[TCA_CSIG_ACT_CARRY] = { .type = NLA_FLAG },
};

static int csig_act_parse(struct nlattr **tb, const struct tc_csig_act *parm,
			  struct csig_act_params *p,
			  struct netlink_ext_ack *extack)
{
	const struct csig_layout *layout;

	if (parm->mode >= __TC_CSIG_ACT_MODE_MAX) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, tb[TCA_CSIG_ACT_PARMS],
					"csig: unknown mode %u", parm->mode);
		return -EINVAL;
	}
	p->mode = parm->mode;
	p->action = parm->action;
	if (tb[TCA_CSIG_ACT_CARRY] && p->mode != TC_CSIG_ACT_POP) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_CSIG_ACT_CARRY],
				    "csig: carry goes with pop only");
		return -EINVAL;
	}
	p->carry = nla_get_flag(tb[TCA_CSIG_ACT_CARRY]);
	if (p->mode != TC_CSIG_ACT_PUSH) {
		if (tb[TCA_CSIG_ACT_FORMAT] || tb[TCA_CSIG_ACT_SIGNAL] ||
		    tb[TCA_CSIG_ACT_LM]) {
			NL_SET_ERR_MSG_MOD(extack,
					   "format, signal and lm go with push only");
			return -EINVAL;
		}
		return 0;
	}
	if (!tb[TCA_CSIG_ACT_SIGNAL]) {
		NL_SET_ERR_MSG_MOD(extack, "push needs a signal");
		return -EINVAL;
	}
	p->t = nla_get_u8(tb[TCA_CSIG_ACT_SIGNAL]);
	if (tb[TCA_CSIG_ACT_FORMAT])
		p->format = nla_get_u8(tb[TCA_CSIG_ACT_FORMAT]);
	if (tb[TCA_CSIG_ACT_LM])
		p->lm = nla_get_u16(tb[TCA_CSIG_ACT_LM]);
	layout = csig_layout(p->format);
	if (p->t > layout->t_max) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, tb[TCA_CSIG_ACT_SIGNAL],
					"csig: signal %u: this format has 0..%u",
					p->t, layout->t_max);
		return -ERANGE;
	}
	if (p->lm > layout->lm_max) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, tb[TCA_CSIG_ACT_LM],
					"csig: lm %u: this format has 0..%u",
					p->lm, layout->lm_max);
		return -ERANGE;
	}
	return 0;
}

/* The domain must have the signal when the action is made; it may lose it later. */
static int csig_act_check_signal(struct net *net, u8 t,
				 struct netlink_ext_ack *extack)
{
	bool defined;

	rcu_read_lock();
	defined = rcu_dereference(csig_net(net)->domain)->profile.signals[t].defined;
	rcu_read_unlock();
	if (defined)
		return 0;
	NL_SET_ERR_MSG_FMT_MOD(extack, "signal %u: the domain does not define it",
			       t);
	return -ENOENT;
}

static int csig_act_new(struct net *net, struct nlattr *nla, struct nlattr *est,
			struct tc_action **a, struct tcf_proto *tp, u32 flags,
			struct netlink_ext_ack *extack)
{
	struct tc_action_net *tn = net_generic(net, csig_act_ops.net_id);
	bool bind = flags & TCA_ACT_FLAGS_BIND;
	struct nlattr *tb[TCA_CSIG_ACT_MAX + 1];
	struct tcf_chain *goto_ch = NULL;
	struct csig_act_params *p;
	struct tc_csig_act *parm;
	struct csig_act *act;
	int err, ret = 0;
	u32 index;

	if (!nla) {
		NL_SET_ERR_MSG_MOD(extack, "the action needs options");
		return -EINVAL;
	}
	/* tc sends options as it always did, without NLA_F_NESTED. */
	err = nla_parse(tb, TCA_CSIG_ACT_MAX, nla_data(nla), nla_len(nla),
			csig_act_policy, extack);
	if (err < 0)
		return err;
	if (!tb[TCA_CSIG_ACT_PARMS]) {
		NL_SET_ERR_MSG_MOD(extack, "TCA_CSIG_ACT_PARMS is missing");
		return -EINVAL;
	}
	parm = nla_data(tb[TCA_CSIG_ACT_PARMS]);
	index = parm->index;
	err = tcf_idr_check_alloc(tn, &index, a, bind);
	if (err < 0)
		return err;
	if (err && bind)
		return ACT_P_BOUND;
	if (!err) {
		err = tcf_idr_create_from_flags(tn, index, est, a,
						&csig_act_ops, bind, flags);
		if (err) {
			tcf_idr_cleanup(tn, index);
			return err;
		}
		ret = ACT_P_CREATED;
	} else if (!(flags & TCA_ACT_FLAGS_REPLACE)) {
		tcf_idr_release(*a, bind);
		return -EEXIST;
	}

	p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	if (!p) {
		err = -ENOMEM;
		goto release;
	}
	err = csig_act_parse(tb, parm, p, extack);
	if (!err && p->mode == TC_CSIG_ACT_PUSH)
		err = csig_act_check_signal(net, p->t, extack);
	if (!err)
		err = tcf_action_check_ctrlact(parm->action, tp, &goto_ch,
					       extack);
	if (err < 0) {
		kfree(p);
		goto release;
	}

	act = to_csig_act(*a);
	spin_lock_bh(&act->tcf_lock);
	goto_ch = tcf_action_set_ctrlact(*a, parm->action, goto_ch);
	p = rcu_replace_pointer(act->params, p,
				lockdep_is_held(&act->tcf_lock));
	spin_unlock_bh(&act->tcf_lock);
	if (goto_ch)
		tcf_chain_put_by_act(goto_ch);
	if (p)
		kfree_rcu(p, rcu);
	return ret;

release:
	tcf_idr_release(*a, bind);
	return err;
}

static void csig_act_cleanup(struct tc_action *a)
{
	struct csig_act_params *p;

	p = rcu_dereference_protected(to_csig_act(a)->params, 1);
	if (p)
		kfree_rcu(p, rcu);
}

static int csig_act_dump(struct sk_buff *skb, struct tc_action *a, int bind,
			 int ref)
{
	unsigned char *b = skb_tail_pointer(skb);
	struct csig_act *act = to_csig_act(a);
	struct tc_csig_act opt = {
		.index = act->tcf_index,
		.refcnt = refcount_read(&act->tcf_refcnt) - ref,
		.bindcnt = atomic_read(&act->tcf_bindcnt) - bind,
	};
	const struct csig_act_params *p;
	struct tcf_t t;

	rcu_read_lock();
	p = rcu_dereference(act->params);
	opt.action = p->action;
	opt.mode = p->mode;
	if (nla_put(skb, TCA_CSIG_ACT_PARMS, sizeof(opt), &opt))
		goto full;
	if (p->mode == TC_CSIG_ACT_PUSH &&
	    (nla_put_u8(skb, TCA_CSIG_ACT_FORMAT, p->format) ||
	     nla_put_u8(skb, TCA_CSIG_ACT_SIGNAL, p->t) ||
	     nla_put_u16(skb, TCA_CSIG_ACT_LM, p->lm)))
		goto full;
	if (p->carry && nla_put_flag(skb, TCA_CSIG_ACT_CARRY))
		goto full;
	rcu_read_unlock();
	tcf_tm_dump(&t, &act->tcf_tm);
	if (nla_put_64bit(skb, TCA_CSIG_ACT_TM, sizeof(t), &t,
			  TCA_CSIG_ACT_PAD))
		goto trim;
	return skb->len;

full:
	rcu_read_unlock();
trim:
	nlmsg_trim(skb, b);
	return -1;
}

static size_t csig_act_fill_size(const struct tc_action *a)
{
	return nla_total_size(sizeof(struct tc_csig_act)) +
	       nla_total_size(sizeof(u8)) * 2 +	/* format, signal */
	       nla_total_size(sizeof(u16)) +	/* lm */
	       nla_total_size(0);		/* carry */
}

static struct tc_action_ops csig_act_ops = {
	.kind = "csig",
	.id = TCA_ID_CSIG,
	.owner = THIS_MODULE,
	.act = csig_act_run,
	.dump = csig_act_dump,
	.init = csig_act_new,
	.cleanup = csig_act_cleanup,
	.get_fill_size = csig_act_fill_size,
	.size = sizeof(struct csig_act),
};

static __net_init int csig_act_net_init(struct net *net)
{
	return tc_action_net_init(net, net_generic(net, csig_act_ops.net_id),
				  &csig_act_ops);
}

static void __net_exit csig_act_net_exit(struct list_head *net_list)
{
	tc_action_net_exit(net_list, csig_act_ops.net_id);
}

static struct pernet_operations csig_act_net_ops = {
	.init = csig_act_net_init,
	.exit_batch = csig_act_net_exit,
	.id = &csig_act_ops.net_id,
	.size = sizeof(struct tc_action_net),
};

int csig_act_init(void)
{
	return tcf_register_action(&csig_act_ops, &csig_act_net_ops);
}

void csig_act_exit(void)
{
	tcf_unregister_action(&csig_act_ops, &csig_act_net_ops);
}

MODULE_ALIAS_NET_ACT("csig");
