// SPDX-License-Identifier: GPL-2.0
/*
 * Ports: their life, their settings and their capacity.  Measuring is estimator.c,
 * what happens to packets egress.c.
 */
#include <linux/ethtool.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/rtnetlink.h>

#include "../l2.h"
#include "csig.h"

void csig_port_config_init(struct csig_port_config *config)
{
	*config = (struct csig_port_config) {
		.estimator = CSIG_ESTIMATOR_RAW,
		.interval_ns = CSIG_INTERVAL_DEF_NS,
		.alpha_ppm = CSIG_ALPHA_DEF_PPM,
		.overhead_bytes = CSIG_OVERHEAD_DEF_BYTES,
		.ingress = CSIG_INGRESS_STRIP,
		.egress = CSIG_EGRESS_KEEP,
		.unknown = CSIG_UNKNOWN_PASS,
		.update = 1,
	};
}

/**
 * csig_port_find() - the port of a device
 * @dev: device
 *
 * Context: RCU (also BH) or RTNL.
 * Return: port, or NULL
 */
struct csig_port *csig_port_find(const struct net_device *dev)
{
	return xa_load(&csig_net(dev_net(dev))->ports, dev->ifindex);
}

/* Sum of a counter over all CPUs */
u64 csig_port_stat(const struct csig_port *port, unsigned int attr)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct csig_stats *s = per_cpu_ptr(port->stats, cpu);
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

static void csig_port_event(struct work_struct *work)
{
	csig_notify_bottleneck(container_of(work, struct csig_port,
					    event_work));
}

/* What is in force, after a change of the settings or of the link.  est_lock. */
static void csig_port_set_capacity(struct csig_port *port)
{
	u64 bps = port->config.capacity_bps;

	port->capacity_source = CSIG_CAPACITY_SOURCE_USER;
	if (!bps) {
		bps = port->speed_bps;
		port->capacity_source = bps ? CSIG_CAPACITY_SOURCE_ETHTOOL :
					      CSIG_CAPACITY_SOURCE_UNKNOWN;
	}
	WRITE_ONCE(port->capacity_bps, bps);
	WRITE_ONCE(port->ns_per_byte_q32,
		   bps > 1 ? div64_u64((8 * CSIG_NSEC_PER_SEC) << 31, bps) << 1 :
			     0);
}

/* Free a port that is out of csig_net.ports.  RTNL. */
static void csig_port_free_rcu(struct rcu_head *head)
{
	struct csig_port *port = container_of(head, struct csig_port, rcu);

	kfree(rcu_dereference_protected(port->rules, 1));
	free_percpu(port->stats);
	kfree(port);
}

static void csig_port_free(struct csig_port *port)
{
	struct csig_net *cn = port->cn;
	struct csig_queue *q, *next;

	ASSERT_RTNL();
	/* A qdisc may outlive its device while a filter request looks at it. */
	spin_lock_bh(&port->est_lock);
	list_for_each_entry_safe(q, next, &port->queues, list) {
		list_del(&q->list);
		q->port = NULL;
	}
	WRITE_ONCE(port->nqueues, 0);
	spin_unlock_bh(&port->est_lock);
	xa_erase(&cn->ports, port->dev->ifindex);
	cn->nports--;
	WRITE_ONCE(cn->seq, cn->seq + 1);
	csig_notify_port_gone(port);
	/*
	 * Packets that still see the port may queue the event once more; it is
	 * told not to, and what is queued by then is waited for.
	 */
	disable_work_sync(&port->event_work);
	call_rcu(&port->rcu, csig_port_free_rcu);
}

static struct csig_port *
csig_port_alloc(struct net_device *dev, const struct csig_port_config *config,
		struct netlink_ext_ack *extack)
{
	struct csig_net *cn = csig_net(dev_net(dev));
	struct csig_rules *rules;
	struct csig_port *port;
	int err = -ENOMEM, cpu;

	port = kzalloc(sizeof(*port), GFP_KERNEL_ACCOUNT);
	if (!port)
		return ERR_PTR(-ENOMEM);
	port->stats = alloc_percpu_gfp(struct csig_stats, GFP_KERNEL_ACCOUNT);
	if (!port->stats)
		goto err_port;
	for_each_possible_cpu(cpu)
		u64_stats_init(&per_cpu_ptr(port->stats, cpu)->syncp);
	rules = csig_rules_build(rtnl_dereference(cn->domain), config,
				 dev->name, extack);
	if (IS_ERR(rules)) {
		err = PTR_ERR(rules);
		goto err_stats;
	}
	port->dev = dev;
	port->cn = cn;
	port->is_ifb = dev->rtnl_link_ops &&
		       !strcmp(dev->rtnl_link_ops->kind, "ifb");
	port->parses_headers = l2_dev_parses_headers(dev);
	spin_lock_init(&port->est_lock);
	INIT_LIST_HEAD(&port->queues);
	INIT_WORK(&port->event_work, csig_port_event);
	port->event_next = jiffies;
	RCU_INIT_POINTER(port->rules, rules);
	return port;

err_stats:
	free_percpu(port->stats);
err_port:
	kfree(port);
	return ERR_PTR(err);
}

