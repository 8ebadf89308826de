/* SPDX-License-Identifier: GPL-2.0 */
/*
 * csigctl probe: probe.c has the words and the loop, probe_path.c the way to the
 * destination, probe_show.c what people see.  The message is csig/probe.h.
 */
#ifndef CSIGCTL_PROBE_H
#define CSIGCTL_PROBE_H

#include <netinet/in.h>

#include <csig/libcsig.h>
#include <csig/probe.h>

#include "profile.h"

#define PROBE_PLACES	8	/* that the summary remembers of a signal */
#define PROBE_RING	8192	/* probes whose answers may still come: 5 s of the most */

/**
 * struct probe_signal - one signal type in one direction
 * @known: it came at least once
 * @tag: the last one
 * @time_ns: when it came, CLOCK_MONOTONIC
 * @values: how many came
 * @places: where the bottleneck was, and how often; the last place takes the rest
 */
struct probe_signal {
	bool known;
	struct csig_tag tag;
	uint64_t time_ns;
	uint64_t values;
	struct {
		struct csig_tag tag;
		uint64_t n;
	} places[PROBE_PLACES];
};

/**
 * struct probe - everything
 * @name: destination as it was given
 * @port: UDP
 * @family: AF_UNSPEC, AF_INET or AF_INET6
 * @count: rounds, 0 without limit
 * @interval_ns: of a round, in which each signal is asked for once
 * @formats: bit of the format that is wanted, 0 as the device says
 * @signals: signal types, bit T
 * @nsignals: how many
 * @profile: of the domain
 * @host: signals of the socket
 * @fd: socket, connected
 * @dst: address as text
 * @src: of this end
 * @dev: device that has the host's filter
 * @session: in all messages
 * @seq: of the next probe
 * @settled: probes before this one were answered or are lost
 * @ring: the last probes
 * @sent: probes
 * @answered: those of them that were
 * @lost: those without an answer in time
 * @eligible: answers that could have told a forward signal
 * @silent: of the last answers in a row, those that could have and did not
 * @reverse_silent: the same of answers that came without a tag
 * @rx_tagged: of the socket, when the last answer was read
 * @since: probes sent before the host was opened
 * @disabled: the host was, since then
 * @flags: of the last answer
 * @refused: the last thing that came was an ICMP error
 * @errno_seen: what it said
 * @rtt_ns: of the last answer
 * @rtt_min_ns: smallest
 * @rtt_max_ns: largest
 * @rtt_sum_ns: of all
 * @flow: of the socket, when it was last read
 * @to: signals on the way there, by T
 * @from: on the way back, by T
 */
struct probe {
	const char *name;
	uint16_t port;
	int family;
	uint64_t count;
	uint64_t interval_ns;
	uint8_t formats;
	uint16_t signals;
	unsigned int nsignals;

	struct csig_profile profile;
	struct libcsig_host *host;
	int fd;
	char dst[INET6_ADDRSTRLEN + 20];
	char src[INET6_ADDRSTRLEN + 20];
	char dev[16];

	uint32_t session;
	uint32_t seq;
	uint32_t settled;
	struct {
		uint64_t sent_ns;
		bool answered;
		bool lost;
	} ring[PROBE_RING];

	uint64_t sent, answered, lost;
	uint64_t eligible, silent, reverse_silent, rx_tagged;
	uint64_t since;
	bool disabled;
	uint8_t flags;
	bool refused;
	int errno_seen;
	uint64_t rtt_ns, rtt_min_ns, rtt_max_ns, rtt_sum_ns;
	struct libcsig_flow flow;
	struct probe_signal to[CSIG_SIGNALS];
	struct probe_signal from[CSIG_SIGNALS];
};

uint64_t probe_now(void);
/* A value that old says nothing about now */
uint64_t probe_fresh_ns(const struct probe *p);

/* probe_path.c: destination, device, socket; the words for messages */
int probe_open(struct probe *p, struct args *a, const char *signals);
/* Follows when the host is disabled and enabled; the socket stays the same */
void probe_reopen(struct probe *p);
void probe_close(struct probe *p);

/* probe_show.c */
void probe_show_begin(const struct probe *p, bool live);
void probe_show_round(const struct probe *p, uint64_t round);
void probe_show_change(const struct probe *p, bool back, unsigned int t);
void probe_show_end(const struct probe *p);

#endif /* CSIGCTL_PROBE_H */
