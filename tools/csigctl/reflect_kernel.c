// SPDX-License-Identifier: GPL-2.0
/*
 * Lets the kernel answer probes at a device: bpf/responder.bpf.c in two filters, at
 * clsact ingress behind those of the port and the host, at egress before the host's.
 * Settings and counters are in a pinned map beside those of the host.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <responder.skel.h>

#include "host_bpf.h"
#include "output.h"
#include "reflect.h"
#include "tc.h"

#define PRIO_INGRESS	0xc518	/* behind 0xc516 (port) and 0xc517 (host) */
#define PRIO_EGRESS	0xc514	/* before 0xc515 (host), which inserts the tag */
#define HANDLE		1
#define PROG_NAME	"csig_responder_"	/* 15 octets of it reach the kernel */

struct hook {
	enum bpf_tc_attach_point point;
	uint32_t parent;
	uint32_t prio;
	const char *name;
};

static const struct hook hooks[2] = {
	{ BPF_TC_INGRESS, TC_INGRESS, PRIO_INGRESS, "ingress" },
	{ BPF_TC_EGRESS, TC_EGRESS, PRIO_EGRESS, "egress" },
};

static char why[256];		/* libbpf's last complaint */

static int keep_why(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(why, sizeof(why), fmt, ap);
	why[strcspn(why, "\n")] = '\0';
	return 0;
}

static struct bpf_tc_hook hook_of(int ifindex, const struct hook *h)
{
	return (struct bpf_tc_hook) {
		.sz = sizeof(struct bpf_tc_hook),
		.ifindex = ifindex,
		.attach_point = h->point,
	};
}

static struct bpf_tc_opts filter_of(const struct hook *h)
{
	return (struct bpf_tc_opts) {
		.sz = sizeof(struct bpf_tc_opts),
		.handle = HANDLE,
		.priority = h->prio,
	};
}

static int tc_attach(int ifindex, const struct hook *h, int prog)
{
	const struct bpf_tc_hook hook = hook_of(ifindex, h);
	struct bpf_tc_opts opts = filter_of(h);

	opts.prog_fd = prog;
	opts.flags = BPF_TC_F_REPLACE;
	return bpf_tc_attach(&hook, &opts);
}

static int tc_detach(int ifindex, const struct hook *h)
{
	const struct bpf_tc_hook hook = hook_of(ifindex, h);
	const struct bpf_tc_opts opts = filter_of(h);

	return bpf_tc_detach(&hook, &opts);
}

/* libbpf names a filter after its program. */
static bool is_ours(const struct tcmsg *t, struct nlattr **tb)
{
	struct nlattr *bpf[TCA_BPF_MAX + 1];

	return t->tcm_handle == HANDLE &&
	       !strcmp(attr_str(tb[TCA_KIND], ""), "bpf") &&
	       tb[TCA_OPTIONS] &&
	       !nla_parse_nested(bpf, TCA_BPF_MAX, tb[TCA_OPTIONS], NULL) &&
	       !strncmp(attr_str(bpf[TCA_BPF_NAME], ""), PROG_NAME,
			strlen(PROG_NAME));
}

/* Is our filter there, or is one of somebody else's in its place? */
static int tc_find(const struct link *l, const struct hook *h, bool *ours,
		   bool *taken)
{
	struct nlattr *tb[TCA_MAX + 1];
	struct answer answer;
	size_t i;
	int err;

	*ours = false;
	*taken = false;
	err = rtnl_talk(tc_request(l, RTM_GETTFILTER, NLM_F_DUMP, h->parent, 0,
				   0), &answer);
	if (err)
		return err;
	for (i = 0; i < answer.n; i++) {
		const struct tcmsg *t = tc_parse(answer.msgs[i], tb);

		if (!t || t->tcm_info >> 16 != h->prio ||
		    attr_u32(tb[TCA_CHAIN], 0))
			continue;
		if (is_ours(t, tb))
			*ours = true;
		/* without a handle it is all filters of the priority */
		else if (t->tcm_handle ||
			 strcmp(attr_str(tb[TCA_KIND], ""), "bpf"))
			*taken = true;
	}
	answer_free(&answer);
	return 0;
}

static bool tc_attached(int ifindex, const struct hook *h)
{
	const struct link l = { .index = ifindex };
	bool ours, taken;

	return !tc_find(&l, h, &ours, &taken) && ours;
}

