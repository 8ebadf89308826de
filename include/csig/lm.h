/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Locator metadata as named fields: layouts, composing and taking apart.
 * Pure C.  A layout's first field is the most significant; what the fields leave
 * free stays 0 above them.
 */
#ifndef CSIG_LM_H
#define CSIG_LM_H

#include <csig/wire.h>

#define CSIG_LM_NAME_LEN	(CSIG_LM_NAME_MAX + 1)	/* with the final NUL */

#define CSIG_LM_TTL		"ttl"	/* TTL or hop limit at the bottleneck */
#define CSIG_LM_TRIMMED		"d"	/* Ultra Ethernet's D bit: kept as it is */

struct csig_lm_field {
	char name[CSIG_LM_NAME_LEN];
	__u8 bits;
};

/**
 * struct csig_lm_layout - fields of the locator metadata
 * @nfields: 0 means one unnamed number
 * @fields: most significant first
 */
struct csig_lm_layout {
	__u8 nfields;
	struct csig_lm_field fields[CSIG_LM_FIELDS_MAX];
};

static inline bool csig_lm_name_eq(const char *a, const char *b)
{
	unsigned int i;

	for (i = 0; i < CSIG_LM_NAME_LEN; i++) {
		if (a[i] != b[i])
			return false;
		if (!a[i])
			return true;
	}
	return true;
}

/* Width of all fields together. */
static inline unsigned int csig_lm_bits(const struct csig_lm_layout *l)
{
	unsigned int i, bits = 0;

	for (i = 0; i < l->nfields && i < CSIG_LM_FIELDS_MAX; i++)
		bits += l->fields[i].bits;
	return bits;
}

/**
 * csig_lm_find() - place of a field
 * @l: layout
 * @name: field
 * @shift: filled in, bits below the field
 * @mask: filled in, the field's bits, not shifted
 *
 * Return: true when the layout has the field
 */
static inline bool csig_lm_find(const struct csig_lm_layout *l,
				const char *name, unsigned int *shift,
				__u16 *mask)
{
	unsigned int i, below = csig_lm_bits(l);

	for (i = 0; i < l->nfields && i < CSIG_LM_FIELDS_MAX; i++) {
		below -= l->fields[i].bits;
		if (!csig_lm_name_eq(l->fields[i].name, name))
			continue;
		*shift = below;
		*mask = (__u16)((1U << l->fields[i].bits) - 1);
		return true;
	}
	return false;
}

/**
 * csig_lm_valid() - does a layout fit a format?
 * @l: layout
 * @format: enum csig_format
 *
 * Return: true when every field has a name of its own and a width, and the sum
 * of the widths fits
 */
static inline bool csig_lm_valid(const struct csig_lm_layout *l,
				 unsigned int format)
{
	unsigned int i, j;

	if (l->nfields > CSIG_LM_FIELDS_MAX)
		return false;
	for (i = 0; i < l->nfields; i++) {
		if (!l->fields[i].bits || l->fields[i].bits > 16 ||
		    !l->fields[i].name[0])
			return false;
		for (j = 0; j < i; j++)
			if (csig_lm_name_eq(l->fields[i].name,
					    l->fields[j].name))
				return false;
	}
	return csig_lm_bits(l) <= csig_layout(format)->lm_bits;
}

#endif /* CSIG_LM_H */
