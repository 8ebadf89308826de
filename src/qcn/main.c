// SPDX-License-Identifier: GPL-2.0
/*
 * sch_qcn.ko: order of start and end, and the state of a network namespace.
 */
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/netns/generic.h>
#include <net/pkt_sched.h>

#include <csig/version.h>

#include "module.h"

static unsigned int qcn_net_id __read_mostly;

struct qcn_net *qcn_net(const struct net *net)
{
	return net_generic(net, qcn_net_id);
}

static int __net_init qcn_net_init(struct net *net)
{
	struct qcn_net *qn = qcn_net(net);

	qn->net = net;
	xa_init(&qn->ports);
	return 0;
}

/* Devices of a dying namespace are gone by now, on rmmod the notifier took the ports. */
static void __net_exit qcn_net_exit(struct net *net)
{
	struct qcn_net *qn = qcn_net(net);

	rtnl_lock();
	qcn_ports_free(qn);
	rtnl_unlock();
	xa_destroy(&qn->ports);
}

static struct pernet_operations qcn_net_ops = {
	.init = qcn_net_init,
	.exit = qcn_net_exit,
	.id = &qcn_net_id,
	.size = sizeof(struct qcn_net),
};

static int qcn_init_net(void)
{
	return register_pernet_subsys(&qcn_net_ops);
}

static void qcn_exit_net(void)
{
	unregister_pernet_subsys(&qcn_net_ops);
}

/*
 * In this order, and back in the other.  Qdiscs and netlink use ports, so they come after
 * them.
 */
static const struct {
	int (*init)(void);
	void (*exit)(void);
} qcn_parts[] = {
	{ qcn_init_net, qcn_exit_net },
	{ qcn_ports_init, qcn_ports_exit },
	{ qcn_cntag_init, qcn_cntag_exit },
	{ qcn_cp_register, qcn_cp_unregister },
	{ qcn_netlink_init, qcn_netlink_exit },
	{ qcn_rp_register, qcn_rp_unregister },
};

/*
 * Qdiscs hold the module, so none is left at the end.  Frames may be in a hook, memory
 * may wait for the end of a grace period to be freed by our code: the barrier waits for
 * both, as each port is freed after its hooks.
 */
static void qcn_stop(unsigned int parts)
{
	while (parts--)
		qcn_parts[parts].exit();
	rcu_barrier();
}

static int __init qcn_init(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(qcn_parts); i++) {
		err = qcn_parts[i].init();
		if (err) {
			qcn_stop(i);
			return err;
		}
	}
	return 0;
}

static void __exit qcn_exit(void)
{
	qcn_stop(ARRAY_SIZE(qcn_parts));
}

module_init(qcn_init);
module_exit(qcn_exit);

MODULE_DESCRIPTION("Congestion notification (QCN, IEEE 802.1Qau): domain, congestion and reaction points");
MODULE_AUTHOR("linux-csig maintainers");
MODULE_LICENSE("GPL");
MODULE_VERSION(CSIG_VERSION);
MODULE_ALIAS_NET_SCH("qcn_cp");
MODULE_ALIAS_NET_SCH("qcn_rp");
