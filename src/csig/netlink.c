// SPDX-License-Identifier: GPL-2.0
/*
 * The csig family's requests: check everything, then change all of it or nothing.
 * Policies and operations are generated (netlink_gen.c) from
 * Documentation/netlink/specs/csig.yaml, answers are filled in netlink_fill.c.
 */
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "csig.h"
#include "netlink_gen.h"

#define CSIG_CAPACITY_MAX_BPS	(1ULL << 53)

static struct genl_family csig_family;
static bool csig_family_up;

static int csig_refuse(struct netlink_ext_ack *extack, const struct nlattr *attr,
		       int err, const char *why)
{
	/* The message is a constant of the caller. */
	if (extack) {
		extack->_msg = why;
		extack->bad_attr = attr;
	}
	return err;
}

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
				   "csig: lm needs a name and a value");
	if (config->nlm == CSIG_LM_FIELDS_MAX)
		return csig_refuse(extack, nest, -E2BIG,
				   "csig: lm has at most 8 values");
	v = &config->lm[config->nlm];
	nla_strscpy(v->name, tb[CSIG_A_LM_VALUE_NAME], sizeof(v->name));
	v->value = nla_get_u16(tb[CSIG_A_LM_VALUE_VALUE]);
	if (csig_lm_name_eq(v->name, CSIG_LM_TTL) ||
	    csig_lm_name_eq(v->name, CSIG_LM_TRIMMED))
		return csig_refuse(extack, tb[CSIG_A_LM_VALUE_NAME], -EINVAL,
				   "csig: lm fields ttl and d come from the packet");
	for (i = 0; i < config->nlm; i++)
		if (csig_lm_name_eq(v->name, config->lm[i].name))
			return csig_refuse(extack, tb[CSIG_A_LM_VALUE_NAME],
					   -EINVAL,
					   "csig: lm field given twice");
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
					   "csig: capacity must be below 2^53 bit/s");
	}
	attr = tb[CSIG_A_PORT_CONFIG_INTERVAL_NS];
	if (attr) {
		config->interval_ns = nla_get_u64(attr);
		if (config->interval_ns < CSIG_INTERVAL_MIN_NS ||
		    config->interval_ns > CSIG_INTERVAL_MAX_NS)
			return csig_refuse(extack, attr, -ERANGE,
					   "csig: interval must be 10 us to 10 s");
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
		if (nla_type(attr) != CSIG_A_PORT_CONFIG_LM)
			continue;
		err = csig_parse_lm_value(attr, config, extack);
		if (err)
			return err;
	}
	return 0;
}

/* domain */

static int csig_parse_bounds(const struct nlattr *nest, struct csig_coding *c,
			     struct netlink_ext_ack *extack)
{
	const struct nlattr *attr;
	int rem;

	c->nbounds = 0;
	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) != CSIG_A_SIGNAL_BOUND)
			continue;
		if (c->nbounds == CSIG_BOUNDS_MAX)
			return csig_refuse(extack, attr, -E2BIG,
					   "csig: more than 31 bucket boundaries");
		c->bounds[c->nbounds] = nla_get_u64(attr);
		if (c->bounds[c->nbounds] <=
		    (c->nbounds ? c->bounds[c->nbounds - 1] : 0))
			return csig_refuse(extack, attr, -EINVAL,
					   "csig: bucket boundaries must rise from above 0");
		c->nbounds++;
	}
	return 0;
}

static int csig_parse_signal(const struct nlattr *nest, struct csig_profile *p,
			     struct netlink_ext_ack *extack)
{
	struct nlattr *tb[CSIG_A_SIGNAL_MAX + 1];
	struct csig_signal *s;
	int err;

