// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: walk over any frame, take its tag apart and put it together, compare
 * and replace, push and pop.  First octet: options; the rest is the frame.
 */
#include <csig/coding.h>
#include <csig/walk.h>
#include <stdlib.h>
#include <string.h>

#define MUST(cond)						\
	do {							\
		if (!(cond))					\
			__builtin_trap();			\
	} while (0)

#define OPT_VLAN_OUTSIDE	0x01
#define OPT_OTHER_TPIDS		0x02	/* the frame's first octets are the TPIDs */
#define OPT_EXPANDED		0x04	/* format to push */

/* The frame with octets put in or taken out at an offset. */
static __u8 *resized(const __u8 *frame, unsigned int len, unsigned int at,
		     int by)
{
	__u8 *p = calloc(1, len + by + 1);
	unsigned int skip = by < 0 ? -by : 0;

	MUST(p);
	memcpy(p, frame, at);
	memcpy(p + at + (by > 0 ? by : 0), frame + at + skip, len - at - skip);
	return p;
}

static void tagged(const __u8 *frame, unsigned int len, const __u16 *tpid,
		   unsigned int outside, const struct csig_walk *w)
{
	const struct csig_layout *l = csig_layout(w->format);
	const __u8 *data = frame + w->offset + CSIG_TPID_LEN;
	unsigned int a;
	__u8 out[CSIG_TAG_LEN_MAX], *popped;
	struct csig_tag tag, after;
	struct csig_walk again;

	MUST(w->offset + l->len + 2u <= len);
	MUST(csig_get16(frame + w->offset) == tpid[w->format]);
	MUST(csig_get16(frame + w->offset + l->len) == w->inner);
	csig_decode(w->format, data, &tag);
	MUST(tag.t <= l->t_max && tag.s <= l->s_max && tag.lm <= l->lm_max);
	csig_encode(&tag, out);
	MUST(!memcmp(out, data, l->len - CSIG_TPID_LEN));

	for (a = CSIG_AGGREGATE_MIN; a <= CSIG_AGGREGATE_COUNT; a++) {
		struct csig_tag t = tag;

		t.s = csig_aggregate(a, w->format, tag.s,
				     len * 2654435761u & l->s_max);
		MUST(t.s <= l->s_max);
		t.lm = ~tag.lm & l->lm_max;
		csig_encode(&t, out);
		csig_decode(w->format, out, &after);
		MUST(after.s == t.s && after.lm == t.lm && after.t == tag.t &&
		     after.r == tag.r);
	}

	if (w->inner == CSIG_ETH_CNTAG)
		return;
	popped = resized(frame, len, w->offset, -l->len);
	MUST(csig_walk(popped, len - l->len, tpid, outside, &again) ==
	     CSIG_WALK_NONE);
	MUST(again.offset == w->offset && again.inner == w->inner);
	free(popped);
}

static void untagged(const __u8 *frame, unsigned int len, const __u16 *tpid,
		     unsigned int outside, const struct csig_walk *w,
		     unsigned int format)
{
	const struct csig_layout *l = csig_layout(format);
	struct csig_walk again;
	__u8 *pushed;

	MUST(w->offset + 2u <= len);
	MUST(csig_get16(frame + w->offset) == w->inner);
	pushed = resized(frame, len, w->offset, l->len);
	csig_put16(pushed + w->offset, tpid[format]);
	MUST(csig_walk(pushed, len + l->len, tpid, outside, &again) ==
	     CSIG_WALK_TAG);
	MUST(again.offset == w->offset && again.format == format &&
	     again.inner == w->inner && again.vlans == w->vlans);
	free(pushed);
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	__u16 tpid[CSIG_FORMATS] = {
		CSIG_TPID_COMPACT_DEFAULT, CSIG_TPID_EXPANDED_DEFAULT,
	};
	unsigned int len, outside, status;
	struct csig_walk w, cut;
	__u8 options;

	if (size < 1 || size > 2048)
		return 0;
	options = data[0];
	outside = options & OPT_VLAN_OUTSIDE;
	data++;
	len = size - 1;
	if (options & OPT_OTHER_TPIDS && len >= 4) {
		tpid[0] = csig_get16(data);
		tpid[1] = csig_get16(data + 2);
		/* what the domain refuses can't come here */
		if (csig_tpid_refused(tpid[0], true) ||
		    csig_tpid_refused(tpid[1], false) || tpid[0] == tpid[1])
			return 0;
	}

	status = csig_walk(data, len, tpid, outside, &w);
	MUST(status == w.status && status <= CSIG_WALK_MALFORMED);
	MUST(w.vlans + outside <= CSIG_VLANS_MAX);
	MUST(csig_walk(data, len < CSIG_WALK_LEN ? len : CSIG_WALK_LEN, tpid,
		       outside, &cut) == (int)status);
	MUST(cut.offset == w.offset && cut.inner == w.inner &&
	     cut.vlans == w.vlans && cut.format == w.format);

	if (status == CSIG_WALK_TAG)
		tagged(data, len, tpid, outside, &w);
	else if (status == CSIG_WALK_NONE)
		untagged(data, len, tpid, outside, &w,
			 !!(options & OPT_EXPANDED));
	return 0;
}
