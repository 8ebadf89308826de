/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A port in two halves: port.c talks to the csig family, port_tc.c puts the qdisc
 * and the ingress action in place.  What a host adds to it is host.h.
 */
#ifndef CSIGCTL_PORT_H
#define CSIGCTL_PORT_H

#include <signal.h>

#include "nl.h"
#include "profile.h"

/* What csigctl puts in place carries these numbers, and only that is removed. */
#define PORT_ROOT_MAJOR		0xc519U	/* root qdisc: csig, or mq with csigs */
#define PORT_QUEUE_MAJOR	0xc520	/* csig of queue 0, and up */
#define PORT_FILTER_PRIO	0xc516U	/* ingress, and egress of "qdisc keep" */
#define HOST_INGRESS_PRIO	0xc517U	/* a host's filters: behind the port's, */
#define HOST_EGRESS_PRIO	0xc515U	/*   before the port's */
#define FILTER_HANDLE		0xc516	/* a port's clsact, a host's port was there */
#define FILTER_HANDLE_OWN	0xc517	/* it came with the filter */

/**
 * struct link - a network device
 * @index: ifindex
 * @type: ARPHRD_*
 * @mtu: as set
 * @txqs: transmit queues that it has
 * @txqs_real: transmit queues in use
 * @name: ifname
 * @tx_bytes: counted by the device
 */
struct link {
	int index;
	unsigned short type;
	uint32_t mtu;
	uint32_t txqs;
	uint32_t txqs_real;
	char name[16];
	uint64_t tx_bytes;
};

/**
 * struct filters - what is at one hook of a device
 * @ours: handle of our filter, 0 without
 * @others: number of others' filters
 * @before: those of them that see packets before ours
 * @taken: one of them has our priority
 */
struct filters {
	uint32_t ours;
	unsigned int others;
	unsigned int before;
	bool taken;
};

/**
 * struct placement - what tc has on a device
 * @root_kind: of the root qdisc
 * @root_major: 0 for a default one
 * @queue_kind: default qdisc of the first queue under a default mq
 * @csigs: csig qdiscs
 * @csig_major: of one of them
 * @csig_parent: its parent
 * @clsact: "clsact", "ingress" or ""
 * @ingress: filters of the ingress hook
 * @egress: of the egress hook
 */
struct placement {
	char root_kind[16];
	uint32_t root_major;
	char queue_kind[16];
	unsigned int csigs;
	uint32_t csig_major;
	uint32_t csig_parent;
	char clsact[16];
	struct filters ingress;
	struct filters egress;
};

/* link.c */
int link_get(const char *name, struct link *l);
int link_offloads_tc(const struct link *l);
uint64_t link_speed(const struct link *l);

/* port_tc.c */
int tc_look(const struct link *l, struct placement *p);
int tc_check(const struct link *l, const struct placement *p, bool keep);
int tc_place(const struct link *l, const struct placement *p, bool keep);
bool tc_updates_before_queue(const struct link *l);
int tc_remove_check(const struct link *l, const struct placement *p);
int tc_remove(const struct link *l, const struct placement *p,
	      unsigned int *removed);

/* port.c */
void hold_signals(sigset_t *old);
int port_make_trusting(const struct link *l);
int port_take(const struct link *l);
int port_state(const struct link *l, bool *exists, unsigned int *ingress);

/* host_tc.c */
bool host_is_on(const struct link *l);

/* port_show.c */
int port_show(struct args *a);
void print_port(const struct nl_msg *msg, const struct csig_profile *profile);

extern const char *const estimator_words[3];
extern const char *const ingress_words[3];
extern const char *const egress_words[2];
extern const char *const unknown_words[2];

#endif /* CSIGCTL_PORT_H */
