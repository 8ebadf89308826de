// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl capture: tagged packets of a device or a file, one decoded line each.
 */
#include <arpa/inet.h>
#include <net/ethernet.h>
#include <pcap/pcap.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <csig/walk.h>

#include "csigctl.h"
#include "decode.h"
#include "names.h"
#include "nl.h"
#include "output.h"
#include "profile.h"

#define SNAPLEN		256
#define MPLS_MAX	16
#define IPV6_EXT_MAX	8
#define BUFFER_SIZE	(4 << 20)

static const char help[] =
	"Usage: csigctl capture { [ dev ] DEV | file FILE } [ count N ]\n"
	"                       [ direction { in | out } ] [ names FILE ]\n"
	"                       [ profile FILE ]\n"
	"where  count stops after N tagged packets,\n"
	"       names has lines FIELD=V[,FIELD=V...] NAME (" NAMES_DEFAULT "),\n"
	"       profile is what \"csigctl domain export\" wrote; without it the kernel's\n"
	"       profile is taken, or the default one when the module is not loaded.\n";

/**
 * struct request - the words
 * @dev: or @file
 * @count: 0 without limit
 * @direction: PCAP_D_*
 */
struct request {
	const char *dev, *file, *names, *profile;
	uint64_t count;
	pcap_direction_t direction;
	bool direction_given, count_given;
};

/* Counters of a capture */
struct capture {
	struct csig_profile profile;
	uint64_t packets, tagged, malformed, count;
	pcap_t *pcap;
};

static pcap_t *running;

static void on_signal(int sig)
{
	(void)sig;
	if (running)
		pcap_breakloop(running);
}

static int parse_request(struct args *a, struct request *r)
{
	const struct {
		const char *word;
		const char **value;
	} words[] = {
		{ "dev", &r->dev }, { "file", &r->file },
		{ "names", &r->names }, { "profile", &r->profile },
	};
	const char *v;
	size_t i;

	while (a->argc) {
		for (i = 0; i < ARRAY_SIZE(words); i++)
			if (arg_is(a, words[i].word))
				break;
		if (i < ARRAY_SIZE(words)) {
			if (*words[i].value)
				return usage(a, "\"%s\" is given twice",
					     words[i].word);
			if (arg_value(a, words[i].word, words[i].value))
				return ST_USAGE;
		} else if (arg_is(a, "count")) {
			if (arg_once(a, "count", &r->count_given) ||
			    arg_value(a, "count", &v))
				return ST_USAGE;
			if (parse_uint(v, UINT64_MAX, &r->count) || !r->count)
				return usage(a, "count \"%s\" is not a number from 1 on",
					     v);
		} else if (arg_is(a, "direction")) {
			if (arg_once(a, "direction", &r->direction_given) ||
			    arg_value(a, "direction", &v))
				return ST_USAGE;
			if (strcmp(v, "in") && strcmp(v, "out"))
				return usage(a, "direction \"%s\" is not in or out",
					     v);
			r->direction = *v == 'i' ? PCAP_D_IN : PCAP_D_OUT;
		} else if (!r->dev && !r->file) {
			r->dev = arg_next(a);	/* "dev" may be left out */
		} else {
			return arg_unknown(a);
		}
	}
	if (!r->dev == !r->file)
		return usage(a, r->dev ? "\"dev\" and \"file\" exclude each other" :
					 "\"dev\" is missing");
	if (r->file && r->direction_given)
		return usage(a, "\"direction\" needs a device");
	return ST_OK;
}

static int get_profile(const struct request *r, struct csig_profile *p)
{
	struct domain d;
	int status;

	if (r->profile)
		return profile_read(r->profile, p);
	if (csig_loaded()) {
		status = domain_get(&d);
		*p = d.profile;
		return status;
	}
	warn("the csig module is not loaded: tags are read with the default profile");
	csig_profile_preset(p, CSIG_PRESET_DEFAULT);
	return ST_OK;
}

static pcap_t *open_file(const char *path)
{
	char err[PCAP_ERRBUF_SIZE];
	pcap_t *pcap;

	pcap = pcap_open_offline_with_tstamp_precision(path,
						       PCAP_TSTAMP_PRECISION_NANO,
						       err);
	if (!pcap && !strncmp(err, path, strlen(path)))
		fail("%s", err);	/* libpcap names the file, or does not */
	else if (!pcap)
		fail("%s: %s", path, err);
	return pcap;
}