/* Put checked settings and rules that fit them in force.  RTNL. */
static void csig_port_commit(struct csig_port *port,
			     const struct csig_port_config *config,
			     struct csig_rules *new)
{
	struct csig_rules *old = rtnl_dereference(port->rules);
	bool restart;

	spin_lock_bh(&port->est_lock);
	restart = config->estimator != port->config.estimator ||
		  config->interval_ns != port->config.interval_ns ||
		  config->alpha_ppm != port->config.alpha_ppm;
	port->config = *config;
	WRITE_ONCE(port->overhead_bytes, config->overhead_bytes);
	WRITE_ONCE(port->ingress, config->ingress);
	WRITE_ONCE(port->egress, config->egress);
	WRITE_ONCE(port->unknown, config->unknown);
	WRITE_ONCE(port->update, config->update);
	csig_port_set_capacity(port);
	if (restart)
		csig_estimator_reset(port);
	csig_estimator_publish(port, new);
	rcu_assign_pointer(port->rules, new);
	spin_unlock_bh(&port->est_lock);
	if (old != new)
		kfree_rcu(old, rcu);
}

/**
 * csig_port_apply() - change the settings of a port
 * @port: port
 * @config: all settings, checked by csig_config_parse()
 * @extack: says what does not fit
 *
 * Context: RTNL.
 * Return: 0, or an error and nothing has changed
 */
int csig_port_apply(struct csig_port *port,
		    const struct csig_port_config *config,
		    struct netlink_ext_ack *extack)
{
	struct csig_net *cn = port->cn;
	struct csig_rules *rules;

	ASSERT_RTNL();
	rules = csig_rules_build(rtnl_dereference(cn->domain), config,
				 port->dev->name, extack);
	if (IS_ERR(rules))
		return PTR_ERR(rules);
	csig_port_commit(port, config, rules);
	csig_notify_port(port);
	return 0;
}

/**
 * csig_port_swap_rules() - rules of a new profile
 * @port: port
 * @new: rules; owned by the callee
 *
 * Context: RTNL.
 */
void csig_port_swap_rules(struct csig_port *port, struct csig_rules *new)
{
	csig_port_commit(port, &port->config, new);
}

/* Link speeds are read by a worker: netlink handlers and notifiers run with or
 * without the device's own lock, depending on device and kernel, and ethtool takes it.
 */
static void csig_speed_work_fn(struct work_struct *work);
static DECLARE_WORK(csig_speed_work, csig_speed_work_fn);

static u64 csig_dev_speed_bps(struct net_device *dev)
{
	struct ethtool_link_ksettings ks;

	if (!netif_device_present(dev) ||
	    __ethtool_get_link_ksettings(dev, &ks))
		return 0;
	/* -1, 0, 65535 and INT_MAX are what drivers say when they don't know. */
	if (ks.base.speed == (u32)SPEED_UNKNOWN || !ks.base.speed ||
	    ks.base.speed == U16_MAX || ks.base.speed >= INT_MAX)
		return 0;
	return ks.base.speed * 1000000ULL;
}

static void csig_speed_work_fn(struct work_struct *work)
{
	unsigned long index;
	struct net *net;

	rtnl_lock();
	down_read(&net_rwsem);
	for_each_net(net) {
		struct csig_net *cn = csig_net(net);
		struct csig_port *port;

		xa_for_each(&cn->ports, index, port) {
			u64 bps;

			if (!port->speed_stale)
				continue;
			port->speed_stale = false;
			bps = csig_dev_speed_bps(port->dev);
			if (bps == port->speed_bps)
				continue;
			port->speed_bps = bps;
			csig_port_commit(port, &port->config,
					 rtnl_dereference(port->rules));
			csig_notify_port(port);
		}
	}
	up_read(&net_rwsem);
	rtnl_unlock();
}

static void csig_port_refresh_speed(struct csig_port *port)
{
	port->speed_stale = true;
	schedule_work(&csig_speed_work);
}

/**
 * csig_ports_flush_speed() - wait until the speeds of new ports are known
 *
 * Context: process, without RTNL.
 */
void csig_ports_flush_speed(void)
{
	flush_work(&csig_speed_work);
}

