/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * tc's view of CSIG: the csig qdisc and the csig action.  The qdisc's options are the
 * attributes CSIG_A_PORT_CONFIG_* of linux/csig.h, the same that netlink's ports have.
 */
#ifndef __LINUX_TC_CSIG_H
#define __LINUX_TC_CSIG_H

#include <linux/pkt_cls.h>
#include <linux/types.h>

/**
 * struct tc_csig_xstats - statistics of a port, TCA_STATS_APP of the csig qdisc
 * @capacity_bps: capacity in force, 0 unknown
 * @util_bps: load
 * @abw_bps: available bandwidth, 0 when the capacity is unknown
 * @abwc_ppm: available share of the capacity
 * @capacity_source: enum csig_capacity_source
 * @pd_last_ns: delay of the last packet
 * @pd_max_ns: largest delay
 * @tagged: see CSIG_A_PORT_STATS_*, as all that follow
 * @updated: tags that got this port's value
 * @passed: tags left as they were
 * @stripped: tags taken off
 * @unknown_signal: tags of an undefined signal type
 * @malformed: frames with a malformed tag
 * @skipped_mtu: too long for a tag
 * @skipped_nomem: no memory for an own copy
 * @untagged: packets without a tag
 * @carried: routed packets that got their tag back
 * @dropped: dropped at ingress by policy
 *
 * Counters are those of the whole port, not of one queue.
 */
struct tc_csig_xstats {
	__u64 capacity_bps;
	__u64 util_bps;
	__u64 abw_bps;
	__u32 abwc_ppm;
	__u32 capacity_source;
	__u64 pd_last_ns;
	__u64 pd_max_ns;
	__u64 tagged;
	__u64 updated;
	__u64 passed;
	__u64 stripped;
	__u64 unknown_signal;
	__u64 malformed;
	__u64 skipped_mtu;
	__u64 skipped_nomem;
	__u64 untagged;
	__u64 carried;
	__u64 dropped;
};

/* Identifier of the csig action, "unused" in tc's list */
#define TCA_ID_CSIG		0xC5

/**
 * enum tc_csig_act_mode - what the action does to a packet
 * @TC_CSIG_ACT_PUSH: insert a tag (egress)
 * @TC_CSIG_ACT_POP: take the tag off; with TCA_CSIG_ACT_CARRY remember it for the
 *	egress port (ingress)
 * @TC_CSIG_ACT_UPDATE: compare and replace before the queue, no delay signals (egress)
 * @TC_CSIG_ACT_CARRY: put a remembered tag back (egress)
 * @TC_CSIG_ACT_INGRESS: what the port's "ingress" setting says (ingress)
 * @TC_CSIG_ACT_REQUESTED: insert the tag that a BPF program asked for just before
 *	with bpf_csig_request(), if it did (egress)
 */
enum tc_csig_act_mode {
	TC_CSIG_ACT_PUSH,
	TC_CSIG_ACT_POP,
	TC_CSIG_ACT_UPDATE,
	TC_CSIG_ACT_CARRY,
	TC_CSIG_ACT_INGRESS,
	TC_CSIG_ACT_REQUESTED,
	/* private: */
	__TC_CSIG_ACT_MODE_MAX
};

/* TCA_CSIG_ACT_PARMS */
struct tc_csig_act {
	tc_gen;
	__u32 mode;	/* enum tc_csig_act_mode */
};

enum {
	TCA_CSIG_ACT_UNSPEC,
	TCA_CSIG_ACT_TM,	/* struct tcf_t */
	TCA_CSIG_ACT_PARMS,	/* struct tc_csig_act, required */
	TCA_CSIG_ACT_FORMAT,	/* u8, enum csig_format; push, default compact */
	TCA_CSIG_ACT_SIGNAL,	/* u8, T 0..15 (compact 0..7); push, required */
	TCA_CSIG_ACT_LM,	/* u16, initial locator metadata; push, default 0 */
	TCA_CSIG_ACT_CARRY,	/* flag; pop */
	TCA_CSIG_ACT_PAD,
	__TCA_CSIG_ACT_MAX
};

#define TCA_CSIG_ACT_MAX	(__TCA_CSIG_ACT_MAX - 1)

#endif /* __LINUX_TC_CSIG_H */
