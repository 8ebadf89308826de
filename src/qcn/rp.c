// SPDX-License-Identifier: GPL-2.0
/*
 * The reaction point of QCN as a qdisc, the root of a device or below a class: it slows
 * down the flows that CNMs name, and puts the CN-TAG in front of what a CNM can name.
 * Its limiters are rp_flow.c, its options rp_opt.c, what it shows is
 * rp_dump.c.
 *
 * Principles: IEEE 802.1Qau.  Three queues: CNMs that pass, strictly first; limited
 * flows, each by its own schedule of departures; and all other frames, in their order.
 * Frames and limiters that are due take turns.  A flow is in one queue at a time: its
 * frames move when a limiter comes, and a limiter goes only when none waits.
 */
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/gso.h>
#include <net/netlink.h>

#include "rp.h"

/* Timers this much early or late are not set anew; less than a frame at 1 Gbit/s. */
#define QCN_RP_SLACK_NS	10000U

/* --- enqueue --------------------------------------------------------------- */

static void qcn_rp_classify(struct qcn_rp_sched *q, struct sk_buff *skb)
{
	struct qcn_rp_cb *cb = qcn_rp_cb(skb);
	struct qcn_frame f;

	cb->hash = 0;
	cb->kind = QCN_RP_PLAIN;
	cb->priority = 0;
	if (unlikely(!qcn_skb_parse(skb, &f)))
		return;
	cb->priority = qcn_skb_priority(skb, &f) & 7;
	if (unlikely(f.inner == CSIG_ETH_CNM)) {
		cb->kind = QCN_RP_CNM;
		return;
	}
	if (unlikely(csig_dst_is_link_local(f.dst)))
		return;
	cb->kind = QCN_RP_DATA;
	qcn_rp_check(q, cb->priority);
	/* one flow needs nothing to be told by */
	if (q->rps[cb->priority] > 1)
		cb->hash = qcn_rp_hash(q, skb);
}

static int qcn_rp_drop(struct sk_buff *skb, struct Qdisc *sch,
		       struct sk_buff **to_free, u64 *counter)
{
	++*counter;
	return qdisc_drop(skb, sch, to_free);
}

static int qcn_rp_enqueue_one(struct sk_buff *skb, struct Qdisc *sch,
			      struct sk_buff **to_free)
{
	struct qcn_rp_sched *q = qdisc_priv(sch);
	struct qcn_rp_flow *flow;

	if (unlikely(qcn_rp_cb(skb)->kind == QCN_RP_CNM)) {
		if (q->cnms.len >= QCN_RP_CNMS_MAX)
			return qcn_rp_drop(skb, sch, to_free,
					   &q->st.limit_drops);
		qcn_rp_fifo_add(&q->cnms, skb);
	} else {
		if (unlikely(sch->q.qlen - q->cnms.len >= q->opt.limit))
			return qcn_rp_drop(skb, sch, to_free,
					   &q->st.limit_drops);
		flow = qcn_rp_flow_of(q, skb);
		if (!flow) {
			qcn_rp_direct_add(q, skb);
		} else if (flow->queue.len >= q->opt.flow_limit) {
			flow->dropped++;
			return qcn_rp_drop(skb, sch, to_free,
					   &q->st.flow_drops);
		} else {
			qcn_rp_flow_add(q, flow, skb);
		}
	}
	qdisc_qstats_backlog_inc(sch, skb);
	WRITE_ONCE(sch->q.qlen, sch->q.qlen + 1);
	return NET_XMIT_SUCCESS;
}

/* Super-packets burst, and a CN-TAG belongs into each frame. */
static bool qcn_rp_must_segment(struct qcn_rp_sched *q,
				const struct sk_buff *skb)
{
	const struct qcn_rp_cb *cb = qcn_rp_cb(skb);

	return skb_is_gso(skb) && cb->kind == QCN_RP_DATA &&
	       q->rps[cb->priority] &&
	       (qcn_rp_tags(q, cb->priority) || qcn_rp_flow_of(q, skb));
}

