// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl qcn domain: which priorities of a port are the domain's (CNPVs), and how the
 * port defends them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "qcn.h"

static void print_cnpv(unsigned int priority, const struct qcn_cnpv *c)
{
	out_open_object(NULL);
	out_u64("priority", "    priority %" PRIu64, priority);
	out_str("mode", "  %s", WORD(defence_words, c->mode));
	out_str("oper_mode", c->mode == QCN_DEFENCE_AUTO ? " (%s)" : NULL,
		WORD(defence_words, c->oper_mode));
	if (c->alternate == QCN_ALTERNATE_AUTO)
		out_null("alternate", "  alternate auto");
	else
		out_u64("alternate", "  alternate %" PRIu64, c->alternate);
	out_u64("oper_alternate", c->alternate == QCN_ALTERNATE_AUTO ?
		" (%" PRIu64 ")\n" : "\n", c->oper_alternate);
	out_close_object();
}

static void print_neighbour(const struct qcn_port_info *p)
{
	if (!p->has_neighbour) {
		out_null("neighbour", "    neighbour  unknown\n");
		return;
	}
	out_open_object("neighbour");
	out_priorities("cnpv", "    neighbour  cnpv ", p->neighbour.cnpvs);
	out_priorities("ready", "  ready ", p->neighbour.ready);
	out_u64("expires_ms", "  expires in %" PRIu64 " ms\n", p->ttl_ms);
	out_close_object();
}

static void print_stats(const struct qcn_port_info *p)
{
	static const char *const keys[QCN_A_PORT_STATS_MAX + 1] = {
		[QCN_A_PORT_STATS_REMAPPED] = "remapped",
		[QCN_A_PORT_STATS_STRIPPED] = "stripped",
		[QCN_A_PORT_STATS_DELIVERED] = "delivered",
		[QCN_A_PORT_STATS_CNM_RECEIVED] = "cnm_received",
		[QCN_A_PORT_STATS_CNM_UNUSED] = "cnm_unused",
		[QCN_A_PORT_STATS_CNM_MALFORMED] = "cnm_malformed",
		[QCN_A_PORT_STATS_SKIPPED_NOMEM] = "skipped_nomem",
	};
	unsigned int i;

	out_open_object("stats");
	for (i = 1; i <= QCN_A_PORT_STATS_MAX; i++) {
		if (!keys[i])
			continue;
		out_text("%s%-14s ", i % 4 == 1 ? "    " : "  ", keys[i]);
		out_u64(keys[i], "%-10" PRIu64, p->stats[i]);
		if (i % 4 == 0 || i == QCN_A_PORT_STATS_MAX)
			out_text("\n");
	}
	out_close_object();
}

/* Members of an object that the caller opened */
void print_qcn_domain(const struct qcn_port_info *p)
{
	unsigned int i;

	out_open_array("cnpv");
	for (i = 0; i < QCN_PRIORITIES; i++)
		if (qcn_has(p->cnpvs, i))
			print_cnpv(i, &p->cnpv[i]);
	out_close_array();
	if (!p->cnpvs)
		out_text("    no priority of the domain\n");
	print_neighbour(p);
	out_open_object("tlv");
	out_priorities("cnpv", "    LLDP       cnpv ", p->tlv.cnpvs);
	out_priorities("ready", "  ready ", p->tlv.ready);
	out_text("\n");
	out_close_object();
	print_stats(p);
}

static int domain_show(struct args *a)
{
	const char *dev = NULL;
	struct qcn_port_info *v;
	size_t i, n;
	int status;

	if (a->argc && (arg_dev(a, &dev) || arg_end(a)))
		return ST_USAGE;
	status = qcn_ports(dev, &v, &n);
	if (status)
		return status;
	out_open_array(NULL);
	for (i = 0; i < n; i++) {
		out_open_object(NULL);
		out_str("ifname", "%s:", v[i].ifname);
		out_u64("ifindex", " ifindex %" PRIu64, v[i].ifindex);
		out_u64("points", "  qdiscs %" PRIu64 "\n", v[i].points);
		print_qcn_domain(&v[i]);
		out_close_object();
	}
	out_close_array();
	free(v);
	return ST_OK;
}

/**
 * struct change - what is to change
 * @cnpvs: of these priorities
 * @has_mode: @mode is given
 * @has_alternate: @alternate is given
 * @mode: enum qcn_defence
 * @alternate: priority, or QCN_ALTERNATE_AUTO
 */
