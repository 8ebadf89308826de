// SPDX-License-Identifier: GPL-2.0
/*
 * The traffic control side of a port: which qdiscs and filters a device has, putting
 * ours in place, taking only ours away again.
 *
 * Ours are recognised by fixed numbers (port.h).  The ingress filter's handle also
 * remembers whether the clsact came with it: then, and only when no filter of
 * anybody is left, the clsact goes with the last port.
 */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <linux/tc_csig.h>
#include <stdio.h>
#include <string.h>

#include "tc.h"

#define ROOT_HANDLE	(PORT_ROOT_MAJOR << 16)

/* The qdiscs under an mq */
static int look_queues(const struct link *l, struct placement *p)
{
	struct nlattr *tb[TCA_MAX + 1];
	struct answer answer;
	size_t i;
	int err;

	err = rtnl_talk(tc_request(l, RTM_GETQDISC, NLM_F_DUMP, 0, 0, 0),
			&answer);
	if (err)
		return err;
	for (i = 0; i < answer.n; i++) {
		const struct tcmsg *t = tc_parse(answer.msgs[i], tb);
		const char *kind;

		if (!t || t->tcm_ifindex != l->index ||
		    t->tcm_parent >= TC_H_INGRESS ||
		    t->tcm_parent >> 16 != p->root_major)
			continue;
		kind = attr_str(tb[TCA_KIND], "?");
		if (!strcmp(kind, "csig")) {
			p->csigs++;
			p->csig_major = t->tcm_handle >> 16;
			p->csig_parent = t->tcm_parent;
		} else if (!t->tcm_handle && !p->queue_kind[0]) {
			snprintf(p->queue_kind, sizeof(p->queue_kind), "%s",
				 kind);
		}
	}
	answer_free(&answer);
	return 0;
}

static int look_clsact(const struct link *l, struct placement *p)
{
	uint32_t major;
	int err;

	err = tc_qdisc_get(l, TC_H_CLSACT, p->clsact, sizeof(p->clsact),
			   &major);
	if (!err && p->clsact[0])
		err = tc_filters(l, TC_INGRESS, PORT_FILTER_PRIO,
				 &p->ingress);
	if (!err && !strcmp(p->clsact, "clsact"))
		err = tc_filters(l, TC_EGRESS, PORT_FILTER_PRIO, &p->egress);
	return err;
}

/* Is our egress filter there? */
bool tc_updates_before_queue(const struct link *l)
{
	struct filters f;

	return !tc_filters(l, TC_EGRESS, PORT_FILTER_PRIO, &f) && f.ours;
}

int tc_look(const struct link *l, struct placement *p)
{
	int err;

	memset(p, 0, sizeof(*p));
	err = tc_qdisc_get(l, TC_H_ROOT, p->root_kind, sizeof(p->root_kind),
			&p->root_major);
	if (!err && !strcmp(p->root_kind, "csig")) {
		p->csigs = 1;
		p->csig_major = p->root_major;
		p->csig_parent = TC_H_ROOT;
	}
	if (!err && !strcmp(p->root_kind, "mq"))
		err = look_queues(l, p);
	if (!err)
		err = look_clsact(l, p);
	return err ? nl_refused(err, l->name) : ST_OK;
}

static int check_priority(const struct link *l, bool taken, const char *hook)
{
	return taken ? tc_priority_taken(l, hook, PORT_FILTER_PRIO) : ST_OK;
}

int tc_check(const struct link *l, const struct placement *p, bool keep)
{
	int status = check_priority(l, p->ingress.taken, "ingress");

	if (!status && keep && !p->csigs)
		status = check_priority(l, p->egress.taken, "egress");
	if (status)
		return status;
	if (keep && !strcmp(p->clsact, "ingress"))
		return fail("%s: it has an ingress qdisc, \"qdisc keep\" needs clsact in its place: tc qdisc del dev %s ingress; tc qdisc add dev %s clsact",
			    l->name, l->name, l->name);
	if (keep || !p->root_major || p->csigs)
		return ST_OK;
	if (!strcmp(p->root_kind, "mq") && p->root_major == PORT_ROOT_MAJOR)
		return fail("%s: an earlier port left its mq qdisc; try: csigctl port del dev %s",
			    l->name, l->name);
	if (!strcmp(p->root_kind, "mq"))
		return fail("%s: its root qdisc mq %x: is not a default one and stays; for each queue N: tc qdisc replace dev %s parent %x:N csig; or: port add ... qdisc keep",
			    l->name, p->root_major, l->name, p->root_major);
	return fail("%s: its root qdisc %s %x: is not a default one and stays; tc qdisc replace dev %s root handle %x: csig, then put %s below it (parent %x:1); or: port add ... qdisc keep",
		    l->name, p->root_kind, p->root_major, l->name,
		    PORT_ROOT_MAJOR, p->root_kind, PORT_ROOT_MAJOR);
}

/*
 * What a default root did for its packets, the child of csig goes on doing.  Where
 * there was no queue, csig's own FIFO does.
 */
static const char *child_kind(const struct placement *p)
{
	static const char *const kept[] = {
		"fq_codel", "fq", "pfifo_fast", "sfq", "codel", "fq_pie", "cake",
	};
	const char *kind = strcmp(p->root_kind, "mq") ? p->root_kind :
							p->queue_kind;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kept); i++)
		if (!strcmp(kind, kept[i]))
			return kind;
	return NULL;
}