/* Where adapters can't sum what gets a CN-TAG, segmentation does so as it copies. */
static netdev_features_t qcn_rp_without(const struct qcn_rp_sched *q,
					const struct sk_buff *skb)
{
	return READ_ONCE(q->port->parses_headers) &&
	       qcn_rp_tags(q, qcn_rp_cb(skb)->priority) ? NETIF_F_CSUM_MASK : 0;
}

static int qcn_rp_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			  struct sk_buff **to_free)
{
	struct qcn_rp_sched *q = qdisc_priv(sch);

	if (qcn_rp_busy(q))
		qcn_rp_advance(q, ktime_get_ns(), QCN_RP_REPLAY);
	qcn_rp_classify(q, skb);
	/* Segments inherit what was found out. */
	if (qcn_rp_must_segment(q, skb))
		return qcn_enqueue_segments(skb, sch, qcn_rp_without(q, skb),
					    to_free, qcn_rp_enqueue_one);
	return qcn_rp_enqueue_one(skb, sch, to_free);
}

/* --- dequeue --------------------------------------------------------------- */

static void qcn_rp_tag(struct qcn_rp_sched *q, struct sk_buff *skb)
{
	const struct qcn_rp_cb *cb = qcn_rp_cb(skb);
	u8 rps = q->rps[cb->priority];
	struct qcn_frame f;
	int err;

	if (cb->kind != QCN_RP_DATA || !rps || !qcn_rp_tags(q, cb->priority) ||
	    !qcn_skb_parse(skb, &f) || f.cntag)
		return;
	if (skb_is_gso(skb))
		err = -ENOMEM;	/* it could not be segmented */
	/* Adapters look for IP where the tag will be. */
	else if (skb->ip_summed == CHECKSUM_PARTIAL &&
		 READ_ONCE(q->port->parses_headers))
		err = skb_checksum_help(skb);
	else
		err = 0;
	if (!err)
		err = qcn_skb_tag(skb, &f, qcn_rpid(cb->hash, rps));
	if (!err)
		q->st.tagged++;
	else if (err == -EMSGSIZE)
		q->st.untagged_mtu++;
	else
		q->st.untagged_nomem++;
}

static u32 qcn_rp_wire_bytes(const struct sk_buff *skb)
{
	bool vlan = skb_vlan_tag_present(skb);

	if (!skb_is_gso(skb))
		return qcn_wire_bytes(skb->len, 1, vlan);
	return qcn_wire_bytes(qdisc_pkt_len(skb), skb_shinfo(skb)->gso_segs ?: 1,
			      vlan);
}

static int qcn_rp_split_one(struct sk_buff *skb, struct Qdisc *sch,
			    struct sk_buff **to_free)
{
	struct qcn_rp_sched *q = qdisc_priv(sch);

	qcn_rp_fifo_add(&q->split, skb);
	qdisc_qstats_backlog_inc(sch, skb);
	WRITE_ONCE(sch->q.qlen, sch->q.qlen + 1);
	return NET_XMIT_SUCCESS;
}

/*
 * A super-packet that came before its flow was limited, or before its priority got
 * CN-TAGs, becomes frames when its turn comes; they go in front of the others.
 */
static void qcn_rp_split_head(struct Qdisc *sch, struct qcn_rp_fifo *fifo)
{
	struct qcn_rp_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = qcn_rp_fifo_pop(fifo);
	u8 priority = qcn_rp_cb(skb)->priority;

	qdisc_qstats_backlog_dec(sch, skb);
	WRITE_ONCE(sch->q.qlen, sch->q.qlen - 1);
	qcn_enqueue_segments(skb, sch, qcn_rp_without(q, skb), NULL,
			     qcn_rp_split_one);
	if (fifo == &q->direct)
		q->waiting[priority] += q->split.len - 1;
	q->split.tail->next = fifo->head;
	if (!fifo->head)
		fifo->tail = q->split.tail;
	fifo->head = q->split.head;
	fifo->len += q->split.len;
	fifo->bytes += q->split.bytes;
	memset(&q->split, 0, sizeof(q->split));
}

