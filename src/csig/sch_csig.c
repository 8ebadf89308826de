// SPDX-License-Identifier: GPL-2.0
/*
 * The csig qdisc: a root, or one for each transmit queue under mq, with one child that
 * queues.  It stamps at enqueue and hands each packet to the port at dequeue, since
 * only then its delay and the load of the port are known.
 *
 * Principles: the draft (draft-ravi-ippm-csig) has the egress pipeline compare and
 * replace; in Linux the place after the queue is the dequeue of the root qdisc.
 *
 * Cost: two clock reads a packet, one to stamp it, one to know when it leaves.
 */
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/gso.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include <linux/tc_csig.h>

#include "csig.h"
#include "netlink_gen.h"

/**
 * struct csig_sched_data - private data of a csig qdisc
 * @queue: its place at the port; queue.port is NULL until init is through
 * @child: the qdisc that queues
 * @existed: the device was a port before init
 * @before: its settings then
 */
struct csig_sched_data {
	struct csig_queue queue;
	struct Qdisc *child;
	bool existed;
	struct csig_port_config before;
};

/* Child that is there when none is given; a device may have no queue length. */
static struct Qdisc *csig_child_default(struct Qdisc *sch,
					struct netlink_ext_ack *extack)
{
	unsigned int limit = qdisc_dev(sch)->tx_queue_len;

	return fifo_create_dflt(sch, &pfifo_qdisc_ops,
				limit ?: DEFAULT_TX_QUEUE_LEN, extack);
}

/*
 * Let the stack see through the tag, if there is one; true if there is.  Packets that
 * were tagged here look like that already and are found only if they are asked for.
 */
static bool csig_look_behind(const struct csig_port *port, struct sk_buff *skb,
			     bool ask)
{
	const u16 *tpid = rcu_dereference_bh(port->rules)->domain->profile.tpid;
	struct csig_walk w;

	if (skb->protocol != htons(tpid[CSIG_FORMAT_COMPACT]) &&
	    skb->protocol != htons(tpid[CSIG_FORMAT_EXPANDED]) &&
	    !eth_type_vlan(skb->protocol) && !ask)
		return false;
	if (csig_skb_walk(skb, tpid, &w) != CSIG_WALK_TAG)
		return false;
	/* Left as it is without memory: children see one flow, no more. */
	if (pskb_may_pull(skb, w.offset + csig_layout(w.format)->len + 2))
		csig_skb_normalise(skb, &w);
	return true;
}

static int csig_enqueue_one(struct sk_buff *skb, struct Qdisc *sch,
			    struct sk_buff **to_free)
{
	struct csig_sched_data *q = qdisc_priv(sch);
	unsigned int len = qdisc_pkt_len(skb);
	int ret;

	ret = qdisc_enqueue(skb, q->child, to_free);
	if (ret != NET_XMIT_SUCCESS) {
		if (net_xmit_drop_count(ret))
			qdisc_qstats_drop(sch);
		return ret;
	}
	WRITE_ONCE(sch->qstats.backlog, sch->qstats.backlog + len);
	WRITE_ONCE(sch->q.qlen, sch->q.qlen + 1);
	return NET_XMIT_SUCCESS;
}

/* A tagged super-packet for hardware that looks for IP where the tag is */
static int csig_enqueue_segments(struct sk_buff *skb, struct Qdisc *sch,
				 struct sk_buff **to_free)
{
	netdev_features_t features = netif_skb_features(skb) &
				     ~(NETIF_F_GSO_MASK | NETIF_F_CSUM_MASK);
	struct sk_buff *segs, *nskb;
	bool queued = false;

	segs = skb_gso_segment(skb, features);
	if (IS_ERR_OR_NULL(segs))	/* no memory: as good as the driver can */
		return csig_enqueue_one(skb, sch, to_free);
	skb_list_walk_safe(segs, segs, nskb) {
		skb_mark_not_on_list(segs);
		qdisc_skb_cb(segs)->pkt_len = segs->len;
		qdisc_skb_set_one_seg(segs);
		if (csig_enqueue_one(segs, sch, to_free) == NET_XMIT_SUCCESS)
			queued = true;
	}
	consume_skb(skb);
	return queued ? NET_XMIT_SUCCESS : NET_XMIT_DROP;
}

