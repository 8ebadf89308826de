/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The maps of a host, described in linux/csig_bpf.h.  Weak, so that all objects that
 * include this can be linked into one.
 */
#ifndef CSIG_BPF_MAPS_H
#define CSIG_BPF_MAPS_H

#include "core.h"

#define CSIG_DEVICES_MAX	1024
#define CSIG_AVOID_MAX		4096

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct csig_flow);
} csig_flows SEC(".maps") __weak;

/* Settings are written in place, through mmap: counters go on meanwhile. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct csig_host);
} csig_host SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CSIG_DEVICES_MAX);
	__type(key, __u32);
	__type(value, struct csig_device);
} csig_devices SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CSIG_AVOID_MAX);
	__type(key, struct csig_address);
	__type(value, __u64);
} csig_avoid SEC(".maps") __weak;

static __always_inline struct csig_host *csig_host_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&csig_host, &zero);
}

static __always_inline void csig_host_count(enum csig_host_count what)
{
	struct csig_host *host = csig_host_get();

	if (host)
		__sync_fetch_and_add(&host->count[what], 1);
}

#endif /* CSIG_BPF_MAPS_H */
