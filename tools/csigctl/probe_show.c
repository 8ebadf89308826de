// SPDX-License-Identifier: GPL-2.0
/*
 * What csigctl probe shows: a screen that is drawn again and again on a terminal, lines
 * elsewhere, or an object a line with -j.  What is not known, or old, is unknown.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "decode.h"
#include "output.h"
#include "probe.h"

#define HOME	"\033[H"
#define CLEAR	"\033[2J"
#define LINE	"\033[K\n"	/* clears the rest of the line */
#define BELOW	"\033[J"
#define NOTE_SIZE	256
#define NOTES_MAX	6

static bool screen;

static const char *const directions[2] = { "forward", "reverse" };

static const struct probe_signal *row(const struct probe *p, bool back,
				      unsigned int t)
{
	return back ? &p->from[t] : &p->to[t];
}

static uint64_t age_of(const struct probe_signal *s)
{
	uint64_t now = probe_now();

	return now > s->time_ns ? now - s->time_ns : 0;
}

static bool is_fresh(const struct probe *p, const struct probe_signal *s)
{
	return s->known && age_of(s) < probe_fresh_ns(p);
}

/* Rounded, in a buffer that rotates */
static const char *time_text(uint64_t ns)
{
	static char bufs[4][24];
	static unsigned int i;
	char *buf = bufs[i++ % ARRAY_SIZE(bufs)];

	if (ns >= 10 * CSIG_NSEC_PER_SEC)
		snprintf(buf, sizeof(bufs[0]), "%" PRIu64 "s", ns / 1000000000);
	else if (ns >= CSIG_NSEC_PER_SEC)
		snprintf(buf, sizeof(bufs[0]), "%.1fs", (double)ns / 1e9);
	else if (ns >= 10000000)
		snprintf(buf, sizeof(bufs[0]), "%" PRIu64 "ms", ns / 1000000);
	else
		snprintf(buf, sizeof(bufs[0]), "%.2fms", (double)ns / 1e6);
	return buf;
}

static uint64_t lost_ppm(const struct probe *p)
{
	uint64_t done = p->answered + p->lost;

	return done ? p->lost * 1000000 / done : 0;
}

/* --- what is wrong ---------------------------------------------------------------- */

