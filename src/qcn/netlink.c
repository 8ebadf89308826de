// SPDX-License-Identifier: GPL-2.0
/*
 * The qcn family: requests for ports, answers and events.  Requests check everything,
 * then change all of it or nothing.  Policies and operations are generated
 * (netlink_gen.c) from Documentation/netlink/specs/qcn.yaml.
 */
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "module.h"
#include "netlink_gen.h"

/* Refuse an attribute: the error, with a message that says why */
#define qcn_refuse(extack, attr, err, why) ({			\
	NL_SET_ERR_MSG_ATTR(extack, attr, "qcn: " why);		\
	err;							\
})

static struct genl_family qcn_family;
static bool qcn_family_up;

/* answers */

/* A u64 attribute; the family's users align by copying, so no padding attribute. */
static int qcn_put_u64(struct sk_buff *msg, int attr, u64 v)
{
	return nla_put(msg, attr, sizeof(v), &v);
}

static int qcn_fill_cnpv(struct sk_buff *msg, const struct qcn_port *port,
			 unsigned int p)
{
	struct nlattr *nest = nla_nest_start(msg, QCN_A_PORT_CNPV);

	if (!nest ||
	    nla_put_u8(msg, QCN_A_CNPV_PRIORITY, p) ||
	    nla_put_u8(msg, QCN_A_CNPV_MODE, port->config.mode[p]) ||
	    nla_put_u8(msg, QCN_A_CNPV_ALTERNATE, port->config.alternate[p]) ||
	    nla_put_u8(msg, QCN_A_CNPV_OPER_MODE, port->oper[p]) ||
	    nla_put_u8(msg, QCN_A_CNPV_OPER_ALTERNATE, port->remap[p]))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static int qcn_fill_neighbour(struct sk_buff *msg, const struct qcn_config *c)
{
	struct nlattr *nest = nla_nest_start(msg, QCN_A_PORT_NEIGHBOUR);
	long left = c->neighbour_end - jiffies;

	if (!nest ||
	    nla_put_u8(msg, QCN_A_NEIGHBOUR_CNPVS, c->neighbour.cnpvs) ||
	    nla_put_u8(msg, QCN_A_NEIGHBOUR_READY, c->neighbour.ready) ||
	    nla_put_u32(msg, QCN_A_NEIGHBOUR_TTL_MS,
			left > 0 ? jiffies_to_msecs(left) : 0))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

/* What the port has to say by LLDP follows from what is in force. */
static int qcn_fill_tlv(struct sk_buff *msg, const struct qcn_port *port)
{
	struct nlattr *nest = nla_nest_start(msg, QCN_A_PORT_TLV);
	unsigned int p;
	u8 ready = 0;

	for (p = 0; p < QCN_PRIORITIES; p++)
		if (qcn_mode_rules(port->oper[p])->ready)
			ready |= BIT(p);
	if (!nest ||
	    nla_put_u8(msg, QCN_A_TLV_CNPVS, port->cnpvs) ||
	    nla_put_u8(msg, QCN_A_TLV_READY, ready))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static int qcn_fill_stats(struct sk_buff *msg, const struct qcn_port *port)
{
	struct nlattr *nest = nla_nest_start(msg, QCN_A_PORT_STATS);
	unsigned int attr;

	if (!nest)
		return -EMSGSIZE;
	for (attr = 1; attr <= QCN_A_PORT_STATS_MAX; attr++)
		if (qcn_put_u64(msg, attr, qcn_port_stat(port, attr)))
			return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static int qcn_fill_name(struct sk_buff *msg, const struct qcn_port *port)
{
	return nla_put_u32(msg, QCN_A_PORT_IFINDEX, port->dev->ifindex) ||
	       nla_put_string(msg, QCN_A_PORT_IFNAME, port->dev->name) ?
	       -EMSGSIZE : 0;
}

/* RTNL; the caller cancels the message when it has no room. */
static int qcn_fill_port(struct sk_buff *msg, const struct qcn_port *port)
{
	unsigned int p;

	if (qcn_fill_name(msg, port))
		return -EMSGSIZE;
	for (p = 0; p < QCN_PRIORITIES; p++)
		if (qcn_has(port->cnpvs, p) && qcn_fill_cnpv(msg, port, p))
			return -EMSGSIZE;
	if (port->config.has_neighbour &&
	    qcn_fill_neighbour(msg, &port->config))
		return -EMSGSIZE;
	if (qcn_fill_tlv(msg, port) || qcn_fill_stats(msg, port))
		return -EMSGSIZE;
	return nla_put_u32(msg, QCN_A_PORT_POINTS, port->users);
}

/* requests */

/* Device of a request; RTNL */
static struct net_device *qcn_nl_dev(struct genl_info *info)
{
	struct nlattr *attr = info->attrs[QCN_A_PORT_IFINDEX];
	struct net_device *dev;

	if (GENL_REQ_ATTR_CHECK(info, QCN_A_PORT_IFINDEX)) {
		NL_SET_ERR_MSG_MOD(info->extack, "ifindex is missing");
		return ERR_PTR(-EINVAL);
	}
	dev = __dev_get_by_index(genl_info_net(info), nla_get_u32(attr));
	if (!dev) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "qcn: no such device");
		return ERR_PTR(-ENODEV);
	}
	return dev;
}

static struct qcn_port *qcn_nl_port(struct genl_info *info)
{
	struct net_device *dev = qcn_nl_dev(info);
	struct qcn_port *port;

	if (IS_ERR(dev))
		return ERR_CAST(dev);
	port = qcn_port_find(dev);
	if (!port) {
		NL_SET_ERR_MSG_ATTR(info->extack,
				    info->attrs[QCN_A_PORT_IFINDEX],
				    "qcn: the device has no priority of the domain, no congestion and no reaction point");
		return ERR_PTR(-ENOENT);
	}
	return port;
}

int qcn_nl_port_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct qcn_port *port;
	struct sk_buff *msg;
	void *hdr;
	int err;

	msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	rtnl_lock();
	port = qcn_nl_port(info);
	err = PTR_ERR_OR_ZERO(port);
	if (!err) {
		hdr = genlmsg_put_reply(msg, info, &qcn_family, 0,
					QCN_CMD_PORT_GET);
		err = hdr ? qcn_fill_port(msg, port) : -EMSGSIZE;
	}
	rtnl_unlock();
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
}

/* In the order of ifindex, so a dump goes on after the last one whatever changed. */
int qcn_nl_port_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct qcn_net *qn = qcn_net(sock_net(skb->sk));
	struct qcn_port *port;
	unsigned long index;
	int err = 0;
	void *hdr;

	rtnl_lock();
	cb->seq = qn->seq + 1;	/* 0 means "not checked" */
	xa_for_each_start(&qn->ports, index, port, cb->args[0]) {
		err = -EMSGSIZE;
		hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				  cb->nlh->nlmsg_seq, &qcn_family, NLM_F_MULTI,
				  QCN_CMD_PORT_GET);
		if (!hdr)
			break;
		genl_dump_check_consistent(cb, hdr);
		err = qcn_fill_port(skb, port);
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

/* One nest for each priority that changes; @given is what there was for it. */
static int qcn_parse_cnpv(const struct nlattr *nest, struct qcn_config *c,
			  const struct nlattr **given,
			  struct netlink_ext_ack *extack)
{
	struct nlattr *tb[QCN_A_CNPV_MAX + 1];
	unsigned int p;
	int err;

	err = nla_parse_nested(tb, QCN_A_CNPV_MAX, nest, qcn_cnpv_nl_policy,
			       extack);
	if (err)
		return err;
	if (tb[QCN_A_CNPV_OPER_MODE] || tb[QCN_A_CNPV_OPER_ALTERNATE])
		return qcn_refuse(extack, tb[QCN_A_CNPV_OPER_MODE] ?:
				  tb[QCN_A_CNPV_OPER_ALTERNATE], -EINVAL,
				  "what is in force follows, set mode and alternate");
	if (!tb[QCN_A_CNPV_PRIORITY])
		return qcn_refuse(extack, nest, -EINVAL,
				  "cnpv needs a priority");
	p = nla_get_u8(tb[QCN_A_CNPV_PRIORITY]);
	if (given[p])
		return qcn_refuse(extack, tb[QCN_A_CNPV_PRIORITY], -EINVAL,
				  "this priority is there twice");
	if (!tb[QCN_A_CNPV_MODE] && !tb[QCN_A_CNPV_ALTERNATE])
		return qcn_refuse(extack, nest, -EINVAL,
				  "cnpv needs a mode or an alternate");
	given[p] = tb[QCN_A_CNPV_ALTERNATE] ?: tb[QCN_A_CNPV_MODE];
	if (tb[QCN_A_CNPV_MODE])
		c->mode[p] = nla_get_u8(tb[QCN_A_CNPV_MODE]);
	if (c->mode[p] == QCN_DEFENCE_DISABLED) {
		if (tb[QCN_A_CNPV_ALTERNATE])
			return qcn_refuse(extack, tb[QCN_A_CNPV_ALTERNATE],
					  -EINVAL,
					  "a priority that is none of the domain's has no alternate, give it a mode");
		c->alternate[p] = QCN_ALTERNATE_AUTO;
	}
	if (tb[QCN_A_CNPV_ALTERNATE]) {
		c->alternate[p] = nla_get_u8(tb[QCN_A_CNPV_ALTERNATE]);
		if (c->alternate[p] >= QCN_PRIORITIES &&
		    c->alternate[p] != QCN_ALTERNATE_AUTO)
			return qcn_refuse(extack, tb[QCN_A_CNPV_ALTERNATE],
					  -ERANGE,
					  "the alternate is 0 to 7, or 255 for what follows from the others");
	}
	return 0;
}

/*
 * All priorities together, as they would be; @taken: those of CNMs; @attr: the request's
 * first of them
 */
static int qcn_check_cnpvs(const struct qcn_config *c, u8 taken,
			   const struct nlattr **given,
			   const struct nlattr *attr,
			   struct netlink_ext_ack *extack)
{
	unsigned int p;
	u8 cnpvs = 0;

	for (p = 0; p < QCN_PRIORITIES; p++)
		if (c->mode[p] != QCN_DEFENCE_DISABLED)
			cnpvs |= BIT(p);
	if (!qcn_cnpvs_valid(cnpvs))
		return qcn_refuse(extack, attr, -E2BIG,
				  "at most 7 priorities, one is left for all other traffic");
	for (p = 0; p < QCN_PRIORITIES; p++) {
		u8 to = c->alternate[p];

		if (!qcn_has(cnpvs, p))
			continue;
		if (qcn_has(taken, p))
			return qcn_refuse(extack, given[p] ?: attr, -EINVAL,
					  "a congestion point of the port sends CNMs with this priority, give it another cnm-priority");
		if (to == QCN_ALTERNATE_AUTO || !qcn_has(cnpvs, to))
			continue;
		return qcn_refuse(extack, given[p] ?: given[to] ?: attr,
				  -EINVAL,
				  "the alternate priority is one of the domain's");
	}
	return 0;
}

static int qcn_parse_neighbour(const struct nlattr *nest, struct qcn_config *c,
			       struct netlink_ext_ack *extack)
{
	struct nlattr *tb[QCN_A_NEIGHBOUR_MAX + 1];
	int err;

	err = nla_parse_nested(tb, QCN_A_NEIGHBOUR_MAX, nest,
			       qcn_neighbour_nl_policy, extack);
	if (err)
		return err;
	c->has_neighbour = nla_len(nest);
	if (!c->has_neighbour)
		return 0;
	if (!tb[QCN_A_NEIGHBOUR_CNPVS] || !tb[QCN_A_NEIGHBOUR_READY] ||
	    !tb[QCN_A_NEIGHBOUR_TTL_MS])
		return qcn_refuse(extack, nest, -EINVAL,
				  "neighbour needs cnpvs, ready and ttl-ms, or nothing to be forgotten");
	c->neighbour.cnpvs = nla_get_u8(tb[QCN_A_NEIGHBOUR_CNPVS]);
	c->neighbour.ready = nla_get_u8(tb[QCN_A_NEIGHBOUR_READY]);
	c->neighbour_end = jiffies +
		msecs_to_jiffies(nla_get_u32(tb[QCN_A_NEIGHBOUR_TTL_MS]));
	return 0;
}

/* All attributes of a port-set over settings; a device without a port has NULL. */
static int qcn_parse_port(struct genl_info *info, const struct qcn_port *port,
			  struct qcn_config *c)
{
	const struct nlattr *given[QCN_PRIORITIES] = {};
	struct nlattr *cnpv = info->attrs[QCN_A_PORT_CNPV];
	struct nlattr *neighbour = info->attrs[QCN_A_PORT_NEIGHBOUR];
	const struct nlattr *attr;
	int rem, err;

	if (!cnpv && !neighbour) {
		NL_SET_ERR_MSG_MOD(info->extack,
				   "cnpv and neighbour are missing, nothing would change");
		return -EINVAL;
	}
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != QCN_A_PORT_CNPV)
			continue;
		err = qcn_parse_cnpv(attr, c, given, info->extack);
		if (err)
			return err;
	}
	if (cnpv) {
		err = qcn_check_cnpvs(c, qcn_port_cnm_priorities(port), given,
				      cnpv, info->extack);
		if (err)
			return err;
	}
	return neighbour ? qcn_parse_neighbour(neighbour, c, info->extack) : 0;
}