/*
 * An ifb gives what was redirected to it at ingress back to the stack: that is no
 * egress.  A tag that was taken off stays remembered for the port where the packet
 * leaves, and the headers are as the stack had them.
 */
static bool csig_returns(const struct csig_port *port,
			 const struct sk_buff *skb)
{
#ifdef CONFIG_NET_REDIRECT
	return unlikely(port->is_ifb) && skb->from_ingress;
#else
	return false;
#endif
}

static void csig_return(struct sk_buff *skb)
{
	if (!eth_proto_is_802_3(eth_hdr(skb)->h_proto))
		return;		/* LLC: nothing looked behind it */
	skb->protocol = eth_hdr(skb)->h_proto;
	skb_set_network_header(skb, ETH_HLEN);
	skb->mac_len = ETH_HLEN;
}

static int csig_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			struct sk_buff **to_free)
{
	struct csig_sched_data *q = qdisc_priv(sch);
	struct csig_port *port = q->queue.port;
	u64 now_ns = ktime_get_ns(), time_in_ns;
	bool has_tag = false, offload;
	struct csig_tag tag;

	offload = READ_ONCE(port->parses_headers) &&
		  (skb_is_gso(skb) || skb->ip_summed == CHECKSUM_PARTIAL);
	if (!csig_look_behind(port, skb, offload))
		offload = false;
	if (!csig_returns(port, skb) &&
	    csig_scratch_take(skb, &time_in_ns, &tag, &has_tag))
		now_ns = time_in_ns;
	/*
	 * Nothing reads the NAPI id between here and the driver, while cb is the
	 * child's and tstamp belongs to pacing.
	 */
	skb->napi_id = (u32)now_ns;
	if (has_tag) {
		csig_egress_carry(port, skb, &tag);
		offload = READ_ONCE(port->parses_headers);
	}
	if (!offload)
		return csig_enqueue_one(skb, sch, to_free);
	if (skb_is_gso(skb))
		return csig_enqueue_segments(skb, sch, to_free);
	/* NETIF_F_HW_CSUM is no promise: some of those adapters parse, too. */
	if (skb->ip_summed == CHECKSUM_PARTIAL)
		skb_checksum_help(skb);
	return csig_enqueue_one(skb, sch, to_free);
}

static struct sk_buff *csig_dequeue(struct Qdisc *sch)
{
	struct csig_sched_data *q = qdisc_priv(sch);
	struct csig_port *port = q->queue.port;
	struct csig_hop hop = { .queued = true };
	struct sk_buff *skb;
	u64 now_ns;

	skb = q->child->dequeue(q->child);
	if (!skb)
		return NULL;
	qdisc_bstats_update(sch, skb);
	qdisc_qstats_backlog_dec(sch, skb);
	WRITE_ONCE(sch->q.qlen, sch->q.qlen - 1);

	now_ns = ktime_get_ns();
	/* Windows that ended before this packet do not contain it. */
	csig_port_tick(port, now_ns);
	hop.pd_ns = (u32)((u32)now_ns - skb->napi_id);
	skb->napi_id = 0;
	hop.nqd_ns = csig_mulhi64((u64)sch->qstats.backlog << 32,
				  READ_ONCE(port->ns_per_byte_q32));
	WRITE_ONCE(port->pd_last_ns, hop.pd_ns);
	if (hop.pd_ns > READ_ONCE(port->pd_max_ns))
		WRITE_ONCE(port->pd_max_ns, hop.pd_ns);

	csig_egress(port, skb, &hop);
	if (csig_returns(port, skb))
		csig_return(skb);
	/* As it leaves, without the tag that was stripped. */
	u64_stats_update_begin(&q->queue.syncp);
	u64_stats_add(&q->queue.bits,
		      csig_skb_wire_bits(skb, READ_ONCE(port->overhead_bytes)));
	u64_stats_update_end(&q->queue.syncp);
	return skb;
}

static void csig_reset(struct Qdisc *sch)
{
	struct csig_sched_data *q = qdisc_priv(sch);

	qdisc_reset(q->child);
}

