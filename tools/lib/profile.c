// SPDX-License-Identifier: GPL-2.0
/*
 * libcsig: what signals mean, by the profile of the domain.  The kernel tells it by
 * generic netlink; asking needs no rights.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csig/profile.h>

#include "internal.h"

#define ANSWER_SIZE	32768
#define PROFILE_TRIES	8

struct libcsig_profile {
	struct csig_profile p;
};

/* A conversation with generic netlink */
struct talk {
	int fd;
	uint16_t family;
	uint32_t seq;
	bool interrupted;	/* the profile changed while it was told */
	struct csig_profile *p;
};

/* --- attributes: plain walks over what the kernel wrote ------------------------- */

#define for_each_attr(a, data, len)					\
	for ((a) = (const struct nlattr *)(data);			\
	     attr_ok(a, (const char *)(data) + (len));			\
	     (a) = (const struct nlattr *)((const char *)(a) +		\
					   NLA_ALIGN((a)->nla_len)))

static bool attr_ok(const struct nlattr *a, const char *end)
{
	const char *p = (const char *)a;

	return end > p && end - p >= NLA_HDRLEN && a->nla_len >= NLA_HDRLEN &&
	       a->nla_len <= end - p;
}

static unsigned int attr_type(const struct nlattr *a)
{
	return a->nla_type & NLA_TYPE_MASK;
}

static const void *attr_data(const struct nlattr *a)
{
	return (const char *)a + NLA_HDRLEN;
}

static int attr_len(const struct nlattr *a)
{
	return a->nla_len - NLA_HDRLEN;
}

static uint64_t attr_number(const struct nlattr *a)
{
	uint64_t v64 = 0;
	uint16_t v16 = 0;

	if (attr_len(a) >= 8) {
		memcpy(&v64, attr_data(a), 8);
		return v64;
	}
	if (attr_len(a) >= 2) {
		memcpy(&v16, attr_data(a), 2);
		return v16;
	}
	return attr_len(a) == 1 ? *(const uint8_t *)attr_data(a) : 0;
}

/* --- rows of the profile ----------------------------------------------------------- */

static int get_signal(struct csig_profile *p, const void *data, int len)
{
	struct csig_signal s = { .defined = 1 };
	unsigned int t = CSIG_SIGNALS;
	const struct nlattr *a;

	for_each_attr(a, data, len) {
		switch (attr_type(a)) {
		case CSIG_A_SIGNAL_T:
			t = (unsigned int)attr_number(a);
			break;
		case CSIG_A_SIGNAL_SOURCE:
			s.source = (__u8)attr_number(a);
			break;
		case CSIG_A_SIGNAL_AGGREGATE:
			s.aggregate = (__u8)attr_number(a);
			break;
		case CSIG_A_SIGNAL_BASE:
			s.coding.base = attr_number(a);
			break;
		case CSIG_A_SIGNAL_STEP:
			s.coding.step = attr_number(a);
			break;
		case CSIG_A_SIGNAL_BOUND:
			if (s.coding.nbounds == CSIG_BOUNDS_MAX)
				return -EPROTO;
			s.coding.bounds[s.coding.nbounds++] = attr_number(a);
			break;
		}
	}
	if (t >= CSIG_SIGNALS || !csig_coding_valid(&s.coding))
		return -EPROTO;
	csig_coding_prepare(&s.coding);
	p->signals[t] = s;
	return 0;
}

static void get_field(struct csig_lm_field *f, const void *data, int len)
{
	const struct nlattr *a;
	int n;

	for_each_attr(a, data, len) {
		if (attr_type(a) == CSIG_A_LM_FIELD_BITS)
			f->bits = (__u8)attr_number(a);
		if (attr_type(a) != CSIG_A_LM_FIELD_NAME)
			continue;
		n = attr_len(a) < CSIG_LM_NAME_MAX ? attr_len(a) : CSIG_LM_NAME_MAX;
		memcpy(f->name, attr_data(a), (size_t)n);
	}
}

