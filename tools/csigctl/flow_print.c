// SPDX-License-Identifier: GPL-2.0
/*
 * One flow as text or JSON: who talks to whom, what the path told, what was counted.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include <csig/reflect.h>

#include "cgroup.h"
#include "decode.h"
#include "flow.h"
#include "output.h"
#include "profile.h"

/* A value is stale when it is older than both. */
#define STALE_NS	CSIG_NSEC_PER_SEC
#define STALE_RTTS	8

static const char *const tcp_states[] = {
	"none", "established", "syn-sent", "syn-recv", "fin-wait-1",
	"fin-wait-2", "time-wait", "closed", "close-wait", "last-ack",
	"listen", "closing", "syn-recv",
};

static const char *const negotiation_words[] = {
	[CSIG_FLOW_OFF] = "off",
	[CSIG_FLOW_ASKED] = "asked",
	[CSIG_FLOW_ON] = "on",
	[CSIG_FLOW_UDP] = "application",
	[CSIG_FLOW_UNSURE] = "unsure",
};

static const char *const path_words[] = {
	[CSIG_PATH_UNKNOWN] = "unknown",
	[CSIG_PATH_CAPABLE] = "capable",
	[CSIG_PATH_STRIPS] = "strips",
	[CSIG_PATH_DROPS] = "drops",
};

static bool is_ipv4(const struct csig_address *a)
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(a->octets, prefix, sizeof(prefix));
}

static void print_address(const char *key, const char *port_key,
			  const struct csig_address *a, unsigned int port)
{
	char text[INET6_ADDRSTRLEN];
	bool ip4 = is_ipv4(a);

	inet_ntop(ip4 ? AF_INET : AF_INET6, a->octets + (ip4 ? 12 : 0), text,
		  sizeof(text));
	out_str(key, ip4 ? "%s" : "[%s]", text);
	out_u64(port_key, ":%" PRIu64, port);
}

static void print_ends(const struct csig_flow_record *h)
{
	bool connected = h->dport;

	out_str("protocol", "%s ", h->protocol == IPPROTO_TCP ? "tcp" : "udp");
	print_address("src", "sport", &h->src, h->sport);
	if (connected) {
		out_text(" > ");
		print_address("dst", "dport", &h->dst, h->dport);
	} else {
		out_null("dst", " > *");
		out_null("dport", NULL);
	}
	if (h->protocol == IPPROTO_TCP)
		out_str("tcp_state", " %s", WORD(tcp_states, h->tcp_state));
	else
		out_null("tcp_state", NULL);
}

static void print_cgroup(uint64_t id)
{
	const char *path = cgroup_path(id);

	out_u64("cgroup_id", NULL, id);
	if (path)
		out_str("cgroup", strcmp(path, "/") ? " cgroup %s" : NULL,
			path);
	else
		out_null("cgroup", NULL);
}

static void print_tcp(const struct csig_flow_record *h)
{
	static const char *const keys[] = {
		"rtt_ns", "cwnd_packets", "mss_bytes", "acked_bytes",
		"received_bytes", "retransmissions",
	};
	size_t i;

	if (h->protocol != IPPROTO_TCP) {
		for (i = 0; i < ARRAY_SIZE(keys); i++)
			out_null(keys[i], NULL);
		return;
	}
	if (h->srtt_us)
		out_time("rtt_ns", " rtt %s", h->srtt_us * 1000ULL);
	else
		out_null("rtt_ns", NULL);
	out_u64("cwnd_packets", " cwnd %" PRIu64, h->cwnd);
	out_u64("mss_bytes", NULL, h->mss);
	out_u64("acked_bytes", NULL, h->bytes_acked);
	out_u64("received_bytes", NULL, h->bytes_received);
	out_u64("retransmissions", h->retrans ? " retrans %" PRIu64 : NULL,
		h->retrans);
}

static void print_negotiation(const struct csig_flow *f)
{
	bool on = f->state == CSIG_FLOW_ON;

	out_str("negotiation", "\n    csig %s", WORD(negotiation_words, f->state));
	out_open_array("formats");
	if (on && f->peer_flags & CSIG_OPT_COMPACT)
		out_str(NULL, " %s", "compact");
	if (on && f->peer_flags & CSIG_OPT_EXPANDED)
		out_str(NULL, " %s", "expanded");
	out_close_array();
	if (on)
		out_bool("reflects", NULL, f->peer_flags & CSIG_OPT_REFLECTS);
	else
		out_null("reflects", NULL);
	out_str("path", "  path %s", WORD(path_words, f->path));
	if (f->tx_tagged)
		out_str("format", "  sends %s", WORD(format_words, f->format));
	else
		out_null("format", NULL);
	out_u64("tag_room_bytes", NULL, f->mss_less);
}

