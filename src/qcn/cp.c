// SPDX-License-Identifier: GPL-2.0
/*
 * qcn_cp, the congestion point of QCN (IEEE 802.1Qau, clauses 30 to 33): the FIFO where
 * the queue builds, below tbf, htb, ets, mqprio and others or as a root.  It samples the
 * frames that come and sends CNMs to where they came from (cnm.c).  Its options are
 * cp_config.c.
 *
 * Principles: "Data center transport mechanisms: congestion control theory and IEEE
 * standardization", Alizadeh et al., Allerton 2008; the arithmetic is include/csig/qcn.h.
 *
 * CNMs that are forwarded go ahead of data, and are not data: no part of the queue
 * that is measured, never sampled, with room of their own.
 *
 * What a frame counts is fixed as it comes (qdisc_pkt_len()): parents took it into their
 * backlog, so a CN-TAG that goes off as the frame leaves changes nothing of that.
 *
 * DOC: locking
 *
 * All of struct qcn_cp_sched_data belongs to the owner of the root's lock; settings are
 * written with RTNL, too.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include <linux/tc_qcn.h>

#include "cp.h"
#include "module.h"

/* Queue in steps of Qeq / 8: a fraction with these many bits, 5 before the point */
#define QCN_CP_STEP_SHIFT	56
#define QCN_CP_STEPS		8
#define QCN_CP_STEPS_END	(TC_QCN_QUEUE_BINS - 1)

/**
 * struct qcn_cp_sched_data - private data of a qcn_cp qdisc
 * @data: frames that wait
 * @cnms: CNMs that wait
 * @cnm_bytes: octets of @cnms
 * @last_cnm_bytes: octets of the frame that left last if it was a CNM, else 0; a parent
 *	that peeked leaves it in the backlog
 * @cp: state of the sampling
 * @steps_q: QCN_CP_STEPS / Qeq with QCN_CP_STEP_SHIFT fraction bits
 * @config: settings; the limit in force is sch->limit
 * @stats: without cnpvs, which is up to the port
 * @port: NULL until init is through
 * @link: where the port finds it
 */
struct qcn_cp_sched_data {
	struct sk_buff_head data;
	struct sk_buff_head cnms;
	u32 cnm_bytes;
	u32 last_cnm_bytes;
	struct qcn_cp cp;
	u64 steps_q;
	struct qcn_cp_config config;
	struct tc_qcn_cp_xstats stats;
	struct qcn_port *port;
	struct qcn_cp_link link;
};

/**
 * struct qcn_cp_skb_cb - what is known of a frame that waits
 * @cntag: it has a CN-TAG
 */
struct qcn_cp_skb_cb {
	bool cntag;
};

static struct qcn_cp_skb_cb *qcn_cp_skb_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct qcn_cp_skb_cb));
	return (struct qcn_cp_skb_cb *)qdisc_skb_cb(skb)->data;
}

/*
 * Octets of data that wait; a frame that a parent has peeked at still does.  Of a root
 * whose driver was full more than one may be back, with CNMs that then count: some hundred
 * octets, until the driver takes them.
 */
static u32 qcn_cp_queue(const struct Qdisc *sch)
{
	const struct qcn_cp_sched_data *q = qdisc_priv(sch);
	u32 cnm_bytes = q->cnm_bytes;

	if (!skb_queue_empty(&sch->gso_skb))
		cnm_bytes += q->last_cnm_bytes;
	return sch->qstats.backlog > cnm_bytes ?
	       sch->qstats.backlog - cnm_bytes : 0;
}

static void qcn_cp_account(struct qcn_cp_sched_data *q, u32 q_bytes)
{
	unsigned int step = QCN_CP_STEPS_END;

	if (q_bytes < 4ULL * q->config.params.qeq_bytes)
		step = q_bytes * q->steps_q >> QCN_CP_STEP_SHIFT;
	q->stats.queue[min_t(unsigned int, step, QCN_CP_STEPS_END)]++;
	q->stats.queue_sum_bytes += q_bytes;
	if (q_bytes > q->stats.queue_max_bytes)
		q->stats.queue_max_bytes = q_bytes;
}

static bool qcn_cp_is_own(const struct net_device *dev,
			  const struct sk_buff *skb)
{
	return skb_headlen(skb) >= ETH_HLEN &&
	       ether_addr_equal(skb->data + ETH_ALEN, dev->dev_addr);
}

