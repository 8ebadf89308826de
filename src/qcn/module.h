/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of sch_qcn.ko know of each other.  Arithmetic and frames are in
 * include/csig/qcn*.h, the netlink interface in netlink_gen.h, the qdiscs' options in
 * linux/tc_qcn.h.
 *
 * DOC: locking
 *
 * Control path: ports come, change and go under RTNL.
 *
 * Data path: runs with BH disabled in an RCU read section.  It reads a port's modes with
 * READ_ONCE(); they are octets that belong together only by priority, and a mode is
 * written after what it needs.
 * A congestion point and a reaction point are owned by the lock of their root qdisc.  A
 * CNM that arrives takes no qdisc's lock: it goes into the inboxes of the reaction
 * points of its port, which look there before they decide anything.
 *
 * Lifetime: a port belongs to its net_device and holds no reference to it.  It leaves
 * qcn_net.ports when the device unregisters, at the latest; its memory lives as long as
 * a qdisc uses it, and then for a grace period.
 */
#ifndef QCN_MODULE_H
#define QCN_MODULE_H

#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/u64_stats_sync.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include <csig/qcn_cnd.h>
#include <csig/qcn_frame.h>
#include <linux/qcn.h>

struct netlink_ext_ack;

/* CNMs of a burst that wait for the next frame of a reaction point */
#define QCN_INBOX_LEN	64

/**
 * struct qcn_net - state of a network namespace
 * @net: back pointer
 * @ports: by ifindex; written under RTNL, read by RCU
 * @seq: changes with every port that comes or goes, for dumps
 */
struct qcn_net {
	struct net *net;
	struct xarray ports;
	unsigned int seq;
};

struct qcn_stats {
	u64_stats_t count[QCN_A_PORT_STATS_MAX + 1];
	struct u64_stats_sync syncp;
};

/**
 * struct qcn_notice - what a reaction point has to know of a CNM
 * @time_ns: when it came, ktime_get_ns()
 * @rpid: of its CN-TAG, 0 without one
 * @priority: of the sampled frame
 * @qntzfb: feedback, 1..QCN_FB_MAX
 */
struct qcn_notice {
	u64 time_ns;
	u16 rpid;
	u8 priority;
	u8 qntzfb;
};

/**
 * struct qcn_inbox - CNMs on their way to a reaction point
 * @list: in qcn_port.inboxes; RTNL and RCU
 * @lock: for what follows
 * @count: entries of @notice; read without the lock to see that there is none
 * @overrun: CNMs that found it full
 * @notice: the oldest first
 */
struct qcn_inbox {
	struct list_head list;
	spinlock_t lock;	/* guards what follows; BH */
	unsigned int count;
	u64 overrun;
	struct qcn_notice notice[QCN_INBOX_LEN];
};

/**
 * struct qcn_cp_link - a congestion point at its port; RTNL
 * @list: in qcn_port.cps
 * @cnpvs: priorities that it was told to answer, 0: those of the port
 * @cnm_priority: of its CNMs
 * @has_all: no frame of the device goes by another way
 */
struct qcn_cp_link {
	struct list_head list;
	u8 cnpvs;
	u8 cnm_priority;
	bool has_all;
};

/**
 * struct qcn_config - what the user and the neighbour set of a port
 * @mode: QCN_DEFENCE_*, by priority
 * @alternate: 0..7 or QCN_ALTERNATE_AUTO, by priority
 * @has_neighbour: @neighbour is known
 * @neighbour: what its LLDP said last
 * @neighbour_end: jiffies when it is forgotten
 */
struct qcn_config {
	u8 mode[QCN_PRIORITIES];
	u8 alternate[QCN_PRIORITIES];
	bool has_neighbour;
	struct qcn_tlv neighbour;
	unsigned long neighbour_end;
};

/**
 * struct qcn_port - a device with a priority of the domain, a CP or an RP
 * @config: settings; RTNL
 * @oper: what is in force, by priority
 * @remap: alternate priority in force, by priority
 * @cnpvs: priorities whose mode is not disabled
 * @cp_cnpvs: priorities whose frames pass a congestion point, which takes off their
 *	CN-TAG as they leave
 * @stats: by QCN_A_PORT_STATS_*
 * @inboxes: reaction points; RCU
 * @cps: congestion points; RTNL
 * @users: qdiscs that have a pointer; RTNL
 * @listed: it is in qcn_net.ports; RTNL
 * @speed_stale: the link may have another speed than its reaction points know; RTNL
 * @parses_headers: the hardware needs what has a CN-TAG summed, since it looks for headers
 *	where they are in frames without one
 * @dev: the device, valid while @listed
 * @qn: its network namespace, likewise
 * @hooks: where frames come in and leave
 * @rcu: for freeing
 */
struct qcn_port {
	struct qcn_config config;
	u8 oper[QCN_PRIORITIES];
	u8 remap[QCN_PRIORITIES];
	u8 cnpvs;
	u8 cp_cnpvs;
	struct qcn_stats __percpu *stats;
	struct list_head inboxes;
	struct list_head cps;
	unsigned int users;
	bool listed;
	bool speed_stale;
	bool parses_headers;
	struct net_device *dev;
	struct qcn_net *qn;
	struct nf_hook_ops hooks[2];
	struct rcu_head rcu;
};

static inline void qcn_stat_inc(struct qcn_port *port, unsigned int attr)
{
	struct qcn_stats *stats = this_cpu_ptr(port->stats);

	u64_stats_update_begin(&stats->syncp);
	u64_stats_inc(&stats->count[attr]);
	u64_stats_update_end(&stats->syncp);
}

