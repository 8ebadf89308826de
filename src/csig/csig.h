/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of csig.ko know of each other.  Wire format and arithmetic are in
 * include/csig/, the netlink interface in netlink_gen.h.
 *
 * DOC: locking
 *
 * Control path: everything that changes a profile, a port or its rules holds RTNL.
 *
 * Data path: runs with BH disabled in an RCU read section.  It reads the rules of a
 * port by RCU and the port's scalars with READ_ONCE().  The estimator of a port is
 * owned by whoever holds est_lock; packets only try it, so that no queue waits for
 * another one.
 * What an ingress hook knows of a packet is in a table for all CPUs with a lock for
 * each set (scratch.c): a packet may leave on another CPU than it came in on.
 *
 * Lifetime: a port belongs to its net_device and holds no reference to it.  It is
 * taken out of csig_net.ports when the device unregisters, at the latest, and freed
 * after a grace period; queues are destroyed before that by dev_shutdown().
 */
#ifndef CSIG_MODULE_H
#define CSIG_MODULE_H

#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/u64_stats_sync.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include <csig/estimate.h>
#include <csig/profile.h>
#include <csig/walk.h>

struct __sk_buff;
struct csig_bpf_tag;
struct netlink_ext_ack;
struct nlattr;

/**
 * struct csig_domain - the published profile of a network namespace
 * @rcu: for freeing
 * @digest: of @profile
 * @profile: never changed after publication
 */
struct csig_domain {
	struct rcu_head rcu;
	u64 digest;
	struct csig_profile profile;
};

/**
 * struct csig_net - state of a network namespace
 * @net: back pointer
 * @domain: profile; written under RTNL
 * @ports: by ifindex; written under RTNL, read by RCU
 * @nports: entries of @ports; RTNL
 * @seq: changes with every port that comes or goes, for dumps
 */
struct csig_net {
	struct net *net;
	struct csig_domain __rcu *domain;
	struct xarray ports;
	unsigned int nports;
	unsigned int seq;
};

struct csig_lm_value {
	char name[CSIG_LM_NAME_LEN];
	u16 value;
};

/**
 * struct csig_port_config - what the user set, CSIG_A_PORT_CONFIG_*
 * @capacity_bps: 0 follows the link speed
 * @interval_ns: window or time constant of the estimator
 * @alpha_ppm: dre
 * @overhead_bytes: beside each frame on the wire
 * @estimator: enum csig_estimator
 * @ingress: enum csig_ingress
 * @egress: enum csig_egress
 * @unknown: enum csig_unknown
 * @update: compare and replace
 * @nlm: values in @lm
 * @lm: values of locator fields, by name
 */
struct csig_port_config {
	u64 capacity_bps;
	u64 interval_ns;
	u32 alpha_ppm;
	u32 overhead_bytes;
	u8 estimator;
	u8 ingress;
	u8 egress;
	u8 unknown;
	u8 update;
	u8 nlm;
	struct csig_lm_value lm[CSIG_LM_FIELDS_MAX];
};

/**
 * struct csig_rule - what a port does to tags of one format and signal
 * @s: code of the port; the roll writes it for abw and abwc
 * @lm: locator metadata, without the bits of @ttl_mask and @keep_mask
 * @ttl_mask: bits that take the packet's TTL
 * @keep_mask: bits that stay as they came
 * @ttl_shift: place of the TTL
 * @source: enum csig_source
 * @aggregate: enum csig_aggregate
 * @defined: the domain has the signal
 */
struct csig_rule {
	u32 s;
	u16 lm;
	u16 ttl_mask;
	u16 keep_mask;
	u8 ttl_shift;
	u8 source;
	u8 aggregate;
	u8 defined;
};

/**
 * struct csig_rules - profile and port put together for the data path
 * @rcu: for freeing
 * @domain: profile that the rules were made from; lives as long as they do, since
 *	a domain is only freed a grace period after the last rules made from it
 * @rule: by format and T
 */
struct csig_rules {
	struct rcu_head rcu;
	const struct csig_domain *domain;
	struct csig_rule rule[CSIG_FORMATS][CSIG_SIGNALS];
};

/* Indexed by CSIG_A_PORT_STATS_*; bits come from the queues */
struct csig_stats {
	u64_stats_t count[CSIG_A_PORT_STATS_MAX + 1];
	struct u64_stats_sync syncp;
};

/**
 * struct csig_queue - one csig qdisc of a port
 * @port: the port; NULL when the device went first
 * @sch: the qdisc, for its backlog
 * @list: in csig_port.queues, under est_lock
 * @bits: on the wire, written under the qdisc's lock
 * @syncp: of @bits
 */
struct csig_queue {
	struct csig_port *port;
	struct Qdisc *sch;
	struct list_head list;
	u64_stats_t bits;
	struct u64_stats_sync syncp;
};

