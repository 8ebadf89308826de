// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl host: a device's sockets take part, or no more.  Everything or nothing: what
 * was done before a refusal is undone.
 *
 * The first device of a network namespace makes the set (programs, maps, sockops link),
 * the last one takes it away and cleans up the sockets that live on.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <unistd.h>

#include <csig.skel.h>

#include "cgroup.h"
#include "host.h"
#include "reflect.h"
#include "output.h"

static const char help[] =
	"Usage: csigctl host [ show ]\n"
	"       csigctl host enable dev DEV [ signals SIGNAL[,SIGNAL...] ]\n"
	"                    [ format { compact | expanded } ] [ every N ]\n"
	"                    [ reflect { latest | summary } ] [ cgroup PATH ]\n"
	"                    [ kind { 254 | N } ] [ avoid TIME ]\n"
	"       csigctl host disable dev DEV\n"
	"where  SIGNAL := abw | abwc | pd | nqd | T (0..15; compact: 0..7)\n"
	"       every N: 1 in N packets is tagged\n"
	"       cgroup: version 2, whose sockets take part; default: all\n"
	"       kind: of the TCP option\n"
	"       avoid: how long a destination that lost tagged packets goes untagged\n"
	"The last four are those of all devices of the network namespace.\n";

/* --- the set ---------------------------------------------------------------------- */

/**
 * struct programs - the programs of a set, while they are put in place
 * @obj: loaded for a new set, NULL for one that is there
 * @link: of the sockops program
 * @ingress: file descriptors of the tc programs
 * @egress: like it
 */
struct programs {
	struct csig_bpf *obj;
	struct bpf_link *link;
	int ingress;
	int egress;
};

static uint32_t program_id(int fd)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	return bpf_prog_get_info_by_fd(fd, &info, &len) ? 0 : info.id;
}

static int programs_load(struct programs *p)
{
	p->obj = csig_bpf_open();
	if (!p->obj)
		return ST_KERNEL;
	bpf_program__set_autoload(p->obj->progs.csig_ingress, true);
	bpf_program__set_autoload(p->obj->progs.csig_egress, true);
	bpf_program__set_autoload(p->obj->progs.csig_tcp, true);
	bpf_program__set_autoload(p->obj->progs.csig_sockets_join, true);
	if (csig_bpf_load(p->obj, NULL))
		return ST_KERNEL;
	p->ingress = bpf_program__fd(p->obj->progs.csig_ingress);
	p->egress = bpf_program__fd(p->obj->progs.csig_egress);
	return ST_OK;
}

/* Those that the other devices' filters hold */
static int programs_get(struct programs *p, const struct csig_host *host)
{
	p->ingress = bpf_prog_get_fd_by_id(host->ingress_prog_id);
	p->egress = bpf_prog_get_fd_by_id(host->egress_prog_id);
	if (p->ingress < 0 || p->egress < 0)
		return fail("the programs of the other devices: %s; disable and enable those first",
			    strerror(errno));
	return ST_OK;
}

static void programs_put(struct programs *p)
{
	bpf_link__destroy(p->link);
	if (p->obj) {
		csig_bpf__destroy(p->obj);
		return;
	}
	if (p->ingress >= 0)
		close(p->ingress);
	if (p->egress >= 0)
		close(p->egress);
}

static int write_host(const struct programs *p, const struct host_set *set,
		      const struct host_settings *s, uint64_t cgroup_id)
{
	const struct csig_host host = {
		.version = CSIG_BPF_VERSION,
		.reflect = (uint8_t)s->reflect,
		.opt_kind = s->kind,
		.ingress_prog_id = program_id(p->ingress),
		.egress_prog_id = program_id(p->egress),
		.netns_cookie = set->cookie,
		.cgroup_id = cgroup_id,
		.avoid_ns = s->avoid_ns,
	};
	const uint32_t zero = 0;

	if (bpf_map_update_elem(bpf_map__fd(p->obj->maps.csig_host), &zero,
				&host, BPF_ANY))
		return fail("settings of the host: %s", strerror(errno));
	return ST_OK;
}

