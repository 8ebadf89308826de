// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl qcn dcb: adapters that are reaction points by themselves, through the ieee_qcn
 * attributes of the kernel's DCB netlink.  The kernel has rates in Mbit/s (the minimum
 * in bit/s) and times in microseconds; here they are bit/s and nanoseconds.
 */
#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "output.h"
#include "qcn.h"

#define MBIT		1000000ULL
#define US		1000ULL
#define CENTISECOND	10000000ULL

/**
 * struct field - a setting of a priority
 * @word: in commands
 * @key: in JSON
 * @text: how it is printed, a number or a text that comes from it
 * @kind: of number
 * @unit: of the kernel in ours
 * @max: largest value, in the kernel's unit
 * @offset: of its array in struct ieee_qcn
 */
struct field {
	const char *word;
	const char *key;
	const char *text;
	enum { NUMBER, RATE, TIME } kind;
	uint64_t unit;
	uint64_t max;
	size_t offset;
};

#define FIELD(word, key, text, kind, unit, max, member)			\
	{ word, key, text, kind, unit, max, offsetof(struct ieee_qcn, member) }

static const struct field fields[] = {
	FIELD("rps", "rps", "  rps %" PRIu64, NUMBER, 1, 100, rppp_max_rps),
	FIELD("rate", "rate_bps", "  rate %s", RATE, MBIT, UINT32_MAX,
	      rpg_max_rate),
	FIELD("min-rate", "min_rate_bps", "  min-rate %s", RATE, 1, UINT32_MAX,
	      rpg_min_rate),
	FIELD("ai", "ai_bps", "  ai %s", RATE, MBIT, UINT32_MAX, rpg_ai_rate),
	FIELD("hai", "hai_bps", "  hai %s\n", RATE, MBIT, UINT32_MAX,
	      rpg_hai_rate),
	FIELD("timer", "timer_ns", "      timer %s", TIME, US, UINT32_MAX,
	      rpg_time_reset),
	FIELD("bytes", "bytes", "  bytes %" PRIu64, NUMBER, 1, UINT32_MAX,
	      rpg_byte_reset),
	FIELD("threshold", "threshold", "  threshold %" PRIu64, NUMBER, 1, 255,
	      rpg_threshold),
	FIELD("gd", "gd", "  gd %" PRIu64, NUMBER, 1, 15, rpg_gd),
	FIELD("min-dec", "min_dec_percent", "  min-dec %" PRIu64 "%%\n", NUMBER,
	      1, 100, rpg_min_dec_fac),
};

static const char *const cndd_words[] = {
	[DCB_CNDD_RESET] = "disabled",
	[DCB_CNDD_EDGE] = "edge",
	[DCB_CNDD_INTERIOR] = "interior",
	[DCB_CNDD_INTERIOR_READY] = "interior-ready",
};

static __u32 *array_of(struct ieee_qcn *qcn, const struct field *f)
{
	return (__u32 *)(void *)((char *)qcn + f->offset);
}

static struct nl_msg *dcb_request(uint16_t type, uint8_t cmd, const char *dev)
{
	const struct dcbmsg header = { .dcb_family = AF_UNSPEC, .cmd = cmd };
	struct nl_msg *msg = rtnl_request(type, 0, &header, sizeof(header));

	if (msg)
		nla_put_string(msg, DCB_ATTR_IFNAME, dev);
	return msg;
}

static int refused(int err, const char *dev)
{
	if (err == -EOPNOTSUPP)
		return fail("%s: its driver has no DCB, and so no QCN of its own; in software: tc qdisc add dev %s root qcn_rp",
			    dev, dev);
	return nl_refused(err, dev);
}

static int dcb_get(const char *dev, struct ieee_qcn *qcn,
		   struct ieee_qcn_stats *stats, bool *has_stats)
{
	struct nlattr *tb[DCB_ATTR_MAX + 1], *ieee[DCB_ATTR_IEEE_MAX + 1];
	struct answer answer;
	int err;