static int get_layout(struct csig_profile *p, const void *data, int len)
{
	unsigned int t = CSIG_LAYOUT_ANY, format = CSIG_FORMATS;
	struct csig_lm_layout l = { 0 };
	const struct nlattr *a;

	for_each_attr(a, data, len) {
		switch (attr_type(a)) {
		case CSIG_A_LAYOUT_T:
			t = (unsigned int)attr_number(a);
			break;
		case CSIG_A_LAYOUT_FORMAT:
			format = (unsigned int)attr_number(a);
			break;
		case CSIG_A_LAYOUT_FIELD:
			if (l.nfields == CSIG_LM_FIELDS_MAX)
				return -EPROTO;
			get_field(&l.fields[l.nfields++], attr_data(a),
				  attr_len(a));
			break;
		}
	}
	if (t > CSIG_LAYOUT_ANY || format >= CSIG_FORMATS ||
	    !csig_lm_valid(&l, format))
		return -EPROTO;
	p->layouts[t][format] = l;
	return 0;
}

/* --- netlink ------------------------------------------------------------------------ */

static int on_message(struct talk *t, const struct nlmsghdr *h)
{
	const struct genlmsghdr *g = NLMSG_DATA(h);
	const char *data = (const char *)g + GENL_HDRLEN;
	int len = (int)h->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN, err = 0;
	const struct nlattr *a;

	if (len < 0)
		return -EPROTO;
	for_each_attr(a, data, len) {
		if (h->nlmsg_type == GENL_ID_CTRL) {
			if (attr_type(a) == CTRL_ATTR_FAMILY_ID)
				t->family = (uint16_t)attr_number(a);
		} else if (attr_type(a) == CSIG_A_DOMAIN_SIGNAL) {
			err = get_signal(t->p, attr_data(a), attr_len(a));
		} else if (attr_type(a) == CSIG_A_DOMAIN_LAYOUT) {
			err = get_layout(t->p, attr_data(a), attr_len(a));
		}
		if (err)
			return err;
	}
	return 0;
}

/* A dump that fails says so at its end. */
static int on_done(const struct talk *t, const struct nlmsghdr *h)
{
	int err = 0;

	if (h->nlmsg_len >= NLMSG_LENGTH(sizeof(err)))
		memcpy(&err, NLMSG_DATA(h), sizeof(err));
	if (err < 0)
		return err;
	return t->interrupted ? -EAGAIN : 0;
}

/* All messages of an answer; 0 or a negative errno */
static int receive(struct talk *t, char *buf)
{
	const struct nlmsghdr *h;
	const struct nlmsgerr *e;
	ssize_t got;
	int len, err;

	for (;;) {
		got = recv(t->fd, buf, ANSWER_SIZE, MSG_TRUNC);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got > ANSWER_SIZE)
			return -EPROTO;
		len = (int)got;
		for (h = (void *)buf; NLMSG_OK(h, (unsigned int)len);
		     h = NLMSG_NEXT(h, len)) {
			if (h->nlmsg_seq != t->seq)
				continue;
			if (h->nlmsg_flags & NLM_F_DUMP_INTR)
				t->interrupted = true;
			if (h->nlmsg_type == NLMSG_DONE)
				return on_done(t, h);
			if (h->nlmsg_type == NLMSG_ERROR) {
				e = NLMSG_DATA(h);
				return e->error;
			}
			err = on_message(t, h);
			if (err)
				return err;
		}
	}
}

static int request(struct talk *t, char *buf, uint16_t type, uint8_t cmd,
		   uint16_t flags, const char *family)
{
	struct {
		struct nlmsghdr h;
		struct genlmsghdr g;
		struct nlattr a;
		char name[16];
	} r = {
		.h = {
			.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN),
			.nlmsg_type = type,
			.nlmsg_flags = NLM_F_REQUEST | flags,
			.nlmsg_seq = ++t->seq,
		},
		.g = { .cmd = cmd, .version = 1 },
	};

	if (family) {
		r.a.nla_type = CTRL_ATTR_FAMILY_NAME;
		r.a.nla_len = (uint16_t)(NLA_HDRLEN + strlen(family) + 1);
		strcpy(r.name, family);
		r.h.nlmsg_len += NLA_ALIGN(r.a.nla_len);
	}
	if (send(t->fd, &r, r.h.nlmsg_len, 0) < 0)
		return -errno;
	return receive(t, buf);
}

