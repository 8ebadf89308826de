// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl probe: asks the path to a host and back, again and again, where its
 * bottlenecks are.  Each round sends one probe a signal; the tag of a probe comes back
 * in the answer's payload, that of the answer is in the socket's storage.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "decode.h"
#include "names.h"
#include "interrupt.h"
#include "output.h"
#include "probe.h"

#define INTERVAL_NS	(3 * CSIG_NSEC_PER_SEC / 10)
#define INTERVAL_MIN_NS	(CSIG_NSEC_PER_SEC / 100)
#define LOST_NS		CSIG_NSEC_PER_SEC	/* without an answer so long */
#define REOPEN_NS	CSIG_NSEC_PER_SEC

static const char help[] =
	"Usage: csigctl probe DST [ -c COUNT ] [ -i INTERVAL ] [ port N ] [ -4 | -6 ]\n"
	"                     [ format { compact | expanded } ] [ signals S[,S...] ]\n"
	"                     [ names FILE ]\n"
	"where  S is abw, abwc, pd, nqd or a number; all that the device has by default,\n"
	"       -c stops after COUNT rounds, each of which asks for every signal,\n"
	"       -i is the time of a round, 300ms by default, 10ms at least,\n"
	"       names has lines FIELD=V[,FIELD=V...] NAME (" NAMES_DEFAULT ").\n"
	"DST must run \"csigctl reflect\".\n";

uint64_t probe_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * CSIG_NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

uint64_t probe_fresh_ns(const struct probe *p)
{
	uint64_t two = 2 * p->interval_ns + p->rtt_max_ns;

	return two > CSIG_NSEC_PER_SEC ? two : CSIG_NSEC_PER_SEC;
}

/* --- answers -------------------------------------------------------------------- */

static uint64_t lost_ns(const struct probe *p)
{
	return p->rtt_max_ns * 3 > LOST_NS ? p->rtt_max_ns * 3 : LOST_NS;
}

/* Probes that will hardly be answered any more, or whose place the next one takes */
static void settle(struct probe *p, uint64_t now)
{
	for (; p->settled != p->seq; p->settled++) {
		unsigned int i = p->settled % PROBE_RING;

		if (p->ring[i].answered)
			continue;
		if (now - p->ring[i].sent_ns < lost_ns(p) &&
		    p->seq - p->settled < PROBE_RING)
			return;
		p->ring[i].lost = true;
		p->lost++;
	}
}

/* LM 0 is a place, too, where a port wrote it. */
static bool same_place(const struct probe *p, const struct csig_tag *a,
		       const struct csig_tag *b)
{
	return a->lm == b->lm && a->format == b->format &&
	       tag_written(&p->profile, a) == tag_written(&p->profile, b);
}

/* True when the bottleneck is at another place than before */
static bool put_signal_value(const struct probe *p, struct probe_signal *s,
			     const struct csig_tag *tag, uint64_t time_ns)
{
	bool moved = !s->known || !same_place(p, &s->tag, tag);
	unsigned int i;

	s->known = true;
	s->tag = *tag;
	s->time_ns = time_ns;
	s->values++;
	for (i = 0; i < PROBE_PLACES - 1; i++)
		if (!s->places[i].n || same_place(p, &s->places[i].tag, tag))
			break;
	s->places[i].tag = *tag;
	s->places[i].n++;
	return moved;
}

static void on_forward(struct probe *p, const uint8_t *buf, uint64_t now)
{
	struct csig_tag tag;
	bool valid;

	csig_udp_decode(buf, CSIG_PROBE_HEADER_LEN, &tag, &valid);
	if (p->disabled || !(p->flags & CSIG_PROBE_READS) ||
	    p->flags & (CSIG_PROBE_FIRST | CSIG_PROBE_BUSY))
		return;
	p->eligible++;
	if (!valid) {
		p->silent++;
		return;
	}
	p->silent = 0;
	if (put_signal_value(p, &p->to[tag.t], &tag, now))
		probe_show_change(p, false, tag.t);
}

/* Tags of answers are with the socket. */
static void on_reverse(struct probe *p)
{
	unsigned int t;

	if (p->disabled ||
	    libcsig_flow_get(p->host, p->fd, &p->flow, sizeof(p->flow)))
		return;
	if (p->flow.rx_tagged == p->rx_tagged)
		p->reverse_silent++;
	else
		p->reverse_silent = 0;
	p->rx_tagged = p->flow.rx_tagged;
	for (t = 0; t < CSIG_SIGNALS; t++) {
		const struct libcsig_signal *v = &p->flow.received[t];
		const struct csig_tag tag = {
			.format = v->tag.format, .t = v->tag.t, .r = v->tag.r,
			.lm = v->tag.lm, .s = v->tag.s,
		};

		if (!v->known || (p->from[t].known &&
				  v->time_ns == p->from[t].time_ns))
			continue;
		if (put_signal_value(p, &p->from[t], &tag, v->time_ns))
			probe_show_change(p, true, t);
	}
}