/**
 * struct csig_port - a device that measures and takes part
 * @rules: RCU; replaced under RTNL and @est_lock
 * @stats: per CPU
 * @due_ns: when the estimator's window ends
 * @capacity_bps: in force, 0 unknown
 * @ns_per_byte_q32: time of a queued octet at the capacity, 0 unknown
 * @overhead_bytes: see struct csig_port_config, as the four after it
 * @ingress: enum csig_ingress
 * @egress: enum csig_egress
 * @unknown: enum csig_unknown
 * @update: compare and replace
 * @is_ifb: what came to it from ingress goes back there
 * @parses_headers: the hardware needs what is tagged segmented and summed, since it
 *	looks for IP where the tag is
 * @pd_last_ns: delay of the last packet
 * @pd_max_ns: largest delay
 * @dev: the device
 * @cn: its network namespace
 * @est_lock: guards what follows up to @retired_bits
 * @est: estimator
 * @queues: list of struct csig_queue
 * @nqueues: entries of @queues; read without the lock by csig_port_update()
 * @counted_bits: total at the last roll
 * @retired_bits: of queues that are gone
 * @pre_queue: "csig update" counts on this port, see csig_port_total_bits()
 * @config: what the user set; RTNL
 * @persistent: netlink added the port; RTNL
 * @capacity_source: enum csig_capacity_source; RTNL
 * @speed_stale: the link speed is to be read again; RTNL
 * @speed_bps: link speed, 0 unknown; RTNL
 * @event_next: no bottleneck event before, jiffies
 * @event_tag: tag of the next event, as it was written
 * @event_work: sends it
 * @rcu: for freeing
 */
struct csig_port {
	/* read for every packet */
	struct csig_rules __rcu *rules;
	struct csig_stats __percpu *stats;
	u64 due_ns;
	u64 capacity_bps;
	u64 ns_per_byte_q32;
	u32 overhead_bytes;
	u8 ingress;
	u8 egress;
	u8 unknown;
	u8 update;
	bool is_ifb;
	bool parses_headers;
	/* written for every packet, by any queue; statistics only */
	u64 pd_last_ns ____cacheline_aligned_in_smp;
	u64 pd_max_ns;
	/* cold */
	struct net_device *dev ____cacheline_aligned_in_smp;
	struct csig_net *cn;
	spinlock_t est_lock;
	struct csig_est est;
	struct list_head queues;
	unsigned int nqueues;
	u64 counted_bits;
	u64 retired_bits;
	bool pre_queue;
	struct csig_port_config config;
	bool persistent;
	u8 capacity_source;
	bool speed_stale;
	u64 speed_bps;
	unsigned long event_next;
	struct csig_tag event_tag;
	struct work_struct event_work;
	struct rcu_head rcu;
};

static inline u64 csig_queue_bits(const struct csig_queue *queue)
{
	unsigned int start;
	u64 bits;

	do {
		start = u64_stats_fetch_begin(&queue->syncp);
		bits = u64_stats_read(&queue->bits);
	} while (u64_stats_fetch_retry(&queue->syncp, start));
	return bits;
}

/* What the estimator says now; values are 0 when the capacity is unknown */
struct csig_load {
	u64 capacity_bps;
	u64 util_bps;
	u64 abw_bps;
	u64 nqd_ns;
	u64 bits;
	u32 abwc_ppm;
};

static inline void csig_stat_inc(struct csig_port *port, unsigned int attr)
{
	struct csig_stats *stats = this_cpu_ptr(port->stats);

	u64_stats_update_begin(&stats->syncp);
	u64_stats_inc(&stats->count[attr]);
	u64_stats_update_end(&stats->syncp);
}

/* main.c */
extern unsigned int csig_net_id;
struct csig_net *csig_net(const struct net *net);

/* domain.c */
struct csig_domain *csig_domain_alloc(void);
int csig_domain_publish(struct csig_net *cn, struct csig_domain *new,
			struct netlink_ext_ack *extack);

/* rules.c */
struct csig_rules *csig_rules_build(const struct csig_domain *domain,
				    const struct csig_port_config *config,
				    const char *ifname,
				    struct netlink_ext_ack *extack);
u16 csig_rule_lm(const struct csig_rule *rule, const struct sk_buff *skb,
		 const struct csig_walk *w, u16 old);

/* port.c */
void csig_port_config_init(struct csig_port_config *config);
struct csig_port *csig_port_get(struct net_device *dev,
				const struct csig_port_config *config,
				struct netlink_ext_ack *extack);
void csig_port_put(struct csig_port *port);
int csig_port_apply(struct csig_port *port,
		    const struct csig_port_config *config,
		    struct netlink_ext_ack *extack);