/* A sample is due: take it, if this frame's sender can be told. */
static void qcn_cp_look(struct Qdisc *sch, const struct sk_buff *skb,
			u32 q_bytes)
{
	struct qcn_cp_sched_data *q = qdisc_priv(sch);
	const struct qcn_cp_config *config = &q->config;
	struct net_device *dev = qdisc_dev(sch);
	struct qcn_cnm_params p;
	struct qcn_sample s;
	struct qcn_frame f;
	u8 priority, cnpvs;
	const u8 *mac;

	/*
	 * No own frame of either address.  Where all are the host's a sample is always
	 * due, so this comes first.
	 */
	if (qcn_cp_is_own(dev, skb) || !qcn_skb_parse(skb, &f)) {
		q->stats.unanswerable++;
		return;
	}
	mac = is_zero_ether_addr(config->mac) ? dev->dev_addr : config->mac;
	cnpvs = qcn_port_cnpvs(q->port, config->cnpvs, config->cnm.priority);
	priority = qcn_skb_priority(skb, &f);
	if (!qcn_frame_answerable(&f, mac, cnpvs, priority)) {
		q->stats.unanswerable++;
		return;
	}
	qcn_cp_sample(&q->cp, &config->params, q_bytes, get_random_u32(), &s);
	q->stats.sampled++;
	q->stats.last_qntzfb = s.qntzfb;
	if (!s.qntzfb)
		return;
	p = config->cnm;
	ether_addr_copy(p.mac, mac);
	qcn_cpid(mac, config->port, priority, p.cpid);
	if (qcn_cnm_send(dev, &p, skb, &f, priority, &s))
		q->stats.cnm[s.qntzfb >> 3]++;
	else
		q->stats.cnm_dropped++;
}

static int qcn_cp_drop(struct sk_buff *skb, struct Qdisc *sch,
		       struct sk_buff **to_free)
{
	struct qcn_cp_sched_data *q = qdisc_priv(sch);

	q->stats.discarded++;
	return qdisc_drop(skb, sch, to_free);
}

static int qcn_cp_put(struct sk_buff *skb, struct Qdisc *sch,
		      struct sk_buff_head *list)
{
	__skb_queue_tail(list, skb);
	qdisc_qstats_backlog_inc(sch, skb);
	WRITE_ONCE(sch->q.qlen, sch->q.qlen + 1);
	return NET_XMIT_SUCCESS;
}

static int qcn_cp_enqueue_cnm(struct sk_buff *skb, struct Qdisc *sch,
			      struct sk_buff **to_free)
{
	struct qcn_cp_sched_data *q = qdisc_priv(sch);
	unsigned int len = qdisc_pkt_len(skb);

	if ((u64)q->cnm_bytes + len > sch->limit)
		return qcn_cp_drop(skb, sch, to_free);
	q->cnm_bytes += len;
	return qcn_cp_put(skb, sch, &q->cnms);
}

/* One frame; a super-packet only where it could not be segmented */
static int qcn_cp_enqueue_one(struct sk_buff *skb, struct Qdisc *sch,
			      struct sk_buff **to_free)
{
	struct qcn_cp_sched_data *q = qdisc_priv(sch);
	unsigned int len = qdisc_pkt_len(skb);
	u32 q_bytes = qcn_cp_queue(sch);
	struct qcn_frame f;
	bool full;

	qcn_cp_skb_cb(skb)->cntag = false;
	if (qcn_skb_has_tags(skb) && qcn_skb_parse(skb, &f)) {
		if (f.inner == CSIG_ETH_CNM)
			return qcn_cp_enqueue_cnm(skb, sch, to_free);
		qcn_cp_skb_cb(skb)->cntag = f.cntag;
	}
	/* A frame that is longer than the limit passes an empty queue. */
	full = q_bytes && (u64)q_bytes + len > sch->limit;
	if (!full)
		q_bytes += len;
	qcn_cp_account(q, q_bytes);
	if (qcn_cp_count(&q->cp, len))
		qcn_cp_look(sch, skb, q_bytes);
	if (full)
		return qcn_cp_drop(skb, sch, to_free);
	return qcn_cp_put(skb, sch, &q->data);
}

static int qcn_cp_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			  struct sk_buff **to_free)
{
	if (skb_is_gso(skb))
		return qcn_enqueue_segments(skb, sch, 0, to_free,
					    qcn_cp_enqueue_one);
	return qcn_cp_enqueue_one(skb, sch, to_free);
}

/* The end of the domain: the neighbour is not to see the CN-TAG. */
static void qcn_cp_strip(struct qcn_cp_sched_data *q, struct sk_buff *skb)
{
	struct qcn_frame f;
	u8 mode;

	if (!qcn_skb_parse(skb, &f) || !qcn_frame_tagged(&f))
		return;
	mode = qcn_port_mode(q->port, qcn_skb_priority(skb, &f));
	if (!qcn_mode_rules(mode)->strip)
		return;
	if (qcn_skb_untag(skb, &f)) {
		qcn_stat_inc(q->port, QCN_A_PORT_STATS_SKIPPED_NOMEM);
		return;
	}
	q->stats.stripped++;
	qcn_stat_inc(q->port, QCN_A_PORT_STATS_STRIPPED);
}