	err = nla_parse_nested(tb, CSIG_A_SIGNAL_MAX, nest,
			       csig_signal_nl_policy, extack);
	if (err)
		return err;
	if (!tb[CSIG_A_SIGNAL_T])
		return csig_refuse(extack, nest, -EINVAL,
				   "csig: signal needs t");
	s = &p->signals[nla_get_u8(tb[CSIG_A_SIGNAL_T])];
	if (tb[CSIG_A_SIGNAL_REMOVE]) {
		if (!s->defined)
			return csig_refuse(extack, tb[CSIG_A_SIGNAL_T], -ENOENT,
					   "csig: the domain has no such signal");
		memset(s, 0, sizeof(*s));
		return 0;
	}
	if (!s->defined && (!tb[CSIG_A_SIGNAL_SOURCE] ||
			    !tb[CSIG_A_SIGNAL_AGGREGATE] ||
			    !tb[CSIG_A_SIGNAL_BOUND] ||
			    !tb[CSIG_A_SIGNAL_STEP]))
		return csig_refuse(extack, nest, -EINVAL,
				   "csig: a new signal needs source, aggregate, bound and step");
	s->defined = 1;
	if (tb[CSIG_A_SIGNAL_SOURCE])
		s->source = nla_get_u8(tb[CSIG_A_SIGNAL_SOURCE]);
	if (tb[CSIG_A_SIGNAL_AGGREGATE])
		s->aggregate = nla_get_u8(tb[CSIG_A_SIGNAL_AGGREGATE]);
	if (tb[CSIG_A_SIGNAL_BASE])
		s->coding.base = nla_get_u64(tb[CSIG_A_SIGNAL_BASE]);
	if (tb[CSIG_A_SIGNAL_STEP])
		s->coding.step = nla_get_u64(tb[CSIG_A_SIGNAL_STEP]);
	if (tb[CSIG_A_SIGNAL_BOUND]) {
		err = csig_parse_bounds(nest, &s->coding, extack);
		if (err)
			return err;
	}
	if (!csig_coding_valid(&s->coding))
		return csig_refuse(extack, tb[CSIG_A_SIGNAL_BASE] ?:
				   tb[CSIG_A_SIGNAL_STEP], -ERANGE,
				   "csig: base must be below 2^62, step 1 to below 2^43");
	csig_coding_prepare(&s->coding);
	return 0;
}

static int csig_parse_layout(const struct nlattr *nest, struct csig_profile *p,
			     struct netlink_ext_ack *extack)
{
	struct nlattr *tb[CSIG_A_LAYOUT_MAX + 1];
	struct nlattr *ftb[CSIG_A_LM_FIELD_MAX + 1];
	unsigned int t = CSIG_LAYOUT_ANY, f;
	struct csig_lm_layout l = {};
	const struct nlattr *attr;
	int rem, err;

	err = nla_parse_nested(tb, CSIG_A_LAYOUT_MAX, nest,
			       csig_layout_nl_policy, extack);
	if (err)
		return err;
	if (!tb[CSIG_A_LAYOUT_FORMAT])
		return csig_refuse(extack, nest, -EINVAL,
				   "csig: layout needs a format");
	f = nla_get_u8(tb[CSIG_A_LAYOUT_FORMAT]);
	if (tb[CSIG_A_LAYOUT_T])
		t = nla_get_u8(tb[CSIG_A_LAYOUT_T]);
	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) != CSIG_A_LAYOUT_FIELD)
			continue;
		err = nla_parse_nested(ftb, CSIG_A_LM_FIELD_MAX, attr,
				       csig_lm_field_nl_policy, extack);
		if (err)
			return err;
		if (!ftb[CSIG_A_LM_FIELD_NAME] || !ftb[CSIG_A_LM_FIELD_BITS])
			return csig_refuse(extack, attr, -EINVAL,
					   "csig: field needs a name and bits");
		if (l.nfields == CSIG_LM_FIELDS_MAX)
			return csig_refuse(extack, attr, -E2BIG,
					   "csig: a layout has at most 8 fields");
		nla_strscpy(l.fields[l.nfields].name, ftb[CSIG_A_LM_FIELD_NAME],
			    CSIG_LM_NAME_LEN);
		l.fields[l.nfields++].bits = nla_get_u8(ftb[CSIG_A_LM_FIELD_BITS]);
	}
	if (!csig_lm_valid(&l, f))
		return csig_refuse(extack, nest, -EINVAL,
				   f == CSIG_FORMAT_COMPACT ?
				   "csig: fields need different names and at most 7 bits together" :
				   "csig: fields need different names and at most 16 bits together");
	p->layouts[t][f] = l;
	return 0;
}

static int csig_parse_tpids(struct nlattr **tb, struct csig_profile *p,
			    struct netlink_ext_ack *extack)
{
	static const u8 attrs[CSIG_FORMATS] = {
		[CSIG_FORMAT_COMPACT] = CSIG_A_DOMAIN_COMPACT_TPID,
		[CSIG_FORMAT_EXPANDED] = CSIG_A_DOMAIN_EXPANDED_TPID,
	};
	unsigned int f;

