// SPDX-License-Identifier: GPL-2.0
/*
 * From a tag to its meaning in a profile: the name of the signal, the values that S
 * stands for, the fields of the locator metadata and the name of the place.
 */
#include <stdio.h>
#include <string.h>

#include "decode.h"
#include "names.h"
#include "output.h"
#include "profile.h"

/* Fields as an object, as text in front of the name */
void print_fields(const struct csig_profile *p, unsigned int t,
		  unsigned int format, uint16_t lm)
{
	const struct csig_lm_layout *l = csig_profile_layout(p, t, format);
	unsigned int i, shift;
	uint16_t mask;

	out_u64("lm", " lm %" PRIu64, lm);
	out_open_object("lm_fields");
	for (i = 0; i < l->nfields; i++) {
		if (!csig_lm_find(l, l->fields[i].name, &shift, &mask))
			continue;
		out_text("%c%s", i ? ',' : ' ', l->fields[i].name);
		out_u64(l->fields[i].name, "=%" PRIu64, lm >> shift & mask);
	}
	out_close_object();
}

/*
 * Sums of codes have no value in the compact format, where buckets differ in width;
 * a count is its code.
 */
static bool has_value(const struct csig_signal *s, unsigned int format)
{
	return s->defined && s->aggregate != CSIG_AGGREGATE_COUNT &&
	       (s->aggregate != CSIG_AGGREGATE_SUM ||
		format != CSIG_FORMAT_COMPACT);
}

static void print_range(const struct csig_signal *s, const struct csig_tag *tag)
{
	__u64 lo, hi;

	if (!has_value(s, tag->format)) {
		out_null("value_min", NULL);
		out_null("value_max", NULL);
		out_null("unit", NULL);
		return;
	}
	csig_decode_range(&s->coding, tag->format, tag->s, &lo, &hi);
	if (hi == CSIG_U64_MAX) {
		out_value("value_min", " >=%s", s->source, lo);
		out_null("value_max", NULL);
	} else if (tag->format == CSIG_FORMAT_EXPANDED && hi - lo == 1) {
		out_value("value_min", " %s", s->source, lo);
		out_value("value_max", NULL, s->source, hi);
	} else {
		out_value("value_min", " %s", s->source, lo);
		out_value("value_max", "..%s", s->source, hi);
	}
	out_str("unit", NULL, source_unit(s->source));
}

void print_tag(const struct csig_profile *p, const struct csig_tag *tag)
{
	const struct csig_signal *s = &p->signals[tag->t];
	const char *name = NULL;

	/* LM 0 of a tag that no port wrote into is no place */
	if (tag_written(p, tag))
		name = names_find(p, tag->t, tag->format, tag->lm);
	out_str("format", " %s", WORD(format_words, tag->format));
	out_u64("t", " T%" PRIu64, tag->t);
	if (s->defined)
		out_str("signal", " %s", signal_name(s));
	else
		out_null("signal", " undefined");
	out_u64("s", " S %" PRIu64, tag->s);
	print_range(s, tag);
	out_u64("r", tag->r ? " R %" PRIu64 : NULL, tag->r);
	print_fields(p, tag->t, tag->format, tag->lm);
	if (name)
		out_str("bottleneck", " at %s", name);
	else
		out_null("bottleneck", NULL);
}

const char *tag_value_text(const struct csig_profile *p,
			   const struct csig_tag *tag, char *buf, size_t size)
{
	const struct csig_signal *s = &p->signals[tag->t];
	__u64 lo, hi;

	if (!has_value(s, tag->format)) {
		snprintf(buf, size, "S %u", tag->s);
		return buf;
	}
	csig_decode_range(&s->coding, tag->format, tag->s, &lo, &hi);
	if (hi == CSIG_U64_MAX)
		snprintf(buf, size, ">=%s", fmt_value(s->source, lo));
	else if (tag->format == CSIG_FORMAT_EXPANDED)	/* steps are small */
		snprintf(buf, size, "%s", fmt_value(s->source, lo));
	else
		snprintf(buf, size, "%s..%s", fmt_value(s->source, lo),
			 fmt_value(s->source, hi));
	return buf;
}

const char *tag_place_text(const struct csig_profile *p,
			   const struct csig_tag *tag, char *buf, size_t size)
{
	const struct csig_lm_layout *l = csig_profile_layout(p, tag->t,
							     tag->format);
	const char *name = names_find(p, tag->t, tag->format, tag->lm);
	unsigned int i, shift;
	size_t len = 0;
	uint16_t mask;

	if (name) {
		snprintf(buf, size, "%s", name);
		return buf;
	}
	if (!l->nfields)
		snprintf(buf, size, "lm %u", tag->lm);
	for (i = 0; i < l->nfields && len < size; i++)
		if (csig_lm_find(l, l->fields[i].name, &shift, &mask))
			len += (size_t)snprintf(buf + len, size - len,
						"%s%s=%u", i ? "," : "",
						l->fields[i].name,
						tag->lm >> shift & mask);
	return buf;
}

bool tag_written(const struct csig_profile *p, const struct csig_tag *tag)
{
	const struct csig_signal *s = &p->signals[tag->t];

	return tag->lm || !s->defined ||
	       tag->s != csig_initial_s(s->aggregate, tag->format);
}

bool tag_says_nothing(const struct csig_profile *p, const struct csig_tag *tag)
{
	const struct csig_signal *s = &p->signals[tag->t];

	return s->defined && s->aggregate == CSIG_AGGREGATE_MIN &&
	       !tag_written(p, tag) &&
	       (tag->format == CSIG_FORMAT_EXPANDED ||
		tag->s > s->coding.nbounds);
}
