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
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/tc_csig.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "port.h"

#define PARENT_INGRESS	TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS)
#define PARENT_EGRESS	TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS)
#define ROOT_HANDLE	(PORT_ROOT_MAJOR << 16)

static struct nl_msg *request(const struct link *l, uint16_t type, int flags,
			      uint32_t parent, uint32_t handle, uint32_t info)
{
	const struct tcmsg t = {
		.tcm_family = AF_UNSPEC,
		.tcm_ifindex = l->index,
		.tcm_parent = parent,
		.tcm_handle = handle,
		.tcm_info = info,
	};

	return rtnl_request(type, flags, &t, sizeof(t));
}

static const struct tcmsg *parse(const struct nl_msg *msg, struct nlattr **tb)
{
	struct nlmsghdr *h = nlmsg_hdr((struct nl_msg *)(uintptr_t)msg);

	if (nlmsg_parse(h, sizeof(struct tcmsg), tb, TCA_MAX, NULL))
		return NULL;
	return nlmsg_data(h);
}

/* Kind and handle of the qdisc in one place; kind "" when there is none */
static int qdisc_get(const struct link *l, uint32_t parent, char *kind,
		     size_t size, uint32_t *major)
{
	struct nlattr *tb[TCA_MAX + 1];
	const struct tcmsg *t;
	struct answer answer;
	int err;

	kind[0] = '\0';
	*major = 0;
	err = rtnl_talk(request(l, RTM_GETQDISC, NLM_F_ECHO, parent, 0, 0),
			&answer);
	if (err == -ENOENT)
		return 0;
	if (err)
		return err;
	t = answer.n ? parse(answer.msgs[0], tb) : NULL;
	if (t) {
		snprintf(kind, size, "%s", attr_str(tb[TCA_KIND], "?"));
		*major = t->tcm_handle >> 16;
	}
	answer_free(&answer);
	return 0;
}