	if (tb[CSIG_A_DOMAIN_SOFTWARE_ASSIST])
		p->software_assist =
			nla_get_u8(tb[CSIG_A_DOMAIN_SOFTWARE_ASSIST]);
	for (f = 0; f < CSIG_FORMATS; f++) {
		if (tb[attrs[f]])
			p->tpid[f] = nla_get_u16(tb[attrs[f]]);
		if (csig_tpid_refused(p->tpid[f], p->software_assist &&
				      f == CSIG_FORMAT_COMPACT))
			return csig_refuse(extack, tb[attrs[f]] ?:
					   tb[CSIG_A_DOMAIN_SOFTWARE_ASSIST],
					   -EINVAL,
					   p->tpid[f] == CSIG_ETH_8021AD ?
					   "csig: 0x88a8 is for the compact format with software-assist only" :
					   "csig: this EtherType is in use and can't be a TPID");
	}
	if (p->tpid[CSIG_FORMAT_COMPACT] == p->tpid[CSIG_FORMAT_EXPANDED])
		return csig_refuse(extack, tb[CSIG_A_DOMAIN_EXPANDED_TPID] ?:
				   tb[CSIG_A_DOMAIN_COMPACT_TPID], -EINVAL,
				   "csig: the formats need different TPIDs");
	return 0;
}

/* All attributes of a domain-set over a profile */
static int csig_parse_domain(struct genl_info *info, struct csig_profile *p)
{
	const struct nlattr *attr;
	int rem, err = 0;

	if (nla_get_flag(info->attrs[CSIG_A_DOMAIN_REPLACE])) {
		memset(p, 0, sizeof(*p));
		p->tpid[CSIG_FORMAT_COMPACT] = CSIG_TPID_COMPACT_DEFAULT;
		p->tpid[CSIG_FORMAT_EXPANDED] = CSIG_TPID_EXPANDED_DEFAULT;
	}
	err = csig_parse_tpids(info->attrs, p, info->extack);
	if (err)
		return err;
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) == CSIG_A_DOMAIN_SIGNAL)
			err = csig_parse_signal(attr, p, info->extack);
		else if (nla_type(attr) == CSIG_A_DOMAIN_LAYOUT)
			err = csig_parse_layout(attr, p, info->extack);
		if (err)
			return err;
	}
	return 0;
}

int csig_nl_domain_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct csig_net *cn = csig_net(genl_info_net(info));
	struct csig_domain *new;
	int err;

	new = csig_domain_alloc();
	if (!new)
		return -ENOMEM;
	rtnl_lock();
	new->profile = rtnl_dereference(cn->domain)->profile;
	err = csig_parse_domain(info, &new->profile);
	if (!err)
		err = csig_domain_publish(cn, new, info->extack);
	if (!err)
		csig_notify_domain(cn);
	rtnl_unlock();
	if (err)
		kfree(new);
	return err;
}

/* Answer with one message that fill() makes from obj */
static int csig_reply(struct genl_info *info, u8 cmd, void *obj,
		      int (*fill)(struct sk_buff *msg, void *obj))
{
	struct sk_buff *msg;
	void *hdr;

	msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &csig_family, 0, cmd);
	if (!hdr || fill(msg, obj)) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
}

static int csig_fill_domain_obj(struct sk_buff *msg, void *cn)
{
	return csig_fill_domain(msg, cn);
}

static int csig_fill_port_obj(struct sk_buff *msg, void *port)
{
	return csig_fill_port(msg, port);
}

static int csig_fill_bottleneck_obj(struct sk_buff *msg, void *port)
{
	return csig_fill_bottleneck(msg, port);
}

int csig_nl_domain_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return csig_reply(info, CSIG_CMD_DOMAIN_GET,
			  csig_net(genl_info_net(info)), csig_fill_domain_obj);
}

/*
 * Tables of the profile: one message a row.  A profile that changes between two parts
 * of a dump makes it inconsistent; the digest is its sequence number.
 */
static int csig_dump_rows(struct sk_buff *skb, struct netlink_callback *cb,
			  u8 cmd, unsigned int rows,
			  bool (*has)(const struct csig_profile *p,
				      unsigned int row),
			  int (*fill)(struct sk_buff *msg,
				      const struct csig_profile *p,
				      unsigned int row))
{
	struct csig_net *cn = csig_net(sock_net(skb->sk));
	const struct csig_domain *domain;
	unsigned int row;
	void *hdr;

	rcu_read_lock();
	domain = rcu_dereference(cn->domain);
	cb->seq = (unsigned int)(domain->digest ^ domain->digest >> 32) ?: 1;
	for (row = cb->args[0]; row < rows; row++) {
		if (!has(&domain->profile, row))
			continue;
		hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				  cb->nlh->nlmsg_seq, &csig_family, NLM_F_MULTI,
				  cmd);
		if (!hdr)
			break;
		genl_dump_check_consistent(cb, hdr);
		if (fill(skb, &domain->profile, row)) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		genlmsg_end(skb, hdr);
	}
	rcu_read_unlock();
	cb->args[0] = row;
	return row < rows && !skb->len ? -EMSGSIZE : skb->len;
}

