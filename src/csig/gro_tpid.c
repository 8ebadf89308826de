// SPDX-License-Identifier: GPL-2.0
/*
 * Which TPIDs the kernel knows for GRO and GSO: a packet_offload for each that the domain
 * of any network namespace has.  What they do is in gro.c and gso.c.
 *
 * DOC: life of a TPID
 *
 * Packets may wait in a GRO list for longer than an RCU grace period, and the kernel
 * warns of one whose offload is gone when it leaves the list.  So a TPID that no domain
 * has any more stays until a grace period has passed (then nothing merges that has it)
 * and nothing is held (then nothing needs it); work that is done now and then sees to it.
 * One that comes back meanwhile is as it was.  Who changes a domain never waits: that
 * holds RTNL, and owners of a user namespace may do it.
 *
 * When the module goes there are domains still.  Therefore receiving and completing are
 * two offloads: the first one is taken away, what waits is waited for, then the second
 * one goes.
 */
#include <linux/delay.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include "csig.h"
#include "gro.h"

/*
 * Frames of other EtherTypes look through all of them, so owners of user namespaces can
 * have only so many.  Whoever may do anything may have more.
 */
#define CSIG_GRO_MAX	64

/*
 * Most lists empty at the end of a poll, others by gro_flush_timeout.  Those of a device
 * that went away are never completed, so there is an end to the waiting.
 */
#define CSIG_GRO_LOOK	(HZ / 50 + 1)
#define CSIG_GRO_WAIT	(10 * HZ)	/* work */
#define CSIG_GRO_STOP	HZ		/* rmmod */

/**
 * struct csig_gro - what the kernel knows of a TPID
 * @receive: its gro_receive
 * @complete: its gro_complete and gso_segment
 * @users: domains with this TPID; csig_gro_lock
 * @formats: bits of all that it was in a domain since then; only more of them come
 * @on: the offloads are registered; csig_gro_lock
 * @held: per CPU, super-packets that wait for gro_complete; only the sum makes sense
 * @rcu: grace period since the last user went
 * @since: jiffies of that
 * @dead: list of those that are taken away
 */
struct csig_gro {
	struct packet_offload receive;
	struct packet_offload complete;
	unsigned int users;
	unsigned long formats;
	bool on;
	int __percpu *held;
	unsigned long rcu;
	unsigned long since;
	struct list_head dead;
};

static void csig_gro_look_after(struct work_struct *work);

static DEFINE_XARRAY(csig_gros);	/* by TPID; read by RCU */
static DEFINE_MUTEX(csig_gro_lock);
static bool csig_gro_running;		/* csig_gro_lock, as the next one */
static unsigned int csig_gro_number;	/* those in csig_gros, or on their way out */
static DECLARE_DELAYED_WORK(csig_gro_work, csig_gro_look_after);

/**
 * csig_gro_count() - super-packets of a TPID come or go
 * @tpid: TPID
 * @n: how many more are held
 *
 * Context: RCU, BH disabled.
 */
void csig_gro_count(u16 tpid, int n)
{
	struct csig_gro *g = xa_load(&csig_gros, tpid);

	if (g)
		this_cpu_add(*g->held, n);
}

/**
 * csig_gro_formats() - what is a TPID?
 * @tpid: perhaps one
 *
 * Return: bits of the formats that some domain has it for
 */
unsigned long csig_gro_formats(u16 tpid)
{
	unsigned long formats = 0;
	const struct csig_gro *g;

	rcu_read_lock();
	g = xa_load(&csig_gros, tpid);
	if (g)
		formats = READ_ONCE(g->formats);
	rcu_read_unlock();
	return formats;
}

static struct csig_gro *csig_gro_alloc(u16 tpid)
{
	struct csig_gro *g = kzalloc(sizeof(*g), GFP_KERNEL_ACCOUNT);

	if (!g)
		return NULL;
	g->held = alloc_percpu_gfp(int, GFP_KERNEL_ACCOUNT);
	if (!g->held) {
		kfree(g);
		return NULL;
	}
	g->receive.type = htons(tpid);
	g->receive.priority = 10;	/* as VLANs */
	g->receive.callbacks.gro_receive = csig_gro_receive;
	g->complete.type = htons(tpid);
	g->complete.priority = 10;
	g->complete.callbacks.gro_complete = csig_gro_complete;
	g->complete.callbacks.gso_segment = csig_gso_segment;
	return g;
}

/* After a grace period */
static void csig_gro_free(struct csig_gro *g)
{
	free_percpu(g->held);
	kfree(g);
}

static void csig_gro_on(struct csig_gro *g)
{
	if (g->on)
		return;
	g->on = true;
	dev_add_offload(&g->complete);
	dev_add_offload(&g->receive);
}

static bool csig_gro_is_held(const struct csig_gro *g)
{
	int cpu, sum = 0;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(g->held, cpu));
	return sum > 0;
}

/* May an unused TPID go? */
static bool csig_gro_is_over(const struct csig_gro *g)
{
	if (!poll_state_synchronize_rcu(g->rcu))
		return false;
	return !csig_gro_is_held(g) ||
	       time_after(jiffies, g->since + CSIG_GRO_WAIT);
}

