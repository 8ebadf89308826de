// SPDX-License-Identifier: GPL-2.0
/*
 * The limiters of a reaction point: they come with a CNM, move by stages, and go when
 * the rate is back.  Which frame goes where and when it leaves is rp.c; how rates change
 * is csig/qcn_rp.h.
 *
 * Nothing here runs by itself.  Every operation of the qdisc begins with
 * qcn_rp_advance(), which applies the CNMs that arrived and the stages that ended, each
 * at its own time, so that it does not matter how late it is called.  A reaction point
 * below a class that is not served has nothing to send, and costs nothing.
 *
 * All functions: under the root's lock, BH disabled.  No other context has a pointer to
 * a limiter, so it is freed at once.
 */
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/flow_dissector.h>

#include "rp.h"

/**
 * qcn_rp_hash() - what tells flows apart
 * @q: reaction point
 * @skb: frame, data at the MAC header
 *
 * Not skb->hash, nor an IPv6 flow label: a socket changes those when it looks for
 * another path.
 *
 * Return: the same for all frames of a flow
 */
u32 qcn_rp_hash(const struct qcn_rp_sched *q, const struct sk_buff *skb)
{
	struct flow_keys keys;

	if (q->opt.hash == TC_QCN_RP_HASH_DST)
		return jhash(eth_hdr(skb)->h_dest, ETH_ALEN, q->seed);
	skb_flow_dissect_flow_keys(skb, &keys, 0);
	keys.tags.flow_label = 0;
	return flow_hash_from_keys_seed(&keys, &q->perturb);
}

/* Flows of a priority, as the port and the options have it now */
static u8 qcn_rp_wanted(const struct qcn_rp_sched *q, u8 priority)
{
	u8 cnpvs = q->opt.cnpvs ?: READ_ONCE(q->port->cnpvs);

	if (!qcn_has(cnpvs ?: QCN_RP_CNPVS_DEF, priority))
		return 0;
	/* Without a CN-TAG no CNM could name one of them. */
	return qcn_rp_tags(q, priority) ? q->opt.rps : 1;
}

/**
 * qcn_rp_flow_of() - the limiter of a frame
 * @q: reaction point
 * @skb: frame with its qcn_rp_cb
 *
 * Return: NULL when its flow is not limited
 */
struct qcn_rp_flow *qcn_rp_flow_of(struct qcn_rp_sched *q,
				   const struct sk_buff *skb)
{
	const struct qcn_rp_cb *cb = qcn_rp_cb(skb);
	u8 rps = q->rps[cb->priority];

	if (cb->kind != QCN_RP_DATA || !rps)
		return NULL;
	return q->flow[cb->priority][qcn_rpid(cb->hash, rps) - 1];
}

static bool qcn_rp_sooner(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct qcn_rp_flow, due)->pace.next_ns <
	       rb_entry(b, struct qcn_rp_flow, due)->pace.next_ns;
}

static bool qcn_rp_ends_first(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct qcn_rp_flow, timer)->timer_end_ns <
	       rb_entry(b, struct qcn_rp_flow, timer)->timer_end_ns;
}

/**
 * qcn_rp_flow_add() - a frame waits for its departure
 * @q: reaction point
 * @flow: its limiter
 * @skb: frame
 */
void qcn_rp_flow_add(struct qcn_rp_sched *q, struct qcn_rp_flow *flow,
		     struct sk_buff *skb)
{
	if (!flow->queue.len)
		rb_add_cached(&flow->due, &q->due, qcn_rp_sooner);
	qcn_rp_fifo_add(&flow->queue, skb);
}

/* The timer is not in the tree. */
static void qcn_rp_timer_start(struct qcn_rp_sched *q,
			       struct qcn_rp_flow *flow, u64 from_ns)
{
	flow->timer_end_ns = from_ns + qcn_rp_timer_ns(&flow->rp, &q->opt.p,
						       get_random_u32());
	rb_add_cached(&flow->timer, &q->timers, qcn_rp_ends_first);
}

static struct qcn_rp_flow *qcn_rp_activate(struct qcn_rp_sched *q, u8 priority,
					   u16 rpid, u64 now_ns)
{
	struct qcn_rp_flow *flow;

	/* A CNM is taken where frames are queued; failing is counted. */
	flow = kzalloc(sizeof(*flow), GFP_ATOMIC | __GFP_NOWARN);
	if (!flow) {
		q->st.nomem++;
		return NULL;
	}
	flow->priority = priority;
	flow->rpid = rpid;
	flow->start_ns = now_ns;
	qcn_rp_init(&flow->rp, &q->opt.p);
	qcn_pace_init(&flow->pace, q->opt.p.line_bps, q->opt.catchup_ns,
		      now_ns);
	gnet_stats_basic_sync_init(&flow->bstats);
	qcn_rp_timer_start(q, flow, now_ns);
	q->flow[priority][rpid - 1] = flow;
	q->fresh |= BIT(priority);
	q->st.activations++;
	if (!q->active++)
		q->active_since_ns = now_ns;
	return flow;
}