static void pin_path(const struct host_set *set, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", set->dir, CSIG_BPF_MAP_RESPONDERS);
}

static int get_map(const struct host_set *set)
{
	char path[160];

	pin_path(set, path, sizeof(path));
	return bpf_obj_get(path);
}

/* The host's set; without one there is nothing to tag answers with. */
static int open_set(struct host_set *set, bool change)
{
	int status = host_set_open(set, change);

	if (status)
		return status;
	if (host_set_exists(set))
		return ST_OK;
	host_set_close(set);
	return fail("the host is not enabled here; first: csigctl host enable dev DEV");
}

/* Maps are those of the set, or of an earlier responder of the namespace. */
static int load(struct responder_bpf *obj, const struct host_set *set)
{
	char path[160];
	int fd, status = ST_OK;

	/* what maps.h declares beside those that are used */
	bpf_map__set_autocreate(obj->maps.csig_flows, false);
	bpf_map__set_autocreate(obj->maps.csig_host, false);
	bpf_map__set_autocreate(obj->maps.csig_avoid, false);
	fd = get_map(set);
	if ((fd >= 0 && bpf_map__reuse_fd(obj->maps.csig_responders, fd)) ||
	    bpf_map__reuse_fd(obj->maps.csig_devices, set->devices))
		status = fail("maps of the host: %s", strerror(errno));
	else if (responder_bpf__load(obj))
		status = fail("the kernel does not take the BPF programs: %s; see \"csigctl doctor\"",
			      why[0] ? why : strerror(errno));
	if (!status && fd < 0) {
		pin_path(set, path, sizeof(path));
		if (bpf_map__pin(obj->maps.csig_responders, path))
			status = fail("%s: %s", path, strerror(errno));
	}
	if (fd >= 0)
		close(fd);
	return status;
}

/* Entries of devices that are gone would fill the map. */
static void prune(int map)
{
	uint32_t key, last, *from = NULL;
	char name[IF_NAMESIZE];

	while (!bpf_map_get_next_key(map, from, &key)) {
		if (!if_indextoname(key, name) &&
		    !bpf_map_delete_elem(map, &key))
			continue;	/* the one behind it is next now */
		last = key;
		from = &last;
	}
}

/*
 * Settings of a responder that is there change, what it counted stays, but for what
 * it counts at this moment.
 */
static struct csig_responder merge(const struct csig_responder *old,
				   const struct csig_responder *settings)
{
	struct csig_responder r = *old;

	r.port = settings->port;
	r.interval_ns = settings->interval_ns;
	return r;
}

static int attach(struct responder_bpf *obj, const struct link *l,
		  const struct csig_responder *settings)
{
	const int progs[2] = {
		bpf_program__fd(obj->progs.csig_responder_in),
		bpf_program__fd(obj->progs.csig_responder_out),
	};
	int map = bpf_map__fd(obj->maps.csig_responders), err = 0;
	struct csig_responder r = *settings, old;
	bool was[2], taken, there = false;
	uint32_t key = (uint32_t)l->index;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		err = tc_find(l, &hooks[i], &was[i], &taken);
		if (err)
			return nl_refused(err, l->name);
		if (taken)
			return tc_priority_taken(l, hooks[i].name,
						 hooks[i].prio);
		there |= was[i];
	}
	prune(map);
	/* without filters it is of an earlier device with this index */
	there = there && !bpf_map_lookup_elem(map, &key, &old);
	if (there)
		r = merge(&old, settings);
	if (bpf_map_update_elem(map, &key, &r, BPF_ANY))
		return fail("%s: %s", l->name, strerror(errno));
	for (i = 0; i < ARRAY_SIZE(hooks) && !err; i++)
		err = tc_attach(l->index, &hooks[i], progs[i]);
	if (!err)
		return ST_OK;
	fail("%s: filter: %s", l->name, why[0] ? why : strerror(-err));
	/* as it was before */
	while (i--)
		if (!was[i])
			tc_detach(l->index, &hooks[i]);
	if (there)
		bpf_map_update_elem(map, &key, &old, BPF_ANY);
	else
		bpf_map_delete_elem(map, &key);
	return ST_KERNEL;
}

