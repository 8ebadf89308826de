// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl signal: rows of the table of signals.
 */
#include <errno.h>
#include <string.h>

#include "csigctl.h"
#include "nl.h"
#include "output.h"
#include "profile.h"

static const char help[] =
	"Usage: csigctl signal [ show [ T ] ]\n"
	"       csigctl signal set T [ source { abw | abwc | pd | nqd } ]\n"
	"                            [ aggregate { min | max | sum | count } ]\n"
	"                            [ buckets B[,B...] ] [ base V ] [ step V ]\n"
	"       csigctl signal del T\n"
	"where  T := 0..15 (the compact format carries 0..7)\n"
	"       B, V := RATE (abw: 100mbit), SHARE (abwc: 12.5%, 500ppm),\n"
	"               TIME (pd, nqd: 128ns, 10us); B rising, 1 to 31 of them\n";

static int parse_t(struct args *a, unsigned int *t)
{
	const char *v = arg_next(a);
	uint64_t n;

	if (!v)
		return usage(a, "the signal is missing");
	if (parse_uint(v, CSIG_SIGNALS - 1, &n))
		return usage(a, "signal \"%s\" is not 0..%u", v,
			     CSIG_SIGNALS - 1);
	*t = (unsigned int)n;
	return ST_OK;
}

static int signal_show(struct args *a)
{
	unsigned int t, only = CSIG_SIGNALS;
	struct domain d;
	int status = ST_OK;

	if (a->argc)
		status = parse_t(a, &only);
	if (!status)
		status = arg_end(a);
	if (!status)
		status = domain_get(&d);
	if (status)
		return status;
	if (only < CSIG_SIGNALS && !d.profile.signals[only].defined)
		return fail("signal %u is not defined", only);
	out_open_array(NULL);
	for (t = 0; t < CSIG_SIGNALS; t++)
		if (d.profile.signals[t].defined &&
		    (only == CSIG_SIGNALS || only == t))
			print_signal(&d.profile, t);
	out_close_array();
	return ST_OK;
}

/**
 * struct row - the words of "signal set"
 * @source: and the others: NULL when not given
 */
struct row {
	const char *source;
	const char *aggregate;
	const char *buckets;
	const char *base;
	const char *step;
};

static int parse_words(struct args *a, struct row *r)
{
	const struct {
		const char *word;
		const char **value;
	} words[] = {
		{ "source", &r->source }, { "aggregate", &r->aggregate },
		{ "buckets", &r->buckets }, { "base", &r->base },
		{ "step", &r->step },
	};
	unsigned int v;
	size_t i;

	while (a->argc) {
		for (i = 0; i < ARRAY_SIZE(words); i++)
			if (arg_is(a, words[i].word))
				break;
		if (i == ARRAY_SIZE(words))
			return arg_unknown(a);
		if (*words[i].value)
			return usage(a, "\"%s\" is given twice", words[i].word);
		if (arg_value(a, words[i].word, words[i].value))
			return ST_USAGE;
	}
	if (r->source && parse_word(r->source, source_words, 4, &v))
		return usage(a, "source \"%s\" is unknown", r->source);
	if (r->aggregate && parse_word(r->aggregate, aggregate_words, 4, &v))
		return usage(a, "aggregate \"%s\" is unknown", r->aggregate);
	return ST_OK;
}

static int parse_unit_value(struct args *a, const char *word, const char *text,
			    unsigned int source, __u64 *v)
{
	uint64_t n;

	if (!parse_value(source, text, &n)) {
		*v = n;
		return ST_OK;
	}
	return usage(a, "%s \"%s\" is not a %s", word, text,
		     source == CSIG_SOURCE_ABW ? "rate (100mbit)" :
		     source == CSIG_SOURCE_ABWC ? "share (12.5%, 500ppm)" :
						  "time (10us)");
}

static int parse_buckets(struct args *a, const char *text, unsigned int source,
			 struct csig_coding *c)
{
	char one[64];