	err = rtnl_talk(dcb_request(RTM_GETDCB, DCB_CMD_IEEE_GET, dev),
			&answer);
	if (err)
		return refused(err, dev);
	memset(ieee, 0, sizeof(ieee));
	if (answer.n && !nlmsg_parse(nlmsg_hdr(answer.msgs[0]),
				     sizeof(struct dcbmsg), tb, DCB_ATTR_MAX,
				     NULL))
		attr_nested(tb[DCB_ATTR_IEEE], DCB_ATTR_IEEE_MAX, ieee);
	err = !ieee[DCB_ATTR_IEEE_QCN] ||
	      (size_t)nla_len(ieee[DCB_ATTR_IEEE_QCN]) < sizeof(*qcn);
	if (!err)
		memcpy(qcn, nla_data(ieee[DCB_ATTR_IEEE_QCN]), sizeof(*qcn));
	*has_stats = ieee[DCB_ATTR_IEEE_QCN_STATS] &&
		(size_t)nla_len(ieee[DCB_ATTR_IEEE_QCN_STATS]) >= sizeof(*stats);
	if (*has_stats)
		memcpy(stats, nla_data(ieee[DCB_ATTR_IEEE_QCN_STATS]),
		       sizeof(*stats));
	answer_free(&answer);
	if (err)
		return fail("%s: its driver has DCB without QCN; in software: tc qdisc add dev %s root qcn_rp",
			    dev, dev);
	return ST_OK;
}

static void print_field(const struct field *f, uint32_t v)
{
	uint64_t value = v * f->unit;

	if (f->kind == RATE)
		out_rate(f->key, f->text, value);
	else if (f->kind == TIME)
		out_time(f->key, f->text, value);
	else
		out_u64(f->key, f->text, value);
}

static void print_priority(struct ieee_qcn *qcn, unsigned int priority,
			   const struct ieee_qcn_stats *stats)
{
	size_t i;

	out_open_object(NULL);
	out_u64("priority", "    priority %" PRIu64, priority);
	out_str("mode", "  %s", WORD(cndd_words,
				     qcn->cndd_state_machine[priority]));
	if (opt.json)
		out_bool("rp", NULL, qcn->rpg_enable[priority]);
	else
		out_bool(NULL, "  rp %s", qcn->rpg_enable[priority]);
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		print_field(&fields[i], array_of(qcn, &fields[i])[priority]);
	if (stats) {
		out_open_object("stats");
		out_u64("rps", "      limiters %" PRIu64,
			stats->rppp_created_rps[priority]);
		out_time("active_ns", "  active %s\n",
			 stats->rppp_rp_centiseconds[priority] * CENTISECOND);
		out_close_object();
	} else {
		out_null("stats", NULL);
	}
	out_close_object();
}

static int dcb_show(struct args *a)
{
	struct ieee_qcn_stats stats;
	struct ieee_qcn qcn;
	const char *dev;
	struct link l;
	unsigned int i;
	bool has_stats;
	int status;

	if (arg_dev(a, &dev) || arg_end(a))
		return ST_USAGE;
	status = link_get(dev, &l);
	if (!status)
		status = dcb_get(dev, &qcn, &stats, &has_stats);
	if (status)
		return status;
	out_open_array(NULL);
	out_open_object(NULL);
	out_str("ifname", "%s:", l.name);
	out_u64("ifindex", " ifindex %" PRIu64 "\n", (uint64_t)l.index);
	out_open_array("priorities");
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++)
		print_priority(&qcn, i, has_stats ? &stats : NULL);
	out_close_array();
	out_close_object();
	out_close_array();
	return ST_OK;
}

/**
 * struct wanted - what is to be set
 * @priorities: of these
 * @has: by index in fields[]
 * @value: likewise, in the kernel's unit
 * @has_rp: @rp is given
 * @rp: reaction point on
 * @has_mode: @mode is given
 * @mode: enum dcbnl_cndd_states
 */
struct wanted {
	uint8_t priorities;
	bool has[ARRAY_SIZE(fields)];
	uint32_t value[ARRAY_SIZE(fields)];
	bool has_rp;
	bool rp;
	bool has_mode;
	unsigned int mode;
};

static int parse_field(struct args *a, const struct field *f, uint32_t *v)
{
	const char *text;
	uint64_t value;
	int err;

	if (arg_value(a, f->word, &text))
		return ST_USAGE;
	if (f->kind == RATE)
		err = parse_rate(text, &value);
	else if (f->kind == TIME)
		err = parse_time(text, &value);
	else
		err = parse_uint(text, f->max, &value);
	if (err && f->kind == NUMBER)
		return usage(a, "%s \"%s\" is not 0..%" PRIu64, f->word, text,
			     f->max);
	if (err || value % f->unit || value / f->unit > f->max)
		return usage(a, "%s \"%s\" is not a %s%s", f->word, text,
			     f->kind == TIME ? "time of whole microseconds" :
			     f->unit == MBIT ? "rate of whole Mbit/s" : "rate",
			     f->unit == 1 ? " below 4.3 Gbit/s" : "");
	*v = (uint32_t)(value / f->unit);
	return ST_OK;
}

