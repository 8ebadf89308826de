/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The reaction point of QCN (IEEE 802.1Qau): which rate a flow may send at, cut by CNMs
 * and raised by octets sent and by time.  Pure C; it has no queue, no timer and no random
 * numbers, the caller brings them.  How a rate becomes times of departure is qcn_pace.h.
 */
#ifndef CSIG_QCN_RP_H
#define CSIG_QCN_RP_H

#include <csig/qcn.h>

/* IEEE8021-CN-MIB: the objects rpg*, and rpppMaxRps */
#define QCN_TIMER_DEF_NS	15000000ULL
#define QCN_TIMER_MIN_NS	100000ULL
#define QCN_TIMER_MAX_NS	10000000000ULL
#define QCN_RESET_DEF_BYTES	150000U
#define QCN_THRESHOLD_DEF	5
#define QCN_AI_DEF_BPS		5000000ULL
#define QCN_HAI_DEF_BPS		50000000ULL
#define QCN_MIN_DEF_BPS		5000000ULL
#define QCN_GD_DEF		7
#define QCN_GD_MAX		15
#define QCN_MIN_DEC_DEF		50	/* percent */
#define QCN_RPS_DEF		1
#define QCN_RPS_MAX		100

#define QCN_RATE_MIN_BPS	1000ULL
#define QCN_RATE_MAX_BPS	(1ULL << 44)	/* 17 Tbit/s */

/* More stages change nothing: the target is at the line rate long before. */
#define QCN_STAGE_MAX		0xffff

/**
 * struct qcn_rp_params - settings of a reaction point
 * @line_bps: rate of the port, or the highest rate that is allowed if that is less
 * @min_bps: a flow is never slower, QCN_RATE_MIN_BPS..@line_bps
 * @ai_bps: what the target gains in a step of active increase
 * @hai_bps: what it gains in the first step of hyper-active increase
 * @timer_ns: T, length of a stage in time, QCN_TIMER_MIN_NS..QCN_TIMER_MAX_NS
 * @reset_bytes: BC, length of a stage in octets on the wire, not 0
 * @threshold: stages of fast recovery, not 0
 * @gd: -log2 of Gd, the share of the rate that one unit of feedback takes away;
 *	0..QCN_GD_MAX
 * @min_dec: a CNM takes away no more than this, 1..100 percent
 */
struct qcn_rp_params {
	__u64 line_bps;
	__u64 min_bps;
	__u64 ai_bps;
	__u64 hai_bps;
	__u64 timer_ns;
	__u32 reset_bytes;
	__u8 threshold;
	__u8 gd;
	__u8 min_dec;
};

/**
 * struct qcn_rp - state of a reaction point
 * @cr_bps: CR, the rate in force
 * @tr_bps: TR, the rate that is aimed for: CR before the last cut
 * @left_bytes: octets on the wire until the end of a stage; below 0: it ended
 * @byte_stage: stages in octets since the last CNM
 * @time_stage: stages in time since the last CNM
 * @active: a CNM came; else the flow is not limited
 */
struct qcn_rp {
	__u64 cr_bps;
	__u64 tr_bps;
	__s64 left_bytes;
	__u16 byte_stage;
	__u16 time_stage;
	bool active;
};

static inline void qcn_rp_defaults(struct qcn_rp_params *p, __u64 line_bps)
{
	p->line_bps = line_bps;
	p->min_bps = line_bps < QCN_MIN_DEF_BPS ? line_bps : QCN_MIN_DEF_BPS;
	p->ai_bps = QCN_AI_DEF_BPS;
	p->hai_bps = QCN_HAI_DEF_BPS;
	p->timer_ns = QCN_TIMER_DEF_NS;
	p->reset_bytes = QCN_RESET_DEF_BYTES;
	p->threshold = QCN_THRESHOLD_DEF;
	p->gd = QCN_GD_DEF;
	p->min_dec = QCN_MIN_DEC_DEF;
}

/**
 * qcn_rp_valid() - can a reaction point work with these settings?
 * @p: settings
 *
 * Return: true when all are in their ranges
 */
