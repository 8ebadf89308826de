// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: any frame as a received CNM, as an LLDP TLV, and as the frame that a
 * CNM answers, which is read back.  First octet: settings; the rest is the frame.
 */
#include <csig/qcn_cnd.h>
#include <csig/qcn_frame.h>
#include <stdlib.h>
#include <string.h>

#define MUST(cond)						\
	do {							\
		if (!(cond))					\
			__builtin_trap();			\
	} while (0)

static const __u8 own[QCN_MAC_LEN] = { 0x02, 0, 0, 0, 0, 0xaa };

static void received(const __u8 *frame, unsigned int len,
		     const struct qcn_frame *f)
{
	unsigned int at = qcn_cnm_at(frame, f);
	struct qcn_cnm cnm;

	if (!at)
		return;
	MUST(f->inner == CSIG_ETH_CNM && at <= len);
	if (!qcn_cnm_decode(frame + at, len - at, &cnm))
		return;
	MUST(cnm.qntzfb <= QCN_FB_MAX && cnm.priority < QCN_PRIORITIES);
	MUST(cnm.msdu_len <= QCN_CNM_MSDU_MAX &&
	     at + QCN_CNM_AT_MSDU + cnm.msdu_len <= len);
	/* an answer to a CNM is never asked for */
	MUST(!qcn_frame_answerable(f, own, 0xff, 0));
}

static void answered(const __u8 *frame, unsigned int len, __u8 options,
		     const struct qcn_frame *f)
{
	struct qcn_cnm_params p = {
		.source = options & 1, .qoffset = options >> 1 & 1,
		.priority = options >> 2 & 7, .msdu_max = options >> 2,
	};
	struct qcn_sample s = {
		.qoff_bytes = (__s64)options << 50, .qdelta_bytes = -(__s64)len,
		.qntzfb = len & QCN_FB_MAX,
	};
	unsigned int n = len - f->msdu, out_len, at;
	__u8 *out = malloc(QCN_CNM_FRAME_MAX);
	struct qcn_frame got;
	struct qcn_cnm cnm;

	MUST(out);
	memcpy(p.mac, own, QCN_MAC_LEN);
	qcn_cpid(own, len, options & 7, p.cpid);
	out_len = qcn_cnm_encode(&p, f, options & 7, &s, frame + f->msdu, n, out);
	MUST(out_len >= CSIG_FRAME_MIN_BYTES && out_len <= QCN_CNM_FRAME_MAX);
	MUST(qcn_frame_parse(out, out_len, NULL, 0, 0, &got));
	MUST(qcn_cnm_is_for(&got, f->src) && !qcn_mac_is_group(got.src));
	MUST(got.rpid == f->rpid && !got.vlan_tpid == !f->vlan_tpid);
	at = qcn_cnm_at(out, &got);
	MUST(at && qcn_cnm_decode(out + at, out_len - at, &cnm));
	MUST(cnm.qntzfb == s.qntzfb && qcn_mac_eq(cnm.dst, f->dst));
	MUST(cnm.msdu_len == (n < p.msdu_max ? n : p.msdu_max));
	MUST(!memcmp(out + at + QCN_CNM_AT_MSDU, frame + f->msdu, cnm.msdu_len));
	free(out);
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	struct qcn_frame f;
	struct qcn_tlv t;
	unsigned int len;
	__u8 options;

	if (size < 1 || size > 2048)
		return 0;
	options = *data++;
	len = size - 1;
	if (qcn_tlv_decode(data, len, &t))
		MUST(data[0] == 0xfe && data[1] >= 6);
	if (!qcn_frame_parse(data, len, NULL, 0, 0, &f))
		return 0;
	MUST(f.msdu + 2U <= len && f.cntag + CSIG_CNTAG_LEN <= f.msdu);
	received(data, len, &f);
	if (qcn_frame_answerable(&f, own, 1 << (options & 7), options & 7))
		answered(data, len, options, &f);
	return 0;
}
