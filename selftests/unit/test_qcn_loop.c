// SPDX-License-Identifier: GPL-2.0
/*
 * The loop of QCN closed: saturating sources with a reaction point each, one port with a
 * congestion point, frame by frame.  Checks the bands of the specification; there are no
 * octets of frames here, CNMs are numbers that take their time.
 */
#include <csig/qcn_pace.h>
#include <csig/qcn_rp.h>
#include <string.h>

#include "ktap.h"

#define SOURCES_MAX	4
#define FRAME		1514
#define DELAY_NS	25000ULL	/* each way */
#define CNMS_MAX	64		/* on their way to one source */
#define QUEUE_MAX	4096
#define MS		1000000ULL
#define SEC		CSIG_NSEC_PER_SEC
#define NEVER		CSIG_U64_MAX

struct source {
	struct qcn_rp rp;
	struct qcn_pace pace;
	__u64 timer_ns;
	__u64 start_ns;
	__u64 cnm_ns[CNMS_MAX];
	__u8 cnm_fb[CNMS_MAX];
	unsigned int cnm_head, cnm_tail;
	__u64 frames;		/* that went through the port */
};

static struct loop {
	struct qcn_rp_params rpp;
	struct qcn_cp_params cpp;
	struct qcn_cp cp;
	struct source s[SOURCES_MAX];
	unsigned int sources;
	bool qcn;
	__u64 port_bps;
	/* the port: a queue of sources, and when the frame being sent is out */
	__u8 queue[QUEUE_MAX];
	unsigned int head, tail;
	__u32 q_bytes, limit_bytes;
	__u64 busy_ns;
	unsigned int serving;
	/* since measuring began */
	__u64 since_ns, q_ns, sent, dropped, cnms;
	__u64 q_at_ns;
	__u64 histogram[256];	/* ns with a queue of so many KiB */
} l;

/* Scaled from 10 Gbit/s: rates are shares of the line, T * C / (8 * BC) is 12.5. */
static void setup(unsigned int sources, __u64 line_bps, bool qcn)
{
	unsigned int i;

	memset(&l, 0, sizeof(l));
	qcn_rp_defaults(&l.rpp, line_bps);
	l.rpp.ai_bps = line_bps / 2000;
	l.rpp.hai_bps = line_bps / 200;
	l.rpp.min_bps = line_bps / 2000;
	l.rpp.timer_ns = 15000000 * SEC / line_bps;
	CHECK(qcn_rp_valid(&l.rpp), "settings");
	qcn_cp_defaults(&l.cpp);
	qcn_cp_init(&l.cp, &l.cpp);
	l.qcn = qcn;
	l.sources = sources;
	l.port_bps = line_bps;
	l.limit_bytes = 6 * l.cpp.qeq_bytes;
	l.busy_ns = NEVER;
	for (i = 0; i < sources; i++) {
		qcn_rp_init(&l.s[i].rp, &l.rpp);
		qcn_pace_init(&l.s[i].pace, line_bps, QCN_CATCHUP_DEF_NS,
			      rnd_below(MS));
		l.s[i].timer_ns = NEVER;
	}
}

static void note_queue(__u64 now)
{
	unsigned int kib = l.q_bytes >> 10;

	l.q_ns += (now - l.q_at_ns) * l.q_bytes;
	l.histogram[kib < 255 ? kib : 255] += now - l.q_at_ns;
	l.q_at_ns = now;
}

static void measure_from(__u64 now)
{
	unsigned int i;

	l.since_ns = now;
	l.q_at_ns = now;
	l.q_ns = 0;
	l.sent = 0;
	l.dropped = 0;
	l.cnms = 0;
	memset(l.histogram, 0, sizeof(l.histogram));
	for (i = 0; i < l.sources; i++)
		l.s[i].frames = 0;
}

