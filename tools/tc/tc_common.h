/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all plugins need: words and numbers of the command line, attributes of a
 * message.  Stricter than tc's own helpers: no sign, no rest, no overflow.
 */
#ifndef TC_COMMON_H
#define TC_COMMON_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tc_abi.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* To the next word of a command line that has to have one. */
#define NEXT_WORD()				\
	do {					\
		argv++;				\
		if (--argc <= 0)		\
			incomplete_command();	\
	} while (0)

/* 0 and the number, or -1: digits only, or 0x and hexadecimal digits */
static inline int number(__u64 *value, const char *word, __u64 max)
{
	char *end;

	if (*word < '0' || *word > '9')
		return -1;
	errno = 0;
	*value = strtoull(word, &end,
			  word[0] == '0' && (word[1] | 0x20) == 'x' ? 16 : 10);
	return errno || *end || *value > max ? -1 : 0;
}

/* Index of a word in a list, or -1. */
static inline int word_index(const char *const *list, unsigned int n,
			     const char *word)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (list[i] && !strcmp(list[i], word))
			return i;
	return -1;
}

/* Word of an index, "?" for one that a newer kernel may know. */
static inline const char *word_of(const char *const *list, unsigned int n,
				  unsigned int i)
{
	return i < n && list[i] ? list[i] : "?";
}

static inline unsigned int attr_type(const struct rtattr *a)
{
	return a->rta_type & NLA_TYPE_MASK;
}

/* First attribute of each type in a nest; NULL where there is none. */
static inline void attr_table(struct rtattr **tb, unsigned int max,
			      struct rtattr *nest)
{
	struct rtattr *a = RTA_DATA(nest);
	int len = RTA_PAYLOAD(nest);

	memset(tb, 0, sizeof(*tb) * (max + 1));
	for (; RTA_OK(a, len); a = RTA_NEXT(a, len))
		if (attr_type(a) <= max && !tb[attr_type(a)])
			tb[attr_type(a)] = a;
}

/* Unsigned number of whatever width; 0 when it is missing. */
static inline __u64 attr_number(const struct rtattr *a)
{
	__u64 v = 0;
	__u32 w;
	__u16 h;

	if (!a)
		return 0;
	switch (RTA_PAYLOAD(a)) {
	case 1:
		return *(const __u8 *)RTA_DATA(a);
	case 2:
		memcpy(&h, RTA_DATA(a), sizeof(h));
		return h;
	case 4:
		memcpy(&w, RTA_DATA(a), sizeof(w));
		return w;
	case 8:
		memcpy(&v, RTA_DATA(a), sizeof(v));
		return v;
	default:
		return 0;
	}
}

/* Of an older module fields are missing, and 0; of a newer one some are more. */
static inline void attr_struct(void *to, size_t size, const struct rtattr *a)
{
	size_t len = RTA_PAYLOAD(a);

	memset(to, 0, size);
	memcpy(to, RTA_DATA(a), len < size ? len : size);
}

#endif /* TC_COMMON_H */
