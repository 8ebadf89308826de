// SPDX-License-Identifier: GPL-2.0
/*
 * libcsig: the signals of a socket.  They are in the socket storage of the host's BPF
 * programs, a pinned map with socket descriptors as keys; see linux/csig_bpf.h.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <csig/reflect.h>
#include <csig/word.h>
#include <linux/csig_bpf.h>

#include "internal.h"

#define SET_TRIES	16

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE	71
#endif

_Static_assert(LIBCSIG_SIGNALS == CSIG_SIGNALS, "signal types");
_Static_assert((int)LIBCSIG_UDP == (int)CSIG_FLOW_UDP, "states");
_Static_assert(1 << LIBCSIG_COMPACT == CSIG_OPT_COMPACT &&
	       1 << LIBCSIG_EXPANDED == CSIG_OPT_EXPANDED, "formats");
_Static_assert((int)LIBCSIG_PATH_DROPS == (int)CSIG_PATH_DROPS, "paths");

/**
 * struct libcsig_host - the map of a network namespace
 * @map: descriptor
 * @id: of the map in the kernel
 * @path: where it is pinned
 */
struct libcsig_host {
	int map;
	uint32_t id;
	char path[128];
};

/* Is it a map of this layout?  A pin of another version has another size. */
static int check_map(int map, uint32_t *id)
{
	struct bpf_map_info info = { 0 };
	__u32 len = sizeof(info);

	if (bpf_map_get_info_by_fd(map, &info, &len))
		return -errno;
	if (info.type != BPF_MAP_TYPE_SK_STORAGE ||
	    info.value_size != sizeof(struct csig_flow))
		return -EPROTO;
	*id = info.id;
	return 0;
}

LIBCSIG_API
int libcsig_open(int fd, struct libcsig_host **host)
{
	uint64_t cookie;
	socklen_t len = sizeof(cookie);
	struct libcsig_host *h;
	int err;

	if (getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len))
		return -errno;
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	snprintf(h->path, sizeof(h->path), CSIG_BPF_PINS "/net-%llu/" CSIG_BPF_MAP_FLOWS,
		 (unsigned long long)cookie);
	h->map = bpf_obj_get(h->path);
	if (h->map < 0) {
		err = errno == ENOENT || errno == ENOTDIR ? -ENODEV :
		      errno == EPERM ? -EACCES : -errno;
		free(h);
		return err;
	}
	err = check_map(h->map, &h->id);
	if (err) {
		libcsig_close(h);
		return err;
	}
	*host = h;
	return 0;
}

LIBCSIG_API
void libcsig_close(struct libcsig_host *host)
{
	if (!host)
		return;
	close(host->map);
	free(host);
}

LIBCSIG_API
bool libcsig_is_stale(const struct libcsig_host *host)
{
	int map = bpf_obj_get(host->path);
	uint32_t id;
	bool stale;

	if (map < 0)
		return errno == ENOENT;
	stale = check_map(map, &id) || id != host->id;
	close(map);
	return stale;
}

static int lookup(const struct libcsig_host *host, int fd, struct csig_flow *f)
{
	if (bpf_map_lookup_elem(host->map, &fd, f))
		return errno == ENOENT ? -ENODATA :
		       errno == EPERM ? -EACCES : -errno;
	return f->version == CSIG_BPF_VERSION ? 0 : -EPROTO;
}

static void get_signal(struct libcsig_signal *out, const struct csig_flow_value *v,
		       uint64_t now)
{
	struct csig_tag tag;

	if (!csig_word_decode(v->word, &tag))
		return;
	out->known = true;
	out->tag = tag_out(&tag);
	out->time_ns = v->time_ns;
	out->age_ns = now > v->time_ns ? now - v->time_ns : 0;
}

LIBCSIG_API
int libcsig_flow_get(const struct libcsig_host *host, int fd,
		     struct libcsig_flow *flow, size_t size)
{
	struct libcsig_flow out = { 0 };
	struct timespec ts;
	struct csig_flow f;
	unsigned int t;
	uint64_t now;
	int err;

