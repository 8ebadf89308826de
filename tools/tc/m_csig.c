// SPDX-License-Identifier: GPL-2.0
/*
 * The csig action for tc: push, pop, update, carry and ingress; help and show.
 */
#include <linux/csig.h>
#include <linux/tc_csig.h>
#include <unistd.h>

#include "tc_common.h"

#define T_MAX_COMPACT	7
#define T_MAX		15
#define LM_MAX_COMPACT	0x7f
#define LM_MAX		0xffff

static const char *const modes[] = {
	[TC_CSIG_ACT_PUSH] = "push",
	[TC_CSIG_ACT_POP] = "pop",
	[TC_CSIG_ACT_UPDATE] = "update",
	[TC_CSIG_ACT_CARRY] = "carry",
	[TC_CSIG_ACT_INGRESS] = "ingress",
};

#define REQUESTED	"requested"	/* push, as BPF asked for it */

static const char *const formats[] = {
	[CSIG_FORMAT_COMPACT] = "compact",
	[CSIG_FORMAT_EXPANDED] = "expanded",
};

/* T of the signals that every profile of the specification has */
static const char *const signals[] = { "abw", "abwc", "pd", "nqd" };

static const char *const controls[] = {
	[TC_ACT_OK] = "pass",
	[TC_ACT_RECLASSIFY] = "reclassify",
	[TC_ACT_SHOT] = "drop",
	[TC_ACT_PIPE] = "pipe",
	[TC_ACT_STOLEN] = "stolen",
	[TC_ACT_TRAP] = "trap",
};

static void explain(FILE *f)
{
	fprintf(f,
		"Usage: csig push [ format compact | expanded ] signal SIGNAL [ lm N ]\n"
		"       csig push requested\n"
		"       csig pop [ carry ]\n"
		"       csig update\n"
		"       csig carry\n"
		"       csig ingress\n"
		"       each with [ CONTROL ] [ index INDEX ]\n"
		"Where: SIGNAL is abw, abwc, pd, nqd or a number, 0..7 compact, 0..15 expanded;\n"
		"       N is the first locator, 0..127 compact, 0..65535 expanded, default 0;\n"
		"       requested: the tag that the BPF program before it asked for, or none;\n"
		"       CONTROL is reclassify | pipe | drop | continue | pass | goto chain N,\n"
		"       default pipe.  push, update and carry are for egress, pop and ingress\n"
		"       for ingress.\n");
}

struct args {
	struct tc_csig_act parm;
	int mode;
	int format;	/* -1: not given, as the others */
	int signal;
	int lm;
	bool carry;
};

static void parse_push(struct args *a, const char *key, const char *word)
{
	__u64 v;

	if (!strcmp(key, "format")) {
		if (a->format >= 0)
			duparg(key, word);
		a->format = word_index(formats, ARRAY_SIZE(formats), word);
		if (a->format < 0)
			invarg("format is compact or expanded", word);
	} else if (!strcmp(key, "signal")) {
		if (a->signal >= 0)
			duparg(key, word);
		a->signal = word_index(signals, ARRAY_SIZE(signals), word);
		if (a->signal < 0 && number(&v, word, T_MAX))
			invarg("signal is abw, abwc, pd, nqd or 0 to 15", word);
		if (a->signal < 0)
			a->signal = v;
	} else {
		if (a->lm >= 0)
			duparg(key, word);
		if (number(&v, word, LM_MAX))
			invarg("lm is 0 to 65535", word);
		a->lm = v;
	}
}

/* What can only be judged when all is known. */
static void check_push(const struct args *a)
{
	char word[16];

	if (a->signal < 0)
		invarg("\"signal\" is required", "push");
	if (a->format == CSIG_FORMAT_EXPANDED)
		return;
	if (a->signal > T_MAX_COMPACT) {
		snprintf(word, sizeof(word), "%d", a->signal);
		invarg("signals above 7 need \"format expanded\"", word);
	}
	if (a->lm > LM_MAX_COMPACT) {
		snprintf(word, sizeof(word), "%d", a->lm);
		invarg("lm is 0 to 127 in the compact format", word);
	}
}

static bool is_push_key(const char *word)
{
	return !strcmp(word, "format") || !strcmp(word, "signal") ||
	       !strcmp(word, "lm");
}

static bool has_push_key(const struct args *a)
{
	return a->format >= 0 || a->signal >= 0 || a->lm >= 0;
}

