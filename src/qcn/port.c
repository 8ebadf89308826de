// SPDX-License-Identifier: GPL-2.0
/*
 * Ports: their life, what is in force of their settings, and the end of what a neighbour
 * said.  What happens to frames is hooks.c, requests are netlink.c.
 */
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/rtnetlink.h>

#include "../l2.h"
#include "module.h"

/**
 * qcn_port_find() - the port of a device
 * @dev: device
 *
 * Context: RCU (also BH) or RTNL.
 * Return: port, or NULL
 */
struct qcn_port *qcn_port_find(const struct net_device *dev)
{
	return xa_load(&qcn_net(dev_net(dev))->ports, dev->ifindex);
}

/**
 * qcn_port_mode() - what is in force for a priority
 * @port: port
 * @priority: of a frame
 *
 * Context: RCU (also BH) or RTNL.
 * Return: enum qcn_defence but auto
 */
u8 qcn_port_mode(const struct qcn_port *port, unsigned int priority)
{
	if (priority >= QCN_PRIORITIES)
		return QCN_DEFENCE_DISABLED;
	/* with the alternate priority, see qcn_port_update() */
	return smp_load_acquire(&port->oper[priority]);
}

/* Sum of a counter over all CPUs */
u64 qcn_port_stat(const struct qcn_port *port, unsigned int attr)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct qcn_stats *s = per_cpu_ptr(port->stats, cpu);
		unsigned int start;
		u64 v;

		do {
			start = u64_stats_fetch_begin(&s->syncp);
			v = u64_stats_read(&s->count[attr]);
		} while (u64_stats_fetch_retry(&s->syncp, start));
		sum += v;
	}
	return sum;
}

/* What is in force, after a change of settings, neighbour or congestion points.  RTNL. */
static void qcn_port_update(struct qcn_port *port)
{
	const struct qcn_config *c = &port->config;
	const struct qcn_cp_link *cp;
	u8 cnpvs = 0, cp_cnpvs = 0;
	unsigned int p;

	for (p = 0; p < QCN_PRIORITIES; p++)
		if (c->mode[p] != QCN_DEFENCE_DISABLED)
			cnpvs |= BIT(p);
	list_for_each_entry(cp, &port->cps, list)
		cp_cnpvs |= cp->cnpvs ?: cp->has_all ? cnpvs : 0;
	WRITE_ONCE(port->cp_cnpvs, cp_cnpvs);
	WRITE_ONCE(port->cnpvs, cnpvs);
	for (p = 0; p < QCN_PRIORITIES; p++) {
		u8 mode = c->mode[p];

		if (mode == QCN_DEFENCE_AUTO)
			mode = qcn_mode_auto(c->has_neighbour ? &c->neighbour :
								NULL, p);
		if (mode != QCN_DEFENCE_DISABLED)
			WRITE_ONCE(port->remap[p],
				   c->alternate[p] == QCN_ALTERNATE_AUTO ?
				   qcn_alternate(cnpvs, p) : c->alternate[p]);
		/* after remap[], which an edge's readers look at next */
		smp_store_release(&port->oper[p], mode);
	}
}

/* life */

static void qcn_port_free_rcu(struct rcu_head *head)
{
	struct qcn_port *port = container_of(head, struct qcn_port, rcu);

	free_percpu(port->stats);
	kfree(port);
}

static struct qcn_port *qcn_port_alloc(struct net_device *dev)
{
	struct qcn_port *port;
	int cpu;

	port = kzalloc(sizeof(*port), GFP_KERNEL_ACCOUNT);
	if (!port)
		return NULL;
	port->stats = alloc_percpu_gfp(struct qcn_stats, GFP_KERNEL_ACCOUNT);
	if (!port->stats) {
		kfree(port);
		return NULL;
	}
	for_each_possible_cpu(cpu)
		u64_stats_init(&per_cpu_ptr(port->stats, cpu)->syncp);
	qcn_port_config(NULL, &port->config);
	INIT_LIST_HEAD(&port->inboxes);
	INIT_LIST_HEAD(&port->cps);
	port->dev = dev;
	port->qn = qcn_net(dev_net(dev));
	port->parses_headers = l2_dev_parses_headers(dev);
	return port;
}

/* The port of a device, made when there is none.  Nothing makes it last yet.  RTNL. */
static struct qcn_port *qcn_port_make(struct net_device *dev,
				      struct netlink_ext_ack *extack)
{
	struct qcn_net *qn = qcn_net(dev_net(dev));
	struct qcn_port *port;
	int err;

	ASSERT_RTNL();
	port = qcn_port_find(dev);
	if (port)
		return port;
	if (dev->type != ARPHRD_ETHER) {
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "%s is no Ethernet device, its frames have no priorities",
				       dev->name);
		return ERR_PTR(-EOPNOTSUPP);
	}
	port = qcn_port_alloc(dev);
	if (!port)
		return ERR_PTR(-ENOMEM);
	err = xa_insert(&qn->ports, dev->ifindex, port, GFP_KERNEL);
	if (err)
		goto err_free;
	err = qcn_hooks_add(port, extack);
	if (err)
		goto err_erase;
	port->listed = true;
	WRITE_ONCE(qn->seq, qn->seq + 1);
	return port;

