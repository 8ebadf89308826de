// SPDX-License-Identifier: GPL-2.0
/*
 * The profile of the domain from and to the kernel, and as text and JSON.  Reading
 * it from a file is profile_file.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "output.h"
#include "profile.h"

#define READ_TRIES	5

const char *const source_words[4] = {
	[CSIG_SOURCE_ABW] = "abw",
	[CSIG_SOURCE_ABWC] = "abwc",
	[CSIG_SOURCE_PD] = "pd",
	[CSIG_SOURCE_NQD] = "nqd",
};

const char *const aggregate_words[4] = {
	[CSIG_AGGREGATE_MIN] = "min",
	[CSIG_AGGREGATE_MAX] = "max",
	[CSIG_AGGREGATE_SUM] = "sum",
	[CSIG_AGGREGATE_COUNT] = "count",
};

const char *const format_words[2] = {
	[CSIG_FORMAT_COMPACT] = "compact",
	[CSIG_FORMAT_EXPANDED] = "expanded",
};

const char *word_of(const char *const *words, size_t n, unsigned int v)
{
	return v < n ? words[v] : "?";
}

const char *signal_name(const struct csig_signal *s)
{
	static char name[32];

	if (!s->defined)
		return "undefined";
	snprintf(name, sizeof(name), "%s(%s)",
		 WORD(aggregate_words, s->aggregate),
		 WORD(source_words, s->source));
	return name;
}

const char *source_unit(unsigned int source)
{
	switch (source) {
	case CSIG_SOURCE_ABW:
		return "bps";
	case CSIG_SOURCE_ABWC:
		return "ppm";
	default:
		return "ns";
	}
}

void put_signal(struct nl_msg *msg, unsigned int t, const struct csig_signal *s)
{
	struct nlattr *nest = nla_nest_start(msg, CSIG_A_DOMAIN_SIGNAL |
						  NLA_F_NESTED);
	unsigned int i;

	nla_put_u8(msg, CSIG_A_SIGNAL_T, (uint8_t)t);
	if (!s->defined) {
		nla_put_flag(msg, CSIG_A_SIGNAL_REMOVE);
		nla_nest_end(msg, nest);
		return;
	}
	nla_put_u8(msg, CSIG_A_SIGNAL_SOURCE, s->source);
	nla_put_u8(msg, CSIG_A_SIGNAL_AGGREGATE, s->aggregate);
	for (i = 0; i < s->coding.nbounds; i++)
		nla_put_u64(msg, CSIG_A_SIGNAL_BOUND, s->coding.bounds[i]);
	nla_put_u64(msg, CSIG_A_SIGNAL_BASE, s->coding.base);
	nla_put_u64(msg, CSIG_A_SIGNAL_STEP, s->coding.step);
	nla_nest_end(msg, nest);
}

/* t may be CSIG_LAYOUT_ANY; no fields remove the layout */
void put_layout(struct nl_msg *msg, unsigned int t, unsigned int format,
		const struct csig_lm_layout *l)
{
	struct nlattr *nest, *field;
	unsigned int i;

	nest = nla_nest_start(msg, CSIG_A_DOMAIN_LAYOUT | NLA_F_NESTED);
	if (t != CSIG_LAYOUT_ANY)
		nla_put_u8(msg, CSIG_A_LAYOUT_T, (uint8_t)t);
	nla_put_u8(msg, CSIG_A_LAYOUT_FORMAT, (uint8_t)format);
	for (i = 0; i < l->nfields; i++) {
		field = nla_nest_start(msg, CSIG_A_LAYOUT_FIELD | NLA_F_NESTED);
		nla_put_string(msg, CSIG_A_LM_FIELD_NAME, l->fields[i].name);
		nla_put_u8(msg, CSIG_A_LM_FIELD_BITS, l->fields[i].bits);
		nla_nest_end(msg, field);
	}
	nla_nest_end(msg, nest);
}

int get_signal(const struct nlattr *nest, struct csig_profile *p)
{
	struct nlattr *tb[CSIG_A_SIGNAL_MAX + 1];
	struct csig_signal *s;
	struct nlattr *a;
	unsigned int t;
	int rem;

	attr_nested(nest, CSIG_A_SIGNAL_MAX, tb);
	t = attr_u8(tb[CSIG_A_SIGNAL_T], CSIG_SIGNALS);
	if (t >= CSIG_SIGNALS)
		return -1;
	s = &p->signals[t];
	memset(s, 0, sizeof(*s));
	s->defined = 1;
	s->source = attr_u8(tb[CSIG_A_SIGNAL_SOURCE], 0);
	s->aggregate = attr_u8(tb[CSIG_A_SIGNAL_AGGREGATE], 0);
	s->coding.base = attr_u64(tb[CSIG_A_SIGNAL_BASE], 0);
	s->coding.step = attr_u64(tb[CSIG_A_SIGNAL_STEP], 0);
	nla_for_each_nested(a, nest, rem) {
		if (nla_type(a) != CSIG_A_SIGNAL_BOUND)
			continue;
		if (s->coding.nbounds == CSIG_BOUNDS_MAX)
			return -1;
		s->coding.bounds[s->coding.nbounds++] = attr_u64(a, 0);
	}
	if (!csig_coding_valid(&s->coding))
		return -1;
	csig_coding_prepare(&s->coding);
	return 0;
}

