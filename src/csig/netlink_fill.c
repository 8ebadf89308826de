// SPDX-License-Identifier: GPL-2.0
/*
 * The csig family's answers: objects into messages.  Requests are netlink.c.
 */
#include <net/netlink.h>

#include <csig/version.h>

#include "csig.h"

/* A u64 attribute; the family's users align by copying, so no padding attribute. */
static int csig_put_u64(struct sk_buff *msg, int attr, u64 v)
{
	return nla_put(msg, attr, sizeof(v), &v);
}

/**
 * csig_fill_config() - CSIG_A_PORT_CONFIG_*
 * @msg: message; also the options of the csig qdisc
 * @config: settings
 *
 * Return: 0 or -EMSGSIZE
 */
int csig_fill_config(struct sk_buff *msg, const struct csig_port_config *config)
{
	struct nlattr *nest;
	unsigned int i;

	if (csig_put_u64(msg, CSIG_A_PORT_CONFIG_CAPACITY_BPS,
			 config->capacity_bps) ||
	    nla_put_u8(msg, CSIG_A_PORT_CONFIG_ESTIMATOR, config->estimator) ||
	    csig_put_u64(msg, CSIG_A_PORT_CONFIG_INTERVAL_NS,
			 config->interval_ns) ||
	    nla_put_u32(msg, CSIG_A_PORT_CONFIG_ALPHA_PPM, config->alpha_ppm) ||
	    nla_put_u8(msg, CSIG_A_PORT_CONFIG_INGRESS, config->ingress) ||
	    nla_put_u8(msg, CSIG_A_PORT_CONFIG_EGRESS, config->egress) ||
	    nla_put_u8(msg, CSIG_A_PORT_CONFIG_UNKNOWN, config->unknown) ||
	    nla_put_u8(msg, CSIG_A_PORT_CONFIG_UPDATE, config->update) ||
	    nla_put_u32(msg, CSIG_A_PORT_CONFIG_OVERHEAD_BYTES,
			config->overhead_bytes))
		return -EMSGSIZE;
	for (i = 0; i < config->nlm; i++) {
		nest = nla_nest_start(msg, CSIG_A_PORT_CONFIG_LM);
		if (!nest)
			return -EMSGSIZE;
		if (nla_put_string(msg, CSIG_A_LM_VALUE_NAME,
				   config->lm[i].name) ||
		    nla_put_u16(msg, CSIG_A_LM_VALUE_VALUE,
				config->lm[i].value))
			return -EMSGSIZE;
		nla_nest_end(msg, nest);
	}
	return 0;
}

static int csig_fill_state(struct sk_buff *msg, struct csig_port *port,
			   const struct csig_load *load)
{
	if (nla_put_u8(msg, CSIG_A_PORT_STATE_CAPACITY_SOURCE,
		       port->capacity_source) ||
	    nla_put_u32(msg, CSIG_A_PORT_STATE_QDISCS,
			READ_ONCE(port->nqueues)) ||
	    csig_put_u64(msg, CSIG_A_PORT_STATE_UTIL_BPS, load->util_bps) ||
	    csig_put_u64(msg, CSIG_A_PORT_STATE_PD_LAST_NS,
			 READ_ONCE(port->pd_last_ns)) ||
	    csig_put_u64(msg, CSIG_A_PORT_STATE_PD_MAX_NS,
			 READ_ONCE(port->pd_max_ns)))
		return -EMSGSIZE;
	if (!load->capacity_bps)
		return 0;
	if (csig_put_u64(msg, CSIG_A_PORT_STATE_CAPACITY_BPS,
			 load->capacity_bps) ||
	    csig_put_u64(msg, CSIG_A_PORT_STATE_ABW_BPS, load->abw_bps) ||
	    nla_put_u32(msg, CSIG_A_PORT_STATE_ABWC_PPM, load->abwc_ppm) ||
	    csig_put_u64(msg, CSIG_A_PORT_STATE_NQD_NS, load->nqd_ns))
		return -EMSGSIZE;
	return 0;
}

