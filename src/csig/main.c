// SPDX-License-Identifier: GPL-2.0
/*
 * csig.ko: order of start and end, and the state of a network namespace.
 */
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/netns/generic.h>

#include <csig/version.h>

#include "csig.h"

unsigned int csig_net_id __read_mostly;

struct csig_net *csig_net(const struct net *net)
{
	return net_generic(net, csig_net_id);
}

static int __net_init csig_net_init(struct net *net)
{
	struct csig_net *cn = csig_net(net);
	struct csig_domain *domain = csig_domain_alloc();
	int err;

	if (!domain)
		return -ENOMEM;
	csig_profile_preset(&domain->profile, CSIG_PRESET_DEFAULT);
	err = csig_gro_get(&domain->profile, NULL);
	if (err) {
		kfree(domain);
		return err;
	}
	domain->digest = csig_profile_digest(&domain->profile);
	cn->net = net;
	xa_init(&cn->ports);
	RCU_INIT_POINTER(cn->domain, domain);
	return 0;
}

/* Devices of a dying namespace are gone by now; on rmmod ports may be left. */
static void __net_exit csig_net_exit(struct net *net)
{
	struct csig_net *cn = csig_net(net);
	struct csig_domain *domain = rcu_dereference_protected(cn->domain, 1);

	rtnl_lock();
	csig_ports_free(cn);
	rtnl_unlock();
	xa_destroy(&cn->ports);
	csig_gro_put(&domain->profile);
	kfree_rcu(domain, rcu);
}

static struct pernet_operations csig_net_ops = {
	.init = csig_net_init,
	.exit = csig_net_exit,
	.id = &csig_net_id,
	.size = sizeof(struct csig_net),
};

static int __init csig_init(void)
{
	int err;

	csig_scratch_init();
	err = register_pernet_subsys(&csig_net_ops);
	if (err)
		goto err_gro;
	err = csig_ports_init();
	if (err)
		goto err_pernet;
	err = csig_sch_init();
	if (err)
		goto err_ports;
	err = csig_act_init();
	if (err)
		goto err_sch;
	err = csig_netlink_init();
	if (err)
		goto err_act;
	err = csig_gro_start();
	if (err)
		goto err_netlink;
	csig_kfunc_init();
	return 0;

err_netlink:
	csig_netlink_exit();
err_act:
	csig_act_exit();
err_sch:
	csig_sch_exit();
err_ports:
	csig_ports_exit();
err_pernet:
	unregister_pernet_subsys(&csig_net_ops);
err_gro:
	csig_gro_exit();
	return err;
}

/* Qdiscs and actions hold the module, so none is left here. */
static void __exit csig_exit(void)
{
	csig_gro_stop();
	csig_netlink_exit();
	csig_act_exit();
	csig_sch_exit();
	csig_ports_exit();
	unregister_pernet_subsys(&csig_net_ops);
	csig_gro_exit();
	rcu_barrier();
}

module_init(csig_init);
module_exit(csig_exit);

MODULE_DESCRIPTION("Congestion signalling (CSIG): ports, tags, netlink");
MODULE_AUTHOR("linux-csig maintainers");
MODULE_LICENSE("GPL");
MODULE_VERSION(CSIG_VERSION);
