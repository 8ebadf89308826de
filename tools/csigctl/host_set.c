// SPDX-License-Identifier: GPL-2.0
/*
 * The set of a network namespace: maps of its host and the link of its sockops program,
 * pinned in bpffs under the namespace's cookie.
 *
 * The tc programs are not pinned: the filters that hold them go with their devices, and
 * with the namespace.  A set whose tc programs are gone is of no use any more; it is
 * taken away by the next csigctl that changes any set, or, as long as sockets are in it
 * that only their own namespace can clean up, by the next one there.
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <csig.skel.h>

#include "host_bpf.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE		71
#endif
#define BPFFS			"/sys/fs/bpf"
#define BPFFS_MAGIC		0xcafe4a11
#define PIN_LINK		"link"

static const char *const pins[] = {
	PIN_LINK, CSIG_BPF_MAP_HOST, CSIG_BPF_MAP_FLOWS, CSIG_BPF_MAP_DEVICES,
	CSIG_BPF_MAP_AVOID, CSIG_BPF_MAP_RESPONDERS,
};

static bool is_bpffs(void)
{
	struct statfs s;

	return !statfs(BPFFS, &s) && (uint32_t)s.f_type == BPFFS_MAGIC;
}

/*
 * A mount in a mount namespace of its own would go with the command: "ip netns exec"
 * makes one, in which /sys is mounted again and bpffs is not.
 */
static bool mounts_are_private(void)
{
	struct stat self, init;

	return !stat("/proc/self/ns/mnt", &self) &&
	       !stat("/proc/1/ns/mnt", &init) && self.st_ino != init.st_ino;
}

/* The mount of the pins, made if need be */
int host_need_bpffs(void)
{
	if (is_bpffs())
		return ST_OK;
	if (mounts_are_private())
		return fail("no bpffs at %s here, and a mount would end with this command (\"ip netns exec\"?); use: csigctl -n NETNS",
			    BPFFS);
	if (mount("bpf", BPFFS, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  "mode=0700"))
		return fail("bpffs can't be mounted at %s: %s", BPFFS,
			    strerror(errno));
	return ST_OK;
}

static int netns_cookie(uint64_t *cookie)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(*cookie);
	int err = -1;

	if (fd >= 0)
		err = getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, cookie, &len);
	if (err)
		fail("cookie of the network namespace: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return err ? ST_KERNEL : ST_OK;
}

static int pin_get(const char *dir, const char *name)
{
	char path[192];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return bpf_obj_get(path);
}

static void *map_host(int fd)
{
	void *p = mmap(NULL, sizeof(struct csig_host), PROT_READ | PROT_WRITE,
		       MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static bool program_lives(uint32_t id)
{
	int fd = bpf_prog_get_fd_by_id(id);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno != ENOENT;
}

/* The program stops at once, not when the last reference is dropped. */
static void detach(const char *dir)
{
	int link = pin_get(dir, PIN_LINK);

	if (link < 0)
		return;
	bpf_link_detach(link);
	close(link);
}

static void unpin(const char *dir)
{
	char path[192];
	size_t i;

	detach(dir);
	for (i = 0; i < ARRAY_SIZE(pins); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, pins[i]);
		unlink(path);
	}
	rmdir(dir);
}

/* Does any filter hold this set's programs? */
static bool set_lives(const char *dir)
{
	struct csig_host *host;
	bool lives = true;
	int fd;

	fd = pin_get(dir, CSIG_BPF_MAP_HOST);
	if (fd < 0)
		return errno != ENOENT;
	host = map_host(fd);
	close(fd);
	if (!host)
		return true;
	/* Another version's: its layout says nothing here. */
	if (host->version == CSIG_BPF_VERSION)
		lives = program_lives(host->ingress_prog_id) ||
			program_lives(host->egress_prog_id);
	munmap(host, sizeof(*host));
	return lives;
}

/*
 * Is any socket in the set, in whatever namespace?  Those of a namespace that is gone
 * are gone, too.
 */
static bool has_sockets(const char *dir)
{
	int flows = pin_get(dir, CSIG_BPF_MAP_FLOWS);
	bool has;

	if (flows < 0)
		return errno != ENOENT;
	has = csig_bpf_has_sockets(flows);
	close(flows);
	return has;
}

/* Sets of namespaces and devices that are gone; under the lock. */
static void sweep(const char *own)
{
	DIR *d = opendir(CSIG_BPF_PINS);
	struct dirent *e;
	char dir[96];

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, "net-", 4))
			continue;
		snprintf(dir, sizeof(dir), "%s/%.48s", CSIG_BPF_PINS, e->d_name);
		if (!strcmp(dir, own) || set_lives(dir))
			continue;
		/* callback flags can be taken back from within the namespace only */
		detach(dir);
		if (!has_sockets(dir))
			unpin(dir);
	}
	if (d)
		closedir(d);
}

bool host_set_exists(const struct host_set *set)
{
	return set->host;
}

bool host_set_lives(const struct host_set *set)
{
	return set->host && (program_lives(set->host->ingress_prog_id) ||
			     program_lives(set->host->egress_prog_id));
}