/* The qdiscs under an mq */
static int look_queues(const struct link *l, struct placement *p)
{
	struct nlattr *tb[TCA_MAX + 1];
	struct answer answer;
	size_t i;
	int err;

	err = rtnl_talk(request(l, RTM_GETQDISC, NLM_F_DUMP, 0, 0, 0), &answer);
	if (err)
		return err;
	for (i = 0; i < answer.n; i++) {
		const struct tcmsg *t = parse(answer.msgs[i], tb);
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

static int look_filters(const struct link *l, uint32_t parent,
			struct filters *f)
{
	struct nlattr *tb[TCA_MAX + 1];
	struct answer answer;
	size_t i;
	int err;

	memset(f, 0, sizeof(*f));
	err = rtnl_talk(request(l, RTM_GETTFILTER, NLM_F_DUMP, parent, 0, 0),
			&answer);
	if (err)
		return err;
	for (i = 0; i < answer.n; i++) {
		const struct tcmsg *t = parse(answer.msgs[i], tb);
		uint32_t prio, chain;

		if (!t)
			continue;
		prio = t->tcm_info >> 16;
		chain = attr_u32(tb[TCA_CHAIN], 0);
		if (prio == PORT_FILTER_PRIO && !chain &&
		    !strcmp(attr_str(tb[TCA_KIND], ""), "matchall")) {
			if (t->tcm_handle == PORT_FILTER_HANDLE ||
			    t->tcm_handle == PORT_FILTER_OWN_CLSACT) {
				f->ours = t->tcm_handle;
			} else if (t->tcm_handle) {
				f->others++;
				f->taken = true;
			}
		} else if (!t->tcm_handle) {	/* once for each priority */
			f->others++;
			f->before += !chain && prio < PORT_FILTER_PRIO;
			f->taken |= !chain && prio == PORT_FILTER_PRIO;
		}
	}
	answer_free(&answer);
	return 0;
}

static int look_clsact(const struct link *l, struct placement *p)
{
	uint32_t major;
	int err;

	err = qdisc_get(l, TC_H_CLSACT, p->clsact, sizeof(p->clsact), &major);
	if (!err && p->clsact[0])
		err = look_filters(l, PARENT_INGRESS, &p->ingress);
	if (!err && !strcmp(p->clsact, "clsact"))
		err = look_filters(l, PARENT_EGRESS, &p->egress);
	return err;
}

/* Is our egress filter there? */
bool tc_updates_before_queue(const struct link *l)
{
	struct filters f;

	return !look_filters(l, PARENT_EGRESS, &f) && f.ours;
}

int tc_look(const struct link *l, struct placement *p)
{
	int err;

	memset(p, 0, sizeof(*p));
	err = qdisc_get(l, TC_H_ROOT, p->root_kind, sizeof(p->root_kind),
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
	if (!taken)
		return ST_OK;
	return fail("%s: another filter has the priority of csigctl's; look: tc filter show dev %s %s; move it: tc filter del dev %s %s pref %u",
		    l->name, l->name, hook, l->name, hook, PORT_FILTER_PRIO);
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

static int qdisc_add(const struct link *l, uint32_t parent, uint32_t handle,
		     const char *kind)
{
	struct nl_msg *msg = request(l, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL,
				     parent, handle, 0);

	if (msg)
		nla_put_string(msg, TCA_KIND, kind);
	return rtnl_talk(msg, NULL);
}

static int qdisc_del(const struct link *l, uint32_t parent, uint32_t handle)
{
	return rtnl_talk(request(l, RTM_DELQDISC, 0, parent, handle, 0), NULL);
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

	err = qdisc_add(l, parent, major << 16, "csig");
	if (!err && child)
		err = qdisc_add(l, TC_H_MAKE(major << 16, 1), 0, child);
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
		err = qdisc_add(l, TC_H_ROOT, ROOT_HANDLE, "mq");
		for (i = 0; !err && i < l->txqs_real; i++)
			err = place_csig(l, p, TC_H_MAKE(ROOT_HANDLE, i + 1),
					 PORT_QUEUE_MAJOR + i);
	}
	return err;
}

static void put_action(struct nl_msg *msg, int order, uint32_t mode,
		       int control)
{
	const struct tc_csig_act parm = { .action = control, .mode = mode };
	struct nlattr *act, *options;

	act = nla_nest_start(msg, order | NLA_F_NESTED);
	nla_put_string(msg, TCA_ACT_KIND, "csig");
	options = nla_nest_start(msg, TCA_ACT_OPTIONS | NLA_F_NESTED);
	nla_put(msg, TCA_CSIG_ACT_PARMS, sizeof(parm), &parm);
	nla_nest_end(msg, options);
	nla_nest_end(msg, act);
}

static struct nl_msg *filter_request(const struct link *l, uint16_t type,
				     int flags, uint32_t parent,
				     uint32_t handle)
{
	struct nl_msg *msg;

	msg = request(l, type, flags, parent, handle,
		      TC_H_MAKE(PORT_FILTER_PRIO << 16, htons(ETH_P_ALL)));
	if (msg)
		nla_put_string(msg, TCA_KIND, "matchall");
	return msg;
}

/* The last action ends in "continue": filters behind ours see the packet, too. */
static int filter_add(const struct link *l, uint32_t parent, uint32_t handle)
{
	struct nlattr *options, *acts;
	struct nl_msg *msg;

	msg = filter_request(l, RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL,
			     parent, handle);
	if (!msg)
		return -ENOMEM;
	options = nla_nest_start(msg, TCA_OPTIONS | NLA_F_NESTED);
	acts = nla_nest_start(msg, TCA_MATCHALL_ACT | NLA_F_NESTED);
	if (parent == PARENT_INGRESS) {
		put_action(msg, 1, TC_CSIG_ACT_INGRESS, TC_ACT_UNSPEC);
	} else {
		put_action(msg, 1, TC_CSIG_ACT_CARRY, TC_ACT_PIPE);
		put_action(msg, 2, TC_CSIG_ACT_UPDATE, TC_ACT_UNSPEC);
	}
	nla_nest_end(msg, acts);
	nla_nest_end(msg, options);
	return rtnl_talk(msg, NULL);
}

static int filter_del(const struct link *l, uint32_t parent, uint32_t handle)
{
	return rtnl_talk(filter_request(l, RTM_DELTFILTER, 0, parent, handle),
			 NULL);
}

int tc_place(const struct link *l, const struct placement *p, bool keep)
{
	bool own_clsact = !p->clsact[0], own_qdiscs = !keep && !p->csigs;
	uint32_t handle = own_clsact ? PORT_FILTER_OWN_CLSACT :
				       PORT_FILTER_HANDLE;
	int err = 0, status;

	if (own_qdiscs)
		err = place_qdiscs(l, p);
	if (err) {
		status = nl_refused(err, l->name);
		goto undo_qdiscs;
	}
	if (own_clsact)
		err = qdisc_add(l, TC_H_CLSACT, TC_H_MAKE(TC_H_CLSACT, 0),
				"clsact");
	if (err) {
		status = nl_refused(err, l->name);
		goto undo_qdiscs;
	}
	if (!p->ingress.ours)
		err = filter_add(l, PARENT_INGRESS, handle);
	if (err) {
		status = nl_refused(err, l->name);
		goto undo_clsact;
	}
	if (keep && !p->csigs && !p->egress.ours)
		err = filter_add(l, PARENT_EGRESS, handle);
	if (!err)
		return ST_OK;
	status = nl_refused(err, l->name);
	if (!p->ingress.ours)
		filter_del(l, PARENT_INGRESS, handle);
undo_clsact:
	if (own_clsact)
		qdisc_del(l, TC_H_CLSACT, TC_H_MAKE(TC_H_CLSACT, 0));
undo_qdiscs:
	if (own_qdiscs)
		qdisc_del(l, TC_H_ROOT, ROOT_HANDLE);
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
	bool own_clsact = p->ingress.ours == PORT_FILTER_OWN_CLSACT ||
			  p->egress.ours == PORT_FILTER_OWN_CLSACT;
	struct placement left = { 0 };
	int err = 0;

	if (p->egress.ours) {
		err = filter_del(l, PARENT_EGRESS, p->egress.ours);
		++*removed;
	}
	if ((!err || err == -ENOENT) && p->ingress.ours) {
		err = filter_del(l, PARENT_INGRESS, p->ingress.ours);
		++*removed;
	}
	if ((!err || err == -ENOENT) && p->root_major == PORT_ROOT_MAJOR &&
	    (!strcmp(p->root_kind, "csig") || !strcmp(p->root_kind, "mq"))) {
		err = qdisc_del(l, TC_H_ROOT, ROOT_HANDLE);
		++*removed;
	}
	if ((!err || err == -ENOENT) && own_clsact) {
		err = look_clsact(l, &left);
		if (!err && !strcmp(left.clsact, "clsact") &&
		    !left.ingress.others && !left.egress.others)
			err = qdisc_del(l, TC_H_CLSACT,
					TC_H_MAKE(TC_H_CLSACT, 0));
	}
	return err && err != -ENOENT ? nl_refused(err, l->name) : ST_OK;
}
