// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl flow: the words of the command, its filter, and -w, which shows it again and
 * again.  Flows are printed as they are read: nothing of them is kept.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cgroup.h"
#include "flow.h"
#include "interrupt.h"
#include "names.h"
#include "nl.h"
#include "output.h"
#include "profile.h"

#define WATCH_MIN_MS	100
#define WATCH_MAX_MS	3600000
#define ROWS_DEFAULT	24
#define COLUMNS_DEFAULT	80
#define DISABLED	"; the host was disabled, until: csigctl host enable dev DEV"

static const char help[] =
	"Usage: csigctl flow [ show ] [ src ADDR[/LEN] ] [ dst ADDR[/LEN] ] [ sport N ]\n"
	"                    [ dport N ] [ cgroup PATH ] [ names FILE ] [ -w [ SECONDS ] ]\n"
	"where  src and sport are those of this end,\n"
	"       cgroup PATH takes the groups below it along,\n"
	"       names has lines FIELD=V[,FIELD=V...] NAME (" NAMES_DEFAULT "),\n"
	"       -w shows it again every SECONDS, 1 by default, until Ctrl-C.\n";

/**
 * struct request - the words
 * @filter: for the kernel
 * @names: file, NULL for the default one
 * @watch_ms: 0: once
 */
struct request {
	struct csig_flow_filter filter;
	const char *names;
	long watch_ms;
};

/**
 * struct show - what is at hand when a flow is printed
 * @flows: how many there were
 * @printed: how many of them were printed
 * @rows: of the window, 0 without
 * @text: what fills the window
 * @size: octets of it
 */
struct show {
	struct csig_profile profile;
	struct flow_reader *reader;
	uint64_t flows, printed;
	unsigned int rows;
	char *text;
	size_t size;
};

/* --- words ------------------------------------------------------------------- */

static int get_address(struct args *a, const char *word,
		       struct csig_address *addr, struct csig_address *mask)
{
	char text[INET6_ADDRSTRLEN + 8], *slash;
	unsigned int bits, i;
	uint64_t len;
	const char *v;

	if (arg_value(a, word, &v))
		return ST_USAGE;
	if (snprintf(text, sizeof(text), "%s", v) >= (int)sizeof(text))
		return usage(a, "%s \"%s\" is not an address", word, v);
	slash = strchr(text, '/');
	if (slash)
		*slash++ = '\0';
	memset(addr, 0, sizeof(*addr));
	if (inet_pton(AF_INET, text, addr->octets + 12) == 1) {
		addr->octets[10] = 0xff;
		addr->octets[11] = 0xff;
		bits = 32;
	} else if (inet_pton(AF_INET6, text, addr->octets) == 1) {
		bits = 128;
	} else {
		return usage(a, "%s \"%s\" is not an address", word, v);
	}
	len = bits;
	if (slash && parse_uint(slash, bits, &len))
		return usage(a, "%s \"%s\": the length is not 0 to %u", word,
			     v, bits);
	len += 128 - bits;	/* of the mapped address */
	for (i = 0; i < 16; i++)
		mask->octets[i] = len >= 8 * (i + 1) ? 0xff :
			len > 8 * i ? (uint8_t)(0xff00 >> (len - 8 * i)) : 0;
	return ST_OK;
}

static int get_port(struct args *a, const char *word, uint16_t *port)
{
	const char *v;
	uint64_t n;

	if (arg_value(a, word, &v))
		return ST_USAGE;
	if (parse_uint(v, UINT16_MAX, &n) || !n)
		return usage(a, "%s \"%s\" is not 1 to 65535", word, v);
	*port = (uint16_t)n;
	return ST_OK;
}

static int get_cgroup(struct args *a, struct csig_flow_filter *f)
{
	uint64_t id = 0;
	const char *v;
	int err;

	if (arg_value(a, "cgroup", &v))
		return ST_USAGE;
	if (!cgroup_mount())
		return fail("cgroup v2 is not mounted; use \"mount -t cgroup2 none DIR\"");
	err = cgroup_id(v, &id);
	if (err)
		return fail("cgroup \"%s\": %s", v, strerror(-err));
	f->cgroup_id = id;
	return ST_OK;
}