	if (!size)
		return -EINVAL;
	err = lookup(host, fd, &f);
	if (err)
		return err;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = (uint64_t)ts.tv_sec * CSIG_NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
	out.state = f.state;
	out.path = f.path;
	out.signals = f.signals;
	out.every = f.every;
	for (t = 0; t < CSIG_SIGNALS; t++) {
		get_signal(&out.received[t], &f.received[t], now);
		get_signal(&out.reflected[t], &f.reflected[t], now);
	}
	out.rx_tagged = f.rx_tagged;
	out.tx_packets = f.tx_packets;
	out.tx_tagged = f.tx_tagged;
	out.tx_skipped = f.tx_skipped;
	out.reflections_in = f.reflections_in;
	out.no_signal_in = f.no_signal_in;
	out.reflections_out = f.reflections_out;
	if (size > sizeof(out))	/* of a later version, whose fields are unknown here */
		memset((char *)flow + sizeof(out), 0, size - sizeof(out));
	memcpy(flow, &out, size < sizeof(out) ? size : sizeof(out));
	return 0;
}

static int protocol_of(int fd)
{
	int domain, protocol;
	socklen_t len = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len))
		return -errno;
	if (domain != AF_INET && domain != AF_INET6)
		return -EOPNOTSUPP;
	len = sizeof(int);
	if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len))
		return -errno;
	return protocol;
}

/*
 * The map has whole values only, so a change of the programs between reading and
 * writing is lost.  Of a connection that is established that is a counter or a value
 * that the next packet brings again; before, it could be the negotiation.
 */
static int tcp_ready(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		return -errno;
	if (info.tcpi_state == TCP_LISTEN)
		return -EINVAL;
	if (info.tcpi_state == TCP_SYN_SENT || info.tcpi_state == TCP_SYN_RECV ||
	    info.tcpi_state == TCP_CLOSE)
		return -ENOTCONN;
	return 0;
}

LIBCSIG_API
int libcsig_flow_set(const struct libcsig_host *host, int fd,
		     unsigned int signals, unsigned int every,
		     unsigned int formats)
{
	struct csig_flow f;
	int protocol, err, tries;

	if (signals >> CSIG_SIGNALS || every > UINT16_MAX ||
	    formats >> CSIG_FORMATS)
		return -EINVAL;
	protocol = protocol_of(fd);
	if (protocol < 0)
		return protocol;
	if (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP)
		return -EOPNOTSUPP;
	if (protocol == IPPROTO_TCP) {	/* its formats are negotiated */
		err = formats ? -EINVAL : tcp_ready(fd);
		if (err)
			return err;
	}
	for (tries = 0; tries < SET_TRIES; tries++) {
		int flags = BPF_EXIST;

		err = lookup(host, fd, &f);
		if (err == -ENODATA && protocol == IPPROTO_UDP) {
			memset(&f, 0, sizeof(f));
			f.version = CSIG_BPF_VERSION;
			flags = BPF_NOEXIST;
		} else if (err) {
			return err;
		}
		if (protocol == IPPROTO_UDP) {
			f.state = CSIG_FLOW_UDP;
			f.peer_flags = (__u8)formats;
		} else if (f.state != CSIG_FLOW_ON) {
			return -ENODATA;
		}
		f.signals = (__u16)signals;
		f.every = (__u16)every;
		if (!bpf_map_update_elem(host->map, &fd, &f, flags))
			return 0;
		/* made or gone in between */
		if (errno != EEXIST && errno != ENOENT)
			return errno == EPERM ? -EACCES : -errno;
	}
	return -EAGAIN;
}

LIBCSIG_API
const char *libcsig_strerror(int err)
{
	switch (-err) {
	case 0:
		return "success";
	case ENODEV:
		return "the host is not enabled here: \"csigctl host enable dev DEV\"";
	case EACCES:
		return "no permission to open the maps in " CSIG_BPF_PINS
		       ": run as root, or let root give you the right, see libcsig(3)";
	case EPROTO:
		return "module, host and libcsig are of different versions; enable the host again";
	case ENODATA:
		return "nothing is known of it";
	case ENOTCONN:
		return "the TCP connection is not established yet: call it after connect or accept";
	case EOPNOTSUPP:
		return "neither a TCP nor a UDP socket";
	case EAGAIN:
		return "it changed all the time meanwhile: try again";
	case EBADMSG:
		return "the payload ends before the header does";
	case ENOENT:
		return "the csig module is not loaded: \"modprobe csig\"";
	default:
		return strerror(-err);
	}
}
