/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the reaction point share: rp.c is the qdisc, rp_flow.c its limiters,
 * rp_opt.c its options, rp_dump.c what it shows.  All of it is guarded by the lock of the
 * root qdisc.
 */
#ifndef QCN_RP_H
#define QCN_RP_H

#include <linux/rbtree.h>
#include <linux/siphash.h>
#include <net/gen_stats.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include <csig/qcn_pace.h>
#include <csig/qcn_rp.h>
#include <linux/tc_qcn.h>

#include "module.h"

/* Without a domain: all priorities but that of CNMs */
#define QCN_RP_CNPVS_DEF	((u8)~BIT(QCN_CNM_PRIORITY_DEF))

/* CNMs of others that wait to be forwarded; data never takes their room. */
#define QCN_RP_CNMS_MAX		1000

#define QCN_RP_LIMIT_DEF	10000
#define QCN_RP_FLOW_LIMIT_DEF	256
#define QCN_RP_LIMIT_MAX	1000000
#define QCN_RP_CATCHUP_MAX_NS	1000000000U

/*
 * Stages in time that are replayed at once, with the root's lock held.  The shortest stage
 * takes 50 us, so a reaction point that nobody asked for long catches up while frames
 * come.  Who looks at it lets others have the lock in between.
 */
#define QCN_RP_REPLAY		256
#define QCN_RP_REPLAY_ROUNDS	64

/* Limiters that no frame waits for are released a little late: few wake-ups. */
#define QCN_RP_IDLE_NS		10000000ULL

/* What a frame is to a reaction point */
enum qcn_rp_kind {
	QCN_RP_PLAIN,	/* no header that we know, or link control: passes */
	QCN_RP_DATA,
	QCN_RP_CNM,
};

/**
 * struct qcn_rp_cb - what was found out about a frame, in qdisc_skb_cb
 * @hash: tells flows apart; 0 while its priority has less than two
 * @priority: 0..7
 * @kind: enum qcn_rp_kind
 */
struct qcn_rp_cb {
	u32 hash;
	u8 priority;
	u8 kind;
};

static inline struct qcn_rp_cb *qcn_rp_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct qcn_rp_cb));
	return (struct qcn_rp_cb *)qdisc_skb_cb(skb)->data;
}

/**
 * struct qcn_rp_fifo - frames that wait
 * @head: the first one; they are linked by skb->next
 * @tail: the last one
 * @len: how many
 * @bytes: what they count in the backlog
 */
struct qcn_rp_fifo {
	struct sk_buff *head;
	struct sk_buff *tail;
	u32 len;
	u32 bytes;
};

static inline void qcn_rp_fifo_add(struct qcn_rp_fifo *fifo,
				   struct sk_buff *skb)
{
	skb->next = NULL;
	if (fifo->head)
		fifo->tail->next = skb;
	else
		fifo->head = skb;
	fifo->tail = skb;
	fifo->len++;
	fifo->bytes += qdisc_pkt_len(skb);
}

static inline struct sk_buff *qcn_rp_fifo_pop(struct qcn_rp_fifo *fifo)
{
	struct sk_buff *skb = fifo->head;

	if (!skb)
		return NULL;
	fifo->head = skb->next;
	fifo->len--;
	fifo->bytes -= qdisc_pkt_len(skb);
	skb_mark_not_on_list(skb);
	return skb;
}

/**
 * struct qcn_rp_options - settings
 * @rate_bps: of an unlimited flow, 0: the speed of the link
 * @min_bps: 0: the default
 * @p: what is in force
 * @limit: frames that may wait in all
 * @flow_limit: frames of a limited flow that may wait
 * @catchup_ns: how far behind its schedule a flow may be
 * @rps: flows of a priority
 * @hash: enum tc_qcn_rp_hash
 * @cnpvs: priorities, 0: those of the port
 */
struct qcn_rp_options {
	u64 rate_bps;
	u64 min_bps;
	struct qcn_rp_params p;
	u32 limit;
	u32 flow_limit;
	u32 catchup_ns;
	u8 rps;
	u8 hash;
	u8 cnpvs;
};

/**
 * struct qcn_rp_flow - a limiter: a flow (CCF) from its first CNM to its release
 * @due: place in qcn_rp_sched.due, by pace.next_ns, while frames wait
 * @timer: place in qcn_rp_sched.timers, by @timer_end_ns
 * @queue: frames that wait
 * @pace: when they may leave
 * @rp: at which rate
 * @timer_end_ns: when the stage in time ends
 * @start_ns: when the limiter came into being
 * @cnms: that it used
 * @dropped: frames beyond the limit of a flow
 * @rpid: 1..rps
 * @priority: 0..7
 * @last_qntzfb: of the last CNM
 * @bstats: what left
 */
struct qcn_rp_flow {
	struct rb_node due;
	struct rb_node timer;
	struct qcn_rp_fifo queue;
	struct qcn_pace pace;
	struct qcn_rp rp;
	u64 timer_end_ns;
	u64 start_ns;
	u64 cnms;
	u64 dropped;
	u16 rpid;
	u8 priority;
	u8 last_qntzfb;
	struct gnet_stats_basic_sync bstats;
};