__attribute__((format(printf, 3, 4)))
static void note(char (*notes)[NOTE_SIZE], unsigned int *n, const char *fmt, ...)
{
	va_list ap;

	if (*n == NOTES_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(notes[(*n)++], NOTE_SIZE, fmt, ap);
	va_end(ap);
}

static unsigned int find_notes(const struct probe *p,
			       char (*notes)[NOTE_SIZE])
{
	/* enough to say that it is no accident */
	uint64_t enough = 2 * p->nsignals + 1;
	uint64_t sent = p->sent - p->since;
	unsigned int n = 0;

	if (p->disabled) {
		note(notes, &n, "this host was disabled, nothing is known until: csigctl host enable dev %s",
		     p->dev);
		return n;
	}
	if (p->refused)
		note(notes, &n, "%s: %s; if nobody listens there: csigctl reflect",
		     p->dst, strerror(p->errno_seen));
	else if (!p->answered && p->lost >= p->nsignals)
		note(notes, &n, "nobody answers at %s, UDP port %u; there: csigctl host enable, csigctl reflect",
		     p->dst, p->port);
	if (!p->answered)
		return n;
	if (!(p->flags & CSIG_PROBE_READS))
		note(notes, &n, "forward: %s does not see tags; there: csigctl host enable",
		     p->dst);
	else if (p->flags & CSIG_PROBE_BUSY)
		note(notes, &n, "forward: %s answers too many probers", p->dst);
	else if (!p->flow.tx_tagged && sent >= enough && p->flow.tx_skipped)
		note(notes, &n, "forward: probes leave without a tag, the frame has no room; see the MTU of %s",
		     p->dev);
	else if (!p->flow.tx_tagged && sent >= enough)
		note(notes, &n, "forward: probes leave without a tag; see: csigctl doctor");
	else if (p->silent >= enough)
		note(notes, &n, "forward: tags do not arrive: the path strips them");
	if (p->reverse_silent >= enough)
		note(notes, &n, "reverse: answers come without a tag: the path strips it, or %s is not enabled",
		     p->dst);
	return n;
}

/* --- rows ----------------------------------------------------------------------------- */

static const char *where_text(const struct probe *p, const struct csig_tag *tag,
			      char *buf, size_t size)
{
	if (tag_written(&p->profile, tag))
		return tag_place_text(&p->profile, tag, buf, size);
	snprintf(buf, size, "no port");
	return buf;
}

static void value_and_place(const struct probe *p, const struct probe_signal *s,
			    char *value, size_t vsize, char *place, size_t psize)
{
	if (!is_fresh(p, s)) {
		snprintf(value, vsize, "unknown");
		snprintf(place, psize, "-");
	} else if (tag_says_nothing(&p->profile, &s->tag)) {
		snprintf(value, vsize, "unknown");
		snprintf(place, psize, "no port measures");
	} else {
		tag_value_text(&p->profile, &s->tag, value, vsize);
		where_text(p, &s->tag, place, psize);
	}
}

static void print_row(const struct probe *p, bool back, unsigned int t,
		      const char *end)
{
	const struct probe_signal *s = row(p, back, t);
	char value[64], place[96];

	value_and_place(p, s, value, sizeof(value), place, sizeof(place));
	printf("  %-7s  %-10s  %-24s  %-20s  %s%s", directions[back],
	       signal_name(&p->profile.signals[t]), value, place,
	       s->known ? time_text(age_of(s)) : "-", end);
}

static void print_head(const struct probe *p, const char *end)
{
	printf("%s (%s) UDP port %u from %s dev %s, every %s%s", p->name, p->dst,
	       p->port, p->src, p->dev, time_text(p->interval_ns), end);
}

static void print_counts(const struct probe *p, const char *end)
{
	uint64_t ppm = lost_ppm(p);

	printf("sent %" PRIu64 "  answered %" PRIu64 "  lost %" PRIu64 ".%02" PRIu64
	       "%%", p->sent, p->answered, ppm / 10000, ppm / 100 % 100);
	if (p->answered)
		printf("  rtt %s  min %s  avg %s  max %s", time_text(p->rtt_ns),
		       time_text(p->rtt_min_ns),
		       time_text(p->rtt_sum_ns / p->answered),
		       time_text(p->rtt_max_ns));
	fputs(end, stdout);
}

static void print_table(const struct probe *p, const char *end)
{
	char notes[NOTES_MAX][NOTE_SIZE];
	unsigned int i, n, t, back;

	for (back = 0; back < 2; back++)
		for (t = 0; t < CSIG_SIGNALS; t++)
			if (p->signals >> t & 1)
				print_row(p, back, t, end);
	n = find_notes(p, notes);
	for (i = 0; i < n; i++)
		printf("  %s%s", notes[i], end);
}

/* --- JSON ----------------------------------------------------------------------------- */

static void json_counts(const struct probe *p)
{
	out_u64("sent", NULL, p->sent);
	out_u64("answered", NULL, p->answered);
	out_u64("lost", NULL, p->lost);
	out_u64("lost_ppm", NULL, lost_ppm(p));
	if (p->answered) {
		out_u64("rtt_ns", NULL, p->rtt_ns);
		out_u64("rtt_min_ns", NULL, p->rtt_min_ns);
		out_u64("rtt_avg_ns", NULL, p->rtt_sum_ns / p->answered);
		out_u64("rtt_max_ns", NULL, p->rtt_max_ns);
	} else {
		out_null("rtt_ns", NULL);
		out_null("rtt_min_ns", NULL);
		out_null("rtt_avg_ns", NULL);
		out_null("rtt_max_ns", NULL);
	}
}

static void json_head(const struct probe *p, const char *event)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	out_open_object(NULL);
	out_u64("time_ns", NULL, (uint64_t)now.tv_sec * CSIG_NSEC_PER_SEC +
				 (uint64_t)now.tv_nsec);
	out_str("event", NULL, event);
	out_str("dst", NULL, p->dst);
	out_u64("port", NULL, p->port);
	out_str("src", NULL, p->src);
	out_str("ifname", NULL, p->dev);
}

static void json_signal(const struct probe *p, bool back, unsigned int t)
{
	const struct probe_signal *s = row(p, back, t);
	bool known = is_fresh(p, s) && !tag_says_nothing(&p->profile, &s->tag);

	out_open_object(NULL);
	out_str("direction", NULL, directions[back]);
	out_bool("known", NULL, known);
	if (s->known)
		out_u64("age_ns", NULL, age_of(s));
	else
		out_null("age_ns", NULL);
	out_u64("values", NULL, s->values);
	if (known) {
		print_tag(&p->profile, &s->tag);
	} else {
		out_u64("t", NULL, t);
		out_str("signal", NULL, signal_name(&p->profile.signals[t]));
		out_null("value_min", NULL);
		out_null("value_max", NULL);
		out_null("bottleneck", NULL);
	}
	out_close_object();
}

