/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How end hosts tell each other what they received: the TCP option, its negotiation,
 * and the header of UDP transports.  Pure C; the octets between them are the data
 * fields of a tag, see wire.h.  When something is sent is bpf/tcp.bpf.c.
 *
 *  Kind | Length | ExID16 | data     Kind 253 or 254 (RFC 6994), or without the ExID
 *                                    a Kind of one's own
 *  data: nothing  "no signal"; 1 octet, flags of a SYN or SYN-ACK;
 *        2 or 6 octets, data fields of a compact or an expanded tag
 */
#ifndef CSIG_REFLECT_H
#define CSIG_REFLECT_H

#include <csig/wire.h>

#define CSIG_OPT_KIND_DEFAULT	254
#define CSIG_OPT_EXID		0xc516
#define CSIG_OPT_LEN_MAX	10	/* head with ExID, expanded data */

/* Flags of the negotiation: what the sender of the option can receive and does */
#define CSIG_OPT_COMPACT	0x01
#define CSIG_OPT_EXPANDED	0x02
#define CSIG_OPT_REFLECTS	0x04
#define CSIG_OPT_FLAGS_ALL	0x07

/* UDP: first octet of the header */
#define CSIG_UDP_VALID		0x80
#define CSIG_UDP_EXPANDED	0x40
#define CSIG_UDP_LEN_MAX	7

/* Octets of the data fields of a tag */
static inline unsigned int csig_data_len(unsigned int format)
{
	return format == CSIG_FORMAT_EXPANDED ? CSIG_DATA_LEN_EXPANDED :
						CSIG_DATA_LEN_COMPACT;
}

/* Kinds 253 and 254 are for experiments, told apart by an ExID. */
static inline bool csig_opt_kind_is_shared(__u8 kind)
{
	return kind == 253 || kind == 254;
}

/* Octets before the data: Kind, Length, ExID where the Kind is shared */
static inline unsigned int csig_opt_head_len(__u8 kind)
{
	return csig_opt_kind_is_shared(kind) ? 4 : 2;
}

/**
 * csig_opt_head() - write what stands before the data
 * @kind: TCP option Kind
 * @data_len: octets that follow: 0 "no signal", 1 flags, 2 or 6 of a tag
 * @opt: room for CSIG_OPT_LEN_MAX octets
 *
 * Return: octets written
 */
static inline unsigned int csig_opt_head(__u8 kind, unsigned int data_len,
					 __u8 *opt)
{
	unsigned int len = csig_opt_head_len(kind);

	opt[0] = kind;
	opt[1] = (__u8)(len + data_len);
	if (csig_opt_kind_is_shared(kind))
		csig_put16(opt + 2, CSIG_OPT_EXID);
	return len;
}

/**
 * csig_opt_format() - format of the tag that an option reflects
 * @data_len: octets after the head
 *
 * Return: enum csig_format, -1 when no format has that many
 */
static inline int csig_opt_format(unsigned int data_len)
{
	if (data_len == csig_data_len(CSIG_FORMAT_COMPACT))
		return CSIG_FORMAT_COMPACT;
	if (data_len == csig_data_len(CSIG_FORMAT_EXPANDED))
		return CSIG_FORMAT_EXPANDED;
	return -1;
}

/**
 * csig_udp_encode() - write the header of a UDP transport
 * @format: enum csig_format, fixes the length whether @tag is given or not
 * @tag: what is reflected, NULL for "nothing"
 * @buf: room for CSIG_UDP_LEN_MAX octets, the rest becomes 0
 *
 * Return: octets of the header, 3 (compact) or 7 (expanded)
 */
static inline unsigned int csig_udp_encode(unsigned int format,
					   const struct csig_tag *tag, __u8 *buf)
{
	__builtin_memset(buf, 0, CSIG_UDP_LEN_MAX);	/* a length that BPF knows */
	if (format == CSIG_FORMAT_EXPANDED)
		buf[0] |= CSIG_UDP_EXPANDED;
	if (tag) {
		buf[0] |= CSIG_UDP_VALID;
		csig_encode(tag, buf + 1);
	}
	return 1 + csig_data_len(format);
}

/**
 * csig_udp_decode() - read the header of a UDP transport
 * @buf: octets of the payload
 * @len: how many there are
 * @tag: filled in when valid
 * @valid: filled in: does the header carry a tag?
 *
 * Return: octets of the header, 0 when the payload is shorter
 */
static inline unsigned int csig_udp_decode(const __u8 *buf, unsigned int len,
					   struct csig_tag *tag, bool *valid)
{
	unsigned int format, need;

	*valid = false;
	if (len < 1)
		return 0;
	format = buf[0] & CSIG_UDP_EXPANDED ? CSIG_FORMAT_EXPANDED :
					      CSIG_FORMAT_COMPACT;
	need = 1 + csig_data_len(format);
	if (len < need)
		return 0;
	if (buf[0] & CSIG_UDP_VALID) {
		*valid = true;
		csig_decode(format, buf + 1, tag);
	}
	return need;
}

#endif /* CSIG_REFLECT_H */
