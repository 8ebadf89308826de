// SPDX-License-Identifier: GPL-2.0
/*
 * The csig qdisc for tc: options, help, show and statistics.  The options are those of
 * the port that the qdisc measures; "csigctl port" has the same.
 */
#include <linux/csig.h>
#include <linux/tc_csig.h>

#include "tc_units.h"

#define CAPACITY_LIMIT_BPS	(1ULL << 53)
#define INTERVAL_MIN_NS		10000ULL
#define INTERVAL_MAX_NS		10000000000ULL
#define ALPHA_MIN_PPM		1000
#define ALPHA_MAX_PPM		1000000
#define OVERHEAD_MAX_BYTES	1024

static const char *const estimators[] = {
	[CSIG_ESTIMATOR_RAW] = "raw",
	[CSIG_ESTIMATOR_EWMA] = "ewma",
	[CSIG_ESTIMATOR_DRE] = "dre",
};

static const char *const ingresses[] = {
	[CSIG_INGRESS_STRIP] = "strip",
	[CSIG_INGRESS_TRUST] = "trust",
	[CSIG_INGRESS_DROP] = "drop",
};

static const char *const egresses[] = {
	[CSIG_EGRESS_KEEP] = "keep",
	[CSIG_EGRESS_STRIP] = "strip",
};

static const char *const unknowns[] = {
	[CSIG_UNKNOWN_PASS] = "pass",
	[CSIG_UNKNOWN_STRIP] = "strip",
};

static const char *const off_on[] = { "off", "on" };

static const char *const capacity_sources[] = {
	[CSIG_CAPACITY_SOURCE_UNKNOWN] = "unknown",
	[CSIG_CAPACITY_SOURCE_USER] = "user",
	[CSIG_CAPACITY_SOURCE_ETHTOOL] = "ethtool",
};

static void explain(void)
{
	fprintf(stderr,
		"Usage: ... csig [ capacity RATE | auto ]\n"
		"                [ estimator raw [ interval TIME ] |\n"
		"                  estimator ewma [ time-constant TIME ] |\n"
		"                  estimator dre [ interval TIME ] [ alpha FRACTION ] ]\n"
		"                [ lm NAME=VALUE[,NAME=VALUE...] | none ]\n"
		"                [ ingress strip | trust | drop ] [ egress keep | strip ]\n"
		"                [ unknown pass | strip ] [ update on | off ]\n"
		"                [ overhead BYTES ]\n"
		"Where: RATE is 10mbit, 1.5gbit ... (bit/s without a unit), auto the link's speed;\n"
		"       TIME is 10us to 10s, with its unit; FRACTION is 0.001 to 1.\n"
		"Defaults: capacity auto estimator raw interval 128us ingress strip egress keep\n"
		"          unknown pass update on overhead 24; change keeps what is not given.\n");
}

static __u64 parse_capacity(const char *word)
{
	double v = quantity(word, rate_units);

	v = fabs(v);	/* a bare number is bit/s, as elsewhere in tc */
	if (isnan(v))
		invarg("capacity is a rate, like 100mbit, or auto", word);
	if (v < 1 || v >= CAPACITY_LIMIT_BPS)
		invarg("capacity is from 1bit to below 9007Tbit, or auto", word);
	return llrint(v);
}

static __u32 parse_alpha(const char *word)
{
	double v;
	char *end;

	v = strtod(word, &end) * 1e6;
	if (end == word || *end || word[strspn(word, "0123456789.")] ||
	    v < ALPHA_MIN_PPM || v > ALPHA_MAX_PPM)
		invarg("alpha is a fraction from 0.001 to 1", word);
	return lrint(v);
}

/* NAME=VALUE[,NAME=VALUE...] into the attributes of the message */
static void parse_lm(struct nlmsghdr *n, int maxlen, const char *word)
{
	char names[CSIG_LM_FIELDS_MAX][CSIG_LM_NAME_MAX + 1];
	char part[WORD_LEN], *eq;
	unsigned int fields = 0, i;
	const char *p = word;
	struct rtattr *nest;
	__u64 value;
	__u16 v16;
	size_t len;

	if (!strcmp(word, "none")) {	/* an empty one takes all values away */
		addattr_l(n, maxlen, CSIG_A_PORT_CONFIG_LM | NLA_F_NESTED, NULL,
			  0);
		return;
	}
	for (;; p++) {
		len = strcspn(p, ",");
		if (len >= sizeof(part))
			invarg("lm is NAME=VALUE[,NAME=VALUE...]", word);
		memcpy(part, p, len);
		part[len] = 0;
		eq = strchr(part, '=');
		if (!eq || eq == part || eq - part > CSIG_LM_NAME_MAX)
			invarg("lm is NAME=VALUE, names have 1 to 15 characters",
			       word);
		*eq = 0;
		if (number(&value, eq + 1, 0xffff))
			invarg("the value of an lm field is 0 to 65535", word);
		if (fields == CSIG_LM_FIELDS_MAX)
			invarg("lm has 8 fields at most", word);
		for (i = 0; i < fields; i++)
			if (!strcmp(names[i], part))
				invarg("lm names a field twice", word);
		strcpy(names[fields++], part);

		v16 = value;
		nest = addattr_nest(n, maxlen,
				    CSIG_A_PORT_CONFIG_LM | NLA_F_NESTED);
		addattr_l(n, maxlen, CSIG_A_LM_VALUE_NAME, part,
			  strlen(part) + 1);
		addattr_l(n, maxlen, CSIG_A_LM_VALUE_VALUE, &v16, sizeof(v16));
		addattr_nest_end(n, nest);

		p += len;
		if (!*p)
			break;
	}
}