/**
 * csig_port_get() - the port of a device, made when there is none
 * @dev: device
 * @config: settings
 * @extack: says why not
 *
 * The caller makes it last: it attaches a queue or sets @persistent, and calls
 * csig_port_put() when it takes that back.
 *
 * Context: RTNL.
 * Return: port with these settings, or ERR_PTR() and nothing has changed
 */
struct csig_port *csig_port_get(struct net_device *dev,
				const struct csig_port_config *config,
				struct netlink_ext_ack *extack)
{
	struct csig_net *cn = csig_net(dev_net(dev));
	struct csig_port *port;
	int err;

	ASSERT_RTNL();
	if (dev->type != ARPHRD_ETHER) {
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "%s is no Ethernet device, there is no place for a tag",
				       dev->name);
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (rtnl_dereference(cn->domain)->profile.tpid[CSIG_FORMAT_COMPACT] ==
	    CSIG_ETH_8021AD) {
		NL_SET_ERR_MSG_MOD(extack,
				   "the compact TPID is 0x88a8: VLAN hardware handles such tags, this module does not see them");
		return ERR_PTR(-EOPNOTSUPP);
	}
	port = csig_port_find(dev);
	if (port) {
		err = csig_port_apply(port, config, extack);
		return err ? ERR_PTR(err) : port;
	}
	port = csig_port_alloc(dev, config, extack);
	if (IS_ERR(port))
		return port;
	csig_port_commit(port, config, rtnl_dereference(port->rules));
	err = xa_insert(&cn->ports, dev->ifindex, port, GFP_KERNEL);
	if (err) {
		csig_port_free_rcu(&port->rcu);
		return ERR_PTR(err);
	}
	cn->nports++;
	WRITE_ONCE(cn->seq, cn->seq + 1);
	csig_port_refresh_speed(port);
	csig_notify_port(port);
	return port;
}

/**
 * csig_port_put() - a queue or netlink let a port go
 * @port: port; freed when nothing else makes it last
 *
 * Context: RTNL.
 */
void csig_port_put(struct csig_port *port)
{
	if (!port->nqueues && !port->persistent)
		csig_port_free(port);
}

void csig_port_attach(struct csig_port *port, struct csig_queue *queue)
{
	queue->port = port;
	u64_stats_init(&queue->syncp);
	spin_lock_bh(&port->est_lock);
	list_add_tail(&queue->list, &port->queues);
	WRITE_ONCE(port->nqueues, port->nqueues + 1);
	spin_unlock_bh(&port->est_lock);
}

/* The queue is out of use; its bits stay counted. */
void csig_port_detach(struct csig_queue *queue)
{
	struct csig_port *port = queue->port;

	spin_lock_bh(&port->est_lock);
	list_del(&queue->list);
	port->retired_bits += csig_queue_bits(queue);
	WRITE_ONCE(port->nqueues, port->nqueues - 1);
	spin_unlock_bh(&port->est_lock);
	csig_port_put(port);
}

/**
 * csig_ports_free() - free the ports that rmmod finds
 * @cn: network namespace
 *
 * Context: RTNL.
 */
void csig_ports_free(struct csig_net *cn)
{
	struct csig_port *port;
	unsigned long index;

	xa_for_each(&cn->ports, index, port)
		csig_port_free(port);
}

/* What a device stands on has changed.  RTNL. */
static int csig_port_relook(struct net_device *dev,
			    struct netdev_nested_priv *priv)
{
	struct csig_port *port = csig_port_find(dev);

	if (port)
		WRITE_ONCE(port->parses_headers, l2_dev_parses_headers(dev));
	return 0;
}

static int csig_netdev_event(struct notifier_block *nb, unsigned long event,
			     void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct netdev_notifier_changeupper_info *info;
	struct csig_port *port;

	switch (event) {
	case NETDEV_UNREGISTER:	/* the device may also move to another netns */
		port = csig_port_find(dev);
		if (port)
			csig_port_free(port);
		break;
	case NETDEV_CHANGEUPPER:
		info = ptr;
		l2_lower_changed(info->upper_dev, csig_port_relook);
		break;
	case NETDEV_UP:
	case NETDEV_CHANGE:
		port = csig_port_find(dev);
		if (port)
			csig_port_refresh_speed(port);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block csig_netdev_nb = {
	.notifier_call = csig_netdev_event,
};

int csig_ports_init(void)
{
	return register_netdevice_notifier(&csig_netdev_nb);
}

void csig_ports_exit(void)
{
	unregister_netdevice_notifier(&csig_netdev_nb);
	cancel_work_sync(&csig_speed_work);
}
