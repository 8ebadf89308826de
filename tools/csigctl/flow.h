/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flows in three parts: flow.c has the words and the watching, flow_read.c runs the BPF
 * programs, flow_print.c knows what a record means.
 */
#ifndef CSIGCTL_FLOW_H
#define CSIGCTL_FLOW_H

#include <linux/csig_bpf.h>

#include <csig/profile.h>

#include "csigctl.h"

/**
 * struct flow_entry - a socket
 * @head: addresses and what TCP knows
 * @flow: what CSIG knows
 */
struct flow_entry {
	struct csig_flow_record head;
	struct csig_flow flow;
};

struct flow_reader;

/* flow_read.c: NULL after a message */
struct flow_reader *flow_open(const struct csig_flow_filter *filter);
bool flow_reopen(struct flow_reader *r, int *status);
bool flow_host_exists(const struct flow_reader *r);
int flow_read(struct flow_reader *r,
	      void (*each)(const struct flow_entry *e, void *arg), void *arg);
uint16_t flow_requested(const struct flow_reader *r,
			const struct flow_entry *e);
void flow_close(struct flow_reader *r);

/* flow_print.c; @signals: bit T, asked for where the flow has no own wish */
void print_flow(const struct csig_profile *p, const struct flow_entry *e,
		uint16_t signals);

#endif /* CSIGCTL_FLOW_H */
