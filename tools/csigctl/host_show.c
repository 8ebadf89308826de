// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl host show: devices, settings, counters.  Read only.
 */
#include <bpf/bpf.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "cgroup.h"
#include "host.h"
#include "output.h"

static const char *const count_words[CSIG_HOST_COUNTS] = {
	[CSIG_HOST_ASKED] = "asked",
	[CSIG_HOST_NEGOTIATED] = "negotiated",
	[CSIG_HOST_REFUSED] = "refused",
	[CSIG_HOST_RETRIED] = "retried",
	[CSIG_HOST_COOKIES] = "cookies",
	[CSIG_HOST_SIGNED] = "signed",
	[CSIG_HOST_MPTCP] = "mptcp",
	[CSIG_HOST_EARLIER] = "earlier",
	[CSIG_HOST_BLACKHOLES] = "blackholes",
	[CSIG_HOST_AVOIDED] = "avoided",
	[CSIG_HOST_NO_ROOM] = "no_room",
	[CSIG_HOST_NO_STORAGE] = "no_storage",
};

/* The word that "host enable" takes for it: its source, or its number */
static const char *signal_word(const struct csig_profile *p, unsigned int t,
			       char *buf, size_t size)
{
	unsigned int i;

	snprintf(buf, size, "%u", t);
	if (!p->signals[t].defined)
		return buf;
	for (i = 0; i < t; i++)
		if (p->signals[i].defined &&
		    p->signals[i].source == p->signals[t].source)
			return buf;
	return source_words[p->signals[t].source];
}

static void print_signals(const struct csig_profile *p, uint16_t signals)
{
	const char *between = "";
	unsigned int t;
	char buf[8];

	out_text(" signals ");
	out_open_array("signals");
	for (t = 0; t < CSIG_SIGNALS; t++) {
		if (!(signals >> t & 1))
			continue;
		out_text("%s", between);
		out_str(NULL, "%s", signal_word(p, t, buf, sizeof(buf)));
		between = ",";
	}
	out_close_array();
}

static void print_device(const struct csig_profile *p, const char *name,
			 uint32_t index, const struct csig_device *d,
			 bool own_port)
{
	out_open_object(NULL);
	out_str("ifname", "dev %s:", name);
	out_u64("ifindex", NULL, index);
	print_signals(p, d->signals);
	out_str("format", " format %s", format_words[d->format & 1]);
	out_u64("every", " every %" PRIu64, d->every);
	out_bool("own_port", NULL, own_port);
	out_text("%s\n", own_port ? " (port added by host enable)" : "");
	out_close_object();
}

static void print_devices(const struct csig_profile *p,
			  const struct host_set *set)
{
	uint32_t key, *from = NULL;
	struct host_place place;
	struct csig_device d;
	char name[IF_NAMESIZE];

	out_open_array("devices");
	while (set->devices >= 0 &&
	       !bpf_map_get_next_key(set->devices, from, &key)) {
		struct link l = { .index = (int)key };

		from = &key;
		if (!if_indextoname(key, name) ||
		    bpf_map_lookup_elem(set->devices, &key, &d))
			continue;
		snprintf(l.name, sizeof(l.name), "%s", name);
		if (host_tc_look(&l, &place) || !host_on(&place))
			continue;
		print_device(p, name, key, &d,
			     place.ingress.ours == FILTER_HANDLE_OWN);
	}
	out_close_array();
}

static void print_settings(const struct csig_host *h)
{
	const char *path = cgroup_path(h->cgroup_id);

	out_str("reflect", "reflect %s", reflect_words[h->reflect & 1]);
	out_u64("kind", " kind %" PRIu64, h->opt_kind);
	if (path)
		out_str("cgroup", " cgroup %s", path);
	else
		out_null("cgroup", " cgroup (gone or not mounted here)");
	out_u64("cgroup_id", NULL, h->cgroup_id);
	out_time("avoid_ns", " avoid %s\n", h->avoid_ns);
}

static void print_counts(const struct csig_host *h)
{
	size_t i;

	out_open_object("stats");
	for (i = 0; i < CSIG_HOST_COUNTS; i++) {
		out_text("%s%s", i % 4 ? " " : "  ", count_words[i]);
		out_u64(count_words[i], " %" PRIu64, h->count[i]);
		if (i % 4 == 3 || i == CSIG_HOST_COUNTS - 1)
			out_text("\n");
	}
	out_close_object();
}

int host_show(struct args *a)
{
	struct host_set set;
	struct domain d;
	int status;
	bool on;

	status = arg_end(a);
	if (!status)
		status = domain_get(&d);
	if (!status)
		status = host_set_open(&set, false);
	if (status)
		return status;
	on = host_set_lives(&set);
	out_open_object(NULL);
	out_bool("enabled", NULL, on);
	if (on) {
		print_devices(&d.profile, &set);
		print_settings(set.host);
		print_counts(set.host);
	} else {
		out_open_array("devices");
		out_close_array();
		out_text("no host is enabled; try: csigctl host enable dev DEV\n");
	}
	out_close_object();
	host_set_close(&set);
	return ST_OK;
}