enum option {
	OPT_CAPACITY, OPT_ESTIMATOR, OPT_INTERVAL, OPT_TIME_CONSTANT, OPT_ALPHA,
	OPT_LM, OPT_INGRESS, OPT_EGRESS, OPT_UNKNOWN, OPT_UPDATE, OPT_OVERHEAD,
};

static const char *const options[] = {
	[OPT_CAPACITY] = "capacity", [OPT_ESTIMATOR] = "estimator",
	[OPT_INTERVAL] = "interval", [OPT_TIME_CONSTANT] = "time-constant",
	[OPT_ALPHA] = "alpha", [OPT_LM] = "lm", [OPT_INGRESS] = "ingress",
	[OPT_EGRESS] = "egress", [OPT_UNKNOWN] = "unknown",
	[OPT_UPDATE] = "update", [OPT_OVERHEAD] = "overhead",
};

/* Are the parameters those of the estimator? */
static void check_estimator(enum option opt, int estimator, const char *word)
{
	if (opt == OPT_INTERVAL && estimator != CSIG_ESTIMATOR_RAW &&
	    estimator != CSIG_ESTIMATOR_DRE)
		invarg("only after \"estimator raw\" or \"estimator dre\"", word);
	if (opt == OPT_TIME_CONSTANT && estimator != CSIG_ESTIMATOR_EWMA)
		invarg("only after \"estimator ewma\"", word);
	if (opt == OPT_ALPHA && estimator != CSIG_ESTIMATOR_DRE)
		invarg("only after \"estimator dre\"", word);
}

static int csig_parse_qopt(const struct qdisc_util *qu, int argc, char **argv,
			   struct nlmsghdr *n, const char *dev)
{
	const int maxlen = TC_MSG_MAX;
	struct rtattr *tail = NULL;
	const char *key;
	int opt, estimator = -1;
	__u32 seen = 0, w;
	__u64 v;
	__u8 b;

	(void)qu;
	(void)dev;
	for (; argc > 0; argc--, argv++) {
		if (!strcmp(*argv, "help")) {
			explain();
			return -1;
		}
		opt = word_index(options, ARRAY_SIZE(options), *argv);
		if (opt < 0) {
			fprintf(stderr,
				"What is \"%s\"? Try \"tc qdisc add csig help\".\n",
				*argv);
			return -1;
		}
		check_estimator(opt, estimator, *argv);
		if (argc < 2)
			incomplete_command();
		if (seen & 1U << opt)
			duparg(argv[0], argv[1]);
		key = *argv;
		seen |= 1U << opt;
		if (!tail)
			tail = addattr_nest(n, maxlen,
					    TCA_OPTIONS | NLA_F_NESTED);
		NEXT_WORD();
		switch (opt) {
		case OPT_CAPACITY:
			v = strcmp(*argv, "auto") ? parse_capacity(*argv) : 0;
			addattr_l(n, maxlen, CSIG_A_PORT_CONFIG_CAPACITY_BPS,
				  &v, sizeof(v));
			break;
		case OPT_ESTIMATOR:
			b = parse_word(estimators, ARRAY_SIZE(estimators), key,
				       *argv);
			estimator = b;
			addattr_l(n, maxlen, CSIG_A_PORT_CONFIG_ESTIMATOR, &b, 1);
			break;
		case OPT_INTERVAL:
		case OPT_TIME_CONSTANT:
			v = parse_time(key, *argv, INTERVAL_MIN_NS,
				       INTERVAL_MAX_NS);
			addattr_l(n, maxlen, CSIG_A_PORT_CONFIG_INTERVAL_NS, &v,
				  sizeof(v));
			break;
		case OPT_ALPHA:
			w = parse_alpha(*argv);
			addattr_l(n, maxlen, CSIG_A_PORT_CONFIG_ALPHA_PPM, &w,
				  sizeof(w));
			break;
		case OPT_LM:
			parse_lm(n, maxlen, *argv);
			break;
		case OPT_INGRESS:
			b = parse_word(ingresses, ARRAY_SIZE(ingresses), key,
				       *argv);
			addattr_l(n, maxlen, CSIG_A_PORT_CONFIG_INGRESS, &b, 1);
			break;
		case OPT_EGRESS:
			b = parse_word(egresses, ARRAY_SIZE(egresses), key,
				       *argv);
			addattr_l(n, maxlen, CSIG_A_PORT_CONFIG_EGRESS, &b, 1);
			break;
		case OPT_UNKNOWN:
			b = parse_word(unknowns, ARRAY_SIZE(unknowns), key,
				       *argv);
			addattr_l(n, maxlen, CSIG_A_PORT_CONFIG_UNKNOWN, &b, 1);
			break;
		case OPT_UPDATE:
			b = parse_word(off_on, ARRAY_SIZE(off_on), key,
				       *argv);
			addattr_l(n, maxlen, CSIG_A_PORT_CONFIG_UPDATE, &b, 1);
			break;
		case OPT_OVERHEAD:
			if (number(&v, *argv, OVERHEAD_MAX_BYTES))
				invarg("overhead is 0 to 1024 octets", *argv);
			w = v;
			addattr_l(n, maxlen, CSIG_A_PORT_CONFIG_OVERHEAD_BYTES,
				  &w, sizeof(w));
			break;
		}
	}
	if (tail)
		addattr_nest_end(n, tail);
	return 0;
}