static struct sk_buff *qcn_rp_dequeue_flow(struct Qdisc *sch,
					   struct qcn_rp_flow *flow, u64 now_ns)
{
	struct qcn_rp_sched *q = qdisc_priv(sch);
	struct sk_buff *skb;

	if (unlikely(skb_is_gso(flow->queue.head)))
		qcn_rp_split_head(sch, &flow->queue);
	skb = qcn_rp_fifo_pop(&flow->queue);
	qcn_rp_tag(q, skb);
	bstats_update(&flow->bstats, skb);
	qcn_rp_flow_sent(q, flow, qcn_rp_wire_bytes(skb), now_ns);
	return skb;
}

static struct sk_buff *qcn_rp_dequeue_direct(struct Qdisc *sch)
{
	struct qcn_rp_sched *q = qdisc_priv(sch);
	struct sk_buff *skb;

	if (unlikely(qcn_rp_must_segment(q, q->direct.head)))
		qcn_rp_split_head(sch, &q->direct);
	skb = qcn_rp_direct_pop(q);
	qcn_rp_tag(q, skb);
	return skb;
}

/* Nothing may leave now.  When to look again? */
static void qcn_rp_sleep(struct Qdisc *sch, const struct qcn_rp_flow *flow,
			 u64 now_ns)
{
	struct qcn_rp_sched *q = qdisc_priv(sch);
	u64 end_ns;

	/* Stages do not change what is planned: nobody has to be woken for them. */
	if (flow) {
		qdisc_qstats_overlimit(sch);
		qdisc_watchdog_schedule_range_ns(&q->watchdog,
						 flow->pace.next_ns,
						 min(q->opt.catchup_ns / 4,
						     QCN_RP_SLACK_NS));
		return;
	}
	/*
	 * Only to let go of limiters, of which none can go before the first stage ends;
	 * whatever is planned already does as well.
	 */
	if (q->active && !hrtimer_is_queued(&q->watchdog.timer)) {
		end_ns = rb_entry(rb_first_cached(&q->timers),
				  struct qcn_rp_flow, timer)->timer_end_ns;
		qdisc_watchdog_schedule_ns(&q->watchdog,
					   max(end_ns, now_ns + QCN_RP_IDLE_NS));
	}
}

static struct sk_buff *qcn_rp_dequeue(struct Qdisc *sch)
{
	struct qcn_rp_sched *q = qdisc_priv(sch);
	struct qcn_rp_flow *flow;
	struct sk_buff *skb;
	u64 now_ns = 0;		/* of no use without limiters */
	bool due;

	if (qcn_rp_busy(q)) {
		now_ns = ktime_get_ns();
		qcn_rp_advance(q, now_ns, QCN_RP_REPLAY);
	}
	skb = qcn_rp_fifo_pop(&q->cnms);
	if (unlikely(skb))
		goto found;
	flow = qcn_rp_due(q);
	due = flow && qcn_pace_due(&flow->pace, now_ns);
	if (due && !(q->direct_turn && q->direct.len)) {
		skb = qcn_rp_dequeue_flow(sch, flow, now_ns);
		q->direct_turn = true;
	} else if (q->direct.len) {
		skb = qcn_rp_dequeue_direct(sch);
		q->direct_turn = false;
	} else {
		qcn_rp_sleep(sch, flow, now_ns);
		return NULL;
	}
found:
	qdisc_bstats_update(sch, skb);
	qdisc_qstats_backlog_dec(sch, skb);
	WRITE_ONCE(sch->q.qlen, sch->q.qlen - 1);
	return skb;
}

/* --- set up, change, reset ---------------------------------------------------- */

static void qcn_rp_purge(struct qcn_rp_fifo *fifo)
{
	rtnl_kfree_skbs(fifo->head, fifo->tail);
	memset(fifo, 0, sizeof(*fifo));
}