static int csig_parse(struct nlattr *opt, struct csig_port_config *config,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[CSIG_A_PORT_CONFIG_MAX + 1];
	int err;

	if (!opt)
		return 0;
	/* tc sends options as it always did, without NLA_F_NESTED. */
	err = nla_parse(tb, CSIG_A_PORT_CONFIG_MAX, nla_data(opt), nla_len(opt),
			csig_port_config_nl_policy, extack);
	return err ?: csig_config_parse(nla_data(opt), nla_len(opt), tb, config,
					extack);
}

static int csig_change(struct Qdisc *sch, struct nlattr *opt,
		       struct netlink_ext_ack *extack)
{
	struct csig_sched_data *q = qdisc_priv(sch);
	struct csig_port_config config = q->queue.port->config;
	int err;

	err = csig_parse(opt, &config, extack);
	return err ?: csig_port_apply(q->queue.port, &config, extack);
}

/* The root, or a child of a multi-queue root: elsewhere it would see part of a port. */
static bool csig_place_ok(struct Qdisc *sch)
{
	struct Qdisc *root = rtnl_dereference(qdisc_dev(sch)->qdisc);

	return sch->parent == TC_H_ROOT ||
	       (root && root->flags & TCQ_F_MQROOT &&
		TC_H_MAJ(root->handle) == TC_H_MAJ(sch->parent));
}

static int csig_init(struct Qdisc *sch, struct nlattr *opt,
		     struct netlink_ext_ack *extack)
{
	struct csig_sched_data *q = qdisc_priv(sch);
	struct csig_port_config config;
	struct csig_port *port;
	int err;

	/* destroy is called after a failed init, too */
	q->child = &noop_qdisc;
#ifdef TCQ_F_DEQUEUE_DROPS
	/* Children may free what they drop outside of the root's lock. */
	sch->flags |= TCQ_F_DEQUEUE_DROPS;
#endif
	if (!csig_place_ok(sch)) {
		NL_SET_ERR_MSG_MOD(extack,
				   "csig must be the root qdisc or a child of a root mq or mqprio");
		return -EOPNOTSUPP;
	}
	port = csig_port_find(qdisc_dev(sch));
	if (port) {
		config = port->config;
		q->before = config;
		q->existed = true;
	} else {
		csig_port_config_init(&config);
	}
	err = csig_parse(opt, &config, extack);
	if (err)
		return err;
	q->child = csig_child_default(sch, extack);
	if (IS_ERR(q->child)) {
		err = PTR_ERR(q->child);
		q->child = &noop_qdisc;
		return err;
	}
	qdisc_hash_add(q->child, true);
	port = csig_port_get(qdisc_dev(sch), &config, extack);
	if (IS_ERR(port))
		return PTR_ERR(port);
	q->queue.sch = sch;
	csig_port_attach(port, &q->queue);
	return 0;
}

/*
 * qdisc_create() may still refuse after init, for its rate estimator.  It then
 * destroys a qdisc that nobody saw, without dropping the first reference to it; a
 * qdisc that was in use has none left.  RTNL is held since init.
 */
static void csig_undo(struct Qdisc *sch)
{
	struct csig_sched_data *q = qdisc_priv(sch);

	if (!q->existed || !refcount_read(&sch->refcnt))
		return;
	if (csig_port_apply(q->queue.port, &q->before, NULL))
		netdev_warn(qdisc_dev(sch),
			    "csig: no memory to take back refused settings\n");
}

static void csig_destroy(struct Qdisc *sch)
{
	struct csig_sched_data *q = qdisc_priv(sch);

	if (q->queue.port) {
		csig_undo(sch);
		csig_port_detach(&q->queue);
	}
	qdisc_put(q->child);
}

static int csig_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct csig_sched_data *q = qdisc_priv(sch);
	struct nlattr *opts;

	opts = nla_nest_start_noflag(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	if (csig_fill_config(skb, &q->queue.port->config)) {
		nla_nest_cancel(skb, opts);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opts);
}