static int csig_fill_stats(struct sk_buff *msg, const struct csig_port *port,
			   const struct csig_load *load)
{
	unsigned int attr;

	for (attr = 1; attr <= CSIG_A_PORT_STATS_MAX; attr++) {
		u64 v = attr == CSIG_A_PORT_STATS_BITS ?
			load->bits : csig_port_stat(port, attr);

		if (csig_put_u64(msg, attr, v))
			return -EMSGSIZE;
	}
	return 0;
}

/* What goes into tags now, one nest for each format and defined signal */
static int csig_fill_rules(struct sk_buff *msg, const struct csig_rules *rules,
			   const struct csig_load *load)
{
	const struct csig_rule *rule;
	struct nlattr *nest;
	unsigned int f, t;

	for (f = 0; f < CSIG_FORMATS; f++) {
		for (t = 0; t <= csig_layout(f)->t_max; t++) {
			rule = &rules->rule[f][t];
			if (!rule->defined)
				continue;
			nest = nla_nest_start(msg, CSIG_A_PORT_SIGNAL);
			if (!nest)
				return -EMSGSIZE;
			if (nla_put_u8(msg, CSIG_A_PORT_SIGNAL_T, t) ||
			    nla_put_u8(msg, CSIG_A_PORT_SIGNAL_FORMAT, f) ||
			    nla_put_u16(msg, CSIG_A_PORT_SIGNAL_LM, rule->lm))
				return -EMSGSIZE;
			if (rule->source < CSIG_SOURCE_PD && load->capacity_bps &&
			    nla_put_u32(msg, CSIG_A_PORT_SIGNAL_S,
					READ_ONCE(rule->s)))
				return -EMSGSIZE;
			nla_nest_end(msg, nest);
		}
	}
	return 0;
}

/**
 * csig_fill_port() - CSIG_A_PORT_*
 * @msg: message
 * @obj: struct csig_port
 *
 * Context: RCU or RTNL.
 * Return: 0 or -EMSGSIZE; the caller cancels the message
 */
int csig_fill_port(struct sk_buff *msg, void *obj)
{
	struct csig_port *port = obj;
	struct csig_load load;
	struct nlattr *nest;
	int err;

	csig_estimator_read(port, &load);
	if (nla_put_u32(msg, CSIG_A_PORT_IFINDEX, port->dev->ifindex) ||
	    nla_put_string(msg, CSIG_A_PORT_IFNAME, port->dev->name))
		return -EMSGSIZE;
	nest = nla_nest_start(msg, CSIG_A_PORT_CONFIG);
	if (!nest || csig_fill_config(msg, &port->config))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	nest = nla_nest_start(msg, CSIG_A_PORT_STATE);
	if (!nest || csig_fill_state(msg, port, &load))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	nest = nla_nest_start(msg, CSIG_A_PORT_STATS);
	if (!nest || csig_fill_stats(msg, port, &load))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);

	rcu_read_lock();
	err = csig_fill_rules(msg, rcu_dereference(port->rules), &load);
	rcu_read_unlock();
	return err;
}

/**
 * csig_fill_domain() - CSIG_A_DOMAIN_* but the tables
 * @msg: message
 * @obj: struct csig_net
 *
 * Return: 0 or -EMSGSIZE
 */
int csig_fill_domain(struct sk_buff *msg, void *obj)
{
	struct csig_net *cn = obj;
	const struct csig_domain *domain;
	const struct csig_profile *p;
	int err = -EMSGSIZE;

	rcu_read_lock();
	domain = rcu_dereference(cn->domain);
	p = &domain->profile;
	if (!nla_put_string(msg, CSIG_A_DOMAIN_VERSION, CSIG_VERSION) &&
	    !nla_put_u16(msg, CSIG_A_DOMAIN_COMPACT_TPID,
			 p->tpid[CSIG_FORMAT_COMPACT]) &&
	    !nla_put_u16(msg, CSIG_A_DOMAIN_EXPANDED_TPID,
			 p->tpid[CSIG_FORMAT_EXPANDED]) &&
	    !nla_put_u8(msg, CSIG_A_DOMAIN_SOFTWARE_ASSIST,
			p->software_assist) &&
	    !csig_put_u64(msg, CSIG_A_DOMAIN_DIGEST, domain->digest) &&
	    !nla_put_u32(msg, CSIG_A_DOMAIN_PORTS, READ_ONCE(cn->nports)))
		err = 0;
	rcu_read_unlock();
	return err;
}

