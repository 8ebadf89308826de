// SPDX-License-Identifier: GPL-2.0
/*
 * The way of probes: address of the destination, device of the route and whether tags
 * can leave there, the socket.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host.h"
#include "nl.h"
#include "probe.h"

#define DEPTH_MAX	8	/* devices on top of each other */

/* A device and what it stands on */
struct dev {
	int index, below, master;
	char name[16];
};

static void text_of(const struct sockaddr *sa, socklen_t len, char *buf,
		    size_t size)
{
	if (getnameinfo(sa, len, buf, (socklen_t)size, NULL, 0, NI_NUMERICHOST))
		snprintf(buf, size, "?");
}

/* The first address that has a route; its socket is p->fd. */
static int connect_to(struct probe *p, struct sockaddr_storage *dst)
{
	const struct addrinfo hints = {
		.ai_family = p->family, .ai_socktype = SOCK_DGRAM,
	};
	struct addrinfo *list, *ai;
	char port[8];
	int err = 0;

	snprintf(port, sizeof(port), "%u", p->port);
	err = getaddrinfo(p->name, port, &hints, &list);
	if (err)
		return fail("%s: %s", p->name, gai_strerror(err));
	for (ai = list; ai; ai = ai->ai_next) {
		p->fd = socket(ai->ai_family, SOCK_DGRAM | SOCK_CLOEXEC |
			       SOCK_NONBLOCK, 0);
		if (p->fd >= 0 && !connect(p->fd, ai->ai_addr, ai->ai_addrlen))
			break;
		err = errno;
		if (p->fd >= 0)
			close(p->fd);
		p->fd = -1;
	}
	if (ai) {
		memset(dst, 0, sizeof(*dst));
		memcpy(dst, ai->ai_addr, ai->ai_addrlen);
		text_of(ai->ai_addr, ai->ai_addrlen, p->dst, sizeof(p->dst));
	}
	freeaddrinfo(list);
	return p->fd < 0 ? fail("%s: %s", p->name, strerror(err)) : ST_OK;
}

static int get_src(struct probe *p)
{
	struct sockaddr_storage src;
	socklen_t len = sizeof(src);

	if (getsockname(p->fd, (struct sockaddr *)&src, &len))
		return fail("%s: %s", p->name, strerror(errno));
	text_of((struct sockaddr *)&src, len, p->src, sizeof(p->src));
	return ST_OK;
}

/* Device of the route */
static int route_dev(const struct probe *p, const struct sockaddr_storage *dst,
		     int *ifindex)
{
	const struct sockaddr_in6 *in6 = (const void *)dst;
	const struct sockaddr_in *in = (const void *)dst;
	bool ip6 = dst->ss_family == AF_INET6;
	const struct rtmsg header = {
		.rtm_family = (unsigned char)dst->ss_family,
		.rtm_dst_len = ip6 ? 128 : 32,
	};
	struct nlattr *tb[RTA_MAX + 1];
	const struct rtmsg *rtm;
	struct answer answer;
	struct nl_msg *msg;
	int err;

	msg = rtnl_request(RTM_GETROUTE, 0, &header, sizeof(header));
	if (msg && ip6) {
		nla_put(msg, RTA_DST, 16, &in6->sin6_addr);
		if (in6->sin6_scope_id)
			nla_put_u32(msg, RTA_OIF, in6->sin6_scope_id);
	} else if (msg) {
		nla_put(msg, RTA_DST, 4, &in->sin_addr);
	}
	err = rtnl_talk(msg, &answer);
	if (err)
		return nl_refused(err, p->name);
	if (answer.n < 1 || nlmsg_parse(nlmsg_hdr(answer.msgs[0]),
					sizeof(header), tb, RTA_MAX, NULL)) {
		answer_free(&answer);
		return fail("%s: the kernel's answer is not understood", p->name);
	}
	rtm = nlmsg_data(nlmsg_hdr(answer.msgs[0]));
	*ifindex = (int)attr_u32(tb[RTA_OIF], 0);
	err = rtm->rtm_type == RTN_LOCAL ?
		fail("%s is this machine: there is no path to probe", p->name) :
		ST_OK;
	answer_free(&answer);
	return err;
}

static struct dev *all_devs(size_t *n)
{
	const struct ifinfomsg header = { .ifi_family = AF_UNSPEC };
	struct nlattr *tb[IFLA_MAX + 1];
	struct answer answer;
	struct dev *devs;
	size_t i;

