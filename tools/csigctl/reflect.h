/* SPDX-License-Identifier: GPL-2.0 */
/*
 * csigctl reflect: reflect.c has the words, reflect_user.c answers with sockets,
 * reflect_kernel.c lets the kernel answer.
 */
#ifndef CSIGCTL_REFLECT_H
#define CSIGCTL_REFLECT_H

#include "host_bpf.h"
#include "port.h"

#define REFLECT_PEERS		256	/* probers at once, by default */
#define REFLECT_PEERS_MAX	4096
#define REFLECT_RATE		10000	/* answers a second, by default */
#define REFLECT_RATE_MAX	1000000

/**
 * struct reflect - the words
 * @dev: only probes that come in there; NULL all
 * @port: UDP
 * @rate: answers a second
 * @peers: probers at once
 */
struct reflect {
	const char *dev;
	uint16_t port;
	uint32_t rate;
	uint32_t peers;
};

/* reflect_user.c: until a signal ends it */
int reflect_run(const struct reflect *r);

/* reflect_kernel.c */
int reflect_kernel_add(const struct reflect *r);
int reflect_kernel_del(const char *dev);
int reflect_kernel_show(void);
/* Takes the filters away if there are any, and the entry; for "host disable", too */
int reflect_kernel_remove(const struct host_set *set, int ifindex,
			  bool *was_there);

#endif /* CSIGCTL_REFLECT_H */
