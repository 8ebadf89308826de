// SPDX-License-Identifier: GPL-2.0
/*
 * Options of the qdiscs of QCN: read, put into a message, printed.  What the options are
 * is said by q_qcn_cp.c and q_qcn_rp.c.
 */
#include <csig/qcn_cnd.h>
#include <csig/qcn_frame.h>

#include "qcn_options.h"

#define AUTO	"auto"

static const struct unit octet_units[] = {
	{ "b", 1 }, { "k", 1024 }, { "kb", 1024 }, { "m", 1048576 },
	{ "mb", 1048576 }, { "g", 1073741824 }, { "gb", 1073741824 },
	{}
};

/* Says what the option takes, and ends the program. */
static void __noreturn bad_value(const struct qcn_option *o, const char *unit,
				 const char *word)
{
	char msg[4 * WORD_LEN];

	snprintf(msg, sizeof(msg), "%s is %lld to %lld%s", o->word, o->min,
		 o->max, unit);
	invarg(msg, word);
}

static __u64 parse_number(const struct qcn_option *o, const char *unit,
			  const char *word)
{
	__u64 v;

	if (number(&v, word, o->max) || v < (__u64)o->min)
		bad_value(o, unit, word);
	return v;
}

static __u64 parse_signed(const struct qcn_option *o, const char *word)
{
	bool minus = *word == '-';
	__u64 v;

	if (number(&v, word + minus, minus ? -o->min : o->max))
		bad_value(o, "", word);
	return minus ? -v : v;
}

static __u64 parse_octets(const struct qcn_option *o, const char *word)
{
	double v = fabs(quantity(word, octet_units));

	if (isnan(v) || v < o->min || v > o->max || v != floor(v))
		bad_value(o, " octets", word);
	return v;
}

static __u64 parse_percent(const struct qcn_option *o, const char *word)
{
	size_t len = strlen(word);
	char digits[WORD_LEN];

	if (len && word[len - 1] == '%')
		len--;
	if (len >= sizeof(digits))
		bad_value(o, " percent", word);
	memcpy(digits, word, len);
	digits[len] = 0;
	if (digits[strspn(digits, "0123456789")])
		bad_value(o, " percent", word);
	return parse_number(o, " percent", digits);
}

static __u64 parse_rate(const struct qcn_option *o, const char *word)
{
	double v = fabs(quantity(word, rate_units));
	char msg[4 * WORD_LEN], from[WORD_LEN], to[WORD_LEN];

	if (isnan(v) || v < o->min || v > o->max) {
		snprintf(msg, sizeof(msg), "%s is a rate from %s to %s%s",
			 o->word, exact(o->min, rate_units, from),
			 exact(o->max, rate_units, to),
			 o->automatic ? ", or " AUTO : "");
		invarg(msg, word);
	}
	return llrint(v);
}

/* Exactly xx:xx:xx:xx:xx:xx; the octets are the first of the result. */
static __u64 parse_mac(const struct qcn_option *o, const char *word)
{
	__u8 mac[sizeof(__u64)] = {};
	char msg[2 * WORD_LEN], *end;
	const char *pos = word;
	unsigned int i;
	__u64 v;

	for (i = 0; i < QCN_MAC_LEN; i++) {
		if (strspn(pos, "0123456789abcdefABCDEF") != 2)
			break;
		mac[i] = strtoul(pos, &end, 16);
		if (*end != (i + 1 < QCN_MAC_LEN ? ':' : 0))
			break;
		pos = end + 1;
	}
	memcpy(&v, mac, sizeof(v));
	if (i < QCN_MAC_LEN || qcn_mac_is_group(mac) || !v) {
		snprintf(msg, sizeof(msg),
			 "%s is an address like 02:00:00:00:00:aa, no group's, or " AUTO,
			 o->word);
		invarg(msg, word);
	}
	return v;
}

static __u64 parse_cnpvs(const struct qcn_option *o, const char *word)
{
	char msg[2 * WORD_LEN];
	const char *pos = word;
	__u8 cnpvs = 0;

	for (;; pos += 2) {
		if (*pos < '0' || *pos >= '0' + QCN_PRIORITIES ||
		    qcn_has(cnpvs, *pos - '0'))
			break;
		cnpvs |= 1U << (*pos - '0');
		if (!pos[1] && qcn_cnpvs_valid(cnpvs))
			return cnpvs;
		if (pos[1] != ',')
			break;
	}
	snprintf(msg, sizeof(msg),
		 "%s is a list of up to %d different priorities, like 3,4, or " AUTO,
		 o->word, QCN_CNPVS_MAX);
	invarg(msg, word);
}

static __u64 parse_value(const struct qcn_option *o, const char *word)
{
	if (o->automatic && !strcmp(word, AUTO))
		return 0;
	switch (o->type) {
	case QCN_SIGNED:
		return parse_signed(o, word);
	case QCN_OCTETS:
		return parse_octets(o, word);
	case QCN_PERCENT:
		return parse_percent(o, word);
	case QCN_RATE:
		return parse_rate(o, word);
	case QCN_TIME:
		return parse_time(o->word, word, o->min, o->max);
	case QCN_WORD:
		return parse_word(o->words, o->max + 1, o->word, word);
	case QCN_MAC:
		return parse_mac(o, word);
	case QCN_CNPVS:
		return parse_cnpvs(o, word);
	default:
		return parse_number(o, "", word);
	}
}

