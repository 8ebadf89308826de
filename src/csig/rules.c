// SPDX-License-Identifier: GPL-2.0
/*
 * Rules: the domain's profile and a port's settings put together, so that the data
 * path looks up one small row for each tag.  Codes come from estimator.c.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "csig.h"

/* Locator metadata of one rule from the port's values */
static int csig_rule_compose(struct csig_rule *rule,
			     const struct csig_lm_layout *layout,
			     const struct csig_port_config *config, u8 *used,
			     const char *ifname, struct netlink_ext_ack *extack)
{
	unsigned int i, shift;
	u16 mask;

	for (i = 0; i < config->nlm; i++) {
		const struct csig_lm_value *v = &config->lm[i];

		if (!csig_lm_find(layout, v->name, &shift, &mask))
			continue;
		if (v->value > mask) {
			NL_SET_ERR_MSG_FMT_MOD(extack,
					       "%s: lm %s=%u is above the field's %u",
					       ifname, v->name, v->value, mask);
			return -ERANGE;
		}
		rule->lm |= v->value << shift;
		*used |= 1 << i;
	}
	if (csig_lm_find(layout, CSIG_LM_TTL, &shift, &mask)) {
		rule->ttl_shift = shift;
		rule->ttl_mask = mask << shift;
	}
	if (csig_lm_find(layout, CSIG_LM_TRIMMED, &shift, &mask))
		rule->keep_mask = mask << shift;
	return 0;
}

/**
 * csig_rules_build() - rules of a port
 * @domain: profile
 * @config: settings of the port
 * @ifname: for messages
 * @extack: says which locator value is refused
 *
 * Every value must have a field in some layout and fit each layout that has it, so
 * that nothing set is silently without effect.
 *
 * Return: rules without codes, or ERR_PTR(-ERANGE, -ENOMEM)
 */
struct csig_rules *csig_rules_build(const struct csig_domain *domain,
				    const struct csig_port_config *config,
				    const char *ifname,
				    struct netlink_ext_ack *extack)
{
	const struct csig_profile *p = &domain->profile;
	struct csig_rules *rules;
	unsigned int f, t;
	u8 used = 0;
	int err;

	rules = kzalloc(sizeof(*rules), GFP_KERNEL_ACCOUNT);
	if (!rules)
		return ERR_PTR(-ENOMEM);
	rules->domain = domain;
	for (f = 0; f < CSIG_FORMATS; f++) {
		for (t = 0; t < CSIG_SIGNALS; t++) {
			struct csig_rule *rule = &rules->rule[f][t];

			rule->defined = p->signals[t].defined;
			rule->source = p->signals[t].source;
			rule->aggregate = p->signals[t].aggregate;
			err = csig_rule_compose(rule,
						csig_profile_layout(p, t, f),
						config, &used, ifname, extack);
			if (err) {
				kfree(rules);
				return ERR_PTR(err);
			}
		}
	}
	for (t = 0; t < config->nlm; t++) {
		if (used & 1 << t)
			continue;
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "%s: lm %s: no layout of the domain has it",
				       ifname, config->lm[t].name);
		kfree(rules);
		return ERR_PTR(-ERANGE);
	}
	return rules;
}

/* TTL or hop limit of what is behind the tag, 0 for other packets */
static u8 csig_skb_ttl(const struct sk_buff *skb, const struct csig_walk *w)
{
	int off = w->offset + csig_layout(w->format)->len + 2;
	union {
		struct iphdr ip4;
		struct ipv6hdr ip6;
	} buf;
	const struct ipv6hdr *ip6;
	const struct iphdr *ip4;

	switch (w->inner) {
	case CSIG_ETH_IPV4:
		ip4 = skb_header_pointer(skb, off, sizeof(*ip4), &buf);
		return ip4 ? ip4->ttl : 0;
	case CSIG_ETH_IPV6:
		ip6 = skb_header_pointer(skb, off, sizeof(*ip6), &buf);
		return ip6 ? ip6->hop_limit : 0;
	default:
		return 0;
	}
}

/**
 * csig_rule_lm() - locator metadata to write
 * @rule: rule of the tag's format and signal
 * @skb: packet, data at the MAC header
 * @w: result of csig_skb_walk(), CSIG_WALK_TAG
 * @old: locator metadata that the tag has
 *
 * Return: locator metadata of the port for this packet
 */
u16 csig_rule_lm(const struct csig_rule *rule, const struct sk_buff *skb,
		 const struct csig_walk *w, u16 old)
{
	u16 lm = rule->lm | (old & rule->keep_mask);

	if (rule->ttl_mask)
		lm |= min_t(unsigned int, csig_skb_ttl(skb, w),
			    rule->ttl_mask >> rule->ttl_shift) <<
		      rule->ttl_shift;
	return lm;
}
