// SPDX-License-Identifier: GPL-2.0
/*
 * The qcn_rp qdisc for tc, QCN's reaction point: options, help, show, statistics of the
 * qdisc and of its classes, which are the limiters.
 */
#include <csig/qcn_rp.h>
#include <linux/tc_qcn.h>

#include "qcn_options.h"

#define BYTES_MAX	(1 << 30)
#define FRAMES_MAX	1000000
#define CATCHUP_MAX_NS	1000000000

static const char *const hashes[] = {
	[TC_QCN_RP_HASH_DST] = "dst",
	[TC_QCN_RP_HASH_FLOW] = "flow",
};

enum option {
	OPT_RATE, OPT_MIN_RATE, OPT_AI, OPT_HAI, OPT_TIMER, OPT_BYTES,
	OPT_THRESHOLD, OPT_GD, OPT_MIN_DEC, OPT_RPS, OPT_HASH, OPT_CNPV,
	OPT_LIMIT, OPT_FLOW_LIMIT, OPT_CATCHUP,
};

static const struct qcn_option options[] = {
	[OPT_RATE] = {
		.word = "rate", .key = "rate_bps", .type = QCN_RATE,
		.attr = TCA_QCN_RP_RATE, .size = 8, .automatic = true,
		.min = QCN_RATE_MIN_BPS, .max = QCN_RATE_MAX_BPS,
	},
	[OPT_MIN_RATE] = {
		.word = "min-rate", .key = "min_rate_bps", .type = QCN_RATE,
		.attr = TCA_QCN_RP_MIN_RATE, .size = 8,
		.min = QCN_RATE_MIN_BPS, .max = QCN_RATE_MAX_BPS,
	},
	[OPT_AI] = {
		.word = "ai", .key = "ai_bps", .type = QCN_RATE,
		.attr = TCA_QCN_RP_AI, .size = 8,
		.min = 1, .max = QCN_RATE_MAX_BPS,
	},
	[OPT_HAI] = {
		.word = "hai", .key = "hai_bps", .type = QCN_RATE,
		.attr = TCA_QCN_RP_HAI, .size = 8,
		.min = 1, .max = QCN_RATE_MAX_BPS,
	},
	[OPT_TIMER] = {
		.word = "timer", .key = "timer_ns", .type = QCN_TIME,
		.attr = TCA_QCN_RP_TIMER, .size = 8,
		.min = QCN_TIMER_MIN_NS, .max = QCN_TIMER_MAX_NS,
	},
	[OPT_BYTES] = {
		.word = "bytes", .key = "bytes", .type = QCN_OCTETS,
		.attr = TCA_QCN_RP_BYTES, .size = 4, .min = 1, .max = BYTES_MAX,
	},
	[OPT_THRESHOLD] = {
		.word = "threshold", .key = "threshold", .type = QCN_NUMBER,
		.attr = TCA_QCN_RP_THRESHOLD, .size = 1, .min = 1, .max = 255,
	},
	[OPT_GD] = {
		.word = "gd", .key = "gd", .type = QCN_NUMBER,
		.attr = TCA_QCN_RP_GD, .size = 1, .max = QCN_GD_MAX,
	},
	[OPT_MIN_DEC] = {
		.word = "min-dec", .key = "min_dec_percent", .type = QCN_PERCENT,
		.attr = TCA_QCN_RP_MIN_DEC, .size = 1, .min = 1, .max = 100,
	},
	[OPT_RPS] = {
		.word = "rps", .key = "rps", .type = QCN_NUMBER,
		.attr = TCA_QCN_RP_RPS, .size = 1, .min = 1, .max = QCN_RPS_MAX,
	},
	[OPT_HASH] = {
		.word = "hash", .key = "hash", .type = QCN_WORD,
		.attr = TCA_QCN_RP_HASH, .size = 1,
		.words = hashes, .max = ARRAY_SIZE(hashes) - 1,
	},
	[OPT_CNPV] = {
		.word = "cnpv", .key = "cnpv", .type = QCN_CNPVS,
		.attr = TCA_QCN_RP_CNPVS, .size = 1, .automatic = true,
	},
	[OPT_LIMIT] = {
		.word = "limit", .key = "limit", .type = QCN_NUMBER,
		.attr = TCA_QCN_RP_LIMIT, .size = 4, .min = 1, .max = FRAMES_MAX,
	},
	[OPT_FLOW_LIMIT] = {
		.word = "flow-limit", .key = "flow_limit", .type = QCN_NUMBER,
		.attr = TCA_QCN_RP_FLOW_LIMIT, .size = 4,
		.min = 1, .max = FRAMES_MAX,
	},
	[OPT_CATCHUP] = {
		.word = "catchup", .key = "catchup_ns", .type = QCN_TIME,
		.attr = TCA_QCN_RP_CATCHUP, .size = 4, .max = CATCHUP_MAX_NS,
	},
};