static void on_answer(struct probe *p, const uint8_t *buf, size_t len)
{
	uint64_t now = probe_now(), rtt;
	struct csig_probe a;
	unsigned int i;

	if (!csig_probe_decode(buf, (unsigned int)len, &a) || !a.answer ||
	    a.session != p->session || p->seq - a.seq > PROBE_RING ||
	    a.seq == p->seq)
		return;
	i = a.seq % PROBE_RING;
	if (p->ring[i].answered)
		return;		/* twice */
	p->ring[i].answered = true;
	if (p->ring[i].lost)
		p->lost--;	/* late, not lost */
	p->answered++;
	p->refused = false;
	p->flags = a.flags;
	rtt = now - p->ring[i].sent_ns;
	p->rtt_ns = rtt;
	p->rtt_sum_ns += rtt;
	if (p->answered == 1 || rtt < p->rtt_min_ns)
		p->rtt_min_ns = rtt;
	if (rtt > p->rtt_max_ns)
		p->rtt_max_ns = rtt;
	on_forward(p, buf, now);
	on_reverse(p);
}

static void on_error(struct probe *p, int err)
{
	p->refused = true;
	p->errno_seen = err;
}

static void receive(struct probe *p)
{
	uint8_t buf[256];
	ssize_t n;

	for (;;) {
		n = recv(p->fd, buf, sizeof(buf), 0);
		if (n >= 0) {
			on_answer(p, buf, (size_t)n);
			continue;
		}
		if (errno == EAGAIN || errno == EINTR)
			return;
		on_error(p, errno);
	}
}

/* --- probes ------------------------------------------------------------------------ */

/* Of the bits set, the n-th */
static unsigned int nth_signal(uint16_t signals, unsigned int n)
{
	unsigned int t;

	for (t = 0; t < CSIG_SIGNALS; t++)
		if (signals >> t & 1 && !n--)
			break;
	return t;
}

/* What came back last of the signal tells the other end of its path. */
static const struct csig_tag *told(const struct probe *p, unsigned int t,
				   uint64_t now)
{
	const struct probe_signal *s = &p->from[t];

	return s->known && now - s->time_ns < probe_fresh_ns(p) ? &s->tag : NULL;
}

static void send_probe(struct probe *p)
{
	uint64_t now = probe_now();
	struct csig_probe msg = {
		.t = (uint8_t)nth_signal(p->signals, p->seq % p->nsignals),
		.signals = p->signals,
		.session = p->session,
		.seq = p->seq,
		.time_ns = now,
	};
	unsigned int i = p->seq % PROBE_RING;
	uint8_t buf[CSIG_PROBE_LEN];
	int tries;

	settle(p, now);
	csig_probe_encode(&msg, told(p, msg.t, now), buf);
	p->ring[i].sent_ns = now;
	p->ring[i].answered = false;
	p->ring[i].lost = false;
	p->seq++;
	p->sent++;
	/* the first try may report what an earlier probe met */
	for (tries = 0; tries < 2; tries++) {
		if (send(p->fd, buf, sizeof(buf), 0) == sizeof(buf))
			return;
		on_error(p, errno);
	}
}

/* --- the loop ---------------------------------------------------------------------- */

static int wait_until(const struct probe *p, uint64_t when, const sigset_t *mask)
{
	struct pollfd pfd = { .fd = p->fd, .events = POLLIN };
	uint64_t now = probe_now();
	uint64_t left = when > now ? when - now : 0;
	const struct timespec ts = {
		.tv_sec = (time_t)(left / CSIG_NSEC_PER_SEC),
		.tv_nsec = (long)(left % CSIG_NSEC_PER_SEC),
	};
	int n = ppoll(&pfd, 1, &ts, mask);

	if (n < 0 && errno != EINTR)
		return fail("probe: %s", strerror(errno));
	return ST_OK;
}

static int loop(struct probe *p, const sigset_t *mask)
{
	uint64_t step = p->interval_ns / p->nsignals, next = probe_now();
	uint64_t round = 0, now, reopen = next + REOPEN_NS;
	int status = ST_OK;

	while (!interrupt_came() && !status && !ferror(stdout)) {
		now = probe_now();
		if (now >= next && p->seq / p->nsignals == p->count && p->count)
			break;
		if (now >= reopen) {
			probe_reopen(p);
			reopen = now + REOPEN_NS;
		}
		if (now >= next) {
			/* a machine that stood still does not catch up */
			next = now - next > p->interval_ns ? now + step :
							     next + step;
			if (p->seq && p->seq % p->nsignals == 0) {
				settle(p, now);
				probe_show_round(p, ++round);
			}
			send_probe(p);
		}
		status = wait_until(p, next, mask);
		receive(p);
	}
	/* answers of the last probes */
	next = probe_now() + lost_ns(p);
	while (!interrupt_came() && !status && p->answered + p->lost < p->sent &&
	       probe_now() < next) {
		status = wait_until(p, next, mask);
		receive(p);
		settle(p, probe_now());
	}
	if (p->seq % p->nsignals == 0 && p->seq / p->nsignals > round)
		probe_show_round(p, ++round);
	return status;
}

