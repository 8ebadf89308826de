// SPDX-License-Identifier: GPL-2.0
/*
 * The qcn_cp qdisc for tc, QCN's congestion point: options, help, show and statistics.
 */
#include <csig/qcn_frame.h>
#include <linux/tc_qcn.h>

#include "qcn_options.h"

#define OCTETS_MIN	1514		/* a frame */
#define OCTETS_MAX	(1 << 30)
#define PORT_MAX	8191

static const char *const sources[] = {
	[QCN_CNM_SOURCE_CP] = "cp",
	[QCN_CNM_SOURCE_DESTINATION] = "destination",
};

static const char *const qoffsets[] = {
	[QCN_CNM_QOFFSET_STANDARD] = "standard",
	[QCN_CNM_QOFFSET_SEED] = "seed",
};

enum option {
	OPT_LIMIT, OPT_QEQ, OPT_WEIGHT, OPT_BASE, OPT_HEADER, OPT_MAC, OPT_PORT,
	OPT_CNM_PRIORITY, OPT_SOURCE, OPT_QOFFSET, OPT_CNPV,
};

static const struct qcn_option options[] = {
	[OPT_LIMIT] = {
		.word = "limit", .key = "limit_bytes", .type = QCN_OCTETS,
		.attr = TCA_QCN_CP_LIMIT, .size = 4,
		.min = OCTETS_MIN, .max = OCTETS_MAX,
	},
	[OPT_QEQ] = {
		.word = "qeq", .key = "qeq_bytes", .type = QCN_OCTETS,
		.attr = TCA_QCN_CP_QEQ, .size = 4,
		.min = OCTETS_MIN, .max = QCN_QEQ_MAX_BYTES,
	},
	[OPT_WEIGHT] = {
		.word = "weight", .key = "weight", .type = QCN_SIGNED,
		.attr = TCA_QCN_CP_WEIGHT, .size = 1,
		.min = QCN_WEIGHT_MIN, .max = QCN_WEIGHT_MAX,
	},
	[OPT_BASE] = {
		.word = "base", .key = "base_bytes", .type = QCN_OCTETS,
		.attr = TCA_QCN_CP_BASE, .size = 4,
		.min = QCN_BASE_MIN_BYTES, .max = OCTETS_MAX,
	},
	[OPT_HEADER] = {
		.word = "header", .key = "header_bytes", .type = QCN_NUMBER,
		.attr = TCA_QCN_CP_HEADER, .size = 1,
		.max = QCN_CNM_MSDU_MAX,
	},
	[OPT_MAC] = {
		.word = "mac", .key = "mac", .type = QCN_MAC,
		.attr = TCA_QCN_CP_MAC, .size = QCN_MAC_LEN, .automatic = true,
	},
	[OPT_PORT] = {
		.word = "port", .key = "port", .type = QCN_NUMBER,
		.attr = TCA_QCN_CP_PORT, .size = 2, .max = PORT_MAX,
	},
	[OPT_CNM_PRIORITY] = {
		.word = "cnm-priority", .key = "cnm_priority", .type = QCN_NUMBER,
		.attr = TCA_QCN_CP_CNM_PRIORITY, .size = 1,
		.max = QCN_PRIORITIES - 1,
	},
	[OPT_SOURCE] = {
		.word = "source", .key = "source", .type = QCN_WORD,
		.attr = TCA_QCN_CP_SOURCE, .size = 1,
		.words = sources, .max = ARRAY_SIZE(sources) - 1,
	},
	[OPT_QOFFSET] = {
		.word = "qoffset", .key = "qoffset", .type = QCN_WORD,
		.attr = TCA_QCN_CP_QOFFSET, .size = 1,
		.words = qoffsets, .max = ARRAY_SIZE(qoffsets) - 1,
	},
	[OPT_CNPV] = {
		.word = "cnpv", .key = "cnpv", .type = QCN_CNPVS,
		.attr = TCA_QCN_CP_CNPVS, .size = 1, .automatic = true,
	},
};

