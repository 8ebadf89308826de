// SPDX-License-Identifier: GPL-2.0
/*
 * Options of qcn_cp (linux/tc_qcn.h): read all or none of them, write all.  What is done
 * with them is cp.c's.
 */
#include <linux/etherdevice.h>
#include <net/netlink.h>

#include <linux/tc_qcn.h>

#include "cp.h"
#include "module.h"

#define QCN_CP_QUEUE_MIN	1514		/* octets: a full frame */
#define QCN_CP_QUEUE_MAX	(1U << 30)	/* two and a frame fit 32 bits */
#define QCN_CP_LIMIT_QEQS	6		/* default of the limit, in Qeq */
#define QCN_CP_PORT_MAX		8191		/* 13 bits of the CPID */

static const struct netlink_range_validation qcn_cp_queue_range = {
	.min = QCN_CP_QUEUE_MIN,
	.max = QCN_CP_QUEUE_MAX,
};

static const struct netlink_range_validation qcn_cp_base_range = {
	.min = QCN_BASE_MIN_BYTES,
	.max = QCN_CP_QUEUE_MAX,
};

static const struct nla_policy qcn_cp_policy[TCA_QCN_CP_MAX + 1] = {
	[TCA_QCN_CP_LIMIT] = NLA_POLICY_FULL_RANGE(NLA_U32,
						   &qcn_cp_queue_range),
	[TCA_QCN_CP_QEQ] = NLA_POLICY_FULL_RANGE(NLA_U32, &qcn_cp_queue_range),
	[TCA_QCN_CP_WEIGHT] = NLA_POLICY_RANGE(NLA_S8, QCN_WEIGHT_MIN,
					       QCN_WEIGHT_MAX),
	[TCA_QCN_CP_BASE] = NLA_POLICY_FULL_RANGE(NLA_U32, &qcn_cp_base_range),
	[TCA_QCN_CP_HEADER] = NLA_POLICY_MAX(NLA_U8, QCN_CNM_MSDU_MAX),
	[TCA_QCN_CP_MAC] = NLA_POLICY_ETH_ADDR,
	[TCA_QCN_CP_PORT] = NLA_POLICY_MAX(NLA_U16, QCN_CP_PORT_MAX),
	[TCA_QCN_CP_CNM_PRIORITY] = NLA_POLICY_MAX(NLA_U8, QCN_PRIORITIES - 1),
	[TCA_QCN_CP_SOURCE] = NLA_POLICY_MAX(NLA_U8,
					     QCN_CNM_SOURCE_DESTINATION),
	[TCA_QCN_CP_QOFFSET] = NLA_POLICY_MAX(NLA_U8, QCN_CNM_QOFFSET_SEED),
	[TCA_QCN_CP_CNPVS] = NLA_POLICY_MAX(NLA_U8, 0xfe),
};

/* What the policy wants, in words; tc shows no more than the message. */
static const char *const qcn_cp_rules[TCA_QCN_CP_MAX + 1] = {
	[TCA_QCN_CP_LIMIT] = "limit must be 1514 to 1073741824 octets",
	[TCA_QCN_CP_QEQ] = "qeq must be 1514 to 1073741824 octets",
	[TCA_QCN_CP_WEIGHT] = "weight must be -10 to 10",
	[TCA_QCN_CP_BASE] = "base must be 10000 to 1073741824 octets",
	[TCA_QCN_CP_HEADER] = "header must be 0 to 64 octets",
	[TCA_QCN_CP_MAC] = "mac must be 6 octets",
	[TCA_QCN_CP_PORT] = "port must be 0 to 8191",
	[TCA_QCN_CP_CNM_PRIORITY] = "cnm-priority must be 0 to 7",
	[TCA_QCN_CP_SOURCE] = "source must be cp or destination",
	[TCA_QCN_CP_QOFFSET] = "qoffset must be standard or seed",
	[TCA_QCN_CP_CNPVS] = "cnpv must leave one priority to other traffic",
};

/**
 * qcn_cp_config_init() - what holds without options
 * @config: filled in
 * @dev: device of the qdisc
 */
void qcn_cp_config_init(struct qcn_cp_config *config,
			const struct net_device *dev)
{
	memset(config, 0, sizeof(*config));
	qcn_cp_defaults(&config->params);
	config->cnm.source = QCN_CNM_SOURCE_CP;
	config->cnm.qoffset = QCN_CNM_QOFFSET_STANDARD;
	config->cnm.priority = QCN_CNM_PRIORITY_DEF;
	config->cnm.msdu_max = QCN_CNM_MSDU_DEF;
	config->port = dev->ifindex & QCN_CP_PORT_MAX;
}

/**
 * qcn_cp_config_limit() - limit in force
 * @config: settings
 *
 * Return: octets that may wait
 */
u32 qcn_cp_config_limit(const struct qcn_cp_config *config)
{
	u64 def = (u64)QCN_CP_LIMIT_QEQS * config->params.qeq_bytes;

	return config->limit ?: min_t(u64, def, QCN_CP_QUEUE_MAX);
}

/**
 * qcn_cp_config_check() - have CNMs a priority of their own?
 * @config: settings
 * @port: port of the qdisc
 * @attr: options, for the error
 * @extack: error
 *
 * Return: 0, or -EINVAL when CNMs would have the priority of data that they are about
 */
