/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sockets and addresses of the responder: one port, IPv4 and IPv6, many sockets.
 */
#ifndef CSIGCTL_REFLECT_SOCK_H
#define CSIGCTL_REFLECT_SOCK_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

/**
 * struct addr - where packets come from or go to
 * @len: 0 without an address
 */
struct addr {
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	};
	socklen_t len;
};

bool same_addr(const struct addr *a, const struct addr *b);
/* Bound to a device unless that is NULL; -1 and errno */
int reflect_socket(int family, const char *dev);
/* 0 or a negative errno */
int port_is_free(int family, const char *dev, const struct addr *a);
/* Where a datagram was sent to; false for multicast and broadcast */
bool get_local(struct msghdr *m, uint16_t port, struct addr *local);

#endif /* CSIGCTL_REFLECT_SOCK_H */