static int place_csig(const struct link *l, const struct placement *p,
		      uint32_t parent, uint32_t major)
{
	const char *child = child_kind(p);
	int err;

	err = tc_qdisc_add(l, parent, major << 16, "csig");
	if (!err && child)
		err = tc_qdisc_add(l, TC_H_MAKE(major << 16, 1), 0, child);
	return err;
}

/* Everything hangs below the root: one deletion undoes it. */
static int place_qdiscs(const struct link *l, const struct placement *p)
{
	uint32_t i;
	int err;

	if (l->txqs_real == 1) {
		err = place_csig(l, p, TC_H_ROOT, PORT_ROOT_MAJOR);
	} else {
		err = tc_qdisc_add(l, TC_H_ROOT, ROOT_HANDLE, "mq");
		for (i = 0; !err && i < l->txqs_real; i++)
			err = place_csig(l, p, TC_H_MAKE(ROOT_HANDLE, i + 1),
					 PORT_QUEUE_MAJOR + i);
	}
	return err;
}

/* The last action ends in "continue": filters behind ours see the packet, too. */
static int filter_add(const struct link *l, uint32_t parent, uint32_t handle)
{
	static const struct tc_action ingress[] = {
		{ .mode = TC_CSIG_ACT_INGRESS, .control = TC_ACT_UNSPEC },
	}, egress[] = {
		{ .mode = TC_CSIG_ACT_CARRY, .control = TC_ACT_PIPE },
		{ .mode = TC_CSIG_ACT_UPDATE, .control = TC_ACT_UNSPEC },
	};

	return parent == TC_INGRESS ?
		tc_filter_add(l, parent, PORT_FILTER_PRIO, handle, ingress,
			      ARRAY_SIZE(ingress)) :
		tc_filter_add(l, parent, PORT_FILTER_PRIO, handle, egress,
			      ARRAY_SIZE(egress));
}

static int filter_del(const struct link *l, uint32_t parent, uint32_t handle)
{
	return tc_filter_del(l, parent, PORT_FILTER_PRIO, handle);
}

int tc_place(const struct link *l, const struct placement *p, bool keep)
{
	bool own_clsact = !p->clsact[0], own_qdiscs = !keep && !p->csigs;
	uint32_t handle = own_clsact ? FILTER_HANDLE_OWN :
				       FILTER_HANDLE;
	int err = 0, status;

	if (own_qdiscs)
		err = place_qdiscs(l, p);
	if (err) {
		status = nl_refused(err, l->name);
		goto undo_qdiscs;
	}
	if (own_clsact)
		err = tc_qdisc_add(l, TC_H_CLSACT, TC_H_MAKE(TC_H_CLSACT, 0),
				"clsact");
	if (err) {
		status = nl_refused(err, l->name);
		goto undo_qdiscs;
	}
	if (!p->ingress.ours)
		err = filter_add(l, TC_INGRESS, handle);
	if (err) {
		status = nl_refused(err, l->name);
		goto undo_clsact;
	}
	if (keep && !p->csigs && !p->egress.ours)
		err = filter_add(l, TC_EGRESS, handle);
	if (!err)
		return ST_OK;
	status = nl_refused(err, l->name);
	if (!p->ingress.ours)
		filter_del(l, TC_INGRESS, handle);
undo_clsact:
	if (own_clsact)
		tc_qdisc_del(l, TC_H_CLSACT, TC_H_MAKE(TC_H_CLSACT, 0));
undo_qdiscs:
	if (own_qdiscs)
		tc_qdisc_del(l, TC_H_ROOT, ROOT_HANDLE);
	return status;
}

int tc_remove_check(const struct link *l, const struct placement *p)
{
	if (!p->csigs || p->root_major == PORT_ROOT_MAJOR)
		return ST_OK;
	if (p->csig_parent == TC_H_ROOT)
		return fail("%s: csigctl did not put csig %x: there; try: tc qdisc del dev %s root",
			    l->name, p->csig_major, l->name);
	return fail("%s: csigctl did not put csig %x: there; try: tc qdisc del dev %s parent %x:%x",
		    l->name, p->csig_major, l->name, p->csig_parent >> 16,
		    p->csig_parent & 0xffff);
}

int tc_remove(const struct link *l, const struct placement *p,
	      unsigned int *removed)
{
	bool own_clsact = p->ingress.ours == FILTER_HANDLE_OWN ||
			  p->egress.ours == FILTER_HANDLE_OWN;
	struct placement left = { 0 };
	int err = 0;

	if (p->egress.ours) {
		err = filter_del(l, TC_EGRESS, p->egress.ours);
		++*removed;
	}
	if ((!err || err == -ENOENT) && p->ingress.ours) {
		err = filter_del(l, TC_INGRESS, p->ingress.ours);
		++*removed;
	}
	if ((!err || err == -ENOENT) && p->root_major == PORT_ROOT_MAJOR &&
	    (!strcmp(p->root_kind, "csig") || !strcmp(p->root_kind, "mq"))) {
		err = tc_qdisc_del(l, TC_H_ROOT, ROOT_HANDLE);
		++*removed;
	}
	if ((!err || err == -ENOENT) && own_clsact) {
		err = look_clsact(l, &left);
		if (!err && !strcmp(left.clsact, "clsact") &&
		    !left.ingress.others && !left.egress.others)
			err = tc_qdisc_del(l, TC_H_CLSACT,
					TC_H_MAKE(TC_H_CLSACT, 0));
	}
	return err && err != -ENOENT ? nl_refused(err, l->name) : ST_OK;
}
