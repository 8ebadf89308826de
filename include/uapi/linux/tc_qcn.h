/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * tc's view of QCN (IEEE 802.1Qau): options and statistics of the qdiscs qcn_cp, the
 * congestion point, and qcn_rp, the reaction point.  Defaults and ranges are those of
 * csig/qcn.h, csig/qcn_rp.h and csig/qcn_frame.h; what priorities a port has is set with
 * the netlink family "qcn" (linux/qcn.h).
 */
#ifndef __LINUX_TC_QCN_H
#define __LINUX_TC_QCN_H

#include <linux/types.h>

/**
 * enum tc_qcn_cp_attr - options of qcn_cp, in TCA_OPTIONS
 * @TCA_QCN_CP_LIMIT: u32, octets that may wait, 1514 to 2^30; default 6 times the set
 *	point
 * @TCA_QCN_CP_QEQ: u32, set point in octets, 1514 to 2^30; default 26000
 * @TCA_QCN_CP_WEIGHT: s8, log2 of w, -10 to 10; default 1
 * @TCA_QCN_CP_BASE: u32, octets between samples of a short queue, 10000 to 2^30;
 *	default 150000
 * @TCA_QCN_CP_HEADER: u8, octets of the sampled frame in a CNM, 0 to 64; default 64
 * @TCA_QCN_CP_MAC: 6 octets, address of the congestion point, no group; default the
 *	port's, which an all-zero one selects
 * @TCA_QCN_CP_PORT: u16, port number in the CPID, 0 to 8191; default the lower bits of
 *	the ifindex
 * @TCA_QCN_CP_CNM_PRIORITY: u8, PCP of CNMs, 0 to 7, none of the CNPVs; default 6
 * @TCA_QCN_CP_SOURCE: u8, enum qcn_cnm_source; default 0, the congestion point
 * @TCA_QCN_CP_QOFFSET: u8, enum qcn_cnm_qoffset; default 0, Qeq - Q
 * @TCA_QCN_CP_CNPVS: u8, priorities that are answered, bit n for priority n, not all;
 *	0, the default: those of the port's domain, or without one all but that of CNMs
 */
enum tc_qcn_cp_attr {
	/* private: */
	TCA_QCN_CP_UNSPEC,
	/* public: */
	TCA_QCN_CP_LIMIT,
	TCA_QCN_CP_QEQ,
	TCA_QCN_CP_WEIGHT,
	TCA_QCN_CP_BASE,
	TCA_QCN_CP_HEADER,
	TCA_QCN_CP_MAC,
	TCA_QCN_CP_PORT,
	TCA_QCN_CP_CNM_PRIORITY,
	TCA_QCN_CP_SOURCE,
	TCA_QCN_CP_QOFFSET,
	TCA_QCN_CP_CNPVS,
	/* private: */
	__TCA_QCN_CP_MAX
};

#define TCA_QCN_CP_MAX	(__TCA_QCN_CP_MAX - 1)

#define TC_QCN_FB_BINS		8	/* of QntzFb, by its upper 3 bits */
#define TC_QCN_QUEUE_BINS	33	/* of the queue, by Qeq / 8 */

/**
 * struct tc_qcn_cp_xstats - TCA_STATS_APP of qcn_cp
 * @sampled: frames that were looked at
 * @cnm: CNMs sent, by QntzFb >> 3
 * @cnm_dropped: CNMs that could not be built or delivered
 * @unanswerable: frames that were due and could not be answered
 * @discarded: frames that found the queue full, or had to go as its limit came down
 * @transmitted: frames that left
 * @stripped: CN-TAGs taken off as they left
 * @queue_sum_bytes: queue after each frame that came, summed up over @queue
 * @queue: frames by the queue that they found themselves in, in steps of Qeq / 8; the
 *	last one is 4 Qeq and more
 * @queue_max_bytes: longest queue
 * @qold_bytes: queue at the last sample
 * @last_qntzfb: of the last sample
 * @cnpvs: priorities in force
 *
 * A change of Qeq starts @queue, @queue_sum_bytes and @queue_max_bytes anew.
 */
struct tc_qcn_cp_xstats {
	__u64 sampled;
	__u64 cnm[TC_QCN_FB_BINS];
	__u64 cnm_dropped;
	__u64 unanswerable;
	__u64 discarded;
	__u64 transmitted;
	__u64 stripped;
	__u64 queue_sum_bytes;
	__u64 queue[TC_QCN_QUEUE_BINS];
	__u32 queue_max_bytes;
	__u32 qold_bytes;
	__u8 last_qntzfb;
	__u8 cnpvs;
	__u8 pad[6];
};

/**
 * enum tc_qcn_rp_hash - what tells the flows (CCFs) of a priority apart
 * @TC_QCN_RP_HASH_DST: destination address of the frame
 * @TC_QCN_RP_HASH_FLOW: addresses, protocol and ports
 */
enum tc_qcn_rp_hash {
	TC_QCN_RP_HASH_DST,
	TC_QCN_RP_HASH_FLOW,
	/* private: */
	__TC_QCN_RP_HASH_MAX
};

