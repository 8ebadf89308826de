// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/qcn.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/linux/qcn.h>

/* Integer value ranges */
static const struct netlink_range_validation qcn_a_neighbour_ttl_ms_range = {
	.min	= 1ULL,
	.max	= 65535000ULL,
};

/* Common nested types */
const struct nla_policy qcn_cnpv_nl_policy[QCN_A_CNPV_OPER_ALTERNATE + 1] = {
	[QCN_A_CNPV_PRIORITY] = NLA_POLICY_MAX(NLA_U8, 7),
	[QCN_A_CNPV_MODE] = NLA_POLICY_MAX(NLA_U8, 4),
	[QCN_A_CNPV_ALTERNATE] = { .type = NLA_U8, },
	[QCN_A_CNPV_OPER_MODE] = NLA_POLICY_MAX(NLA_U8, 4),
	[QCN_A_CNPV_OPER_ALTERNATE] = { .type = NLA_U8, },
};

const struct nla_policy qcn_neighbour_nl_policy[QCN_A_NEIGHBOUR_TTL_MS + 1] = {
	[QCN_A_NEIGHBOUR_CNPVS] = { .type = NLA_U8, },
	[QCN_A_NEIGHBOUR_READY] = { .type = NLA_U8, },
	[QCN_A_NEIGHBOUR_TTL_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &qcn_a_neighbour_ttl_ms_range),
};

/* QCN_CMD_PORT_GET - do */
static const struct nla_policy qcn_port_get_nl_policy[QCN_A_PORT_IFINDEX + 1] = {
	[QCN_A_PORT_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* QCN_CMD_PORT_SET - do */
static const struct nla_policy qcn_port_set_nl_policy[QCN_A_PORT_NEIGHBOUR + 1] = {
	[QCN_A_PORT_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[QCN_A_PORT_CNPV] = NLA_POLICY_NESTED(qcn_cnpv_nl_policy),
	[QCN_A_PORT_NEIGHBOUR] = NLA_POLICY_NESTED(qcn_neighbour_nl_policy),
};

/* QCN_CMD_PORT_DEL - do */
static const struct nla_policy qcn_port_del_nl_policy[QCN_A_PORT_IFINDEX + 1] = {
	[QCN_A_PORT_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* Ops table for qcn */
const struct genl_split_ops qcn_nl_ops[4] = {
	{
		.cmd		= QCN_CMD_PORT_GET,
		.doit		= qcn_nl_port_get_doit,
		.policy		= qcn_port_get_nl_policy,
		.maxattr	= QCN_A_PORT_IFINDEX,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= QCN_CMD_PORT_GET,
		.dumpit	= qcn_nl_port_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= QCN_CMD_PORT_SET,
		.doit		= qcn_nl_port_set_doit,
		.policy		= qcn_port_set_nl_policy,
		.maxattr	= QCN_A_PORT_NEIGHBOUR,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= QCN_CMD_PORT_DEL,
		.doit		= qcn_nl_port_del_doit,
		.policy		= qcn_port_del_nl_policy,
		.maxattr	= QCN_A_PORT_IFINDEX,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
};

static const struct genl_multicast_group qcn_nl_mcgrps[] = {
	[QCN_NLGRP_MONITOR] = { "monitor", },
};
