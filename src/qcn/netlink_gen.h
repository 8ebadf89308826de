/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/qcn.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_QCN_GEN_H
#define _LINUX_QCN_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/qcn.h>

/* Common nested types */
extern const struct nla_policy qcn_cnpv_nl_policy[QCN_A_CNPV_OPER_ALTERNATE + 1];
extern const struct nla_policy qcn_neighbour_nl_policy[QCN_A_NEIGHBOUR_TTL_MS + 1];

/* Ops table for qcn */
extern const struct genl_split_ops qcn_nl_ops[4];

int qcn_nl_port_get_doit(struct sk_buff *skb, struct genl_info *info);
int qcn_nl_port_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int qcn_nl_port_set_doit(struct sk_buff *skb, struct genl_info *info);
int qcn_nl_port_del_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	QCN_NLGRP_MONITOR,
};

#endif /* _LINUX_QCN_GEN_H */
