// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl port: make a device a port, change it, take it back.  Everything or
 * nothing: what was done before a refusal is undone.
 */
#include <errno.h>
#include <net/if_arp.h>
#include <signal.h>
#include <string.h>

#include "output.h"
#include "port.h"

static const char help[] =
	"Usage: csigctl port [ show [ dev DEV ] ]\n"
	"       csigctl port add dev DEV [ SETTINGS ] [ qdisc { csig | keep } ]\n"
	"       csigctl port set dev DEV SETTINGS\n"
	"       csigctl port del dev DEV\n"
	"where  SETTINGS :=\n"
	"         [ capacity { RATE | auto } ]\n"
	"         [ estimator { raw | ewma | dre } ] [ interval TIME ]\n"
	"         [ time-constant TIME ] [ alpha SHARE ]\n"
	"         [ lm { NAME=V[,NAME=V...] | none } ]\n"
	"         [ ingress { trust | strip | drop } ]\n"
	"         [ egress { keep | strip } ] [ unknown { pass | strip } ]\n"
	"         [ update { on | off } ] [ overhead BYTES ]\n"
	"       RATE := 100mbit, 2.5gbit ...   TIME := 128us, 10ms ...\n"
	"       SHARE := 0.1, 10%, 100000ppm\n";

enum setting {
	SET_CAPACITY,
	SET_ESTIMATOR,
	SET_INTERVAL,
	SET_TIME_CONSTANT,
	SET_ALPHA,
	SET_LM,
	SET_INGRESS,
	SET_EGRESS,
	SET_UNKNOWN,
	SET_UPDATE,
	SET_OVERHEAD,
	SET_QDISC,
	SETTINGS
};

static const char *const setting_words[SETTINGS] = {
	[SET_CAPACITY] = "capacity",
	[SET_ESTIMATOR] = "estimator",
	[SET_INTERVAL] = "interval",
	[SET_TIME_CONSTANT] = "time-constant",
	[SET_ALPHA] = "alpha",
	[SET_LM] = "lm",
	[SET_INGRESS] = "ingress",
	[SET_EGRESS] = "egress",
	[SET_UNKNOWN] = "unknown",
	[SET_UPDATE] = "update",
	[SET_OVERHEAD] = "overhead",
	[SET_QDISC] = "qdisc",
};

/**
 * struct settings - the words after the device
 * @given: by enum setting
 * @value: number of each; the word's place for those that are words
 * @lm: fields and values
 * @nlm: how many
 */
struct settings {
	bool given[SETTINGS];
	uint64_t value[SETTINGS];
	struct {
		char name[CSIG_LM_NAME_LEN];
		uint16_t value;
	} lm[CSIG_LM_FIELDS_MAX];
	unsigned int nlm;
};

static int parse_lm(struct args *a, const char *text, struct settings *s)
{
	char one[64];
	uint64_t v;

	if (!strcmp(text, "none"))
		return ST_OK;
	for (;;) {
		size_t len = strcspn(text, ",");
		char *equals;

		if (s->nlm == CSIG_LM_FIELDS_MAX)
			return usage(a, "lm has more than %u fields",
				     CSIG_LM_FIELDS_MAX);
		if (len >= sizeof(one))
			return usage(a, "lm \"%s\" is too long", text);
		memcpy(one, text, len);
		one[len] = '\0';
		equals = strchr(one, '=');
		if (!equals || equals == one)
			return usage(a, "lm \"%s\" is not NAME=V", one);
		*equals = '\0';
		if (strlen(one) > CSIG_LM_NAME_MAX)
			return usage(a, "lm name \"%s\" is longer than %u", one,
				     CSIG_LM_NAME_MAX);
		if (parse_uint(equals + 1, 0xffff, &v))
			return usage(a, "lm %s=\"%s\" is not 0..65535", one,
				     equals + 1);
		strcpy(s->lm[s->nlm].name, one);
		s->lm[s->nlm++].value = (uint16_t)v;
		if (!text[len])
			return ST_OK;
		text += len + 1;
	}
}

