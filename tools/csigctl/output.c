// SPDX-License-Identifier: GPL-2.0
/*
 * Text or JSON.  JSON values are json-c objects; the elements of an outermost array
 * are written as they are closed, so that a capture streams and a large dump needs
 * no second copy.
 */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/csig.h>

#include "csigctl.h"
#include "output.h"

#define DEPTH_MAX	8

/* stack[0] is the outermost value; streaming: stack[0] is an array being written */
static struct json_object *stack[DEPTH_MAX];
static unsigned int depth;
static bool streaming, first;

static int flags(void)
{
	return JSON_C_TO_STRING_NOSLASHESCAPE |
	       (opt.pretty ? JSON_C_TO_STRING_PRETTY |
			     JSON_C_TO_STRING_SPACED : 0);
}

void out_begin(void)
{
	out_discard();
}

/* Help was printed, or an error: nothing of the JSON is wanted. */
void out_discard(void)
{
	if (depth)
		json_object_put(stack[0]);
	depth = 0;
	streaming = false;
}

/* Closes what an error left open, so that what was written stays valid. */
int out_end(bool complete)
{
	if (!complete || !opt.json) {
		if (opt.json && streaming)
			fputs("]\n", stdout);
		out_discard();
	}
	return ferror(stdout) ? -1 : 0;
}

static void write_value(struct json_object *o)
{
	fputs(json_object_to_json_string_ext(o, flags()), stdout);
}

static void add(const char *key, struct json_object *o)
{
	struct json_object *top = depth ? stack[depth - 1] : NULL;

	if (!top) {
		write_value(o);
		fputc('\n', stdout);
		json_object_put(o);
	} else if (json_object_is_type(top, json_type_array)) {
		json_object_array_add(top, o);
	} else {
		json_object_object_add(top, key, o);
	}
}

static void push(struct json_object *o)
{
	if (depth == DEPTH_MAX)
		abort();
	stack[depth++] = o;
}

void out_open_array(const char *key)
{
	struct json_object *o;

	if (!opt.json)
		return;
	o = json_object_new_array();
	if (depth) {
		add(key, o);
	} else {
		streaming = true;
		first = true;
		fputc('[', stdout);
	}
	push(o);
}

void out_close_array(void)
{
	if (!opt.json)
		return;
	if (--depth)
		return;
	json_object_put(stack[0]);
	streaming = false;
	fputs("]\n", stdout);
}

void out_open_object(const char *key)
{
	struct json_object *o;

	if (!opt.json)
		return;
	o = json_object_new_object();
	if (depth && !(streaming && depth == 1))
		add(key, o);
	push(o);
}

void out_close_object(void)
{
	struct json_object *o;

	if (!opt.json)
		return;
	o = stack[--depth];
	if (streaming && depth == 1) {
		if (!first)
			fputs(",\n", stdout);
		first = false;
		write_value(o);
		json_object_put(o);
	} else if (!depth) {
		write_value(o);
		fputc('\n', stdout);
		json_object_put(o);
	}
}

void out_str(const char *key, const char *fmt, const char *v)
{
	if (opt.json)
		add(key, json_object_new_string(v));
	else if (fmt)
		printf(fmt, v);
}

void out_u64(const char *key, const char *fmt, uint64_t v)
{
	if (opt.json)
		add(key, json_object_new_uint64(v));
	else if (fmt)
		printf(fmt, v);
}

void out_s64(const char *key, const char *fmt, int64_t v)
{
	if (opt.json)
		add(key, json_object_new_int64(v));
	else if (fmt)
		printf(fmt, v);
}

void out_bool(const char *key, const char *fmt, bool v)
{
	if (opt.json)
		add(key, json_object_new_boolean(v));
	else if (fmt)
		printf(fmt, v ? "on" : "off");
}

static void out_number(const char *key, const char *fmt, const char *text,
		       uint64_t v)
{
	if (opt.json)
		add(key, json_object_new_uint64(v));
	else if (fmt)
		printf(fmt, text);
}

void out_hex16(const char *key, const char *fmt, uint16_t v)
{
	char buf[8];

	snprintf(buf, sizeof(buf), "0x%04x", v);
	out_str(key, fmt, buf);
}

