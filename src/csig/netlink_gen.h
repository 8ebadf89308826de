/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/csig.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_CSIG_GEN_H
#define _LINUX_CSIG_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/csig.h>

/* Common nested types */
extern const struct nla_policy csig_layout_nl_policy[CSIG_A_LAYOUT_FIELD + 1];
extern const struct nla_policy csig_lm_field_nl_policy[CSIG_A_LM_FIELD_BITS + 1];
extern const struct nla_policy csig_lm_value_nl_policy[CSIG_A_LM_VALUE_VALUE + 1];
extern const struct nla_policy csig_port_config_nl_policy[CSIG_A_PORT_CONFIG_LM + 1];
extern const struct nla_policy csig_signal_nl_policy[CSIG_A_SIGNAL_STEP + 1];

/* Ops table for csig */
extern const struct genl_split_ops csig_nl_ops[9];

int csig_nl_domain_get_doit(struct sk_buff *skb, struct genl_info *info);
int csig_nl_domain_set_doit(struct sk_buff *skb, struct genl_info *info);
int csig_nl_signal_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int csig_nl_layout_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int csig_nl_port_get_doit(struct sk_buff *skb, struct genl_info *info);
int csig_nl_port_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int csig_nl_port_add_doit(struct sk_buff *skb, struct genl_info *info);
int csig_nl_port_set_doit(struct sk_buff *skb, struct genl_info *info);
int csig_nl_port_del_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	CSIG_NLGRP_MONITOR,
};

#endif /* _LINUX_CSIG_GEN_H */