static int attach(struct programs *p, int cgroup_fd)
{
	p->link = bpf_program__attach_cgroup(p->obj->progs.csig_tcp, cgroup_fd);
	if (p->link)
		return ST_OK;
	if (errno == EPERM)
		return fail("the cgroup has a sockops program that allows no other beside it; look: bpftool cgroup tree; or give another one: cgroup PATH");
	if (errno == E2BIG)
		return fail("the cgroup has as many sockops programs as it can (64, each network namespace with a host has one); look: bpftool cgroup tree; or give another one: cgroup PATH");
	return fail("the sockops program can't be attached to the cgroup: %s",
		    strerror(errno));
}

/* What goes when the last device does, or when its last device is gone */
static int set_take(struct host_set *set)
{
	struct csig_bpf *obj;
	int status = ST_KERNEL;

	host_set_unpin(set);
	obj = csig_bpf_open();
	if (!obj)
		return status;
	bpf_program__set_autoload(obj->progs.csig_sockets_leave, true);
	status = csig_bpf_load(obj, set);
	if (!status)
		status = csig_bpf_iterate(obj->progs.csig_sockets_leave, NULL,
					  NULL);
	csig_bpf__destroy(obj);
	return status;
}

/*
 * Opens the set, whose lock is held, to change it; one whose devices are all gone is
 * taken away.
 */
static int set_open(struct host_set *set)
{
	int status = host_set_open_locked(set);

	if (status || !host_set_exists(set) || host_set_lives(set))
		return status;
	set_take(set);
	return host_set_open_locked(set);
}

static bool is_deleted(uint32_t index)
{
	char name[IF_NAMESIZE];

	return !if_indextoname(index, name);
}

/* It is there, and has a host's filters. */
static bool has_host(uint32_t index)
{
	struct link l = { .index = (int)index };

	return !is_deleted(index) && host_is_on(&l);
}

/* Devices that were deleted take no places; from a deleted key on it would start over. */
static void forget_deleted(const struct host_set *set)
{
	uint32_t key, next;
	bool more = !bpf_map_get_next_key(set->devices, NULL, &next);

	while (more) {
		key = next;
		more = !bpf_map_get_next_key(set->devices, &key, &next);
		if (is_deleted(key))
			bpf_map_delete_elem(set->devices, &key);
	}
}

static bool any_device(const struct host_set *set)
{
	uint32_t key, *from = NULL;

	while (!bpf_map_get_next_key(set->devices, from, &key)) {
		from = &key;
		if (has_host(key))
			return true;
	}
	return false;
}

/* --- enable ------------------------------------------------------------------------ */

/* Settings for all devices: one of them is there already. */
static int check_common(const struct host_set *set, const struct host_settings *s,
			uint64_t cgroup_id)
{
	if (s->given[HOST_KIND] && s->kind != set->host->opt_kind)
		return fail("kind is %u for all devices of this network namespace while one of them is enabled",
			    set->host->opt_kind);
	if (s->given[HOST_CGROUP] && cgroup_id != set->host->cgroup_id)
		return fail("the cgroup is another one for all devices of this network namespace while one of them is enabled; look: csigctl host show");
	return ST_OK;
}

/* In place: the programs read it for each packet, and count beside it. */
static void change_common(struct host_set *set, const struct host_settings *s)
{
	if (s->given[HOST_REFLECT])
		__atomic_store_n(&set->host->reflect, (uint8_t)s->reflect,
				 __ATOMIC_RELAXED);
	if (s->given[HOST_AVOID])
		__atomic_store_n(&set->host->avoid_ns, s->avoid_ns,
				 __ATOMIC_RELAXED);
}

/* Enabled already: what was given changes, the rest stays. */
static int change(const struct link *l, struct host_set *set,
		  const struct host_settings *s)
{
	const uint32_t key = (uint32_t)l->index;
	struct csig_device d = s->device;
	struct csig_device old;

	if (!bpf_map_lookup_elem(set->devices, &key, &old)) {
		if (!s->given[HOST_SIGNALS])
			d.signals = old.signals;
		if (!s->given[HOST_FORMAT])
			d.format = old.format;
		if (!s->given[HOST_EVERY])
			d.every = old.every;
	}
	if (host_check_format(&d))
		return ST_KERNEL;
	if (bpf_map_update_elem(set->devices, &key, &d, BPF_ANY))
		return fail("%s: %s", l->name, strerror(errno));
	change_common(set, s);
	return ST_OK;
}