static struct sk_buff *qcn_cp_dequeue(struct Qdisc *sch)
{
	struct qcn_cp_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;

	q->last_cnm_bytes = 0;
	skb = __skb_dequeue(&q->cnms);
	if (skb) {
		q->last_cnm_bytes = qdisc_pkt_len(skb);
		q->cnm_bytes -= q->last_cnm_bytes;
	} else {
		skb = __skb_dequeue(&q->data);
		if (!skb)
			return NULL;
	}
	qdisc_bstats_update(sch, skb);
	qdisc_qstats_backlog_dec(sch, skb);
	WRITE_ONCE(sch->q.qlen, sch->q.qlen - 1);
	q->stats.transmitted++;
	if (qcn_cp_skb_cb(skb)->cntag)
		qcn_cp_strip(q, skb);
	return skb;
}

static void qcn_cp_forget_queue(struct qcn_cp_sched_data *q)
{
	memset(q->stats.queue, 0, sizeof(q->stats.queue));
	q->stats.queue_sum_bytes = 0;
	q->stats.queue_max_bytes = 0;
}

/* The newest first: they would not have come in with this limit. */
static void qcn_cp_trim(struct Qdisc *sch, struct sk_buff_head *list, u32 bytes,
			unsigned int *n, unsigned int *len)
{
	struct qcn_cp_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;

	while (bytes > sch->limit && (skb = __skb_dequeue_tail(list))) {
		bytes -= qdisc_pkt_len(skb);
		*len += qdisc_pkt_len(skb);
		*n += 1;
		if (list == &q->cnms)
			q->cnm_bytes -= qdisc_pkt_len(skb);
		qdisc_qstats_backlog_dec(sch, skb);
		WRITE_ONCE(sch->q.qlen, sch->q.qlen - 1);
		q->stats.discarded++;
		rtnl_qdisc_drop(skb, sch);
	}
}

/* With the root's lock, or before anybody has the qdisc */
static void qcn_cp_apply(struct Qdisc *sch, const struct qcn_cp_config *config)
{
	struct qcn_cp_sched_data *q = qdisc_priv(sch);
	const struct qcn_cp_params *p = &config->params;
	unsigned int n = 0, len = 0;

	if (p->qeq_bytes != q->config.params.qeq_bytes)
		qcn_cp_forget_queue(q);
	q->config = *config;
	/* rounded up, so that the queue that begins a step is in it */
	q->steps_q = div_u64((u64)QCN_CP_STEPS << QCN_CP_STEP_SHIFT,
			     p->qeq_bytes) + 1;
	/* what a longer base left over is not waited for */
	q->cp.left_bytes = min_t(s64, q->cp.left_bytes, p->base_bytes);
	sch->limit = qcn_cp_config_limit(config);
	qcn_cp_trim(sch, &q->data, qcn_cp_queue(sch), &n, &len);
	qcn_cp_trim(sch, &q->cnms, q->cnm_bytes, &n, &len);
	if (n)
		qdisc_tree_reduce_backlog(sch, n, len);
}

static int qcn_cp_change(struct Qdisc *sch, struct nlattr *opt,
			 struct netlink_ext_ack *extack)
{
	struct qcn_cp_sched_data *q = qdisc_priv(sch);
	struct qcn_cp_config config = q->config;
	int err;

	err = qcn_cp_config_parse(opt, &config, extack);
	if (err)
		return err;
	err = qcn_cp_config_check(&config, q->port, opt, extack);
	if (err)
		return err;
	sch_tree_lock(sch);
	qcn_cp_apply(sch, &config);
	sch_tree_unlock(sch);
	qcn_port_change_cp(q->port, &q->link, config.cnpvs,
			   config.cnm.priority);
	return 0;
}

struct qcn_cp_walker {
	struct qdisc_walker w;
	unsigned long class;
};

static int qcn_cp_see_class(struct Qdisc *sch, unsigned long class,
			    struct qdisc_walker *w)
{
	container_of(w, struct qcn_cp_walker, w)->class = class;
	return 0;
}

/* What stands below a qdisc that has one class, and no way to get others or filters */
static bool qcn_cp_below(struct Qdisc *parent, struct Qdisc **below)
{
	const struct Qdisc_class_ops *ops = parent->ops->cl_ops;
	struct qcn_cp_walker walker = { .w.fn = qcn_cp_see_class };

	if (!ops || !ops->graft || ops->change || ops->tcf_block)
		return false;
	ops->walk(parent, &walker.w);
	if (walker.w.count != 1)
		return false;
	*below = ops->leaf(parent, walker.class);
	return true;
}