static void explain(void)
{
	fprintf(stderr,
		"Usage: ... qcn_cp [ limit OCTETS ] [ qeq OCTETS ] [ weight N ] [ base OCTETS ]\n"
		"                  [ header N ] [ mac ADDRESS | auto ] [ port N ]\n"
		"                  [ cnm-priority P ] [ source cp | destination ]\n"
		"                  [ qoffset standard | seed ] [ cnpv P[,P...] | auto ]\n"
		"Where: OCTETS is 26000, 26kb ...: limit and qeq from 1514, base from 10000;\n"
		"       weight is log2 of w, -10 to 10; header is 0 to 64 octets of the sampled\n"
		"       frame; port is 0 to 8191; P is a priority, 0 to 7, at most 7 of them, and\n"
		"       that of CNMs is none of them; auto is the address of the device, or the\n"
		"       priorities of its domain (csigctl qcn domain).\n"
		"Defaults: qeq 26000 limit 6*qeq weight 1 base 150000 header 64 mac auto\n"
		"          port IFINDEX cnm-priority 6 source cp qoffset standard cnpv auto;\n"
		"          change keeps what is not given.\n");
}

static const struct qcn_qdisc qcn_cp = {
	.kind = "qcn_cp",
	.explain = explain,
	.options = options,
	.count = ARRAY_SIZE(options),
};

static int qcn_cp_parse_qopt(const struct qdisc_util *qu, int argc, char **argv,
			     struct nlmsghdr *n, const char *dev)
{
	struct qcn_values values;
	char word[WORD_LEN];

	(void)qu;
	(void)dev;
	if (qcn_options_parse(&qcn_cp, argc, argv, &values))
		return -1;
	if (qcn_given(&values, OPT_CNM_PRIORITY) &&
	    qcn_given(&values, OPT_CNPV) &&
	    qcn_has(values.v[OPT_CNPV], values.v[OPT_CNM_PRIORITY])) {
		snprintf(word, sizeof(word), "%llu", values.v[OPT_CNM_PRIORITY]);
		invarg("cnm-priority is none of the priorities of cnpv", word);
	}
	qcn_options_add(&qcn_cp, &values, n);
	return 0;
}

static int qcn_cp_print_qopt(const struct qdisc_util *qu, FILE *f,
			     struct rtattr *opt)
{
	(void)qu;
	(void)f;
	if (opt)
		qcn_options_print(&qcn_cp, opt);
	return 0;
}

/* Of the frames that came; unknown without any. */
static void print_mean(const struct tc_qcn_cp_xstats *st)
{
	__u64 frames = 0, mean;
	unsigned int i;

	for (i = 0; i < TC_QCN_QUEUE_BINS; i++)
		frames += st->queue[i];
	if (!frames) {
		print_null(PRINT_ANY, "queue_mean_bytes", "  queue mean %s",
			   "unknown");
		return;
	}
	mean = (st->queue_sum_bytes + frames / 2) / frames;
	print_u64(PRINT_ANY, "queue_mean_bytes", "  queue mean %llub", mean);
}

static int qcn_cp_print_xstats(const struct qdisc_util *qu, FILE *f,
			       struct rtattr *xstats)
{
	struct tc_qcn_cp_xstats st;

	(void)qu;
	(void)f;
	if (!xstats)
		return 0;
	attr_struct(&st, sizeof(st), xstats);

	print_u64(PRINT_ANY, "sampled", "  sampled %llu", st.sampled);
	qcn_print_counters("cnm", " cnm", st.cnm, TC_QCN_FB_BINS);
	print_u64(PRINT_ANY, "cnm_dropped", " cnm_dropped %llu", st.cnm_dropped);
	print_u64(PRINT_ANY, "unanswerable", " unanswerable %llu",
		  st.unanswerable);
	print_nl();
	print_u64(PRINT_ANY, "discarded", "  discarded %llu", st.discarded);
	print_u64(PRINT_ANY, "transmitted", " transmitted %llu", st.transmitted);
	print_u64(PRINT_ANY, "stripped", " stripped %llu", st.stripped);
	print_uint(PRINT_ANY, "last_qntzfb", " last_qntzfb %u", st.last_qntzfb);
	qcn_print_cnpvs("cnpvs", " cnpvs", st.cnpvs, "none");
	print_nl();
	print_mean(&st);
	print_uint(PRINT_ANY, "queue_max_bytes", " max %ub", st.queue_max_bytes);
	print_uint(PRINT_ANY, "qold_bytes", " qold %ub", st.qold_bytes);
	print_u64(PRINT_JSON, "queue_sum_bytes", NULL, st.queue_sum_bytes);
	qcn_print_counters("queue", " by qeq/8", st.queue, TC_QCN_QUEUE_BINS);
	return 0;
}

struct qdisc_util qcn_cp_qdisc_util = {
	.id = "qcn_cp",
	.parse_qopt = qcn_cp_parse_qopt,
	.print_qopt = qcn_cp_print_qopt,
	.print_xstats = qcn_cp_print_xstats,
};
