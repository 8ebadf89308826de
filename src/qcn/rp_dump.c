// SPDX-License-Identifier: GPL-2.0
/*
 * What a reaction point shows: its options, its statistics, and its limiters as classes
 * that come and go by themselves.  The qdisc is rp.c.
 */
#include <linux/rtnetlink.h>
#include <net/netlink.h>

#include "rp.h"

int qcn_rp_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct qcn_rp_sched *q = qdisc_priv(sch);
	struct nlattr *nest;

	nest = nla_nest_start_noflag(skb, TCA_OPTIONS);
	if (!nest)
		return -EMSGSIZE;
	/* Options change under RTNL, which is held. */
	if (qcn_rp_options_fill(skb, &q->opt)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}

int qcn_rp_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct qcn_rp_sched *q = qdisc_priv(sch);
	struct tc_qcn_rp_xstats st;
	unsigned int p;
	u64 now_ns;

	qcn_rp_catch_up(sch);
	sch_tree_lock(sch);
	now_ns = ktime_get_ns();
	st = q->st;
	st.line_bps = q->opt.p.line_bps;
	st.active = q->active;
	if (q->active && now_ns > q->active_since_ns)
		st.active_ns += now_ns - q->active_since_ns;
	for (p = 0; p < QCN_PRIORITIES; p++) {
		if (!q->rps[p])
			continue;
		st.cnpvs |= BIT(p);
		st.rps = max(st.rps, q->rps[p]);
	}
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

/*
 * Classes are the limiters.  One may go at any time, so that a class is known by its
 * minor number, and looked up under the lock.
 */
static struct qcn_rp_flow *qcn_rp_class(struct Qdisc *sch, unsigned long minor)
{
	struct qcn_rp_sched *q = qdisc_priv(sch);
	unsigned int rpid = TC_QCN_RP_CLASS_RPID(minor);

	if (minor >> 11 || !rpid || rpid > QCN_RPS_MAX)
		return NULL;
	return READ_ONCE(q->flow[TC_QCN_RP_CLASS_PRIORITY(minor)][rpid - 1]);
}

static unsigned long qcn_rp_find(struct Qdisc *sch, u32 classid)
{
	unsigned long minor = TC_H_MIN(classid);

	return qcn_rp_class(sch, minor) ? minor : 0;
}

static struct Qdisc *qcn_rp_leaf(struct Qdisc *sch, unsigned long minor)
{
	return NULL;
}

static void qcn_rp_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	struct qcn_rp_sched *q = qdisc_priv(sch);
	unsigned int p, rpid;

	if (walker->stop)
		return;
	qcn_rp_catch_up(sch);
	for (p = 0; p < QCN_PRIORITIES; p++) {
		for (rpid = 1; rpid <= QCN_RPS_MAX; rpid++) {
			if (READ_ONCE(q->flow[p][rpid - 1]) &&
			    !tc_qdisc_stats_dump(sch, TC_QCN_RP_CLASS(p, rpid),
						 walker))
				return;
		}
	}
}

static int qcn_rp_dump_class(struct Qdisc *sch, unsigned long minor,
			     struct sk_buff *skb, struct tcmsg *tcm)
{
	tcm->tcm_handle |= minor;
	return 0;
}

static int qcn_rp_dump_class_stats(struct Qdisc *sch, unsigned long minor,
				   struct gnet_dump *d)
{
	struct qcn_rp_sched *q = qdisc_priv(sch);
	struct gnet_stats_queue qs = {};
	struct tc_qcn_rp_class_xstats st = {};
	struct qcn_rp_flow *flow;
	int err = 0;
	u64 now_ns;

	sch_tree_lock(sch);
	now_ns = ktime_get_ns();
	/* who walks over the classes has caught up before */
	qcn_rp_advance(q, now_ns, QCN_RP_REPLAY);
	flow = qcn_rp_class(sch, minor);
	if (!flow)	/* went meanwhile: a class without statistics */
		goto unlock;
	st.cr_bps = flow->rp.cr_bps;
	st.tr_bps = flow->rp.tr_bps;
	st.active_ns = now_ns > flow->start_ns ? now_ns - flow->start_ns : 0;
	st.cnms = flow->cnms;
	st.dropped = flow->dropped;
	st.left_bytes = flow->rp.left_bytes;
	st.timer_ns = flow->timer_end_ns - now_ns;
	st.byte_stage = flow->rp.byte_stage;
	st.time_stage = flow->rp.time_stage;
	st.rpid = flow->rpid;
	st.priority = flow->priority;
	st.last_qntzfb = flow->last_qntzfb;
	qs.qlen = flow->queue.len;
	qs.backlog = flow->queue.bytes;
	qs.drops = flow->dropped;
	if (gnet_stats_copy_basic(d, NULL, &flow->bstats, false) < 0 ||
	    gnet_stats_copy_queue(d, NULL, &qs, qs.qlen) < 0)
		err = -1;
unlock:
	sch_tree_unlock(sch);
	if (err || !flow)
		return err;
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

const struct Qdisc_class_ops qcn_rp_class_ops = {
	.leaf = qcn_rp_leaf,
	.find = qcn_rp_find,
	.walk = qcn_rp_walk,
	.dump = qcn_rp_dump_class,
	.dump_stats = qcn_rp_dump_class_stats,
};