static void explain(void)
{
	fprintf(stderr,
		"Usage: ... qcn_rp [ rate RATE | auto ] [ min-rate RATE ] [ ai RATE ] [ hai RATE ]\n"
		"                  [ timer TIME ] [ bytes OCTETS ] [ threshold N ] [ gd N ]\n"
		"                  [ min-dec PERCENT ] [ rps N ] [ hash dst | flow ]\n"
		"                  [ cnpv P[,P...] | auto ] [ limit N ] [ flow-limit N ]\n"
		"                  [ catchup TIME ]\n"
		"Where: RATE is 5mbit, 1.5gbit ... (bit/s without a unit): rate and min-rate from\n"
		"       1kbit; auto is the speed of the link; TIME has its unit: timer from 100us\n"
		"       to 10s, catchup up to 1s; OCTETS is 150000, 150kb ...; threshold is 1 to\n"
		"       255 stages; gd is -log2 of Gd, 0 to 15; rps is 1 to 100 flows of a\n"
		"       priority; P is a priority, 0 to 7, at most 7 of them, auto those of the\n"
		"       domain (csigctl qcn domain); limit and flow-limit are 1 to 1000000 frames.\n"
		"Defaults: rate auto min-rate 5mbit ai 5mbit hai 50mbit timer 15ms bytes 150000\n"
		"          threshold 5 gd 7 min-dec 50%% rps 1 hash dst cnpv auto limit 10000\n"
		"          flow-limit 256 catchup 200us; change keeps what is not given.\n");
}

static const struct qcn_qdisc qcn_rp = {
	.kind = "qcn_rp",
	.explain = explain,
	.options = options,
	.count = ARRAY_SIZE(options),
};

static int qcn_rp_parse_qopt(const struct qdisc_util *qu, int argc, char **argv,
			     struct nlmsghdr *n, const char *dev)
{
	struct qcn_values values;
	char word[WORD_LEN];

	(void)qu;
	(void)dev;
	if (qcn_options_parse(&qcn_rp, argc, argv, &values))
		return -1;
	if (qcn_given(&values, OPT_RATE) && values.v[OPT_RATE] &&
	    qcn_given(&values, OPT_MIN_RATE) &&
	    values.v[OPT_MIN_RATE] > values.v[OPT_RATE])
		invarg("min-rate is no more than rate",
		       exact(values.v[OPT_MIN_RATE], rate_units, word));
	qcn_options_add(&qcn_rp, &values, n);
	return 0;
}

static int qcn_rp_print_qopt(const struct qdisc_util *qu, FILE *f,
			     struct rtattr *opt)
{
	(void)qu;
	(void)f;
	if (opt)
		qcn_options_print(&qcn_rp, opt);
	return 0;
}

static void print_rate(const char *key, const char *fmt, __u64 bps)
{
	char buf[WORD_LEN];

	print_string(PRINT_FP, NULL, fmt, rounded(bps, rate_units, buf));
	print_u64(PRINT_JSON, key, NULL, bps);
}

