// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl monitor: what happens to the domain and the ports, one line an event.
 */
#include <errno.h>
#include <netlink/genl/ctrl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "csigctl.h"
#include "decode.h"
#include "interrupt.h"
#include "names.h"
#include "nl.h"
#include "output.h"
#include "port.h"
#include "profile.h"

static const char help[] =
	"Usage: csigctl monitor [ count N ] [ names FILE ]\n"
	"where  count stops after N events,\n"
	"       names has lines FIELD=V[,FIELD=V...] NAME (" NAMES_DEFAULT ").\n"
	"Events: domain, port, port-del, bottleneck; with -j one object a line.\n";

/* What the callback needs */
struct monitor {
	struct csig_profile profile;
	uint64_t events, count;
	int family;
	bool stale;		/* the profile changed */
};

static void print_head(const char *event)
{
	struct timespec now;
	char text[16];
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	out_open_object(NULL);
	out_u64("time_ns", NULL, (uint64_t)now.tv_sec * CSIG_NSEC_PER_SEC +
				 (uint64_t)now.tv_nsec);
	localtime_r(&now.tv_sec, &tm);
	strftime(text, sizeof(text), "%H:%M:%S", &tm);
	out_text("%s.%03ld", text, now.tv_nsec / 1000000);
	out_str("event", " %s", event);
}

static void print_domain(const struct nl_msg *msg)
{
	struct nlattr *tb[CSIG_A_DOMAIN_MAX + 1];

	if (csig_attrs(msg, CSIG_A_DOMAIN_MAX, tb))
		return;
	print_head("domain");
	out_digest("digest", " digest %s",
		   attr_u64(tb[CSIG_A_DOMAIN_DIGEST], 0));
	out_hex16("compact_tpid", " compact-tpid %s",
		  attr_u16(tb[CSIG_A_DOMAIN_COMPACT_TPID], 0));
	out_hex16("expanded_tpid", " expanded-tpid %s",
		  attr_u16(tb[CSIG_A_DOMAIN_EXPANDED_TPID], 0));
}

static void print_port_event(const struct nl_msg *msg)
{
	struct nlattr *config[CSIG_A_PORT_CONFIG_MAX + 1];
	struct nlattr *state[CSIG_A_PORT_STATE_MAX + 1];
	struct nlattr *tb[CSIG_A_PORT_MAX + 1];

	if (csig_attrs(msg, CSIG_A_PORT_MAX, tb))
		return;
	attr_nested(tb[CSIG_A_PORT_CONFIG], CSIG_A_PORT_CONFIG_MAX, config);
	attr_nested(tb[CSIG_A_PORT_STATE], CSIG_A_PORT_STATE_MAX, state);
	print_head("port");
	out_str("ifname", " %s", attr_str(tb[CSIG_A_PORT_IFNAME], "?"));
	out_u64("ifindex", NULL, attr_u32(tb[CSIG_A_PORT_IFINDEX], 0));
	if (state[CSIG_A_PORT_STATE_CAPACITY_BPS])
		out_rate("capacity_bps", " capacity %s",
			 attr_u64(state[CSIG_A_PORT_STATE_CAPACITY_BPS], 0));
	else
		out_null("capacity_bps", " capacity unknown");
	out_str("estimator", " estimator %s",
		WORD(estimator_words,
		     attr_u8(config[CSIG_A_PORT_CONFIG_ESTIMATOR], 0)));
	out_time("interval_ns", " %s",
		 attr_u64(config[CSIG_A_PORT_CONFIG_INTERVAL_NS], 0));
	out_str("ingress", " ingress %s",
		WORD(ingress_words,
		     attr_u8(config[CSIG_A_PORT_CONFIG_INGRESS], 0)));
	out_str("egress", " egress %s",
		WORD(egress_words,
		     attr_u8(config[CSIG_A_PORT_CONFIG_EGRESS], 0)));
	out_u64("qdiscs", " qdiscs %" PRIu64,
		attr_u32(state[CSIG_A_PORT_STATE_QDISCS], 0));
}

static void print_port_del(const struct nl_msg *msg)
{
	struct nlattr *tb[CSIG_A_PORT_MAX + 1];

	if (csig_attrs(msg, CSIG_A_PORT_MAX, tb))
		return;
	print_head("port-del");
	out_str("ifname", " %s", attr_str(tb[CSIG_A_PORT_IFNAME], "?"));
	out_u64("ifindex", NULL, attr_u32(tb[CSIG_A_PORT_IFINDEX], 0));
}