struct change {
	uint8_t cnpvs;
	bool has_mode;
	bool has_alternate;
	uint8_t mode;
	uint8_t alternate;
};

static int change_send(const char *dev, const struct change *c)
{
	struct nlattr *cnpv;
	struct nl_msg *msg;
	struct link l;
	unsigned int i;
	int status, err;

	status = family_open(&qcn_family);
	if (!status)
		status = link_get(dev, &l);
	if (status)
		return status;
	msg = qcn_port_request(QCN_CMD_PORT_SET, (uint32_t)l.index);
	for (i = 0; msg && i < QCN_PRIORITIES; i++) {
		if (!qcn_has(c->cnpvs, i))
			continue;
		cnpv = nla_nest_start(msg, QCN_A_PORT_CNPV | NLA_F_NESTED);
		nla_put_u8(msg, QCN_A_CNPV_PRIORITY, (uint8_t)i);
		if (c->has_mode)
			nla_put_u8(msg, QCN_A_CNPV_MODE, c->mode);
		if (c->has_alternate)
			nla_put_u8(msg, QCN_A_CNPV_ALTERNATE, c->alternate);
		nla_nest_end(msg, cnpv);
	}
	err = csig_talk(msg, NULL);
	return err ? nl_refused(err, dev) : ST_OK;
}

static int parse_alternate(struct args *a, const char *text, uint8_t *v)
{
	uint64_t priority;

	if (!strcmp(text, "auto")) {
		*v = QCN_ALTERNATE_AUTO;
		return ST_OK;
	}
	if (parse_uint(text, QCN_PRIORITIES - 1, &priority))
		return usage(a, "alternate \"%s\" is not a priority 0..7 or auto",
			     text);
	*v = (uint8_t)priority;
	return ST_OK;
}

static int domain_set(struct args *a)
{
	struct change c = { 0 };
	const char *dev, *text;
	bool cnpv = false;
	unsigned int mode;

	if (arg_dev(a, &dev))
		return ST_USAGE;
	while (a->argc) {
		if (arg_is(a, "cnpv")) {
			if (arg_once(a, "cnpv", &cnpv) ||
			    arg_value(a, "cnpv", &text) ||
			    parse_priorities(a, "cnpv", text, &c.cnpvs))
				return ST_USAGE;
		} else if (arg_is(a, "mode")) {
			if (arg_once(a, "mode", &c.has_mode) ||
			    arg_value(a, "mode", &text))
				return ST_USAGE;
			if (parse_word(text, defence_words, DEFENCES, &mode))
				return usage(a, "mode \"%s\" is unknown", text);
			c.mode = (uint8_t)mode;
		} else if (arg_is(a, "alternate")) {
			if (arg_once(a, "alternate", &c.has_alternate) ||
			    arg_value(a, "alternate", &text) ||
			    parse_alternate(a, text, &c.alternate))
				return ST_USAGE;
		} else {
			return arg_unknown(a);
		}
	}
	if (!cnpv)
		return usage(a, "\"cnpv\" is missing");
	if (!c.has_mode && !c.has_alternate)
		return usage(a, "nothing to set, \"mode\" or \"alternate\" is missing");
	return change_send(dev, &c);
}

static int domain_del(struct args *a)
{
	const struct change none = { 0 };
	struct change c = none;
	const char *dev, *text;
	struct link l;
	int err, status;

	if (arg_dev(a, &dev))
		return ST_USAGE;
	if (arg_is(a, "cnpv")) {
		if (arg_value(a, "cnpv", &text) ||
		    parse_priorities(a, "cnpv", text, &c.cnpvs) || arg_end(a))
			return ST_USAGE;
		c.has_mode = true;
		c.mode = QCN_DEFENCE_DISABLED;
		return change_send(dev, &c);
	}
	if (arg_end(a))
		return ST_USAGE;
	status = family_open(&qcn_family);
	if (!status)
		status = link_get(dev, &l);
	if (status)
		return status;
	err = csig_talk(qcn_port_request(QCN_CMD_PORT_DEL, (uint32_t)l.index),
			NULL);
	return err ? nl_refused(err, dev) : ST_OK;
}

int qcn_domain(struct args *a)
{
	static const struct {
		const char *name;
		int (*run)(struct args *a);
	} commands[] = {
		{ "show", domain_show },
		{ "set", domain_set },
		{ "del", domain_del },
	};
	size_t i;

	if (!a->argc)
		return domain_show(a);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (arg_is(a, commands[i].name))
			return commands[i].run(a);
	return usage(a, "command \"%s\" is unknown", a->argv[0]);
}