/* Its frames, if any, have been taken out. */
static void qcn_rp_release(struct qcn_rp_sched *q, struct qcn_rp_flow *flow,
			   u64 now_ns)
{
	rb_erase_cached(&flow->timer, &q->timers);
	q->flow[flow->priority][flow->rpid - 1] = NULL;
	q->st.releases++;
	if (!--q->active && now_ns > q->active_since_ns)
		q->st.active_ns += now_ns - q->active_since_ns;
	kfree(flow);
}

/* True when the rate is back and the limiter went. */
static bool qcn_rp_try_release(struct qcn_rp_sched *q,
			       struct qcn_rp_flow *flow, u64 now_ns)
{
	if (!qcn_rp_done(&flow->rp, &q->opt.p, !flow->queue.len))
		return false;
	qcn_rp_release(q, flow, now_ns);
	return true;
}

/**
 * qcn_rp_flow_sent() - the first frame of a limiter left its queue
 * @q: reaction point
 * @flow: limiter; may be gone afterwards
 * @wire_bytes: of the frame
 * @now_ns: time
 */
void qcn_rp_flow_sent(struct qcn_rp_sched *q, struct qcn_rp_flow *flow,
		      u32 wire_bytes, u64 now_ns)
{
	rb_erase_cached(&flow->due, &q->due);
	qcn_pace_send(&flow->pace, wire_bytes, now_ns);
	if (qcn_rp_sent(&flow->rp, wire_bytes)) {
		qcn_rp_byte_stage(&flow->rp, &q->opt.p, get_random_u32());
		qcn_pace_rate(&flow->pace, flow->rp.cr_bps);
	}
	if (flow->queue.len)
		rb_add_cached(&flow->due, &q->due, qcn_rp_sooner);
	else
		qcn_rp_try_release(q, flow, now_ns);
}

/* Stages that ended until a time; true when the limiter went. */
static bool qcn_rp_stages(struct qcn_rp_sched *q, struct qcn_rp_flow *flow,
			  u64 until_ns, unsigned int *budget)
{
	bool empty = !flow->queue.len;
	u64 end_ns = flow->timer_end_ns;

	rb_erase_cached(&flow->timer, &q->timers);
	while (end_ns <= until_ns && *budget) {
		--*budget;
		qcn_rp_time_stage(&flow->rp, &q->opt.p);
		if (qcn_rp_done(&flow->rp, &q->opt.p, empty))
			break;
		end_ns += qcn_rp_timer_ns(&flow->rp, &q->opt.p,
					  get_random_u32());
	}
	flow->timer_end_ns = end_ns;
	rb_add_cached(&flow->timer, &q->timers, qcn_rp_ends_first);
	if (qcn_rp_try_release(q, flow, end_ns))
		return true;
	qcn_pace_rate(&flow->pace, flow->rp.cr_bps);
	return false;
}

/* Frames of these priorities go where they belong now, each flow in its order. */
static void qcn_rp_sort(struct qcn_rp_sched *q, u8 priorities, bool rehash,
			struct qcn_rp_fifo *moved)
{
	struct qcn_rp_fifo direct = q->direct, *from;
	struct qcn_rp_flow *flow;
	struct sk_buff *skb;
	struct qcn_rp_cb *cb;

	memset(&q->direct, 0, sizeof(q->direct));
	memset(q->waiting, 0, sizeof(q->waiting));
	/* No flow has frames in both. */
	for (from = &direct; from; from = from == &direct ? moved : NULL) {
		while ((skb = qcn_rp_fifo_pop(from))) {
			cb = qcn_rp_cb(skb);
			flow = NULL;
			if (qcn_has(priorities, cb->priority)) {
				if (rehash && cb->kind == QCN_RP_DATA)
					cb->hash = qcn_rp_hash(q, skb);
				flow = qcn_rp_flow_of(q, skb);
			}
			if (flow)
				qcn_rp_flow_add(q, flow, skb);
			else
				qcn_rp_direct_add(q, skb);
		}
	}
}

/* Frames of flows that just got a limiter leave the queue of those without. */
static void qcn_rp_sort_fresh(struct qcn_rp_sched *q)
{
	u8 fresh = q->fresh;
	unsigned int p;

	q->fresh = 0;
	for (p = 0; p < QCN_PRIORITIES; p++) {
		if (qcn_has(fresh, p) && q->waiting[p]) {
			qcn_rp_sort(q, fresh, false, NULL);
			return;
		}
	}
}