struct csig_port *csig_port_find(const struct net_device *dev);
void csig_port_swap_rules(struct csig_port *port, struct csig_rules *new);
void csig_port_attach(struct csig_port *port, struct csig_queue *queue);
void csig_port_detach(struct csig_queue *queue);
void csig_ports_free(struct csig_net *cn);
void csig_ports_flush_speed(void);
int csig_ports_init(void);
void csig_ports_exit(void);
u64 csig_port_stat(const struct csig_port *port, unsigned int attr);

/* estimator.c */
void csig_estimator_reset(struct csig_port *port);
void csig_estimator_publish(struct csig_port *port, struct csig_rules *rules);
void csig_estimator_roll(struct csig_port *port, u64 now_ns);
void csig_estimator_read(struct csig_port *port, struct csig_load *load);
u64 csig_skb_wire_bits(const struct sk_buff *skb, u32 overhead);

/* A packet at now_ns: close the window if it ended.  BH. */
static inline void csig_port_tick(struct csig_port *port, u64 now_ns)
{
	if (unlikely((s64)(now_ns - READ_ONCE(port->due_ns)) >= 0))
		csig_estimator_roll(port, now_ns);
}

/* scratch.c */
u32 csig_scratch_print(const struct sk_buff *skb, const struct csig_walk *w);
void csig_scratch_enter(const struct sk_buff *skb, bool keep);
void csig_scratch_note(const struct sk_buff *skb, u32 print,
		       const struct csig_tag *tag);
bool csig_scratch_take(const struct sk_buff *skb, u64 *time_in_ns,
		       struct csig_tag *tag, bool *has_tag);
bool csig_scratch_peek(const struct sk_buff *skb, struct csig_tag *tag);
void csig_request_put(const struct sk_buff *skb, const struct csig_tag *tag);
bool csig_request_take(const struct sk_buff *skb, struct csig_tag *tag);
void csig_scratch_init(void);

/* skb.c */
int csig_skb_walk(const struct sk_buff *skb, const u16 *tpid,
		  struct csig_walk *w);
void csig_skb_tag(const struct sk_buff *skb, const struct csig_walk *w,
		  struct csig_tag *tag);
bool csig_skb_fits(const struct sk_buff *skb, unsigned int len);
int csig_skb_remove(struct sk_buff *skb, const struct csig_walk *w, bool pad);
int csig_skb_replace(struct sk_buff *skb, const struct csig_walk *w,
		     const struct csig_tag *tag);
int csig_skb_insert(struct sk_buff *skb, const struct csig_walk *w,
		    const u16 *tpid, const struct csig_tag *tag);
void csig_skb_normalise(struct sk_buff *skb, const struct csig_walk *w);

/* egress.c */
struct csig_hop {
	u64 pd_ns;
	u64 nqd_ns;
	bool queued;	/* pd_ns and nqd_ns were measured */
};

void csig_egress(struct csig_port *port, struct sk_buff *skb,
		 const struct csig_hop *hop);
void csig_egress_carry(struct csig_port *port, struct sk_buff *skb,
		       const struct csig_tag *tag);

/* sch_csig.c, act_csig.c */
int csig_sch_init(void);
void csig_sch_exit(void);
int csig_act_init(void);
void csig_act_exit(void);

/* gro_tpid.c */
int csig_gro_get(const struct csig_profile *profile, const struct net *net);
void csig_gro_put(const struct csig_profile *profile);
int csig_gro_start(void);
void csig_gro_stop(void);
void csig_gro_exit(void);

/* kfunc.c; those with bpf_ are for BPF programs, see there */
int bpf_csig_tag(struct __sk_buff *skb_ctx, struct csig_bpf_tag *tag);
int bpf_csig_request(struct __sk_buff *skb_ctx,
		     const struct csig_bpf_tag *tag);
int bpf_csig_is_local(struct __sk_buff *skb_ctx, const void *addr,
		      u32 addr__sz);
void csig_kfunc_init(void);

/* config.c */
int csig_config_parse(const struct nlattr *head, int len, struct nlattr **tb,
		      struct csig_port_config *config,
		      struct netlink_ext_ack *extack);

/* netlink.c */
int csig_netlink_init(void);
void csig_netlink_exit(void);
void csig_notify_port(struct csig_port *port);
void csig_notify_port_gone(struct csig_port *port);
void csig_notify_domain(struct csig_net *cn);
void csig_notify_bottleneck(struct csig_port *port);

/* netlink_fill.c; struct csig_port or csig_net where the object is void */
int csig_fill_config(struct sk_buff *msg, const struct csig_port_config *config);
int csig_fill_port(struct sk_buff *msg, void *obj);
int csig_fill_domain(struct sk_buff *msg, void *obj);
int csig_fill_signal(struct sk_buff *msg, const struct csig_profile *p,
		     unsigned int t);
int csig_fill_layout(struct sk_buff *msg, const struct csig_profile *p,
		     unsigned int row);
int csig_fill_bottleneck(struct sk_buff *msg, void *obj);

#endif /* CSIG_MODULE_H */