static void serve(__u64 now)
{
	if (l.head == l.tail) {
		l.busy_ns = NEVER;
		return;
	}
	note_queue(now);
	l.serving = l.queue[l.head++ % QUEUE_MAX];
	l.q_bytes -= FRAME;
	l.busy_ns = now + qcn_wire_bytes(FRAME, 1, false) * 8 * SEC / l.port_bps;
}

static void enqueue(unsigned int from, __u64 now)
{
	struct source *s = &l.s[from];
	struct qcn_sample sample;
	bool due = qcn_cp_count(&l.cp, FRAME);

	if (l.q_bytes + FRAME > l.limit_bytes) {
		l.dropped++;
		return;
	}
	note_queue(now);
	l.q_bytes += FRAME;
	l.queue[l.tail++ % QUEUE_MAX] = from;
	if (l.qcn && due) {
		qcn_cp_sample(&l.cp, &l.cpp, l.q_bytes, rnd() >> 32, &sample);
		if (sample.qntzfb) {
			l.cnms++;
			s->cnm_ns[s->cnm_tail % CNMS_MAX] = now + DELAY_NS;
			s->cnm_fb[s->cnm_tail++ % CNMS_MAX] = sample.qntzfb;
		}
	}
	if (l.busy_ns == NEVER)
		serve(now);
}

static __u64 cnm_time(const struct source *s)
{
	return s->cnm_head == s->cnm_tail ? NEVER :
					    s->cnm_ns[s->cnm_head % CNMS_MAX];
}

static void source_event(struct source *s, unsigned int i, __u64 now)
{
	__u32 wire = qcn_wire_bytes(FRAME, 1, false);

	if (cnm_time(s) <= now) {
		if (qcn_rp_cnm(&s->rp, &l.rpp, s->cnm_fb[s->cnm_head++ % CNMS_MAX]))
			s->timer_ns = now + qcn_rp_timer_ns(&s->rp, &l.rpp, rnd() >> 32);
		qcn_pace_rate(&s->pace, s->rp.cr_bps);
	} else if (s->timer_ns <= now) {
		qcn_rp_time_stage(&s->rp, &l.rpp);
		s->timer_ns = now + qcn_rp_timer_ns(&s->rp, &l.rpp, rnd() >> 32);
		qcn_pace_rate(&s->pace, s->rp.cr_bps);
	} else {
		qcn_pace_send(&s->pace, wire, now);
		if (qcn_rp_sent(&s->rp, wire)) {
			qcn_rp_byte_stage(&s->rp, &l.rpp, rnd() >> 32);
			qcn_pace_rate(&s->pace, s->rp.cr_bps);
		}
		enqueue(i, now + DELAY_NS);
	}
	CHECK(s->rp.cr_bps >= l.rpp.min_bps && s->rp.cr_bps <= l.rpp.line_bps,
	      "CR %llu", (unsigned long long)s->rp.cr_bps);
}

/* One after the other, in time; the way to the port takes as long for all. */
static void run(__u64 until)
{
	__u64 next, t;
	unsigned int i, who;

	for (;;) {
		next = l.busy_ns == NEVER ? NEVER : l.busy_ns - DELAY_NS;
		who = SOURCES_MAX;
		for (i = 0; i < l.sources; i++) {
			t = cnm_time(&l.s[i]);
			if (l.s[i].timer_ns < t)
				t = l.s[i].timer_ns;
			if (l.s[i].pace.next_ns < t)
				t = l.s[i].pace.next_ns;
			if (t < next) {
				next = t;
				who = i;
			}
		}
		if (next >= until)
			return;
		if (who < SOURCES_MAX) {
			source_event(&l.s[who], who, next);
			continue;
		}
		l.sent++;
		l.s[l.serving].frames++;
		serve(l.busy_ns);
	}
}

struct result {
	double utilisation, mean_qeq, p99_qeq, jain, cnm_share;
};

static struct result result(__u64 now)
{
	double sum = 0, squares = 0, ns = now - l.since_ns, tail = 0;
	struct result r;
	unsigned int i;