static int check_port(const struct link *l, bool *is_port)
{
	struct placement p;
	unsigned int ingress;
	int status;

	status = port_state(l, is_port, &ingress);
	if (status || !*is_port)
		return status;
	if (ingress != CSIG_INGRESS_TRUST)
		return fail("%s: its port takes tags away before the host sees them; try: csigctl port set dev %s ingress trust",
			    l->name, l->name);
	status = tc_look(l, &p);
	if (!status && !p.ingress.ours)
		status = fail("%s: its port has no ingress filter of csigctl's; try: csigctl port add dev %s ingress trust",
			      l->name, l->name);
	return status;
}

/* Port, device entry, filters; undone from the back */
static int place(const struct link *l, const struct programs *p, int devices,
		 const struct host_settings *s)
{
	const uint32_t key = (uint32_t)l->index;
	bool is_port;
	int status;

	status = check_port(l, &is_port);
	if (!status && !is_port)
		status = port_make_trusting(l);
	if (status)
		return status;
	if (bpf_map_update_elem(devices, &key, &s->device, BPF_ANY))
		status = fail("%s: %s", l->name, errno == E2BIG ?
			      "too many devices of this network namespace are enabled" :
			      strerror(errno));
	else
		status = host_tc_place(l, p->ingress, p->egress, !is_port);
	if (!status)
		return status;
	bpf_map_delete_elem(devices, &key);
	if (!is_port)
		port_take(l);
	return status;
}

static void displace(const struct link *l, int devices)
{
	const uint32_t key = (uint32_t)l->index;
	struct host_place p;

	if (host_tc_look(l, &p))
		return;
	host_tc_remove(l, &p);
	bpf_map_delete_elem(devices, &key);
	if (p.ingress.ours == FILTER_HANDLE_OWN)
		port_take(l);
}

static int enable_first(const struct link *l, struct host_set *set,
			const struct host_settings *s, int cgroup_fd,
			uint64_t cgroup_id)
{
	struct programs p = { .ingress = -1, .egress = -1 };
	int devices, status;

	status = programs_load(&p);
	if (!status)
		status = write_host(&p, set, s, cgroup_id);
	if (status)
		goto out;
	devices = bpf_map__fd(p.obj->maps.csig_devices);
	status = place(l, &p, devices, s);
	if (status)
		goto out;
	status = attach(&p, cgroup_fd);
	if (!status)
		status = host_set_pin(set, p.obj, bpf_link__fd(p.link));
	if (!status) {
		status = csig_bpf_iterate(p.obj->progs.csig_sockets_join, NULL,
					  NULL);
		if (status)
			host_set_unpin(set);
	}
	if (status)
		displace(l, devices);
out:
	programs_put(&p);
	return status;
}

static int enable_next(const struct link *l, struct host_set *set,
		       const struct host_settings *s)
{
	struct programs p = { .ingress = -1, .egress = -1 };
	int status = programs_get(&p, set->host);

	forget_deleted(set);
	if (!status)
		status = place(l, &p, set->devices, s);
	if (!status)
		change_common(set, s);
	programs_put(&p);
	return status;
}

static int enable(const struct link *l, struct host_set *set, struct args *a,
		  struct host_settings *s, int cgroup_fd, uint64_t cgroup_id)
{
	struct host_place p;
	int status;

	status = set_open(set);
	if (!status)
		status = host_tc_look(l, &p);
	if (!status)
		status = host_tc_check(l, &p);
	if (!status && host_set_exists(set))
		status = check_common(set, s, cgroup_id);
	if (status)
		return status;
	/* half of it, or without a set: start over */
	if (host_on(&p) && !(host_set_exists(set) && p.ingress.ours &&
			     p.egress.ours)) {
		status = host_tc_remove(l, &p);
		if (!status && p.ingress.ours == FILTER_HANDLE_OWN)
			status = port_take(l);
		memset(&p, 0, sizeof(p));
	}
	if (status)
		return status;
	if (host_on(&p))
		return change(l, set, s);
	/* the default is of no matter before */
	if (!s->given[HOST_SIGNALS])
		status = host_signals(a, s);
	if (status)
		return status;
	if (host_check_format(&s->device))
		return ST_KERNEL;
	return host_set_exists(set) ? enable_next(l, set, s) :
		enable_first(l, set, s, cgroup_fd, cgroup_id);
}

