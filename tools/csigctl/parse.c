// SPDX-License-Identifier: GPL-2.0
/*
 * From words to numbers: rates, times, shares, and the walk over the words of a
 * command.  Everything is integer arithmetic and all of a word must be understood.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <linux/csig.h>

#include "csigctl.h"
#include "output.h"

struct unit {
	const char *name;
	uint64_t mult;
};

#define K	1000ULL
#define KI	1024ULL

/* As in tc: "bps" counts octets */
static const struct unit rate_units[] = {
	{ "", 1 }, { "bit", 1 },
	{ "kbit", K }, { "mbit", K * K }, { "gbit", K * K * K },
	{ "tbit", K * K * K * K },
	{ "kibit", KI }, { "mibit", KI * KI }, { "gibit", KI * KI * KI },
	{ "tibit", KI * KI * KI * KI },
	{ "bps", 8 }, { "kbps", 8 * K }, { "mbps", 8 * K * K },
	{ "gbps", 8 * K * K * K }, { "tbps", 8 * K * K * K * K },
	{ "kibps", 8 * KI }, { "mibps", 8 * KI * KI },
	{ "gibps", 8 * KI * KI * KI }, { "tibps", 8 * KI * KI * KI * KI },
};

static const struct unit time_units[] = {
	{ "ns", 1 }, { "us", K }, { "ms", K * K }, { "s", K * K * K },
};

static const struct unit ppm_units[] = {
	{ "ppm", 1 }, { "%", 10000 },
};

static const struct unit share_units[] = {
	{ "", 1000000 }, { "ppm", 1 }, { "%", 10000 },
};

/*
 * DIGITS[.DIGITS]UNIT.  The result must be a whole number below 2^63; no sign, no
 * exponent, no blank.
 */
static int parse_scaled(const char *s, const struct unit *units, size_t n,
			uint64_t *v)
{
	unsigned __int128 x = 0;
	unsigned int digits = 0, decimals = 0;
	uint64_t scale = 1;
	bool point = false;
	size_t i;

	if (!isdigit((unsigned char)*s))
		return -1;
	for (; isdigit((unsigned char)*s) || (*s == '.' && !point); s++) {
		if (*s == '.') {
			if (!isdigit((unsigned char)s[1]))
				return -1;
			point = true;
			continue;
		}
		if (x || *s != '0')
			digits++;
		if (point && ++decimals > 12)
			return -1;
		if (digits > 24)
			return -1;
		x = x * 10 + (unsigned int)(*s - '0');
		if (point)
			scale *= 10;
	}
	for (i = 0; i < n; i++)
		if (!strcasecmp(s, units[i].name))
			break;
	if (i == n) {
		/* nothing at all is nothing in every unit */
		if (*s || x)
			return -1;
		i = 0;
	}
	x *= units[i].mult;
	if (x % scale)
		return -1;
	x /= scale;
	if (x >> 63)
		return -1;
	*v = (uint64_t)x;
	return 0;
}

int parse_rate(const char *s, uint64_t *bps)
{
	return parse_scaled(s, rate_units, ARRAY_SIZE(rate_units), bps);
}

int parse_time(const char *s, uint64_t *ns)
{
	return parse_scaled(s, time_units, ARRAY_SIZE(time_units), ns);
}

int parse_ppm(const char *s, uint64_t *ppm)
{
	return parse_scaled(s, ppm_units, ARRAY_SIZE(ppm_units), ppm);
}

/* 0.1, 10% or 100000ppm */
int parse_share(const char *s, uint64_t *ppm)
{
	return parse_scaled(s, share_units, ARRAY_SIZE(share_units), ppm);
}

int parse_value(unsigned int source, const char *s, uint64_t *v)
{
	switch (source) {
	case CSIG_SOURCE_ABW:
		return parse_rate(s, v);
	case CSIG_SOURCE_ABWC:
		return parse_ppm(s, v);
	default:
		return parse_time(s, v);
	}
}

