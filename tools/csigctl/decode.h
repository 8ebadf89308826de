/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a tag means to people: signal, values, fields and name of the bottleneck.
 */
#ifndef CSIGCTL_DECODE_H
#define CSIGCTL_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <csig/profile.h>

void print_tag(const struct csig_profile *p, const struct csig_tag *tag);
void print_fields(const struct csig_profile *p, unsigned int t,
		  unsigned int format, uint16_t lm);

/* For columns: "1.5Mbit..2Mbit", "tor2/out0" or "port=9"; returns the buffer */
const char *tag_value_text(const struct csig_profile *p,
			   const struct csig_tag *tag, char *buf, size_t size);
const char *tag_place_text(const struct csig_profile *p,
			   const struct csig_tag *tag, char *buf, size_t size);

/* Did a port on the path put its value in?  If not, the tag is as it was sent. */
bool tag_written(const struct csig_profile *p, const struct csig_tag *tag);
/*
 * Its S is no value of any port: the path has none that measures.  Where S could be
 * one (">=95%"), a tag that was not written means that no port had a worse value.
 */
bool tag_says_nothing(const struct csig_profile *p, const struct csig_tag *tag);

#endif /* CSIGCTL_DECODE_H */
