// SPDX-License-Identifier: GPL-2.0
/*
 * The profile of a domain: publication to all ports of a network namespace, all of
 * it or nothing.  What a message may contain is checked in netlink.c.
 */
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "csig.h"

struct csig_domain *csig_domain_alloc(void)
{
	return kzalloc(sizeof(struct csig_domain), GFP_KERNEL_ACCOUNT);
}

/**
 * csig_domain_publish() - make a profile the one in force
 * @cn: network namespace
 * @new: profile, complete and valid; owned by the callee on success
 * @extack: says which port does not fit
 *
 * Context: RTNL.
 * Return: 0; -ERANGE when a port has a locator value that a layout has no room
 * for; -ENOSPC when there are too many TPIDs; -ENOMEM.  On failure nothing has
 * changed.
 */
int csig_domain_publish(struct csig_net *cn, struct csig_domain *new,
			struct netlink_ext_ack *extack)
{
	struct csig_domain *old = rtnl_dereference(cn->domain);
	struct csig_rules **rules;
	struct csig_port *port;
	unsigned int i = 0, n;
	unsigned long index;
	int err = 0;

	ASSERT_RTNL();
	new->digest = csig_profile_digest(&new->profile);
	rules = kvcalloc(cn->nports + 1, sizeof(*rules), GFP_KERNEL);
	if (!rules)
		return -ENOMEM;

	xa_for_each(&cn->ports, index, port) {
		rules[i] = csig_rules_build(new, &port->config,
					    port->dev->name, extack);
		if (IS_ERR(rules[i])) {
			err = PTR_ERR(rules[i]);
			goto undo;
		}
		i++;
	}
	err = csig_gro_get(&new->profile, cn->net);
	if (err == -ENOSPC)
		NL_SET_ERR_MSG(extack,
			       "namespaces of users have all the TPIDs that they may have: choose one that is in use, or the default");
	if (err)
		goto undo;
	i = 0;
	rcu_assign_pointer(cn->domain, new);
	xa_for_each(&cn->ports, index, port)
		csig_port_swap_rules(port, rules[i++]);
	csig_gro_put(&old->profile);
	/* The last rules made from it are on their way out, see csig_rules. */
	kfree_rcu(old, rcu);
	kvfree(rules);
	return 0;

undo:
	for (n = 0; n < i; n++)
		kfree(rules[n]);
	kvfree(rules);
	return err;
}