/* main.c */
struct qcn_net *qcn_net(const struct net *net);

/* port.c; ports for qdiscs: RTNL, sleeps */
struct qcn_port *qcn_port_get(struct net_device *dev,
			      struct netlink_ext_ack *extack);
void qcn_port_put(struct qcn_port *port);
void qcn_port_add_rp(struct qcn_port *port, struct qcn_inbox *inbox);
void qcn_port_del_rp(struct qcn_port *port, struct qcn_inbox *inbox);
void qcn_port_add_cp(struct qcn_port *port, struct qcn_cp_link *cp);
void qcn_port_change_cp(struct qcn_port *port, struct qcn_cp_link *cp,
			u8 cnpvs, u8 cnm_priority);
void qcn_port_del_cp(struct qcn_port *port, struct qcn_cp_link *cp);
/* RCU (also BH) or RTNL */
struct qcn_port *qcn_port_find(const struct net_device *dev);
u8 qcn_port_mode(const struct qcn_port *port, unsigned int priority);
u64 qcn_port_stat(const struct qcn_port *port, unsigned int attr);
/* RTNL */
int qcn_port_apply(struct net_device *dev, const struct qcn_config *config,
		   struct netlink_ext_ack *extack);
u8 qcn_port_cnm_priorities(const struct qcn_port *port);
void qcn_port_config(const struct qcn_port *port, struct qcn_config *config);
int qcn_ports_init(void);
void qcn_ports_exit(void);
void qcn_ports_free(struct qcn_net *qn);

/**
 * qcn_port_cnpvs() - priorities with congestion notification
 * @port: port
 * @set: what a qdisc was told, 0 nothing
 * @cnm_priority: priority of CNMs, never one of them
 *
 * Return: @set; else those of the port's domain; else, without one, all others
 */
static inline u8 qcn_port_cnpvs(const struct qcn_port *port, u8 set,
				u8 cnm_priority)
{
	u8 cnpvs = set ?: READ_ONCE(port->cnpvs) ?: 0xff;

	return cnpvs & ~BIT(cnm_priority);
}

/**
 * qcn_skb_pass_hooks() - let a packet by the hooks of the device that receives it
 * @skb: packet for netif_receive_skb()
 *
 * For data that comes again to a port, without its CN-TAG.  The flag is ifb's.  The core
 * clears it where captures, clsact and the hooks of ingress would be, and does none of
 * them, so it can't outlive its purpose, whatever becomes of hooks and module meanwhile.
 */
static inline void qcn_skb_pass_hooks(struct sk_buff *skb)
{
	skb->tc_skip_classify = 1;
}

/*
 * Has the frame a CN-TAG that may be taken off?  Those of CNMs are their own.  What comes
 * after it must not become a tag by that: a VLAN tag would lead into a VLAN that the
 * sender may be no part of.
 */
static inline bool qcn_frame_tagged(const struct qcn_frame *f)
{
	return f->cntag && f->msdu == f->cntag + CSIG_CNTAG_LEN &&
	       f->inner != CSIG_ETH_CNTAG && f->inner != CSIG_ETH_CNM &&
	       !csig_dst_is_link_local(f->dst);
}

/* cntag.c: frames and their CN-TAG; data at the MAC header */
u8 qcn_skb_priority(const struct sk_buff *skb, const struct qcn_frame *f);
bool qcn_skb_has_tags(const struct sk_buff *skb);
bool qcn_skb_parse(const struct sk_buff *skb, struct qcn_frame *f);
int qcn_skb_tag(struct sk_buff *skb, const struct qcn_frame *f, u16 rpid);
int qcn_skb_untag(struct sk_buff *skb, const struct qcn_frame *f);
/* data after the MAC header */
int qcn_skb_deliver(struct sk_buff *skb, const struct qcn_frame *f);
int qcn_skb_set_pcp(struct sk_buff *skb, const struct qcn_frame *f, u8 pcp);
int qcn_cntag_init(void);
void qcn_cntag_exit(void);

/* segment.c: one frame into a queue, or each frame of a super-packet */
typedef int (*qcn_enqueue_t)(struct sk_buff *skb, struct Qdisc *sch,
			     struct sk_buff **to_free);
int qcn_enqueue_segments(struct sk_buff *skb, struct Qdisc *sch,
			 netdev_features_t without, struct sk_buff **to_free,
			 qcn_enqueue_t enqueue);

/* hooks.c: what a port does to frames that come in and leave */
int qcn_hooks_add(struct qcn_port *port, struct netlink_ext_ack *extack);
void qcn_hooks_del(struct qcn_port *port);

/* cnm.c: CNMs built at a congestion point, taken at a reaction point */
bool qcn_cnm_send(struct net_device *dev, const struct qcn_cnm_params *p,
		  const struct sk_buff *skb, const struct qcn_frame *f,
		  u8 priority, const struct qcn_sample *s);
void qcn_cnm_receive(struct qcn_port *port, const struct sk_buff *skb,
		     const struct qcn_frame *f);

/* cp.c, rp.c */
int qcn_cp_register(void);
void qcn_cp_unregister(void);
int qcn_rp_register(void);
void qcn_rp_link_changed(struct qcn_inbox *inbox);
void qcn_rp_unregister(void);

/* netlink.c */
int qcn_netlink_init(void);
void qcn_netlink_exit(void);
void qcn_notify_port(struct qcn_port *port);
void qcn_notify_port_gone(struct qcn_port *port);

#endif /* QCN_MODULE_H */
