// SPDX-License-Identifier: GPL-2.0
/*
 * The csig family's requests for the domain: its profile, the table of signals and the
 * layouts of the locator metadata.
 */
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "csig.h"
#include "netlink.h"

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
					   "more than 31 bucket boundaries");
		c->bounds[c->nbounds] = nla_get_u64(attr);
		if (c->bounds[c->nbounds] <=
		    (c->nbounds ? c->bounds[c->nbounds - 1] : 0))
			return csig_refuse(extack, attr, -EINVAL,
					   "bucket boundaries must rise from above 0");
		c->nbounds++;
	}
	return 0;
}

static int csig_parse_signal(const struct nlattr *nest, struct csig_profile *p,
			     struct netlink_ext_ack *extack)
{
	struct nlattr *tb[CSIG_A_SIGNAL_MAX + 1];
	struct csig_signal *s;
	int err, i;

	err = nla_parse_nested(tb, CSIG_A_SIGNAL_MAX, nest,
			       csig_signal_nl_policy, extack);
	if (err)
		return err;
	if (!tb[CSIG_A_SIGNAL_T])
		return csig_refuse(extack, nest, -EINVAL,
				   "signal needs t");
	s = &p->signals[nla_get_u8(tb[CSIG_A_SIGNAL_T])];
	if (tb[CSIG_A_SIGNAL_REMOVE]) {
		for (i = 1; i <= CSIG_A_SIGNAL_MAX; i++)
			if (tb[i] && i != CSIG_A_SIGNAL_T &&
			    i != CSIG_A_SIGNAL_REMOVE)
				return csig_refuse(extack, tb[i], -EINVAL,
						   "a signal that is removed has nothing else");
		if (!s->defined)
			return csig_refuse(extack, tb[CSIG_A_SIGNAL_T], -ENOENT,
					   "the domain has no such signal");
		memset(s, 0, sizeof(*s));
		return 0;
	}
	if (!s->defined && (!tb[CSIG_A_SIGNAL_SOURCE] ||
			    !tb[CSIG_A_SIGNAL_AGGREGATE] ||
			    !tb[CSIG_A_SIGNAL_BOUND] ||
			    !tb[CSIG_A_SIGNAL_STEP]))
		return csig_refuse(extack, nest, -EINVAL,
				   "a new signal needs source, aggregate, bound and step");
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
				   "base must be below 2^62, step 1 to below 2^43");
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
				   "layout needs a format");
	f = nla_get_u8(tb[CSIG_A_LAYOUT_FORMAT]);
	if (tb[CSIG_A_LAYOUT_T])
		t = nla_get_u8(tb[CSIG_A_LAYOUT_T]);
	if (t != CSIG_LAYOUT_ANY && t > csig_layout(f)->t_max)
		return csig_refuse(extack, tb[CSIG_A_LAYOUT_T], -EINVAL,
				   "compact tags have no such signal");
	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) != CSIG_A_LAYOUT_FIELD)
			continue;
		err = nla_parse_nested(ftb, CSIG_A_LM_FIELD_MAX, attr,
				       csig_lm_field_nl_policy, extack);
		if (err)
			return err;
		if (!ftb[CSIG_A_LM_FIELD_NAME] || !ftb[CSIG_A_LM_FIELD_BITS])
			return csig_refuse(extack, attr, -EINVAL,
					   "field needs a name and bits");
		if (l.nfields == CSIG_LM_FIELDS_MAX)
			return csig_refuse(extack, attr, -E2BIG,
					   "a layout has at most 8 fields");
		nla_strscpy(l.fields[l.nfields].name, ftb[CSIG_A_LM_FIELD_NAME],
			    CSIG_LM_NAME_LEN);
		l.fields[l.nfields++].bits = nla_get_u8(ftb[CSIG_A_LM_FIELD_BITS]);
	}
	if (!csig_lm_valid(&l, f))
		return csig_refuse(extack, nest, -EINVAL,
				   "fields need different names and together at most 7 bits (compact) or 16 (expanded)");
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
					   "this EtherType is in use and can't be a TPID (0x88a8: compact only, with software-assist)");
	}
	if (p->tpid[CSIG_FORMAT_COMPACT] == p->tpid[CSIG_FORMAT_EXPANDED])
		return csig_refuse(extack, tb[CSIG_A_DOMAIN_EXPANDED_TPID] ?:
				   tb[CSIG_A_DOMAIN_COMPACT_TPID], -EINVAL,
				   "the formats need different TPIDs");
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
	if (!err && cn->nports &&
	    new->profile.tpid[CSIG_FORMAT_COMPACT] == CSIG_ETH_8021AD)
		err = csig_refuse(info->extack,
				  info->attrs[CSIG_A_DOMAIN_COMPACT_TPID],
				  -EBUSY,
				  "0x88a8 is for VLAN hardware, ports would not see the tags: delete them first");
	if (!err)
		err = csig_domain_publish(cn, new, info->extack);
	if (!err)
		csig_notify_domain(cn);
	rtnl_unlock();
	if (err)
		kfree(new);
	return err;
}

int csig_nl_domain_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return csig_reply(info, CSIG_CMD_DOMAIN_GET,
			  csig_net(genl_info_net(info)), csig_fill_domain);
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