static void qcn_rp_reset(struct Qdisc *sch)
{
	struct qcn_rp_sched *q = qdisc_priv(sch);
	struct rb_node *node;

	qdisc_watchdog_cancel(&q->watchdog);
	qcn_rp_purge(&q->cnms);
	qcn_rp_purge(&q->direct);
	memset(q->waiting, 0, sizeof(q->waiting));
	for (node = rb_first_cached(&q->due); node; node = rb_next(node))
		qcn_rp_purge(&rb_entry(node, struct qcn_rp_flow, due)->queue);
	qcn_rp_forget(q, ktime_get_ns());
	spin_lock_bh(&q->inbox.lock);
	WRITE_ONCE(q->inbox.count, 0);
	spin_unlock_bh(&q->inbox.lock);
}

/* Drop the oldest frame of a queue, as a change does; a limiter may run empty. */
static void qcn_rp_drop_oldest(struct Qdisc *sch, struct sk_buff *skb,
			       unsigned int *frames, unsigned int *bytes)
{
	++*frames;
	*bytes += qdisc_pkt_len(skb);
	qdisc_qstats_backlog_dec(sch, skb);
	WRITE_ONCE(sch->q.qlen, sch->q.qlen - 1);
	rtnl_qdisc_drop(skb, sch);
}

/* Limits are lower now. */
static void qcn_rp_trim(struct Qdisc *sch)
{
	struct qcn_rp_sched *q = qdisc_priv(sch);
	unsigned int frames = 0, bytes = 0, keep;
	struct rb_node *node, *next;
	struct qcn_rp_flow *flow;

	while (q->direct.len && sch->q.qlen - q->cnms.len > q->opt.limit) {
		qcn_rp_drop_oldest(sch, qcn_rp_direct_pop(q), &frames, &bytes);
		q->st.limit_drops++;
	}
	for (node = rb_first_cached(&q->due); node; node = next) {
		next = rb_next(node);
		flow = rb_entry(node, struct qcn_rp_flow, due);
		keep = q->opt.flow_limit;
		while (flow->queue.len > keep) {
			qcn_rp_drop_oldest(sch, qcn_rp_fifo_pop(&flow->queue),
					   &frames, &bytes);
			flow->dropped++;
			q->st.flow_drops++;
		}
		while (flow->queue.len &&
		       sch->q.qlen - q->cnms.len > q->opt.limit) {
			qcn_rp_drop_oldest(sch, qcn_rp_fifo_pop(&flow->queue),
					   &frames, &bytes);
			q->st.limit_drops++;
		}
		if (!flow->queue.len)
			rb_erase_cached(&flow->due, &q->due);
	}
	if (frames)
		qdisc_tree_reduce_backlog(sch, frames, bytes);
}

static void qcn_rp_apply(struct Qdisc *sch, const struct qcn_rp_options *opt)
{
	struct qcn_rp_sched *q = qdisc_priv(sch);
	u64 now_ns;
	bool rehash;

	/* what happened until now, by the old options */
	qcn_rp_catch_up(sch);
	sch_tree_lock(sch);
	now_ns = ktime_get_ns();
	qcn_rp_advance(q, now_ns, QCN_RP_REPLAY);
	rehash = opt->hash != q->opt.hash;
	q->opt = *opt;
	sch->limit = opt->limit;
	qcn_rp_changed(q, now_ns, rehash);
	qcn_rp_trim(sch);
	sch_tree_unlock(sch);
}

static int qcn_rp_change(struct Qdisc *sch, struct nlattr *nla,
			 struct netlink_ext_ack *extack)
{
	struct qcn_rp_sched *q = qdisc_priv(sch);
	struct qcn_rp_options opt = q->opt;
	int err;

	err = qcn_rp_options_parse(qdisc_dev(sch), nla, &opt, extack);
	if (err)
		return err;
	qcn_rp_apply(sch, &opt);
	return 0;
}