static int get_layout(const struct nlattr *nest, struct csig_profile *p)
{
	struct nlattr *tb[CSIG_A_LAYOUT_MAX + 1];
	struct csig_lm_layout *l;
	unsigned int t, f;
	struct nlattr *a;
	int rem;

	attr_nested(nest, CSIG_A_LAYOUT_MAX, tb);
	t = attr_u8(tb[CSIG_A_LAYOUT_T], CSIG_LAYOUT_ANY);
	f = attr_u8(tb[CSIG_A_LAYOUT_FORMAT], CSIG_FORMATS);
	if (t > CSIG_LAYOUT_ANY || f >= CSIG_FORMATS)
		return -1;
	l = &p->layouts[t][f];
	l->nfields = 0;
	nla_for_each_nested(a, nest, rem) {
		struct nlattr *fb[CSIG_A_LM_FIELD_MAX + 1];
		struct csig_lm_field *field;

		if (nla_type(a) != CSIG_A_LAYOUT_FIELD)
			continue;
		if (l->nfields == CSIG_LM_FIELDS_MAX)
			return -1;
		attr_nested(a, CSIG_A_LM_FIELD_MAX, fb);
		field = &l->fields[l->nfields++];
		snprintf(field->name, sizeof(field->name), "%s",
			 attr_str(fb[CSIG_A_LM_FIELD_NAME], ""));
		field->bits = attr_u8(fb[CSIG_A_LM_FIELD_BITS], 0);
	}
	return csig_lm_valid(l, f) ? 0 : -1;
}

/* One dump of rows, each in a nest of the domain's attributes */
static int get_rows(uint8_t cmd, int attr, struct csig_profile *p,
		    int (*row)(const struct nlattr *, struct csig_profile *))
{
	struct nlattr *tb[CSIG_A_DOMAIN_MAX + 1];
	struct answer answer;
	size_t i;
	int err;

	err = csig_talk(csig_request(cmd, NLM_F_DUMP), &answer);
	for (i = 0; !err && i < answer.n; i++)
		if (csig_attrs(answer.msgs[i], CSIG_A_DOMAIN_MAX, tb) ||
		    !tb[attr] || row(tb[attr], p))
			err = -EPROTO;
	answer_free(&answer);
	return err;
}

static int domain_read(struct domain *d)
{
	struct nlattr *tb[CSIG_A_DOMAIN_MAX + 1];
	struct csig_profile *p = &d->profile;
	struct answer answer;
	int err;

	memset(d, 0, sizeof(*d));
	err = csig_talk(csig_request(CSIG_CMD_DOMAIN_GET, 0), &answer);
	if (!err && (answer.n != 1 ||
		     csig_attrs(answer.msgs[0], CSIG_A_DOMAIN_MAX, tb)))
		err = -EPROTO;
	if (!err) {
		p->tpid[CSIG_FORMAT_COMPACT] =
			attr_u16(tb[CSIG_A_DOMAIN_COMPACT_TPID], 0);
		p->tpid[CSIG_FORMAT_EXPANDED] =
			attr_u16(tb[CSIG_A_DOMAIN_EXPANDED_TPID], 0);
		p->software_assist =
			attr_u8(tb[CSIG_A_DOMAIN_SOFTWARE_ASSIST], 0);
		d->digest = attr_u64(tb[CSIG_A_DOMAIN_DIGEST], 0);
		d->ports = attr_u32(tb[CSIG_A_DOMAIN_PORTS], 0);
		snprintf(d->version, sizeof(d->version), "%s",
			 attr_str(tb[CSIG_A_DOMAIN_VERSION], "unknown"));
	}
	answer_free(&answer);
	if (!err)
		err = get_rows(CSIG_CMD_SIGNAL_GET, CSIG_A_DOMAIN_SIGNAL, p,
			       get_signal);
	if (!err)
		err = get_rows(CSIG_CMD_LAYOUT_GET, CSIG_A_DOMAIN_LAYOUT, p,
			       get_layout);
	return err;
}

