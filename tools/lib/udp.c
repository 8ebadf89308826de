// SPDX-License-Identifier: GPL-2.0
/*
 * libcsig: the header of UDP transports.  Its octets are known to csig/reflect.h.
 */
#include <errno.h>
#include <string.h>

#include <csig/reflect.h>

#include "internal.h"

_Static_assert(LIBCSIG_UDP_LEN_MAX == CSIG_UDP_LEN_MAX, "room for the header");
_Static_assert((int)LIBCSIG_EXPANDED == (int)CSIG_FORMAT_EXPANDED, "formats");

LIBCSIG_API
int libcsig_udp_encode(unsigned int format, const struct libcsig_tag *tag,
		       void *buf, size_t size)
{
	__u8 header[CSIG_UDP_LEN_MAX];
	struct csig_tag in;
	unsigned int len;

	if (format > LIBCSIG_EXPANDED)
		return -EINVAL;
	if (tag && (tag->format != format || !tag_fits(tag)))
		return -EINVAL;
	if (size < 1 + csig_data_len(format))
		return -ENOSPC;
	if (tag)
		in = tag_in(tag);
	len = csig_udp_encode(format, tag ? &in : NULL, header);
	memcpy(buf, header, len);
	return (int)len;
}

LIBCSIG_API
int libcsig_udp_decode(const void *buf, size_t len, struct libcsig_tag *tag,
		       bool *valid)
{
	struct csig_tag out;
	unsigned int n;

	n = csig_udp_decode(buf, len < CSIG_UDP_LEN_MAX ? (unsigned int)len :
							  CSIG_UDP_LEN_MAX,
			    &out, valid);
	if (!n)
		return -EBADMSG;
	if (*valid)
		*tag = tag_out(&out);
	return (int)n;
}