/* Take a limiter's frames. */
static void qcn_rp_take(struct qcn_rp_sched *q, struct qcn_rp_flow *flow,
			struct qcn_rp_fifo *to)
{
	struct sk_buff *skb;

	if (!flow->queue.len)
		return;
	rb_erase_cached(&flow->due, &q->due);
	while ((skb = qcn_rp_fifo_pop(&flow->queue)))
		qcn_rp_fifo_add(to, skb);
}

/*
 * The number of flows changed.  A limiter whose RPID is gone limits the flow that now
 * has the first of its hashes; where that has a limiter, too, the slower rate holds.
 */
static void qcn_rp_rename(struct qcn_rp_sched *q, u8 priority, u8 rps,
			  struct qcn_rp_fifo *moved)
{
	struct qcn_rp_flow **slot = q->flow[priority], *flow, *other;
	u64 now_ns = ktime_get_ns();
	u8 old = q->rps[priority];
	unsigned int i, to;

	q->rps[priority] = rps;
	for (i = 0; i < old; i++) {
		flow = slot[i];
		if (!flow)
			continue;
		qcn_rp_take(q, flow, moved);
		if (i < rps)
			continue;
		to = i * rps / old;
		other = rps ? slot[to] : NULL;
		if (rps && !other) {
			slot[to] = flow;
			slot[i] = NULL;
			flow->rpid = to + 1;
			continue;
		}
		if (other && flow->rp.cr_bps < other->rp.cr_bps) {
			other->rp = flow->rp;
			qcn_pace_rate(&other->pace, other->rp.cr_bps);
		}
		qcn_rp_release(q, flow, now_ns);
	}
}

/**
 * qcn_rp_check() - look whether a priority is what it was
 * @q: reaction point
 * @priority: 0..7
 *
 * The mode of a port may change at any time.
 *
 * Return: true when it is not; limiters may be gone, frames are where they belong
 */
bool qcn_rp_check(struct qcn_rp_sched *q, u8 priority)
{
	struct qcn_rp_fifo moved = {};
	u8 rps = qcn_rp_wanted(q, priority);
	bool no_hash = q->rps[priority] <= 1;

	if (likely(rps == q->rps[priority]))
		return false;
	qcn_rp_rename(q, priority, rps, &moved);
	if (moved.len || q->waiting[priority])
		qcn_rp_sort(q, BIT(priority), no_hash, &moved);
	return true;
}

/* One limiter and one CNM; false without memory. */
static bool qcn_rp_notice_flow(struct qcn_rp_sched *q, u16 rpid,
			       const struct qcn_notice *n)
{
	struct qcn_rp_flow *flow = q->flow[n->priority][rpid - 1];
	unsigned int budget = QCN_RP_REPLAY;

	if (flow && flow->timer_end_ns <= n->time_ns &&
	    qcn_rp_stages(q, flow, n->time_ns, &budget))
		flow = NULL;
	if (!flow)
		flow = qcn_rp_activate(q, n->priority, rpid, n->time_ns);
	if (!flow)
		return false;
	qcn_rp_cnm(&flow->rp, &q->opt.p, n->qntzfb);
	qcn_pace_rate(&flow->pace, flow->rp.cr_bps);
	rb_erase_cached(&flow->timer, &q->timers);
	qcn_rp_timer_start(q, flow, n->time_ns);
	flow->cnms++;
	flow->last_qntzfb = n->qntzfb;
	return true;
}

/*
 * A CNM for all flows is work for up to 100 limiters.  Of those that come between two
 * frames of the host one for each priority counts, so that a flood takes no more time
 * than that from a frame; @all has the priorities that had theirs.
 */
static void qcn_rp_notice(struct qcn_rp_sched *q, const struct qcn_notice *n,
			  u8 *all)
{
	bool used = false;
	unsigned int i;
	u8 rps;

	if (n->priority >= QCN_PRIORITIES || !n->qntzfb) {
		q->st.cnm_ignored++;
		return;
	}
	qcn_rp_check(q, n->priority);
	rps = q->rps[n->priority];
	if (!rps || n->rpid > rps ||
	    (!n->rpid && rps > 1 && qcn_has(*all, n->priority))) {
		q->st.cnm_ignored++;
		return;
	}
	if (n->rpid) {
		used = qcn_rp_notice_flow(q, n->rpid, n);
	} else {
		*all |= BIT(n->priority);
		for (i = 1; i <= rps; i++)
			used |= qcn_rp_notice_flow(q, i, n);
	}
	if (used)
		q->st.cnm_used++;
}