/* Seconds may follow, with decimals. */
static int get_watch(struct args *a, long *ms)
{
	char *end;
	double v;

	*ms = 1000;
	if (!a->argc || !strchr("0123456789.", a->argv[0][0]) ||
	    !*a->argv[0])
		return ST_OK;
	v = strtod(a->argv[0], &end);
	if (*end || !(v * 1000 >= WATCH_MIN_MS && v * 1000 <= WATCH_MAX_MS))
		return usage(a, "-w \"%s\" is not 0.1 to 3600 seconds",
			     a->argv[0]);
	*ms = (long)(v * 1000);
	arg_next(a);
	return ST_OK;
}

static int parse_request(struct args *a, struct request *r)
{
	static const char *const words[] = {
		"src", "dst", "sport", "dport", "cgroup", "names", "-w",
	};
	struct csig_flow_filter *f = &r->filter;
	bool given[ARRAY_SIZE(words)] = { 0 };
	int status = ST_OK;
	size_t i;

	while (a->argc && !status) {
		for (i = 0; i < ARRAY_SIZE(words); i++)
			if (arg_is(a, words[i]))
				break;
		if (i == ARRAY_SIZE(words))
			return arg_unknown(a);
		status = arg_once(a, words[i], &given[i]);
		if (status)
			return status;
		switch (i) {
		case 0:
			status = get_address(a, "src", &f->src, &f->src_mask);
			break;
		case 1:
			status = get_address(a, "dst", &f->dst, &f->dst_mask);
			break;
		case 2:
			status = get_port(a, "sport", &f->sport);
			break;
		case 3:
			status = get_port(a, "dport", &f->dport);
			break;
		case 4:
			status = get_cgroup(a, f);
			break;
		case 5:
			status = arg_value(a, "names", &r->names);
			break;
		default:
			status = get_watch(a, &r->watch_ms);
		}
	}
	return status;
}

/* --- one look ------------------------------------------------------------------ */

/* A window takes what fits, under a line of its own; the rest is only counted. */
static bool is_full(const struct show *s)
{
	unsigned int lines = 1;
	size_t i;

	if (!s->rows)
		return false;
	fflush(stdout);
	for (i = 0; i < s->size && lines <= s->rows; i++)
		lines += s->text[i] == '\n';
	return lines > s->rows;
}

static void each(const struct flow_entry *e, void *arg)
{
	struct show *s = arg;

	s->flows++;
	/* once full, always full: nothing more is printed */
	if (s->printed + 1 < s->flows || ferror(stdout) || is_full(s))
		return;
	print_flow(&s->profile, e, flow_requested(s->reader, e));
	s->printed++;
}

static int get_profile(struct csig_profile *p, bool quiet)
{
	struct domain d;
	int status;

	if (csig_loaded()) {
		status = domain_get(&d);
		*p = d.profile;
		return status;
	}
	if (!quiet)
		warn("the csig module is not loaded: values are read with the default profile");
	csig_profile_preset(p, CSIG_PRESET_DEFAULT);
	return ST_OK;
}

static int look(struct show *s)
{
	int status;

	s->flows = 0;
	s->printed = 0;
	out_open_array(NULL);
	status = flow_read(s->reader, each, s);
	if (status)
		return status;
	out_close_array();
	return ferror(stdout) ? ST_KERNEL : ST_OK;
}

/* --- watching ------------------------------------------------------------------- */

