/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The congestion point of QCN (IEEE 802.1Qau): how congested a queue is, as the number
 * that a CNM carries, and after how many octets to look again.  Pure C; it has no queue
 * and no random numbers, the caller brings both.  Frames are qcn_frame.h.
 */
#ifndef CSIG_QCN_H
#define CSIG_QCN_H

#include <csig/types.h>

#define QCN_FB_MAX		63	/* QntzFb has 6 bits */
#define QCN_PRIORITIES		8

/* IEEE8021-CN-MIB: cpQueueSizeSetPoint, cpFeedbackWeight, cpMinSampleBase */
#define QCN_QEQ_DEF_BYTES	26000U
#define QCN_QEQ_MAX_BYTES	(1U << 30)
#define QCN_WEIGHT_DEF		1
#define QCN_WEIGHT_MIN		(-10)
#define QCN_WEIGHT_MAX		10
#define QCN_BASE_DEF_BYTES	150000U
#define QCN_BASE_MIN_BYTES	10000U

/* With this for 32 random bits qcn_jitter() returns what it was given. */
#define QCN_RND_MEAN		0x80000000U

/* A set of priorities is an octet, bit n for priority n. */
static inline bool qcn_has(__u8 priorities, unsigned int priority)
{
	return priority < QCN_PRIORITIES && priorities >> priority & 1;
}

/**
 * qcn_jitter() - J of the specification: spread a length of time or octets
 * @v: below 2^43
 * @rnd: 32 random bits, of which the upper 16 count
 *
 * Return: @v times U(0.85, 1.15), rounded down
 */
static inline __u64 qcn_jitter(__u64 v, __u32 rnd)
{
	/* (17 + 6 * rnd / 2^32) / 20, with 16 fraction bits */
	return csig_div64(v * ((17U << 16) + 6 * (rnd >> 16)), 20U << 16);
}

/**
 * struct qcn_cp_params - settings of a congestion point
 * @qeq_bytes: the queue that is aimed for, 1..QCN_QEQ_MAX_BYTES
 * @base_bytes: octets between two samples of a queue that is not congested, at
 *	least QCN_BASE_MIN_BYTES
 * @weight: log2 of w, what a change of the queue counts compared with its length;
 *	QCN_WEIGHT_MIN..QCN_WEIGHT_MAX
 */
struct qcn_cp_params {
	__u32 qeq_bytes;
	__u32 base_bytes;
	__s8 weight;
};

/**
 * struct qcn_cp - state of a congestion point
 * @left_bytes: until a sample is due; 0 and below: it is
 * @qold_bytes: queue at the last sample
 */
struct qcn_cp {
	__s64 left_bytes;
	__u32 qold_bytes;
};

/**
 * struct qcn_sample - what a sample found
 * @qoff_bytes: Q - Qeq
 * @qdelta_bytes: Q - Qold
 * @qntzfb: 0: not congested, no CNM; 1..QCN_FB_MAX: feedback of the CNM
 */
struct qcn_sample {
	__s64 qoff_bytes;
	__s64 qdelta_bytes;
	__u8 qntzfb;
};

static inline void qcn_cp_defaults(struct qcn_cp_params *p)
{
	p->qeq_bytes = QCN_QEQ_DEF_BYTES;
	p->base_bytes = QCN_BASE_DEF_BYTES;
	p->weight = QCN_WEIGHT_DEF;
}

/**
 * qcn_cp_valid() - can a congestion point work with these settings?
 * @p: settings
 *
 * Return: true when all are in their ranges
 */
static inline bool qcn_cp_valid(const struct qcn_cp_params *p)
{
	return p->qeq_bytes && p->qeq_bytes <= QCN_QEQ_MAX_BYTES &&
	       p->base_bytes >= QCN_BASE_MIN_BYTES &&
	       p->weight >= QCN_WEIGHT_MIN && p->weight <= QCN_WEIGHT_MAX;
}

/*
 * A negative weight makes w a fraction.  So feedback is counted in units of 2^weight
 * octets then, and in octets otherwise: these are the factors of a length and of a
 * change, and both are integers.
 */
static inline __s64 qcn_fb_unit(const struct qcn_cp_params *p)
{
	return 1LL << (p->weight < 0 ? -p->weight : 0);
}

static inline __s64 qcn_fb_weight(const struct qcn_cp_params *p)
{
	return 1LL << (p->weight > 0 ? p->weight : 0);
}

