// SPDX-License-Identifier: GPL-2.0
/*
 * The filters of a host: behind the port's ingress filter, which has taken the tag off,
 * and before its egress filter and qdisc, so that a new tag meets them like any other.
 *
 * The ingress filter's handle remembers whether the port came with the host.
 */
#include <errno.h>
#include <linux/tc_csig.h>
#include <string.h>

#include "host.h"
#include "tc.h"

static int look(const struct link *l, struct host_place *p)
{
	uint32_t major;
	int err;

	memset(p, 0, sizeof(*p));
	err = tc_qdisc_get(l, TC_H_CLSACT, p->clsact, sizeof(p->clsact),
			   &major);
	if (err || strcmp(p->clsact, "clsact"))
		return err;
	err = tc_filters(l, TC_INGRESS, HOST_INGRESS_PRIO, &p->ingress);
	if (!err)
		err = tc_filters(l, TC_EGRESS, HOST_EGRESS_PRIO, &p->egress);
	return err;
}

bool host_is_on(const struct link *l)
{
	struct host_place p;

	return !look(l, &p) && host_on(&p);
}

int host_tc_look(const struct link *l, struct host_place *p)
{
	int err = look(l, p);

	return err ? nl_refused(err, l->name) : ST_OK;
}

int host_tc_check(const struct link *l, const struct host_place *p)
{
	if (!strcmp(p->clsact, "ingress"))
		return fail("%s: it has an ingress qdisc, a host needs clsact in its place: tc qdisc del dev %s ingress; tc qdisc add dev %s clsact",
			    l->name, l->name, l->name);
	if (p->ingress.taken)
		return tc_priority_taken(l, "ingress", HOST_INGRESS_PRIO);
	if (p->egress.taken)
		return tc_priority_taken(l, "egress", HOST_EGRESS_PRIO);
	return ST_OK;
}

int host_tc_place(const struct link *l, int ingress_fd, int egress_fd,
		  bool own_port)
{
	const struct tc_action ingress[] = {
		{ .prog = "csig_ingress", .fd = ingress_fd,
		  .control = TC_ACT_UNSPEC },
	};
	const struct tc_action egress[] = {
		{ .prog = "csig_egress", .fd = egress_fd,
		  .control = TC_ACT_PIPE },
		{ .mode = TC_CSIG_ACT_REQUESTED, .control = TC_ACT_UNSPEC },
	};
	uint32_t handle = own_port ? FILTER_HANDLE_OWN : FILTER_HANDLE;
	int err;

	err = tc_filter_add(l, TC_INGRESS, HOST_INGRESS_PRIO, handle, ingress,
			    ARRAY_SIZE(ingress));
	if (err)
		return nl_refused(err, l->name);
	err = tc_filter_add(l, TC_EGRESS, HOST_EGRESS_PRIO, handle, egress,
			    ARRAY_SIZE(egress));
	if (!err)
		return ST_OK;
	nl_refused(err, l->name);
	tc_filter_del(l, TC_INGRESS, HOST_INGRESS_PRIO, handle);
	return ST_KERNEL;
}

int host_tc_remove(const struct link *l, const struct host_place *p)
{
	int err = 0;

	if (p->egress.ours)
		err = tc_filter_del(l, TC_EGRESS, HOST_EGRESS_PRIO,
				    p->egress.ours);
	if ((!err || err == -ENOENT) && p->ingress.ours)
		err = tc_filter_del(l, TC_INGRESS, HOST_INGRESS_PRIO,
				    p->ingress.ours);
	return err && err != -ENOENT ? nl_refused(err, l->name) : ST_OK;
}
