/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A host: host.c decides, host_tc.c puts its filters in place, host_set.c keeps its
 * maps, host_show.c prints it.
 */
#ifndef CSIGCTL_HOST_H
#define CSIGCTL_HOST_H

#include "host_bpf.h"
#include "port.h"

/**
 * struct host_place - a host's filters on a device
 * @ingress: behind the port's
 * @egress: before the port's
 * @clsact: "clsact", "ingress" or ""
 */
struct host_place {
	struct filters ingress;
	struct filters egress;
	char clsact[16];
};

enum host_setting {
	HOST_SIGNALS,
	HOST_FORMAT,
	HOST_EVERY,
	HOST_REFLECT,
	HOST_CGROUP,
	HOST_KIND,
	HOST_AVOID,
	HOST_SETTINGS
};

/**
 * struct host_settings - what "host enable" was told, defaults otherwise
 * @given: by enum host_setting
 * @signals: words, looked up in the domain
 * @device: signals, every and format
 * @reflect: enum csig_reflect
 * @kind: of the option
 * @cgroup: path, NULL for the root
 * @avoid_ns: how long a destination that loses tagged packets is not tagged
 */
struct host_settings {
	bool given[HOST_SETTINGS];
	const char *signals;
	struct csig_device device;
	unsigned int reflect;
	uint8_t kind;
	const char *cgroup;
	uint64_t avoid_ns;
};

/* host_parse.c */
int host_parse(struct args *a, struct host_settings *s);
int host_signals(struct args *a, struct host_settings *s);
int host_check_format(const struct csig_device *d);
extern const char *const reflect_words[2];

/* host_tc.c */
int host_tc_look(const struct link *l, struct host_place *p);
int host_tc_check(const struct link *l, const struct host_place *p);
int host_tc_place(const struct link *l, int ingress_fd, int egress_fd,
		  bool own_port);
int host_tc_remove(const struct link *l, const struct host_place *p);

static inline bool host_on(const struct host_place *p)
{
	return p->ingress.ours || p->egress.ours;
}

/* host_show.c */
int host_show(struct args *a);

#endif /* CSIGCTL_HOST_H */