/* The keys of print_tag() for a signal that was asked for and did not come back */
static void print_unknown(const struct csig_profile *p, unsigned int t)
{
	static const char *const keys[] = {
		"s", "value_min", "value_max", "unit", "r", "lm", "lm_fields",
		"bottleneck",
	};
	const struct csig_signal *s = &p->signals[t];
	size_t i;

	out_open_object(NULL);
	out_null("age_ns", "\n    out unknown:");
	out_null("stale", NULL);
	out_null("format", NULL);
	out_u64("t", " T%" PRIu64, t);
	if (s->defined)
		out_str("signal", " %s", signal_name(s));
	else
		out_null("signal", " undefined");
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		out_null(keys[i], NULL);
	out_close_object();
}

static void print_value(const struct csig_profile *p,
			const struct csig_flow_record *h, unsigned int t,
			const struct csig_flow_value *v, const char *how)
{
	uint64_t age = h->now_ns > v->time_ns ? h->now_ns - v->time_ns : 0;
	bool stale = age > STALE_NS && age > STALE_RTTS * 1000ULL * h->srtt_us;
	struct csig_tag tag;
	uint8_t data[6];
	int i;

	tag.format = v->word & CSIG_BPF_WORD_EXPANDED ? CSIG_FORMAT_EXPANDED :
							CSIG_FORMAT_COMPACT;
	if (tag.format == CSIG_FORMAT_COMPACT)
		csig_put16(data, (uint16_t)v->word);
	else
		for (i = 0; i < 6; i++)
			data[i] = (uint8_t)(v->word >> (40 - 8 * i));
	csig_decode(tag.format, data, &tag);
	tag.t = (uint8_t)t;
	out_open_object(NULL);
	out_text("%s", how);
	out_time("age_ns", stale ? " %s ago, STALE" : " %s ago", age);
	out_text(":");
	if (opt.json)
		out_bool("stale", NULL, stale);
	print_tag(p, &tag);
	out_close_object();
}

static void print_signals(const struct csig_profile *p,
			  const struct flow_entry *e, uint16_t signals)
{
	const struct csig_flow *f = &e->flow;
	unsigned int t;

	if (f->state != CSIG_FLOW_ON && f->state != CSIG_FLOW_UDP)
		signals = 0;
	out_open_array("signals");
	for (t = 0; t < CSIG_SIGNALS; t++) {
		if (f->reflected[t].word & CSIG_BPF_WORD_VALID)
			print_value(p, &e->head, t, &f->reflected[t],
				    "\n    out");
		else if (signals >> t & 1)
			print_unknown(p, t);
	}
	out_close_array();
	out_open_array("received");
	for (t = 0; t < CSIG_SIGNALS; t++)
		if (f->received[t].word & CSIG_BPF_WORD_VALID)
			print_value(p, &e->head, t, &f->received[t],
				    "\n    in ");
	out_close_array();
}

static void print_counters(const struct csig_flow *f)
{
	const struct {
		const char *key, *text;
		uint64_t v;
	} counters[] = {
		{ "packets", NULL, f->tx_packets },
		{ "tagged", "tagged", f->tx_tagged },
		{ "unanswered", "unanswered", f->tx_unanswered },
		{ "skipped_mtu", "skipped-mtu", f->tx_skipped },
		{ "reflections_in", "reflections-in", f->reflections_in },
		{ "no_signal_in", "no-signal-in", f->no_signal_in },
		{ "malformed_in", "malformed-in", f->malformed_in },
		{ "received_tagged", "received-tagged", f->rx_tagged },
		{ "reflections_out", "reflections-out", f->reflections_out },
		{ "no_signal_out", "no-signal-out", f->no_signal_out },
		{ "no_room", "no-room", f->no_room },
		{ "silent_timeouts", "silent-timeouts", f->rto_silent },
	};
	bool first = true;
	size_t i;

	out_open_object("stats");
	for (i = 0; i < ARRAY_SIZE(counters); i++) {
		if (counters[i].text && counters[i].v) {
			out_text("%s%s", first ? "\n    " : "  ",
				 counters[i].text);
			first = false;
		}
		out_u64(counters[i].key, counters[i].text && counters[i].v ?
			" %" PRIu64 : NULL, counters[i].v);
	}
	out_close_object();
}

void print_flow(const struct csig_profile *p, const struct flow_entry *e,
		uint16_t signals)
{
	const struct csig_flow_record *h = &e->head;
	const struct csig_flow *f = &e->flow;

	out_open_object(NULL);
	print_ends(h);
	print_tcp(h);
	if (h->cookie)
		out_u64("cookie", NULL, h->cookie);
	else
		out_null("cookie", NULL);
	print_cgroup(h->cgroup_id);
	if (f->established_ns && h->now_ns > f->established_ns)
		out_u64("age_ns", NULL, h->now_ns - f->established_ns);
	else
		out_null("age_ns", NULL);
	print_negotiation(f);
	print_signals(p, e, signals);
	print_counters(f);
	out_text("\n");
	out_close_object();
}
