// SPDX-License-Identifier: GPL-2.0
/*
 * Control groups (version 2): where they are mounted, identifiers and paths.  Both ways
 * go through file handles, whose content the kernel promises to be the identifier.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "csigctl.h"

#define HANDLE_KERNFS	0xfe	/* type of a handle that holds an identifier */
#define CACHE_SIZE	64

union handle {
	struct file_handle h;
	unsigned char room[sizeof(struct file_handle) + sizeof(uint64_t)];
};

const char *cgroup_mount(void)
{
	static char path[PATH_MAX];
	struct mntent *m;
	FILE *f;

	if (*path)
		return path;
	f = setmntent("/proc/self/mounts", "re");
	if (!f)
		return NULL;
	while ((m = getmntent(f))) {
		if (strcmp(m->mnt_type, "cgroup2"))
			continue;
		snprintf(path, sizeof(path), "%s", m->mnt_dir);
		break;
	}
	endmntent(f);
	errno = ENOENT;
	return *path ? path : NULL;
}

static int id_of(const char *path, uint64_t *id)
{
	union handle u = { .h.handle_bytes = sizeof(*id) };
	int mount;

	if (name_to_handle_at(AT_FDCWD, path, &u.h, &mount, 0))
		return -errno;
	if (u.h.handle_type != HANDLE_KERNFS ||
	    u.h.handle_bytes != sizeof(*id))
		return -ENOTDIR;
	memcpy(id, u.h.f_handle, sizeof(*id));
	return 0;
}

int cgroup_id(const char *path, uint64_t *id)
{
	const char *mount = cgroup_mount();
	char full[PATH_MAX];
	size_t len;

	if (!mount)
		return -errno;
	len = strlen(mount);
	if (!strncmp(path, mount, len) && (!path[len] || path[len] == '/'))
		return id_of(path, id);
	if (snprintf(full, sizeof(full), "%s/%s", mount, path) >=
	    (int)sizeof(full))
		return -ENAMETOOLONG;
	return id_of(full, id);
}

static int open_id(uint64_t id, int flags)
{
	union handle u = {
		.h.handle_bytes = sizeof(id),
		.h.handle_type = HANDLE_KERNFS,
	};
	const char *mount = cgroup_mount();
	int dir, fd;

	if (!mount)
		return -1;
	dir = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -1;
	memcpy(u.h.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(dir, &u.h, flags | O_CLOEXEC);
	close(dir);
	return fd;
}

int cgroup_open(uint64_t id)
{
	return open_id(id, O_RDONLY | O_DIRECTORY);
}

/* What an open handle is called, without the mount point */
static char *path_of(uint64_t id)
{
	const char *mount = cgroup_mount();
	char link[64], path[PATH_MAX];
	int fd = open_id(id, O_PATH);
	ssize_t len = -1;
	size_t prefix;

	if (fd < 0)
		return NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	close(fd);
	if (len < 0)
		return NULL;
	path[len] = '\0';
	prefix = strcmp(mount, "/") ? strlen(mount) : 0;
	if (strncmp(path, mount, prefix))
		return NULL;
	return strdup(path[prefix] ? path + prefix : "/");
}

/* Many sockets share a few groups. */
const char *cgroup_path(uint64_t id)
{
	static struct {
		uint64_t id;
		char *path;
	} cache[CACHE_SIZE];
	size_t i = id % CACHE_SIZE;

	if (!id)
		return NULL;
	if (cache[i].id != id) {
		free(cache[i].path);
		cache[i].path = path_of(id);
		cache[i].id = id;
	}
	return cache[i].path;
}
