// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl qcn: its commands, sets of priorities, and ports as the qcn family tells
 * of them.
 */
#include <errno.h>
#include <netlink/genl/genl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "qcn.h"

static const char help[] =
	"Usage: csigctl qcn [ show [ dev DEV ] ]\n"
	"       csigctl qcn domain [ show [ dev DEV ] ]\n"
	"       csigctl qcn domain set dev DEV cnpv N[,N...] [ mode MODE ]\n"
	"                              [ alternate { N | auto } ]\n"
	"       csigctl qcn domain del dev DEV [ cnpv N[,N...] ]\n"
	"       csigctl qcn lldp [ dev DEV ]... [ once ] [ socket PATH ]\n"
	"       csigctl qcn dcb [ show dev DEV ]\n"
	"       csigctl qcn dcb set dev DEV prio { N[,N...] | all } SETTINGS\n"
	"where  MODE := { disabled | edge | interior | interior-ready | auto }\n"
	"       SETTINGS := [ rp { on | off } ] [ rps N ] [ timer TIME ] [ bytes BYTES ]\n"
	"         [ threshold N ] [ rate RATE ] [ ai RATE ] [ hai RATE ] [ min-rate RATE ]\n"
	"         [ gd N ] [ min-dec PERCENT ]\n"
	"         [ mode { disabled | edge | interior | interior-ready } ]\n"
	"       N := 0..7, a priority\n"
	"qcn_cp and qcn_rp are qdiscs: tc qdisc add dev DEV ... { qcn_cp | qcn_rp } help\n";

const char *const defence_words[DEFENCES] = {
	[QCN_DEFENCE_DISABLED] = "disabled",
	[QCN_DEFENCE_EDGE] = "edge",
	[QCN_DEFENCE_INTERIOR] = "interior",
	[QCN_DEFENCE_INTERIOR_READY] = "interior-ready",
	[QCN_DEFENCE_AUTO] = "auto",
};

/* N[,N...], each once */
int parse_priorities(struct args *a, const char *word, const char *text,
		     uint8_t *set)
{
	const char *p = text;

	*set = 0;
	for (;; p += 2) {
		if (*p < '0' || *p > '7' || (p[1] && p[1] != ','))
			return usage(a, "%s \"%s\" is not a list of priorities 0..7",
				     word, text);
		if (qcn_has(*set, (unsigned int)(*p - '0')))
			return usage(a, "%s \"%s\" names priority %c twice",
				     word, text, *p);
		*set |= (uint8_t)(1 << (*p - '0'));
		if (!p[1])
			return ST_OK;
	}
}

/* "TEXT 3,4", or "TEXT none" */
void out_priorities(const char *key, const char *text, uint8_t set)
{
	const char *sep = "";
	unsigned int i;

	out_text("%s", text);
	out_open_array(key);
	for (i = 0; i < QCN_PRIORITIES; i++) {
		if (!qcn_has(set, i))
			continue;
		out_text("%s", sep);
		out_u64(NULL, "%" PRIu64, i);
		sep = ",";
	}
	out_close_array();
	if (!set)
		out_text("none");
}

bool qcn_loaded(void)
{
	return qcn_family.id || !access("/sys/module/sch_qcn", F_OK);
}

struct nl_msg *qcn_port_request(uint8_t cmd, uint32_t ifindex)
{
	struct nl_msg *msg = family_request(&qcn_family, cmd, 0);

	if (msg)
		nla_put_u32(msg, QCN_A_PORT_IFINDEX, ifindex);
	return msg;
}

static void read_cnpv(const struct nlattr *a, struct qcn_port_info *p)
{
	struct nlattr *tb[QCN_A_CNPV_MAX + 1];
	unsigned int priority;
	struct qcn_cnpv *c;

	attr_nested(a, QCN_A_CNPV_MAX, tb);
	priority = attr_u8(tb[QCN_A_CNPV_PRIORITY], QCN_PRIORITIES);
	if (priority >= QCN_PRIORITIES)
		return;
	c = &p->cnpv[priority];
	c->mode = attr_u8(tb[QCN_A_CNPV_MODE], QCN_DEFENCE_DISABLED);
	c->oper_mode = attr_u8(tb[QCN_A_CNPV_OPER_MODE], c->mode);
	c->alternate = attr_u8(tb[QCN_A_CNPV_ALTERNATE], QCN_ALTERNATE_AUTO);
	c->oper_alternate = attr_u8(tb[QCN_A_CNPV_OPER_ALTERNATE], 0);
	if (c->mode != QCN_DEFENCE_DISABLED)
		p->cnpvs |= (uint8_t)(1 << priority);
}