	c->nbounds = 0;
	for (;;) {
		size_t len = strcspn(text, ",");
		__u64 *b;

		if (c->nbounds == CSIG_BOUNDS_MAX)
			return usage(a, "more than %u buckets", CSIG_BOUNDS_MAX);
		if (!len || len >= sizeof(one))
			return usage(a, "buckets \"%s\" has an empty or overlong value",
				     text);
		memcpy(one, text, len);
		one[len] = '\0';
		b = &c->bounds[c->nbounds];
		if (parse_unit_value(a, "buckets", one, source, b))
			return ST_USAGE;
		if (*b <= (c->nbounds ? b[-1] : 0))
			return usage(a, "buckets \"%s\" does not rise", one);
		c->nbounds++;
		if (!text[len])
			return ST_OK;
		text += len + 1;
	}
}

/* @s: as it is now; with another source its coding means nothing any more */
static int parse_row(struct args *a, const struct row *r, struct csig_signal *s)
{
	unsigned int v = 0;

	if (r->source) {
		parse_word(r->source, source_words, 4, &v);
		if (!s->defined || v != s->source)
			memset(&s->coding, 0, sizeof(s->coding));
		s->source = (uint8_t)v;
	} else if (!s->defined) {
		return usage(a, "\"source\" is missing for a new signal");
	}
	if (r->aggregate) {
		parse_word(r->aggregate, aggregate_words, 4, &v);
		s->aggregate = (uint8_t)v;
	} else if (!s->defined) {
		return usage(a, "\"aggregate\" is missing for a new signal");
	}
	s->defined = 1;
	if (r->buckets && parse_buckets(a, r->buckets, s->source, &s->coding))
		return ST_USAGE;
	if (r->base &&
	    parse_unit_value(a, "base", r->base, s->source, &s->coding.base))
		return ST_USAGE;
	if (r->step &&
	    parse_unit_value(a, "step", r->step, s->source, &s->coding.step))
		return ST_USAGE;
	return ST_OK;
}

/* Values that nobody gave: those of the default preset for the source */
static void fill_coding(struct csig_signal *s, const struct row *r)
{
	struct csig_profile p;
	unsigned int t;

	csig_profile_preset(&p, CSIG_PRESET_DEFAULT);
	for (t = 0; t < CSIG_SIGNALS; t++) {
		const struct csig_signal *d = &p.signals[t];

		if (!d->defined || d->source != s->source)
			continue;
		if (!s->coding.nbounds) {
			s->coding.nbounds = d->coding.nbounds;
			memcpy(s->coding.bounds, d->coding.bounds,
			       sizeof(s->coding.bounds));
		}
		if (!s->coding.step && !r->step)
			s->coding.step = d->coding.step;
		return;
	}
}

static int send_signal(unsigned int t, const struct csig_signal *s)
{
	struct nl_msg *msg = csig_request(CSIG_CMD_DOMAIN_SET, 0);
	int err;

	if (!msg)
		return fail("out of memory");
	put_signal(msg, t, s);
	err = csig_talk(msg, NULL);
	return err ? nl_refused(err, "signal") : ST_OK;
}

static int signal_set(struct args *a)
{
	struct csig_signal s = { 0 };
	struct row r = { 0 };
	struct domain d;
	unsigned int t;
	int status;

	status = parse_t(a, &t);
	if (!status)
		status = parse_words(a, &r);
	if (status)
		return status;
	if (!r.source && !r.aggregate && !r.buckets && !r.base && !r.step)
		return usage(a, "nothing to set");
	/* What can be judged without the kernel is, before it is asked. */
	if (r.source && r.aggregate) {
		status = parse_row(a, &r, &s);
		if (status)
			return status;
	}
	status = domain_get(&d);
	if (status)
		return status;
	s = d.profile.signals[t];
	status = parse_row(a, &r, &s);
	if (status)
		return status;
	fill_coding(&s, &r);
	return send_signal(t, &s);
}

static int signal_del(struct args *a)
{
	const struct csig_signal none = { 0 };
	unsigned int t;
	int status;

	status = parse_t(a, &t);
	if (!status)
		status = arg_end(a);
	if (!status)
		status = csig_open();
	return status ? status : send_signal(t, &none);
}

int do_signal(struct args *a)
{
	static const struct command commands[] = {
		{ "show", signal_show },
		{ "set", signal_set },
		{ "del", signal_del },
	};

	return run_command(a, commands, ARRAY_SIZE(commands), "show", help);
}
