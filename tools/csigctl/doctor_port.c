// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl doctor, the ports: are they measured, do they know their capacity, does a
 * tag fit, does traffic pass by the counters?
 */
#include <linux/pkt_sched.h>
#include <stdlib.h>
#include <time.h>

#include "doctor.h"
#include "output.h"
#include "port.h"

#define WATCH_NS	250000000L	/* between two looks at the counters */
#define BYPASS_BYTES	100000		/* less is noise */
#define ETHERNET_MTU	1500

/* A port and its counters at the first look */
struct seen {
	struct link link;
	uint64_t bits;
	bool valid;
};

static uint64_t port_bits(struct nlattr **tb)
{
	struct nlattr *stats[CSIG_A_PORT_STATS_MAX + 1];

	attr_nested(tb[CSIG_A_PORT_STATS], CSIG_A_PORT_STATS_MAX, stats);
	return attr_u64(stats[CSIG_A_PORT_STATS_BITS], 0);
}

static int ports(struct answer *answer)
{
	int err = csig_talk(csig_request(CSIG_CMD_PORT_GET, NLM_F_DUMP), answer);

	if (err)
		doctor_say(FAIL, "ports", NULL, "%s", nl_why(err));
	return err;
}

static void check_tc(const char *dev, const struct link *l,
		     const struct placement *p, unsigned int qdiscs,
		     unsigned int ingress)
{
	if (!qdiscs && p->egress.ours)
		doctor_say(WARN, "operational", dev,
			   "tags are updated before the queue (qdisc keep): delays are not measured");
	else if (!qdiscs)
		doctor_say(FAIL, "operational", dev,
			   "no csig qdisc, nothing is measured; try: csigctl port del dev %s, then add it again",
			   dev);
	else if (p->csigs && p->csig_parent != TC_H_ROOT &&
		 p->csigs < l->txqs_real)
		doctor_say(WARN, "operational", dev,
			   "%u of %u transmit queues are measured; try: csigctl port del dev %s, then add it again",
			   p->csigs, l->txqs_real, dev);
	if (!p->ingress.ours)
		doctor_say(WARN, "ingress", dev,
			   "csigctl's ingress filter is not there: \"ingress %s\" only works with another csig action at ingress",
			   WORD(ingress_words, ingress));
	else if (p->ingress.before)
		doctor_say(WARN, "ingress", dev,
			   "%u other filters see packets first; one that accepts a packet hides it from csig",
			   p->ingress.before);
}

static void check_mtu(const char *dev, const struct link *l, uint64_t skipped)
{
	if (skipped)
		doctor_say(WARN, "mtu", dev,
			   "%llu packets were too long for a tag with MTU %u; raise it by 4 (expanded: 8), or lower the routes' MTU",
			   (unsigned long long)skipped, l->mtu);
	else if (l->mtu < ETHERNET_MTU + 4)
		doctor_say(WARN, "mtu", dev,
			   "MTU %u: packets of %u octets have no room for the expanded tag; try: ip link set dev %s mtu %u",
			   l->mtu, l->mtu, dev, ETHERNET_MTU + 8);
}

static void check_port(const struct nl_msg *msg, struct seen *seen)
{
	struct nlattr *config[CSIG_A_PORT_CONFIG_MAX + 1];
	struct nlattr *state[CSIG_A_PORT_STATE_MAX + 1];
	struct nlattr *stats[CSIG_A_PORT_STATS_MAX + 1];
	struct nlattr *tb[CSIG_A_PORT_MAX + 1];
	struct placement p;
	const char *dev;

	if (csig_attrs(msg, CSIG_A_PORT_MAX, tb))
		return;
	attr_nested(tb[CSIG_A_PORT_CONFIG], CSIG_A_PORT_CONFIG_MAX, config);
	attr_nested(tb[CSIG_A_PORT_STATE], CSIG_A_PORT_STATE_MAX, state);
	attr_nested(tb[CSIG_A_PORT_STATS], CSIG_A_PORT_STATS_MAX, stats);
	dev = attr_str(tb[CSIG_A_PORT_IFNAME], "?");
	if (link_get(dev, &seen->link) || tc_look(&seen->link, &p))
		return;
	seen->bits = port_bits(tb);
	seen->valid = attr_u32(state[CSIG_A_PORT_STATE_QDISCS], 0) > 0;

	if (state[CSIG_A_PORT_STATE_CAPACITY_BPS])
		doctor_say(OK, "capacity", dev, "%s",
			   fmt_value(CSIG_SOURCE_ABW,
				     attr_u64(state[CSIG_A_PORT_STATE_CAPACITY_BPS],
					      0)));
	else
		doctor_say(WARN, "capacity", dev,
			   "unknown, ABW and ABW/C are left alone; try: csigctl port set dev %s capacity RATE",
			   dev);
	check_tc(dev, &seen->link, &p,
		 attr_u32(state[CSIG_A_PORT_STATE_QDISCS], 0),
		 attr_u8(config[CSIG_A_PORT_CONFIG_INGRESS], 0));
	check_mtu(dev, &seen->link,
		  attr_u64(stats[CSIG_A_PORT_STATS_SKIPPED_MTU], 0));
	if (link_offloads_tc(&seen->link))
		doctor_say(WARN, "offload", dev,
			   "hw-tc-offload is on, offloaded packets are neither counted nor updated; try: ethtool -K %s hw-tc-offload off",
			   dev);
}

/* Both counters run; what only the device saw went by the qdisc. */
static void check_bypass(const struct answer *later, const struct seen *seen,
			 size_t n)
{
	struct nlattr *tb[CSIG_A_PORT_MAX + 1];
	uint64_t dev_bytes, csig_bytes;
	struct link now;
	size_t i, j;

	for (i = 0; i < later->n; i++) {
		if (csig_attrs(later->msgs[i], CSIG_A_PORT_MAX, tb))
			continue;
		for (j = 0; j < n; j++)
			if (seen[j].valid && seen[j].link.index ==
			    (int)attr_u32(tb[CSIG_A_PORT_IFINDEX], 0))
				break;
		if (j == n || link_get(seen[j].link.name, &now) ||
		    now.tx_bytes < seen[j].link.tx_bytes ||
		    port_bits(tb) < seen[j].bits)
			continue;
		dev_bytes = now.tx_bytes - seen[j].link.tx_bytes;
		csig_bytes = (port_bits(tb) - seen[j].bits) / 8;
		if (dev_bytes > BYPASS_BYTES && dev_bytes / 2 > csig_bytes)
			doctor_say(WARN, "offload", now.name,
				   "the device sent %llu octets, csig saw %llu: an offload or a redirect goes by the qdisc",
				   (unsigned long long)dev_bytes,
				   (unsigned long long)csig_bytes);
	}
}

void doctor_ports(void)
{
	const struct timespec pause = { .tv_nsec = WATCH_NS };
	struct answer first, later;
	struct seen *seen;
	size_t i;

	if (ports(&first))
		return;
	if (!first.n)
		doctor_say(WARN, "ports", NULL,
			   "none; try: csigctl port add dev DEV");
	seen = calloc(first.n + 1, sizeof(*seen));
	for (i = 0; seen && i < first.n; i++)
		check_port(first.msgs[i], &seen[i]);
	if (seen && first.n) {
		nanosleep(&pause, NULL);
		if (!ports(&later)) {
			check_bypass(&later, seen, first.n);
			answer_free(&later);
		}
	}
	free(seen);
	answer_free(&first);
}
