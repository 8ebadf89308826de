// SPDX-License-Identifier: GPL-2.0
/*
 * Answers probes with sockets.  Signals are kept with a socket, so each prober gets a
 * connected one of its own: nobody sees what came with the packets of another.  The
 * first probe of a prober comes in at the common socket and its tag is not seen.
 *
 * Bounds: probers at once, answers a second (of all, and of one prober), a prober that
 * is silent is forgotten, and an answer is as long as its probe.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <csig/libcsig.h>
#include <csig/probe.h>

#include "output.h"
#include "interrupt.h"
#include "reflect.h"
#include "reflect_sock.h"

#define MESSAGE_MAX	9216
#define EVENTS		64
#define BURST_OF_ONE	64		/* probes of one peer in a row */
#define IDLE_NS		(5 * CSIG_NSEC_PER_SEC)
#define TICK_NS		CSIG_NSEC_PER_SEC
#define PEER_RATE	1000		/* answers a second to one prober */
#define RATE_BURST_NS	(CSIG_NSEC_PER_SEC / 10)

/**
 * struct peer - a prober
 * @fd: its socket, -1: this place is free
 * @signals: that it wants on answers
 * @addr: of the prober
 * @local: where its probes go to
 * @last_ns: when the last one came
 * @next_ns: of the rate limit
 * @told_ns: by T, when the value arrived that it was told last
 */
struct peer {
	int fd;
	uint16_t signals;
	struct addr addr;
	struct addr local;
	uint64_t last_ns;
	uint64_t next_ns;
	uint64_t told_ns[CSIG_SIGNALS];
};

/**
 * struct responder - all of it
 * @r: the words
 * @epoll: all sockets; data is the index of the peer, or beyond them of a listener
 * @listeners: common sockets, IPv4 and IPv6
 * @peers: r->peers of them
 * @host: signals of sockets; NULL when the host is not enabled
 * @next_ns: of the rate limit
 * @tick_ns: when to look for idle peers and for the host
 * @probers: peers so far
 * @probes: that came
 * @answers: that left
 * @tagged: answers that told a signal
 * @limited: probes over the rate
 * @busy: probes of probers for whom there was no place
 */
struct responder {
	const struct reflect *r;
	int epoll;
	int listeners[2];
	struct peer *peers;
	struct libcsig_host *host;
	uint64_t next_ns, tick_ns;
	uint64_t probers, probes, answers, tagged, limited, busy;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * CSIG_NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/* One in interval on average, with bursts */
static bool within_rate(uint64_t *next, uint64_t now, uint32_t rate)
{
	if (*next + RATE_BURST_NS < now)
		*next = now - RATE_BURST_NS;
	if (*next > now)
		return false;
	*next += CSIG_NSEC_PER_SEC / rate;
	return true;
}

/* --- sockets -------------------------------------------------------------------- */

static int watch(const struct responder *s, int fd, uint32_t index)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = index };

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &ev);
}

static int listen_on(struct responder *s, int i, int family)
{
	struct addr a = { 0 };
	int fd, err, on = 1;

	a.sa.sa_family = (sa_family_t)family;
	a.len = family == AF_INET ? sizeof(a.in) : sizeof(a.in6);
	if (family == AF_INET)
		a.in.sin_port = htons(s->r->port);
	else
		a.in6.sin6_port = htons(s->r->port);
	err = port_is_free(family, s->r->dev, &a);
	if (err == -EAFNOSUPPORT || err == -EADDRNOTAVAIL)
		return ST_OK;	/* a machine without IPv6 */
	if (err)
		return fail("UDP port %u: %s", s->r->port, strerror(-err));
	fd = reflect_socket(family, s->r->dev);
	if (fd < 0)
		return fail("%s: %s", s->r->dev ? s->r->dev : "socket",
			    strerror(errno));
	if (setsockopt(fd, family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6,
		       family == AF_INET ? IP_PKTINFO : IPV6_RECVPKTINFO, &on,
		       sizeof(on)) || bind(fd, &a.sa, a.len) ||
	    watch(s, fd, s->r->peers + (uint32_t)i)) {
		err = errno;
		close(fd);
		return fail("UDP port %u: %s", s->r->port, strerror(err));
	}
	s->listeners[i] = fd;
	return ST_OK;
}