/* "index N", before or behind the control action */
static bool parse_index(struct args *a, int *argcp, char ***argvp)
{
	char **argv = *argvp;
	int argc = *argcp;
	__u64 v;

	if (argc <= 0 || strcmp(*argv, "index"))
		return false;
	NEXT_WORD();
	if (a->parm.index)
		duparg("index", *argv);
	if (number(&v, *argv, 0xffffffff) || !v)
		invarg("index is 1 to 4294967295", *argv);
	a->parm.index = v;
	*argcp = argc - 1;
	*argvp = argv + 1;
	return true;
}

static void add_attributes(const struct args *a, struct nlmsghdr *n, int tca_id)
{
	struct rtattr *tail = addattr_nest(n, TC_MSG_MAX, tca_id);
	__u8 b;
	__u16 h;

	addattr_l(n, TC_MSG_MAX, TCA_CSIG_ACT_PARMS, &a->parm, sizeof(a->parm));
	if (a->format >= 0) {
		b = a->format;
		addattr_l(n, TC_MSG_MAX, TCA_CSIG_ACT_FORMAT, &b, sizeof(b));
	}
	if (a->signal >= 0) {
		b = a->signal;
		addattr_l(n, TC_MSG_MAX, TCA_CSIG_ACT_SIGNAL, &b, sizeof(b));
	}
	if (a->lm >= 0) {
		h = a->lm;
		addattr_l(n, TC_MSG_MAX, TCA_CSIG_ACT_LM, &h, sizeof(h));
	}
	if (a->carry)
		addattr_l(n, TC_MSG_MAX, TCA_CSIG_ACT_CARRY, NULL, 0);
	addattr_nest_end(n, tail);
}

static int csig_parse_aopt(const struct action_util *au, int *argcp,
			   char ***argvp, int tca_id, struct nlmsghdr *n)
{
	struct args a = { .mode = -1, .format = -1, .signal = -1, .lm = -1 };
	char **argv = *argvp, *key;
	int argc = *argcp, mode;

	(void)au;
	if (strcmp(*argv, "csig"))
		return -1;
	NEXT_WORD();
	for (; argc > 0; argc--, argv++) {
		if (!strcmp(*argv, "help")) {
			explain(stdout);
			exit(0);
		}
		while (parse_index(&a, &argc, &argv))
			;
		if (argc <= 0)
			break;
		mode = word_index(modes, ARRAY_SIZE(modes), *argv);
		if (a.mode == TC_CSIG_ACT_PUSH && is_push_key(*argv)) {
			key = *argv;
			NEXT_WORD();
			parse_push(&a, key, *argv);
		} else if (a.mode == TC_CSIG_ACT_PUSH && !has_push_key(&a) &&
			   !strcmp(*argv, REQUESTED)) {
			a.mode = TC_CSIG_ACT_REQUESTED;
		} else if (a.mode == TC_CSIG_ACT_POP && !a.carry &&
			   mode == TC_CSIG_ACT_CARRY) {
			a.carry = true;
		} else if (mode >= 0) {
			if (a.mode >= 0)
				invarg("the action has a mode already", *argv);
			a.mode = mode;
		} else if (is_push_key(*argv)) {
			invarg(a.mode == TC_CSIG_ACT_REQUESTED ?
			       "the BPF program says that, not \"push requested\"" :
			       "only after \"push\"", *argv);
		} else if (!strcmp(*argv, REQUESTED)) {
			invarg("only right after \"push\"", *argv);
		} else {
			break;
		}
	}
	if (a.mode < 0) {
		fprintf(stderr, "csig: push, pop, update, carry or ingress is required\n");
		explain(stderr);
		return -1;
	}
	if (a.mode == TC_CSIG_ACT_PUSH)
		check_push(&a);
	a.parm.mode = a.mode;
	parse_action_control_dflt(&argc, &argv, &a.parm.action, false,
				  TC_ACT_PIPE);
	while (parse_index(&a, &argc, &argv))
		;
	add_attributes(&a, n, tca_id);
	*argcp = argc;
	*argvp = argv;
	return 0;
}