int qcn_cp_config_check(const struct qcn_cp_config *config,
			const struct qcn_port *port,
			const struct nlattr *attr,
			struct netlink_ext_ack *extack)
{
	u8 priority = config->cnm.priority;

	if (qcn_has(config->cnpvs, priority)) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
					"cnpv has %u, the cnm-priority: choose another of them",
					priority);
		return -EINVAL;
	}
	if (!config->cnpvs && qcn_has(port->cnpvs, priority)) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
					"cnm-priority %u is a CNPV of the port: choose another",
					priority);
		return -EINVAL;
	}
	return 0;
}

/**
 * qcn_cp_config_parse() - read options
 * @opt: TCA_OPTIONS
 * @config: what is not given stays; of no use after an error
 * @extack: error
 *
 * Return: 0 or an error
 */
int qcn_cp_config_parse(struct nlattr *opt, struct qcn_cp_config *config,
			struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_QCN_CP_MAX + 1];
	const char *rule;
	int err;

	/* tc sends options as it always did, without NLA_F_NESTED. */
	err = nla_parse(tb, TCA_QCN_CP_MAX, nla_data(opt), nla_len(opt),
			qcn_cp_policy, extack);
	if (err) {
		if (extack && extack->bad_attr &&
		    nla_type(extack->bad_attr) <= TCA_QCN_CP_MAX) {
			rule = qcn_cp_rules[nla_type(extack->bad_attr)];
			if (rule)
				NL_SET_ERR_MSG_FMT(extack, "%s", rule);
		}
		return err;
	}
	if (tb[TCA_QCN_CP_LIMIT])
		config->limit = nla_get_u32(tb[TCA_QCN_CP_LIMIT]);
	if (tb[TCA_QCN_CP_QEQ])
		config->params.qeq_bytes = nla_get_u32(tb[TCA_QCN_CP_QEQ]);
	if (tb[TCA_QCN_CP_WEIGHT])
		config->params.weight = nla_get_s8(tb[TCA_QCN_CP_WEIGHT]);
	if (tb[TCA_QCN_CP_BASE])
		config->params.base_bytes = nla_get_u32(tb[TCA_QCN_CP_BASE]);
	if (tb[TCA_QCN_CP_HEADER])
		config->cnm.msdu_max = nla_get_u8(tb[TCA_QCN_CP_HEADER]);
	if (tb[TCA_QCN_CP_MAC]) {
		if (is_multicast_ether_addr(nla_data(tb[TCA_QCN_CP_MAC]))) {
			NL_SET_ERR_MSG_ATTR(extack, tb[TCA_QCN_CP_MAC],
					    "mac must be no group address");
			return -EINVAL;
		}
		ether_addr_copy(config->mac, nla_data(tb[TCA_QCN_CP_MAC]));
	}
	if (tb[TCA_QCN_CP_PORT])
		config->port = nla_get_u16(tb[TCA_QCN_CP_PORT]);
	if (tb[TCA_QCN_CP_CNM_PRIORITY])
		config->cnm.priority = nla_get_u8(tb[TCA_QCN_CP_CNM_PRIORITY]);
	if (tb[TCA_QCN_CP_SOURCE])
		config->cnm.source = nla_get_u8(tb[TCA_QCN_CP_SOURCE]);
	if (tb[TCA_QCN_CP_QOFFSET])
		config->cnm.qoffset = nla_get_u8(tb[TCA_QCN_CP_QOFFSET]);
	if (tb[TCA_QCN_CP_CNPVS])
		config->cnpvs = nla_get_u8(tb[TCA_QCN_CP_CNPVS]);
	return 0;
}

/**
 * qcn_cp_config_fill() - write all options
 * @skb: message, within TCA_OPTIONS
 * @config: settings
 *
 * Return: 0 or -EMSGSIZE
 */
int qcn_cp_config_fill(struct sk_buff *skb, const struct qcn_cp_config *config)
{
	if (nla_put_u32(skb, TCA_QCN_CP_LIMIT, qcn_cp_config_limit(config)) ||
	    nla_put_u32(skb, TCA_QCN_CP_QEQ, config->params.qeq_bytes) ||
	    nla_put_s8(skb, TCA_QCN_CP_WEIGHT, config->params.weight) ||
	    nla_put_u32(skb, TCA_QCN_CP_BASE, config->params.base_bytes) ||
	    nla_put_u8(skb, TCA_QCN_CP_HEADER, config->cnm.msdu_max) ||
	    nla_put(skb, TCA_QCN_CP_MAC, ETH_ALEN, config->mac) ||
	    nla_put_u16(skb, TCA_QCN_CP_PORT, config->port) ||
	    nla_put_u8(skb, TCA_QCN_CP_CNM_PRIORITY, config->cnm.priority) ||
	    nla_put_u8(skb, TCA_QCN_CP_SOURCE, config->cnm.source) ||
	    nla_put_u8(skb, TCA_QCN_CP_QOFFSET, config->cnm.qoffset) ||
	    nla_put_u8(skb, TCA_QCN_CP_CNPVS, config->cnpvs))
		return -EMSGSIZE;
	return 0;
}
