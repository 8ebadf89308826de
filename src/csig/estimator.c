// SPDX-License-Identifier: GPL-2.0
/*
 * The estimator of a port: counts of its queues go in, codes for the rules come out.
 * The arithmetic is include/csig/estimate.h.
 *
 * There is no timer.  A packet that finds the window over rolls the estimator, if no
 * other queue is at it (try-lock), and whoever reads rolls it too, so an idle port
 * says so.
 */
#include <linux/if_vlan.h>
#include <linux/tcp.h>
#include <linux/timekeeping.h>
#include <linux/udp.h>
#include <net/netlink.h>
#include <net/sch_generic.h>

#include "csig.h"

/* Headers that each segment of a super-packet has; 0 where they can't be told */
static u32 csig_skb_gso_headers(const struct sk_buff *skb)
{
	unsigned int type = skb_shinfo(skb)->gso_type;
	const struct tcphdr *th;
	struct tcphdr buf;
	int hdr;

	if (skb->encapsulation)
		hdr = skb_inner_transport_offset(skb);
	else if (likely(skb_transport_header_was_set(skb)))
		hdr = skb_transport_offset(skb);
	else
		return 0;
	if (unlikely(hdr < 0))
		return 0;
	if (type & (SKB_GSO_TCPV4 | SKB_GSO_TCPV6)) {
		th = skb_header_pointer(skb, hdr, sizeof(buf), &buf);
		if (likely(th))
			hdr += __tcp_hdrlen(th);
	} else if (type & (SKB_GSO_UDP_L4 | SKB_GSO_UDP)) {
		hdr += sizeof(struct udphdr);
	}
	return hdr;
}

/**
 * csig_skb_wire_bits() - what a packet takes on the wire
 * @skb: packet at egress, data at the MAC header
 * @overhead: octets beside each frame
 *
 * A super-packet is counted as the frames that it becomes.
 *
 * Return: bits
 */
u64 csig_skb_wire_bits(const struct sk_buff *skb, u32 overhead)
{
	u32 len = skb->len, frames = 1, hdr;
	const struct skb_shared_info *sh = skb_shinfo(skb);

	if (skb_is_gso(skb)) {
		hdr = csig_skb_gso_headers(skb);
		frames = sh->gso_segs;
		if (unlikely(!frames))	/* untrusted source, not counted yet */
			frames = DIV_ROUND_UP(len - min(hdr, len),
					      sh->gso_size) ?: 1;
		len += (frames - 1) * hdr;
	}
	if (skb_vlan_tag_present(skb))
		len += VLAN_HLEN * frames;
	return csig_wire_bits(len, frames, overhead);
}

/* Bits of all queues, gone ones too.  est_lock. */
static u64 csig_port_total_bits(const struct csig_port *port)
{
	u64 bits = port->retired_bits;
	const struct csig_queue *q;

	list_for_each_entry(q, &port->queues, list)
		bits += csig_queue_bits(q);
	/* "csig update" counts per CPU where no csig qdisc does */
	if (READ_ONCE(port->pre_queue))
		bits += csig_port_stat(port, CSIG_A_PORT_STATS_BITS);
	return bits;
}

/* Start over with an idle port.  est_lock. */
void csig_estimator_reset(struct csig_port *port)
{
	u64 now_ns = ktime_get_ns();

	csig_est_init(&port->est, port->config.estimator,
		      port->config.interval_ns, port->config.alpha_ppm, now_ns);
	port->counted_bits = csig_port_total_bits(port);
	WRITE_ONCE(port->due_ns, now_ns + port->est.quantum_ns);
}

static void csig_rule_publish(struct csig_rules *rules, unsigned int t,
			      bool known, u64 value)
{
	const struct csig_signal *s = &rules->domain->profile.signals[t];
	unsigned int f;

	for (f = 0; f < CSIG_FORMATS; f++) {
		/* The aggregate's identity changes no tag. */
		u32 code = known ? csig_code(&s->coding, f, value) :
				   csig_initial_s(s->aggregate, f);

		WRITE_ONCE(rules->rule[f][t].s, code);
	}
}

/**
 * csig_estimator_publish() - codes of the port's load into its rules
 * @port: port
 * @rules: its rules, published or about to be
 *
 * Context: est_lock.
 */
void csig_estimator_publish(struct csig_port *port, struct csig_rules *rules)
{
	u64 capacity = port->capacity_bps;
	u64 abw = csig_est_abw(port->est.util_bps, capacity);
	unsigned int t;

	for (t = 0; t < CSIG_SIGNALS; t++) {
		const struct csig_rule *rule = &rules->rule[0][t];

		if (!rule->defined)
			continue;
		if (rule->source == CSIG_SOURCE_ABW)
			csig_rule_publish(rules, t, capacity, abw);
		else if (rule->source == CSIG_SOURCE_ABWC)
			csig_rule_publish(rules, t, capacity, capacity ?
					  csig_est_abwc(abw, capacity) : 0);
	}
}

/* est_lock */
static void __csig_estimator_roll(struct csig_port *port, u64 now_ns)
{
	u64 total;

	if (!csig_est_due(&port->est, now_ns))
		return;
	total = csig_port_total_bits(port);
	csig_est_roll(&port->est, total - port->counted_bits, now_ns);
	port->counted_bits = total;
	WRITE_ONCE(port->due_ns, port->est.start_ns + port->est.quantum_ns);
	csig_estimator_publish(port,
			       rcu_dereference_protected(port->rules,
							 lockdep_is_held(&port->est_lock)));
}

/**
 * csig_estimator_roll() - a packet found the window over
 * @port: port
 * @now_ns: its time
 *
 * Divides; once a window, not for each packet.
 *
 * Context: BH disabled.
 */
void csig_estimator_roll(struct csig_port *port, u64 now_ns)
{
	if (!spin_trylock(&port->est_lock))
		return;
	__csig_estimator_roll(port, now_ns);
	spin_unlock(&port->est_lock);
}

/**
 * csig_estimator_read() - the load of a port now
 * @port: port
 * @load: filled in
 *
 * Context: process or softirq.
 */
void csig_estimator_read(struct csig_port *port, struct csig_load *load)
{
	const struct csig_queue *q;
	u64 backlog = 0;

	spin_lock_bh(&port->est_lock);
	__csig_estimator_roll(port, ktime_get_ns());
	load->capacity_bps = port->capacity_bps;
	load->util_bps = port->est.util_bps;
	load->bits = csig_port_total_bits(port);
	list_for_each_entry(q, &port->queues, list)
		backlog += READ_ONCE(q->sch->qstats.backlog);
	spin_unlock_bh(&port->est_lock);

	load->abw_bps = csig_est_abw(load->util_bps, load->capacity_bps);
	load->abwc_ppm = load->capacity_bps ?
			 csig_est_abwc(load->abw_bps, load->capacity_bps) : 0;
	load->nqd_ns = csig_mulhi64(backlog << 32,
				    READ_ONCE(port->ns_per_byte_q32));
}