/* As tc prints it; its own function has had three prototypes. */
static void print_control(int action)
{
	open_json_object("control_action");
	if (TC_ACT_EXT_CMP(action, TC_ACT_GOTO_CHAIN)) {
		print_string(PRINT_ANY, "type", " %s", "goto");
		print_uint(PRINT_ANY, "chain", " chain %u",
			   action & TC_ACT_EXT_VAL_MASK);
	} else if (TC_ACT_EXT_CMP(action, TC_ACT_JUMP)) {
		print_string(PRINT_ANY, "type", " %s", "jump");
		print_uint(PRINT_ANY, "jump", " %u",
			   action & TC_ACT_EXT_VAL_MASK);
	} else if (action == TC_ACT_UNSPEC) {
		print_string(PRINT_ANY, "type", " %s", "continue");
	} else {
		print_string(PRINT_ANY, "type", " %s",
			     word_of(controls, ARRAY_SIZE(controls), action));
	}
	close_json_object();
}

static void print_seconds(const char *key, const char *fmt, __u64 ticks)
{
	long hz = sysconf(_SC_CLK_TCK);

	print_uint(PRINT_ANY, key, fmt, hz > 0 ? ticks / hz : 0);
}

static void print_tag(struct rtattr **tb)
{
	unsigned int t = attr_number(tb[TCA_CSIG_ACT_SIGNAL]);

	print_string(PRINT_ANY, "format", " format %s",
		     word_of(formats, ARRAY_SIZE(formats),
			     attr_number(tb[TCA_CSIG_ACT_FORMAT])));
	print_uint(PRINT_JSON, "t", NULL, t);
	if (t < ARRAY_SIZE(signals))
		print_string(PRINT_ANY, "signal", " signal %s", signals[t]);
	else
		print_uint(PRINT_ANY, "signal", " signal %u", t);
	print_uint(PRINT_ANY, "lm", " lm %u",
		   attr_number(tb[TCA_CSIG_ACT_LM]));
}

static int csig_print_aopt(const struct action_util *au, FILE *f,
			   struct rtattr *opt)
{
	struct rtattr *tb[TCA_CSIG_ACT_MAX + 1];
	struct tc_csig_act parm;
	bool requested;
	struct tcf_t tm;

	(void)au;
	(void)f;
	print_string(PRINT_ANY, "kind", "%s ", "csig");
	if (!opt)
		return 0;
	attr_table(tb, TCA_CSIG_ACT_MAX, opt);
	if (!tb[TCA_CSIG_ACT_PARMS] ||
	    RTA_PAYLOAD(tb[TCA_CSIG_ACT_PARMS]) < sizeof(parm)) {
		fprintf(stderr, "Missing csig parameters\n");
		return -1;
	}
	memcpy(&parm, RTA_DATA(tb[TCA_CSIG_ACT_PARMS]), sizeof(parm));

	requested = parm.mode == TC_CSIG_ACT_REQUESTED;
	print_string(PRINT_ANY, "mode", " %s",
		     word_of(modes, ARRAY_SIZE(modes),
			     requested ? TC_CSIG_ACT_PUSH : parm.mode));
	if (requested || parm.mode == TC_CSIG_ACT_PUSH)
		print_bool(PRINT_JSON, "requested", NULL, requested);
	if (requested)
		print_string(PRINT_FP, NULL, " " REQUESTED, NULL);
	if (parm.mode == TC_CSIG_ACT_PUSH)
		print_tag(tb);
	if (parm.mode == TC_CSIG_ACT_POP) {
		print_bool(PRINT_JSON, "carry", NULL, tb[TCA_CSIG_ACT_CARRY]);
		if (tb[TCA_CSIG_ACT_CARRY])
			print_string(PRINT_FP, NULL, " carry", NULL);
	}
	print_control(parm.action);

	print_nl();
	print_uint(PRINT_ANY, "index", "\t index %u", parm.index);
	print_int(PRINT_ANY, "ref", " ref %d", parm.refcnt);
	print_int(PRINT_ANY, "bind", " bind %d", parm.bindcnt);
	if (show_stats && tb[TCA_CSIG_ACT_TM]) {
		attr_struct(&tm, sizeof(tm), tb[TCA_CSIG_ACT_TM]);
		if (tm.install)
			print_seconds("installed", " installed %u sec", tm.install);
		if (tm.lastuse)
			print_seconds("last_used", " used %u sec", tm.lastuse);
		if (tm.firstuse)
			print_seconds("first_used", " firstused %u sec", tm.firstuse);
		if (tm.expires)
			print_seconds("expires", " expires %u sec", tm.expires);
	}
	print_nl();
	return 0;
}

struct action_util csig_action_util = {
	.id = "csig",
	.parse_aopt = csig_parse_aopt,
	.print_aopt = csig_print_aopt,
};