static bool csig_has_signal(const struct csig_profile *p, unsigned int t)
{
	return p->signals[t].defined;
}

static bool csig_has_layout(const struct csig_profile *p, unsigned int row)
{
	return p->layouts[row / CSIG_FORMATS][row % CSIG_FORMATS].nfields;
}

int csig_nl_signal_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return csig_dump_rows(skb, cb, CSIG_CMD_SIGNAL_GET, CSIG_SIGNALS,
			      csig_has_signal, csig_fill_signal);
}

int csig_nl_layout_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return csig_dump_rows(skb, cb, CSIG_CMD_LAYOUT_GET,
			      (CSIG_SIGNALS + 1) * CSIG_FORMATS,
			      csig_has_layout, csig_fill_layout);
}

/* port */

/* Device of a request; RTNL */
static struct net_device *csig_nl_dev(struct genl_info *info)
{
	struct nlattr *attr = info->attrs[CSIG_A_PORT_IFINDEX];
	struct net_device *dev;

	if (!attr) {
		csig_refuse(info->extack, NULL, 0, "csig: ifindex is missing");
		return ERR_PTR(-EINVAL);
	}
	dev = __dev_get_by_index(genl_info_net(info), nla_get_u32(attr));
	if (!dev) {
		csig_refuse(info->extack, attr, 0, "csig: no such device");
		return ERR_PTR(-ENODEV);
	}
	return dev;
}

static struct csig_port *csig_nl_port(struct genl_info *info)
{
	struct net_device *dev = csig_nl_dev(info);
	struct csig_port *port;

	if (IS_ERR(dev))
		return ERR_CAST(dev);
	port = csig_port_find(dev);
	if (!port) {
		csig_refuse(info->extack, info->attrs[CSIG_A_PORT_IFINDEX], 0,
			    "csig: the device is no port");
		return ERR_PTR(-ENOENT);
	}
	return port;
}

static int csig_nl_config(struct genl_info *info, struct csig_port_config *config)
{
	struct nlattr *nest = info->attrs[CSIG_A_PORT_CONFIG];
	struct nlattr *tb[CSIG_A_PORT_CONFIG_MAX + 1];
	int err;

	if (!nest)
		return 0;
	err = nla_parse_nested(tb, CSIG_A_PORT_CONFIG_MAX, nest,
			       csig_port_config_nl_policy, info->extack);
	return err ?: csig_config_parse(nla_data(nest), nla_len(nest), tb,
					config, info->extack);
}

int csig_nl_port_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct csig_port *port;
	int err;

	csig_ports_flush_speed();
	rtnl_lock();
	port = csig_nl_port(info);
	err = PTR_ERR_OR_ZERO(port);
	if (!err)
		err = csig_reply(info, CSIG_CMD_PORT_GET, port,
				 csig_fill_port_obj);
	rtnl_unlock();
	return err;
}

/* In the order of ifindex, so a dump goes on after the last one whatever changed. */
int csig_nl_port_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct csig_net *cn = csig_net(sock_net(skb->sk));
	unsigned long index;
	struct csig_port *port;
	int err = 0;
	void *hdr;

	if (!cb->args[0])
		csig_ports_flush_speed();
	rtnl_lock();
	cb->seq = cn->seq + 1;	/* 0 means "not checked" */
	xa_for_each_start(&cn->ports, index, port, cb->args[0]) {
		err = -EMSGSIZE;
		hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				  cb->nlh->nlmsg_seq, &csig_family, NLM_F_MULTI,
				  CSIG_CMD_PORT_GET);
		if (!hdr)
			break;
		genl_dump_check_consistent(cb, hdr);
		err = csig_fill_port(skb, port);
		if (err) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		genlmsg_end(skb, hdr);
		cb->args[0] = index + 1;
	}
	rtnl_unlock();
	return err && !skb->len ? err : skb->len;
}

