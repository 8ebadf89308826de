// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl reflect: the words of the responder to "csigctl probe".
 */
#include <stdio.h>
#include <string.h>

#include <csig/probe.h>

#include "output.h"
#include "reflect.h"

static const char help[] =
	"Usage: csigctl reflect [ run ] [ dev DEV ] [ port N ] [ rate N ] [ peers N ]\n"
	"       csigctl reflect kernel dev DEV [ port N ] [ rate N ]\n"
	"       csigctl reflect del dev DEV\n"
	"       csigctl reflect show\n"
	"where  run answers the probes of \"csigctl probe\" until Ctrl-C,\n"
	"       kernel lets the kernel answer those that come in at a device,\n"
	"       rate is answers a second, peers is probers at once.\n";

static int parse_number(struct args *a, const char *word, bool *given,
			uint64_t max, uint64_t *v)
{
	const char *text;

	if (arg_once(a, word, given) || arg_value(a, word, &text))
		return ST_USAGE;
	if (parse_uint(text, max, v) || !*v)
		return usage(a, "%s \"%s\" is not a number from 1 to %" PRIu64,
			     word, text, max);
	return ST_OK;
}

static int parse(struct args *a, struct reflect *r, bool kernel)
{
	uint64_t port = CSIG_PROBE_PORT, rate = REFLECT_RATE;
	uint64_t peers = REFLECT_PEERS;
	bool has_port = false, has_rate = false, has_peers = false;
	int status = ST_OK;

	*r = (struct reflect){ 0 };
	while (a->argc && !status) {
		if (arg_is(a, "port")) {
			status = parse_number(a, "port", &has_port, 65535, &port);
		} else if (arg_is(a, "rate")) {
			status = parse_number(a, "rate", &has_rate,
					      REFLECT_RATE_MAX, &rate);
		} else if (!kernel && arg_is(a, "peers")) {
			status = parse_number(a, "peers", &has_peers,
					      REFLECT_PEERS_MAX, &peers);
		} else if (!r->dev && !strcmp(a->argv[0], "dev")) {
			status = arg_dev(a, &r->dev);
		} else {
			return arg_unknown(a);
		}
	}
	if (!status && kernel && !r->dev)
		return usage(a, "\"dev\" is missing");
	r->port = (uint16_t)port;
	r->rate = (uint32_t)rate;
	r->peers = (uint32_t)peers;
	return status;
}

static int run(struct args *a)
{
	struct reflect r;
	int status = parse(a, &r, false);

	return status ? status : reflect_run(&r);
}

static int kernel(struct args *a)
{
	struct reflect r;
	int status = parse(a, &r, true);

	return status ? status : reflect_kernel_add(&r);
}

static int del(struct args *a)
{
	const char *dev;
	int status = arg_dev(a, &dev);

	if (!status)
		status = arg_end(a);
	return status ? status : reflect_kernel_del(dev);
}

static int show(struct args *a)
{
	int status = arg_end(a);

	return status ? status : reflect_kernel_show();
}

int do_reflect(struct args *a)
{
	static const struct command commands[] = {
		{ "run", run },
		{ "kernel", kernel },
		{ "del", del },
		{ "show", show },
	};
	const char *word = a->argc ? a->argv[0] : "";
	size_t i;

	/* "run" may be left out before its settings */
	if (!arg_wants_help(a)) {
		for (i = 0; i < ARRAY_SIZE(commands); i++)
			if (!strcmp(word, commands[i].name))
				break;
		if (i == ARRAY_SIZE(commands) &&
		    (!strcmp(word, "dev") || !strcmp(word, "port") ||
		     !strcmp(word, "rate") || !strcmp(word, "peers")))
			return run(a);
	}
	return run_command(a, commands, ARRAY_SIZE(commands), "run", help);
}