	*n = 0;
	if (rtnl_talk(rtnl_request(RTM_GETLINK, NLM_F_DUMP, &header,
				   sizeof(header)), &answer))
		return NULL;
	devs = calloc(answer.n + 1, sizeof(*devs));
	for (i = 0; devs && i < answer.n; i++) {
		const struct nlmsghdr *h = nlmsg_hdr(answer.msgs[i]);
		const struct ifinfomsg *ifi = nlmsg_data(h);
		struct dev *d = &devs[*n];

		if (nlmsg_parse((struct nlmsghdr *)h, sizeof(header), tb,
				IFLA_MAX, NULL))
			continue;
		d->index = ifi->ifi_index;
		/* in another namespace it is a peer, not what is below */
		if (!tb[IFLA_LINK_NETNSID])
			d->below = (int)attr_u32(tb[IFLA_LINK], 0);
		d->master = (int)attr_u32(tb[IFLA_MASTER], 0);
		snprintf(d->name, sizeof(d->name), "%s",
			 attr_str(tb[IFLA_IFNAME], "?"));
		(*n)++;
	}
	answer_free(&answer);
	return devs;
}

/* The enabled device that packets through this one leave by, or NULL */
static const struct dev *enabled_below(const struct host_set *set,
				       const struct dev *devs, size_t n,
				       int index, unsigned int depth,
				       struct csig_device *settings)
{
	const struct dev *self = NULL, *found = NULL;
	uint32_t key = (uint32_t)index;
	size_t i;

	for (i = 0; i < n && !self; i++)
		if (devs[i].index == index)
			self = &devs[i];
	if (!self || depth == DEPTH_MAX)
		return NULL;
	if (!bpf_map_lookup_elem(set->devices, &key, settings))
		return self;
	if (self->below && self->below != index)
		found = enabled_below(set, devs, n, self->below, depth + 1,
				      settings);
	for (i = 0; i < n && !found; i++)
		if (devs[i].master == index && devs[i].index != index)
			found = enabled_below(set, devs, n, devs[i].index,
					      depth + 1, settings);
	return found;
}

static int find_device(struct probe *p, int ifindex,
		       struct csig_device *settings)
{
	const struct dev *found = NULL;
	const char *name = "?";
	struct host_set set;
	struct dev *devs;
	size_t n, i;
	int status;

	status = host_set_open(&set, false);
	if (status)
		return status;
	devs = all_devs(&n);
	for (i = 0; i < n; i++)
		if (devs[i].index == ifindex)
			name = devs[i].name;
	if (!host_set_exists(&set)) {
		status = fail("probes leave through %s, and this host is not enabled; first: csigctl host enable dev %s",
			      name, name);
	} else {
		found = enabled_below(&set, devs, n, ifindex, 0, settings);
		if (!found)
			status = fail("probes leave through %s, which is not enabled; first: csigctl host enable dev %s",
				      name, name);
	}
	if (found)
		snprintf(p->dev, sizeof(p->dev), "%s", found->name);
	free(devs);
	host_set_close(&set);
	return status;
}

static int choose_signals(struct probe *p, struct args *a, const char *words,
			  const struct csig_device *settings)
{
	struct host_settings wanted = { .signals = words };
	unsigned int format = settings->format, t;
	int status = ST_OK;

	p->signals = settings->signals;
	if (words) {
		status = host_signals(a, &wanted);
		p->signals = wanted.device.signals;
	}
	if (p->formats)
		format = p->formats >> CSIG_FORMAT_EXPANDED & 1;
	for (t = 0; t < CSIG_SIGNALS; t++) {
		if (t > csig_layout(format)->t_max ||
		    !p->profile.signals[t].defined)
			p->signals &= (uint16_t)~(1U << t);
		p->nsignals += p->signals >> t & 1;
	}
	if (!status && !p->nsignals)
		status = fail("there is no signal to ask for in the %s format",
			      WORD(format_words, format));
	return status;
}

int probe_open(struct probe *p, struct args *a, const char *signals)
{
	struct csig_device settings = { 0 };
	struct sockaddr_storage dst;
	int ifindex = 0, status, err;

	status = connect_to(p, &dst);
	if (!status)
		status = get_src(p);
	if (!status)
		status = route_dev(p, &dst, &ifindex);
	if (!status)
		status = find_device(p, ifindex, &settings);
	if (!status)
		status = choose_signals(p, a, signals, &settings);
	if (status)
		return status;
	err = libcsig_open(p->fd, &p->host);
	if (!err)
		err = libcsig_flow_set(p->host, p->fd, p->signals, 1, p->formats);
	return err ? fail("%s: %s", p->name, libcsig_strerror(err)) : ST_OK;
}

void probe_reopen(struct probe *p)
{
	struct libcsig_host *host;

	if (!libcsig_is_stale(p->host))
		return;
	p->disabled = true;
	if (libcsig_open(p->fd, &host))
		return;
	if (libcsig_flow_set(host, p->fd, p->signals, 1, p->formats)) {
		libcsig_close(host);
		return;
	}
	libcsig_close(p->host);
	p->host = host;
	p->disabled = false;
	/* counters begin anew */
	memset(&p->flow, 0, sizeof(p->flow));
	p->rx_tagged = 0;
	p->silent = 0;
	p->reverse_silent = 0;
	p->since = p->sent;
}

void probe_close(struct probe *p)
{
	libcsig_close(p->host);
	if (p->fd >= 0)
		close(p->fd);
}