static int parse_word_setting(struct args *a, struct wanted *w)
{
	const char *text;

	if (arg_is(a, "rp")) {
		if (arg_once(a, "rp", &w->has_rp) || arg_value(a, "rp", &text))
			return ST_USAGE;
		return parse_onoff(text, &w->rp) ?
			usage(a, "rp \"%s\" is not on or off", text) : ST_OK;
	}
	if (arg_is(a, "mode")) {
		if (arg_once(a, "mode", &w->has_mode) ||
		    arg_value(a, "mode", &text))
			return ST_USAGE;
		return parse_word(text, cndd_words, ARRAY_SIZE(cndd_words),
				  &w->mode) ?
			usage(a, "mode \"%s\" is unknown", text) : ST_OK;
	}
	return arg_unknown(a);
}

static int parse_wanted(struct args *a, struct wanted *w)
{
	const char *text;
	size_t i;

	memset(w, 0, sizeof(*w));
	if (!arg_is(a, "prio"))
		return usage(a, "\"prio\" is missing");
	if (arg_value(a, "prio", &text))
		return ST_USAGE;
	if (!strcmp(text, "all"))
		w->priorities = 0xff;
	else if (parse_priorities(a, "prio", text, &w->priorities))
		return ST_USAGE;
	if (!a->argc)
		return usage(a, "nothing to set");
	while (a->argc) {
		for (i = 0; i < ARRAY_SIZE(fields); i++)
			if (arg_is(a, fields[i].word))
				break;
		if (i == ARRAY_SIZE(fields)) {
			if (parse_word_setting(a, w))
				return ST_USAGE;
		} else if (arg_once(a, fields[i].word, &w->has[i]) ||
			   parse_field(a, &fields[i], &w->value[i])) {
			return ST_USAGE;
		}
	}
	return ST_OK;
}

static void apply(const struct wanted *w, struct ieee_qcn *qcn)
{
	unsigned int p;
	size_t i;

	for (p = 0; p < IEEE_8021QAZ_MAX_TCS; p++) {
		if (!qcn_has(w->priorities, p))
			continue;
		for (i = 0; i < ARRAY_SIZE(fields); i++)
			if (w->has[i])
				array_of(qcn, &fields[i])[p] = w->value[i];
		if (w->has_rp)
			qcn->rpg_enable[p] = w->rp;
		if (w->has_mode)
			qcn->cndd_state_machine[p] = w->mode;
	}
}

/* The driver's verdict is in the answer, an octet of a negative errno. */
static int dcb_send(const char *dev, const struct ieee_qcn *qcn)
{
	struct nlattr *tb[DCB_ATTR_MAX + 1], *ieee;
	struct answer answer;
	struct nl_msg *msg;
	int err;

	msg = dcb_request(RTM_SETDCB, DCB_CMD_IEEE_SET, dev);
	if (msg) {
		ieee = nla_nest_start(msg, DCB_ATTR_IEEE | NLA_F_NESTED);
		nla_put(msg, DCB_ATTR_IEEE_QCN, sizeof(*qcn), qcn);
		nla_nest_end(msg, ieee);
	}
	err = rtnl_talk(msg, &answer);
	if (err)
		return refused(err, dev);
	if (answer.n && !nlmsg_parse(nlmsg_hdr(answer.msgs[0]),
				     sizeof(struct dcbmsg), tb, DCB_ATTR_MAX,
				     NULL))
		err = (int8_t)attr_u8(tb[DCB_ATTR_IEEE], 0);
	answer_free(&answer);
	return err ? fail("%s: its driver refused: %s", dev, strerror(-err)) :
		     ST_OK;
}

static int dcb_set(struct args *a)
{
	struct ieee_qcn qcn, then;
	struct ieee_qcn_stats stats;
	struct wanted w;
	const char *dev;
	struct link l;
	bool has_stats;
	int status;

	if (arg_dev(a, &dev) || parse_wanted(a, &w))
		return ST_USAGE;
	status = link_get(dev, &l);
	if (!status)
		status = dcb_get(dev, &qcn, &stats, &has_stats);
	if (status)
		return status;
	apply(&w, &qcn);
	status = dcb_send(dev, &qcn);
	if (!status)
		status = dcb_get(dev, &then, &stats, &has_stats);
	if (status)
		return status;
	/* A driver that can't, or that rounds, does not say so. */
	qcn = then;
	apply(&w, &qcn);
	if (memcmp(&qcn, &then, sizeof(qcn)))
		return fail("%s: its driver did not take it as it is; look: csigctl qcn dcb show dev %s",
			    dev, dev);
	return ST_OK;
}

int qcn_dcb(struct args *a)
{
	if (arg_is(a, "set"))
		return dcb_set(a);
	arg_is(a, "show");
	return dcb_show(a);
}
