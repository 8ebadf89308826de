// SPDX-License-Identifier: GPL-2.0
/*
 * Traffic control through rtnetlink: one call for each thing that ports and hosts do
 * with qdiscs and filters.  What belongs where they know themselves.
 *
 * Filters of csigctl are recognised by a fixed priority and one of two handles; which
 * of the two remembers something for their owner.
 */
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/rtnetlink.h>
#include <linux/tc_act/tc_bpf.h>
#include <linux/tc_csig.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "tc.h"

struct nl_msg *tc_request(const struct link *l, uint16_t type, int flags,
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

const struct tcmsg *tc_parse(const struct nl_msg *msg, struct nlattr **tb)
{
	struct nlmsghdr *h = nlmsg_hdr((struct nl_msg *)(uintptr_t)msg);

	if (nlmsg_parse(h, sizeof(struct tcmsg), tb, TCA_MAX, NULL))
		return NULL;
	return nlmsg_data(h);
}

/* Kind and handle of the qdisc in one place; kind "" when there is none */
int tc_qdisc_get(const struct link *l, uint32_t parent, char *kind, size_t size,
		 uint32_t *major)
{
	struct nlattr *tb[TCA_MAX + 1];
	const struct tcmsg *t;
	struct answer answer;
	int err;

	kind[0] = '\0';
	*major = 0;
	err = rtnl_talk(tc_request(l, RTM_GETQDISC, NLM_F_ECHO, parent, 0, 0),
			&answer);
	if (err == -ENOENT)
		return 0;
	if (err)
		return err;
	t = answer.n ? tc_parse(answer.msgs[0], tb) : NULL;
	if (t) {
		snprintf(kind, size, "%s", attr_str(tb[TCA_KIND], "?"));
		*major = t->tcm_handle >> 16;
	}
	answer_free(&answer);
	return 0;
}

int tc_qdisc_add(const struct link *l, uint32_t parent, uint32_t handle,
		 const char *kind)
{
	struct nl_msg *msg = tc_request(l, RTM_NEWQDISC,
					NLM_F_CREATE | NLM_F_EXCL, parent,
					handle, 0);

	if (msg)
		nla_put_string(msg, TCA_KIND, kind);
	return rtnl_talk(msg, NULL);
}

int tc_qdisc_del(const struct link *l, uint32_t parent, uint32_t handle)
{
	return rtnl_talk(tc_request(l, RTM_DELQDISC, 0, parent, handle, 0),
			 NULL);
}

/* What is at a hook, seen from csigctl's filter with that priority */
int tc_filters(const struct link *l, uint32_t parent, uint32_t prio,
	       struct filters *f)
{
	struct nlattr *tb[TCA_MAX + 1];
	struct answer answer;
	size_t i;
	int err;

	memset(f, 0, sizeof(*f));
	err = rtnl_talk(tc_request(l, RTM_GETTFILTER, NLM_F_DUMP, parent, 0, 0),
			&answer);
	if (err)
		return err;
	for (i = 0; i < answer.n; i++) {
		const struct tcmsg *t = tc_parse(answer.msgs[i], tb);
		uint32_t its, chain;

		if (!t)
			continue;
		its = t->tcm_info >> 16;
		chain = attr_u32(tb[TCA_CHAIN], 0);
		if (its == prio && !chain &&
		    !strcmp(attr_str(tb[TCA_KIND], ""), "matchall")) {
			if (t->tcm_handle == FILTER_HANDLE ||
			    t->tcm_handle == FILTER_HANDLE_OWN) {
				f->ours = t->tcm_handle;
			} else if (t->tcm_handle) {
				f->others++;
				f->taken = true;
			}
		} else if (!t->tcm_handle) {	/* once for each priority */
			f->others++;
			f->before += !chain && its < prio;
			f->taken |= !chain && its == prio;
		}
	}
	answer_free(&answer);
	return 0;
}

int tc_priority_taken(const struct link *l, const char *hook, uint32_t prio)
{
	return fail("%s: another filter has the priority of csigctl's; look: tc filter show dev %s %s; move it: tc filter del dev %s %s pref %u",
		    l->name, l->name, hook, l->name, hook, prio);
}

static void put_options(struct nl_msg *msg, const struct tc_action *a)
{
	const struct tc_csig_act csig = { .action = a->control,
					  .mode = a->mode };
	const struct tc_act_bpf bpf = { .action = a->control };

	if (!a->prog) {
		nla_put(msg, TCA_CSIG_ACT_PARMS, sizeof(csig), &csig);
		return;
	}
	nla_put(msg, TCA_ACT_BPF_PARMS, sizeof(bpf), &bpf);
	nla_put_u32(msg, TCA_ACT_BPF_FD, (uint32_t)a->fd);
	nla_put_string(msg, TCA_ACT_BPF_NAME, a->prog);
}

static void put_action(struct nl_msg *msg, int order, const struct tc_action *a)
{
	struct nlattr *act, *options;

	act = nla_nest_start(msg, order | NLA_F_NESTED);
	nla_put_string(msg, TCA_ACT_KIND, a->prog ? "bpf" : "csig");
	options = nla_nest_start(msg, TCA_ACT_OPTIONS | NLA_F_NESTED);
	put_options(msg, a);
	nla_nest_end(msg, options);
	nla_nest_end(msg, act);
}

static struct nl_msg *filter_request(const struct link *l, uint16_t type,
				     int flags, uint32_t parent, uint32_t prio,
				     uint32_t handle)
{
	struct nl_msg *msg;

	msg = tc_request(l, type, flags, parent, handle,
			 TC_H_MAKE(prio << 16, htons(ETH_P_ALL)));
	if (msg)
		nla_put_string(msg, TCA_KIND, "matchall");
	return msg;
}

int tc_filter_add(const struct link *l, uint32_t parent, uint32_t prio,
		  uint32_t handle, const struct tc_action *acts, size_t n)
{
	struct nlattr *options, *list;
	struct nl_msg *msg;
	size_t i;

	msg = filter_request(l, RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL,
			     parent, prio, handle);
	if (!msg)
		return -ENOMEM;
	options = nla_nest_start(msg, TCA_OPTIONS | NLA_F_NESTED);
	list = nla_nest_start(msg, TCA_MATCHALL_ACT | NLA_F_NESTED);
	for (i = 0; i < n; i++)
		put_action(msg, (int)i + 1, &acts[i]);
	nla_nest_end(msg, list);
	nla_nest_end(msg, options);
	return rtnl_talk(msg, NULL);
}

int tc_filter_del(const struct link *l, uint32_t parent, uint32_t prio,
		  uint32_t handle)
{
	return rtnl_talk(filter_request(l, RTM_DELTFILTER, 0, parent, prio,
					handle), NULL);
}
