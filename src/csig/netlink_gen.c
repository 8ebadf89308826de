// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/csig.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/linux/csig.h>

/* Integer value ranges */
static const struct netlink_range_validation csig_a_port_config_alpha_ppm_range = {
	.min	= 1000ULL,
	.max	= 1000000ULL,
};

/* Common nested types */
const struct nla_policy csig_layout_nl_policy[CSIG_A_LAYOUT_FIELD + 1] = {
	[CSIG_A_LAYOUT_T] = NLA_POLICY_MAX(NLA_U8, 15),
	[CSIG_A_LAYOUT_FORMAT] = NLA_POLICY_MAX(NLA_U8, 1),
	[CSIG_A_LAYOUT_FIELD] = NLA_POLICY_NESTED(csig_lm_field_nl_policy),
};

const struct nla_policy csig_lm_field_nl_policy[CSIG_A_LM_FIELD_BITS + 1] = {
	[CSIG_A_LM_FIELD_NAME] = { .type = NLA_NUL_STRING, .len = CSIG_LM_NAME_MAX, },
	[CSIG_A_LM_FIELD_BITS] = NLA_POLICY_RANGE(NLA_U8, 1, 16),
};

const struct nla_policy csig_lm_value_nl_policy[CSIG_A_LM_VALUE_VALUE + 1] = {
	[CSIG_A_LM_VALUE_NAME] = { .type = NLA_NUL_STRING, .len = CSIG_LM_NAME_MAX, },
	[CSIG_A_LM_VALUE_VALUE] = { .type = NLA_U16, },
};

const struct nla_policy csig_port_config_nl_policy[CSIG_A_PORT_CONFIG_LM + 1] = {
	[CSIG_A_PORT_CONFIG_CAPACITY_BPS] = { .type = NLA_U64, },
	[CSIG_A_PORT_CONFIG_ESTIMATOR] = NLA_POLICY_MAX(NLA_U8, 2),
	[CSIG_A_PORT_CONFIG_INTERVAL_NS] = { .type = NLA_U64, },
	[CSIG_A_PORT_CONFIG_ALPHA_PPM] = NLA_POLICY_FULL_RANGE(NLA_U32, &csig_a_port_config_alpha_ppm_range),
	[CSIG_A_PORT_CONFIG_INGRESS] = NLA_POLICY_MAX(NLA_U8, 2),
	[CSIG_A_PORT_CONFIG_EGRESS] = NLA_POLICY_MAX(NLA_U8, 1),
	[CSIG_A_PORT_CONFIG_UNKNOWN] = NLA_POLICY_MAX(NLA_U8, 1),
	[CSIG_A_PORT_CONFIG_UPDATE] = NLA_POLICY_MAX(NLA_U8, 1),
	[CSIG_A_PORT_CONFIG_OVERHEAD_BYTES] = NLA_POLICY_MAX(NLA_U32, 1024),
	[CSIG_A_PORT_CONFIG_LM] = NLA_POLICY_NESTED(csig_lm_value_nl_policy),
};

const struct nla_policy csig_signal_nl_policy[CSIG_A_SIGNAL_STEP + 1] = {
	[CSIG_A_SIGNAL_T] = NLA_POLICY_MAX(NLA_U8, 15),
	[CSIG_A_SIGNAL_REMOVE] = { .type = NLA_FLAG, },
	[CSIG_A_SIGNAL_SOURCE] = NLA_POLICY_MAX(NLA_U8, 3),
	[CSIG_A_SIGNAL_AGGREGATE] = NLA_POLICY_MAX(NLA_U8, 3),
	[CSIG_A_SIGNAL_BOUND] = { .type = NLA_U64, },
	[CSIG_A_SIGNAL_BASE] = { .type = NLA_U64, },
	[CSIG_A_SIGNAL_STEP] = NLA_POLICY_MIN(NLA_U64, 1),
};

/* CSIG_CMD_DOMAIN_SET - do */
static const struct nla_policy csig_domain_set_nl_policy[CSIG_A_DOMAIN_LAYOUT + 1] = {
	[CSIG_A_DOMAIN_COMPACT_TPID] = NLA_POLICY_MIN(NLA_U16, 1536),
	[CSIG_A_DOMAIN_EXPANDED_TPID] = NLA_POLICY_MIN(NLA_U16, 1536),
	[CSIG_A_DOMAIN_SOFTWARE_ASSIST] = NLA_POLICY_MAX(NLA_U8, 1),
	[CSIG_A_DOMAIN_REPLACE] = { .type = NLA_FLAG, },
	[CSIG_A_DOMAIN_SIGNAL] = NLA_POLICY_NESTED(csig_signal_nl_policy),
	[CSIG_A_DOMAIN_LAYOUT] = NLA_POLICY_NESTED(csig_layout_nl_policy),
};

/* CSIG_CMD_PORT_GET - do */
static const struct nla_policy csig_port_get_nl_policy[CSIG_A_PORT_IFINDEX + 1] = {
	[CSIG_A_PORT_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* CSIG_CMD_PORT_ADD - do */
static const struct nla_policy csig_port_add_nl_policy[CSIG_A_PORT_CONFIG + 1] = {
	[CSIG_A_PORT_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[CSIG_A_PORT_CONFIG] = NLA_POLICY_NESTED(csig_port_config_nl_policy),
};

/* CSIG_CMD_PORT_SET - do */
static const struct nla_policy csig_port_set_nl_policy[CSIG_A_PORT_CONFIG + 1] = {
	[CSIG_A_PORT_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[CSIG_A_PORT_CONFIG] = NLA_POLICY_NESTED(csig_port_config_nl_policy),
};

/* CSIG_CMD_PORT_DEL - do */
static const struct nla_policy csig_port_del_nl_policy[CSIG_A_PORT_IFINDEX + 1] = {
	[CSIG_A_PORT_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* Ops table for csig */
const struct genl_split_ops csig_nl_ops[9] = {
	{
		.cmd	= CSIG_CMD_DOMAIN_GET,
		.doit	= csig_nl_domain_get_doit,
		.flags	= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= CSIG_CMD_DOMAIN_SET,
		.doit		= csig_nl_domain_set_doit,
		.policy		= csig_domain_set_nl_policy,
		.maxattr	= CSIG_A_DOMAIN_LAYOUT,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= CSIG_CMD_SIGNAL_GET,
		.dumpit	= csig_nl_signal_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd	= CSIG_CMD_LAYOUT_GET,
		.dumpit	= csig_nl_layout_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= CSIG_CMD_PORT_GET,
		.doit		= csig_nl_port_get_doit,
		.policy		= csig_port_get_nl_policy,
		.maxattr	= CSIG_A_PORT_IFINDEX,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= CSIG_CMD_PORT_GET,
		.dumpit	= csig_nl_port_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= CSIG_CMD_PORT_ADD,
		.doit		= csig_nl_port_add_doit,
		.policy		= csig_port_add_nl_policy,
		.maxattr	= CSIG_A_PORT_CONFIG,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= CSIG_CMD_PORT_SET,
		.doit		= csig_nl_port_set_doit,
		.policy		= csig_port_set_nl_policy,
		.maxattr	= CSIG_A_PORT_CONFIG,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= CSIG_CMD_PORT_DEL,
		.doit		= csig_nl_port_del_doit,
		.policy		= csig_port_del_nl_policy,
		.maxattr	= CSIG_A_PORT_IFINDEX,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
};

static const struct genl_multicast_group csig_nl_mcgrps[] = {
	[CSIG_NLGRP_MONITOR] = { "monitor", },
};
