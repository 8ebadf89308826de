// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl doctor, the host: can one be enabled here, and do enabled ones get the tags?
 */
#include <bpf/bpf.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/vfs.h>

#include "cgroup.h"
#include "doctor.h"
#include "host.h"

#define BPFFS_MAGIC	0xcafe4a11

static void check_cgroup(void)
{
	const char *mount = cgroup_mount();

	if (mount)
		doctor_say(OK, "cgroup", NULL, "version 2 at %s", mount);
	else
		doctor_say(WARN, "cgroup", NULL,
			   "version 2 is not mounted, a host can't be enabled; try: mkdir -p /run/cgroup2 && mount -t cgroup2 none /run/cgroup2");
}

static void check_bpffs(void)
{
	struct statfs s;

	if (statfs("/sys/fs/bpf", &s))
		doctor_say(WARN, "bpffs", NULL,
			   "/sys/fs/bpf is not there, the kernel has no BPF: a host can't be enabled");
	else if ((uint32_t)s.f_type == BPFFS_MAGIC)
		doctor_say(OK, "bpffs", NULL, "/sys/fs/bpf");
	else
		doctor_say(OK, "bpffs", NULL,
			   "not mounted at /sys/fs/bpf, \"host enable\" will do that");
}

static void check_device(const struct host_set *set, uint32_t index)
{
	struct host_place place;
	unsigned int ingress;
	struct placement p;
	struct link l;
	char name[IF_NAMESIZE];
	bool is_port;

	if (!if_indextoname(index, name) || link_get(name, &l) ||
	    host_tc_look(&l, &place) || port_state(&l, &is_port, &ingress) ||
	    tc_look(&l, &p))
		return;
	if (!host_on(&place))
		return;
	if (!place.ingress.ours || !place.egress.ours)
		doctor_say(FAIL, "host", name,
			   "one of its two filters is gone; try: csigctl host enable dev %s",
			   name);
	else if (!is_port || !p.ingress.ours)
		doctor_say(FAIL, "host", name,
			   "its port is gone, tags are not taken off; try: csigctl host disable dev %s, then enable it again",
			   name);
	else if (ingress != CSIG_INGRESS_TRUST)
		doctor_say(FAIL, "host", name,
			   "its port takes tags away before the host sees them; try: csigctl port set dev %s ingress trust",
			   name);
	else if (!host_set_lives(set))
		doctor_say(FAIL, "host", name,
			   "its programs are not attached; try: csigctl host enable dev %s",
			   name);
	else
		doctor_say(OK, "host", name, "enabled");
}

static void check_counts(const struct csig_host *h)
{
	if (h->count[CSIG_HOST_NO_STORAGE])
		doctor_say(WARN, "host", NULL,
			   "%llu sockets had no memory for their state; try a higher net.core.optmem_max",
			   (unsigned long long)h->count[CSIG_HOST_NO_STORAGE]);
	if (h->count[CSIG_HOST_BLACKHOLES])
		doctor_say(WARN, "host", NULL,
			   "%llu connections lost what was tagged: a device on their paths drops tagged frames; look: csigctl flow show",
			   (unsigned long long)h->count[CSIG_HOST_BLACKHOLES]);
}

void doctor_host(void)
{
	uint32_t key, *from = NULL;
	struct host_set set;

	check_cgroup();
	check_bpffs();
	if (host_set_open(&set, false) || !host_set_exists(&set))
		return;
	while (!bpf_map_get_next_key(set.devices, from, &key)) {
		from = &key;
		check_device(&set, key);
	}
	check_counts(set.host);
	host_set_close(&set);
}