static void print_lm(struct rtattr *opt)
{
	struct rtattr *tb[CSIG_A_LM_VALUE_MAX + 1], *a = RTA_DATA(opt);
	int len = RTA_PAYLOAD(opt);
	const char *sep = "lm ";
	char name[WORD_LEN];
	unsigned int value;

	open_json_object("lm");
	for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if (attr_type(a) != CSIG_A_PORT_CONFIG_LM)
			continue;
		attr_table(tb, CSIG_A_LM_VALUE_MAX, a);
		if (!tb[CSIG_A_LM_VALUE_NAME])
			continue;
		snprintf(name, sizeof(name), "%.*s",
			 (int)RTA_PAYLOAD(tb[CSIG_A_LM_VALUE_NAME]),
			 (char *)RTA_DATA(tb[CSIG_A_LM_VALUE_NAME]));
		value = attr_number(tb[CSIG_A_LM_VALUE_VALUE]);
		print_string(PRINT_FP, NULL, "%s", sep);
		print_string(PRINT_FP, NULL, "%s=", name);
		print_uint(PRINT_ANY, name, "%u", value);
		sep = ",";
	}
	if (*sep == ',')
		print_string(PRINT_FP, NULL, " ", NULL);
	close_json_object();
}

static int csig_print_qopt(const struct qdisc_util *qu, FILE *f,
			   struct rtattr *opt)
{
	struct rtattr *tb[CSIG_A_PORT_CONFIG_MAX + 1];
	__u64 capacity, estimator, alpha;
	char buf[WORD_LEN];
	__u32 interval_key;

	(void)qu;
	(void)f;
	if (!opt)
		return 0;
	attr_table(tb, CSIG_A_PORT_CONFIG_MAX, opt);

	capacity = attr_number(tb[CSIG_A_PORT_CONFIG_CAPACITY_BPS]);
	if (capacity) {
		print_string(PRINT_FP, NULL, "capacity %s ",
			     exact(capacity, rate_units, buf));
		print_u64(PRINT_JSON, "capacity_bps", NULL, capacity);
	} else {
		print_null(PRINT_ANY, "capacity_bps", "capacity %s ", "auto");
	}

	estimator = attr_number(tb[CSIG_A_PORT_CONFIG_ESTIMATOR]);
	print_string(PRINT_ANY, "estimator", "estimator %s ",
		     word_of(estimators, ARRAY_SIZE(estimators), estimator));
	interval_key = estimator == CSIG_ESTIMATOR_EWMA;
	exact(attr_number(tb[CSIG_A_PORT_CONFIG_INTERVAL_NS]), time_units, buf);
	print_string(PRINT_FP, NULL,
		     interval_key ? "time-constant %s " : "interval %s ", buf);
	print_u64(PRINT_JSON, "interval_ns", NULL,
		  attr_number(tb[CSIG_A_PORT_CONFIG_INTERVAL_NS]));
	alpha = attr_number(tb[CSIG_A_PORT_CONFIG_ALPHA_PPM]);
	print_u64(PRINT_JSON, "alpha_ppm", NULL, alpha);
	if (estimator == CSIG_ESTIMATOR_DRE) {
		snprintf(buf, sizeof(buf), "%.7g", alpha / 1e6);
		print_string(PRINT_FP, NULL, "alpha %s ", buf);
	}