/* Again when it changes meanwhile */
static int get_profile(struct talk *t, char *buf)
{
	int err = -EAGAIN, tries;

	for (tries = 0; err == -EAGAIN && tries < PROFILE_TRIES; tries++) {
		t->interrupted = false;
		memset(t->p, 0, sizeof(*t->p));
		err = request(t, buf, t->family, CSIG_CMD_SIGNAL_GET,
			      NLM_F_DUMP, NULL);
		if (!err)
			err = request(t, buf, t->family, CSIG_CMD_LAYOUT_GET,
				      NLM_F_DUMP, NULL);
	}
	return err;
}

LIBCSIG_API
int libcsig_profile_kernel(struct libcsig_profile **profile)
{
	struct libcsig_profile *p = calloc(1, sizeof(*p));
	char *buf = malloc(ANSWER_SIZE);
	struct talk t = { .fd = -1 };
	int err = -ENOMEM;

	if (!p || !buf)
		goto out;
	t.p = &p->p;
	t.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (t.fd < 0) {
		err = -errno;
		goto out;
	}
	/* the acknowledgment ends the answer, as the end of a dump does */
	err = request(&t, buf, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_ACK,
		      CSIG_GENL_NAME);
	if (!err)
		err = get_profile(&t, buf);
out:
	if (t.fd >= 0)
		close(t.fd);
	free(buf);
	if (err)
		free(p);
	else
		*profile = p;
	return err;
}

LIBCSIG_API
struct libcsig_profile *libcsig_profile_default(void)
{
	struct libcsig_profile *p = malloc(sizeof(*p));

	if (p)
		csig_profile_preset(&p->p, CSIG_PRESET_DEFAULT);
	return p;
}

LIBCSIG_API
void libcsig_profile_free(struct libcsig_profile *profile)
{
	free(profile);
}

/* --- meaning ------------------------------------------------------------------------- */

LIBCSIG_API
int libcsig_decode(const struct libcsig_profile *profile,
		   const struct libcsig_tag *tag, struct libcsig_value *value)
{
	static const struct { const char *name, *unit; } sources[] = {
		[CSIG_SOURCE_ABW] = { "abw", "bps" },
		[CSIG_SOURCE_ABWC] = { "abwc", "ppm" },
		[CSIG_SOURCE_PD] = { "pd", "ns" },
		[CSIG_SOURCE_NQD] = { "nqd", "ns" },
	};
	static const char *const aggregates[] = {
		[CSIG_AGGREGATE_MIN] = "min", [CSIG_AGGREGATE_MAX] = "max",
		[CSIG_AGGREGATE_SUM] = "sum", [CSIG_AGGREGATE_COUNT] = "count",
	};
	const struct csig_signal *s;
	__u64 lo, hi;

	if (!tag_fits(tag))
		return -EINVAL;
	s = &profile->p.signals[tag->t];
	if (!s->defined || s->source > CSIG_SOURCE_NQD ||
	    s->aggregate >= CSIG_AGGREGATE_COUNT ||
	    (s->aggregate == CSIG_AGGREGATE_SUM && tag->format == LIBCSIG_COMPACT))
		return -ENODATA;
	csig_decode_range(&s->coding, tag->format, tag->s, &lo, &hi);
	value->source = sources[s->source].name;
	value->unit = sources[s->source].unit;
	value->aggregate = aggregates[s->aggregate];
	value->min = lo;
	value->max = hi;
	return 0;
}

LIBCSIG_API
int libcsig_field(const struct libcsig_profile *profile,
		  const struct libcsig_tag *tag, const char *name)
{
	unsigned int shift;
	__u16 mask;

	if (!tag_fits(tag))
		return -EINVAL;
	if (strlen(name) > CSIG_LM_NAME_MAX ||
	    !csig_lm_find(csig_profile_layout(&profile->p, tag->t, tag->format),
			  name, &shift, &mask))
		return -ENODATA;
	return tag->lm >> shift & mask;
}
