/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The BPF side of a host: loading the programs, the set of pins of a network
 * namespace.  csig.skel.h is included by the files that need the programs by name.
 */
#ifndef CSIGCTL_HOST_BPF_H
#define CSIGCTL_HOST_BPF_H

#include <linux/csig_bpf.h>

#include "csigctl.h"

struct bpf_program;
struct csig_bpf;

/**
 * struct host_set - what is pinned for the current network namespace
 * @dir: its folder in bpffs
 * @lock: held while it is made, changed or taken away; -1 when it is only read
 * @cookie: of the network namespace
 * @host: settings and counters, shared with the programs; NULL without a set
 * @host_fd: csig_host, as those below a file descriptor or -1
 * @flows: csig_flows
 * @devices: csig_devices
 * @avoid: csig_avoid
 */
struct host_set {
	char dir[96];
	int lock;
	uint64_t cookie;
	struct csig_host *host;
	int host_fd;
	int flows;
	int devices;
	int avoid;
};

/* host_set.c; status, messages are printed */
int host_need_bpffs(void);
int host_set_open(struct host_set *set, bool change);
int host_set_lock(struct host_set *set);
int host_set_open_locked(struct host_set *set);
bool host_set_is_stale(const struct host_set *set);
bool host_set_exists(const struct host_set *set);
bool host_set_lives(const struct host_set *set);
void host_set_close(struct host_set *set);
int host_set_pin(struct host_set *set, struct csig_bpf *obj, int link);
void host_set_unpin(struct host_set *set);

/*
 * host_bpf.c.  csig_bpf_open() gives the object with no program selected; select with
 * bpf_program__set_autoload(), then csig_bpf_load() with the maps of an existing set,
 * or with new ones when set is NULL.  csig_bpf__destroy() ends it.
 */
struct csig_bpf *csig_bpf_open(void);
int csig_bpf_load(struct csig_bpf *obj, const struct host_set *set);
int csig_bpf_iterate(const struct bpf_program *iter,
		     int (*record)(const void *data, size_t len, void *arg),
		     void *arg);
bool csig_bpf_has_sockets(int flows);
bool csig_bpf_possible(const char **why);

#endif /* CSIGCTL_HOST_BPF_H */
