/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Settings of a congestion point, between its qdisc (cp.c) and its options
 * (cp_config.c).
 */
#ifndef QCN_CP_H
#define QCN_CP_H

#include <linux/if_ether.h>

#include <csig/qcn_frame.h>

struct net_device;
struct netlink_ext_ack;
struct nlattr;
struct qcn_port;
struct sk_buff;

/**
 * struct qcn_cp_config - what can be set
 * @params: Qeq, weight, base
 * @cnm: what its CNMs look like, without mac and cpid
 * @mac: address of the congestion point, zero for the port's
 * @limit: octets that may wait, 0 for a multiple of Qeq
 * @port: number of the port in the CPID
 * @cnpvs: priorities that are answered, 0: see qcn_port_cnpvs()
 */
struct qcn_cp_config {
	struct qcn_cp_params params;
	struct qcn_cnm_params cnm;
	u8 mac[ETH_ALEN];
	u32 limit;
	u16 port;
	u8 cnpvs;
};

void qcn_cp_config_init(struct qcn_cp_config *config,
			const struct net_device *dev);
u32 qcn_cp_config_limit(const struct qcn_cp_config *config);
int qcn_cp_config_check(const struct qcn_cp_config *config,
			const struct qcn_port *port, const struct nlattr *attr,
			struct netlink_ext_ack *extack);
int qcn_cp_config_parse(struct nlattr *opt, struct qcn_cp_config *config,
			struct netlink_ext_ack *extack);
int qcn_cp_config_fill(struct sk_buff *skb, const struct qcn_cp_config *config);

#endif /* QCN_CP_H */
