// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl qcn show, the qdiscs: congestion points, reaction points and the limiters
 * that are their classes, by rtnetlink.
 */
#include <linux/gen_stats.h>
#include <linux/rtnetlink.h>
#include <linux/tc_qcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "qcn.h"
#include "tc.h"

/*
 * Everything is read before anything is shown: all qdiscs of the namespace, and the
 * classes of each port.
 */
static struct answer qdiscs, *classes;
static size_t n_ports;

void qcn_tc_free(void)
{
	answer_free(&qdiscs);
	while (n_ports)
		answer_free(&classes[--n_ports]);
	free(classes);
	classes = NULL;
}

int qcn_tc_read(const struct qcn_port_info *ports, size_t n)
{
	struct link l = { 0 };
	size_t i;
	int err;

	err = rtnl_talk(tc_request(&l, RTM_GETQDISC, NLM_F_DUMP, 0, 0, 0),
			&qdiscs);
	if (err)
		return nl_refused(err, "qdiscs");
	classes = calloc(n + 1, sizeof(*classes));
	if (!classes) {
		qcn_tc_free();
		return fail("out of memory");
	}
	for (i = 0; i < n; i++, n_ports++) {
		if (!ports[i].points)
			continue;
		l.index = (int)ports[i].ifindex;
		err = rtnl_talk(tc_request(&l, RTM_GETTCLASS, NLM_F_DUMP, 0, 0,
					   0), &classes[i]);
		if (!err)
			continue;
		qcn_tc_free();
		return nl_refused(err, ports[i].ifname);
	}
	return ST_OK;
}

/* Is it this device's qdisc, or class, of a kind? */
static const struct tcmsg *is_kind(const struct nl_msg *msg, uint32_t ifindex,
				   const char *kind, struct nlattr **tb)
{
	const struct tcmsg *t = tc_parse(msg, tb);

	if (!t || (uint32_t)t->tcm_ifindex != ifindex ||
	    strcmp(attr_str(tb[TCA_KIND], ""), kind))
		return NULL;
	return t;
}

/* An older module has fewer fields, a newer one more. */
static void read_xstats(struct nlattr **tb, void *x, size_t size,
			struct gnet_stats_queue *q)
{
	struct nlattr *stats[TCA_STATS_MAX + 1];
	const struct nlattr *app;
	size_t len;

	memset(x, 0, size);
	memset(q, 0, sizeof(*q));
	attr_nested(tb[TCA_STATS2], TCA_STATS_MAX, stats);
	app = stats[TCA_STATS_APP];
	if (app) {
		len = (size_t)nla_len(app);
		memcpy(x, nla_data(app), len < size ? len : size);
	}
	if (stats[TCA_STATS_QUEUE] &&
	    (size_t)nla_len(stats[TCA_STATS_QUEUE]) >= sizeof(*q))
		memcpy(q, nla_data(stats[TCA_STATS_QUEUE]), sizeof(*q));
}

/* As tc writes them */
static void print_handles(const char *what, const struct tcmsg *t)
{
	char text[24];

	snprintf(text, sizeof(text), "%x:", t->tcm_handle >> 16);
	out_text("    %s", what);
	out_str("handle", " %s", text);
	if (t->tcm_parent == TC_H_ROOT)
		snprintf(text, sizeof(text), "root");
	else
		snprintf(text, sizeof(text), "%x:%x", t->tcm_parent >> 16,
			 t->tcm_parent & 0xffff);
	out_str("parent", t->tcm_parent == TC_H_ROOT ? " %s" : " parent %s",
		text);
}

static void print_u64s(const char *key, const __u64 *v, size_t n)
{
	size_t i;

	out_open_array(key);
	for (i = 0; i < n; i++)
		out_u64(NULL, NULL, v[i]);
	out_close_array();
}

static void print_cp(const struct tcmsg *t, struct nlattr **tb)
{
	struct tc_qcn_cp_xstats x;
	struct gnet_stats_queue q;
	uint64_t cnms = 0, frames = 0;
	struct nlattr *opts[TCA_QCN_CP_MAX + 1];
	unsigned int i;

	read_xstats(tb, &x, sizeof(x), &q);
	attr_nested(tb[TCA_OPTIONS], TCA_QCN_CP_MAX, opts);
	for (i = 0; i < TC_QCN_FB_BINS; i++)
		cnms += x.cnm[i];
	for (i = 0; i < TC_QCN_QUEUE_BINS; i++)
		frames += x.queue[i];

	out_open_object(NULL);
	print_handles("qcn_cp", t);
	out_priorities("cnpvs", "  cnpv ", x.cnpvs);
	out_u64("qeq_bytes", "\n      queue      qeq %" PRIu64,
		attr_u32(opts[TCA_QCN_CP_QEQ], 0));
	out_u64("limit_bytes", "  limit %" PRIu64,
		attr_u32(opts[TCA_QCN_CP_LIMIT], 0));
	out_u64("backlog_bytes", "  now %" PRIu64, q.backlog);
	out_u64("qlen", " (%" PRIu64 " frames)", q.qlen);
	if (frames)
		out_u64("queue_mean_bytes", "  mean %" PRIu64,
			x.queue_sum_bytes / frames);
	else
		out_null("queue_mean_bytes", NULL);
	out_u64("queue_max_bytes", "  max %" PRIu64 "\n", x.queue_max_bytes);
	out_u64("sampled", "      frames     sampled %" PRIu64, x.sampled);
	out_u64("unanswerable", "  unanswerable %" PRIu64, x.unanswerable);
	out_u64("transmitted", "  transmitted %" PRIu64, x.transmitted);
	out_u64("discarded", "  discarded %" PRIu64, x.discarded);
	out_u64("stripped", "  stripped %" PRIu64 "\n", x.stripped);
	out_text("      CNMs       %" PRIu64, cnms);
	print_u64s("cnm", x.cnm, TC_QCN_FB_BINS);
	out_u64("cnm_dropped", "  dropped %" PRIu64, x.cnm_dropped);
	out_u64("last_qntzfb", "  last QntzFb %" PRIu64 "\n", x.last_qntzfb);
	out_u64("queue_sum_bytes", NULL, x.queue_sum_bytes);
	print_u64s("queue", x.queue, TC_QCN_QUEUE_BINS);
	out_u64("qold_bytes", NULL, x.qold_bytes);
	out_close_object();
}

