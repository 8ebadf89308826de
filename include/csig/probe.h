/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The message of "csigctl probe" and of those who answer it: a UDP payload that begins
 * with the header of UDP transports (reflect.h) and has a place of its own for all
 * else.  Pure C.  An answer is the probe with the header and the fields marked below
 * changed, so it is never longer.
 *
 *   0  header of UDP transports, 3 or 7 octets, the rest 0   (answer: what arrived)
 *   8  magic 0xc516
 *  10  version 1
 *  11  0 probe, 1 answer                                     (answer: 1)
 *  12  flags of the answer                                   (answer)
 *  13  T of the tag that is wanted on the answer
 *  14  signals that are wanted on answers, bit T; 0: those of the responder's device
 *  16  session, random
 *  20  sequence number
 *  24  time, of the prober's clock
 *  32  end; what follows is sent back as it came
 */
#ifndef CSIG_PROBE_H
#define CSIG_PROBE_H

#include <csig/reflect.h>

#define CSIG_PROBE_PORT		7516
#define CSIG_PROBE_LEN		32
#define CSIG_PROBE_HEADER_LEN	8	/* room for the header of UDP transports */
#define CSIG_PROBE_VERSION	1

/* Places in the message */
#define CSIG_PROBE_AT_MAGIC	8
#define CSIG_PROBE_AT_VERSION	10
#define CSIG_PROBE_AT_ANSWER	11
#define CSIG_PROBE_AT_FLAGS	12
#define CSIG_PROBE_AT_T		13
#define CSIG_PROBE_AT_SIGNALS	14
#define CSIG_PROBE_AT_SESSION	16
#define CSIG_PROBE_AT_SEQ	20
#define CSIG_PROBE_AT_TIME	24
/* All that an answer changes is before this */
#define CSIG_PROBE_CHANGED_LEN	16

/* Flags of an answer */
#define CSIG_PROBE_READS	0x01	/* tags that arrive there are seen */
#define CSIG_PROBE_FIRST	0x02	/* the first of a prober: not seen yet */
#define CSIG_PROBE_BUSY		0x04	/* too many probers: no signals for this one */

/**
 * struct csig_probe - fields of a message
 * @answer: it is an answer
 * @flags: CSIG_PROBE_*, of an answer
 * @t: signal type that is wanted on the answer
 * @signals: signal types that are wanted on answers, bit T
 * @session: tells probers apart
 * @seq: counts probes
 * @time_ns: of the prober's clock
 */
struct csig_probe {
	bool answer;
	__u8 flags;
	__u8 t;
	__u16 signals;
	__u32 session;
	__u32 seq;
	__u64 time_ns;
};

static inline void csig_put32(__u8 *p, __u32 v)
{
	csig_put16(p, (__u16)(v >> 16));
	csig_put16(p + 2, (__u16)v);
}

static inline __u32 csig_get32(const __u8 *p)
{
	return (__u32)csig_get16(p) << 16 | csig_get16(p + 2);
}

/* Header of UDP transports at the front of a message; tag: what arrived, or NULL */
static inline void csig_probe_header(const struct csig_tag *tag, __u8 *msg)
{
	csig_udp_encode(tag ? tag->format : CSIG_FORMAT_COMPACT, tag, msg);
	msg[CSIG_UDP_LEN_MAX] = 0;
}

/**
 * csig_probe_encode() - write a message
 * @p: fields
 * @tag: what arrived, NULL for nothing
 * @msg: room for CSIG_PROBE_LEN octets
 */
static inline void csig_probe_encode(const struct csig_probe *p,
				     const struct csig_tag *tag, __u8 *msg)
{
	csig_probe_header(tag, msg);
	csig_put16(msg + CSIG_PROBE_AT_MAGIC, CSIG_OPT_EXID);
	msg[CSIG_PROBE_AT_VERSION] = CSIG_PROBE_VERSION;
	msg[CSIG_PROBE_AT_ANSWER] = p->answer;
	msg[CSIG_PROBE_AT_FLAGS] = p->flags;
	msg[CSIG_PROBE_AT_T] = p->t;
	csig_put16(msg + CSIG_PROBE_AT_SIGNALS, p->signals);
	csig_put32(msg + CSIG_PROBE_AT_SESSION, p->session);
	csig_put32(msg + CSIG_PROBE_AT_SEQ, p->seq);
	csig_put32(msg + CSIG_PROBE_AT_TIME, (__u32)(p->time_ns >> 32));
	csig_put32(msg + CSIG_PROBE_AT_TIME + 4, (__u32)p->time_ns);
}

/**
 * csig_probe_decode() - read a message
 * @msg: payload
 * @len: octets of it
 * @p: filled in
 *
 * Return: true when it is one
 */
static inline bool csig_probe_decode(const __u8 *msg, unsigned int len,
				     struct csig_probe *p)
{
	if (len < CSIG_PROBE_LEN ||
	    csig_get16(msg + CSIG_PROBE_AT_MAGIC) != CSIG_OPT_EXID ||
	    msg[CSIG_PROBE_AT_VERSION] != CSIG_PROBE_VERSION ||
	    msg[CSIG_PROBE_AT_ANSWER] > 1)
		return false;
	p->answer = msg[CSIG_PROBE_AT_ANSWER];
	p->flags = msg[CSIG_PROBE_AT_FLAGS];
	p->t = msg[CSIG_PROBE_AT_T];
	p->signals = csig_get16(msg + CSIG_PROBE_AT_SIGNALS);
	p->session = csig_get32(msg + CSIG_PROBE_AT_SESSION);
	p->seq = csig_get32(msg + CSIG_PROBE_AT_SEQ);
	p->time_ns = (__u64)csig_get32(msg + CSIG_PROBE_AT_TIME) << 32 |
		     csig_get32(msg + CSIG_PROBE_AT_TIME + 4);
	return true;
}

/**
 * csig_probe_answer() - turn a probe into its answer
 * @msg: the probe, CSIG_PROBE_CHANGED_LEN octets of it are enough
 * @tag: the tag that came with it, NULL for none
 * @flags: CSIG_PROBE_*
 */
static inline void csig_probe_answer(__u8 *msg, const struct csig_tag *tag,
				     __u8 flags)
{
	csig_probe_header(tag, msg);
	msg[CSIG_PROBE_AT_ANSWER] = 1;
	msg[CSIG_PROBE_AT_FLAGS] = flags;
}

#endif /* CSIG_PROBE_H */
