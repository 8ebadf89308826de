// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl domain: the profile as a whole.
 */
#include <stdio.h>
#include <string.h>

#include "csigctl.h"
#include "nl.h"
#include "output.h"
#include "profile.h"

static const char help[] =
	"Usage: csigctl domain [ show ]\n"
	"       csigctl domain set [ compact-tpid X ] [ expanded-tpid X ]\n"
	"                          [ software-assist { on | off } ] [ preset PRESET ]\n"
	"       csigctl domain preset PRESET\n"
	"       csigctl domain export\n"
	"       csigctl domain import { FILE | - }\n"
	"where  PRESET := { default | appendix-a } [ scale-rate N[/M] ] [ scale-time N ]\n"
	"       X := EtherType, 0x0600 to 0xffff\n";

static int domain_show(struct args *a)
{
	unsigned int t, f, signals = 0, layouts = 0;
	struct domain d;
	int status;

	status = arg_end(a);
	if (!status)
		status = domain_get(&d);
	if (status)
		return status;
	for (t = 0; t < CSIG_SIGNALS; t++)
		signals += d.profile.signals[t].defined;
	for (t = 0; t <= CSIG_LAYOUT_ANY; t++)
		for (f = 0; f < CSIG_FORMATS; f++)
			layouts += d.profile.layouts[t][f].nfields > 0;

	out_open_object(NULL);
	out_digest("digest", "digest           %s\n", d.digest);
	out_hex16("compact_tpid", "compact-tpid     %s\n",
		  d.profile.tpid[CSIG_FORMAT_COMPACT]);
	out_hex16("expanded_tpid", "expanded-tpid    %s\n",
		  d.profile.tpid[CSIG_FORMAT_EXPANDED]);
	out_bool("software_assist", "software-assist  %s\n",
		 d.profile.software_assist);
	out_u64("signals", "signals          %" PRIu64 "\n", signals);
	out_u64("layouts", "lm layouts       %" PRIu64 "\n", layouts);
	out_u64("ports", "ports            %" PRIu64 "\n", d.ports);
	out_str("version", "module version   %s\n", d.version);
	out_close_object();
	return ST_OK;
}

/**
 * struct change - what "set" and "preset" ask for
 * @tpid: EtherTypes, where given
 * @assist: software-assist, where given
 * @preset: enum csig_preset, where given
 */
struct change {
	uint16_t tpid[CSIG_FORMATS];
	bool tpid_given[CSIG_FORMATS];
	bool assist, assist_given;
	unsigned int preset;
	bool preset_given;
	uint32_t rate_num, rate_den, time;
	bool rate_given, time_given;
};

static int parse_tpid(struct args *a, struct change *c, unsigned int format)
{
	const char *word = format == CSIG_FORMAT_COMPACT ? "compact-tpid" :
							   "expanded-tpid";
	const char *v;
	uint64_t n;

	if (arg_once(a, word, &c->tpid_given[format]) || arg_value(a, word, &v))
		return ST_USAGE;
	if (parse_uint(v, 0xffff, &n))
		return usage(a, "%s \"%s\" is not an EtherType", word, v);
	c->tpid[format] = (uint16_t)n;
	return ST_OK;
}

static int parse_preset(struct args *a, struct change *c)
{
	static const char *const presets[] = {
		[CSIG_PRESET_DEFAULT] = "default",
		[CSIG_PRESET_APPENDIX_A] = "appendix-a",
	};
	const char *v;

	if (arg_once(a, "preset", &c->preset_given) ||
	    arg_value(a, "preset", &v))
		return ST_USAGE;
	if (parse_word(v, presets, ARRAY_SIZE(presets), &c->preset))
		return usage(a, "preset \"%s\" is unknown", v);
	return ST_OK;
}

static int parse_scale(struct args *a, struct change *c)
{
	const char *v;
	uint64_t n;

	if (arg_is(a, "scale-rate")) {
		if (arg_once(a, "scale-rate", &c->rate_given) ||
		    arg_value(a, "scale-rate", &v))
			return ST_USAGE;
		if (parse_ratio(v, &c->rate_num, &c->rate_den))
			return usage(a, "scale-rate \"%s\" is not N or N/M", v);
		return ST_OK;
	}
	arg_next(a);
	if (arg_once(a, "scale-time", &c->time_given) ||
	    arg_value(a, "scale-time", &v))
		return ST_USAGE;
	if (parse_uint(v, UINT32_MAX, &n) || !n)
		return usage(a, "scale-time \"%s\" is not a number from 1 on", v);
	c->time = (uint32_t)n;
	return ST_OK;
}

