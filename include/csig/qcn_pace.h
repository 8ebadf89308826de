/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When the frames of a flow may leave at a given rate: a schedule of departures, and
 * what a frame takes on the wire.  Pure C; it has no clock and no queue.  Which rate it
 * is, qcn_rp.h says.
 *
 * Each frame moves the next departure by octets / rate.  That is no token bucket: a
 * frame of any size leaves when its time has come.
 */
#ifndef CSIG_QCN_PACE_H
#define CSIG_QCN_PACE_H

#include <csig/estimate.h>
#include <csig/walk.h>

/*
 * Timers of a loaded machine are late by 0.1 ms; what was lost by that is caught up, as
 * a burst of no more than the rate times this (2.5 kB at 100 Mbit/s).
 */
#define QCN_CATCHUP_DEF_NS	200000ULL

/**
 * struct qcn_pace - schedule of a flow
 * @next_ns: the next frame may leave at this time
 * @catchup_ns: how far behind its schedule a flow may be
 * @mult: time of an octet, in ns / 2^shift
 * @frac: part of @next_ns below a ns, in ns / 2^shift
 * @shift: 0..31
 */
struct qcn_pace {
	__u64 next_ns;
	__u64 catchup_ns;
	__u32 mult;
	__u32 frac;
	__u8 shift;
};

/**
 * qcn_pace_rate() - from now on at this rate
 * @p: schedule; what is planned stays planned, so that a change is no burst
 * @bps: 1..2^44 bit/s
 *
 * The division is here, once for each change of the rate, so that frames need none.
 */
static inline void qcn_pace_rate(struct qcn_pace *p, __u64 bps)
{
	/* 8e9 ns and bits, below 2^33: at 2^44 bit/s still 20 significant bits */
	__u64 mult = csig_div64(8 * CSIG_NSEC_PER_SEC << 31, bps);

	p->shift = 31;
	while (mult >> 32 && p->shift) {
		mult >>= 1;
		p->shift--;
	}
	p->mult = mult >> 32 ? ~0U : (__u32)mult;
	p->frac = 0;	/* in other units now, and less than a ns */
}

/**
 * qcn_pace_init() - start a schedule
 * @p: schedule
 * @bps: 1..2^44 bit/s
 * @catchup_ns: how far behind its schedule the flow may be
 * @now_ns: time of the first departure
 */
static inline void qcn_pace_init(struct qcn_pace *p, __u64 bps,
				 __u64 catchup_ns, __u64 now_ns)
{
	p->next_ns = now_ns;
	p->catchup_ns = catchup_ns;
	qcn_pace_rate(p, bps);
}

/**
 * qcn_pace_due() - may a frame leave?
 * @p: schedule; else @next_ns is when to look again
 * @now_ns: time
 *
 * Return: true for frames of any size
 */
static inline bool qcn_pace_due(const struct qcn_pace *p, __u64 now_ns)
{
	return (__s64)(now_ns - p->next_ns) >= 0;
}

/**
 * qcn_pace_send() - a frame goes onto the schedule
 * @p: schedule
 * @wire_bytes: of the frame, see qcn_wire_bytes()
 * @now_ns: time
 *
 * A flow that paused does not save up: it is at most catchup_ns behind.
 *
 * Return: when the frame leaves; up to catchup_ns before now for one that is late
 */
static inline __u64 qcn_pace_send(struct qcn_pace *p, __u32 wire_bytes,
				  __u64 now_ns)
{
	__u64 departure, cost;

	if ((__s64)(now_ns - p->next_ns) > (__s64)p->catchup_ns) {
		p->next_ns = now_ns - p->catchup_ns;
		p->frac = 0;
	}
	departure = p->next_ns;
	cost = (__u64)wire_bytes * p->mult + p->frac;	/* 2^64 - 2^33 + 2^31 */
	p->next_ns += cost >> p->shift;
	p->frac = (__u32)(cost & ((1ULL << p->shift) - 1));
	return departure;
}

/**
 * qcn_wire_bytes() - what a packet takes on the wire
 * @len: octets of all its frames, without frame check sequence
 * @frames: how many, 1 without segmentation
 * @vlan_outside: they get a VLAN tag that is not in those octets
 *
 * Return: octets with frame check sequence, preamble and gap
 */
static inline __u32 qcn_wire_bytes(__u32 len, __u32 frames, bool vlan_outside)
{
	if (vlan_outside)
		len += frames * CSIG_VLAN_LEN;
	return (__u32)(csig_wire_bits(len, frames, CSIG_OVERHEAD_DEF_BYTES) / 8);
}

#endif /* CSIG_QCN_PACE_H */
