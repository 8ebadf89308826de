/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Traffic control through rtnetlink: qdiscs, matchall filters and their actions, as
 * far as ports (port_tc.c) and hosts (host_tc.c) need them.
 */
#ifndef CSIGCTL_TC_H
#define CSIGCTL_TC_H

#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>

#include "port.h"

#define TC_INGRESS	TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS)
#define TC_EGRESS	TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS)

/**
 * struct tc_action - one action of a filter
 * @prog: name of a BPF program, NULL for the csig action
 * @fd: of that program
 * @mode: enum tc_csig_act_mode
 * @control: what comes after it, TC_ACT_*
 */
struct tc_action {
	const char *prog;
	int fd;
	uint32_t mode;
	int control;
};

/* 0 or a negative errno; nothing is printed */
struct nl_msg *tc_request(const struct link *l, uint16_t type, int flags,
			  uint32_t parent, uint32_t handle, uint32_t info);
const struct tcmsg *tc_parse(const struct nl_msg *msg, struct nlattr **tb);
int tc_qdisc_get(const struct link *l, uint32_t parent, char *kind, size_t size,
		 uint32_t *major);
int tc_qdisc_add(const struct link *l, uint32_t parent, uint32_t handle,
		 const char *kind);
int tc_qdisc_del(const struct link *l, uint32_t parent, uint32_t handle);
int tc_filters(const struct link *l, uint32_t parent, uint32_t prio,
	       struct filters *f);
int tc_filter_add(const struct link *l, uint32_t parent, uint32_t prio,
		  uint32_t handle, const struct tc_action *acts, size_t n);
int tc_filter_del(const struct link *l, uint32_t parent, uint32_t prio,
		  uint32_t handle);

/* Prints what to do when somebody else's filter has the priority. */
int tc_priority_taken(const struct link *l, const char *hook, uint32_t prio);

#endif /* CSIGCTL_TC_H */
