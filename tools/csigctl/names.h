/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of the places that locator metadata stands for.
 */
#ifndef CSIGCTL_NAMES_H
#define CSIGCTL_NAMES_H

#include <stdint.h>

#include <csig/profile.h>

#define NAMES_DEFAULT	"/etc/csig/names"

int names_read(const char *path, bool optional);
const char *names_find(const struct csig_profile *p, unsigned int t,
		       unsigned int format, uint16_t lm);
void names_free(void);

#endif /* CSIGCTL_NAMES_H */