	note_queue(now);
	for (i = 0; i < l.sources; i++) {
		sum += l.s[i].frames;
		squares += (double)l.s[i].frames * l.s[i].frames;
	}
	for (i = 255; i && tail + l.histogram[i] < ns / 100; i--)
		tail += l.histogram[i];
	r.utilisation = l.sent * 8.0 * qcn_wire_bytes(FRAME, 1, false) /
			(l.port_bps * (ns / SEC));
	r.mean_qeq = l.q_ns / ns / l.cpp.qeq_bytes;
	r.p99_qeq = (i + 1) * 1024.0 / l.cpp.qeq_bytes;
	r.jain = sum * sum / (l.sources * squares);
	r.cnm_share = l.cnms / (double)l.sent;
	return r;
}

/* CNMs are few: the slower the line, the longer it takes until shares even out. */
static void bands(void)
{
	static const struct {
		__u64 line_bps, seconds;
	} rows[] = { { 100000000, 100 }, { 500000000, 10 } };
	unsigned int i, n;
	struct result r;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (n = 2; n <= SOURCES_MAX; n++) {
			setup(n, rows[i].line_bps, true);
			run(5 * SEC);
			measure_from(5 * SEC);
			run((5 + rows[i].seconds) * SEC);
			r = result((5 + rows[i].seconds) * SEC);
			CHECK(r.utilisation >= 0.97, "utilisation %f", r.utilisation);
			CHECK(r.mean_qeq >= 0.7 && r.mean_qeq <= 1.3,
			      "mean queue of %f Qeq", r.mean_qeq);
			CHECK(r.p99_qeq < 2, "99 %% of time below %f Qeq", r.p99_qeq);
			CHECK(r.jain >= 0.95, "Jain index %f", r.jain);
			CHECK(r.cnm_share <= 0.01, "CNM share %f", r.cnm_share);
			CHECK_EQ(l.dropped, 0U, "drops");
		}
	}
}

/* A port at half the speed opens again, then has room for all. */
static void recovery(void)
{
	__u64 line = 100000000, now = 5 * SEC, opened, step;
	unsigned int n, i;

	for (n = 1; n <= SOURCES_MAX; n++) {
		setup(n, line, true);
		step = l.rpp.timer_ns / 10;
		run(now = 5 * SEC);
		l.port_bps = line / 2;
		run(now += 10 * SEC);
		for (i = 0; i < n; i++)
			CHECK(l.s[i].rp.active && l.s[i].rp.cr_bps < line * 3 / 4,
			      "source %u of %u", i, n);
		l.port_bps = line;
		opened = now;
		do {
			measure_from(now);
			run(now += step);
		} while (result(now).utilisation < 0.95 && now < opened + 60 * SEC);
		CHECK(now - opened <= 10 * l.rpp.timer_ns, "%u sources: %llu ms", n,
		      (unsigned long long)((now - opened) / MS));

		l.port_bps = line * (n + 1);
		run(now + 30 * SEC);
		for (i = 0; i < n; i++)
			CHECK(qcn_rp_done(&l.s[i].rp, &l.rpp, true),
			      "source %u of %u at %llu", i, n,
			      (unsigned long long)l.s[i].rp.cr_bps);
	}
}

static void without(void)
{
	struct result r;

	setup(4, 100000000, false);
	run(SEC);
	measure_from(SEC);
	run(11 * SEC);
	r = result(11 * SEC);
	CHECK(r.mean_qeq > 5.5, "mean queue of %f Qeq", r.mean_qeq);
	CHECK(l.dropped > l.sent, "%llu drops", (unsigned long long)l.dropped);
	CHECK_EQ(l.cnms, 0U, "CNMs");
}

const struct test tests_qcn_loop[] = {
	{ "qcn loop: bands of the specification", bands },
	{ "qcn loop: recovery and release", recovery },
	{ "qcn loop: without QCN the queue stands at its limit", without },
	{}
};
