// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl qcn lldp: between the kernel, which knows what a port has to say and does with
 * "auto" what follows from its neighbour, and lldpd, which talks to the neighbour.  What
 * the neighbour said ends with its TTL, so nothing is wrong for long if this ends badly.
 */
#include <errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "interrupt.h"
#include "lldpcli.h"
#include "output.h"
#include "qcn.h"

#define LOOK_MS		30000	/* at least that often, if nothing is heard of */
#define RETRY_MS	1000
#define ROUNDS		4	/* of "once": a neighbour may change what is announced */

/**
 * struct side - a port that takes part
 * @ifname: its device
 * @ifindex: likewise
 * @announced: @tlv is with lldpd
 * @warned: why it is not was said
 * @known: @neighbour was given to the kernel
 * @listed: found in the kernel's list this time
 */
struct side {
	char ifname[16];
	uint32_t ifindex;
	bool announced;
	bool warned;
	struct qcn_tlv tlv;
	bool known;
	struct qcn_tlv neighbour;
	bool listed;
};

/**
 * struct lldp - the command
 * @devs: names of devices, all ports without any
 * @ndevs: how many
 * @once: no watching
 * @sides: the ports
 * @n: how many
 * @watch: of lldpd
 * @events: of the kernel
 * @look_ms: time until lldpd is asked again
 * @changes: that were told of
 */
struct lldp {
	const char *devs[DEVS_MAX];
	size_t ndevs;
	bool once;
	struct side *sides;
	size_t n;
	struct lldp_watch watch;
	struct nl_sock *events;
	int64_t look_ms;
	unsigned int changes;
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static void say(struct lldp *c, const struct side *s, const char *event,
		const struct qcn_tlv *tlv)
{
	c->changes++;
	out_open_object(NULL);
	out_str("ifname", "%s:", s->ifname);
	out_str("event", " %s", event);
	if (tlv) {
		out_priorities("cnpv", "  cnpv ", tlv->cnpvs);
		out_priorities("ready", "  ready ", tlv->ready);
	}
	out_text("\n");
	out_close_object();
	fflush(stdout);
}

static bool takes_part(const struct lldp *c, const char *ifname)
{
	size_t i;

	for (i = 0; i < c->ndevs; i++)
		if (!strcmp(c->devs[i], ifname))
			return true;
	return !c->ndevs;
}

static struct side *side_of(struct lldp *c, const struct qcn_port_info *p)
{
	struct side *v;
	size_t i;