static int run(struct probe *p)
{
	struct interrupt held;
	int status;

	interrupt_hold(&held);
	probe_show_begin(p, isatty(STDOUT_FILENO) && !opt.json);
	status = loop(p, &held.mask);
	probe_show_end(p);
	interrupt_release(&held);
	if (!status && !p->answered)
		status = p->refused ?
			fail("nobody answers at %s, UDP port %u: %s; there: csigctl reflect",
			     p->dst, p->port, strerror(p->errno_seen)) :
			fail("nobody answers at %s, UDP port %u; there: csigctl host enable, csigctl reflect",
			     p->dst, p->port);
	return status;
}

/* Seconds as ping takes them, or with a unit */
static int parse_interval(const char *text, uint64_t *ns)
{
	char buf[40];

	if (!parse_time(text, ns))
		return 0;
	snprintf(buf, sizeof(buf), "%ss", text);
	return strlen(text) > 30 ? -1 : parse_time(buf, ns);
}

static int parse(struct args *a, struct probe *p, const char **signals,
		 const char **names)
{
	bool count = false, interval = false, port = false;
	const char *v, *format = NULL;
	unsigned int f;
	uint64_t n;

	while (a->argc) {
		if (arg_is(a, "-4") || arg_is(a, "-6")) {
			p->family = a->argv[-1][1] == '4' ? AF_INET : AF_INET6;
		} else if (arg_is(a, "-c") || arg_is(a, "count")) {
			if (arg_once(a, "-c", &count) || arg_value(a, "-c", &v))
				return ST_USAGE;
			if (parse_uint(v, UINT32_MAX / CSIG_SIGNALS, &p->count) ||
			    !p->count)
				return usage(a, "count \"%s\" is not a number from 1 on",
					     v);
		} else if (arg_is(a, "-i") || arg_is(a, "interval")) {
			if (arg_once(a, "-i", &interval) || arg_value(a, "-i", &v))
				return ST_USAGE;
			if (parse_interval(v, &p->interval_ns) ||
			    p->interval_ns < INTERVAL_MIN_NS ||
			    p->interval_ns > 3600 * CSIG_NSEC_PER_SEC)
				return usage(a, "interval \"%s\" is not a time from 10ms to 3600s",
					     v);
		} else if (arg_is(a, "port")) {
			if (arg_once(a, "port", &port) || arg_value(a, "port", &v))
				return ST_USAGE;
			if (parse_uint(v, 65535, &n) || !n)
				return usage(a, "port \"%s\" is not a number from 1 to 65535",
					     v);
			p->port = (uint16_t)n;
		} else if (!format && arg_is(a, "format")) {
			if (arg_value(a, "format", &format))
				return ST_USAGE;
			if (parse_word(format, format_words,
				       ARRAY_SIZE(format_words), &f))
				return usage(a, "format \"%s\" is not compact or expanded",
					     format);
			p->formats = (uint8_t)(1U << f);
		} else if (!*signals && arg_is(a, "signals")) {
			if (arg_value(a, "signals", signals))
				return ST_USAGE;
		} else if (!*names && arg_is(a, "names")) {
			if (arg_value(a, "names", names))
				return ST_USAGE;
		} else if (!p->name && a->argv[0][0] != '-') {
			p->name = arg_next(a);
		} else {
			return arg_unknown(a);
		}
	}
	return p->name ? ST_OK : usage(a, "the destination is missing");
}

int do_probe(struct args *a)
{
	const char *signals = NULL, *names = NULL;
	struct domain d;
	struct probe *p;
	int status;

	if (arg_wants_help(a)) {
		fputs(help, stdout);
		return ST_OK;
	}
	p = calloc(1, sizeof(*p));
	if (!p || getrandom(&p->session, sizeof(p->session), 0) < 0) {
		free(p);
		return fail("probe: %s", strerror(errno));
	}
	p->fd = -1;
	p->port = CSIG_PROBE_PORT;
	p->interval_ns = INTERVAL_NS;
	status = parse(a, p, &signals, &names);
	if (!status)
		status = names_read(names ? names : NAMES_DEFAULT, !names);
	if (!status)
		status = domain_get(&d);
	if (!status) {
		p->profile = d.profile;
		status = probe_open(p, a, signals);
	}
	if (!status)
		status = run(p);
	probe_close(p);
	names_free();
	free(p);
	return status;
}
