/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of csigctl share: exit status, options, the words of a command,
 * messages.  Printing is output.h, netlink is nl.h.
 */
#ifndef CSIGCTL_H
#define CSIGCTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Exit status */
enum {
	ST_OK,
	ST_USAGE,	/* the words are wrong, nothing was sent */
	ST_KERNEL,	/* the kernel refused, or the system did */
};

/**
 * struct options - what stands before the object
 * @json: print JSON
 * @pretty: print JSON over several lines
 * @where: prefix of messages in a batch, FILE:LINE
 */
struct options {
	bool json;
	bool pretty;
	char where[300];
};

extern struct options opt;

/**
 * struct args - the words of a command that were not looked at yet
 * @object: first word, for messages
 * @command: second word, for messages
 */
struct args {
	int argc;
	char **argv;
	const char *object;
	const char *command;
};

/* main.c */
__attribute__((format(printf, 1, 2))) int fail(const char *fmt, ...);
__attribute__((format(printf, 1, 2))) void warn(const char *fmt, ...);
__attribute__((format(printf, 2, 3)))
int usage(const struct args *a, const char *fmt, ...);

/* parse.c: words */
const char *arg_next(struct args *a);
bool arg_is(struct args *a, const char *word);
int arg_value(struct args *a, const char *word, const char **value);
int arg_unknown(const struct args *a);
int arg_end(const struct args *a);
int arg_once(const struct args *a, const char *word, bool *given);
int arg_dev(struct args *a, const char **dev);
bool arg_wants_help(const struct args *a);

struct command {
	const char *name;
	int (*run)(struct args *a);
};

int run_command(struct args *a, const struct command *c, size_t n,
		const char *deflt, const char *help);

/* parse.c: values; 0 or -1 */
int parse_rate(const char *s, uint64_t *bps);
int parse_time(const char *s, uint64_t *ns);
int parse_ppm(const char *s, uint64_t *ppm);
int parse_share(const char *s, uint64_t *ppm);
int parse_uint(const char *s, uint64_t max, uint64_t *v);
int parse_ratio(const char *s, uint32_t *num, uint32_t *den);
int parse_word(const char *s, const char *const *words, size_t n,
	       unsigned int *v);
int parse_onoff(const char *s, bool *on);
int parse_value(unsigned int source, const char *s, uint64_t *v);

/* Objects */
int do_domain(struct args *a);
int do_signal(struct args *a);
int do_lm(struct args *a);
int do_port(struct args *a);
int do_host(struct args *a);
int do_flow(struct args *a);
int do_capture(struct args *a);
int do_monitor(struct args *a);
int do_doctor(struct args *a);
int do_probe(struct args *a);
int do_reflect(struct args *a);
int do_qcn(struct args *a);

#endif /* CSIGCTL_H */