/* Lines as wide as the window, and no more of them than it has */
static void draw(const char *text, const struct winsize *ws, const char *head)
{
	unsigned int row = 1;
	const char *end;
	size_t len;

	printf("\033[H%.*s\033[K", (int)ws->ws_col, head);
	while (*text && row < ws->ws_row) {
		end = strchrnul(text, '\n');
		len = (size_t)(end - text);
		if (len > ws->ws_col)
			len = ws->ws_col;
		printf("\r\n%.*s\033[K", (int)len, text);
		text = *end ? end + 1 : end;
		row++;
	}
	printf("\033[J");
	fflush(stdout);
}

static int screen(struct show *s)
{
	struct winsize ws = { 0 };
	FILE *terminal = stdout;
	char head[160], now[16];
	struct tm tm;
	int status;
	bool full;
	time_t t;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) || !ws.ws_row || !ws.ws_col) {
		ws.ws_row = ROWS_DEFAULT;
		ws.ws_col = COLUMNS_DEFAULT;
	}
	/* all that prints goes to a buffer: it shall not flicker, and fit */
	stdout = open_memstream(&s->text, &s->size);
	if (!stdout) {
		stdout = terminal;
		return fail("out of memory");
	}
	s->rows = ws.ws_row;
	status = look(s);
	full = is_full(s);
	fclose(stdout);
	stdout = terminal;
	if (!status) {
		t = time(NULL);
		localtime_r(&t, &tm);
		strftime(now, sizeof(now), "%H:%M:%S", &tm);
		snprintf(head, sizeof(head), "%s  %" PRIu64 " flows%s", now,
			 s->flows, !flow_host_exists(s->reader) ? DISABLED :
			 full ?
			 "; not all fit, choose with src, dst, sport, dport, cgroup" :
			 "");
		draw(s->text, &ws, head);
	}
	free(s->text);
	return status;
}

/* The host may be disabled and enabled meanwhile. */
static int follow_host(struct show *s, bool terminal)
{
	int status = ST_OK;

	if (!flow_reopen(s->reader, &status) || status || terminal)
		return status;
	if (flow_host_exists(s->reader))
		warn("flow: the host is enabled again");
	else
		warn("flow: no flows" DISABLED);
	return status;
}

static int watch_loop(struct show *s, long ms, bool terminal,
		      const sigset_t *mask)
{
	struct timespec pause = {
		.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000,
	};
	int status;

	do {
		status = get_profile(&s->profile, true);
		if (!status)
			status = follow_host(s, terminal);
		if (status)
			break;
		status = terminal ? screen(s) : look(s);
		if (!terminal && !opt.json)
			putchar('\n');
		fflush(stdout);
		if (status || ferror(stdout))
			break;
		/* signals, a new window size among them, end the pause only */
		ppoll(NULL, 0, &pause, mask);
	} while (!interrupt_came());
	return status;
}

/* The terminal gets its screen back however the loop ends. */
static int watch(struct show *s, long ms)
{
	bool terminal = !opt.json && isatty(STDOUT_FILENO);
	struct interrupt held;
	int status;

	interrupt_hold(&held);
	if (terminal)
		printf("\033[?1049h\033[?25l");
	status = watch_loop(s, ms, terminal, &held.mask);
	if (terminal) {
		printf("\033[?25h\033[?1049l");
		fflush(stdout);
	}
	interrupt_release(&held);
	return status;
}

/* --- the command ---------------------------------------------------------------- */

static int flow_show(struct args *a)
{
	struct show s = { 0 };
	struct request r = { 0 };
	int status = parse_request(a, &r);

	if (!status)
		status = names_read(r.names ? r.names : NAMES_DEFAULT,
				    !r.names);
	if (!status)
		status = get_profile(&s.profile, false);
	if (status)
		return status;
	s.reader = flow_open(&r.filter);
	if (!s.reader)
		status = ST_KERNEL;
	else
		status = r.watch_ms ? watch(&s, r.watch_ms) : look(&s);
	if (s.reader)
		flow_close(s.reader);
	names_free();
	return status;
}

int do_flow(struct args *a)
{
	static const struct command commands[] = {
		{ "show", flow_show },
	};

	return run_command(a, commands, ARRAY_SIZE(commands), "show", help);
}
