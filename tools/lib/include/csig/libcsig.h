/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * libcsig: congestion signals (CSIG) for applications and transports of their own.
 * The header that UDP transports carry, the signals of a socket, and what a signal
 * means in the domain.  See libcsig(3).
 *
 * Functions return 0 or more, or a negative errno; libcsig_strerror() says what to do
 * about it.  Nothing is printed.  A handle may be used by one thread at a time.
 */
#ifndef CSIG_LIBCSIG_H
#define CSIG_LIBCSIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LIBCSIG_SIGNALS		16	/* signal types T: 0..15, compact 0..7 */
#define LIBCSIG_UDP_LEN_MAX	7

enum libcsig_format {
	LIBCSIG_COMPACT,
	LIBCSIG_EXPANDED,
};

/**
 * struct libcsig_tag - the data fields of a tag
 * @format: enum libcsig_format
 * @t: signal type, 0..7 (compact) or 0..15 (expanded)
 * @r: reserved bits, 0..1 or 0..255
 * @lm: locator metadata of the bottleneck, 0..127 or 0..65535
 * @s: coded signal value, 0..31 or 0..1048575
 */
struct libcsig_tag {
	uint8_t format;
	uint8_t t;
	uint8_t r;
	uint16_t lm;
	uint32_t s;
};

/**
 * struct libcsig_signal - the last tag of one signal type
 * @known: there was one; otherwise the signal is unknown, which is not "idle"
 * @tag: as it arrived
 * @time_ns: when, CLOCK_MONOTONIC; tells two tags with the same contents apart
 * @age_ns: time since then
 */
struct libcsig_signal {
	bool known;
	struct libcsig_tag tag;
	uint64_t time_ns;
	uint64_t age_ns;
};

/* libcsig_flow.state */
enum libcsig_state {
	LIBCSIG_OFF,		/* TCP: not negotiated */
	LIBCSIG_ASKED,		/* TCP: SYN or SYN-ACK on its way */
	LIBCSIG_ON,		/* TCP: negotiated */
	LIBCSIG_UDP,		/* UDP: libcsig_flow_set() was called */
};

/* libcsig_flow.path: what TCP found out; of UDP sockets it is always unknown */
enum libcsig_path {
	LIBCSIG_PATH_UNKNOWN,
	LIBCSIG_PATH_CAPABLE,	/* signals come back */
	LIBCSIG_PATH_STRIPS,	/* tags do not arrive at the peer */
	LIBCSIG_PATH_DROPS,	/* tagged packets get lost: none are sent any more */
};

/**
 * struct libcsig_flow - what is known of a socket
 * @state: enum libcsig_state
 * @path: enum libcsig_path
 * @signals: signal types that are asked for, bit T; 0: those of the device
 * @every: 1 in N packets is tagged; 0: as the device says
 * @received: by T, tags of packets that came in: the path from the peer
 * @reflected: by T, TCP only, what the peer reflected: the path to the peer
 * @rx_tagged: packets that came with a tag
 * @tx_packets: data packets
 * @tx_tagged: packets that left with a tag
 * @tx_skipped: packets that left without one since the frame was full
 * @reflections_in: TCP only, reflections that came
 * @no_signal_in: TCP only, "no signal" that came
 * @reflections_out: TCP only, reflections that left
 */
struct libcsig_flow {
	uint32_t state;
	uint32_t path;
	uint32_t signals;
	uint32_t every;
	struct libcsig_signal received[LIBCSIG_SIGNALS];
	struct libcsig_signal reflected[LIBCSIG_SIGNALS];
	uint64_t rx_tagged;
	uint64_t tx_packets;
	uint64_t tx_tagged;
	uint64_t tx_skipped;
	uint64_t reflections_in;
	uint64_t no_signal_in;
	uint64_t reflections_out;
};

/**
 * struct libcsig_value - what a code stands for
 * @source: "abw", "abwc", "pd", "nqd"
 * @aggregate: "min", "max", "sum", "count"
 * @unit: "bps", "ppm", "ns"
 * @min: lowest value
 * @max: lowest value above; UINT64_MAX when there is none
 */
struct libcsig_value {
	const char *source;
	const char *aggregate;
	const char *unit;
	uint64_t min;
	uint64_t max;
};

struct libcsig_host;
struct libcsig_profile;

/* The header of UDP transports, on all packets: 3 (compact) or 7 (expanded) octets */

/**
 * libcsig_udp_encode() - write the header
 * @format: enum libcsig_format; of @tag, too
 * @tag: what is reflected, NULL for "nothing"
 * @buf: room for the header
 * @size: of @buf
 *
 * Return: octets written, -EINVAL: format or a field out of range, -ENOSPC: no room
 */
