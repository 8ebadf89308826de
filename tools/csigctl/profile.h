/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The profile of the domain on its way between kernel, file and words.
 */
#ifndef CSIGCTL_PROFILE_H
#define CSIGCTL_PROFILE_H

#include <csig/profile.h>

#include "nl.h"

/**
 * struct domain - a profile and what the kernel says beside it
 * @profile: the settings
 * @digest: as the kernel computes it
 * @ports: of the network namespace
 * @version: of the module
 */
struct domain {
	struct csig_profile profile;
	uint64_t digest;
	uint32_t ports;
	char version[32];
};

extern const char *const source_words[4];
extern const char *const aggregate_words[4];
extern const char *const format_words[2];

int domain_get(struct domain *d);
int domain_replace(const struct csig_profile *p);
int profile_read(const char *path, struct csig_profile *p);
void profile_print_json(const struct csig_profile *p);

/* Parts of requests */
void put_signal(struct nl_msg *msg, unsigned int t, const struct csig_signal *s);
void put_layout(struct nl_msg *msg, unsigned int t, unsigned int format,
		const struct csig_lm_layout *l);

/* Parts of answers; status 0 or -1 when it is not understood */
int get_signal(const struct nlattr *a, struct csig_profile *p);

void print_signal(const struct csig_profile *p, unsigned int t);
void print_layout(const struct csig_profile *p, unsigned int t,
		  unsigned int format);

/* "min(abw)" */
const char *signal_name(const struct csig_signal *s);
const char *source_unit(unsigned int source);
const char *word_of(const char *const *words, size_t n, unsigned int v);

#define WORD(words, v)	word_of(words, ARRAY_SIZE(words), v)

#endif /* CSIGCTL_PROFILE_H */