static void print_qdisc_xstats(struct rtattr *xstats)
{
	struct tc_qcn_rp_xstats st;

	attr_struct(&st, sizeof(st), xstats);
	print_rate("line_bps", "  line %s", st.line_bps);
	print_uint(PRINT_ANY, "active", " active %u", st.active);
	print_uint(PRINT_ANY, "rps", " rps %u", st.rps);
	qcn_print_cnpvs("cnpvs", " cnpvs", st.cnpvs, "none");
	print_nl();
	print_u64(PRINT_ANY, "activations", "  activations %llu", st.activations);
	print_u64(PRINT_ANY, "releases", " releases %llu", st.releases);
	print_time("active_ns", " active_time %s", st.active_ns);
	print_u64(PRINT_ANY, "cnm_used", " cnm_used %llu", st.cnm_used);
	print_u64(PRINT_ANY, "cnm_ignored", " cnm_ignored %llu", st.cnm_ignored);
	print_u64(PRINT_ANY, "nomem", " nomem %llu", st.nomem);
	print_nl();
	print_u64(PRINT_ANY, "tagged", "  tagged %llu", st.tagged);
	print_u64(PRINT_ANY, "untagged_mtu", " untagged_mtu %llu",
		  st.untagged_mtu);
	print_u64(PRINT_ANY, "untagged_nomem", " untagged_nomem %llu",
		  st.untagged_nomem);
	print_u64(PRINT_ANY, "flow_drops", " flow_drops %llu", st.flow_drops);
	print_u64(PRINT_ANY, "limit_drops", " limit_drops %llu", st.limit_drops);
}

static void print_class_xstats(struct rtattr *xstats)
{
	struct tc_qcn_rp_class_xstats st;
	char buf[WORD_LEN];

	attr_struct(&st, sizeof(st), xstats);
	print_uint(PRINT_ANY, "priority", "  priority %u", st.priority);
	print_uint(PRINT_ANY, "rpid", " rpid %u", st.rpid);
	print_rate("cr_bps", " cr %s", st.cr_bps);
	print_rate("tr_bps", " tr %s", st.tr_bps);
	print_uint(PRINT_ANY, "last_qntzfb", " last_qntzfb %u", st.last_qntzfb);
	print_nl();
	print_uint(PRINT_ANY, "byte_stage", "  byte_stage %u", st.byte_stage);
	print_uint(PRINT_ANY, "time_stage", " time_stage %u", st.time_stage);
	print_s64(PRINT_ANY, "left_bytes", " left %lldb", st.left_bytes);
	/* a stage that is over ends with the next frame or dump */
	print_string(PRINT_FP, NULL, " timer %s",
		     rounded(st.timer_ns > 0 ? st.timer_ns : 0, time_units, buf));
	print_s64(PRINT_JSON, "timer_ns", NULL, st.timer_ns);
	print_nl();
	print_time("active_ns", "  active %s", st.active_ns);
	print_u64(PRINT_ANY, "cnms", " cnms %llu", st.cnms);
	print_u64(PRINT_ANY, "dropped", " dropped %llu", st.dropped);
}

/* tc has one callback for the qdisc and its classes; their structs differ in size. */
static int qcn_rp_print_xstats(const struct qdisc_util *qu, FILE *f,
			       struct rtattr *xstats)
{
	(void)qu;
	(void)f;
	if (!xstats)
		return 0;
	if (RTA_PAYLOAD(xstats) <= sizeof(struct tc_qcn_rp_class_xstats))
		print_class_xstats(xstats);
	else
		print_qdisc_xstats(xstats);
	return 0;
}

struct qdisc_util qcn_rp_qdisc_util = {
	.id = "qcn_rp",
	.parse_qopt = qcn_rp_parse_qopt,
	.print_qopt = qcn_rp_print_qopt,
	.print_xstats = qcn_rp_print_xstats,
};