static int csig_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct csig_sched_data *q = qdisc_priv(sch);
	struct csig_port *port = q->queue.port;
	struct tc_csig_xstats st = {
		.capacity_source = port->capacity_source,
		.pd_last_ns = READ_ONCE(port->pd_last_ns),
		.pd_max_ns = READ_ONCE(port->pd_max_ns),
		.tagged = csig_port_stat(port, CSIG_A_PORT_STATS_TAGGED),
		.updated = csig_port_stat(port, CSIG_A_PORT_STATS_UPDATED),
		.passed = csig_port_stat(port, CSIG_A_PORT_STATS_PASSED),
		.stripped = csig_port_stat(port, CSIG_A_PORT_STATS_STRIPPED),
		.unknown_signal =
			csig_port_stat(port, CSIG_A_PORT_STATS_UNKNOWN_SIGNAL),
		.malformed = csig_port_stat(port, CSIG_A_PORT_STATS_MALFORMED),
		.skipped_mtu =
			csig_port_stat(port, CSIG_A_PORT_STATS_SKIPPED_MTU),
		.skipped_nomem =
			csig_port_stat(port, CSIG_A_PORT_STATS_SKIPPED_NOMEM),
		.untagged = csig_port_stat(port, CSIG_A_PORT_STATS_UNTAGGED),
		.carried = csig_port_stat(port, CSIG_A_PORT_STATS_CARRIED),
		.dropped = csig_port_stat(port, CSIG_A_PORT_STATS_DROPPED),
	};
	struct csig_load load;

	csig_estimator_read(port, &load);
	st.capacity_bps = load.capacity_bps;
	st.util_bps = load.util_bps;
	st.abw_bps = load.abw_bps;
	st.abwc_ppm = load.abwc_ppm;
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

/* One class, 1, that takes the child. */

static int csig_graft(struct Qdisc *sch, unsigned long arg, struct Qdisc *new,
		      struct Qdisc **old, struct netlink_ext_ack *extack)
{
	struct csig_sched_data *q = qdisc_priv(sch);

	if (!new) {
		/* A port without a queue would drop all it gets. */
		new = csig_child_default(sch, extack);
		if (IS_ERR(new))
			return PTR_ERR(new);
		qdisc_hash_add(new, true);
	}
	*old = qdisc_replace(sch, new, &q->child);
	return 0;
}

static struct Qdisc *csig_leaf(struct Qdisc *sch, unsigned long arg)
{
	struct csig_sched_data *q = qdisc_priv(sch);

	return q->child;
}

static unsigned long csig_find(struct Qdisc *sch, u32 classid)
{
	return TC_H_MIN(classid) == 1;
}

static void csig_walk_classes(struct Qdisc *sch, struct qdisc_walker *walker)
{
	if (!walker->stop)
		tc_qdisc_stats_dump(sch, 1, walker);
}

static int csig_dump_class(struct Qdisc *sch, unsigned long cl,
			   struct sk_buff *skb, struct tcmsg *tcm)
{
	struct csig_sched_data *q = qdisc_priv(sch);

	tcm->tcm_handle |= TC_H_MIN(1);
	tcm->tcm_info = q->child->handle;
	return 0;
}

static const struct Qdisc_class_ops csig_class_ops = {
	.graft = csig_graft,
	.leaf = csig_leaf,
	.find = csig_find,
	.walk = csig_walk_classes,
	.dump = csig_dump_class,
};

static struct Qdisc_ops csig_qdisc_ops __read_mostly = {
	.cl_ops = &csig_class_ops,
	.id = "csig",
	.priv_size = sizeof(struct csig_sched_data),
	.enqueue = csig_enqueue,
	.dequeue = csig_dequeue,
	.peek = qdisc_peek_dequeued,
	.init = csig_init,
	.reset = csig_reset,
	.destroy = csig_destroy,
	.change = csig_change,
	.dump = csig_dump,
	.dump_stats = csig_dump_stats,
	.owner = THIS_MODULE,
};

int csig_sch_init(void)
{
	return register_qdisc(&csig_qdisc_ops);
}

void csig_sch_exit(void)
{
	unregister_qdisc(&csig_qdisc_ops);
}

MODULE_ALIAS_NET_SCH("csig");