/*
 * Three requests make a profile; the digest shows whether somebody changed it in
 * between.
 */
int domain_get(struct domain *d)
{
	int tries, err, status = csig_open();

	if (status)
		return status;
	for (tries = 0; tries < READ_TRIES; tries++) {
		err = domain_read(d);
		if (err)
			return nl_refused(err, "domain");
		if (csig_profile_digest(&d->profile) == d->digest)
			return ST_OK;
	}
	return fail("domain: its digest does not fit its contents; is the module of csigctl's version?");
}

/* The whole profile or nothing */
int domain_replace(const struct csig_profile *p)
{
	struct nl_msg *msg;
	unsigned int t, f;
	int err, status;

	status = csig_open();
	if (status)
		return status;
	msg = csig_request(CSIG_CMD_DOMAIN_SET, 0);
	if (!msg)
		return fail("out of memory");
	nla_put_flag(msg, CSIG_A_DOMAIN_REPLACE);
	nla_put_u16(msg, CSIG_A_DOMAIN_COMPACT_TPID,
		    p->tpid[CSIG_FORMAT_COMPACT]);
	nla_put_u16(msg, CSIG_A_DOMAIN_EXPANDED_TPID,
		    p->tpid[CSIG_FORMAT_EXPANDED]);
	nla_put_u8(msg, CSIG_A_DOMAIN_SOFTWARE_ASSIST, p->software_assist);
	for (t = 0; t < CSIG_SIGNALS; t++)
		if (p->signals[t].defined)
			put_signal(msg, t, &p->signals[t]);
	for (t = 0; t <= CSIG_LAYOUT_ANY; t++)
		for (f = 0; f < CSIG_FORMATS; f++)
			if (p->layouts[t][f].nfields)
				put_layout(msg, t, f, &p->layouts[t][f]);
	err = csig_talk(msg, NULL);
	return err ? nl_refused(err, "domain") : ST_OK;
}

void print_signal(const struct csig_profile *p, unsigned int t)
{
	const struct csig_signal *s = &p->signals[t];
	const struct csig_coding *c = &s->coding;
	unsigned int i;

	out_open_object(NULL);
	out_u64("t", "signal %-2" PRIu64, t);
	out_str("name", "  %s", signal_name(s));
	out_str("source", "  source %s", WORD(source_words, s->source));
	out_str("aggregate", " aggregate %s\n",
		WORD(aggregate_words, s->aggregate));
	out_str("unit", NULL, source_unit(s->source));
	out_text("    compact   buckets");
	out_open_array("buckets");
	for (i = 0; i < c->nbounds; i++)
		out_value(NULL, i ? ",%s" : " %s", s->source, c->bounds[i]);
	out_close_array();
	out_value("base", "\n    expanded  base %s", s->source, c->base);
	out_value("step", " step %s\n", s->source, c->step);
	out_close_object();
}

void print_layout(const struct csig_profile *p, unsigned int t,
		  unsigned int format)
{
	const struct csig_lm_layout *l = &p->layouts[t][format];
	unsigned int i;

	out_open_object(NULL);
	if (t == CSIG_LAYOUT_ANY)
		out_null("t", "signal all");
	else
		out_u64("t", "signal %-3" PRIu64, t);
	out_str("format", " format %-8s fields", WORD(format_words, format));
	out_open_array("fields");
	for (i = 0; i < l->nfields; i++) {
		out_open_object(NULL);
		out_str("name", i ? ",%s" : " %s", l->fields[i].name);
		out_u64("bits", ":%" PRIu64, l->fields[i].bits);
		out_close_object();
	}
	out_close_array();
	out_text("\n");
	out_close_object();
}

void profile_print_json(const struct csig_profile *p)
{
	unsigned int t, f;

	out_open_object(NULL);
	out_digest("digest", NULL, csig_profile_digest(p));
	out_hex16("compact_tpid", NULL, p->tpid[CSIG_FORMAT_COMPACT]);
	out_hex16("expanded_tpid", NULL, p->tpid[CSIG_FORMAT_EXPANDED]);
	out_bool("software_assist", NULL, p->software_assist);
	out_open_array("signals");
	for (t = 0; t < CSIG_SIGNALS; t++)
		if (p->signals[t].defined)
			print_signal(p, t);
	out_close_array();
	out_open_array("layouts");
	for (t = 0; t <= CSIG_LAYOUT_ANY; t++)
		for (f = 0; f < CSIG_FORMATS; f++)
			if (p->layouts[t][f].nfields)
				print_layout(p, t, f);
	out_close_array();
	out_close_object();
}
