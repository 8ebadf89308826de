// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl port show: configuration, state and statistics of ports.
 */
#include <errno.h>
#include <string.h>

#include "output.h"
#include "port.h"

const char *const estimator_words[3] = {
	[CSIG_ESTIMATOR_RAW] = "raw",
	[CSIG_ESTIMATOR_EWMA] = "ewma",
	[CSIG_ESTIMATOR_DRE] = "dre",
};

const char *const ingress_words[3] = {
	[CSIG_INGRESS_STRIP] = "strip",
	[CSIG_INGRESS_TRUST] = "trust",
	[CSIG_INGRESS_DROP] = "drop",
};

const char *const egress_words[2] = {
	[CSIG_EGRESS_KEEP] = "keep",
	[CSIG_EGRESS_STRIP] = "strip",
};

const char *const unknown_words[2] = {
	[CSIG_UNKNOWN_PASS] = "pass",
	[CSIG_UNKNOWN_STRIP] = "strip",
};

static const char *const capacity_source_words[] = {
	[CSIG_CAPACITY_SOURCE_UNKNOWN] = "unknown",
	[CSIG_CAPACITY_SOURCE_USER] = "user",
	[CSIG_CAPACITY_SOURCE_ETHTOOL] = "ethtool",
};

static void print_capacity(struct nlattr **config, struct nlattr **state)
{
	uint64_t set = attr_u64(config[CSIG_A_PORT_CONFIG_CAPACITY_BPS], 0);

	if (state[CSIG_A_PORT_STATE_CAPACITY_BPS])
		out_rate("capacity_bps", "    capacity   %s",
			 attr_u64(state[CSIG_A_PORT_STATE_CAPACITY_BPS], 0));
	else
		out_null("capacity_bps", "    capacity  ");
	out_str("capacity_source", " (%s)\n",
		WORD(capacity_source_words,
		     attr_u8(state[CSIG_A_PORT_STATE_CAPACITY_SOURCE], 0)));
	if (set)
		out_u64("capacity_configured_bps", NULL, set);
	else
		out_null("capacity_configured_bps", NULL);
}

static void print_estimator(struct nlattr **config)
{
	unsigned int kind = attr_u8(config[CSIG_A_PORT_CONFIG_ESTIMATOR], 0);

	out_str("estimator", "    estimator  %s", WORD(estimator_words, kind));
	out_time("interval_ns", kind == CSIG_ESTIMATOR_EWMA ?
		 " time-constant %s" : " interval %s",
		 attr_u64(config[CSIG_A_PORT_CONFIG_INTERVAL_NS], 0));
	out_ppm("alpha_ppm", kind == CSIG_ESTIMATOR_DRE ? " alpha %s" : NULL,
		attr_u32(config[CSIG_A_PORT_CONFIG_ALPHA_PPM], 0));
	out_u64("overhead_bytes", "  overhead %" PRIu64 " bytes\n",
		attr_u32(config[CSIG_A_PORT_CONFIG_OVERHEAD_BYTES], 0));
}

static void print_state(struct nlattr **state)
{
	out_rate("util_bps", "    load       %s",
		 attr_u64(state[CSIG_A_PORT_STATE_UTIL_BPS], 0));
	if (state[CSIG_A_PORT_STATE_ABW_BPS])
		out_rate("abw_bps", "  abw %s",
			 attr_u64(state[CSIG_A_PORT_STATE_ABW_BPS], 0));
	else
		out_null("abw_bps", "  abw unknown");
	if (state[CSIG_A_PORT_STATE_ABWC_PPM])
		out_ppm("abwc_ppm", "  abw/c %s\n",
			attr_u32(state[CSIG_A_PORT_STATE_ABWC_PPM], 0));
	else
		out_null("abwc_ppm", "  abw/c unknown\n");
	out_time("pd_last_ns", "    delay      last %s",
		 attr_u64(state[CSIG_A_PORT_STATE_PD_LAST_NS], 0));
	out_time("pd_max_ns", "  max %s",
		 attr_u64(state[CSIG_A_PORT_STATE_PD_MAX_NS], 0));
	if (state[CSIG_A_PORT_STATE_NQD_NS])
		out_time("nqd_ns", "  queue %s\n",
			 attr_u64(state[CSIG_A_PORT_STATE_NQD_NS], 0));
	else
		out_null("nqd_ns", "  queue unknown\n");
}

