// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets from the kernel: loads the iterators of bpf/flow.bpf.c onto the maps that
 * "host enable" pinned, and takes their records as they come.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "host_bpf.h"

#include <csig.skel.h>

#define DEVICES_MAX	1024

/**
 * struct flow_reader - programs that are loaded
 * @filter: of the sockets
 * @set: maps of this network namespace's host
 * @obj: only the iterators of it
 * @all_signals: asked for at any device
 * @ndevices: devices that are known
 * @devices: ifindex and what is asked for there
 * @each: gets the records
 * @arg: of @each
 * @part: a record that is not complete yet
 * @part_len: octets of it
 * @wrong: a record was not understood
 */
struct flow_reader {
	struct csig_flow_filter filter;
	struct host_set set;
	struct csig_bpf *obj;
	uint16_t all_signals;
	unsigned int ndevices;
	struct {
		uint32_t ifindex;
		uint16_t signals;
	} devices[DEVICES_MAX];
	void (*each)(const struct flow_entry *e, void *arg);
	void *arg;
	struct flow_entry part;
	size_t part_len;
	bool wrong;
};

static void read_devices(struct flow_reader *r)
{
	uint32_t key = 0, *last = NULL;
	struct csig_device d;

	r->ndevices = 0;
	r->all_signals = 0;
	while (r->ndevices < DEVICES_MAX &&
	       !bpf_map_get_next_key(r->set.devices, last, &key)) {
		last = &key;
		if (bpf_map_lookup_elem(r->set.devices, &key, &d))
			continue;
		r->devices[r->ndevices].ifindex = key;
		r->devices[r->ndevices++].signals = d.signals;
		r->all_signals |= d.signals;
	}
}

static int load(struct flow_reader *r)
{
	r->obj = csig_bpf_open();
	if (!r->obj)
		return ST_KERNEL;
	bpf_program__set_autoload(r->obj->progs.csig_flow_tcp, true);
	bpf_program__set_autoload(r->obj->progs.csig_flow_udp, true);
	memcpy((void *)&r->obj->rodata->csig_flow_filter, &r->filter,
	       sizeof(r->filter));
	return csig_bpf_load(r->obj, &r->set);
}

/* The sockets that match; NULL after a message */
struct flow_reader *flow_open(const struct csig_flow_filter *filter)
{
	struct flow_reader *r = calloc(1, sizeof(*r));

	if (!r) {
		fail("out of memory");
		return NULL;
	}
	r->filter = *filter;
	if (host_set_open(&r->set, false)) {
		free(r);
		return NULL;
	}
	if (!flow_host_exists(r))
		fail("this network namespace is no CSIG host; use: csigctl host enable dev DEV");
	else if (!load(r))
		return r;
	flow_close(r);
	return NULL;
}

bool flow_host_exists(const struct flow_reader *r)
{
	return host_set_exists(&r->set);
}

/*
 * True when the host was disabled or enabled since; sockets are those of the new one
 * then, none without.
 */
bool flow_reopen(struct flow_reader *r, int *status)
{
	if (!host_set_is_stale(&r->set))
		return false;
	csig_bpf__destroy(r->obj);
	r->obj = NULL;
	host_set_close(&r->set);
	*status = host_set_open(&r->set, false);
	if (!*status && flow_host_exists(r))
		*status = load(r);
	return true;
}

void flow_close(struct flow_reader *r)
{
	csig_bpf__destroy(r->obj);
	host_set_close(&r->set);
	free(r);
}

/* A piece of the stream; a record may begin in one and end in the next. */
static int take(const void *data, size_t len, void *arg)
{
	struct flow_reader *r = arg;
	const char *p = data;
	size_t n;

	while (len) {
		n = sizeof(r->part) - r->part_len;
		if (n > len)
			n = len;
		memcpy((char *)&r->part + r->part_len, p, n);
		r->part_len += n;
		p += n;
		len -= n;
		if (r->part_len < sizeof(r->part))
			break;
		r->wrong = r->part.head.version != CSIG_BPF_VERSION ||
			   r->part.head.size != sizeof(r->part);
		if (r->wrong)
			return -1;
		r->each(&r->part, r->arg);
		r->part_len = 0;
	}
	return 0;
}

/* Calls @each for every socket; status, messages are printed. */
int flow_read(struct flow_reader *r,
	      void (*each)(const struct flow_entry *e, void *arg), void *arg)
{
	const struct bpf_program *iters[2];
	int status = ST_OK;
	size_t i;

	if (!flow_host_exists(r))
		return ST_OK;
	iters[0] = r->obj->progs.csig_flow_tcp;
	iters[1] = r->obj->progs.csig_flow_udp;
	read_devices(r);
	r->each = each;
	r->arg = arg;
	for (i = 0; i < ARRAY_SIZE(iters) && !status; i++) {
		r->part_len = 0;
		r->wrong = false;
		status = csig_bpf_iterate(iters[i], take, r);
		if (!status && (r->wrong || r->part_len))
			status = fail("the records of flows are not understood");
	}
	return status;
}

/* Which signals are asked for on this flow; a VLAN's device is not in the list. */
uint16_t flow_requested(const struct flow_reader *r,
			const struct flow_entry *e)
{
	unsigned int i;

	if (e->flow.signals)
		return e->flow.signals;
	for (i = 0; i < r->ndevices; i++)
		if (r->devices[i].ifindex == e->head.ifindex)
			return r->devices[i].signals;
	return r->all_signals;
}