/**
 * struct qcn_rp_sched - private data of a qcn_rp qdisc
 * @port: its device's; NULL until init is through
 * @opt: settings
 * @cnms: CNMs of others, strictly first
 * @direct: frames of flows without a limiter
 * @split: frames of a super-packet, while one is split
 * @waiting: frames in @direct, by priority
 * @due: limiters with frames, the next departure first
 * @timers: all limiters, the next end of a stage first
 * @rps: flows of a priority in force; 0: no CNPV, 1: its frames get no CN-TAG
 * @active: limiters
 * @fresh: priorities that got a limiter whose frames may still be in @direct
 * @direct_turn: a limited flow was served last
 * @active_since_ns: when the first of the limiters came
 * @overrun: what is known of inbox.overrun
 * @st: statistics, as they are dumped
 * @perturb: of the hash over addresses and ports
 * @seed: of the hash over the destination address
 * @watchdog: calls dequeue again
 * @inbox: CNMs that arrived
 * @notice: copy of them, outside of its lock
 * @flow: limiters, by priority and RPID - 1
 */
struct qcn_rp_sched {
	struct qcn_port *port;
	struct qcn_rp_options opt;
	struct qcn_rp_fifo cnms;
	struct qcn_rp_fifo direct;
	struct qcn_rp_fifo split;
	u32 waiting[QCN_PRIORITIES];
	struct rb_root_cached due;
	struct rb_root_cached timers;
	u8 rps[QCN_PRIORITIES];
	u32 active;
	u8 fresh;
	bool direct_turn;
	u64 active_since_ns;
	u64 overrun;
	struct tc_qcn_rp_xstats st;
	siphash_aligned_key_t perturb;
	u32 seed;
	struct qdisc_watchdog watchdog;
	struct qcn_inbox inbox;
	struct qcn_notice notice[QCN_INBOX_LEN];
	struct qcn_rp_flow *flow[QCN_PRIORITIES][QCN_RPS_MAX];
};

/* rp_flow.c */
u32 qcn_rp_hash(const struct qcn_rp_sched *q, const struct sk_buff *skb);
struct qcn_rp_flow *qcn_rp_flow_of(struct qcn_rp_sched *q,
				   const struct sk_buff *skb);
void qcn_rp_flow_add(struct qcn_rp_sched *q, struct qcn_rp_flow *flow,
		     struct sk_buff *skb);
void qcn_rp_flow_sent(struct qcn_rp_sched *q, struct qcn_rp_flow *flow,
		      u32 wire_bytes, u64 now_ns);
bool qcn_rp_advance(struct qcn_rp_sched *q, u64 now_ns, unsigned int stages);
void qcn_rp_catch_up(struct Qdisc *sch);
bool qcn_rp_check(struct qcn_rp_sched *q, u8 priority);
void qcn_rp_changed(struct qcn_rp_sched *q, u64 now_ns, bool rehash);
void qcn_rp_forget(struct qcn_rp_sched *q, u64 now_ns);

static inline struct qcn_rp_flow *qcn_rp_due(const struct qcn_rp_sched *q)
{
	struct rb_node *node = rb_first_cached(&q->due);

	return node ? rb_entry(node, struct qcn_rp_flow, due) : NULL;
}

static inline void qcn_rp_direct_add(struct qcn_rp_sched *q,
				     struct sk_buff *skb)
{
	qcn_rp_fifo_add(&q->direct, skb);
	q->waiting[qcn_rp_cb(skb)->priority]++;
}

static inline struct sk_buff *qcn_rp_direct_pop(struct qcn_rp_sched *q)
{
	struct sk_buff *skb = qcn_rp_fifo_pop(&q->direct);

	if (skb)
		q->waiting[qcn_rp_cb(skb)->priority]--;
	return skb;
}

/* Else there is nothing that time could change. */
static inline bool qcn_rp_busy(const struct qcn_rp_sched *q)
{
	return q->active || READ_ONCE(q->inbox.count);
}

/* May frames of this priority get a CN-TAG? */
static inline bool qcn_rp_tags(const struct qcn_rp_sched *q, u8 priority)
{
	return qcn_port_mode(q->port, priority) == QCN_DEFENCE_INTERIOR_READY;
}

/* rp_dump.c */
extern const struct Qdisc_class_ops qcn_rp_class_ops;
int qcn_rp_dump(struct Qdisc *sch, struct sk_buff *skb);
int qcn_rp_dump_stats(struct Qdisc *sch, struct gnet_dump *d);

/* rp_opt.c */
void qcn_rp_options_init(struct qcn_rp_options *opt);
int qcn_rp_options_parse(struct net_device *dev, struct nlattr *nla,
			 struct qcn_rp_options *opt,
			 struct netlink_ext_ack *extack);
bool qcn_rp_options_link(struct net_device *dev, struct qcn_rp_options *opt);
int qcn_rp_options_fill(struct sk_buff *skb, const struct qcn_rp_options *opt);

#endif /* QCN_RP_H */