static int parse_number(struct args *a, unsigned int set, const char *text,
			uint64_t *v)
{
	const char *word = setting_words[set];

	switch (set) {
	case SET_CAPACITY:
		*v = 0;
		if (!strcmp(text, "auto"))
			return ST_OK;
		if (parse_rate(text, v) || !*v || *v >> 53)
			return usage(a, "capacity \"%s\" is not a rate (100mbit) or auto",
				     text);
		return ST_OK;
	case SET_ALPHA:
		if (parse_share(text, v) || *v > UINT32_MAX)
			return usage(a, "alpha \"%s\" is not a share (0.1, 10%%)",
				     text);
		return ST_OK;
	case SET_OVERHEAD:
		if (parse_uint(text, UINT32_MAX, v))
			return usage(a, "overhead \"%s\" is not a number of octets",
				     text);
		return ST_OK;
	default:
		if (parse_time(text, v) || !*v)
			return usage(a, "%s \"%s\" is not a time (128us, 10ms)",
				     word, text);
		return ST_OK;
	}
}

static int parse_choice(struct args *a, unsigned int set, const char *text,
			uint64_t *v)
{
	static const char *const off_on[] = { "off", "on" };
	static const char *const qdiscs[] = { "csig", "keep" };
	static const struct {
		const char *const *words;
		size_t n;
	} choices[SETTINGS] = {
		[SET_ESTIMATOR] = { estimator_words, 3 },
		[SET_INGRESS] = { ingress_words, 3 },
		[SET_EGRESS] = { egress_words, 2 },
		[SET_UNKNOWN] = { unknown_words, 2 },
		[SET_UPDATE] = { off_on, 2 },
		[SET_QDISC] = { qdiscs, 2 },
	};
	unsigned int i;

	if (parse_word(text, choices[set].words, choices[set].n, &i))
		return usage(a, "%s \"%s\" is unknown", setting_words[set], text);
	*v = i;
	return ST_OK;
}

static int parse_settings(struct args *a, struct settings *s)
{
	const char *text;
	unsigned int set;
	int status;

	while (a->argc) {
		if (parse_word(a->argv[0], setting_words, SETTINGS, &set))
			return arg_unknown(a);
		arg_next(a);
		if (arg_once(a, setting_words[set], &s->given[set]) ||
		    arg_value(a, setting_words[set], &text))
			return ST_USAGE;
		switch (set) {
		case SET_CAPACITY:
		case SET_INTERVAL:
		case SET_TIME_CONSTANT:
		case SET_ALPHA:
		case SET_OVERHEAD:
			status = parse_number(a, set, text, &s->value[set]);
			break;
		case SET_LM:
			status = parse_lm(a, text, s);
			break;
		default:
			status = parse_choice(a, set, text, &s->value[set]);
			break;
		}
		if (status)
			return status;
	}
	if (s->given[SET_INTERVAL] && s->given[SET_TIME_CONSTANT])
		return usage(a, "\"interval\" and \"time-constant\" exclude each other");
	if (!s->given[SET_ESTIMATOR])
		return ST_OK;
	if (s->value[SET_ESTIMATOR] == CSIG_ESTIMATOR_EWMA ?
	    s->given[SET_INTERVAL] : s->given[SET_TIME_CONSTANT])
		return usage(a, "\"%s\" is not a setting of estimator %s",
			     s->given[SET_INTERVAL] ? "interval" :
						      "time-constant",
			     estimator_words[s->value[SET_ESTIMATOR]]);
	if (s->given[SET_ALPHA] &&
	    s->value[SET_ESTIMATOR] != CSIG_ESTIMATOR_DRE)
		return usage(a, "\"alpha\" is not a setting of estimator %s",
			     estimator_words[s->value[SET_ESTIMATOR]]);
	return ST_OK;
}