/* A file descriptor of the cgroup; the root without a path */
static int find_cgroup(const char *path, int *fd, uint64_t *id)
{
	const char *mount = cgroup_mount();
	int err;

	if (!mount)
		return fail("cgroup v2 is not mounted; try: mkdir -p /run/cgroup2 && mount -t cgroup2 none /run/cgroup2");
	err = cgroup_id(path ? path : mount, id);
	if (!err) {
		*fd = cgroup_open(*id);
		err = *fd < 0 ? -errno : 0;
	}
	return err ? fail("cgroup %s: %s; groups of version 2 are below %s",
			  path ? path : "/", strerror(-err), mount) : ST_OK;
}

static int host_enable(struct args *a)
{
	uint64_t cgroup_id = 0;
	const char *dev, *why;
	struct host_settings s;
	struct host_set set;
	int cgroup_fd = -1;
	struct link l;
	sigset_t old;
	int status;

	if (arg_dev(a, &dev) || host_parse(a, &s))
		return ST_USAGE;
	status = csig_open();
	if (!status)
		status = link_get(dev, &l);
	if (status)
		return status;
	if (l.type != ARPHRD_ETHER)
		return fail("%s: not an Ethernet device, there is no room for a tag in its frames",
			    dev);
	if (!csig_bpf_possible(&why))
		return fail("a host needs BPF: %s", why);
	if (s.given[HOST_SIGNALS])
		status = host_signals(a, &s);
	/* first, since "ip netns exec" hides cgroups as well */
	if (!status)
		status = host_need_bpffs();
	if (!status)
		status = find_cgroup(s.cgroup, &cgroup_fd, &cgroup_id);
	if (status)
		return status;
	status = host_set_lock(&set);	/* waits, which may be interrupted */
	if (!status) {
		hold_signals(&old);
		status = enable(&l, &set, a, &s, cgroup_fd, cgroup_id);
		host_set_close(&set);
		sigprocmask(SIG_SETMASK, &old, NULL);
	}
	close(cgroup_fd);
	return status;
}

/* --- disable ----------------------------------------------------------------------- */

/* Parts may be gone already: whatever is left of ours goes, too. */
static int disable(const struct link *l, struct host_set *set)
{
	const uint32_t key = (uint32_t)l->index;
	struct host_place p;
	bool reflects;
	int status;

	status = set_open(set);
	if (status)
		return status;
	status = host_tc_look(l, &p);
	if (!status && !host_on(&p))
		status = fail("%s: no host is enabled on it", l->name);
	if (!status)
		status = reflect_kernel_remove(set, l->index, &reflects);
	if (!status)
		status = host_tc_remove(l, &p);
	if (!status && host_set_exists(set)) {
		bpf_map_delete_elem(set->devices, &key);
		forget_deleted(set);
		if (!any_device(set))
			status = set_take(set);
	}
	if (p.ingress.ours == FILTER_HANDLE_OWN && port_take(l))
		status = ST_KERNEL;
	return status;
}

static int host_disable(struct args *a)
{
	struct host_set set;
	const char *dev;
	struct link l;
	sigset_t old;
	int status;

	if (arg_dev(a, &dev) || arg_end(a))
		return ST_USAGE;
	status = csig_open();
	if (!status)
		status = link_get(dev, &l);
	if (!status)
		status = host_set_lock(&set);
	if (status)
		return status;
	hold_signals(&old);
	status = disable(&l, &set);
	host_set_close(&set);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return status;
}

int do_host(struct args *a)
{
	static const struct command commands[] = {
		{ "show", host_show },
		{ "enable", host_enable },
		{ "disable", host_disable },
	};

	return run_command(a, commands, ARRAY_SIZE(commands), "show", help);
}