static pcap_t *open_dev(const struct request *r)
{
	char err[PCAP_ERRBUF_SIZE] = "";
	pcap_t *pcap = pcap_create(r->dev, err);
	const char *what, *why;
	int status;

	if (!pcap) {
		fail("%s: %s", r->dev, err);
		return NULL;
	}
	pcap_set_snaplen(pcap, SNAPLEN);
	pcap_set_promisc(pcap, 1);
	pcap_set_immediate_mode(pcap, 1);
	pcap_set_buffer_size(pcap, BUFFER_SIZE);
	pcap_set_tstamp_precision(pcap, PCAP_TSTAMP_PRECISION_NANO);
	status = pcap_activate(pcap);
	if (status < 0) {
		what = pcap_statustostr(status);
		why = pcap_geterr(pcap);
		if (!strcmp(what, why))
			why = "";
		fail("%s: %s%s%s", r->dev, what, *why ? ": " : "", why);
		pcap_close(pcap);
		return NULL;
	}
	if (r->direction_given && pcap_setdirection(pcap, r->direction)) {
		fail("%s: %s", r->dev, pcap_geterr(pcap));
		pcap_close(pcap);
		return NULL;
	}
	return pcap;
}

static void print_time(const struct timeval *tv, bool nano)
{
	uint64_t ns = (uint64_t)tv->tv_usec * (nano ? 1 : 1000);
	char text[16];
	struct tm tm;

	if (opt.json) {
		out_u64("time_ns", NULL,
			(uint64_t)tv->tv_sec * CSIG_NSEC_PER_SEC + ns);
		return;
	}
	localtime_r(&tv->tv_sec, &tm);
	strftime(text, sizeof(text), "%H:%M:%S", &tm);
	out_text("%s.%09" PRIu64, text, ns);
}

/**
 * struct addrs - who talks to whom
 * @src: text
 * @dst: text
 * @proto: of IP, -1 when it is not IP
 * @sport: -1 without ports
 * @dport: likewise
 */
struct addrs {
	char src[INET6_ADDRSTRLEN];
	char dst[INET6_ADDRSTRLEN];
	int proto, sport, dport;
};

static void get_ports(struct addrs *a, const uint8_t *l4, size_t len)
{
	bool ports = a->proto == IPPROTO_TCP || a->proto == IPPROTO_UDP ||
		     a->proto == IPPROTO_SCTP || a->proto == IPPROTO_UDPLITE ||
		     a->proto == IPPROTO_DCCP;

	if (!ports || len < 4)
		return;
	a->sport = csig_get16(l4);
	a->dport = csig_get16(l4 + 2);
}

static void get_ipv4(struct addrs *a, const uint8_t *ip, size_t len)
{
	size_t ihl;

	if (len < 20 || ip[0] >> 4 != 4)
		return;
	inet_ntop(AF_INET, ip + 12, a->src, sizeof(a->src));
	inet_ntop(AF_INET, ip + 16, a->dst, sizeof(a->dst));
	a->proto = ip[9];
	ihl = (size_t)(ip[0] & 0xf) * 4;
	if (ihl >= 20 && ihl <= len && !(csig_get16(ip + 6) & 0x1fff))
		get_ports(a, ip + ihl, len - ihl);
}

static void get_ipv6(struct addrs *a, const uint8_t *ip, size_t len)
{
	size_t off = 40;
	unsigned int i;

	if (len < off || ip[0] >> 4 != 6)
		return;
	inet_ntop(AF_INET6, ip + 8, a->src, sizeof(a->src));
	inet_ntop(AF_INET6, ip + 24, a->dst, sizeof(a->dst));
	a->proto = ip[6];
	for (i = 0; i < IPV6_EXT_MAX && off + 8 <= len; i++) {
		bool fragment = a->proto == IPPROTO_FRAGMENT;

		if (a->proto != IPPROTO_HOPOPTS &&
		    a->proto != IPPROTO_ROUTING &&
		    a->proto != IPPROTO_DSTOPTS && !fragment)
			break;
		if (fragment && csig_get16(ip + off + 2) & 0xfff8)
			return;
		a->proto = ip[off];
		off += fragment ? 8 : ((size_t)ip[off + 1] + 1) * 8;
	}
	if (off < len)
		get_ports(a, ip + off, len - off);
}

static void get_addrs(struct addrs *a, const uint8_t *frame, size_t len,
		      uint16_t type, size_t off)
{
	unsigned int i;

	a->proto = -1;
	a->sport = -1;
	a->dport = -1;
	snprintf(a->src, sizeof(a->src), "%02x:%02x:%02x:%02x:%02x:%02x",
		 frame[6], frame[7], frame[8], frame[9], frame[10], frame[11]);
	snprintf(a->dst, sizeof(a->dst), "%02x:%02x:%02x:%02x:%02x:%02x",
		 frame[0], frame[1], frame[2], frame[3], frame[4], frame[5]);
	if (type == CSIG_ETH_MPLS_UC || type == CSIG_ETH_MPLS_MC) {
		bool bottom = false;

		for (i = 0; i < MPLS_MAX && !bottom && off + 4 <= len; i++) {
			bottom = frame[off + 2] & 1;
			off += 4;
		}
		if (!bottom || off >= len)
			return;
		type = frame[off] >> 4 == 6 ? CSIG_ETH_IPV6 : CSIG_ETH_IPV4;
	}
	if (type == CSIG_ETH_IPV4 && off < len)
		get_ipv4(a, frame + off, len - off);
	else if (type == CSIG_ETH_IPV6 && off < len)
		get_ipv6(a, frame + off, len - off);
}