int csig_nl_port_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct csig_port_config config;
	struct net_device *dev;
	struct csig_port *port;
	int err;

	rtnl_lock();
	dev = csig_nl_dev(info);
	err = PTR_ERR_OR_ZERO(dev);
	if (err)
		goto out;
	port = csig_port_find(dev);
	if (port && port->persistent) {
		err = csig_refuse(info->extack,
				  info->attrs[CSIG_A_PORT_IFINDEX], -EEXIST,
				  "csig: the device is a port already");
		goto out;
	}
	if (port)
		config = port->config;
	else
		csig_port_config_init(&config);
	err = csig_nl_config(info, &config);
	if (err)
		goto out;
	port = csig_port_get(dev, &config, info->extack);
	err = PTR_ERR_OR_ZERO(port);
	if (!err)
		port->persistent = true;
out:
	rtnl_unlock();
	return err;
}

int csig_nl_port_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct csig_port_config config;
	struct csig_port *port;
	int err;

	rtnl_lock();
	port = csig_nl_port(info);
	err = PTR_ERR_OR_ZERO(port);
	if (!err) {
		config = port->config;
		err = csig_nl_config(info, &config);
	}
	if (!err)
		err = csig_port_apply(port, &config, info->extack);
	rtnl_unlock();
	return err;
}

int csig_nl_port_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct csig_port *port;
	int err;

	rtnl_lock();
	port = csig_nl_port(info);
	err = PTR_ERR_OR_ZERO(port);
	if (err)
		goto out;
	if (port->nqueues) {
		err = csig_refuse(info->extack,
				  info->attrs[CSIG_A_PORT_IFINDEX], -EBUSY,
				  "csig: the device has a csig qdisc, delete it first");
		goto out;
	}
	port->persistent = false;
	csig_port_put(port);
out:
	rtnl_unlock();
	return err;
}

/* events */

static void csig_notify(struct csig_net *cn, u8 cmd, void *obj,
			int (*fill)(struct sk_buff *msg, void *obj))
{
	struct sk_buff *msg;
	void *hdr;

	if (!READ_ONCE(csig_family_up) ||
	    !genl_has_listeners(&csig_family, cn->net, CSIG_NLGRP_MONITOR))
		return;
	msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return;
	hdr = genlmsg_put(msg, 0, 0, &csig_family, 0, cmd);
	if (!hdr || fill(msg, obj)) {
		nlmsg_free(msg);
		return;
	}
	genlmsg_end(msg, hdr);
	genlmsg_multicast_netns(&csig_family, cn->net, msg, 0,
				CSIG_NLGRP_MONITOR, GFP_KERNEL);
}

static int csig_fill_gone(struct sk_buff *msg, void *obj)
{
	struct csig_port *port = obj;

	return nla_put_u32(msg, CSIG_A_PORT_IFINDEX, port->dev->ifindex) ||
	       nla_put_string(msg, CSIG_A_PORT_IFNAME, port->dev->name);
}

void csig_notify_port(struct csig_port *port)
{
	csig_notify(port->cn, CSIG_CMD_PORT_NTF, port, csig_fill_port_obj);
}

void csig_notify_port_gone(struct csig_port *port)
{
	csig_notify(port->cn, CSIG_CMD_PORT_DEL_NTF, port, csig_fill_gone);
}

void csig_notify_domain(struct csig_net *cn)
{
	csig_notify(cn, CSIG_CMD_DOMAIN_NTF, cn, csig_fill_domain_obj);
}

void csig_notify_bottleneck(struct csig_port *port)
{
	csig_notify(port->cn, CSIG_CMD_BOTTLENECK_NTF, port,
		    csig_fill_bottleneck_obj);
}

static struct genl_multicast_group csig_groups[] = {
	[CSIG_NLGRP_MONITOR] = { .name = CSIG_MCGRP_MONITOR },
};

static struct genl_family csig_family __ro_after_init = {
	.name = CSIG_GENL_NAME,
	.version = CSIG_GENL_VERSION,
	.netnsok = true,
	.module = THIS_MODULE,
	.split_ops = csig_nl_ops,
	.n_split_ops = ARRAY_SIZE(csig_nl_ops),
	.mcgrps = csig_groups,
	.n_mcgrps = ARRAY_SIZE(csig_groups),
	.resv_start_op = CSIG_CMD_MAX + 1,
};

int csig_netlink_init(void)
{
	int err = genl_register_family(&csig_family);

	WRITE_ONCE(csig_family_up, !err);
	return err;
}

void csig_netlink_exit(void)
{
	WRITE_ONCE(csig_family_up, false);
	genl_unregister_family(&csig_family);
}

MODULE_ALIAS_GENL_FAMILY("csig");