static int parse_change(struct args *a, struct change *c)
{
	const char *v;
	int status = ST_OK;

	while (a->argc && !status) {
		if (arg_is(a, "compact-tpid")) {
			status = parse_tpid(a, c, CSIG_FORMAT_COMPACT);
		} else if (arg_is(a, "expanded-tpid")) {
			status = parse_tpid(a, c, CSIG_FORMAT_EXPANDED);
		} else if (arg_is(a, "software-assist")) {
			if (arg_once(a, "software-assist", &c->assist_given) ||
			    arg_value(a, "software-assist", &v))
				return ST_USAGE;
			if (parse_onoff(v, &c->assist))
				return usage(a, "software-assist \"%s\" is not on or off",
					     v);
		} else if (arg_is(a, "preset")) {
			status = parse_preset(a, c);
		} else if (!strcmp(a->argv[0], "scale-rate") ||
			   !strcmp(a->argv[0], "scale-time")) {
			status = parse_scale(a, c);
		} else {
			status = arg_unknown(a);
		}
	}
	if (!status && (c->rate_given || c->time_given) && !c->preset_given)
		return usage(a, "\"%s\" needs a preset",
			     c->rate_given ? "scale-rate" : "scale-time");
	return status;
}

/* Without a preset only what is given is sent, the kernel keeps the rest. */
static int send_change(const struct change *c)
{
	struct nl_msg *msg;
	int err, status;

	status = csig_open();
	if (status)
		return status;
	msg = csig_request(CSIG_CMD_DOMAIN_SET, 0);
	if (!msg)
		return fail("out of memory");
	if (c->tpid_given[CSIG_FORMAT_COMPACT])
		nla_put_u16(msg, CSIG_A_DOMAIN_COMPACT_TPID,
			    c->tpid[CSIG_FORMAT_COMPACT]);
	if (c->tpid_given[CSIG_FORMAT_EXPANDED])
		nla_put_u16(msg, CSIG_A_DOMAIN_EXPANDED_TPID,
			    c->tpid[CSIG_FORMAT_EXPANDED]);
	if (c->assist_given)
		nla_put_u8(msg, CSIG_A_DOMAIN_SOFTWARE_ASSIST, c->assist);
	err = csig_talk(msg, NULL);
	return err ? nl_refused(err, "domain") : ST_OK;
}

/* A preset is a table of signals; TPIDs and layouts stay unless given. */
static int send_preset(const struct change *c)
{
	struct csig_profile p;
	unsigned int f;
	struct domain d;
	int status;

	status = domain_get(&d);
	if (status)
		return status;
	csig_profile_preset(&p, c->preset);
	csig_profile_scale(&p, c->rate_given ? c->rate_num : 1,
			   c->rate_given ? c->rate_den : 1,
			   c->time_given ? c->time : 1);
	memcpy(p.layouts, d.profile.layouts, sizeof(p.layouts));
	for (f = 0; f < CSIG_FORMATS; f++)
		p.tpid[f] = c->tpid_given[f] ? c->tpid[f] : d.profile.tpid[f];
	p.software_assist = c->assist_given ? c->assist :
					      d.profile.software_assist;
	return domain_replace(&p);
}

static int change(struct args *a, struct change *c)
{
	int status = parse_change(a, c);

	if (status)
		return status;
	return c->preset_given ? send_preset(c) : send_change(c);
}

static int domain_set(struct args *a)
{
	struct change c = { 0 };

	if (!a->argc)
		return usage(a, "nothing to set");
	return change(a, &c);
}

static int domain_preset(struct args *a)
{
	struct change c = { 0 };

	if (parse_preset(a, &c))
		return ST_USAGE;
	return change(a, &c);
}

static int domain_export(struct args *a)
{
	struct options saved = opt;
	struct domain d;
	int status;

	status = arg_end(a);
	if (!status)
		status = domain_get(&d);
	if (status)
		return status;
	opt.json = true;
	opt.pretty = true;
	profile_print_json(&d.profile);
	opt = saved;
	return ST_OK;
}

static int domain_import(struct args *a)
{
	struct csig_profile p;
	const char *path;
	int status;

	path = arg_next(a);
	if (!path || !*path)
		return usage(a, "the file is missing");
	status = arg_end(a);
	if (!status)
		status = profile_read(path, &p);
	return status ? status : domain_replace(&p);
}

int do_domain(struct args *a)
{
	static const struct command commands[] = {
		{ "show", domain_show },
		{ "set", domain_set },
		{ "preset", domain_preset },
		{ "export", domain_export },
		{ "import", domain_import },
	};

	return run_command(a, commands, ARRAY_SIZE(commands), "show", help);
}