static void print_policy(struct nlattr **config)
{
	out_str("ingress", "    policy     ingress %s",
		WORD(ingress_words,
		     attr_u8(config[CSIG_A_PORT_CONFIG_INGRESS], 0)));
	out_str("egress", "  egress %s",
		WORD(egress_words,
		     attr_u8(config[CSIG_A_PORT_CONFIG_EGRESS], 0)));
	out_str("unknown", "  unknown %s",
		WORD(unknown_words,
		     attr_u8(config[CSIG_A_PORT_CONFIG_UNKNOWN], 0)));
	out_bool("update", "  update %s\n",
		 attr_u8(config[CSIG_A_PORT_CONFIG_UPDATE], 0));
}

/* All values of a port are siblings of one type. */
static void print_lm(const struct nlattr *config)
{
	struct nlattr *tb[CSIG_A_LM_VALUE_MAX + 1];
	bool first = true;
	struct nlattr *a;
	int rem;

	out_open_object("lm");
	if (config) {
		nla_for_each_nested(a, config, rem) {
			if (nla_type(a) != CSIG_A_PORT_CONFIG_LM)
				continue;
			attr_nested(a, CSIG_A_LM_VALUE_MAX, tb);
			out_text("%s%s", first ? "    lm         " : ",",
				 attr_str(tb[CSIG_A_LM_VALUE_NAME], "?"));
			out_u64(attr_str(tb[CSIG_A_LM_VALUE_NAME], "?"),
				"=%" PRIu64,
				attr_u16(tb[CSIG_A_LM_VALUE_VALUE], 0));
			first = false;
		}
	}
	if (!first)
		out_text("\n");
	out_close_object();
}

static void print_signals(const struct nl_msg *msg,
			  const struct csig_profile *profile)
{
	struct nlattr *tb[CSIG_A_PORT_SIGNAL_MAX + 1];
	unsigned int t, format;
	struct nlattr *a;
	int rem;

	out_open_array("signals");
	for (a = csig_attr_first(msg, &rem); nla_ok(a, rem);
	     a = nla_next(a, &rem)) {
		if (nla_type(a) != CSIG_A_PORT_SIGNAL)
			continue;
		attr_nested(a, CSIG_A_PORT_SIGNAL_MAX, tb);
		t = attr_u8(tb[CSIG_A_PORT_SIGNAL_T], 0) % CSIG_SIGNALS;
		format = attr_u8(tb[CSIG_A_PORT_SIGNAL_FORMAT], 0);
		out_open_object(NULL);
		out_u64("t", "    signal %-2" PRIu64, t);
		out_str("name", "  %-9s", signal_name(&profile->signals[t]));
		out_str("format", "  %-8s", WORD(format_words, format));
		if (tb[CSIG_A_PORT_SIGNAL_S])
			out_u64("s", "  s %-7" PRIu64,
				attr_u32(tb[CSIG_A_PORT_SIGNAL_S], 0));
		else
			out_null("s", "  s -      ");
		out_u64("lm", "  lm %" PRIu64 "\n",
			attr_u16(tb[CSIG_A_PORT_SIGNAL_LM], 0));
		out_close_object();
	}
	out_close_array();
}