static inline bool qcn_rp_valid(const struct qcn_rp_params *p)
{
	return p->line_bps <= QCN_RATE_MAX_BPS &&
	       p->min_bps >= QCN_RATE_MIN_BPS && p->min_bps <= p->line_bps &&
	       p->ai_bps <= QCN_RATE_MAX_BPS && p->hai_bps <= QCN_RATE_MAX_BPS &&
	       p->timer_ns >= QCN_TIMER_MIN_NS &&
	       p->timer_ns <= QCN_TIMER_MAX_NS && p->reset_bytes &&
	       p->threshold && p->gd <= QCN_GD_MAX && p->min_dec &&
	       p->min_dec <= 100;
}

/**
 * qcn_rp_init() - a flow that is not limited
 * @rp: state; also how a reaction point is released
 * @p: valid settings
 */
static inline void qcn_rp_init(struct qcn_rp *rp, const struct qcn_rp_params *p)
{
	rp->cr_bps = p->line_bps;
	rp->tr_bps = p->line_bps;
	rp->left_bytes = p->reset_bytes;
	rp->byte_stage = 0;
	rp->time_stage = 0;
	rp->active = false;
}

/**
 * qcn_rp_settle() - settings or the speed of the port changed
 * @rp: state, keeps its place between the new limits
 * @p: valid settings
 */
static inline void qcn_rp_settle(struct qcn_rp *rp, const struct qcn_rp_params *p)
{
	if (!rp->active) {
		qcn_rp_init(rp, p);
		return;
	}
	if (rp->cr_bps > p->line_bps)
		rp->cr_bps = p->line_bps;
	if (rp->cr_bps < p->min_bps)
		rp->cr_bps = p->min_bps;
	if (rp->tr_bps > p->line_bps)
		rp->tr_bps = p->line_bps;
	if (rp->tr_bps < rp->cr_bps)
		rp->tr_bps = rp->cr_bps;
}

/* Is a stage behind fast recovery? */
static inline bool qcn_rp_past(const struct qcn_rp_params *p, __u16 stage)
{
	return stage > p->threshold;
}

/**
 * qcn_rp_cut() - rate after a CNM
 * @p: valid settings
 * @cr_bps: rate before, up to QCN_RATE_MAX_BPS
 * @qntzfb: feedback, 0..QCN_FB_MAX
 *
 * Return: cr * max(1 - qntzfb * Gd, 1 - min_dec), at least min_bps
 */
static inline __u64 qcn_rp_cut(const struct qcn_rp_params *p, __u64 cr_bps,
			       __u8 qntzfb)
{
	__u32 one = 1U << p->gd;
	__u64 least = csig_div64(cr_bps * (100U - p->min_dec), 100), cut = 0;

	if (qntzfb < one)
		cut = cr_bps * (one - qntzfb) >> p->gd;
	if (cut < least)
		cut = least;
	return cut > p->min_bps ? cut : p->min_bps;
}

/**
 * qcn_rp_cnm() - a CNM for this flow came
 * @rp: state
 * @p: valid settings
 * @qntzfb: its feedback, 0..QCN_FB_MAX
 *
 * Return: true when the timer has to be started anew, with qcn_rp_timer_ns(), and the
 * rate to be taken over; false for a feedback of 0, which changes nothing
 */
static inline bool qcn_rp_cnm(struct qcn_rp *rp, const struct qcn_rp_params *p,
			      __u8 qntzfb)
{
	if (!qntzfb)
		return false;
	if (!rp->active) {
		qcn_rp_init(rp, p);
		rp->active = true;
	}
	/* CNMs that come in a row are about one congestion: the target stays. */
	if (rp->cr_bps == p->line_bps || rp->byte_stage) {
		rp->tr_bps = rp->cr_bps;
		rp->left_bytes = p->reset_bytes;
	}
	rp->byte_stage = 0;
	rp->time_stage = 0;
	rp->cr_bps = qcn_rp_cut(p, rp->cr_bps, qntzfb);
	return true;
}