/* --- peers ------------------------------------------------------------------------ */

static void peer_free(struct peer *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

static struct peer *peer_find(const struct responder *s, const struct addr *addr,
			      const struct addr *local)
{
	uint32_t i;

	for (i = 0; i < s->r->peers; i++)
		if (s->peers[i].fd >= 0 && same_addr(&s->peers[i].addr, addr) &&
		    same_addr(&s->peers[i].local, local))
			return &s->peers[i];
	return NULL;
}

static bool peer_wants(const struct responder *s, struct peer *p,
		       uint16_t signals)
{
	p->signals = signals;
	return !libcsig_flow_set(s->host, p->fd, signals, 1, 0);
}

static struct peer *peer_new(struct responder *s, const struct addr *addr,
			     const struct addr *local, uint16_t signals)
{
	struct peer *p;
	uint32_t i;

	for (i = 0; i < s->r->peers && s->peers[i].fd >= 0; i++)
		;
	if (i == s->r->peers)
		return NULL;
	p = &s->peers[i];
	*p = (struct peer){ .addr = *addr, .local = *local };
	p->fd = reflect_socket(addr->sa.sa_family, s->r->dev);
	if (p->fd < 0)
		return NULL;
	if (bind(p->fd, &local->sa, local->len) ||
	    connect(p->fd, &addr->sa, addr->len) || !peer_wants(s, p, signals) ||
	    watch(s, p->fd, i)) {
		peer_free(p);
		return NULL;
	}
	s->probers++;
	return p;
}

/* Of what arrived and was not told yet, the value that waits longest */
static bool untold(const struct responder *s, struct peer *p,
		   struct csig_tag *tag)
{
	const struct libcsig_signal *v;
	struct libcsig_flow flow;
	int t, oldest = -1;

	if (libcsig_flow_get(s->host, p->fd, &flow, sizeof(flow)))
		return false;
	for (t = 0; t < CSIG_SIGNALS; t++) {
		v = &flow.received[t];
		if (!v->known || v->time_ns <= p->told_ns[t])
			continue;
		if (oldest < 0 || v->time_ns < flow.received[oldest].time_ns)
			oldest = t;
	}
	if (oldest < 0)
		return false;
	v = &flow.received[oldest];
	p->told_ns[oldest] = v->time_ns;
	*tag = (struct csig_tag) {
		.format = v->tag.format, .t = v->tag.t, .r = v->tag.r,
		.lm = v->tag.lm, .s = v->tag.s,
	};
	return true;
}

/* --- datagrams -------------------------------------------------------------------- */

static uint8_t buf[MESSAGE_MAX];

/* A probe, or -1 when it is something else or there is nothing more */
static ssize_t receive(struct responder *s, int fd, struct msghdr *m,
		       struct csig_probe *probe)
{
	struct iovec iov = { .iov_base = buf, .iov_len = sizeof(buf) };
	ssize_t n;

	m->msg_iov = &iov;
	m->msg_iovlen = 1;
	n = recvmsg(fd, m, 0);
	m->msg_iov = NULL;
	if (n < 0)
		return -1;
	if (m->msg_flags & MSG_TRUNC ||
	    !csig_probe_decode(buf, (unsigned int)n, probe) || probe->answer)
		return 0;
	s->probes++;
	return n;
}

/* What came between bind and connect is of somebody else: its next probe is not. */
static void answer_stray(struct responder *s, const struct peer *p,
			 const struct addr *from, ssize_t n, uint64_t now)
{
	if (!within_rate(&s->next_ns, now, s->r->rate)) {
		s->limited++;
		return;
	}
	csig_probe_answer(buf, NULL, CSIG_PROBE_READS | CSIG_PROBE_FIRST);
	if (sendto(p->fd, buf, (size_t)n, 0, &from->sa, from->len) == n)
		s->answers++;
}

static void on_peer(struct responder *s, struct peer *p)
{
	struct csig_probe probe;
	struct csig_tag tag;
	struct addr from;
	bool tagged;
	ssize_t n;
	int i;

	for (i = 0; i < BURST_OF_ONE && p->fd >= 0; i++) {
		struct msghdr m = { .msg_name = &from.sa,
				    .msg_namelen = sizeof(from.in6) };
		uint64_t now;

		n = receive(s, p->fd, &m, &probe);
		if (n < 0)
			return;
		if (!n)
			continue;
		now = now_ns();
		from.len = m.msg_namelen;
		if (!same_addr(&from, &p->addr)) {
			answer_stray(s, p, &from, n, now);
			continue;
		}
		p->last_ns = now;
		if (!within_rate(&p->next_ns, now, PEER_RATE) ||
		    !within_rate(&s->next_ns, now, s->r->rate)) {
			s->limited++;
			continue;
		}
		if (probe.signals != p->signals)
			peer_wants(s, p, probe.signals);
		tagged = untold(s, p, &tag);
		csig_probe_answer(buf, tagged ? &tag : NULL, CSIG_PROBE_READS);
		if (send(p->fd, buf, (size_t)n, 0) != n)
			continue;
		s->answers++;
		s->tagged += tagged;
	}
}

/* Answers from the common socket; the control data say from which address */
static void answer_from(struct responder *s, int fd, struct msghdr *m, ssize_t n)
{
	struct iovec iov = { .iov_base = buf, .iov_len = (size_t)n };

	m->msg_iov = &iov;
	m->msg_iovlen = 1;
	m->msg_flags = 0;
	if (sendmsg(fd, m, 0) == n)
		s->answers++;
	m->msg_iov = NULL;
}

static void on_listener(struct responder *s, int fd)
{
	union {
		char buf[CMSG_SPACE(sizeof(struct in6_pktinfo))];
		struct cmsghdr align;
	} control;
	struct csig_probe probe;
	struct addr from, local;
	struct peer *p;
	ssize_t n;
	int i;

	for (i = 0; i < BURST_OF_ONE; i++) {
		struct msghdr m = {
			.msg_name = &from.sa, .msg_namelen = sizeof(from.in6),
			.msg_control = control.buf,
			.msg_controllen = sizeof(control.buf),
		};
		uint8_t flags = CSIG_PROBE_READS | CSIG_PROBE_FIRST;
		uint64_t now;

		n = receive(s, fd, &m, &probe);
		if (n < 0)
			return;
		if (!n || !get_local(&m, s->r->port, &local))
			continue;
		from.len = m.msg_namelen;
		now = now_ns();
		if (!within_rate(&s->next_ns, now, s->r->rate)) {
			s->limited++;
			continue;
		}
		if (!s->host) {
			csig_probe_answer(buf, NULL, 0);
			answer_from(s, fd, &m, n);
			continue;
		}
		p = peer_find(s, &from, &local);
		if (!p)
			p = peer_new(s, &from, &local, probe.signals);
		if (!p) {
			s->busy++;
			flags = CSIG_PROBE_READS | CSIG_PROBE_BUSY;
		}
		csig_probe_answer(buf, NULL, flags);
		if (!p) {
			answer_from(s, fd, &m, n);
			continue;
		}
		p->last_ns = now;
		if (send(p->fd, buf, (size_t)n, 0) == n)
			s->answers++;
	}
}

/* --- running ------------------------------------------------------------------------ */

/* Once a second: silent peers go; the host may have been enabled, or disabled. */
static void tick(struct responder *s, uint64_t now)
{
	bool stale = s->host && libcsig_is_stale(s->host);
	struct libcsig_host *host;
	int fd = s->listeners[0] >= 0 ? s->listeners[0] : s->listeners[1];
	uint32_t i;

	s->tick_ns = now + TICK_NS;
	for (i = 0; i < s->r->peers; i++)
		if (stale || now - s->peers[i].last_ns > IDLE_NS)
			peer_free(&s->peers[i]);
	if (stale) {
		libcsig_close(s->host);
		s->host = NULL;
	}
	if (!s->host && !libcsig_open(fd, &host)) {
		s->host = host;
		if (stale)
			return;
		warn("reflect: the host is enabled, answers tell the tags of probes");
	} else if (stale) {
		warn("reflect: the host was disabled, answers tell nothing now");
	}
}

static int loop(struct responder *s, const sigset_t *mask)
{
	struct epoll_event events[EVENTS];
	uint64_t now;
	int n, i;

	while (!interrupt_came()) {
		now = now_ns();
		if (now >= s->tick_ns)
			tick(s, now);
		n = epoll_pwait(s->epoll, events, EVENTS,
				(int)(TICK_NS / 1000000), mask);
		if (n < 0 && errno != EINTR)
			return fail("reflect: %s", strerror(errno));
		for (i = 0; i < n; i++) {
			uint32_t index = events[i].data.u32;

			if (index >= s->r->peers)
				on_listener(s, s->listeners[index - s->r->peers]);
			else if (s->peers[index].fd >= 0)
				on_peer(s, &s->peers[index]);
		}
	}
	return ST_OK;
}

static int open_host(struct responder *s)
{
	int fd = s->listeners[0] >= 0 ? s->listeners[0] : s->listeners[1];
	int err = libcsig_open(fd, &s->host);

	if (!err)
		return ST_OK;
	s->host = NULL;
	if (err != -ENODEV && err != -EACCES)
		return fail("reflect: %s", libcsig_strerror(err));
	warn("reflect: answers do not tell the tags of probes: %s",
	     libcsig_strerror(err));
	return ST_OK;
}

static void print_summary(const struct responder *s)
{
	out_open_object(NULL);
	out_u64("probes", "%" PRIu64 " probes", s->probes);
	out_u64("probers", " of %" PRIu64 " probers", s->probers);
	out_u64("answers", ": %" PRIu64 " answers", s->answers);
	out_u64("tagged", ", %" PRIu64 " with a signal", s->tagged);
	out_u64("limited", ", %" PRIu64 " probes over the rate", s->limited);
	out_u64("busy", ", %" PRIu64 " without a place\n", s->busy);
	out_close_object();
}

int reflect_run(const struct reflect *r)
{
	struct responder s = { .r = r, .epoll = -1, .listeners = { -1, -1 } };
	struct interrupt held;
	int status;
	uint32_t i;

	s.peers = calloc(r->peers, sizeof(*s.peers));
	s.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!s.peers || s.epoll < 0)
		return fail("reflect: %s", strerror(errno));
	for (i = 0; i < r->peers; i++)
		s.peers[i].fd = -1;
	interrupt_hold(&held);
	status = listen_on(&s, 0, AF_INET);
	if (!status)
		status = listen_on(&s, 1, AF_INET6);
	if (!status)
		status = open_host(&s);
	if (!status) {
		warn("reflect: answering on UDP port %u, Ctrl-C ends it", r->port);
		status = loop(&s, &held.mask);
		print_summary(&s);
	}
	interrupt_release(&held);
	for (i = 0; i < r->peers; i++)
		peer_free(&s.peers[i]);
	for (i = 0; i < ARRAY_SIZE(s.listeners); i++)
		if (s.listeners[i] >= 0)
			close(s.listeners[i]);
	libcsig_close(s.host);
	close(s.epoll);
	free(s.peers);
	return status;
}
