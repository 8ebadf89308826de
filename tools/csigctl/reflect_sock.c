// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets and addresses of the responder; what they are for is reflect_user.c.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "reflect_sock.h"

bool same_addr(const struct addr *a, const struct addr *b)
{
	if (a->sa.sa_family != b->sa.sa_family)
		return false;
	if (a->sa.sa_family == AF_INET)
		return a->in.sin_port == b->in.sin_port &&
		       a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
	return a->in6.sin6_port == b->in6.sin6_port &&
	       a->in6.sin6_scope_id == b->in6.sin6_scope_id &&
	       !memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr, 16);
}

static int bind_to_device(int fd, const char *dev)
{
	return dev ? setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, dev,
				(socklen_t)strlen(dev)) : 0;
}

int reflect_socket(int family, const char *dev)
{
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1;

	if (fd < 0)
		return -1;
	/* peers' sockets have the same address as the common one */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    (family == AF_INET6 &&
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on))) ||
	    bind_to_device(fd, dev)) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * Whether another program has the port must be found out without SO_REUSEADDR, with
 * which two responders would share it.
 */
int port_is_free(int family, const char *dev, const struct addr *a)
{
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0), err = 0, on = 1;

	if (fd < 0)
		return -errno;
	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (!bind_to_device(fd, dev) && bind(fd, &a->sa, a->len))
		err = -errno;
	close(fd);
	return err;
}

bool get_local(struct msghdr *m, uint16_t port, struct addr *local)
{
	struct cmsghdr *c;

	memset(local, 0, sizeof(*local));
	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo *pi = (void *)CMSG_DATA(c);

			local->len = sizeof(local->in);
			local->in.sin_family = AF_INET;
			local->in.sin_port = htons(port);
			local->in.sin_addr = pi->ipi_addr;
			return pi->ipi_addr.s_addr == pi->ipi_spec_dst.s_addr;
		}
		if (c->cmsg_level == IPPROTO_IPV6 &&
		    c->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo *pi = (void *)CMSG_DATA(c);

			local->len = sizeof(local->in6);
			local->in6.sin6_family = AF_INET6;
			local->in6.sin6_port = htons(port);
			local->in6.sin6_addr = pi->ipi6_addr;
			if (IN6_IS_ADDR_LINKLOCAL(&pi->ipi6_addr))
				local->in6.sin6_scope_id = pi->ipi6_ifindex;
			return !IN6_IS_ADDR_MULTICAST(&pi->ipi6_addr);
		}
	}
	return false;
}
