/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between the public types of libcsig and those of the pure headers.
 */
#ifndef LIBCSIG_INTERNAL_H
#define LIBCSIG_INTERNAL_H

#include <csig/libcsig.h>
#include <csig/wire.h>

#define LIBCSIG_API	__attribute__((visibility("default")))

/* Do all fields have room in their format? */
static inline bool tag_fits(const struct libcsig_tag *tag)
{
	const struct csig_layout *l;

	if (tag->format > LIBCSIG_EXPANDED)
		return false;
	l = csig_layout(tag->format);
	return tag->t <= l->t_max && tag->s <= l->s_max && tag->lm <= l->lm_max &&
	       (tag->format == LIBCSIG_EXPANDED || tag->r <= 1);
}

static inline struct csig_tag tag_in(const struct libcsig_tag *tag)
{
	return (struct csig_tag) {
		.format = tag->format, .t = tag->t, .r = tag->r,
		.lm = tag->lm, .s = tag->s,
	};
}

static inline struct libcsig_tag tag_out(const struct csig_tag *tag)
{
	return (struct libcsig_tag) {
		.format = tag->format, .t = tag->t, .r = tag->r,
		.lm = tag->lm, .s = tag->s,
	};
}

#endif /* LIBCSIG_INTERNAL_H */