static int add(const struct link *l, const struct csig_responder *settings)
{
	struct responder_bpf *obj = NULL;
	uint32_t key = (uint32_t)l->index;
	struct csig_device dev;
	struct host_set set;
	int status = open_set(&set, true);

	if (status)
		return status;
	if (bpf_map_lookup_elem(set.devices, &key, &dev)) {
		status = fail("%s is not enabled; first: csigctl host enable dev %s",
			      l->name, l->name);
		goto out;
	}
	libbpf_set_print(keep_why);
	why[0] = '\0';
	obj = responder_bpf__open();
	if (!obj) {
		status = fail("the BPF programs can't be opened: %s",
			      why[0] ? why : strerror(errno));
		goto out;
	}
	status = load(obj, &set);
	if (!status)
		status = attach(obj, l, settings);
out:
	responder_bpf__destroy(obj);
	host_set_close(&set);
	return status;
}

int reflect_kernel_add(const struct reflect *r)
{
	const struct csig_responder settings = {
		.port = r->port,
		.interval_ns = CSIG_NSEC_PER_SEC / r->rate,
	};
	struct link l;
	sigset_t old;
	int status = link_get(r->dev, &l);

	if (status)
		return status;
	hold_signals(&old);
	status = add(&l, &settings);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return status;
}

int reflect_kernel_remove(const struct host_set *set, int ifindex,
			  bool *was_there)
{
	const uint32_t key = (uint32_t)ifindex;
	int err, map, status = ST_OK;
	size_t i;

	libbpf_set_print(keep_why);
	*was_there = false;
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		if (!tc_attached(ifindex, &hooks[i]))
			continue;
		*was_there = true;
		err = tc_detach(ifindex, &hooks[i]);
		if (err)
			status = fail("filter of the responder: %s",
				      strerror(-err));
	}
	map = !status && host_set_exists(set) ? get_map(set) : -1;
	if (map >= 0) {
		bpf_map_delete_elem(map, &key);
		close(map);
	}
	return status;
}

static int del(const struct link *l)
{
	struct host_set set;
	bool was_there;
	int status = host_set_open(&set, true);

	if (status)
		return status;
	status = reflect_kernel_remove(&set, l->index, &was_there);
	if (!status && !was_there)
		status = fail("%s: the kernel does not answer probes there",
			      l->name);
	host_set_close(&set);
	return status;
}

int reflect_kernel_del(const char *dev)
{
	struct link l;
	sigset_t old;
	int status = link_get(dev, &l);

	if (status)
		return status;
	hold_signals(&old);
	status = del(&l);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return status;
}

static void show_one(uint32_t ifindex, const struct csig_responder *r)
{
	char name[IF_NAMESIZE];
	bool attached;

	if (!if_indextoname(ifindex, name))
		return;		/* the device is gone, and its filters with it */
	out_open_object(NULL);
	out_str("ifname", "%s:", name);
	out_u64("ifindex", NULL, ifindex);
	out_u64("port", " port %" PRIu64, r->port);
	out_u64("rate", " rate %" PRIu64,
		(CSIG_NSEC_PER_SEC + r->interval_ns / 2) / r->interval_ns);
	attached = tc_attached((int)ifindex, &hooks[0]) &&
		   tc_attached((int)ifindex, &hooks[1]);
	out_bool("operational", attached ? NULL : " (a filter of it is gone)",
		 attached);
	out_u64("answered", "\n    answered %" PRIu64, r->answered);
	out_u64("tagged", " tagged %" PRIu64, r->tagged);
	out_u64("limited", " limited %" PRIu64, r->limited);
	out_u64("failed", " failed %" PRIu64 "\n", r->failed);
	out_close_object();
}

int reflect_kernel_show(void)
{
	struct csig_responder r;
	struct host_set set;
	uint32_t key, *prev = NULL;
	int map, status = host_set_open(&set, false);

	if (status)
		return status;
	libbpf_set_print(keep_why);
	map = host_set_exists(&set) ? get_map(&set) : -1;
	out_open_array(NULL);
	while (map >= 0 && !bpf_map_get_next_key(map, prev, &key)) {
		prev = &key;
		if (!bpf_map_lookup_elem(map, &key, &r) && r.interval_ns)
			show_one(key, &r);
	}
	out_close_array();
	if (map >= 0)
		close(map);
	host_set_close(&set);
	return ST_OK;
}