static void print_bottleneck(const struct nl_msg *msg,
			     const struct csig_profile *p)
{
	struct nlattr *tb[CSIG_A_BOTTLENECK_MAX + 1];
	struct csig_tag tag = { 0 };

	if (csig_attrs(msg, CSIG_A_BOTTLENECK_MAX, tb))
		return;
	tag.format = attr_u8(tb[CSIG_A_BOTTLENECK_FORMAT], 0) & 1;
	tag.t = attr_u8(tb[CSIG_A_BOTTLENECK_T], 0) % CSIG_SIGNALS;
	tag.s = attr_u32(tb[CSIG_A_BOTTLENECK_S], 0);
	tag.lm = attr_u16(tb[CSIG_A_BOTTLENECK_LM], 0);
	print_head("bottleneck");
	out_str("ifname", " %s", attr_str(tb[CSIG_A_BOTTLENECK_IFNAME], "?"));
	out_u64("ifindex", NULL, attr_u32(tb[CSIG_A_BOTTLENECK_IFINDEX], 0));
	print_tag(p, &tag);
	out_u64("updated", " updated %" PRIu64,
		attr_u64(tb[CSIG_A_BOTTLENECK_UPDATED], 0));
}

static int on_event(struct nl_msg *msg, void *arg)
{
	struct monitor *m = arg;

	if (nlmsg_hdr(msg)->nlmsg_type != m->family)
		return NL_OK;
	switch (csig_cmd(msg)) {
	case CSIG_CMD_DOMAIN_NTF:
		m->stale = true;
		print_domain(msg);
		break;
	case CSIG_CMD_PORT_NTF:
		print_port_event(msg);
		break;
	case CSIG_CMD_PORT_DEL_NTF:
		print_port_del(msg);
		break;
	case CSIG_CMD_BOTTLENECK_NTF:
		print_bottleneck(msg, &m->profile);
		break;
	default:
		return NL_OK;
	}
	out_text("\n");
	out_close_object();
	fflush(stdout);
	m->events++;
	return m->events == m->count || ferror(stdout) ? NL_STOP : NL_OK;
}

static int no_seq_check(struct nl_msg *msg, void *arg)
{
	(void)msg;
	(void)arg;
	return NL_OK;
}

static int loop(struct monitor *m, struct nl_sock *sk, const sigset_t *mask)
{
	struct pollfd pfd = { .fd = nl_socket_get_fd(sk), .events = POLLIN };
	struct domain d;
	int err;

	while (!interrupt_came() && (!m->count || m->events < m->count) &&
	       !ferror(stdout)) {
		if (ppoll(&pfd, 1, NULL, mask) < 0) {
			if (errno == EINTR)
				continue;
			return fail("monitor: %s", strerror(errno));
		}
		errno = 0;
		err = nl_recvmsgs_default(sk);
		/* libnl says NOMEM for ENOBUFS, too */
		if (err == -NLE_NOMEM)
			warn("monitor: events were lost, going on");
		else if (err < 0 && err != -NLE_AGAIN)
			return fail("monitor: %s", nl_geterror(err));
		if (!m->stale)
			continue;
		err = domain_get(&d);
		if (err)
			return err;
		m->profile = d.profile;
		m->stale = false;
	}
	return ST_OK;
}

/* Signals arrive only while there is nothing to do. */
static int run(struct monitor *m, struct nl_sock *sk)
{
	struct interrupt held;
	int status;

	interrupt_hold(&held);
	status = loop(m, sk, &held.mask);
	interrupt_release(&held);
	return status;
}

int do_monitor(struct args *a)
{
	const char *names = NULL, *v = NULL;
	struct monitor m = { 0 };
	struct nl_sock *sk;
	struct domain d;
	int group, status;

	if (arg_wants_help(a)) {
		fputs(help, stdout);
		return ST_OK;
	}
	while (a->argc) {
		if (!names && arg_is(a, "names")) {
			if (arg_value(a, "names", &names))
				return ST_USAGE;
		} else if (!v && arg_is(a, "count")) {
			if (arg_value(a, "count", &v))
				return ST_USAGE;
			if (parse_uint(v, UINT64_MAX, &m.count) || !m.count)
				return usage(a, "count \"%s\" is not a number from 1 on",
					     v);
		} else {
			return arg_unknown(a);
		}
	}
	status = names_read(names ? names : NAMES_DEFAULT, !names);
	if (!status)
		status = csig_open();
	if (status)
		return status;
	sk = csig_socket(&m.family);
	if (!sk)
		return fail("netlink socket: %s", strerror(errno));
	nl_socket_modify_cb(sk, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, no_seq_check,
			    NULL);
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, on_event, &m);
	group = genl_ctrl_resolve_grp(sk, CSIG_GENL_NAME, CSIG_MCGRP_MONITOR);
	if (group < 0 || nl_socket_add_membership(sk, group)) {
		status = fail("monitor: cannot join the group of the csig family");
	} else {
		nl_socket_set_nonblocking(sk);
		status = domain_get(&d);
		m.profile = d.profile;
		if (!status)
			status = run(&m, sk);
	}
	nl_socket_free(sk);
	names_free();
	return status;
}