void out_digest(const char *key, const char *fmt, uint64_t v)
{
	char buf[20];

	snprintf(buf, sizeof(buf), "%016" PRIx64, v);
	out_str(key, fmt, buf);
}

void out_null(const char *key, const char *text)
{
	if (opt.json)
		add(key, NULL);
	else if (text)
		fputs(text, stdout);
}

void out_text(const char *fmt, ...)
{
	va_list ap;

	if (opt.json)
		return;
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
}

struct scale {
	const char *name;
	uint64_t mult;
};

static const struct scale rates[] = {
	{ "Tbit", 1000000000000ULL }, { "Gbit", 1000000000ULL },
	{ "Mbit", 1000000ULL }, { "kbit", 1000ULL }, { "bit", 1 },
};

static const struct scale times[] = {
	{ "s", 1000000000ULL }, { "ms", 1000000ULL }, { "us", 1000ULL },
	{ "ns", 1 },
};

static const struct scale shares[] = {
	{ "%", 10000 },
};

/* Buffers of the last values, so that one printf may take several */
static char *fmt_buf(void)
{
	static char bufs[4][40];
	static unsigned int i;

	return bufs[i++ % ARRAY_SIZE(bufs)];
}

#define FMT_SIZE	40

/* Four digits are enough for what was measured. */
static const char *fmt_rounded(const struct scale *s, size_t n, uint64_t v)
{
	char *buf = fmt_buf();
	size_t i;

	for (i = 0; i + 1 < n && v < s[i].mult; i++)
		;
	if (v % s[i].mult)
		snprintf(buf, FMT_SIZE, "%.*f%s",
			 v / s[i].mult >= 100 ? 1 : v / s[i].mult >= 10 ? 2 : 3,
			 (double)v / (double)s[i].mult, s[i].name);
	else
		snprintf(buf, FMT_SIZE, "%" PRIu64 "%s", v / s[i].mult,
			 s[i].name);
	return buf;
}

/* The largest unit that says it exactly with at most four decimals */
static const char *fmt_exact(const struct scale *s, size_t n, uint64_t v)
{
	char *buf = fmt_buf();
	unsigned int decimals = 0;
	uint64_t frac, div = 1;
	size_t i;

	for (i = 0; i + 1 < n; i++)
		if (v >= s[i].mult &&
		    !(v % (s[i].mult > 10000 ? s[i].mult / 10000 : 1)))
			break;
	frac = v % s[i].mult;
	while (frac % (s[i].mult / div)) {
		div *= 10;
		decimals++;
	}
	if (decimals)
		snprintf(buf, FMT_SIZE, "%" PRIu64 ".%0*" PRIu64 "%s",
			 v / s[i].mult, (int)decimals,
			 frac / (s[i].mult / div), s[i].name);
	else
		snprintf(buf, FMT_SIZE, "%" PRIu64 "%s", v / s[i].mult,
			 s[i].name);
	return buf;
}

const char *fmt_value(unsigned int source, uint64_t v)
{
	switch (source) {
	case CSIG_SOURCE_ABW:
		return fmt_exact(rates, ARRAY_SIZE(rates), v);
	case CSIG_SOURCE_ABWC:
		return fmt_exact(shares, ARRAY_SIZE(shares), v);
	default:
		return fmt_exact(times, ARRAY_SIZE(times), v);
	}
}

void out_rate(const char *key, const char *fmt, uint64_t bps)
{
	out_number(key, fmt, fmt_rounded(rates, ARRAY_SIZE(rates), bps), bps);
}

void out_time(const char *key, const char *fmt, uint64_t ns)
{
	out_number(key, fmt, fmt_rounded(times, ARRAY_SIZE(times), ns), ns);
}

void out_ppm(const char *key, const char *fmt, uint64_t ppm)
{
	out_number(key, fmt, fmt_rounded(shares, ARRAY_SIZE(shares), ppm), ppm);
}

void out_value(const char *key, const char *fmt, unsigned int source,
	       uint64_t v)
{
	out_number(key, fmt, fmt_value(source, v), v);
}