int qcn_nl_port_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct qcn_port *port;
	struct qcn_config config;
	struct net_device *dev;
	int err;

	rtnl_lock();
	dev = qcn_nl_dev(info);
	err = PTR_ERR_OR_ZERO(dev);
	if (err)
		goto out;
	port = qcn_port_find(dev);
	qcn_port_config(port, &config);
	err = qcn_parse_port(info, port, &config);
	if (!err)
		err = qcn_port_apply(dev, &config, info->extack);
	if (err == -EOPNOTSUPP)	/* it has its message */
		NL_SET_BAD_ATTR(info->extack, info->attrs[QCN_A_PORT_IFINDEX]);
out:
	rtnl_unlock();
	return err;
}

int qcn_nl_port_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct qcn_config config;
	struct qcn_port *port;
	int err;

	rtnl_lock();
	port = qcn_nl_port(info);
	err = PTR_ERR_OR_ZERO(port);
	if (!err) {
		qcn_port_config(NULL, &config);
		err = qcn_port_apply(port->dev, &config, info->extack);
	}
	rtnl_unlock();
	return err;
}

/* events */

static void qcn_notify(const struct qcn_port *port, u8 cmd,
		       int (*fill)(struct sk_buff *msg,
				   const struct qcn_port *port))
{
	struct net *net = port->qn->net;
	struct sk_buff *msg;
	void *hdr;

	if (!READ_ONCE(qcn_family_up) ||
	    !genl_has_listeners(&qcn_family, net, QCN_NLGRP_MONITOR))
		return;
	msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return;
	hdr = genlmsg_put(msg, 0, 0, &qcn_family, 0, cmd);
	if (!hdr || fill(msg, port)) {
		nlmsg_free(msg);
		return;
	}
	genlmsg_end(msg, hdr);
	genlmsg_multicast_netns(&qcn_family, net, msg, 0, QCN_NLGRP_MONITOR,
				GFP_KERNEL);
}

