// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl doctor, QCN: is the module there, does LLDP reach the ports that wait for it,
 * does a reaction point know its line?  What is not in use is not missing.
 */
#include <linux/rtnetlink.h>
#include <linux/tc_qcn.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "lldpcli.h"
#include "output.h"
#include "qcn.h"
#include "tc.h"

static bool has_auto(const struct qcn_port_info *p)
{
	unsigned int i;

	for (i = 0; i < QCN_PRIORITIES; i++)
		if (p->cnpv[i].mode == QCN_DEFENCE_AUTO)
			return true;
	return false;
}

static void check_neighbour(const struct qcn_port_info *p,
			    const struct lldp_port *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(v[i].ifname, p->ifname))
			break;
	if (i == n)
		doctor_say(WARN, "lldp", p->ifname,
			   "lldpd does not have this device, \"auto\" stays edge; it runs in another network namespace, or its interface pattern leaves the device out");
	else if (!v[i].has_tlv)
		doctor_say(WARN, "lldp", p->ifname,
			   "nothing is announced, \"auto\" stays edge; let it run: csigctl qcn lldp");
	else if (!p->has_neighbour)
		doctor_say(WARN, "lldp", p->ifname,
			   "no neighbour announces priorities, \"auto\" is edge; look: lldpcli show neighbors ports %s",
			   p->ifname);
	else
		doctor_say(OK, "lldp", p->ifname, "the neighbour is known");
}

static void check_lldp(const struct qcn_port_info *ports, size_t n_ports)
{
	struct lldp_port *v;
	bool wanted = false;
	size_t i, n;

	for (i = 0; i < n_ports; i++)
		wanted |= has_auto(&ports[i]);
	if (!wanted)
		return;
	lldp_socket = NULL;
	if (lldp_ports(false, &v, &n)) {
		doctor_say(WARN, "lldp", NULL, "ports with \"auto\" stay edge: %s",
			   lldp_why());
		return;
	}
	for (i = 0; i < n_ports; i++)
		if (has_auto(&ports[i]))
			check_neighbour(&ports[i], v, n);
	free(v);
}

static void check_line(const struct qcn_port_info *p, struct nlattr **tb)
{
	struct nlattr *opts[TCA_QCN_RP_MAX + 1];
	struct link l;

	attr_nested(tb[TCA_OPTIONS], TCA_QCN_RP_MAX, opts);
	if (attr_u64(opts[TCA_QCN_RP_RATE], 0) || link_get(p->ifname, &l))
		return;
	if (link_speed(&l))
		doctor_say(OK, "qcn_rp", p->ifname, "the line is %s",
			   fmt_value(CSIG_SOURCE_ABW, link_speed(&l)));
	else
		doctor_say(WARN, "qcn_rp", p->ifname,
			   "the speed of the link is unknown, limiters go on with the last one; give it: tc qdisc change dev %s ... qcn_rp rate RATE",
			   p->ifname);
}

static void check_points(const struct qcn_port_info *ports, size_t n_ports)
{
	const struct link any = { 0 };
	struct nlattr *tb[TCA_MAX + 1];
	struct answer answer;
	size_t i, j;

	if (rtnl_talk(tc_request(&any, RTM_GETQDISC, NLM_F_DUMP, 0, 0, 0),
		      &answer))
		return;
	for (i = 0; i < answer.n; i++) {
		const struct tcmsg *t = tc_parse(answer.msgs[i], tb);

		if (!t || strcmp(attr_str(tb[TCA_KIND], ""), "qcn_rp"))
			continue;
		for (j = 0; j < n_ports; j++)
			if (ports[j].ifindex == (uint32_t)t->tcm_ifindex)
				check_line(&ports[j], tb);
	}
	answer_free(&answer);
}

void doctor_qcn(void)
{
	struct qcn_port_info *v;
	size_t n;

	if (!qcn_loaded()) {
		doctor_say(OK, "qcn", NULL,
			   "sch_qcn is not loaded, QCN is not in use; if it should be: modprobe sch_qcn");
		return;
	}
	if (qcn_ports(NULL, &v, &n)) {
		doctor_say(FAIL, "qcn", NULL,
			   "sch_qcn does not answer as csigctl expects; install both from one source");
		return;
	}
	doctor_say(OK, "qcn", NULL, "sch_qcn is loaded, %zu ports", n);
	check_lldp(v, n);
	check_points(v, n);
	free(v);
}
