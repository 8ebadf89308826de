// SPDX-License-Identifier: GPL-2.0
/*
 * Settings of a port from attributes, for netlink and for the csig qdisc alike.
 */
#include <net/netlink.h>

#include "csig.h"
#include "netlink.h"

#define CSIG_CAPACITY_MAX_BPS	(1ULL << 53)

/* One value of a locator field: "ttl" and "d" are not the port's to set. */
static int csig_parse_lm_value(const struct nlattr *nest,
			       struct csig_port_config *config,
			       struct netlink_ext_ack *extack)
{
	struct nlattr *tb[CSIG_A_LM_VALUE_MAX + 1];
	struct csig_lm_value *v;
	unsigned int i;
	int err;

	err = nla_parse_nested(tb, CSIG_A_LM_VALUE_MAX, nest,
			       csig_lm_value_nl_policy, extack);
	if (err)
		return err;
	if (!tb[CSIG_A_LM_VALUE_NAME] || !tb[CSIG_A_LM_VALUE_VALUE])
		return csig_refuse(extack, nest, -EINVAL,
				   "lm needs a name and a value");
	if (config->nlm == CSIG_LM_FIELDS_MAX)
		return csig_refuse(extack, nest, -E2BIG,
				   "lm has at most 8 values");
	v = &config->lm[config->nlm];
	nla_strscpy(v->name, tb[CSIG_A_LM_VALUE_NAME], sizeof(v->name));
	v->value = nla_get_u16(tb[CSIG_A_LM_VALUE_VALUE]);
	if (csig_lm_name_eq(v->name, CSIG_LM_TTL) ||
	    csig_lm_name_eq(v->name, CSIG_LM_TRIMMED))
		return csig_refuse(extack, tb[CSIG_A_LM_VALUE_NAME], -EINVAL,
				   "lm fields ttl and d come from the packet");
	for (i = 0; i < config->nlm; i++)
		if (csig_lm_name_eq(v->name, config->lm[i].name))
			return csig_refuse(extack, tb[CSIG_A_LM_VALUE_NAME],
					   -EINVAL,
					   "lm field given twice");
	config->nlm++;
	return 0;
}

/**
 * csig_config_parse() - CSIG_A_PORT_CONFIG_* over settings
 * @head: first attribute; there may be several CSIG_A_PORT_CONFIG_LM
 * @len: octets of attributes
 * @tb: the same, parsed with csig_port_config_nl_policy
 * @config: settings that are changed; what is not given stays
 * @extack: says what is refused
 *
 * Return: 0, or an error and @config is of no use
 */
int csig_config_parse(const struct nlattr *head, int len, struct nlattr **tb,
		      struct csig_port_config *config,
		      struct netlink_ext_ack *extack)
{
	static const struct {
		u8 attr;
		u8 offset;
	} u8s[] = {
		{ CSIG_A_PORT_CONFIG_ESTIMATOR,
		  offsetof(struct csig_port_config, estimator) },
		{ CSIG_A_PORT_CONFIG_INGRESS,
		  offsetof(struct csig_port_config, ingress) },
		{ CSIG_A_PORT_CONFIG_EGRESS,
		  offsetof(struct csig_port_config, egress) },
		{ CSIG_A_PORT_CONFIG_UNKNOWN,
		  offsetof(struct csig_port_config, unknown) },
		{ CSIG_A_PORT_CONFIG_UPDATE,
		  offsetof(struct csig_port_config, update) },
	};
	const struct nlattr *attr;
	unsigned int i;
	int rem, err;

	for (i = 0; i < ARRAY_SIZE(u8s); i++)
		if (tb[u8s[i].attr])
			*((u8 *)config + u8s[i].offset) =
				nla_get_u8(tb[u8s[i].attr]);
	attr = tb[CSIG_A_PORT_CONFIG_CAPACITY_BPS];
	if (attr) {
		config->capacity_bps = nla_get_u64(attr);
		if (config->capacity_bps >= CSIG_CAPACITY_MAX_BPS)
			return csig_refuse(extack, attr, -ERANGE,
					   "capacity must be below 2^53 bit/s");
	}
	attr = tb[CSIG_A_PORT_CONFIG_INTERVAL_NS];
	if (attr) {
		config->interval_ns = nla_get_u64(attr);
		if (config->interval_ns < CSIG_INTERVAL_MIN_NS ||
		    config->interval_ns > CSIG_INTERVAL_MAX_NS)
			return csig_refuse(extack, attr, -ERANGE,
					   "interval must be 10 us to 10 s");
	}
	if (tb[CSIG_A_PORT_CONFIG_ALPHA_PPM])
		config->alpha_ppm = nla_get_u32(tb[CSIG_A_PORT_CONFIG_ALPHA_PPM]);
	if (tb[CSIG_A_PORT_CONFIG_OVERHEAD_BYTES])
		config->overhead_bytes =
			nla_get_u32(tb[CSIG_A_PORT_CONFIG_OVERHEAD_BYTES]);
	if (!tb[CSIG_A_PORT_CONFIG_LM])
		return 0;
	config->nlm = 0;
	nla_for_each_attr(attr, head, len, rem) {
		/* an empty one only takes the values away */
		if (nla_type(attr) != CSIG_A_PORT_CONFIG_LM || !nla_len(attr))
			continue;
		err = csig_parse_lm_value(attr, config, extack);
		if (err)
			return err;
	}
	return 0;
}