err_erase:
	xa_erase(&qn->ports, dev->ifindex);
err_free:
	call_rcu(&port->rcu, qcn_port_free_rcu);
	return ERR_PTR(err);
}

/*
 * The port leaves its device.  A qdisc may outlive that while a filter request looks at
 * it; then the last of them frees the port.  RTNL.
 */
static void qcn_port_unlist(struct qcn_port *port)
{
	struct qcn_net *qn = port->qn;

	ASSERT_RTNL();
	qcn_hooks_del(port);
	xa_erase(&qn->ports, port->dev->ifindex);
	WRITE_ONCE(qn->seq, qn->seq + 1);
	qcn_notify_port_gone(port);
	port->listed = false;
	port->dev = NULL;
	port->qn = NULL;
	if (!port->users)
		call_rcu(&port->rcu, qcn_port_free_rcu);
}

/* Something changed; the port goes when nothing makes it last any more.  RTNL. */
static void qcn_port_changed(struct qcn_port *port)
{
	qcn_port_update(port);
	if (port->listed && !port->users && !port->cnpvs &&
	    !port->config.has_neighbour)
		qcn_port_unlist(port);
	else if (port->listed)
		qcn_notify_port(port);
	else if (!port->users)
		call_rcu(&port->rcu, qcn_port_free_rcu);
}

/* qdiscs */

/**
 * qcn_port_get() - the port of a device, for a qdisc
 * @dev: device
 * @extack: says why not
 *
 * Context: RTNL, sleeps.
 * Return: port until qcn_port_put(), or ERR_PTR()
 */
struct qcn_port *qcn_port_get(struct net_device *dev,
			      struct netlink_ext_ack *extack)
{
	struct qcn_port *port = qcn_port_make(dev, extack);

	if (!IS_ERR(port)) {
		port->users++;
		qcn_port_changed(port);
	}
	return port;
}

/**
 * qcn_port_put() - a qdisc has no use for its port any more
 * @port: port, gone when nothing else makes it last
 *
 * Context: RTNL.
 */
void qcn_port_put(struct qcn_port *port)
{
	ASSERT_RTNL();
	port->users--;
	qcn_port_changed(port);
}

/**
 * qcn_port_add_rp() - CNMs come to a reaction point from now on
 * @port: port
 * @inbox: where; its memory lives a grace period longer than it is in the list, as that
 *	of a qdisc does
 *
 * Context: RTNL.
 */
void qcn_port_add_rp(struct qcn_port *port, struct qcn_inbox *inbox)
{
	ASSERT_RTNL();
	list_add_tail_rcu(&inbox->list, &port->inboxes);
}

void qcn_port_del_rp(struct qcn_port *port, struct qcn_inbox *inbox)
{
	ASSERT_RTNL();
	list_del_rcu(&inbox->list);
}

/**
 * qcn_port_add_cp() - a congestion point takes off the CN-TAGs of its priorities
 * @port: port
 * @cp: link, with its priorities
 *
 * Context: RTNL.
 */
void qcn_port_add_cp(struct qcn_port *port, struct qcn_cp_link *cp)
{
	ASSERT_RTNL();
	list_add_tail(&cp->list, &port->cps);
	qcn_port_update(port);
}

void qcn_port_change_cp(struct qcn_port *port, struct qcn_cp_link *cp,
			u8 cnpvs, u8 cnm_priority)
{
	ASSERT_RTNL();
	cp->cnpvs = cnpvs;
	cp->cnm_priority = cnm_priority;
	qcn_port_update(port);
}

void qcn_port_del_cp(struct qcn_port *port, struct qcn_cp_link *cp)
{
	ASSERT_RTNL();
	list_del(&cp->list);
	qcn_port_update(port);
}

/**
 * qcn_port_cnm_priorities() - priorities that can't be the domain's
 * @port: port, NULL for a device without
 *
 * Context: RTNL.
 * Return: those of CNMs of congestion points that answer what the domain has, bit n for
 * priority n
 */
u8 qcn_port_cnm_priorities(const struct qcn_port *port)
{
	const struct qcn_cp_link *cp;
	u8 priorities = 0;

	if (!port)
		return 0;
	list_for_each_entry(cp, &port->cps, list)
		if (!cp->cnpvs)
			priorities |= BIT(cp->cnm_priority);
	return priorities;
}

/* settings */

static void qcn_expire_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(qcn_expire_work, qcn_expire_fn);
static unsigned long qcn_expire_next;	/* jiffies; RTNL */

/* Let the work run at the end of what a neighbour said, or before.  RTNL. */
static void qcn_expire_at(unsigned long end)
{
	if (delayed_work_pending(&qcn_expire_work) &&
	    !time_before(end, qcn_expire_next))
		return;
	cancel_delayed_work(&qcn_expire_work);
	qcn_expire_next = end;
	schedule_delayed_work(&qcn_expire_work,
			      time_after(end, jiffies) ? end - jiffies : 0);
}

