/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which sockets a cgroup has, for the iterators over sockets.  sockops programs need
 * no such thing: they are attached to the cgroup.
 */
#ifndef CSIG_BPF_CGROUP_H
#define CSIG_BPF_CGROUP_H

#include "core.h"

#define CSIG_CGROUP_DEPTH_MAX	64

/* Is the cgroup that one, or below it? */
static bool csig_cgroup_within(struct cgroup *cgrp, __u64 id)
{
	struct cgroup_subsys_state *css;
	int i;

	for (i = 0; i < CSIG_CGROUP_DEPTH_MAX && cgrp; i++) {
		if (cgrp->kn->id == id)
			return true;
		css = cgrp->self.parent;
		if (!css)
			return false;
		cgrp = css->cgroup;
	}
	return false;
}

#endif /* CSIG_BPF_CGROUP_H */
