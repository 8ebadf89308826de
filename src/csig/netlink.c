// SPDX-License-Identifier: GPL-2.0
/*
 * The csig family, its requests for ports and its events.  Requests check everything,
 * then change all of it or nothing.  Policies and operations are generated
 * (netlink_gen.c) from Documentation/netlink/specs/csig.yaml; the domain's requests
 * are netlink_domain.c, answers are filled in netlink_fill.c.
 */
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "csig.h"
#include "netlink.h"

static bool csig_family_up;

/**
 * csig_reply() - answer with one message
 * @info: request
 * @cmd: command of the answer
 * @obj: what it is about
 * @fill: puts attributes of @obj into the message
 *
 * Return: 0, -ENOMEM or -EMSGSIZE
 */
int csig_reply(struct genl_info *info, u8 cmd, void *obj,
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

/* Device of a request; RTNL */
static struct net_device *csig_nl_dev(struct genl_info *info)
{
	struct nlattr *attr = info->attrs[CSIG_A_PORT_IFINDEX];
	struct net_device *dev;

	if (!attr) {
		NL_SET_ERR_MSG_MOD(info->extack, "ifindex is missing");
		return ERR_PTR(-EINVAL);
	}
	dev = __dev_get_by_index(genl_info_net(info), nla_get_u32(attr));
	if (!dev) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "csig: no such device");
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
		NL_SET_ERR_MSG_ATTR(info->extack,
				    info->attrs[CSIG_A_PORT_IFINDEX],
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
				 csig_fill_port);
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
				  "the device is a port already");
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
				  "the device has a csig qdisc, delete it first");
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
	csig_notify(port->cn, CSIG_CMD_PORT_NTF, port, csig_fill_port);
}

void csig_notify_port_gone(struct csig_port *port)
{
	csig_notify(port->cn, CSIG_CMD_PORT_DEL_NTF, port, csig_fill_gone);
}

void csig_notify_domain(struct csig_net *cn)
{
	csig_notify(cn, CSIG_CMD_DOMAIN_NTF, cn, csig_fill_domain);
}

void csig_notify_bottleneck(struct csig_port *port)
{
	csig_notify(port->cn, CSIG_CMD_BOTTLENECK_NTF, port,
		    csig_fill_bottleneck);
}

static struct genl_multicast_group csig_groups[] = {
	[CSIG_NLGRP_MONITOR] = { .name = CSIG_MCGRP_MONITOR },
};

struct genl_family csig_family __ro_after_init = {
	.name = CSIG_GENL_NAME,
	.version = CSIG_GENL_VERSION,
	.netnsok = true,
	.module = THIS_MODULE,
	.split_ops = csig_nl_ops,
	.n_split_ops = ARRAY_SIZE(csig_nl_ops),
	.mcgrps = csig_groups,
	.n_mcgrps = ARRAY_SIZE(csig_groups),
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
