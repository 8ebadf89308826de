/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lldpd, a daemon that speaks LLDP, through its own client lldpcli: the congestion
 * notification TLV of our ports and of their neighbours.
 */
#ifndef CSIGCTL_LLDPCLI_H
#define CSIGCTL_LLDPCLI_H

#include <sys/types.h>

#include <csig/qcn_cnd.h>

#include "csigctl.h"

#define LLDP_TTL_MAX	65535	/* s */

/**
 * struct lldp_port - what lldpd tells of a device
 * @ifname: its name
 * @has_tlv: @tlv is what all neighbours there, or the port itself, have in common
 * @tlv: of them
 * @ttl: in seconds, the shortest of the neighbours'
 */
struct lldp_port {
	char ifname[16];
	bool has_tlv;
	struct qcn_tlv tlv;
	uint32_t ttl;
};

/**
 * struct lldp_watch - a running "lldpcli watch"
 * @pid: of it, 0 none
 * @fd: readable when a neighbour changed, or when it ended
 */
struct lldp_watch {
	pid_t pid;
	int fd;
};

/* PATH of lldpd's socket, NULL: where it usually is */
extern const char *lldp_socket;

/* ST_OK, or ST_KERNEL and the reason in lldp_why() */
int lldp_ports(bool neighbours, struct lldp_port **v, size_t *n);
int lldp_announce(const char *ifname, const struct qcn_tlv *tlv);
int lldp_take_back(const char *ifname);
const char *lldp_why(void);

int lldp_watch_start(struct lldp_watch *w);
/* Reads what is there; false when it ended. */
bool lldp_watch_read(const struct lldp_watch *w);
void lldp_watch_stop(struct lldp_watch *w);

#endif /* CSIGCTL_LLDPCLI_H */
