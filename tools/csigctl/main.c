// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl: options, objects, batches and messages.  What an object does is in the
 * file of its name.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <csig/version.h>

#include "csigctl.h"
#include "nl.h"
#include "output.h"

#define BATCH_WORDS_MAX	256

struct options opt;

static const char help[] =
	"Usage: csigctl [OPTIONS] OBJECT [COMMAND]\n"
	"       csigctl [OPTIONS] -b FILE\n"
	"where  OBJECT := { domain | signal | lm | port | host | flow | capture |\n"
	"                    monitor | probe | reflect | qcn | doctor }\n"
	"       OPTIONS := { -j[son] | -p[retty] | -n[etns] NETNS | -V[ersion] |\n"
	"                    -b[atch] FILE | -force | -h[elp] }\n"
	"\"csigctl OBJECT help\" tells the commands of an object.\n";

static const struct command objects[] = {
	{ "domain", do_domain },
	{ "signal", do_signal },
	{ "lm", do_lm },
	{ "port", do_port },
	{ "host", do_host },
	{ "flow", do_flow },
	{ "capture", do_capture },
	{ "monitor", do_monitor },
	{ "doctor", do_doctor },
	{ "probe", do_probe },
	{ "reflect", do_reflect },
	{ "qcn", do_qcn },
};

static void message(const char *fmt, va_list ap)
{
	fflush(stdout);
	fprintf(stderr, "csigctl: %s", opt.where);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

/* The system or the kernel said no. */
int fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
	return ST_KERNEL;
}

void warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
}

/* The words are wrong. */
int usage(const struct args *a, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (a->object)
		warn("%s%s%s: %s; see \"csigctl %s help\"", a->object,
		     a->command ? " " : "", a->command ? a->command : "", text,
		     a->object);
	else
		warn("%s; see \"csigctl help\"", text);
	return ST_USAGE;
}

static int run_object(int argc, char **argv)
{
	struct args a = { .argc = argc, .argv = argv };
	const char *word = arg_next(&a);
	int status = -1;
	size_t i;

	if (!word || !strcmp(word, "help")) {
		fputs(help, word ? stdout : stderr);
		return word ? ST_OK : ST_USAGE;
	}
	out_begin();
	for (i = 0; i < ARRAY_SIZE(objects) && status < 0; i++) {
		if (strcmp(word, objects[i].name))
			continue;
		a.object = objects[i].name;
		status = objects[i].run(&a);
	}
	if (status < 0)
		return usage(&a, "object \"%s\" is unknown", word);
	if (out_end(status == ST_OK))
		return fail("cannot write the output: %s", strerror(errno));
	return status;
}

/* Words of a line, in place: blanks separate, quotes keep, # starts a comment. */
static int split(char *line, char **words, int max)
{
	char *in = line, *o = line;
	int n = 0;

	for (;;) {
		char quote = 0;

		in += strspn(in, " \t\r\n");
		if (!*in || *in == '#')
			return n;
		if (n == max)
			return -E2BIG;
		words[n++] = o;
		for (; *in && (quote || !strchr(" \t\r\n", *in)); in++) {
			if (quote && *in == quote)
				quote = 0;
			else if (!quote && (*in == '"' || *in == '\''))
				quote = *in;
			else
				*o++ = *in;
		}
		if (quote)
			return -EINVAL;
		if (*in)
			in++;
		*o++ = '\0';
	}
}

static int run_batch(const char *path, bool force)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "r") : stdin;
	char *words[BATCH_WORDS_MAX];
	unsigned int number = 0;
	int status = ST_OK, s, n;
	char *line = NULL;
	size_t size = 0;

	if (!f)
		return fail("%s: %s", path, strerror(errno));
	while (getline(&line, &size, f) >= 0) {
		snprintf(opt.where, sizeof(opt.where), "%.256s:%u: ", path,
			 ++number);
		n = split(line, words, BATCH_WORDS_MAX);
		if (!n)
			continue;
		if (n < 0) {
			warn("%s", n == -E2BIG ? "too many words" :
						 "a quote is not closed");
			s = ST_USAGE;
		} else {
			s = run_object(n, words);
		}
		fflush(stdout);
		if (s && !status)
			status = s;
		if (s && !force)
			break;
	}
	opt.where[0] = '\0';
	if (ferror(f) && !status)
		status = fail("%s: %s", path, strerror(errno));
	free(line);
	if (f != stdin)
		fclose(f);
	return status;
}

static int enter_netns(const char *name)
{
	char path[512];
	int fd, err;

	snprintf(path, sizeof(path), "%s%s",
		 strchr(name, '/') ? "" : "/run/netns/", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail("network namespace \"%s\": %s", name,
			    strerror(errno));
	err = setns(fd, CLONE_NEWNET);
	close(fd);
	if (err)
		return fail("network namespace \"%s\": %s", name,
			    strerror(errno));
	return ST_OK;
}

/* -json and --json are -j, as in iproute2 */
static bool is_option(const char *arg, const char *abbrev, const char *word)
{
	arg += arg[0] == '-' && arg[1] == '-' ? 2 : 1;
	return !strcmp(arg, abbrev) || !strcmp(arg, word);
}

int main(int argc, char **argv)
{
	const struct args none = { 0 };
	const char *batch = NULL, *netns = NULL;
	bool force = false;
	int i, status;

	for (i = 1; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		const char **value = NULL;

		if (is_option(argv[i], "j", "json")) {
			opt.json = true;
		} else if (is_option(argv[i], "p", "pretty")) {
			opt.pretty = true;
		} else if (is_option(argv[i], "jp", "pj")) {
			opt.json = true;
			opt.pretty = true;
		} else if (is_option(argv[i], "n", "netns")) {
			value = &netns;
		} else if (is_option(argv[i], "b", "batch")) {
			value = &batch;
		} else if (is_option(argv[i], "force", "force")) {
			force = true;
		} else if (is_option(argv[i], "V", "Version") ||
			   is_option(argv[i], "V", "version")) {
			printf("csigctl %s\n", CSIG_VERSION);
			return ST_OK;
		} else if (is_option(argv[i], "h", "help")) {
			fputs(help, stdout);
			return ST_OK;
		} else {
			return usage(&none, "option \"%s\" is unknown",
				     argv[i]);
		}
		if (value) {
			if (++i == argc)
				return usage(&none, "option \"%s\" needs a value",
					     argv[i - 1]);
			*value = argv[i];
		}
	}
	if (batch && i < argc)
		return usage(&none, "\"%s\" after -batch", argv[i]);
	if (netns) {
		status = enter_netns(netns);
		if (status)
			return status;
	}
	status = batch ? run_batch(batch, force) :
			 run_object(argc - i, argv + i);
	nl_shut();
	if (fflush(stdout) && !status)
		status = fail("cannot write the output: %s", strerror(errno));
	return status;
}