int parse_uint(const char *s, uint64_t max, uint64_t *v)
{
	char *end;

	if (!isdigit((unsigned char)*s))
		return -1;
	errno = 0;
	*v = strtoull(s, &end, s[0] == '0' && (s[1] | 0x20) == 'x' ? 16 : 10);
	return errno || *end || *v > max ? -1 : 0;
}

/* N or N/M, both at least 1 */
int parse_ratio(const char *s, uint32_t *num, uint32_t *den)
{
	const char *slash = strchr(s, '/');
	uint64_t n, d = 1;
	char buf[16];

	if (slash) {
		if ((size_t)(slash - s) >= sizeof(buf) ||
		    parse_uint(slash + 1, UINT32_MAX, &d))
			return -1;
		memcpy(buf, s, (size_t)(slash - s));
		buf[slash - s] = '\0';
		s = buf;
	}
	if (parse_uint(s, UINT32_MAX, &n) || !n || !d)
		return -1;
	*num = (uint32_t)n;
	*den = (uint32_t)d;
	return 0;
}

int parse_word(const char *s, const char *const *words, size_t n,
	       unsigned int *v)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (strcmp(s, words[i]))
			continue;
		*v = (unsigned int)i;
		return 0;
	}
	return -1;
}

int parse_onoff(const char *s, bool *on)
{
	*on = !strcmp(s, "on");
	return *on || !strcmp(s, "off") ? 0 : -1;
}

const char *arg_next(struct args *a)
{
	if (!a->argc)
		return NULL;
	a->argc--;
	return *a->argv++;
}

/* Is the next word this one?  Then it is taken. */
bool arg_is(struct args *a, const char *word)
{
	if (!a->argc || strcmp(a->argv[0], word))
		return false;
	arg_next(a);
	return true;
}

int arg_value(struct args *a, const char *word, const char **value)
{
	*value = arg_next(a);
	if (!*value || !**value)
		return usage(a, "\"%s\" needs a value", word);
	return ST_OK;
}

int arg_unknown(const struct args *a)
{
	return usage(a, "\"%s\" is unknown", a->argv[0]);
}

int arg_end(const struct args *a)
{
	return a->argc ? arg_unknown(a) : ST_OK;
}

int arg_once(const struct args *a, const char *word, bool *given)
{
	if (*given)
		return usage(a, "\"%s\" is given twice", word);
	*given = true;
	return ST_OK;
}

/* dev NAME, the "dev" may be left out where nothing else can stand */
int arg_dev(struct args *a, const char **dev)
{
	bool word = arg_is(a, "dev");

	*dev = arg_next(a);
	if (!*dev || !**dev)
		return usage(a, word ? "\"dev\" needs a value" :
				       "\"dev\" is missing");
	if (strlen(*dev) > 15 || strchr(*dev, '/'))
		return usage(a, "\"%s\" is not a device name", *dev);
	return ST_OK;
}

bool arg_wants_help(const struct args *a)
{
	return a->argc && (!strcmp(a->argv[0], "help") ||
			   !strcmp(a->argv[0], "-h") ||
			   !strcmp(a->argv[0], "--help"));
}

/* Second word of a line; without one the default command is meant. */
int run_command(struct args *a, const struct command *c, size_t n,
		const char *deflt, const char *help)
{
	const char *word;
	size_t i;

	if (arg_wants_help(a)) {
		fputs(help, stdout);
		out_discard();
		return ST_OK;
	}
	word = a->argc ? arg_next(a) : deflt;
	for (i = 0; i < n; i++) {
		if (strcmp(word, c[i].name))
			continue;
		a->command = c[i].name;
		if (arg_wants_help(a)) {
			fputs(help, stdout);
			out_discard();
			return ST_OK;
		}
		return c[i].run(a);
	}
	return usage(a, "command \"%s\" is unknown", word);
}