static void json_state(const struct probe *p)
{
	char notes[NOTES_MAX][NOTE_SIZE];
	unsigned int i, n, t, back;

	json_counts(p);
	out_open_array("signals");
	for (back = 0; back < 2; back++)
		for (t = 0; t < CSIG_SIGNALS; t++)
			if (p->signals >> t & 1)
				json_signal(p, back, t);
	out_close_array();
	n = find_notes(p, notes);
	out_open_array("notes");
	for (i = 0; i < n; i++)
		out_str(NULL, NULL, notes[i]);
	out_close_array();
}

static void json_places(const struct probe *p)
{
	unsigned int t, back, i;
	char place[96];

	out_open_array("places");
	for (back = 0; back < 2; back++) {
		for (t = 0; t < CSIG_SIGNALS; t++) {
			const struct probe_signal *s = row(p, back, t);

			for (i = 0; i < PROBE_PLACES && s->places[i].n; i++) {
				out_open_object(NULL);
				out_str("direction", NULL, directions[back]);
				out_u64("t", NULL, t);
				out_u64("lm", NULL, s->places[i].tag.lm);
				out_str("place", NULL,
					where_text(p, &s->places[i].tag, place,
						   sizeof(place)));
				out_u64("values", NULL, s->places[i].n);
				out_close_object();
			}
		}
	}
	out_close_array();
}

/* --- the three ways ---------------------------------------------------------------- */

static void draw(const struct probe *p)
{
	fputs(HOME, stdout);
	print_head(p, LINE);
	print_counts(p, LINE LINE);
	printf("  %-7s  %-10s  %-24s  %-20s  %s" LINE, "", "signal", "value",
	       "bottleneck", "age");
	print_table(p, LINE);
	fputs(BELOW, stdout);
	fflush(stdout);
}

void probe_show_begin(const struct probe *p, bool live)
{
	screen = live;
	if (opt.json)
		return;
	if (screen) {
		fputs(CLEAR, stdout);
		draw(p);
	} else {
		print_head(p, "\n");
		fflush(stdout);
	}
}

void probe_show_round(const struct probe *p, uint64_t round)
{
	if (screen) {
		draw(p);
		return;
	}
	if (opt.json) {
		json_head(p, "round");
		out_u64("round", NULL, round);
		json_state(p);
		out_close_object();
	} else {
		printf("round %" PRIu64 "  ", round);
		print_counts(p, "\n");
		print_table(p, "\n");
	}
	fflush(stdout);
}

/* A bottleneck is somewhere else than before, or seen for the first time. */
void probe_show_change(const struct probe *p, bool back, unsigned int t)
{
	if (screen) {
		draw(p);
		return;
	}
	if (opt.json) {
		json_head(p, "moved");
		out_open_array("signals");
		json_signal(p, back, t);
		out_close_array();
		out_close_object();
	} else {
		fputs("moved\n", stdout);
		print_row(p, back, t, "\n");
	}
	fflush(stdout);
}

static void print_places(const struct probe *p, bool back, unsigned int t)
{
	const struct probe_signal *s = row(p, back, t);
	char place[96];
	unsigned int i;

	printf("  %-7s  %-10s  %6" PRIu64 " values", directions[back],
	       signal_name(&p->profile.signals[t]), s->values);
	for (i = 0; i < PROBE_PLACES && s->places[i].n; i++)
		printf("%s %s %" PRIu64 "%%", i ? "," : " ",
		       where_text(p, &s->places[i].tag, place, sizeof(place)),
		       (s->places[i].n * 100 + s->values / 2) / s->values);
	fputc('\n', stdout);
}

void probe_show_end(const struct probe *p)
{
	char notes[NOTES_MAX][NOTE_SIZE];
	unsigned int t, back, i, n;

	if (opt.json) {
		json_head(p, "summary");
		json_state(p);
		json_places(p);
		out_close_object();
		return;
	}
	if (screen)
		draw(p);
	printf("\nsummary of %s: ", p->name);
	print_counts(p, "\n");
	for (back = 0; back < 2; back++)
		for (t = 0; t < CSIG_SIGNALS; t++)
			if (p->signals >> t & 1)
				print_places(p, back, t);
	n = find_notes(p, notes);
	for (i = 0; i < n; i++)
		printf("  %s\n", notes[i]);
}