static void put_u8(struct nl_msg *msg, int attr, const struct settings *s,
		   unsigned int set)
{
	if (s->given[set])
		nla_put_u8(msg, attr, (uint8_t)s->value[set]);
}

static void put_config(struct nl_msg *msg, const struct settings *s)
{
	struct nlattr *config, *lm;
	unsigned int i;

	config = nla_nest_start(msg, CSIG_A_PORT_CONFIG | NLA_F_NESTED);
	if (s->given[SET_CAPACITY])
		nla_put_u64(msg, CSIG_A_PORT_CONFIG_CAPACITY_BPS,
			    s->value[SET_CAPACITY]);
	put_u8(msg, CSIG_A_PORT_CONFIG_ESTIMATOR, s, SET_ESTIMATOR);
	if (s->given[SET_INTERVAL] || s->given[SET_TIME_CONSTANT])
		nla_put_u64(msg, CSIG_A_PORT_CONFIG_INTERVAL_NS,
			    s->value[s->given[SET_INTERVAL] ?
				     SET_INTERVAL : SET_TIME_CONSTANT]);
	if (s->given[SET_ALPHA])
		nla_put_u32(msg, CSIG_A_PORT_CONFIG_ALPHA_PPM,
			    (uint32_t)s->value[SET_ALPHA]);
	put_u8(msg, CSIG_A_PORT_CONFIG_INGRESS, s, SET_INGRESS);
	put_u8(msg, CSIG_A_PORT_CONFIG_EGRESS, s, SET_EGRESS);
	put_u8(msg, CSIG_A_PORT_CONFIG_UNKNOWN, s, SET_UNKNOWN);
	put_u8(msg, CSIG_A_PORT_CONFIG_UPDATE, s, SET_UPDATE);
	if (s->given[SET_OVERHEAD])
		nla_put_u32(msg, CSIG_A_PORT_CONFIG_OVERHEAD_BYTES,
			    (uint32_t)s->value[SET_OVERHEAD]);
	/* An empty value takes all away; nla_nest_end() would drop it. */
	if (s->given[SET_LM] && !s->nlm)
		nla_put(msg, CSIG_A_PORT_CONFIG_LM | NLA_F_NESTED, 0, NULL);
	for (i = 0; i < s->nlm; i++) {
		lm = nla_nest_start(msg, CSIG_A_PORT_CONFIG_LM | NLA_F_NESTED);
		nla_put_string(msg, CSIG_A_LM_VALUE_NAME, s->lm[i].name);
		nla_put_u16(msg, CSIG_A_LM_VALUE_VALUE, s->lm[i].value);
		nla_nest_end(msg, lm);
	}
	nla_nest_end(msg, config);
}

static int port_request(uint8_t cmd, const struct link *l,
			const struct settings *s)
{
	struct nl_msg *msg = csig_request(cmd, 0);

	if (!msg)
		return -ENOMEM;
	nla_put_u32(msg, CSIG_A_PORT_IFINDEX, (uint32_t)l->index);
	if (s)
		put_config(msg, s);
	return csig_talk(msg, NULL);
}

/* Half a port, or half a host, is worse than a moment's wait for Ctrl-C. */
void hold_signals(sigset_t *old)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, old);
}