void qcn_notify_port(struct qcn_port *port)
{
	qcn_notify(port, QCN_CMD_PORT_NTF, qcn_fill_port);
}

void qcn_notify_port_gone(struct qcn_port *port)
{
	qcn_notify(port, QCN_CMD_PORT_DEL_NTF, qcn_fill_name);
}

static const struct genl_multicast_group qcn_groups[] = {
	[QCN_NLGRP_MONITOR] = { .name = QCN_MCGRP_MONITOR },
};

static struct genl_family qcn_family __ro_after_init = {
	.name = QCN_GENL_NAME,
	.version = QCN_GENL_VERSION,
	.netnsok = true,
	.module = THIS_MODULE,
	.split_ops = qcn_nl_ops,
	.n_split_ops = ARRAY_SIZE(qcn_nl_ops),
	.mcgrps = qcn_groups,
	.n_mcgrps = ARRAY_SIZE(qcn_groups),
};

int qcn_netlink_init(void)
{
	int err = genl_register_family(&qcn_family);

	WRITE_ONCE(qcn_family_up, !err);
	return err;
}

void qcn_netlink_exit(void)
{
	/* Events are sent under RTNL: none is on its way after this. */
	rtnl_lock();
	WRITE_ONCE(qcn_family_up, false);
	rtnl_unlock();
	genl_unregister_family(&qcn_family);
}

MODULE_ALIAS_GENL_FAMILY("qcn");