/**
 * enum tc_qcn_rp_attr - options of qcn_rp, in TCA_OPTIONS
 * @TCA_QCN_RP_RATE: u64, rate of an unlimited flow in bit/s, 1000 to 2^44; 0, the
 *	default: the speed of the link, which is refused when it is unknown
 * @TCA_QCN_RP_MIN_RATE: u64, a flow is never slower, 1000 bit/s to the rate; default
 *	5 Mbit/s, or the rate if that is less
 * @TCA_QCN_RP_AI: u64, R_AI, 1 to 2^44 bit/s; default 5 Mbit/s
 * @TCA_QCN_RP_HAI: u64, R_HAI, 1 to 2^44 bit/s; default 50 Mbit/s
 * @TCA_QCN_RP_TIMER: u64, T, 100000 to 10^10 ns; default 15 ms
 * @TCA_QCN_RP_BYTES: u32, BC, 1 to 2^30 octets on the wire; default 150000
 * @TCA_QCN_RP_THRESHOLD: u8, stages of fast recovery, 1 to 255; default 5
 * @TCA_QCN_RP_GD: u8, -log2 of Gd, 0 to 15; default 7
 * @TCA_QCN_RP_MIN_DEC: u8, a CNM takes away no more, 1 to 100 percent; default 50
 * @TCA_QCN_RP_RPS: u8, flows of a priority, 1 to 100; default 1
 * @TCA_QCN_RP_HASH: u8, enum tc_qcn_rp_hash; default 0
 * @TCA_QCN_RP_CNPVS: u8, priorities that are limited, bit n for priority n, not all;
 *	0, the default: those of the port's domain, or without one all but 6
 * @TCA_QCN_RP_LIMIT: u32, frames that may wait in all, 1 to 1000000; default 10000
 * @TCA_QCN_RP_FLOW_LIMIT: u32, frames of a limited flow that may wait, 1 to 1000000;
 *	default 256
 * @TCA_QCN_RP_CATCHUP: u32, how far behind its schedule a flow may be, 0 to 10^9 ns;
 *	default 200000
 */
enum tc_qcn_rp_attr {
	/* private: */
	TCA_QCN_RP_UNSPEC,
	TCA_QCN_RP_PAD,
	/* public: */
	TCA_QCN_RP_RATE,
	TCA_QCN_RP_MIN_RATE,
	TCA_QCN_RP_AI,
	TCA_QCN_RP_HAI,
	TCA_QCN_RP_TIMER,
	TCA_QCN_RP_BYTES,
	TCA_QCN_RP_THRESHOLD,
	TCA_QCN_RP_GD,
	TCA_QCN_RP_MIN_DEC,
	TCA_QCN_RP_RPS,
	TCA_QCN_RP_HASH,
	TCA_QCN_RP_CNPVS,
	TCA_QCN_RP_LIMIT,
	TCA_QCN_RP_FLOW_LIMIT,
	TCA_QCN_RP_CATCHUP,
	/* private: */
	__TCA_QCN_RP_MAX
};

#define TCA_QCN_RP_MAX	(__TCA_QCN_RP_MAX - 1)

/**
 * struct tc_qcn_rp_xstats - TCA_STATS_APP of qcn_rp
 * @line_bps: rate of an unlimited flow, in force
 * @activations: limiters that came into being
 * @releases: limiters that went
 * @active_ns: time that there was a limiter
 * @cnm_used: CNMs that cut a rate
 * @cnm_ignored: CNMs of other priorities or RPIDs, without feedback, or too many at once
 * @nomem: CNMs without effect, since there was no memory for a limiter
 * @tagged: frames that got a CN-TAG
 * @untagged_mtu: frames too long for a CN-TAG
 * @untagged_nomem: frames without memory for a CN-TAG
 * @flow_drops: frames beyond the limit of a flow
 * @limit_drops: frames beyond the limit of all
 * @active: limiters now
 * @rps: flows of a priority, in force: 1 where frames get no CN-TAG
 * @cnpvs: priorities in force
 */
struct tc_qcn_rp_xstats {
	__u64 line_bps;
	__u64 activations;
	__u64 releases;
	__u64 active_ns;
	__u64 cnm_used;
	__u64 cnm_ignored;
	__u64 nomem;
	__u64 tagged;
	__u64 untagged_mtu;
	__u64 untagged_nomem;
	__u64 flow_drops;
	__u64 limit_drops;
	__u32 active;
	__u8 rps;
	__u8 cnpvs;
	__u8 pad[2];
};

/*
 * A limiter is a class while it lives.  Its minor number: the priority in bits 8 to 10,
 * the RPID in bits 0 to 7.
 */
#define TC_QCN_RP_CLASS(priority, rpid)	((priority) << 8 | (rpid))
#define TC_QCN_RP_CLASS_PRIORITY(minor)	((minor) >> 8 & 7)
#define TC_QCN_RP_CLASS_RPID(minor)	((minor) & 0xff)

/**
 * struct tc_qcn_rp_class_xstats - TCA_STATS_APP of a class of qcn_rp
 * @cr_bps: CR, the rate in force
 * @tr_bps: TR, the target rate
 * @active_ns: age of the limiter
 * @cnms: CNMs that it used
 * @dropped: frames beyond the limit of a flow
 * @left_bytes: until the end of the stage in octets
 * @timer_ns: until the end of the stage in time
 * @byte_stage: stages in octets since the last CNM
 * @time_stage: stages in time since the last CNM
 * @rpid: RPID
 * @priority: priority
 * @last_qntzfb: of the last CNM
 */
struct tc_qcn_rp_class_xstats {
	__u64 cr_bps;
	__u64 tr_bps;
	__u64 active_ns;
	__u64 cnms;
	__u64 dropped;
	__s64 left_bytes;
	__s64 timer_ns;
	__u16 byte_stage;
	__u16 time_stage;
	__u16 rpid;
	__u8 priority;
	__u8 last_qntzfb;
};

#endif /* __LINUX_TC_QCN_H */