/**
 * csig_fill_signal() - one row of the table of signals
 * @msg: message
 * @p: profile
 * @t: row, defined
 *
 * Return: 0 or -EMSGSIZE
 */
int csig_fill_signal(struct sk_buff *msg, const struct csig_profile *p,
		     unsigned int t)
{
	const struct csig_signal *s = &p->signals[t];
	struct nlattr *nest;
	unsigned int i;

	nest = nla_nest_start(msg, CSIG_A_DOMAIN_SIGNAL);
	if (!nest ||
	    nla_put_u8(msg, CSIG_A_SIGNAL_T, t) ||
	    nla_put_u8(msg, CSIG_A_SIGNAL_SOURCE, s->source) ||
	    nla_put_u8(msg, CSIG_A_SIGNAL_AGGREGATE, s->aggregate) ||
	    csig_put_u64(msg, CSIG_A_SIGNAL_BASE, s->coding.base) ||
	    csig_put_u64(msg, CSIG_A_SIGNAL_STEP, s->coding.step))
		return -EMSGSIZE;
	for (i = 0; i < s->coding.nbounds; i++)
		if (csig_put_u64(msg, CSIG_A_SIGNAL_BOUND, s->coding.bounds[i]))
			return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

/**
 * csig_fill_layout() - one layout of locator metadata
 * @msg: message
 * @p: profile
 * @row: T or CSIG_LAYOUT_ANY, times CSIG_FORMATS, plus the format
 *
 * Return: 0 or -EMSGSIZE
 */
int csig_fill_layout(struct sk_buff *msg, const struct csig_profile *p,
		     unsigned int row)
{
	unsigned int t = row / CSIG_FORMATS, f = row % CSIG_FORMATS, i;
	const struct csig_lm_layout *l = &p->layouts[t][f];
	struct nlattr *nest, *field;

	nest = nla_nest_start(msg, CSIG_A_DOMAIN_LAYOUT);
	if (!nest ||
	    (t != CSIG_LAYOUT_ANY && nla_put_u8(msg, CSIG_A_LAYOUT_T, t)) ||
	    nla_put_u8(msg, CSIG_A_LAYOUT_FORMAT, f))
		return -EMSGSIZE;
	for (i = 0; i < l->nfields; i++) {
		field = nla_nest_start(msg, CSIG_A_LAYOUT_FIELD);
		if (!field ||
		    nla_put_string(msg, CSIG_A_LM_FIELD_NAME,
				   l->fields[i].name) ||
		    nla_put_u8(msg, CSIG_A_LM_FIELD_BITS, l->fields[i].bits))
			return -EMSGSIZE;
		nla_nest_end(msg, field);
	}
	nla_nest_end(msg, nest);
	return 0;
}

/**
 * csig_fill_bottleneck() - CSIG_A_BOTTLENECK_*
 * @msg: message
 * @obj: struct csig_port that wrote into a tag
 *
 * Return: 0 or -EMSGSIZE
 */
int csig_fill_bottleneck(struct sk_buff *msg, void *obj)
{
	struct csig_port *port = obj;
	struct csig_tag tag = port->event_tag;

	if (nla_put_u32(msg, CSIG_A_BOTTLENECK_IFINDEX, port->dev->ifindex) ||
	    nla_put_string(msg, CSIG_A_BOTTLENECK_IFNAME, port->dev->name) ||
	    nla_put_u8(msg, CSIG_A_BOTTLENECK_T, tag.t) ||
	    nla_put_u8(msg, CSIG_A_BOTTLENECK_FORMAT, tag.format) ||
	    nla_put_u32(msg, CSIG_A_BOTTLENECK_S, tag.s) ||
	    nla_put_u16(msg, CSIG_A_BOTTLENECK_LM, tag.lm) ||
	    csig_put_u64(msg, CSIG_A_BOTTLENECK_UPDATED,
			 csig_port_stat(port, CSIG_A_PORT_STATS_UPDATED)))
		return -EMSGSIZE;
	return 0;
}
