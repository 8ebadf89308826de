// SPDX-License-Identifier: GPL-2.0
/*
 * The words of "csigctl host enable"; signals are those of the domain.
 */
#include <string.h>

#include "host.h"

#define KIND_DEFAULT	254
#define EVERY_MAX	65535
#define AVOID_NS	60000000000ULL

const char *const reflect_words[2] = {
	[CSIG_REFLECT_LATEST] = "latest",
	[CSIG_REFLECT_SUMMARY] = "summary",
};

static const char *const setting_words[HOST_SETTINGS] = {
	[HOST_SIGNALS] = "signals", [HOST_FORMAT] = "format", [HOST_EVERY] = "every",
	[HOST_REFLECT] = "reflect", [HOST_CGROUP] = "cgroup", [HOST_KIND] = "kind",
	[HOST_AVOID] = "avoid",
};

/* Options that the kernel knows, and the two that have no Length */
static bool kind_is_taken(uint64_t kind)
{
	static const uint8_t taken[] = {
		0, 1, 2, 3, 4, 5, 8, 19, 29, 30, 34, 172, 174,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(taken); i++)
		if (taken[i] == kind)
			return true;
	return false;
}

static int parse_setting(struct args *a, unsigned int set, const char *text,
			 struct host_settings *s)
{
	unsigned int i;
	uint64_t v;

	switch (set) {
	case HOST_SIGNALS:
		s->signals = text;
		return ST_OK;
	case HOST_FORMAT:
		if (parse_word(text, format_words, 2, &i))
			return usage(a, "format \"%s\" is unknown", text);
		s->device.format = (uint8_t)i;
		return ST_OK;
	case HOST_EVERY:
		if (parse_uint(text, EVERY_MAX, &v) || !v)
			return usage(a, "every \"%s\" is not 1..%u", text,
				     EVERY_MAX);
		s->device.every = (uint16_t)v;
		return ST_OK;
	case HOST_REFLECT:
		if (parse_word(text, reflect_words, 2, &s->reflect))
			return usage(a, "reflect \"%s\" is unknown", text);
		return ST_OK;
	case HOST_CGROUP:
		s->cgroup = text;
		return ST_OK;
	case HOST_AVOID:
		if (parse_time(text, &s->avoid_ns))
			return usage(a, "avoid \"%s\" is not a time (60s)",
				     text);
		return ST_OK;
	default:
		if (parse_uint(text, 255, &v) || kind_is_taken(v))
			return usage(a, "kind \"%s\" is not a free TCP option (253, 254 or another)",
				     text);
		s->kind = (uint8_t)v;
		return ST_OK;
	}
}

int host_parse(struct args *a, struct host_settings *s)
{
	const char *text;
	unsigned int set;

	*s = (struct host_settings){ .signals = "abwc,pd,abw", .kind = KIND_DEFAULT,
				.device.every = 1, .avoid_ns = AVOID_NS };
	while (a->argc) {
		if (parse_word(a->argv[0], setting_words, HOST_SETTINGS, &set))
			return arg_unknown(a);
		arg_next(a);
		if (arg_once(a, setting_words[set], &s->given[set]) ||
		    arg_value(a, setting_words[set], &text) ||
		    parse_setting(a, set, text, s))
			return ST_USAGE;
	}
	return ST_OK;
}

/* T of a word; the first of that source where there are several */
static int find_signal(struct args *a, const struct csig_profile *p,
		       const char *word, unsigned int *t)
{
	unsigned int source;
	uint64_t v;

	if (!parse_uint(word, CSIG_SIGNALS - 1, &v)) {
		*t = (unsigned int)v;
		if (!p->signals[*t].defined)
			return fail("signal %u is not defined in this domain; look: csigctl signal show",
				    *t);
		return ST_OK;
	}
	if (parse_word(word, source_words, ARRAY_SIZE(source_words), &source))
		return usage(a, "signal \"%s\" is unknown", word);
	for (*t = 0; *t < CSIG_SIGNALS; ++*t)
		if (p->signals[*t].defined && p->signals[*t].source == source)
			return ST_OK;
	return fail("no signal of this domain has the source %s; try: csigctl signal set T source %s",
		    word, word);
}

int host_signals(struct args *a, struct host_settings *s)
{
	const char *text = s->signals;
	struct domain d;
	unsigned int t = 0;
	char word[32];
	int status;

	status = domain_get(&d);
	while (!status) {
		size_t len = strcspn(text, ",");

		if (!len || len >= sizeof(word))
			return usage(a, "signals \"%s\" is not SIGNAL[,SIGNAL...]",
				     s->signals);
		memcpy(word, text, len);
		word[len] = '\0';
		status = find_signal(a, &d.profile, word, &t);
		if (status)
			break;
		s->device.signals |= (uint16_t)(1U << t);
		if (!text[len])
			break;
		text += len + 1;
	}
	return status;
}

int host_check_format(const struct csig_device *d)
{
	if (d->format == CSIG_FORMAT_COMPACT && d->signals >> 8)
		return fail("signals above 7 do not fit the compact format; try: format expanded");
	return ST_OK;
}