	print_lm(opt);
	print_string(PRINT_ANY, "ingress", "ingress %s ",
		     word_of(ingresses, ARRAY_SIZE(ingresses),
			     attr_number(tb[CSIG_A_PORT_CONFIG_INGRESS])));
	print_string(PRINT_ANY, "egress", "egress %s ",
		     word_of(egresses, ARRAY_SIZE(egresses),
			     attr_number(tb[CSIG_A_PORT_CONFIG_EGRESS])));
	print_string(PRINT_ANY, "unknown", "unknown %s ",
		     word_of(unknowns, ARRAY_SIZE(unknowns),
			     attr_number(tb[CSIG_A_PORT_CONFIG_UNKNOWN])));
	print_string(PRINT_FP, NULL, "update %s ",
		     word_of(off_on, ARRAY_SIZE(off_on),
			     attr_number(tb[CSIG_A_PORT_CONFIG_UPDATE])));
	print_bool(PRINT_JSON, "update", NULL,
		   attr_number(tb[CSIG_A_PORT_CONFIG_UPDATE]));
	print_uint(PRINT_ANY, "overhead_bytes", "overhead %u ",
		   attr_number(tb[CSIG_A_PORT_CONFIG_OVERHEAD_BYTES]));
	return 0;
}

/* A rate that is unknown without a capacity. */
static void print_rate_or_null(const char *key, const char *name, bool known,
			       __u64 bps)
{
	char buf[WORD_LEN];

	print_string(PRINT_FP, NULL, "%s ", name);
	if (!known) {
		print_null(PRINT_ANY, key, "%s ", "unknown");
		return;
	}
	print_string(PRINT_FP, NULL, "%s ", rounded(bps, rate_units, buf));
	print_u64(PRINT_JSON, key, NULL, bps);
}

static int csig_print_xstats(const struct qdisc_util *qu, FILE *f,
			     struct rtattr *xstats)
{
	struct tc_csig_xstats st;
	bool known;

	(void)qu;
	(void)f;
	if (!xstats)
		return 0;
	attr_struct(&st, sizeof(st), xstats);
	known = st.capacity_source != CSIG_CAPACITY_SOURCE_UNKNOWN &&
		st.capacity_bps;

	print_string(PRINT_FP, NULL, "  ", NULL);
	print_rate_or_null("capacity_bps", "capacity", known, st.capacity_bps);
	print_string(PRINT_ANY, "capacity_source", "(%s) ",
		     word_of(capacity_sources, ARRAY_SIZE(capacity_sources),
			     st.capacity_source));
	print_rate_or_null("util_bps", "util", true, st.util_bps);
	print_rate_or_null("abw_bps", "abw", known, st.abw_bps);
	if (known)
		print_uint(PRINT_ANY, "abwc_ppm", "abwc %uppm", st.abwc_ppm);
	else
		print_null(PRINT_ANY, "abwc_ppm", "abwc %s", "unknown");
	print_nl();
	print_time("pd_last_ns", "  pd last %s ", st.pd_last_ns);
	print_time("pd_max_ns", "max %s", st.pd_max_ns);
	print_nl();

	open_json_object("stats");
	print_u64(PRINT_ANY, "tagged", "  tagged %llu", st.tagged);
	print_u64(PRINT_ANY, "updated", " updated %llu", st.updated);
	print_u64(PRINT_ANY, "passed", " passed %llu", st.passed);
	print_u64(PRINT_ANY, "stripped", " stripped %llu", st.stripped);
	print_u64(PRINT_ANY, "unknown_signal", " unknown_signal %llu",
		  st.unknown_signal);
	print_u64(PRINT_ANY, "malformed", " malformed %llu", st.malformed);
	print_nl();
	print_u64(PRINT_ANY, "skipped_mtu", "  skipped_mtu %llu",
		  st.skipped_mtu);
	print_u64(PRINT_ANY, "skipped_nomem", " skipped_nomem %llu",
		  st.skipped_nomem);
	print_u64(PRINT_ANY, "untagged", " untagged %llu", st.untagged);
	print_u64(PRINT_ANY, "carried", " carried %llu", st.carried);
	print_u64(PRINT_ANY, "dropped", " dropped %llu", st.dropped);
	close_json_object();
	return 0;
}

struct qdisc_util csig_qdisc_util = {
	.id = "csig",
	.parse_qopt = csig_parse_qopt,
	.print_qopt = csig_print_qopt,
	.print_xstats = csig_print_xstats,
};
