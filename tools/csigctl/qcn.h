/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The object qcn: what its commands share.  qcn_domain.c has the priorities of ports,
 * qcn_show.c the congestion and reaction points, qcn_lldp.c what neighbours agree on,
 * qcn_dcb.c adapters that do it all themselves.
 */
#ifndef CSIGCTL_QCN_H
#define CSIGCTL_QCN_H

#include <csig/qcn_cnd.h>
#include <linux/qcn.h>

#include "nl.h"
#include "port.h"

#define DEFENCES	5
#define DEVS_MAX	64	/* of a command */

extern const char *const defence_words[DEFENCES];

/**
 * struct qcn_cnpv - a priority of the domain at a port
 * @mode: that is set, enum qcn_defence
 * @oper_mode: in force
 * @alternate: that is set, or QCN_ALTERNATE_AUTO
 * @oper_alternate: in force
 */
struct qcn_cnpv {
	uint8_t mode;
	uint8_t oper_mode;
	uint8_t alternate;
	uint8_t oper_alternate;
};

/**
 * struct qcn_port_info - what the kernel says of a port
 * @ifname: name of the device
 * @ifindex: its index
 * @cnpvs: priorities whose mode is not disabled
 * @cnpv: those, by priority
 * @has_neighbour: @neighbour and @ttl_ms are known
 * @neighbour: what its LLDP said
 * @ttl_ms: until it is forgotten
 * @tlv: what this port has to say
 * @stats: by QCN_A_PORT_STATS_*
 * @points: qdiscs qcn_cp and qcn_rp
 */
struct qcn_port_info {
	char ifname[16];
	uint32_t ifindex;
	uint8_t cnpvs;
	struct qcn_cnpv cnpv[QCN_PRIORITIES];
	bool has_neighbour;
	struct qcn_tlv neighbour;
	uint32_t ttl_ms;
	struct qcn_tlv tlv;
	uint64_t stats[QCN_A_PORT_STATS_MAX + 1];
	uint32_t points;
};

/* qcn.c */
int parse_priorities(struct args *a, const char *word, const char *text,
		     uint8_t *set);
void out_priorities(const char *key, const char *text, uint8_t set);
bool qcn_loaded(void);
/* One device, or all ports; v is allocated.  Prints what goes wrong. */
int qcn_ports(const char *dev, struct qcn_port_info **v, size_t *n);
struct nl_msg *qcn_port_request(uint8_t cmd, uint32_t ifindex);

/* qcn_domain.c */
int qcn_domain(struct args *a);
void print_qcn_domain(const struct qcn_port_info *p);

/* qcn_show.c, qcn_tc.c */
int qcn_show(struct args *a);
int qcn_tc_read(const struct qcn_port_info *ports, size_t n);
void qcn_tc_free(void);
void print_qcn_points(size_t port, uint32_t ifindex);

/* qcn_lldp.c */
int qcn_lldp(struct args *a);

/* qcn_dcb.c */
int qcn_dcb(struct args *a);

#endif /* CSIGCTL_QCN_H */
