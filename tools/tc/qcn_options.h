/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options of the qdiscs of QCN as a table: one description of each serves to read it from
 * the command line and to print it as text and JSON.
 */
#ifndef QCN_OPTIONS_H
#define QCN_OPTIONS_H

#include "tc_units.h"

#define QCN_OPTIONS_MAX	20

enum qcn_type {
	QCN_NUMBER,
	QCN_SIGNED,
	QCN_OCTETS,	/* 26000, 26kb */
	QCN_PERCENT,	/* 50, 50% */
	QCN_RATE,	/* 5mbit; without a unit bit/s */
	QCN_TIME,	/* 15ms; always with its unit */
	QCN_WORD,	/* index of one of a list */
	QCN_MAC,
	QCN_CNPVS,	/* 3,4 as a set of bits */
};

/**
 * struct qcn_option - an option of a qdisc
 * @word: what it is called on the command line and in text
 * @key: in JSON
 * @words: of QCN_WORD; @max is the index of the last one
 * @min: smallest value
 * @max: largest value
 * @attr: attribute in TCA_OPTIONS
 * @size: octets of the attribute
 * @type: what its value looks like
 * @automatic: 0 is "auto", null or an empty list in JSON
 */
struct qcn_option {
	const char *word;
	const char *key;
	const char *const *words;
	__s64 min;
	__s64 max;
	__u16 attr;
	__u8 size;
	__u8 type;
	bool automatic;
};

/**
 * struct qcn_qdisc - a kind of qdisc and its options
 * @kind: its name
 * @explain: prints the help
 * @options: up to QCN_OPTIONS_MAX
 * @count: of @options
 */
struct qcn_qdisc {
	const char *kind;
	void (*explain)(void);
	const struct qcn_option *options;
	unsigned int count;
};

/**
 * struct qcn_values - what a command line said
 * @given: bit n for the option with this index
 * @v: values; an address is the first octets of one
 */
struct qcn_values {
	__u32 given;
	__u64 v[QCN_OPTIONS_MAX];
};

/* 0; -1: help, or a word that is no option.  A bad value ends the program. */
int qcn_options_parse(const struct qcn_qdisc *q, int argc, char **argv,
		      struct qcn_values *values);
void qcn_options_add(const struct qcn_qdisc *q, const struct qcn_values *values,
		     struct nlmsghdr *n);
void qcn_options_print(const struct qcn_qdisc *q, struct rtattr *opt);

/* Sets of priorities and counters by index, in text and as a list in JSON */
void qcn_print_cnpvs(const char *key, const char *word, __u8 cnpvs,
		     const char *none);
void qcn_print_counters(const char *key, const char *word, const __u64 *count,
			unsigned int n);

static inline bool qcn_given(const struct qcn_values *values, unsigned int option)
{
	return values->given >> option & 1;
}

#endif /* QCN_OPTIONS_H */