/* A stage ended: closer to the target, and the target up when that was long ago. */
static inline void qcn_rp_increase(struct qcn_rp *rp,
				   const struct qcn_rp_params *p)
{
	__u16 lo, hi;

	if (rp->byte_stage < rp->time_stage) {
		lo = rp->byte_stage;
		hi = rp->time_stage;
	} else {
		lo = rp->time_stage;
		hi = rp->byte_stage;
	}
	if ((rp->byte_stage == 1 || rp->time_stage == 1) &&
	    rp->tr_bps > 10 * rp->cr_bps)
		rp->tr_bps /= 8;
	else if (qcn_rp_past(p, lo))	/* below 2^60 */
		rp->tr_bps += p->hai_bps * (__u64)(lo - p->threshold);
	else if (qcn_rp_past(p, hi))
		rp->tr_bps += p->ai_bps;
	if (rp->tr_bps > p->line_bps)
		rp->tr_bps = p->line_bps;
	rp->cr_bps = (rp->cr_bps + rp->tr_bps) / 2;
	if (rp->cr_bps > p->line_bps)
		rp->cr_bps = p->line_bps;
}

/**
 * qcn_rp_sent() - a frame left
 * @rp: state
 * @wire_bytes: of the frame, see qcn_wire_bytes()
 *
 * Return: true when a stage ended and qcn_rp_byte_stage() is to be called
 */
static inline bool qcn_rp_sent(struct qcn_rp *rp, __u32 wire_bytes)
{
	if (!rp->active)
		return false;
	rp->left_bytes -= wire_bytes;
	return rp->left_bytes < 0;
}

/**
 * qcn_rp_byte_stage() - a stage in octets ended: raise the rate
 * @rp: state, active
 * @p: valid settings
 * @rnd: 32 random bits for the length of the next stage
 */
static inline void qcn_rp_byte_stage(struct qcn_rp *rp,
				     const struct qcn_rp_params *p, __u32 rnd)
{
	__u32 reset = p->reset_bytes;

	if (rp->byte_stage < QCN_STAGE_MAX)
		rp->byte_stage++;
	if (qcn_rp_past(p, rp->byte_stage))
		reset /= 2;
	rp->left_bytes = (__s64)qcn_jitter(reset, rnd);
	qcn_rp_increase(rp, p);
}

/**
 * qcn_rp_time_stage() - the timer expired: raise the rate
 * @rp: state
 * @p: valid settings
 *
 * Return: true when the timer has to be started again, with qcn_rp_timer_ns(); false
 * when the flow is not limited any more
 */
static inline bool qcn_rp_time_stage(struct qcn_rp *rp,
				     const struct qcn_rp_params *p)
{
	if (!rp->active)
		return false;
	if (rp->time_stage < QCN_STAGE_MAX)
		rp->time_stage++;
	qcn_rp_increase(rp, p);
	return true;
}

/**
 * qcn_rp_timer_ns() - how long the timer runs next
 * @rp: state
 * @p: valid settings
 * @rnd: 32 random bits
 *
 * Return: T * J, half of it past fast recovery
 */
static inline __u64 qcn_rp_timer_ns(const struct qcn_rp *rp,
				    const struct qcn_rp_params *p, __u32 rnd)
{
	return qcn_jitter(qcn_rp_past(p, rp->time_stage) ? p->timer_ns / 2 :
			  p->timer_ns, rnd);
}

/**
 * qcn_rp_done() - may the limiter go?
 * @rp: state
 * @p: valid settings
 * @empty: the flow has no frame waiting
 *
 * Halving the distance to the target in integers ends one below it.
 *
 * Return: true when qcn_rp_init() is to be called and the RPID is free
 */
static inline bool qcn_rp_done(const struct qcn_rp *rp,
			       const struct qcn_rp_params *p, bool empty)
{
	return rp->active && empty && rp->cr_bps + 1 >= p->line_bps;
}

/**
 * qcn_rpid() - flow of a frame
 * @hash: of what tells flows apart, 32 bits
 * @rps: how many flows there are, 1..QCN_RPS_MAX
 *
 * Return: RPID, 1..@rps; 0 is for all flows
 */
static inline __u16 qcn_rpid(__u32 hash, __u32 rps)
{
	return (__u16)(1 + ((__u64)hash * rps >> 32));
}

/**
 * qcn_rpid_matches() - is a CNM about this flow?
 * @rpid: of the flow
 * @cnm_rpid: of the CNM, 0 when it had none
 *
 * Return: true for its own RPID and for 0, all flows of the priority
 */
static inline bool qcn_rpid_matches(__u16 rpid, __u16 cnm_rpid)
{
	return !cnm_rpid || cnm_rpid == rpid;
}

#endif /* CSIG_QCN_RP_H */
