// SPDX-License-Identifier: GPL-2.0
/*
 * What a port does to frames that come in and leave, by the domain's modes.  The hooks
 * are netfilter's of the device: before rx handlers, bridges among them, on the way in,
 * before the qdisc on the way out.  They leave clsact to others.
 *
 * Context of all but adding and deleting: RCU read section, BH disabled.
 */
#include <linux/netfilter_netdev.h>
#include <linux/skbuff.h>
#include <net/sch_generic.h>

#include "module.h"

/*
 * Without a reaction point here a CNM may be for one of a device on top with the same
 * address: a VLAN device, a bond.  The last of them drops it.
 */
static unsigned int qcn_ingress_cnm(struct qcn_port *port, struct sk_buff *skb,
				    const struct qcn_frame *f)
{
	if (!qcn_cnm_is_for(f, skb->dev->dev_addr))
		return NF_ACCEPT;
	qcn_cnm_receive(port, skb, f);
	if (list_empty(&port->inboxes))
		return NF_ACCEPT;
	consume_skb(skb);
	return NF_STOLEN;
}

static void qcn_ingress_priority(struct qcn_port *port, struct sk_buff *skb,
				 const struct qcn_frame *f)
{
	u8 priority = qcn_skb_priority(skb, f), to;
	const struct qcn_mode_rules *rules;

	rules = qcn_mode_rules(qcn_port_mode(port, priority));
	if (!rules->cnpv)
		return;
	if (!rules->remap) {
		/* A bridge may take the VLAN tag off and the PCP with it. */
		skb->priority = priority;
		return;
	}
	to = READ_ONCE(port->remap[priority]);
	if (unlikely(qcn_skb_set_pcp(skb, f, to))) {
		qcn_stat_inc(port, QCN_A_PORT_STATS_SKIPPED_NOMEM);
		return;
	}
	skb->priority = to;
	qcn_stat_inc(port, QCN_A_PORT_STATS_REMAPPED);
}

/* A device whose rx handler takes the frame is no end host, or not yet. */
static void qcn_ingress_cntag(struct qcn_port *port, struct sk_buff *skb,
			      const struct qcn_frame *f)
{
	if (!qcn_frame_tagged(f) || skb->pkt_type == PACKET_OTHERHOST ||
	    rcu_access_pointer(skb->dev->rx_handler))
		return;
	qcn_stat_inc(port, unlikely(qcn_skb_deliver(skb, f)) ?
			   QCN_A_PORT_STATS_SKIPPED_NOMEM :
			   QCN_A_PORT_STATS_DELIVERED);
}

/*
 * Without a domain only CNMs and CN-TAGs matter, which are behind the protocol that the
 * core found; it has moved one VLAN tag into the metadata.
 */
static bool qcn_ingress_passes(const struct qcn_port *port,
			       const struct sk_buff *skb)
{
	return !READ_ONCE(port->cnpvs) &&
	       skb->protocol != htons(CSIG_ETH_CNM) &&
	       skb->protocol != htons(CSIG_ETH_CNTAG) &&
	       !csig_ethertype_is_vlan(ntohs(skb->protocol));
}

static unsigned int qcn_hook_ingress(void *priv, struct sk_buff *skb,
				     const struct nf_hook_state *state)
{
	struct qcn_port *port = priv;
	struct qcn_frame f;

	if (qcn_ingress_passes(port, skb) || !qcn_skb_parse(skb, &f) ||
	    csig_dst_is_link_local(f.dst))
		return NF_ACCEPT;
	if (f.inner == CSIG_ETH_CNM)
		return qcn_ingress_cnm(port, skb, &f);
	qcn_ingress_priority(port, skb, &f);
	qcn_ingress_cntag(port, skb, &f);
	return NF_ACCEPT;
}

static unsigned int qcn_hook_egress(void *priv, struct sk_buff *skb,
				    const struct nf_hook_state *state)
{
	struct qcn_port *port = priv;
	struct qcn_frame f;
	u8 priority;

	if (!READ_ONCE(port->cnpvs) || !qcn_skb_has_tags(skb) ||
	    !qcn_skb_parse(skb, &f) || !qcn_frame_tagged(&f))
		return NF_ACCEPT;
	priority = qcn_skb_priority(skb, &f);
	/* A congestion point needs the RPID and takes the tag off itself. */
	if (!qcn_mode_rules(qcn_port_mode(port, priority))->strip ||
	    qcn_has(READ_ONCE(port->cp_cnpvs), priority))
		return NF_ACCEPT;
	if (unlikely(qcn_skb_untag(skb, &f))) {
		qcn_stat_inc(port, QCN_A_PORT_STATS_SKIPPED_NOMEM);
		return NF_ACCEPT;
	}
	/* What a queue accounts was computed before. */
	if (skb_is_gso(skb))
		qdisc_skb_cb(skb)->pkt_len -= CSIG_CNTAG_LEN *
					      skb_shinfo(skb)->gso_segs;
	else
		qdisc_skb_cb(skb)->pkt_len = skb->len;
	qcn_stat_inc(port, QCN_A_PORT_STATS_STRIPPED);
	return NF_ACCEPT;
}

/**
 * qcn_hooks_add() - frames of the device come to the port from now on
 * @port: port
 * @extack: says why not
 *
 * The port is next to the wire: before the rules of others on the way in, after them on
 * the way out.
 *
 * Context: RTNL, sleeps.
 * Return: 0, or an error and there are no hooks
 */
int qcn_hooks_add(struct qcn_port *port, struct netlink_ext_ack *extack)
{
	int err;

	port->hooks[0] = (struct nf_hook_ops) {
		.hook = qcn_hook_ingress,
		.hooknum = NF_NETDEV_INGRESS,
		.priority = INT_MIN,
	};
	port->hooks[1] = (struct nf_hook_ops) {
		.hook = qcn_hook_egress,
		.hooknum = NF_NETDEV_EGRESS,
		.priority = INT_MAX,
	};
	for (unsigned int i = 0; i < ARRAY_SIZE(port->hooks); i++) {
		port->hooks[i].pf = NFPROTO_NETDEV;
		port->hooks[i].dev = port->dev;
		port->hooks[i].priv = port;
	}
	err = nf_register_net_hooks(port->qn->net, port->hooks,
				    ARRAY_SIZE(port->hooks));
	if (err == -EOPNOTSUPP)
		NL_SET_ERR_MSG_MOD(extack,
				   "the kernel has no hooks for devices, it needs CONFIG_NETFILTER_INGRESS and CONFIG_NETFILTER_EGRESS");
	return err;
}

/* Frames that are in a hook already still see the port, until a grace period later. */
void qcn_hooks_del(struct qcn_port *port)
{
	nf_unregister_net_hooks(port->qn->net, port->hooks,
				ARRAY_SIZE(port->hooks));
}
