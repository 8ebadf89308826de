// SPDX-License-Identifier: GPL-2.0
/*
 * What a port does to a packet that leaves: compare and replace, strip, count; and
 * the tag that a routed packet gets back.  Called by the csig qdisc after the queue
 * and by "action csig update" before it.
 */
#include <linux/jiffies.h>

#include "csig.h"
#include "trace.h"

/* Remember the bottleneck for the monitor, now and then */
static void csig_bottleneck(struct csig_port *port, const struct csig_tag *tag)
{
	unsigned long now = jiffies;

	if (likely(time_before(now, READ_ONCE(port->event_next))))
		return;
	WRITE_ONCE(port->event_next, now + HZ);
	/* Racing queues may mix two tags; the event is a hint, not a record. */
	port->event_tag = *tag;
	schedule_work(&port->event_work);
}

static void csig_strip(struct csig_port *port, struct sk_buff *skb,
		       const struct csig_walk *w, const struct csig_tag *tag)
{
	/* A lost packet is worse than a tag too far. */
	if (csig_skb_remove(skb, w, true)) {
		csig_stat_inc(port, CSIG_A_PORT_STATS_SKIPPED_NOMEM);
		csig_stat_inc(port, CSIG_A_PORT_STATS_TAGGED);
		return;
	}
	csig_stat_inc(port, CSIG_A_PORT_STATS_STRIPPED);
	trace_csig_pop(skb->dev, tag);
}

/* Code of this port for this packet */
static u32 csig_local_code(const struct csig_port *port,
			   const struct csig_rules *rules,
			   const struct csig_tag *tag,
			   const struct csig_hop *hop)
{
	const struct csig_rule *rule = &rules->rule[tag->format][tag->t];
	const struct csig_signal *s = &rules->domain->profile.signals[tag->t];

	if (rule->source == CSIG_SOURCE_PD)
		return csig_code(&s->coding, tag->format, hop->pd_ns);
	if (rule->source == CSIG_SOURCE_NQD)
		return READ_ONCE(port->capacity_bps) ?
		       csig_code(&s->coding, tag->format, hop->nqd_ns) :
		       csig_initial_s(rule->aggregate, tag->format);
	return READ_ONCE(rule->s);
}

static void csig_compare_replace(struct csig_port *port,
				 const struct csig_rules *rules,
				 struct sk_buff *skb,
				 const struct csig_walk *w,
				 const struct csig_tag *tag,
				 const struct csig_hop *hop)
{
	const struct csig_rule *rule = &rules->rule[tag->format][tag->t];
	struct csig_tag new = *tag;

	if (!hop->queued && rule->source >= CSIG_SOURCE_PD &&
	    rule->aggregate != CSIG_AGGREGATE_COUNT)
		goto pass;
	new.s = csig_aggregate(rule->aggregate, tag->format, tag->s,
			       csig_local_code(port, rules, tag, hop));
	if (new.s == tag->s)
		goto pass;
	new.lm = csig_rule_lm(rule, skb, w, tag->lm);
	if (csig_skb_replace(skb, w, &new)) {
		csig_stat_inc(port, CSIG_A_PORT_STATS_SKIPPED_NOMEM);
		return;
	}
	csig_stat_inc(port, CSIG_A_PORT_STATS_UPDATED);
	trace_csig_update(skb->dev, tag, &new);
	csig_bottleneck(port, &new);
	return;

pass:
	csig_stat_inc(port, CSIG_A_PORT_STATS_PASSED);
}

/**
 * csig_egress() - a packet leaves a port
 * @port: port
 * @skb: packet, data at the MAC header
 * @hop: what was measured for this packet
 *
 * The packet always goes on; what can't be done to it is counted.
 *
 * Context: BH disabled, RCU.
 */
void csig_egress(struct csig_port *port, struct sk_buff *skb,
		 const struct csig_hop *hop)
{
	const struct csig_rules *rules = rcu_dereference_bh(port->rules);
	const u16 *tpid = rules->domain->profile.tpid;
	struct csig_walk w;
	struct csig_tag tag;

	switch (csig_skb_walk(skb, tpid, &w)) {
	case CSIG_WALK_NONE:
		csig_stat_inc(port, CSIG_A_PORT_STATS_UNTAGGED);
		return;
	case CSIG_WALK_MALFORMED:
		csig_stat_inc(port, CSIG_A_PORT_STATS_MALFORMED);
		trace_csig_malformed(skb->dev, skb->len);
		return;
	}
	if (csig_ethertype_is_control(w.inner)) {
		csig_stat_inc(port, CSIG_A_PORT_STATS_UNTAGGED);
		return;
	}
	csig_skb_tag(skb, &w, &tag);
	if (READ_ONCE(port->egress) == CSIG_EGRESS_STRIP) {
		csig_strip(port, skb, &w, &tag);
		return;
	}
	if (!rules->rule[tag.format][tag.t].defined) {
		csig_stat_inc(port, CSIG_A_PORT_STATS_UNKNOWN_SIGNAL);
		if (READ_ONCE(port->unknown) == CSIG_UNKNOWN_STRIP) {
			csig_strip(port, skb, &w, &tag);
			return;
		}
		csig_stat_inc(port, CSIG_A_PORT_STATS_TAGGED);
		csig_stat_inc(port, CSIG_A_PORT_STATS_PASSED);
		return;
	}
	csig_stat_inc(port, CSIG_A_PORT_STATS_TAGGED);
	if (READ_ONCE(port->update))
		csig_compare_replace(port, rules, skb, &w, &tag, hop);
	else
		csig_stat_inc(port, CSIG_A_PORT_STATS_PASSED);
}

/**
 * csig_egress_carry() - give a routed packet its tag back
 * @port: port that it leaves through
 * @skb: packet, data at the MAC header
 * @tag: tag that was taken off at ingress
 *
 * Context: BH disabled, RCU.
 */
void csig_egress_carry(struct csig_port *port, struct sk_buff *skb,
		       const struct csig_tag *tag)
{
	const struct csig_rules *rules = rcu_dereference_bh(port->rules);
	const u16 *tpid = rules->domain->profile.tpid;
	struct csig_walk w;

	if (READ_ONCE(port->egress) == CSIG_EGRESS_STRIP) {
		csig_stat_inc(port, CSIG_A_PORT_STATS_STRIPPED);
		return;
	}
	if (csig_skb_walk(skb, tpid, &w) != CSIG_WALK_NONE ||
	    !w.offset || csig_ethertype_is_control(w.inner))
		return;
	switch (csig_skb_insert(skb, &w, tpid, tag)) {
	case 0:
		csig_stat_inc(port, CSIG_A_PORT_STATS_CARRIED);
		trace_csig_push(skb->dev, tag);
		break;
	case -EMSGSIZE:
		csig_stat_inc(port, CSIG_A_PORT_STATS_SKIPPED_MTU);
		break;
	default:
		csig_stat_inc(port, CSIG_A_PORT_STATS_SKIPPED_NOMEM);
		break;
	}
}