static int read_port(const struct nl_msg *msg, struct qcn_port_info *p)
{
	struct nlattr *stats[QCN_A_PORT_STATS_MAX + 1];
	struct nlattr *nb[QCN_A_NEIGHBOUR_MAX + 1];
	struct nlattr *tb[QCN_A_PORT_MAX + 1], *a;
	struct nlattr *tlv[QCN_A_TLV_MAX + 1];
	unsigned int i;
	int rem;

	if (csig_attrs(msg, QCN_A_PORT_MAX, tb))
		return -EPROTO;
	memset(p, 0, sizeof(*p));
	p->ifindex = attr_u32(tb[QCN_A_PORT_IFINDEX], 0);
	snprintf(p->ifname, sizeof(p->ifname), "%s",
		 attr_str(tb[QCN_A_PORT_IFNAME], "?"));
	for (a = csig_attr_first(msg, &rem); nla_ok(a, rem);
	     a = nla_next(a, &rem))
		if (nla_type(a) == QCN_A_PORT_CNPV)
			read_cnpv(a, p);
	attr_nested(tb[QCN_A_PORT_NEIGHBOUR], QCN_A_NEIGHBOUR_MAX, nb);
	p->has_neighbour = nb[QCN_A_NEIGHBOUR_CNPVS];
	p->neighbour.cnpvs = attr_u8(nb[QCN_A_NEIGHBOUR_CNPVS], 0);
	p->neighbour.ready = attr_u8(nb[QCN_A_NEIGHBOUR_READY], 0);
	p->ttl_ms = attr_u32(nb[QCN_A_NEIGHBOUR_TTL_MS], 0);
	attr_nested(tb[QCN_A_PORT_TLV], QCN_A_TLV_MAX, tlv);
	p->tlv.cnpvs = attr_u8(tlv[QCN_A_TLV_CNPVS], 0);
	p->tlv.ready = attr_u8(tlv[QCN_A_TLV_READY], 0);
	attr_nested(tb[QCN_A_PORT_STATS], QCN_A_PORT_STATS_MAX, stats);
	for (i = 1; i <= QCN_A_PORT_STATS_MAX; i++)
		p->stats[i] = attr_u64(stats[i], 0);
	p->points = attr_u32(tb[QCN_A_PORT_POINTS], 0);
	return 0;
}

int qcn_ports(const char *dev, struct qcn_port_info **v, size_t *n)
{
	struct answer answer;
	struct nl_msg *msg;
	struct link l;
	int err, status;
	size_t i;

	*v = NULL;
	*n = 0;
	status = family_open(&qcn_family);
	if (!status && dev)
		status = link_get(dev, &l);
	if (status)
		return status;
	msg = dev ? qcn_port_request(QCN_CMD_PORT_GET, (uint32_t)l.index) :
		    family_request(&qcn_family, QCN_CMD_PORT_GET, NLM_F_DUMP);
	err = csig_talk(msg, &answer);
	if (err)
		return nl_refused(err, dev ? dev : "qcn");
	*v = calloc(answer.n + 1, sizeof(**v));
	if (!*v)
		status = fail("out of memory");
	for (i = 0; *v && i < answer.n; i++)
		if (!read_port(answer.msgs[i], &(*v)[*n]))
			(*n)++;
	answer_free(&answer);
	return status;
}

int do_qcn(struct args *a)
{
	static const struct command commands[] = {
		{ "show", qcn_show },
		{ "domain", qcn_domain },
		{ "lldp", qcn_lldp },
		{ "dcb", qcn_dcb },
	};

	return run_command(a, commands, ARRAY_SIZE(commands), "show", help);
}