/*
 * Has every frame of the device to pass here?  A root has them, and so has what is below a
 * chain of qdiscs with one class each, like tbf, netem or csig.  The qdisc is about to be
 * grafted to its parent.
 */
static bool qcn_cp_has_all(struct Qdisc *sch)
{
	struct Qdisc *q = rtnl_dereference(qdisc_dev(sch)->qdisc), *below;

	if (sch->parent == TC_H_ROOT)
		return true;
	for (; q && qcn_cp_below(q, &below); q = below)
		if (TC_H_MAJ(sch->parent) == q->handle)
			return true;
	return false;
}

static int qcn_cp_init_qdisc(struct Qdisc *sch, struct nlattr *opt,
			     struct netlink_ext_ack *extack)
{
	struct qcn_cp_sched_data *q = qdisc_priv(sch);
	struct qcn_cp_config config;
	struct qcn_port *port;
	int err;

	__skb_queue_head_init(&q->data);
	__skb_queue_head_init(&q->cnms);
	/* Every frame is counted. */
	sch->flags &= ~TCQ_F_CAN_BYPASS;

	qcn_cp_config_init(&config, qdisc_dev(sch));
	err = opt ? qcn_cp_config_parse(opt, &config, extack) : 0;
	if (err)
		return err;
	port = qcn_port_get(qdisc_dev(sch), extack);
	if (IS_ERR(port))
		return PTR_ERR(port);
	err = qcn_cp_config_check(&config, port, opt, extack);
	if (err) {
		qcn_port_put(port);
		return err;
	}
	qcn_cp_init(&q->cp, &config.params);
	qcn_cp_apply(sch, &config);
	q->link.cnpvs = config.cnpvs;
	q->link.cnm_priority = config.cnm.priority;
	q->link.has_all = qcn_cp_has_all(sch);
	qcn_port_add_cp(port, &q->link);
	q->port = port;
	return 0;
}

/* Also after an init that failed, or one that was fine in a qdisc that was not */
static void qcn_cp_destroy(struct Qdisc *sch)
{
	struct qcn_cp_sched_data *q = qdisc_priv(sch);

	if (!q->port)
		return;
	qcn_port_del_cp(q->port, &q->link);
	qcn_port_put(q->port);
}

/* Statistics stay; the core does qlen, backlog and what a parent peeked at. */
static void qcn_cp_reset(struct Qdisc *sch)
{
	struct qcn_cp_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(&q->cnms)))
		rtnl_kfree_skbs(skb, skb);
	while ((skb = __skb_dequeue(&q->data)))
		rtnl_kfree_skbs(skb, skb);
	q->cnm_bytes = 0;
	q->last_cnm_bytes = 0;
	qcn_cp_init(&q->cp, &q->config.params);
}

static int qcn_cp_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct qcn_cp_sched_data *q = qdisc_priv(sch);
	struct nlattr *opts;

	opts = nla_nest_start_noflag(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	if (qcn_cp_config_fill(skb, &q->config)) {
		nla_nest_cancel(skb, opts);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opts);
}

static int qcn_cp_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct qcn_cp_sched_data *q = qdisc_priv(sch);
	struct tc_qcn_cp_xstats st;

	sch_tree_lock(sch);
	st = q->stats;
	st.qold_bytes = q->cp.qold_bytes;
	sch_tree_unlock(sch);
	st.cnpvs = qcn_port_cnpvs(q->port, q->config.cnpvs,
				  q->config.cnm.priority);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

static struct Qdisc_ops qcn_cp_qdisc_ops __read_mostly = {
	.id = "qcn_cp",
	.priv_size = sizeof(struct qcn_cp_sched_data),
	.enqueue = qcn_cp_enqueue,
	.dequeue = qcn_cp_dequeue,
	.peek = qdisc_peek_dequeued,
	.init = qcn_cp_init_qdisc,
	.reset = qcn_cp_reset,
	.destroy = qcn_cp_destroy,
	.change = qcn_cp_change,
	.dump = qcn_cp_dump,
	.dump_stats = qcn_cp_dump_stats,
	.owner = THIS_MODULE,
};

/**
 * qcn_cp_register() - let tc make qcn_cp qdiscs
 *
 * Return: 0 or an error
 */
int qcn_cp_register(void)
{
	return register_qdisc(&qcn_cp_qdisc_ops);
}

/**
 * qcn_cp_unregister() - take that back; there is none any more
 */
void qcn_cp_unregister(void)
{
	unregister_qdisc(&qcn_cp_qdisc_ops);
}