static int port_make(const struct link *l, const struct settings *s)
{
	bool keep = s->value[SET_QDISC];
	struct placement p;
	sigset_t old;
	int err, status;

	if (l->type != ARPHRD_ETHER)
		return fail("%s: not an Ethernet device, there is no room for a tag in its frames",
			    l->name);
	status = tc_look(l, &p);
	if (!status)
		status = tc_check(l, &p, keep);
	if (status)
		return status;
	hold_signals(&old);
	err = port_request(CSIG_CMD_PORT_ADD, l, s);
	if (err) {
		status = nl_refused(err, l->name);
	} else {
		status = tc_place(l, &p, keep);
		if (status)
			port_request(CSIG_CMD_PORT_DEL, l, NULL);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return status;
}

/* For a host on a device that is no port yet */
int port_make_trusting(const struct link *l)
{
	struct settings s = { 0 };

	s.given[SET_INGRESS] = true;
	s.value[SET_INGRESS] = CSIG_INGRESS_TRUST;
	return port_make(l, &s);
}

static int port_add(struct args *a)
{
	struct settings s = { 0 };
	const char *dev;
	struct link l;
	int status;

	if (arg_dev(a, &dev) || parse_settings(a, &s))
		return ST_USAGE;
	status = csig_open();
	if (!status)
		status = link_get(dev, &l);
	return status ? status : port_make(&l, &s);
}

static int port_set(struct args *a)
{
	struct settings s = { 0 };
	const char *dev;
	struct link l;
	int err, status;

	if (arg_dev(a, &dev))
		return ST_USAGE;
	if (!a->argc)
		return usage(a, "nothing to set");
	if (parse_settings(a, &s))
		return ST_USAGE;
	if (s.given[SET_QDISC])
		return usage(a, "\"qdisc\" can only be given with add");
	status = csig_open();
	if (!status)
		status = link_get(dev, &l);
	if (status)
		return status;
	err = port_request(CSIG_CMD_PORT_SET, &l, &s);
	return err ? nl_refused(err, dev) : ST_OK;
}

/* Parts may be gone already: whatever is left of ours goes, too. */
int port_take(const struct link *l)
{
	unsigned int removed = 0;
	struct placement p;
	int err, status;
	sigset_t old;

	status = tc_look(l, &p);
	if (!status)
		status = tc_remove_check(l, &p);
	if (status)
		return status;
	hold_signals(&old);
	status = tc_remove(l, &p, &removed);
	if (!status) {
		err = port_request(CSIG_CMD_PORT_DEL, l, NULL);
		if (err && !(removed && (err == -ENOENT || err == -ENODEV)))
			status = nl_refused(err, l->name);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return status;
}

static int port_del(struct args *a)
{
	const char *dev;
	struct link l;
	int status;

	if (arg_dev(a, &dev) || arg_end(a))
		return ST_USAGE;
	status = csig_open();
	if (!status)
		status = link_get(dev, &l);
	if (status)
		return status;
	if (host_is_on(&l))
		return fail("%s: a host is enabled on it, which needs the port; first: csigctl host disable dev %s",
			    dev, dev);
	return port_take(&l);
}

/* Is the device a port, and does it trust what comes in? */
int port_state(const struct link *l, bool *exists, unsigned int *ingress)
{
	struct nlattr *config[CSIG_A_PORT_CONFIG_MAX + 1];
	struct nlattr *tb[CSIG_A_PORT_MAX + 1];
	struct nl_msg *msg = csig_request(CSIG_CMD_PORT_GET, 0);
	struct answer answer;
	int err;

	*exists = false;
	*ingress = CSIG_INGRESS_STRIP;
	if (msg)
		nla_put_u32(msg, CSIG_A_PORT_IFINDEX, (uint32_t)l->index);
	err = csig_talk(msg, &answer);
	if (err == -ENOENT || err == -ENODEV)
		return ST_OK;
	if (err)
		return nl_refused(err, l->name);
	if (answer.n && !csig_attrs(answer.msgs[0], CSIG_A_PORT_MAX, tb)) {
		attr_nested(tb[CSIG_A_PORT_CONFIG], CSIG_A_PORT_CONFIG_MAX,
			    config);
		*ingress = attr_u8(config[CSIG_A_PORT_CONFIG_INGRESS],
				   CSIG_INGRESS_STRIP);
		*exists = true;
	}
	answer_free(&answer);
	return ST_OK;
}

int do_port(struct args *a)
{
	static const struct command commands[] = {
		{ "show", port_show },
		{ "add", port_add },
		{ "set", port_set },
		{ "del", port_del },
	};

	return run_command(a, commands, ARRAY_SIZE(commands), "show", help);
}