static void qcn_port_expire(struct qcn_port *port)
{
	if (!port->config.has_neighbour)
		return;
	if (time_before(jiffies, port->config.neighbour_end)) {
		qcn_expire_at(port->config.neighbour_end);
		return;
	}
	port->config.has_neighbour = false;
	qcn_port_changed(port);
}

static void qcn_expire_fn(struct work_struct *work)
{
	struct qcn_port *port;
	unsigned long index;
	struct net *net;

	rtnl_lock();
	down_read(&net_rwsem);
	for_each_net(net)
		xa_for_each(&qcn_net(net)->ports, index, port)
			qcn_port_expire(port);
	up_read(&net_rwsem);
	rtnl_unlock();
}

/**
 * qcn_port_config() - settings
 * @port: port, NULL for what a device without one has
 * @config: filled in
 *
 * Context: RTNL.
 */
void qcn_port_config(const struct qcn_port *port, struct qcn_config *config)
{
	if (port) {
		*config = port->config;
		return;
	}
	*config = (struct qcn_config) {};
	memset(config->alternate, QCN_ALTERNATE_AUTO,
	       sizeof(config->alternate));
}

/**
 * qcn_port_apply() - change the settings of a device
 * @dev: device; it becomes a port, or ends to be one, as need be
 * @config: all settings, checked
 * @extack: says why not
 *
 * Context: RTNL, sleeps.
 * Return: 0, or an error and nothing has changed
 */
int qcn_port_apply(struct net_device *dev, const struct qcn_config *config,
		   struct netlink_ext_ack *extack)
{
	bool needed = config->has_neighbour ||
		      memchr_inv(config->mode, QCN_DEFENCE_DISABLED,
				 sizeof(config->mode));
	struct qcn_port *port = qcn_port_find(dev);

	if (!port && !needed)
		return 0;
	port = qcn_port_make(dev, extack);
	if (IS_ERR(port))
		return PTR_ERR(port);
	port->config = *config;
	if (config->has_neighbour)
		qcn_expire_at(config->neighbour_end);
	qcn_port_changed(port);
	return 0;
}

/* devices */

/**
 * qcn_ports_free() - ports that are left when a namespace ends
 * @qn: network namespace
 *
 * Context: RTNL.
 */
void qcn_ports_free(struct qcn_net *qn)
{
	struct qcn_port *port;
	unsigned long index;

	xa_for_each(&qn->ports, index, port)
		qcn_port_unlist(port);
}

/*
 * Link speeds are read by a worker: notifiers run with or without the device's own lock,
 * depending on event and kernel, and ethtool takes it.
 */
static void qcn_speed_fn(struct work_struct *work)
{
	struct qcn_inbox *inbox;
	struct qcn_port *port;
	unsigned long index;
	struct net *net;

	rtnl_lock();
	down_read(&net_rwsem);
	for_each_net(net) {
		xa_for_each(&qcn_net(net)->ports, index, port) {
			if (!port->speed_stale)
				continue;
			port->speed_stale = false;
			list_for_each_entry(inbox, &port->inboxes, list)
				qcn_rp_link_changed(inbox);
		}
	}
	up_read(&net_rwsem);
	rtnl_unlock();
}

static DECLARE_WORK(qcn_speed_work, qcn_speed_fn);

static void qcn_port_refresh_speed(struct qcn_port *port)
{
	if (list_empty(&port->inboxes))
		return;
	port->speed_stale = true;
	schedule_work(&qcn_speed_work);
}

static int qcn_port_relook(struct net_device *dev,
			   struct netdev_nested_priv *priv)
{
	struct qcn_port *port = qcn_port_find(dev);

	if (port) {
		WRITE_ONCE(port->parses_headers, l2_dev_parses_headers(dev));
		qcn_port_refresh_speed(port);
	}
	return 0;
}

static int qcn_netdev_event(struct notifier_block *nb, unsigned long event,
			    void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct netdev_notifier_changeupper_info *info;
	struct qcn_port *port;

	switch (event) {
	case NETDEV_POST_TYPE_CHANGE:	/* a bond gets a slave of another kind */
		if (dev->type == ARPHRD_ETHER)
			break;
		fallthrough;
	case NETDEV_UNREGISTER:	/* the device may also move to another netns */
		port = qcn_port_find(dev);
		if (port)
			qcn_port_unlist(port);
		break;
	case NETDEV_CHANGEUPPER:
		info = ptr;
		l2_lower_changed(info->upper_dev, qcn_port_relook);
		break;
	case NETDEV_UP:
	case NETDEV_CHANGE:
		port = qcn_port_find(dev);
		if (port)
			qcn_port_refresh_speed(port);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block qcn_netdev_nb = {
	.notifier_call = qcn_netdev_event,
};

int qcn_ports_init(void)
{
	return register_netdevice_notifier(&qcn_netdev_nb);
}

/* The notifier tells of all devices as if they went, so all ports go. */
void qcn_ports_exit(void)
{
	unregister_netdevice_notifier(&qcn_netdev_nb);
	cancel_delayed_work_sync(&qcn_expire_work);
	cancel_work_sync(&qcn_speed_work);
}