/**
 * qcn_rp_link_changed() - the link of a reaction point may have another speed
 * @inbox: its inbox, in the list of its port
 *
 * Context: RTNL, without the device's own lock; sleeps.
 */
void qcn_rp_link_changed(struct qcn_inbox *inbox)
{
	struct qcn_rp_sched *q = container_of(inbox, struct qcn_rp_sched,
					      inbox);
	struct Qdisc *sch = q->watchdog.qdisc;
	struct qcn_rp_options opt = q->opt;

	if (qcn_rp_options_link(qdisc_dev(sch), &opt))
		qcn_rp_apply(sch, &opt);
}

/*
 * Below a multi-queue root there would be one for each queue of the device, and a CNM
 * does not say from which of them the flow came.  A default qdisc of such a root comes
 * without options, before the root is in place.
 */
static bool qcn_rp_place_ok(struct Qdisc *sch, const struct nlattr *nla)
{
	struct net_device *dev = qdisc_dev(sch);
	struct Qdisc *root = rtnl_dereference(dev->qdisc);

	if (sch->parent == TC_H_ROOT)
		return true;
	return !(root && root->flags & TCQ_F_MQROOT) &&
	       (nla || !netif_is_multiqueue(dev));
}

static int qcn_rp_init_qdisc(struct Qdisc *sch, struct nlattr *nla,
			     struct netlink_ext_ack *extack)
{
	struct qcn_rp_sched *q = qdisc_priv(sch);
	struct qcn_port *port;
	unsigned int p;
	int err;

	/* destroy is called after a failed init, too */
	qdisc_watchdog_init(&q->watchdog, sch);
	spin_lock_init(&q->inbox.lock);
	q->due = RB_ROOT_CACHED;
	q->timers = RB_ROOT_CACHED;
	/* That it holds back frames is its purpose; parents need not say so. */
	sch->flags |= TCQ_F_WARN_NONWC;

	if (!qcn_rp_place_ok(sch, nla)) {
		NL_SET_ERR_MSG_MOD(extack,
				   "qcn_rp can't be below a multi-queue root: make qcn_rp the root");
		return -EOPNOTSUPP;
	}
	qcn_rp_options_init(&q->opt);
	err = qcn_rp_options_parse(qdisc_dev(sch), nla, &q->opt, extack);
	if (err)
		return err;
	sch->limit = q->opt.limit;
	get_random_bytes(&q->perturb, sizeof(q->perturb));
	q->seed = get_random_u32();
	port = qcn_port_get(qdisc_dev(sch), extack);
	if (IS_ERR(port))
		return PTR_ERR(port);
	q->port = port;
	for (p = 0; p < QCN_PRIORITIES; p++)
		qcn_rp_check(q, p);
	qcn_port_add_rp(port, &q->inbox);
	return 0;
}

/*
 * A CNM may find the inbox until the grace period is over, which the memory of a qdisc
 * lives for; it has no effect any more.
 */
static void qcn_rp_destroy(struct Qdisc *sch)
{
	struct qcn_rp_sched *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	if (!q->port)
		return;
	qcn_port_del_rp(q->port, &q->inbox);
	qcn_port_put(q->port);
}

static struct Qdisc_ops qcn_rp_qdisc_ops __read_mostly = {
	.cl_ops = &qcn_rp_class_ops,
	.id = "qcn_rp",
	.priv_size = sizeof(struct qcn_rp_sched),
	.enqueue = qcn_rp_enqueue,
	.dequeue = qcn_rp_dequeue,
	.peek = qdisc_peek_dequeued,
	.init = qcn_rp_init_qdisc,
	.reset = qcn_rp_reset,
	.destroy = qcn_rp_destroy,
	.change = qcn_rp_change,
	.dump = qcn_rp_dump,
	.dump_stats = qcn_rp_dump_stats,
	.owner = THIS_MODULE,
};

int qcn_rp_register(void)
{
	return register_qdisc(&qcn_rp_qdisc_ops);
}

void qcn_rp_unregister(void)
{
	unregister_qdisc(&qcn_rp_qdisc_ops);
}