static void print_stats(const struct nlattr *nest)
{
	static const char *const keys[CSIG_A_PORT_STATS_MAX + 1] = {
		[CSIG_A_PORT_STATS_TAGGED] = "tagged",
		[CSIG_A_PORT_STATS_UPDATED] = "updated",
		[CSIG_A_PORT_STATS_PASSED] = "passed",
		[CSIG_A_PORT_STATS_STRIPPED] = "stripped",
		[CSIG_A_PORT_STATS_UNKNOWN_SIGNAL] = "unknown_signal",
		[CSIG_A_PORT_STATS_MALFORMED] = "malformed",
		[CSIG_A_PORT_STATS_SKIPPED_MTU] = "skipped_mtu",
		[CSIG_A_PORT_STATS_SKIPPED_NOMEM] = "skipped_nomem",
		[CSIG_A_PORT_STATS_UNTAGGED] = "untagged",
		[CSIG_A_PORT_STATS_CARRIED] = "carried",
		[CSIG_A_PORT_STATS_DROPPED] = "dropped",
		[CSIG_A_PORT_STATS_BITS] = "bits",
	};
	struct nlattr *tb[CSIG_A_PORT_STATS_MAX + 1];
	unsigned int i, column = 0;

	attr_nested(nest, CSIG_A_PORT_STATS_MAX, tb);
	out_open_object("stats");
	for (i = 1; i < ARRAY_SIZE(keys); i++) {
		out_text("%s%-14s ", column % 4 ? "  " : "    ", keys[i]);
		out_u64(keys[i], "%-10" PRIu64, attr_u64(tb[i], 0));
		if (++column % 4 == 0)
			out_text("\n");
	}
	if (column % 4)
		out_text("\n");
	out_close_object();
}

/*
 * What measures the port: its csig qdiscs, or the filter of "qdisc keep".  Only
 * without a qdisc the filters are looked at.
 */
static void print_measured(unsigned int qdiscs, uint32_t index)
{
	const struct link l = { .index = (int)index, .name = "filter" };
	bool filter = !qdiscs && tc_updates_before_queue(&l);

	if (opt.json)
		out_bool("operational", NULL, qdiscs || filter);
	if (qdiscs)
		out_str("measured_by", NULL, "qdisc");
	else if (filter)
		out_str("measured_by", "  before the queue, without delays\n",
			"filter");
	else
		out_null("measured_by", "  NOT OPERATIONAL: no csig qdisc\n");
	out_u64("qdiscs", qdiscs ? "  csig qdiscs %" PRIu64 "\n" : NULL, qdiscs);
}

void print_port(const struct nl_msg *msg, const struct csig_profile *profile)
{
	struct nlattr *config[CSIG_A_PORT_CONFIG_MAX + 1];
	struct nlattr *state[CSIG_A_PORT_STATE_MAX + 1];
	struct nlattr *tb[CSIG_A_PORT_MAX + 1];
	unsigned int qdiscs;

	if (csig_attrs(msg, CSIG_A_PORT_MAX, tb))
		return;
	attr_nested(tb[CSIG_A_PORT_CONFIG], CSIG_A_PORT_CONFIG_MAX, config);
	attr_nested(tb[CSIG_A_PORT_STATE], CSIG_A_PORT_STATE_MAX, state);
	qdiscs = attr_u32(state[CSIG_A_PORT_STATE_QDISCS], 0);

	out_open_object(NULL);
	out_str("ifname", "%s:", attr_str(tb[CSIG_A_PORT_IFNAME], "?"));
	out_u64("ifindex", " ifindex %" PRIu64,
		attr_u32(tb[CSIG_A_PORT_IFINDEX], 0));
	print_measured(qdiscs, attr_u32(tb[CSIG_A_PORT_IFINDEX], 0));
	print_capacity(config, state);
	print_estimator(config);
	print_state(state);
	print_policy(config);
	print_lm(tb[CSIG_A_PORT_CONFIG]);
	print_signals(msg, profile);
	print_stats(tb[CSIG_A_PORT_STATS]);
	out_close_object();
}

int port_show(struct args *a)
{
	struct answer answer;
	const char *dev = NULL;
	struct domain d;
	struct nl_msg *msg;
	struct link l;
	int err, status;
	size_t i;

	if (a->argc && (arg_dev(a, &dev) || arg_end(a)))
		return ST_USAGE;
	status = domain_get(&d);
	if (!status && dev)
		status = link_get(dev, &l);
	if (status)
		return status;
	msg = csig_request(CSIG_CMD_PORT_GET, dev ? 0 : NLM_F_DUMP);
	if (msg && dev)
		nla_put_u32(msg, CSIG_A_PORT_IFINDEX, (uint32_t)l.index);
	err = csig_talk(msg, &answer);
	if (err)
		return nl_refused(err, dev ? dev : "port");
	out_open_array(NULL);
	for (i = 0; i < answer.n; i++)
		print_port(answer.msgs[i], &d.profile);
	out_close_array();
	answer_free(&answer);
	return ST_OK;
}
