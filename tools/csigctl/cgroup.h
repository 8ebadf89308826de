/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Control groups (version 2): where they are mounted, identifiers and paths.
 */
#ifndef CSIGCTL_CGROUP_H
#define CSIGCTL_CGROUP_H

#include <stdint.h>

/* Mount point of cgroup v2, on hybrid systems "unified"; NULL without, errno says why */
const char *cgroup_mount(void);

/* 0 or a negative errno; a path below the mount may be given without it */
int cgroup_id(const char *path, uint64_t *id);

/* File descriptor of the cgroup's folder, -1 and errno when there is none */
int cgroup_open(uint64_t id);

/* Path below the mount, "/" for the root; NULL when it is gone or not visible */
const char *cgroup_path(uint64_t id);

#endif /* CSIGCTL_CGROUP_H */
