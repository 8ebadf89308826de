/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Quantities with units and words of a list, read from the command line and printed: what
 * the plugins for qdiscs share beyond tc_common.h.  What is printed can be typed.
 */
#ifndef TC_UNITS_H
#define TC_UNITS_H

#include <math.h>

#include "tc_common.h"

#define WORD_LEN	64

struct unit {
	const char *name;
	double factor;
};

/* largest first; what is printed uses the first of each factor */
static const struct unit rate_units[] = {
	{ "Tbit", 1e12 }, { "Gbit", 1e9 }, { "Mbit", 1e6 }, { "Kbit", 1e3 },
	{ "bit", 1 }, { "Tibit", 1099511627776.0 }, { "Gibit", 1073741824.0 },
	{ "Mibit", 1048576 }, { "Kibit", 1024 }, { "Tbps", 8e12 },
	{ "Gbps", 8e9 }, { "Mbps", 8e6 }, { "Kbps", 8e3 }, { "bps", 8 },
	{}
};

static const struct unit time_units[] = {
	{ "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 },
	{ "sec", 1e9 }, { "secs", 1e9 }, { "msec", 1e6 }, { "msecs", 1e6 },
	{ "usec", 1e3 }, { "usecs", 1e3 }, { "nsec", 1 }, { "nsecs", 1 },
	{}
};

/* A decimal number and its unit; NAN for anything else. */
static inline double quantity(const char *word, const struct unit *units)
{
	const struct unit *u;
	char *end;
	double v;

	v = strtod(word, &end);
	/* no sign, no exponent, no hexadecimal number, no "inf" */
	if (end == word || end != word + strspn(word, "0123456789."))
		return NAN;
	for (u = units; u->name; u++)
		if (!strcasecmp(u->name, end))
			return v * u->factor;
	return *end ? NAN : -v;		/* negative: without a unit */
}

/* With the largest unit that leaves an integer: what is shown can be typed. */
static inline const char *exact(__u64 v, const struct unit *units, char *buf)
{
	const struct unit *u = units;

	while (u->factor > 1 && (!v || v % (__u64)u->factor))
		u++;
	snprintf(buf, WORD_LEN, "%llu%s",
		 (unsigned long long)(v / (__u64)u->factor), u->name);
	return buf;
}

/* A time with its unit; ends the program for others. */
static inline __u64 parse_time(const char *key, const char *word, __u64 min_ns,
			       __u64 max_ns)
{
	double v = quantity(word, time_units);
	char msg[4 * WORD_LEN], from[WORD_LEN], to[WORD_LEN];

	if (isnan(v) || v < min_ns || v > max_ns) {
		snprintf(msg, sizeof(msg),
			 "%s is a time from %s to %s, with its unit", key,
			 exact(min_ns, time_units, from),
			 exact(max_ns, time_units, to));
		invarg(msg, word);
	}
	return llrint(v);
}

/* Index of a word in a list; ends the program for others. */
static inline __u8 parse_word(const char *const *list, unsigned int n,
			      const char *key, const char *word)
{
	int i = word_index(list, n, word), at;
	char msg[WORD_LEN];
	unsigned int j;

	if (i >= 0)
		return i;
	at = snprintf(msg, sizeof(msg), "%s is", key);
	for (j = 0; j < n; j++)
		at += snprintf(msg + at, sizeof(msg) - at, "%s %s",
			       j ? " or" : "", list[j]);
	invarg(msg, word);
}

/* Four digits of a measured value. */
static inline const char *rounded(__u64 v, const struct unit *units, char *buf)
{
	const struct unit *u = units;

	while (u->factor > 1 && v < u->factor)
		u++;
	snprintf(buf, WORD_LEN, "%.4g%s", v / u->factor, u->name);
	return buf;
}

static inline void print_time(const char *key, const char *fmt, __u64 ns)
{
	char buf[WORD_LEN];

	print_string(PRINT_FP, NULL, fmt, rounded(ns, time_units, buf));
	print_u64(PRINT_JSON, key, NULL, ns);
}

#endif /* TC_UNITS_H */