static void close_maps(struct host_set *set)
{
	int *fds[] = { &set->host_fd, &set->flows, &set->devices, &set->avoid };
	size_t i;

	if (set->host)
		munmap(set->host, sizeof(*set->host));
	set->host = NULL;
	for (i = 0; i < ARRAY_SIZE(fds); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

void host_set_close(struct host_set *set)
{
	close_maps(set);
	if (set->lock >= 0)
		close(set->lock);
	set->lock = -1;
}

static int init(struct host_set *set)
{
	int status;

	*set = (struct host_set){ .lock = -1, .host_fd = -1, .flows = -1,
				  .devices = -1, .avoid = -1 };
	status = netns_cookie(&set->cookie);
	snprintf(set->dir, sizeof(set->dir), "%s/net-%llu", CSIG_BPF_PINS,
		 (unsigned long long)set->cookie);
	return status;
}

/*
 * Locks others out, until host_set_close(); host_set_open_locked() comes next.  It may
 * wait, so it is called before signals are held.
 */
int host_set_lock(struct host_set *set)
{
	int status = init(set);

	if (!status)
		status = host_need_bpffs();
	if (status)
		return status;
	if (mkdir(CSIG_BPF_PINS, 0700) && errno != EEXIST)
		return fail("%s: %s", CSIG_BPF_PINS, strerror(errno));
	set->lock = open(CSIG_BPF_PINS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (set->lock >= 0 && !flock(set->lock, LOCK_EX))
		return ST_OK;
	status = fail("%s: %s", CSIG_BPF_PINS, strerror(errno));
	host_set_close(set);
	return status;
}

static int open_maps(struct host_set *set)
{
	set->host_fd = pin_get(set->dir, CSIG_BPF_MAP_HOST);
	if (set->host_fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return ST_OK;
	if (set->host_fd >= 0) {
		set->flows = pin_get(set->dir, CSIG_BPF_MAP_FLOWS);
		set->devices = pin_get(set->dir, CSIG_BPF_MAP_DEVICES);
		set->avoid = pin_get(set->dir, CSIG_BPF_MAP_AVOID);
		set->host = map_host(set->host_fd);
	}
	if (set->flows < 0 || set->devices < 0 || set->avoid < 0 || !set->host)
		return fail("%s: %s", set->dir, strerror(errno));
	if (set->host->version != CSIG_BPF_VERSION)
		return fail("the host was enabled by a csigctl of another version; with that one: csigctl host disable dev DEV");
	return ST_OK;
}

/* To change the set or to make one, under the lock; again after the set was taken away */
int host_set_open_locked(struct host_set *set)
{
	close_maps(set);
	sweep(set->dir);
	return open_maps(set);
}

/*
 * Opens the set of the current namespace, if there is one (host_set_exists()); to change
 * it under the lock.
 */
int host_set_open(struct host_set *set, bool change)
{
	int status;

	if (change) {
		status = host_set_lock(set);
		if (!status)
			status = host_set_open_locked(set);
	} else {
		status = init(set);
		if (!status && !is_bpffs() && mounts_are_private())
			status = host_need_bpffs();
		if (!status)
			status = open_maps(set);
	}
	if (status)
		host_set_close(set);
	return status;
}

static uint32_t map_id(int fd)
{
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info);

	return bpf_map_get_info_by_fd(fd, &info, &len) ? 0 : info.id;
}

/* Is what was opened no more what is pinned?  Without a set: is there one now? */
bool host_set_is_stale(const struct host_set *set)
{
	int fd = pin_get(set->dir, CSIG_BPF_MAP_HOST);
	bool stale;

	if (fd < 0)
		return host_set_exists(set) && errno == ENOENT;
	stale = !host_set_exists(set) || map_id(fd) != map_id(set->host_fd);
	close(fd);
	return stale;
}

/* The maps of a loaded object and its attached link become the namespace's set. */
int host_set_pin(struct host_set *set, struct csig_bpf *obj, int link)
{
	const struct {
		const char *name;
		int fd;
	} what[] = {
		{ CSIG_BPF_MAP_FLOWS, bpf_map__fd(obj->maps.csig_flows) },
		{ CSIG_BPF_MAP_DEVICES, bpf_map__fd(obj->maps.csig_devices) },
		{ CSIG_BPF_MAP_AVOID, bpf_map__fd(obj->maps.csig_avoid) },
		{ PIN_LINK, link },
		{ CSIG_BPF_MAP_HOST, bpf_map__fd(obj->maps.csig_host) },
	};
	char path[192];
	size_t i;

	if (mkdir(set->dir, 0700) && errno != EEXIST)
		return fail("%s: %s", set->dir, strerror(errno));
	for (i = 0; i < ARRAY_SIZE(what); i++) {
		snprintf(path, sizeof(path), "%s/%s", set->dir, what[i].name);
		if (bpf_obj_pin(what[i].fd, path)) {
			fail("%s: %s", path, strerror(errno));
			unpin(set->dir);
			return ST_KERNEL;
		}
	}
	return ST_OK;
}

void host_set_unpin(struct host_set *set)
{
	unpin(set->dir);
}
