// SPDX-License-Identifier: GPL-2.0
/*
 * The cgroup whose sockets take part: version 2 only, wherever it is mounted (on hybrid
 * machines "unified").
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "host.h"

#define CGROUP2_MAGIC	0x63677270
#define HANDLE_KERNFS	0xfe	/* FILEID_KERNFS: the id of the node */

/* mountinfo writes blanks and backslashes as octal numbers. */
static void unescape(char *s)
{
	char *o = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] && s[3]) {
			*o++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 |
				      (s[3] - '0'));
			s += 3;
		} else {
			*o++ = *s;
		}
	}
	*o = '\0';
}

/* Where cgroup v2 is mounted, the first place if there are several */
bool cgroup_mount(char *path, size_t size)
{
	FILE *f = fopen("/proc/self/mountinfo", "r");
	char *line = NULL, *type, *where, *end;
	bool found = false;
	size_t len = 0;
	int i;

	while (f && !found && getline(&line, &len, f) >= 0) {
		type = strstr(line, " - ");
		if (!type || strncmp(type + 3, "cgroup2 ", 8))
			continue;
		/* ID PARENT MAJOR:MINOR ROOT PLACE */
		where = line;
		for (i = 0; i < 4 && where; i++) {
			where = strchr(where, ' ');
			where = where ? where + 1 : NULL;
		}
		end = where ? strchr(where, ' ') : NULL;
		if (!end)
			continue;
		*end = '\0';
		unescape(where);
		found = (size_t)snprintf(path, size, "%s", where) < size;
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

/* path NULL: the root of what is mounted; a path without a slash in front is below it */
int cgroup_open(const char *path, int *fd, uint64_t *id)
{
	char root[512] = "", full[1024];
	struct statfs fs;
	struct stat st;

	if (!path || path[0] != '/') {
		if (!cgroup_mount(root, sizeof(root)))
			return fail("cgroup v2 is not mounted; try: mkdir -p /run/cgroup2 && mount -t cgroup2 none /run/cgroup2");
		if (snprintf(full, sizeof(full), "%s%s%s", root,
			     path ? "/" : "", path ? path : "") >=
		    (int)sizeof(full))
			return fail("%s: %s", path, strerror(ENAMETOOLONG));
		path = full;
	}
	*fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*fd < 0)
		return fail("cgroup %s: %s", path, strerror(errno));
	if (fstatfs(*fd, &fs) || (uint32_t)fs.f_type != CGROUP2_MAGIC ||
	    fstat(*fd, &st)) {
		close(*fd);
		*fd = -1;
		return fail("%s is not a folder of cgroup v2%s%s", path,
			    cgroup_mount(root, sizeof(root)) ?
			    "; that is mounted at " : "", root);
	}
	*id = st.st_ino;
	return ST_OK;
}

/* The folder of a cgroup, where it is mounted here; false when it is gone */
bool cgroup_path(uint64_t id, char *path, size_t size)
{
	struct {
		struct file_handle head;
		uint64_t id;
	} handle = { .head = { .handle_bytes = sizeof(id),
			       .handle_type = HANDLE_KERNFS } };
	int mount_fd, fd = -1;
	char root[512], self[64];
	ssize_t n = -1;

	if (!cgroup_mount(root, sizeof(root)))
		return false;
	memcpy(handle.head.f_handle, &id, sizeof(id));
	mount_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mount_fd >= 0)
		fd = open_by_handle_at(mount_fd, &handle.head,
				       O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
		n = readlink(self, path, size - 1);
		close(fd);
	}
	if (mount_fd >= 0)
		close(mount_fd);
	if (n < 0)
		return false;
	path[n] = '\0';
	return true;
}
