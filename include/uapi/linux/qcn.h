/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/qcn.yaml */
/* YNL-GEN uapi header */

#ifndef _UAPI_LINUX_QCN_H
#define _UAPI_LINUX_QCN_H

#define QCN_GENL_NAME		"qcn"
#define QCN_GENL_VERSION	1

#define QCN_ALTERNATE_AUTO	255

/**
 * enum qcn_defence - What a port does with a priority.
 * @QCN_DEFENCE_DISABLED: The priority is none of the domain's.
 * @QCN_DEFENCE_EDGE: Incoming frames get the alternate priority, outgoing ones
 *   lose their CN-TAG.
 * @QCN_DEFENCE_INTERIOR: Incoming frames are kept, outgoing ones lose their
 *   CN-TAG.
 * @QCN_DEFENCE_INTERIOR_READY: All frames are kept, hosts may add CN-TAGs.
 * @QCN_DEFENCE_AUTO: One of edge, interior, interior-ready, as the neighbour's
 *   LLDP says.
 */
enum qcn_defence {
	QCN_DEFENCE_DISABLED,
	QCN_DEFENCE_EDGE,
	QCN_DEFENCE_INTERIOR,
	QCN_DEFENCE_INTERIOR_READY,
	QCN_DEFENCE_AUTO,
};

enum {
	QCN_A_PORT_IFINDEX = 1,
	QCN_A_PORT_IFNAME,
	QCN_A_PORT_CNPV,
	QCN_A_PORT_NEIGHBOUR,
	QCN_A_PORT_TLV,
	QCN_A_PORT_STATS,
	QCN_A_PORT_POINTS,

	__QCN_A_PORT_MAX
};
#define QCN_A_PORT_MAX (__QCN_A_PORT_MAX - 1)

enum {
	QCN_A_CNPV_PRIORITY = 1,
	QCN_A_CNPV_MODE,
	QCN_A_CNPV_ALTERNATE,
	QCN_A_CNPV_OPER_MODE,
	QCN_A_CNPV_OPER_ALTERNATE,

	__QCN_A_CNPV_MAX
};
#define QCN_A_CNPV_MAX (__QCN_A_CNPV_MAX - 1)

enum {
	QCN_A_NEIGHBOUR_CNPVS = 1,
	QCN_A_NEIGHBOUR_READY,
	QCN_A_NEIGHBOUR_TTL_MS,

	__QCN_A_NEIGHBOUR_MAX
};
#define QCN_A_NEIGHBOUR_MAX (__QCN_A_NEIGHBOUR_MAX - 1)

enum {
	QCN_A_TLV_CNPVS = 1,
	QCN_A_TLV_READY,

	__QCN_A_TLV_MAX
};
#define QCN_A_TLV_MAX (__QCN_A_TLV_MAX - 1)

enum {
	QCN_A_PORT_STATS_REMAPPED = 1,
	QCN_A_PORT_STATS_STRIPPED,
	QCN_A_PORT_STATS_DELIVERED,
	QCN_A_PORT_STATS_CNM_RECEIVED,
	QCN_A_PORT_STATS_CNM_UNUSED,
	QCN_A_PORT_STATS_CNM_MALFORMED,
	QCN_A_PORT_STATS_UNDELIVERED,
	QCN_A_PORT_STATS_SKIPPED_NOMEM,

	__QCN_A_PORT_STATS_MAX
};
#define QCN_A_PORT_STATS_MAX (__QCN_A_PORT_STATS_MAX - 1)

enum {
	QCN_CMD_PORT_GET = 1,
	QCN_CMD_PORT_SET,
	QCN_CMD_PORT_DEL,
	QCN_CMD_PORT_NTF,
	QCN_CMD_PORT_DEL_NTF,

	__QCN_CMD_MAX
};
#define QCN_CMD_MAX (__QCN_CMD_MAX - 1)

#define QCN_MCGRP_MONITOR	"monitor"

#endif /* _UAPI_LINUX_QCN_H */