static void print_end(const char *key, const char *port_key, const char *addr,
		      int port, bool ip6)
{
	out_str(key, ip6 && port >= 0 ? " [%s]" : " %s", addr);
	if (port >= 0)
		out_u64(port_key, ":%" PRIu64, (uint64_t)port);
	else
		out_null(port_key, NULL);
}

static void print_packet(struct capture *c, const struct pcap_pkthdr *h,
			 const uint8_t *frame, const struct csig_walk *w)
{
	const struct csig_layout *layout = csig_layout(w->format);
	struct csig_tag tag;
	struct addrs a;
	bool ip6;

	csig_decode(w->format, frame + w->offset + CSIG_TPID_LEN, &tag);
	get_addrs(&a, frame, h->caplen, w->inner,
		  (size_t)w->offset + layout->len + 2);
	ip6 = a.proto >= 0 && strchr(a.src, ':');

	out_open_object(NULL);
	print_time(&h->ts, pcap_get_tstamp_precision(c->pcap) ==
			   PCAP_TSTAMP_PRECISION_NANO);
	print_end("src", "sport", a.src, a.sport, ip6);
	out_text(" >");
	print_end("dst", "dport", a.dst, a.dport, ip6);
	if (a.proto >= 0)
		out_u64("protocol", NULL, (uint64_t)a.proto);
	else
		out_null("protocol", NULL);
	out_u64("length", NULL, h->len);
	out_u64("vlans", NULL, w->vlans);
	print_tag(&c->profile, &tag);
	out_text("\n");
	out_close_object();
	fflush(stdout);
}

static void on_packet(u_char *user, const struct pcap_pkthdr *h,
		      const u_char *frame)
{
	struct capture *c = (struct capture *)user;
	struct csig_walk w;

	c->packets++;
	csig_walk(frame, h->caplen, c->profile.tpid, 0, &w);
	if (w.status == CSIG_WALK_MALFORMED)
		c->malformed++;
	if (w.status != CSIG_WALK_TAG)
		return;
	c->tagged++;
	print_packet(c, h, frame, &w);
	if (ferror(stdout) || c->tagged == c->count)
		pcap_breakloop(c->pcap);
}

static void print_summary(const struct capture *c, bool live)
{
	struct pcap_stat st = { 0 };

	warn("%" PRIu64 " packets: %" PRIu64 " tagged, %" PRIu64
	     " untagged, %" PRIu64 " malformed", c->packets, c->tagged,
	     c->packets - c->tagged - c->malformed, c->malformed);
	if (live && !pcap_stats(c->pcap, &st) && st.ps_drop)
		warn("%u packets were lost", st.ps_drop);
}

static int run(struct capture *c, const struct request *r)
{
	const struct sigaction stop = { .sa_handler = on_signal };
	struct sigaction old_int, old_term;
	int err, status = ST_OK;

	running = c->pcap;
	sigaction(SIGINT, &stop, &old_int);
	sigaction(SIGTERM, &stop, &old_term);
	out_open_array(NULL);
	fflush(stdout);
	err = pcap_loop(c->pcap, -1, on_packet, (u_char *)c);
	out_close_array();
	fflush(stdout);
	sigaction(SIGINT, &old_int, NULL);
	sigaction(SIGTERM, &old_term, NULL);
	running = NULL;
	if (err == PCAP_ERROR)
		status = fail("%s: %s", r->file ? r->file : r->dev,
			      pcap_geterr(c->pcap));
	print_summary(c, !r->file);
	return status;
}

int do_capture(struct args *a)
{
	struct request r = { 0 };
	struct capture c = { 0 };
	int status;

	if (arg_wants_help(a)) {
		fputs(help, stdout);
		return ST_OK;
	}
	status = parse_request(a, &r);
	if (!status)
		status = names_read(r.names ? r.names : NAMES_DEFAULT, !r.names);
	if (!status)
		status = get_profile(&r, &c.profile);
	if (status)
		return status;
	c.count = r.count;
	c.pcap = r.file ? open_file(r.file) : open_dev(&r);
	if (!c.pcap) {
		status = ST_KERNEL;
	} else if (pcap_datalink(c.pcap) != DLT_EN10MB) {
		status = fail("%s: not Ethernet but %s",
			      r.file ? r.file : r.dev,
			      pcap_datalink_val_to_name(pcap_datalink(c.pcap)));
	} else {
		status = run(&c, &r);
	}
	if (c.pcap)
		pcap_close(c.pcap);
	names_free();
	return status;
}
