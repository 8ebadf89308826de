/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a tag means to people: signal, values, fields and name of the bottleneck.
 */
#ifndef CSIGCTL_DECODE_H
#define CSIGCTL_DECODE_H

#include <stdint.h>

#include <csig/profile.h>

void print_tag(const struct csig_profile *p, const struct csig_tag *tag);
void print_fields(const struct csig_profile *p, unsigned int t,
		  unsigned int format, uint16_t lm);

#endif /* CSIGCTL_DECODE_H */