int qcn_options_parse(const struct qcn_qdisc *q, int argc, char **argv,
		      struct qcn_values *values)
{
	unsigned int i;

	values->given = 0;
	for (; argc > 0; argc--, argv++) {
		if (!strcmp(*argv, "help")) {
			q->explain();
			return -1;
		}
		for (i = 0; i < q->count; i++)
			if (!strcmp(*argv, q->options[i].word))
				break;
		if (i == q->count) {
			fprintf(stderr,
				"What is \"%s\"? Try \"tc qdisc add %s help\".\n",
				*argv, q->kind);
			return -1;
		}
		NEXT_WORD();
		if (qcn_given(values, i))
			duparg(q->options[i].word, *argv);
		values->v[i] = parse_value(&q->options[i], *argv);
		values->given |= 1U << i;
	}
	return 0;
}

static void add_value(const struct qcn_option *o, __u64 v, struct nlmsghdr *n)
{
	const void *data = &v;
	__u32 w = v;
	__u16 h = v;
	__u8 b = v;

	if (o->type != QCN_MAC) {
		if (o->size == sizeof(b))
			data = &b;
		else if (o->size == sizeof(h))
			data = &h;
		else if (o->size == sizeof(w))
			data = &w;
	}
	addattr_l(n, TC_MSG_MAX, o->attr, data, o->size);
}

void qcn_options_add(const struct qcn_qdisc *q, const struct qcn_values *values,
		     struct nlmsghdr *n)
{
	struct rtattr *tail;
	unsigned int i;

	if (!values->given)
		return;
	tail = addattr_nest(n, TC_MSG_MAX, TCA_OPTIONS | NLA_F_NESTED);
	for (i = 0; i < q->count; i++)
		if (qcn_given(values, i))
			add_value(&q->options[i], values->v[i], n);
	addattr_nest_end(n, tail);
}

static void print_mac(const struct qcn_option *o, const struct rtattr *a)
{
	const __u8 *mac = RTA_DATA(a);
	char buf[WORD_LEN];

	if (RTA_PAYLOAD(a) < QCN_MAC_LEN)
		return;
	if (!(mac[0] | mac[1] | mac[2] | mac[3] | mac[4] | mac[5])) {
		print_null(PRINT_ANY, o->key, "%s", AUTO);
		return;
	}
	snprintf(buf, sizeof(buf), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0],
		 mac[1], mac[2], mac[3], mac[4], mac[5]);
	print_string(PRINT_ANY, o->key, "%s", buf);
}

static void print_value(const struct qcn_option *o, const struct rtattr *a)
{
	const char *text = NULL;
	__u64 v = attr_number(a);
	char buf[WORD_LEN];

	if (o->type == QCN_CNPVS) {
		qcn_print_cnpvs(o->key, o->word, v, AUTO);
		print_string(PRINT_FP, NULL, " ", NULL);
		return;
	}
	print_string(PRINT_FP, NULL, "%s ", o->word);
	if (o->type == QCN_MAC)
		print_mac(o, a);
	else if (o->automatic && !v)
		print_null(PRINT_ANY, o->key, "%s", AUTO);
	else if (o->type == QCN_SIGNED)
		print_int(PRINT_ANY, o->key, "%d", (__s8)v);
	else if (o->type == QCN_WORD)
		print_string(PRINT_ANY, o->key, "%s",
			     word_of(o->words, o->max + 1, v));
	else if (o->type == QCN_RATE)
		text = exact(v, rate_units, buf);
	else if (o->type == QCN_TIME)
		text = exact(v, time_units, buf);
	else
		print_u64(PRINT_ANY, o->key, "%llu", v);
	if (text) {
		print_string(PRINT_FP, NULL, "%s", text);
		print_u64(PRINT_JSON, o->key, NULL, v);
	}
	print_string(PRINT_FP, NULL, o->type == QCN_PERCENT ? "%% " : " ", NULL);
}

/* What a module does not know is not printed. */
void qcn_options_print(const struct qcn_qdisc *q, struct rtattr *opt)
{
	struct rtattr *tb[QCN_OPTIONS_MAX + 1];
	const struct qcn_option *o;
	unsigned int i;

	attr_table(tb, QCN_OPTIONS_MAX, opt);
	for (i = 0; i < q->count; i++) {
		o = &q->options[i];
		if (tb[o->attr])
			print_value(o, tb[o->attr]);
	}
}

void qcn_print_cnpvs(const char *key, const char *word, __u8 cnpvs,
		     const char *none)
{
	const char *sep = "";
	unsigned int p;

	print_string(PRINT_FP, NULL, "%s ", word);
	open_json_array(PRINT_JSON, key);
	for (p = 0; p < QCN_PRIORITIES; p++) {
		if (!qcn_has(cnpvs, p))
			continue;
		print_string(PRINT_FP, NULL, "%s", sep);
		print_uint(PRINT_ANY, NULL, "%u", p);
		sep = ",";
	}
	close_json_array(PRINT_JSON, NULL);
	if (!cnpvs)
		print_string(PRINT_FP, NULL, "%s", none);
}

void qcn_print_counters(const char *key, const char *word, const __u64 *count,
			unsigned int n)
{
	unsigned int i;

	print_string(PRINT_FP, NULL, "%s", word);
	open_json_array(PRINT_JSON, key);
	for (i = 0; i < n; i++)
		print_u64(PRINT_ANY, NULL, " %llu", count[i]);
	close_json_array(PRINT_JSON, NULL);
}
