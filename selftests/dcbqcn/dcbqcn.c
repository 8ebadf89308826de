// SPDX-License-Identifier: GPL-2.0
/*
 * For tests of "csigctl qcn dcb": a network device, dcbqcn0, whose DCB operations keep
 * QCN's settings in memory.  It refuses a threshold of 200, and rounds an R_AI of 7 up
 * to 8 without a word, as drivers do.  It carries no frames.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/dcbnl.h>

#define DCBQCN_REFUSED	200
#define DCBQCN_ROUNDED	7

static struct net_device *dcbqcn_dev;
static struct ieee_qcn dcbqcn_state;	/* RTNL */

static int dcbqcn_get(struct net_device *dev, struct ieee_qcn *qcn)
{
	*qcn = dcbqcn_state;
	return 0;
}

static int dcbqcn_set(struct net_device *dev, struct ieee_qcn *qcn)
{
	unsigned int i;

	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++)
		if (qcn->rpg_threshold[i] == DCBQCN_REFUSED)
			return -ERANGE;
	dcbqcn_state = *qcn;
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++)
		if (qcn->rpg_ai_rate[i] == DCBQCN_ROUNDED)
			dcbqcn_state.rpg_ai_rate[i]++;
	return 0;
}

static int dcbqcn_stats(struct net_device *dev, struct ieee_qcn_stats *stats)
{
	unsigned int i;

	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		stats->rppp_rp_centiseconds[i] = 100 * i;
		stats->rppp_created_rps[i] = i;
	}
	return 0;
}

static const struct dcbnl_rtnl_ops dcbqcn_dcb_ops = {
	.ieee_getqcn = dcbqcn_get,
	.ieee_setqcn = dcbqcn_set,
	.ieee_getqcnstats = dcbqcn_stats,
};

static netdev_tx_t dcbqcn_xmit(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops dcbqcn_netdev_ops = {
	.ndo_start_xmit = dcbqcn_xmit,
};

static void dcbqcn_setup(struct net_device *dev)
{
	ether_setup(dev);
	eth_hw_addr_random(dev);
	dev->netdev_ops = &dcbqcn_netdev_ops;
	dev->dcbnl_ops = &dcbqcn_dcb_ops;
	dev->needs_free_netdev = true;
}

static int __init dcbqcn_init(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		dcbqcn_state.rppp_max_rps[i] = 1;
		dcbqcn_state.rpg_time_reset[i] = 15000;
		dcbqcn_state.rpg_byte_reset[i] = 150000;
		dcbqcn_state.rpg_threshold[i] = 5;
		dcbqcn_state.rpg_max_rate[i] = 10000;
		dcbqcn_state.rpg_ai_rate[i] = 5;
		dcbqcn_state.rpg_hai_rate[i] = 50;
		dcbqcn_state.rpg_gd[i] = 7;
		dcbqcn_state.rpg_min_dec_fac[i] = 50;
		dcbqcn_state.rpg_min_rate[i] = 5000000;
	}
	dcbqcn_dev = alloc_netdev(0, "dcbqcn%d", NET_NAME_ENUM, dcbqcn_setup);
	if (!dcbqcn_dev)
		return -ENOMEM;
	err = register_netdev(dcbqcn_dev);
	if (err)
		free_netdev(dcbqcn_dev);
	return err;
}

static void __exit dcbqcn_exit(void)
{
	unregister_netdev(dcbqcn_dev);
}

module_init(dcbqcn_init);
module_exit(dcbqcn_exit);

MODULE_DESCRIPTION("Network device with QCN settings, for tests");
MODULE_LICENSE("GPL");