static void print_limiter(struct nlattr **tb)
{
	struct tc_qcn_rp_class_xstats x;
	struct gnet_stats_queue q;

	read_xstats(tb, &x, sizeof(x), &q);
	out_open_object(NULL);
	out_u64("priority", "      priority %" PRIu64, x.priority);
	out_u64("rpid", " rpid %" PRIu64, x.rpid);
	out_rate("cr_bps", "  rate %s", x.cr_bps);
	out_rate("tr_bps", "  target %s", x.tr_bps);
	out_u64("byte_stage", "  stages %" PRIu64, x.byte_stage);
	out_u64("time_stage", "/%" PRIu64, x.time_stage);
	out_s64("left_bytes", "  left %" PRId64, x.left_bytes);
	out_s64("timer_ns", NULL, x.timer_ns);
	out_time("active_ns", "  active %s\n", x.active_ns);
	out_u64("cnms", "        CNMs %" PRIu64, x.cnms);
	out_u64("last_qntzfb", "  last QntzFb %" PRIu64, x.last_qntzfb);
	out_u64("dropped", "  dropped %" PRIu64, x.dropped);
	out_u64("backlog_bytes", "  queue %" PRIu64, q.backlog);
	out_u64("qlen", " (%" PRIu64 " frames)\n", q.qlen);
	out_close_object();
}

static void print_rp(const struct tcmsg *t, struct nlattr **tb,
		     const struct answer *limiters)
{
	struct nlattr *ctb[TCA_MAX + 1];
	struct tc_qcn_rp_xstats x;
	struct gnet_stats_queue q;
	const struct tcmsg *c;
	size_t i;

	read_xstats(tb, &x, sizeof(x), &q);
	out_open_object(NULL);
	print_handles("qcn_rp", t);
	out_rate("line_bps", "  line %s", x.line_bps);
	out_priorities("cnpvs", "  cnpv ", x.cnpvs);
	out_u64("rps", "  rps %" PRIu64 "\n", x.rps);
	out_u64("active", "      limiters   %" PRIu64, x.active);
	out_u64("activations", "  activations %" PRIu64, x.activations);
	out_u64("releases", "  releases %" PRIu64, x.releases);
	out_time("active_ns", "  active %s\n", x.active_ns);
	out_u64("cnm_used", "      CNMs       used %" PRIu64, x.cnm_used);
	out_u64("cnm_ignored", "  ignored %" PRIu64, x.cnm_ignored);
	out_u64("nomem", "  nomem %" PRIu64 "\n", x.nomem);
	out_u64("tagged", "      frames     tagged %" PRIu64, x.tagged);
	out_u64("untagged_mtu", "  untagged_mtu %" PRIu64, x.untagged_mtu);
	out_u64("untagged_nomem", "  untagged_nomem %" PRIu64,
		x.untagged_nomem);
	out_u64("flow_drops", "  flow_drops %" PRIu64, x.flow_drops);
	out_u64("limit_drops", "  limit_drops %" PRIu64 "\n", x.limit_drops);
	out_u64("backlog_bytes", "      queue      %" PRIu64, q.backlog);
	out_u64("qlen", " (%" PRIu64 " frames)\n", q.qlen);
	out_open_array("limiters");
	for (i = 0; i < limiters->n; i++) {
		c = is_kind(limiters->msgs[i], (uint32_t)t->tcm_ifindex,
			    "qcn_rp", ctb);
		if (c && c->tcm_handle >> 16 == t->tcm_handle >> 16)
			print_limiter(ctb);
	}
	out_close_array();
	out_close_object();
}

/* The port is number port of those that qcn_tc_read() was told. */
void print_qcn_points(size_t port, uint32_t ifindex)
{
	struct nlattr *tb[TCA_MAX + 1];
	const struct tcmsg *t;
	size_t i;

	out_open_array("cps");
	for (i = 0; i < qdiscs.n; i++) {
		t = is_kind(qdiscs.msgs[i], ifindex, "qcn_cp", tb);
		if (t)
			print_cp(t, tb);
	}
	out_close_array();
	out_open_array("rps");
	for (i = 0; i < qdiscs.n; i++) {
		t = is_kind(qdiscs.msgs[i], ifindex, "qcn_rp", tb);
		if (t)
			print_rp(t, tb, &classes[port]);
	}
	out_close_array();
}