int libcsig_udp_encode(unsigned int format, const struct libcsig_tag *tag,
		       void *buf, size_t size);

/**
 * libcsig_udp_decode() - read the header
 * @buf: payload
 * @len: octets of @buf
 * @tag: filled in when @valid
 * @valid: filled in, the header carries a tag
 *
 * Return: octets of the header, -EBADMSG: the payload ends before it does
 */
int libcsig_udp_decode(const void *buf, size_t len, struct libcsig_tag *tag,
		       bool *valid);

/* Signals of a socket */

/**
 * libcsig_open() - access to the signals of sockets
 * @fd: any socket of the network namespace
 * @host: filled in
 *
 * What is opened stays the same when the host is disabled and enabled again, see
 * libcsig_is_stale().
 *
 * Return: 0, -EBADF or -ENOTSOCK, -ENODEV: the host is not enabled there, -EACCES: not
 * allowed, -EPROTO: it was enabled by another version, or another error of bpf(2)
 */
int libcsig_open(int fd, struct libcsig_host **host);
void libcsig_close(struct libcsig_host *host);

/**
 * libcsig_is_stale() - was the host disabled since libcsig_open()?
 * @host: of libcsig_open()
 *
 * Ask now and then where a process lives long: nothing new comes from a handle that is
 * stale, and UDP sockets have to be set again with a new one.
 *
 * Return: true when it was
 */
bool libcsig_is_stale(const struct libcsig_host *host);

/**
 * libcsig_flow_get() - what is known of a socket
 * @host: of libcsig_open()
 * @fd: TCP or UDP socket
 * @flow: filled in
 * @size: sizeof(*flow)
 *
 * Return: 0, -ENODATA: nothing (TCP: not negotiated or older than "host enable", UDP:
 * libcsig_flow_set() was not called), -EPROTO: another version, -EINVAL, -EBADF,
 * -ENOTSOCK, -EACCES
 */
int libcsig_flow_get(const struct libcsig_host *host, int fd,
		     struct libcsig_flow *flow, size_t size);

/**
 * libcsig_flow_set() - which signals packets of a socket ask for
 * @host: of libcsig_open()
 * @fd: TCP socket that is connected (its packets must have been negotiated), or UDP
 *	socket; a UDP socket takes part from then on
 * @signals: bit T; 0: those of the device
 * @every: tag 1 in N packets; 0: as the device says
 * @formats: UDP only, formats that the peer takes, bit LIBCSIG_COMPACT, bit
 *	LIBCSIG_EXPANDED; the device's is preferred; 0: that one
 *
 * A UDP socket that talks to several peers has one set of signals for all of them:
 * give each peer a connected socket.
 *
 * Return: 0, -EINVAL: out of range or a listening socket, -EOPNOTSUPP: neither TCP nor
 * UDP, -ENOTCONN: TCP, call it after connect(2) or accept(2), -ENODATA: TCP, not
 * negotiated, -EAGAIN: the socket's state was made and taken away again and again
 * meanwhile, and errors of libcsig_flow_get()
 */
int libcsig_flow_set(const struct libcsig_host *host, int fd,
		     unsigned int signals, unsigned int every,
		     unsigned int formats);

/* What signals mean: the profile of the domain */

/**
 * libcsig_profile_kernel() - the profile in force in this thread's network namespace
 * @profile: filled in
 *
 * Return: 0, -ENOENT: the csig module is not loaded, -EPROTO: the answer is not
 * understood, -EAGAIN: it changed again and again meanwhile, or an error of netlink
 */
int libcsig_profile_kernel(struct libcsig_profile **profile);

/* The default profile; NULL without memory */
struct libcsig_profile *libcsig_profile_default(void);
void libcsig_profile_free(struct libcsig_profile *profile);

/**
 * libcsig_decode() - the values that a tag stands for
 * @profile: of the domain
 * @tag: from the network
 * @value: filled in
 *
 * Return: 0, -ENODATA: the domain has no such signal, or S is no measure (counts,
 * sums in the compact format), -EINVAL: a field is out of range
 */
int libcsig_decode(const struct libcsig_profile *profile,
		   const struct libcsig_tag *tag, struct libcsig_value *value);

/**
 * libcsig_field() - a field of the locator metadata
 * @profile: of the domain
 * @tag: from the network
 * @name: of the field
 *
 * Return: its value, -ENODATA: the layout has no such field, -EINVAL: out of range
 */
int libcsig_field(const struct libcsig_profile *profile,
		  const struct libcsig_tag *tag, const char *name);

/**
 * libcsig_strerror() - what an error means and what to do about it
 * @err: negative errno of a function of this library
 *
 * Return: text that stays
 */
const char *libcsig_strerror(int err);

#ifdef __cplusplus
}
#endif

#endif /* CSIG_LIBCSIG_H */
