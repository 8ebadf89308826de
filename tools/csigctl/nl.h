/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Netlink for all objects: requests to the csig and qcn families and to rtnetlink,
 * whole answers only, the kernel's message when it refuses.
 */
#ifndef CSIGCTL_NL_H
#define CSIGCTL_NL_H

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include "csigctl.h"

/**
 * struct answer - all messages of a complete answer
 * @msgs: in the kernel's order
 * @n: how many
 */
struct answer {
	struct nl_msg **msgs;
	size_t n;
};

/**
 * struct family - a generic netlink family of ours
 * @name: as the kernel registers it
 * @version: of its commands
 * @module: that has it
 * @id: of its messages, 0 before family_open()
 */
struct family {
	const char *name;
	uint8_t version;
	const char *module;
	int id;
};

extern struct family qcn_family;

int family_open(struct family *f);
struct nl_msg *family_request(const struct family *f, uint8_t cmd, int flags);
int csig_open(void);
bool csig_loaded(void);
void nl_shut(void);

/* Messages are freed by the call.  0 or a negative errno; nothing is printed. */
struct nl_msg *csig_request(uint8_t cmd, int flags);
int csig_talk(struct nl_msg *msg, struct answer *answer);
struct nl_msg *rtnl_request(uint16_t type, int flags, const void *header,
			    size_t len);
int rtnl_talk(struct nl_msg *msg, struct answer *answer);
void answer_free(struct answer *a);

/* Prints why the last call failed; returns ST_KERNEL. */
int nl_refused(int err, const char *what);
const char *nl_why(int err);

/* Attributes of a csig message, by number; missing ones are NULL */
int csig_attrs(const struct nl_msg *msg, int max, struct nlattr **tb);
struct nlattr *csig_attr_first(const struct nl_msg *msg, int *rem);
uint8_t csig_cmd(const struct nl_msg *msg);

/* Value of an attribute, or the default when it is missing or too short */
uint64_t attr_u64(const struct nlattr *a, uint64_t deflt);
uint32_t attr_u32(const struct nlattr *a, uint32_t deflt);
uint16_t attr_u16(const struct nlattr *a, uint16_t deflt);
uint8_t attr_u8(const struct nlattr *a, uint8_t deflt);
const char *attr_str(const struct nlattr *a, const char *deflt);
void attr_nested(const struct nlattr *a, int max, struct nlattr **tb);

struct nl_sock *csig_socket(int *family);
struct nl_sock *family_socket(void);

/* nl_names.c */
void nl_attr_name(const char *family, const struct nlmsghdr *request,
		  uint32_t offset, char *buf, size_t size);

#endif /* CSIGCTL_NL_H */