	for (i = 0; i < c->n; i++)
		if (c->sides[i].ifindex == p->ifindex &&
		    !strcmp(c->sides[i].ifname, p->ifname))
			return &c->sides[i];
	v = realloc(c->sides, (c->n + 1) * sizeof(*v));
	if (!v)
		return NULL;
	c->sides = v;
	v += c->n++;
	memset(v, 0, sizeof(*v));
	snprintf(v->ifname, sizeof(v->ifname), "%s", p->ifname);
	v->ifindex = p->ifindex;
	return v;
}

static void announce(struct lldp *c, struct side *s, const struct qcn_tlv *tlv)
{
	if (s->announced && s->tlv.cnpvs == tlv->cnpvs &&
	    s->tlv.ready == tlv->ready)
		return;
	s->announced = !lldp_announce(s->ifname, tlv);
	if (s->announced) {
		s->warned = false;
		s->tlv = *tlv;
		say(c, s, "announced", tlv);
	} else if (!s->warned) {
		warn("%s: %s", s->ifname, lldp_why());
		s->warned = true;
	}
}

/* NULL: nothing is known any more */
static int give(const struct side *s, const struct lldp_port *p)
{
	struct nl_msg *msg = qcn_port_request(QCN_CMD_PORT_SET, s->ifindex);
	uint32_t ttl = p && p->ttl ? p->ttl : 1;
	struct nlattr *nest;

	if (!msg)
		return -ENOMEM;
	/* nla_nest_end() would drop an empty one */
	if (!p) {
		nla_put(msg, QCN_A_PORT_NEIGHBOUR | NLA_F_NESTED, 0, NULL);
		return csig_talk(msg, NULL);
	}
	nest = nla_nest_start(msg, QCN_A_PORT_NEIGHBOUR | NLA_F_NESTED);
	nla_put_u8(msg, QCN_A_NEIGHBOUR_CNPVS, p->tlv.cnpvs);
	nla_put_u8(msg, QCN_A_NEIGHBOUR_READY, p->tlv.ready);
	nla_put_u32(msg, QCN_A_NEIGHBOUR_TTL_MS, ttl * 1000);
	nla_nest_end(msg, nest);
	return csig_talk(msg, NULL);
}

/* Nobody will tell of the neighbour, or answer it, any more. */
static void leave(struct lldp *c, struct side *s)
{
	if (s->announced && !lldp_take_back(s->ifname))
		say(c, s, "withdrawn", NULL);
	s->announced = false;
	if (s->known)
		give(s, NULL);
	s->known = false;
}

/* What the kernel wants to be said.  Ports come and go. */
static int announce_all(struct lldp *c)
{
	struct qcn_port_info *v;
	size_t i, n, kept = 0;
	int status;

	status = qcn_ports(NULL, &v, &n);
	if (status)
		return status;
	for (i = 0; i < c->n; i++)
		c->sides[i].listed = false;
	for (i = 0; i < n; i++) {
		struct side *side;

		if (!v[i].cnpvs || !takes_part(c, v[i].ifname))
			continue;
		side = side_of(c, &v[i]);
		if (!side) {
			status = fail("out of memory");
			break;
		}
		side->listed = true;
		announce(c, side, &v[i].tlv);
	}
	free(v);
	for (i = 0; i < c->n; i++) {
		if (c->sides[i].listed)
			c->sides[kept++] = c->sides[i];
		else
			leave(c, &c->sides[i]);
	}
	c->n = kept;
	return status;
}

static int learn(struct lldp *c, struct side *s,
		 const struct lldp_port *p)
{
	bool same = s->known && p && s->neighbour.cnpvs == p->tlv.cnpvs &&
		    s->neighbour.ready == p->tlv.ready;
	int err;

	if (!p && !s->known)
		return ST_OK;
	err = give(s, p);
	/* The port may have gone; the list of ports tells next time. */
	if (err)
		return err == -ENODEV || err == -ENOENT ? ST_OK :
			nl_refused(err, s->ifname);
	s->known = p;
	if (p)
		s->neighbour = p->tlv;
	if (!same)
		say(c, s, p ? "neighbour" : "lost", p ? &p->tlv : NULL);
	return ST_OK;
}

/*
 * What neighbours say.  Sets the time until the next look.  It fails if the kernel does
 * not want to know; lldpd may come back.
 */
static int learn_all(struct lldp *c)
{
	struct lldp_port *v;
	int status = ST_OK, s;
	size_t i, j, n;

	c->look_ms = LOOK_MS;
	if (lldp_ports(true, &v, &n)) {
		c->look_ms = RETRY_MS;
		return c->once ? fail("%s", lldp_why()) : ST_OK;
	}
	for (i = 0; i < c->n; i++) {
		for (j = 0; j < n; j++)
			if (v[j].has_tlv &&
			    !strcmp(v[j].ifname, c->sides[i].ifname))
				break;
		s = learn(c, &c->sides[i], j < n ? &v[j] : NULL);
		if (!status)
			status = s;
		if (j < n && v[j].ttl * 1000LL / 3 < c->look_ms)
			c->look_ms = v[j].ttl * 1000LL / 3;
	}
	if (c->look_ms < RETRY_MS)
		c->look_ms = RETRY_MS;
	free(v);
	return status;
}

static bool all_announced(const struct lldp *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (!c->sides[i].announced)
			return false;
	return true;
}

/* lldpd went, or is there again */
static void watch_again(struct lldp *c)
{
	struct lldp_port *v;
	size_t i, n;

	for (i = 0; i < c->n; i++)
		c->sides[i].announced = false;
	lldp_watch_stop(&c->watch);
	c->look_ms = RETRY_MS;
	if (lldp_ports(false, &v, &n))
		return;
	free(v);
	lldp_watch_start(&c->watch);
}

static int on_event(struct nl_msg *msg, void *arg)
{
	(void)msg;
	(void)arg;
	return NL_OK;
}

static int events_open(struct lldp *c)
{
	int group;

	c->events = family_socket();
	if (!c->events)
		return fail("netlink socket: %s", strerror(errno));
	nl_socket_modify_cb(c->events, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, on_event,
			    NULL);
	nl_socket_modify_cb(c->events, NL_CB_VALID, NL_CB_CUSTOM, on_event,
			    NULL);
	group = genl_ctrl_resolve_grp(c->events, QCN_GENL_NAME,
				      QCN_MCGRP_MONITOR);
	if (group < 0 || nl_socket_add_membership(c->events, group))
		return fail("cannot join the group of the qcn family");
	nl_socket_set_nonblocking(c->events);
	return ST_OK;
}

static int loop(struct lldp *c, const sigset_t *mask)
{
	int64_t due = now_ms();
	int status;

	while (!interrupt_came() && !ferror(stdout)) {
		struct pollfd p[2] = {
			{ .fd = nl_socket_get_fd(c->events), .events = POLLIN },
			{ .fd = c->watch.fd, .events = POLLIN },
		};
		int64_t left = due - now_ms();
		struct timespec t = { .tv_sec = left / 1000,
				      .tv_nsec = left % 1000 * 1000000 };
		bool look = left <= 0;

		if (!look && ppoll(p, 2, &t, mask) < 0) {
			if (errno == EINTR)
				continue;
			return fail("lldp: %s", strerror(errno));
		}
		/* An overrun is an event, too. */
		if (!look && p[0].revents)
			nl_recvmsgs_default(c->events);
		if (!look && p[1].revents) {
			look = true;
			if (!lldp_watch_read(&c->watch)) {
				warn("lldpd has gone, waiting for it");
				watch_again(c);
			}
		}
		if (look && !c->watch.pid) {
			watch_again(c);
			if (!c->watch.pid) {
				due = now_ms() + RETRY_MS;
				continue;
			}
			warn("lldpd is there again");
		}
		status = announce_all(c);
		if (!status && look)
			status = learn_all(c);
		if (status)
			return status;
		if (!look)
			continue;
		if (!all_announced(c))
			c->look_ms = RETRY_MS;
		due = now_ms() + c->look_ms;
	}
	return ST_OK;
}

/* Somebody may have to be told what to do first. */
static void nothing_to_say(const struct lldp *c)
{
	const char *dev = c->ndevs ? c->devs[0] : "DEV";

	warn("%s: no priority of the domain; try: csigctl qcn domain set dev %s cnpv N mode auto",
	     c->ndevs ? dev : "no port", dev);
}

static int run_once(struct lldp *c)
{
	unsigned int round, before;
	int status;

	for (round = 0; round < ROUNDS; round++) {
		before = c->changes;
		status = announce_all(c);
		if (status)
			return status;
		if (!c->n) {
			nothing_to_say(c);
			return ST_KERNEL;
		}
		status = learn_all(c);
		if (status)
			return status;
		if (c->changes == before)
			break;
	}
	return all_announced(c) ? ST_OK : ST_KERNEL;
}

static int run_until_told(struct lldp *c)
{
	struct interrupt held;
	struct lldp_port *v;
	int status;
	size_t i, n;

	status = events_open(c);
	if (status)
		return status;
	/* lldpd that is not there at the start is an error. */
	interrupt_hold(&held);
	status = lldp_ports(false, &v, &n);
	if (!status) {
		free(v);
		status = lldp_watch_start(&c->watch);
	}
	if (status)
		fail("%s", lldp_why());
	else
		status = announce_all(c);
	if (!status && !c->n)
		nothing_to_say(c);
	if (!status)
		status = loop(c, &held.mask);
	lldp_watch_stop(&c->watch);
	for (i = 0; i < c->n; i++)
		leave(c, &c->sides[i]);
	interrupt_release(&held);
	return status;
}

int qcn_lldp(struct args *a)
{
	struct lldp c = { .watch.fd = -1 };
	bool has_socket = false;
	struct link l;
	int status;
	size_t i;

	lldp_socket = NULL;
	while (a->argc) {
		if (arg_is(a, "once") || arg_is(a, "-1")) {
			if (arg_once(a, "once", &c.once))
				return ST_USAGE;
		} else if (arg_is(a, "socket")) {
			if (arg_once(a, "socket", &has_socket) ||
			    arg_value(a, "socket", &lldp_socket))
				return ST_USAGE;
		} else if (!strcmp(a->argv[0], "dev")) {
			if (c.ndevs == DEVS_MAX)
				return usage(a, "more than %u devices; without any all ports take part",
					     DEVS_MAX);
			if (arg_dev(a, &c.devs[c.ndevs]))
				return ST_USAGE;
			c.ndevs++;
		} else {
			return arg_unknown(a);
		}
	}
	status = family_open(&qcn_family);
	for (i = 0; !status && i < c.ndevs; i++)
		status = link_get(c.devs[i], &l);
	if (!status)
		status = c.once ? run_once(&c) : run_until_told(&c);
	if (c.events)
		nl_socket_free(c.events);
	free(c.sides);
	return status;
}
