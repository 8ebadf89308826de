// SPDX-License-Identifier: GPL-2.0
/*
 * Loading the BPF programs of a host, and running its iterators.  Where the maps are
 * kept is host_set.c.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <csig.skel.h>

#include "host_bpf.h"

#define READ_SIZE	65536

static char why[256];		/* libbpf's first complaint, the others follow from it */

static int keep_why(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level != LIBBPF_WARN || why[0])
		return 0;
	vsnprintf(why, sizeof(why), fmt, ap);
	why[strcspn(why, "\n")] = '\0';
	return 0;
}

static bool module_has_kfuncs(void)
{
	FILE *f = fopen("/sys/module/csig/parameters/kfuncs", "r");
	int c = f ? getc(f) : 'N';

	if (f)
		fclose(f);
	return c == 'Y';
}

/* Can this kernel load the programs?  If not, why points to the reason. */
bool csig_bpf_possible(const char **reason)
{
	if (access("/sys/kernel/btf/vmlinux", F_OK))
		*reason = "this kernel has no BTF (CONFIG_DEBUG_INFO_BTF)";
	else if (access("/sys/kernel/btf/csig", F_OK))
		*reason = "the csig module was built without BTF; look: csigctl doctor";
	else if (!module_has_kfuncs())
		*reason = "the csig module could not register its kernel functions; look: dmesg";
	else
		return true;
	return false;
}

struct csig_bpf *csig_bpf_open(void)
{
	struct bpf_program *prog = NULL;
	struct csig_bpf *obj;

	libbpf_set_print(keep_why);
	why[0] = '\0';
	obj = csig_bpf__open();
	if (!obj) {
		fail("the BPF programs can't be opened: %s",
		     why[0] ? why : strerror(errno));
		return NULL;
	}
	while ((prog = bpf_object__next_program(obj->obj, prog)))
		bpf_program__set_autoload(prog, false);
	return obj;
}

static int reuse(struct bpf_map *map, int fd)
{
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info);

	if (bpf_map_get_info_by_fd(fd, &info, &len))
		return fail("%s: %s", bpf_map__name(map), strerror(errno));
	if (info.value_size != bpf_map__value_size(map))
		return fail("the host was enabled by a csigctl of another version; with that one: csigctl host disable dev DEV");
	if (bpf_map__reuse_fd(map, fd))
		return fail("%s: %s", bpf_map__name(map), strerror(errno));
	return ST_OK;
}

int csig_bpf_load(struct csig_bpf *obj, const struct host_set *set)
{
	int err, status = ST_OK;

	if (set) {
		status = reuse(obj->maps.csig_flows, set->flows);
		if (!status)
			status = reuse(obj->maps.csig_devices, set->devices);
		if (!status)
			status = reuse(obj->maps.csig_avoid, set->avoid);
		if (!status)
			status = reuse(obj->maps.csig_host, set->host_fd);
	}
	if (status)
		return status;
	why[0] = '\0';
	err = csig_bpf__load(obj);
	if (err == -EPERM)
		return fail("the kernel does not take the BPF programs: CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON are needed");
	if (err)
		return fail("the kernel does not take the BPF programs: %s",
			    why[0] ? why : strerror(-err));
	return ST_OK;
}

static int iterate(const struct bpf_program *iter,
		   const struct bpf_iter_attach_opts *opts,
		   int (*record)(const void *data, size_t len, void *arg),
		   void *arg)
{
	struct bpf_link *link = bpf_program__attach_iter(iter, opts);
	int fd = -1, status = ST_OK;
	char *buf = NULL;
	ssize_t n;

	if (!link)
		return fail("%s: %s", bpf_program__name(iter), strerror(errno));
	fd = bpf_iter_create(bpf_link__fd(link));
	buf = malloc(READ_SIZE);
	if (fd < 0 || !buf) {
		status = fail("%s: %s", bpf_program__name(iter),
			      strerror(errno));
		goto out;
	}
	for (;;) {
		n = read(fd, buf, READ_SIZE);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			status = fail("%s: %s", bpf_program__name(iter),
				      strerror(errno));
		if (n <= 0)
			break;
		if (record && record(buf, (size_t)n, arg))
			break;
	}
out:
	free(buf);
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return status;
}

/*
 * Runs an iterator in the current network namespace; what it writes goes to the
 * function in pieces as they are read, until that returns other than 0.
 */
int csig_bpf_iterate(const struct bpf_program *iter,
		     int (*record)(const void *data, size_t len, void *arg),
		     void *arg)
{
	return iterate(iter, NULL, record, arg);
}

static int note_any(const void *data, size_t len, void *arg)
{
	(void)data;
	*(bool *)arg = len;
	return 1;
}

/* Does any socket, of any network namespace, have storage in the map?  In doubt yes. */
bool csig_bpf_has_sockets(int flows)
{
	union bpf_iter_link_info info = { .map.map_fd = (uint32_t)flows };
	LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &info,
		    .link_info_len = sizeof(info));
	struct csig_bpf *obj = csig_bpf_open();
	bool any = false;
	int status;

	if (!obj)
		return true;
	bpf_program__set_autoload(obj->progs.csig_sockets_any, true);
	status = csig_bpf_load(obj, NULL);
	if (!status)
		status = iterate(obj->progs.csig_sockets_any, &opts, note_any,
				 &any);
	csig_bpf__destroy(obj);
	return status || any;
}
