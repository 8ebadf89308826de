/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the csig family share.
 */
#ifndef CSIG_NETLINK_H
#define CSIG_NETLINK_H

#include <net/genetlink.h>

#include "netlink_gen.h"

struct csig_port_config;

extern struct genl_family csig_family;

/* Refuse an attribute: the error, with a message that says why */
#define csig_refuse(extack, attr, err, why) ({			\
	NL_SET_ERR_MSG_ATTR(extack, attr, "csig: " why);	\
	err;							\
})

int csig_reply(struct genl_info *info, u8 cmd, void *obj,
	       int (*fill)(struct sk_buff *msg, void *obj));

#endif /* CSIG_NETLINK_H */