/**
 * qcn_fb_limit() - feedback where the scale of QntzFb ends
 * @p: valid settings
 *
 * Return: Qeq * (2w + 1) in the units of qcn_fb(), below 2^42
 */
static inline __s64 qcn_fb_limit(const struct qcn_cp_params *p)
{
	return p->qeq_bytes * (2 * qcn_fb_weight(p) + qcn_fb_unit(p));
}

/**
 * qcn_fb() - how congested the queue is: -Fb of the specification
 * @p: valid settings
 * @qoff_bytes: Q - Qeq, of queues below 2^32 octets
 * @qdelta_bytes: Q - Qold
 *
 * Return: (Q - Qeq) + w * (Q - Qold) in octets, or in 1 / 2^-weight octets where
 * the weight is negative; clamped to 0..qcn_fb_limit()
 */
static inline __s64 qcn_fb(const struct qcn_cp_params *p, __s64 qoff_bytes,
			   __s64 qdelta_bytes)
{
	/* 33 bits times 2^10, twice: no overflow */
	__s64 fb = qoff_bytes * qcn_fb_unit(p) + qdelta_bytes * qcn_fb_weight(p);
	__s64 limit = qcn_fb_limit(p);

	if (fb < 0)
		return 0;
	return fb < limit ? fb : limit;
}

/**
 * qcn_quantise() - feedback as it fits into a CNM
 * @p: valid settings
 * @fb: from qcn_fb()
 *
 * The only division is one for each sample, of which a queue has a few per 100
 * frames.
 *
 * Return: QntzFb, 0..QCN_FB_MAX
 */
static inline __u8 qcn_quantise(const struct qcn_cp_params *p, __s64 fb)
{
	__s64 limit = qcn_fb_limit(p);

	if (fb >= limit)
		return QCN_FB_MAX;
	return (__u8)csig_div64((__u64)fb * QCN_FB_MAX, (__u64)limit);
}

/**
 * qcn_cp_interval() - octets until the next sample, before jitter
 * @p: valid settings
 * @qntzfb: of this sample, 0..QCN_FB_MAX
 *
 * Return: the base for a queue that is not congested, less the more it is
 */
static inline __u32 qcn_cp_interval(const struct qcn_cp_params *p, __u8 qntzfb)
{
	/* of a base of 150000, by the upper 3 bits of QntzFb */
	static const __u32 row[] = {
		150000, 75000, 50000, 37500, 30000, 25000, 21500, 18500,
	};

	return (__u32)csig_div64((__u64)p->base_bytes * row[qntzfb >> 3 & 7],
				 row[0]);
}

/**
 * qcn_cp_init() - start with an empty queue
 * @cp: state
 * @p: valid settings
 */
static inline void qcn_cp_init(struct qcn_cp *cp, const struct qcn_cp_params *p)
{
	cp->left_bytes = p->base_bytes;
	cp->qold_bytes = 0;
}

/**
 * qcn_cp_count() - a frame came to the queue
 * @cp: state
 * @bytes: of the frame, enqueued or dropped
 *
 * Return: true when a sample is due.  It stays due until qcn_cp_sample(), so a frame
 * that can't be answered (qcn_frame_answerable()) leaves it to the next one that can.
 */
static inline bool qcn_cp_count(struct qcn_cp *cp, __u32 bytes)
{
	if (cp->left_bytes > 0)
		cp->left_bytes -= bytes;
	return cp->left_bytes <= 0;
}

/**
 * qcn_cp_sample() - look at the queue, when a sample is due
 * @cp: state
 * @p: valid settings
 * @q_bytes: in the queue, the frame just enqueued included
 * @rnd: 32 random bits for the next interval
 * @s: filled in; a CNM is to be sent when its feedback is above 0
 */
static inline void qcn_cp_sample(struct qcn_cp *cp,
				 const struct qcn_cp_params *p, __u32 q_bytes,
				 __u32 rnd, struct qcn_sample *s)
{
	s->qoff_bytes = (__s64)q_bytes - p->qeq_bytes;
	s->qdelta_bytes = (__s64)q_bytes - cp->qold_bytes;
	s->qntzfb = qcn_quantise(p, qcn_fb(p, s->qoff_bytes, s->qdelta_bytes));
	cp->qold_bytes = q_bytes;
	cp->left_bytes = (__s64)qcn_jitter(qcn_cp_interval(p, s->qntzfb), rnd);
}

#endif /* CSIG_QCN_H */