/* Take away what is unused.  A domain that wants one of them just now gets a new one. */
static void csig_gro_look_after(struct work_struct *work)
{
	struct csig_gro *g, *next;
	unsigned int number = 0;
	unsigned long tpid;
	bool more = false;
	LIST_HEAD(dead);

	mutex_lock(&csig_gro_lock);
	xa_for_each(&csig_gros, tpid, g) {
		if (g->users)
			continue;
		if (csig_gro_is_over(g)) {
			xa_erase(&csig_gros, tpid);
			list_add(&g->dead, &dead);
		} else {
			more = true;
		}
	}
	if (more && csig_gro_running)
		schedule_delayed_work(&csig_gro_work, CSIG_GRO_LOOK);
	mutex_unlock(&csig_gro_lock);

	list_for_each_entry(g, &dead, dead) {
		number++;
		if (!g->on)
			continue;
		dev_remove_offload(&g->receive);
		dev_remove_offload(&g->complete);
	}
	if (!number)
		return;
	synchronize_rcu();
	list_for_each_entry_safe(g, next, &dead, dead)
		csig_gro_free(g);
	mutex_lock(&csig_gro_lock);
	csig_gro_number -= number;
	mutex_unlock(&csig_gro_lock);
}

/* The kernel has its own for this one. */
static bool csig_gro_wants(u16 tpid)
{
	return tpid != CSIG_ETH_8021AD;
}

static int csig_gro_get_tpid(const struct csig_profile *profile,
			     unsigned int format, bool limited)
{
	u16 tpid = profile->tpid[format];
	struct csig_gro *g;
	int err;

	if (!csig_gro_wants(tpid))
		return 0;
	g = xa_load(&csig_gros, tpid);
	if (!g) {
		if (limited && csig_gro_number >= CSIG_GRO_MAX)
			return -ENOSPC;
		g = csig_gro_alloc(tpid);
		if (!g)
			return -ENOMEM;
		err = xa_err(xa_store(&csig_gros, tpid, g, GFP_KERNEL_ACCOUNT));
		if (err) {
			csig_gro_free(g);
			return err;
		}
		csig_gro_number++;
	}
	g->users++;
	WRITE_ONCE(g->formats, g->formats | BIT(format));
	if (csig_gro_running)
		csig_gro_on(g);
	return 0;
}

static void csig_gro_put_tpid(u16 tpid)
{
	struct csig_gro *g;

	if (!csig_gro_wants(tpid))
		return;
	g = xa_load(&csig_gros, tpid);
	if (WARN_ON_ONCE(!g) || --g->users)
		return;
	g->rcu = start_poll_synchronize_rcu();
	g->since = jiffies;
	if (csig_gro_running)
		schedule_delayed_work(&csig_gro_work, CSIG_GRO_LOOK);
}

/**
 * csig_gro_get() - a domain's packets are to be merged
 * @profile: its profile
 * @net: the namespace that asks for it; NULL when it starts, which is never refused
 *
 * Context: process, may sleep.
 * Return: 0, -ENOMEM, or -ENOSPC when owners of user namespaces have too many TPIDs
 */
int csig_gro_get(const struct csig_profile *profile, const struct net *net)
{
	bool limited = net && net->user_ns != &init_user_ns;
	int err;

	mutex_lock(&csig_gro_lock);
	err = csig_gro_get_tpid(profile, CSIG_FORMAT_COMPACT, limited);
	if (!err) {
		err = csig_gro_get_tpid(profile, CSIG_FORMAT_EXPANDED, limited);
		if (err)
			csig_gro_put_tpid(profile->tpid[CSIG_FORMAT_COMPACT]);
	}
	mutex_unlock(&csig_gro_lock);
	return err;
}

/**
 * csig_gro_put() - undo csig_gro_get()
 * @profile: profile of the domain that is going; no packet finds it any more
 *
 * Context: process, may sleep.
 */
void csig_gro_put(const struct csig_profile *profile)
{
	mutex_lock(&csig_gro_lock);
	csig_gro_put_tpid(profile->tpid[CSIG_FORMAT_COMPACT]);
	csig_gro_put_tpid(profile->tpid[CSIG_FORMAT_EXPANDED]);
	mutex_unlock(&csig_gro_lock);
}

/* From now on every namespace has a domain.  Return: 0 or -ENOMEM */
int csig_gro_start(void)
{
	int err = csig_gro_run_init();
	struct csig_gro *g;
	unsigned long tpid;

	if (err)
		return err;
	mutex_lock(&csig_gro_lock);
	csig_gro_running = true;
	xa_for_each(&csig_gros, tpid, g)
		csig_gro_on(g);
	schedule_delayed_work(&csig_gro_work, CSIG_GRO_LOOK);
	mutex_unlock(&csig_gro_lock);
	return 0;
}

static bool csig_gro_any_held(void)
{
	struct csig_gro *g;
	unsigned long tpid;

	xa_for_each(&csig_gros, tpid, g)
		if (g->on && csig_gro_is_held(g))
			return true;
	return false;
}

/*
 * After this namespaces may lose their domain.  Those that change meanwhile register and
 * free nothing, so what is found here stays.
 */
void csig_gro_stop(void)
{
	unsigned long tpid, end;
	struct csig_gro *g;

	mutex_lock(&csig_gro_lock);
	csig_gro_running = false;
	mutex_unlock(&csig_gro_lock);
	cancel_delayed_work_sync(&csig_gro_work);

	xa_for_each(&csig_gros, tpid, g)
		if (g->on)
			dev_remove_offload(&g->receive);
	end = jiffies + CSIG_GRO_STOP;
	while (csig_gro_any_held() && time_before(jiffies, end))
		msleep(20);
	xa_for_each(&csig_gros, tpid, g)
		if (g->on)
			dev_remove_offload(&g->complete);
	csig_gro_run_exit();
}

/* After the last namespace's domain */
void csig_gro_exit(void)
{
	struct csig_gro *g;
	unsigned long tpid;

	xa_for_each(&csig_gros, tpid, g)
		csig_gro_free(g);
	xa_destroy(&csig_gros);
}
