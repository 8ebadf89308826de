// SPDX-License-Identifier: GPL-2.0
/*
 * Which attribute of a request does the kernel complain about?  Its offset becomes
 * the path of names that the netlink specifications use.
 */
#include <linux/genetlink.h>
#include <stdio.h>
#include <string.h>

#include <linux/csig.h>
#include <linux/qcn.h>

#include "nl.h"

struct set {
	const char *const *names;
	unsigned int n;
	const struct set *const *nested;
};

#define SET(set, nests)	{ .names = set##_names,				\
			  .n = ARRAY_SIZE(set##_names), .nested = (nests) }

static const char *const lm_field_names[] = {
	[CSIG_A_LM_FIELD_NAME] = "name",
	[CSIG_A_LM_FIELD_BITS] = "bits",
};

static const struct set lm_field = SET(lm_field, NULL);

static const char *const lm_value_names[] = {
	[CSIG_A_LM_VALUE_NAME] = "name",
	[CSIG_A_LM_VALUE_VALUE] = "value",
};

static const struct set lm_value = SET(lm_value, NULL);

static const char *const layout_names[] = {
	[CSIG_A_LAYOUT_T] = "t",
	[CSIG_A_LAYOUT_FORMAT] = "format",
	[CSIG_A_LAYOUT_FIELD] = "field",
};

static const struct set *const layout_nested[ARRAY_SIZE(layout_names)] = {
	[CSIG_A_LAYOUT_FIELD] = &lm_field,
};

static const struct set layout = SET(layout, layout_nested);

static const char *const signal_names[] = {
	[CSIG_A_SIGNAL_T] = "t",
	[CSIG_A_SIGNAL_REMOVE] = "remove",
	[CSIG_A_SIGNAL_SOURCE] = "source",
	[CSIG_A_SIGNAL_AGGREGATE] = "aggregate",
	[CSIG_A_SIGNAL_BOUND] = "buckets",
	[CSIG_A_SIGNAL_BASE] = "base",
	[CSIG_A_SIGNAL_STEP] = "step",
};

static const struct set sig = SET(signal, NULL);

static const char *const domain_names[] = {
	[CSIG_A_DOMAIN_COMPACT_TPID] = "compact-tpid",
	[CSIG_A_DOMAIN_EXPANDED_TPID] = "expanded-tpid",
	[CSIG_A_DOMAIN_SOFTWARE_ASSIST] = "software-assist",
	[CSIG_A_DOMAIN_REPLACE] = "replace",
	[CSIG_A_DOMAIN_SIGNAL] = "signal",
	[CSIG_A_DOMAIN_LAYOUT] = "layout",
};

static const struct set *const domain_nested[ARRAY_SIZE(domain_names)] = {
	[CSIG_A_DOMAIN_SIGNAL] = &sig,
	[CSIG_A_DOMAIN_LAYOUT] = &layout,
};

static const struct set domain = SET(domain, domain_nested);

static const char *const config_names[] = {
	[CSIG_A_PORT_CONFIG_CAPACITY_BPS] = "capacity",
	[CSIG_A_PORT_CONFIG_ESTIMATOR] = "estimator",
	[CSIG_A_PORT_CONFIG_INTERVAL_NS] = "interval",
	[CSIG_A_PORT_CONFIG_ALPHA_PPM] = "alpha",
	[CSIG_A_PORT_CONFIG_INGRESS] = "ingress",
	[CSIG_A_PORT_CONFIG_EGRESS] = "egress",
	[CSIG_A_PORT_CONFIG_UNKNOWN] = "unknown",
	[CSIG_A_PORT_CONFIG_UPDATE] = "update",
	[CSIG_A_PORT_CONFIG_OVERHEAD_BYTES] = "overhead",
	[CSIG_A_PORT_CONFIG_LM] = "lm",
};

static const struct set *const config_nested[ARRAY_SIZE(config_names)] = {
	[CSIG_A_PORT_CONFIG_LM] = &lm_value,
};

static const struct set config = SET(config, config_nested);

static const char *const port_names[] = {
	[CSIG_A_PORT_IFINDEX] = "dev",
	[CSIG_A_PORT_CONFIG] = "config",
};

static const struct set *const port_nested[ARRAY_SIZE(port_names)] = {
	[CSIG_A_PORT_CONFIG] = &config,
};

static const struct set port = SET(port, port_nested);

static const char *const cnpv_names[] = {
	[QCN_A_CNPV_PRIORITY] = "priority",
	[QCN_A_CNPV_MODE] = "mode",
	[QCN_A_CNPV_ALTERNATE] = "alternate",
	[QCN_A_CNPV_OPER_MODE] = "oper-mode",
	[QCN_A_CNPV_OPER_ALTERNATE] = "oper-alternate",
};

static const struct set cnpv = SET(cnpv, NULL);

static const char *const neighbour_names[] = {
	[QCN_A_NEIGHBOUR_CNPVS] = "cnpvs",
	[QCN_A_NEIGHBOUR_READY] = "ready",
	[QCN_A_NEIGHBOUR_TTL_MS] = "ttl-ms",
};

static const struct set neighbour = SET(neighbour, NULL);

static const char *const qcn_port_names[] = {
	[QCN_A_PORT_IFINDEX] = "dev",
	[QCN_A_PORT_IFNAME] = "ifname",
	[QCN_A_PORT_CNPV] = "cnpv",
	[QCN_A_PORT_NEIGHBOUR] = "neighbour",
};

static const struct set *const qcn_port_nested[ARRAY_SIZE(qcn_port_names)] = {
	[QCN_A_PORT_CNPV] = &cnpv,
	[QCN_A_PORT_NEIGHBOUR] = &neighbour,
};

static const struct set qcn_port = SET(qcn_port, qcn_port_nested);

/* The innermost attribute whose header is at or before the offset */
static void find(const struct set *set, const char *base,
		 struct nlattr *attrs, int len, uint32_t offset, char *buf,
		 size_t size)
{
	struct nlattr *a;
	int rem;

	nla_for_each_attr(a, attrs, len, rem) {
		uint32_t at = (uint32_t)((const char *)a - base);
		unsigned int type = (unsigned int)nla_type(a);
		size_t used = strlen(buf);

		if (offset < at || offset >= at + (uint32_t)nla_total_size(nla_len(a)))
			continue;
		if (type >= set->n || !set->names[type])
			return;
		snprintf(buf + used, size - used, "%s%s", used ? "." : "",
			 set->names[type]);
		if (offset > at && set->nested && set->nested[type])
			find(set->nested[type], base, nla_data(a), nla_len(a),
			     offset, buf, size);
		return;
	}
}

static const struct set *csig_set(uint8_t cmd)
{
	switch (cmd) {
	case CSIG_CMD_DOMAIN_SET:
		return &domain;
	case CSIG_CMD_PORT_ADD:
	case CSIG_CMD_PORT_SET:
	case CSIG_CMD_PORT_DEL:
	case CSIG_CMD_PORT_GET:
		return &port;
	default:
		return NULL;
	}
}

void nl_attr_name(const char *family, const struct nlmsghdr *request,
		  uint32_t offset, char *buf, size_t size)
{
	struct nlmsghdr *h = (struct nlmsghdr *)(uintptr_t)request;
	const struct set *set;
	struct genlmsghdr *g;

	buf[0] = '\0';
	if (h->nlmsg_len < NLMSG_LENGTH(GENL_HDRLEN))
		return;
	g = nlmsg_data(h);
	set = strcmp(family, QCN_GENL_NAME) ? csig_set(g->cmd) : &qcn_port;
	if (!set)
		return;
	find(set, (const char *)h, (struct nlattr *)((char *)g + GENL_HDRLEN),
	     (int)(h->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN)), offset, buf,
	     size);
}