static void qcn_rp_drain(struct qcn_rp_sched *q)
{
	struct qcn_inbox *inbox = &q->inbox;
	unsigned int i, count;
	u8 all = 0;

	spin_lock(&inbox->lock);
	count = min_t(unsigned int, inbox->count, QCN_INBOX_LEN);
	memcpy(q->notice, inbox->notice, count * sizeof(q->notice[0]));
	WRITE_ONCE(inbox->count, 0);
	q->st.cnm_ignored += inbox->overrun - q->overrun;
	q->overrun = inbox->overrun;
	spin_unlock(&inbox->lock);

	for (i = 0; i < count; i++)
		qcn_rp_notice(q, &q->notice[i], &all);
	/* Once for all of them, since it may look at each frame that waits. */
	if (q->fresh)
		qcn_rp_sort_fresh(q);
}

/**
 * qcn_rp_advance() - do what became due
 * @q: reaction point
 * @now_ns: time
 * @stages: how many stages in time to replay at most; the rest is done next time
 *
 * Limiters may be gone afterwards, and frames are in other queues.
 *
 * Return: true when there may be a rest
 */
bool qcn_rp_advance(struct qcn_rp_sched *q, u64 now_ns, unsigned int stages)
{
	struct qcn_rp_flow *flow;
	struct rb_node *node;

	if (READ_ONCE(q->inbox.count))
		qcn_rp_drain(q);
	while (stages && (node = rb_first_cached(&q->timers))) {
		flow = rb_entry(node, struct qcn_rp_flow, timer);
		if (flow->timer_end_ns > now_ns)
			break;
		if (!qcn_rp_check(q, flow->priority))
			qcn_rp_stages(q, flow, now_ns, &stages);
	}
	return !stages;
}

/**
 * qcn_rp_catch_up() - do what became due, for somebody who looks
 * @sch: reaction point
 *
 * A mode of the port may have changed since the last frame, too.
 *
 * Context: RTNL, without the root's lock.
 */
void qcn_rp_catch_up(struct Qdisc *sch)
{
	struct qcn_rp_sched *q = qdisc_priv(sch);
	unsigned int p, rounds = QCN_RP_REPLAY_ROUNDS;
	u64 now_ns = ktime_get_ns();
	bool rest;

	do {
		sch_tree_lock(sch);
		rest = qcn_rp_advance(q, now_ns, QCN_RP_REPLAY);
		for (p = 0; p < QCN_PRIORITIES; p++)
			qcn_rp_check(q, p);
		sch_tree_unlock(sch);
	} while (rest && --rounds);
}

/**
 * qcn_rp_changed() - the options are others
 * @q: reaction point with its new options
 * @now_ns: time
 * @rehash: flows are told apart in another way
 */
void qcn_rp_changed(struct qcn_rp_sched *q, u64 now_ns, bool rehash)
{
	u64 longest_ns = qcn_jitter(q->opt.p.timer_ns, ~0U);
	s64 most = qcn_jitter(q->opt.p.reset_bytes, ~0U);
	struct qcn_rp_fifo moved = {};
	struct qcn_rp_flow *flow;
	unsigned int p, i;

	for (p = 0; p < QCN_PRIORITIES; p++) {
		qcn_rp_check(q, p);
		for (i = 0; i < q->rps[p]; i++) {
			flow = q->flow[p][i];
			if (!flow)
				continue;
			qcn_rp_settle(&flow->rp, &q->opt.p);
			qcn_pace_rate(&flow->pace, flow->rp.cr_bps);
			flow->pace.catchup_ns = q->opt.catchup_ns;
			if (flow->rp.left_bytes > most)
				flow->rp.left_bytes = most;
			if (flow->timer_end_ns > now_ns + longest_ns) {
				rb_erase_cached(&flow->timer, &q->timers);
				qcn_rp_timer_start(q, flow, now_ns);
			}
			if (rehash)
				qcn_rp_take(q, flow, &moved);
		}
	}
	if (rehash)
		qcn_rp_sort(q, 0xff, true, &moved);
}

/**
 * qcn_rp_forget() - no limiter any more
 * @q: reaction point without frames
 * @now_ns: time
 */
void qcn_rp_forget(struct qcn_rp_sched *q, u64 now_ns)
{
	struct rb_node *node;

	q->due = RB_ROOT_CACHED;
	while ((node = rb_first_cached(&q->timers)))
		qcn_rp_release(q, rb_entry(node, struct qcn_rp_flow, timer),
			       now_ns);
	q->fresh = 0;
}
