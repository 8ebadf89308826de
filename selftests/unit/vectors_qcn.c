// SPDX-License-Identifier: GPL-2.0
/*
 * The test vectors of QCN.  qcn-cp: a sample of a queue each; qcn-rp: a sequence of
 * events and the rates after each; qcn-cnm: a sampled frame and the CNM that answers it.
 */
#include <csig/qcn_frame.h>
#include <csig/qcn_rp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "vectors.h"

/* Signed, also where the file has it as a real number */
static double real(struct json_object *rec, const char *key)
{
	struct json_object *v;
	bool found = json_object_object_get_ex(rec, key, &v) &&
		     (json_object_is_type(v, json_type_int) ||
		      json_object_is_type(v, json_type_double));

	CHECK(found, "no number \"%s\" in %s", key,
	      json_object_to_json_string(rec));
	return found ? json_object_get_double(v) : 0;
}

static bool flag(struct json_object *rec, const char *key)
{
	struct json_object *v;
	bool found = json_object_object_get_ex(rec, key, &v) &&
		     json_object_is_type(v, json_type_boolean);

	CHECK(found, "no \"%s\" in %s", key, json_object_to_json_string(rec));
	return found && json_object_get_boolean(v);
}

static void octets(struct json_object *rec, const char *key, __u8 *to,
		   unsigned int want)
{
	unsigned int len;
	__u8 *p = hex_octets(str(rec, key), &len);

	CHECK_EQ(len, want, "%s", key);
	memset(to, 0, want);
	memcpy(to, p, len < want ? len : want);
	free(p);
}

void vector_qcn_cp(struct json_object *rec)
{
	const char *text = json_object_to_json_string(rec);
	double w = real(rec, "w");
	struct qcn_cp_params p;
	struct qcn_sample s;
	struct qcn_cp cp;

	qcn_cp_defaults(&p);
	p.qeq_bytes = num(rec, "qeq");
	p.weight = w > 0 ? ilogb(w) : 0;
	CHECK(ldexp(1, p.weight) == w && qcn_cp_valid(&p), "%s", text);
	qcn_cp_init(&cp, &p);
	cp.qold_bytes = num(rec, "qold");
	qcn_cp_sample(&cp, &p, num(rec, "q"), QCN_RND_MEAN, &s);
	CHECK_EQ(s.qntzfb, num(rec, "qntzfb"), "%s", text);
	CHECK_EQ(cp.left_bytes, num(rec, "next_base"), "%s", text);
	CHECK_EQ(cp.qold_bytes, num(rec, "q"), "%s", text);
	CHECK_EQ(s.qntzfb > 0, flag(rec, "cnm"), "%s", text);
}

static void check_rate(__u64 got, double want, const char *what, size_t i)
{
	CHECK(fabs(got - want) <= 1 + want / 1000000, "%s is %llu, not %.0f after event %zu",
	      what, (unsigned long long)got, want, i);
}

static void rp_event(struct qcn_rp *rp, const struct qcn_rp_params *p,
		     struct json_object *e, size_t i)
{
	const char *event = str(e, "event");

	bool cnm = event && !strcmp(event, "cnm");
	bool timer = event && !strcmp(event, "timer");

	CHECK(cnm || timer || (event && !strcmp(event, "tx")), "event %zu", i);
	if (cnm)
		qcn_rp_cnm(rp, p, num(e, "arg"));
	else if (timer)
		qcn_rp_time_stage(rp, p);
	else if (qcn_rp_sent(rp, num(e, "arg")))
		qcn_rp_byte_stage(rp, p, QCN_RND_MEAN);
	check_rate(rp->cr_bps, real(e, "cr"), "cr", i);
	check_rate(rp->tr_bps, real(e, "tr"), "tr", i);
	CHECK_EQ(rp->byte_stage, num(e, "byte_stage"), "event %zu", i);
	CHECK_EQ(rp->time_stage, num(e, "time_stage"), "event %zu", i);
}

void vector_qcn_rp(struct json_object *rec)
{
	struct json_object *events = NULL;
	struct qcn_rp_params p;
	struct qcn_rp rp;
	size_t i;

	qcn_rp_defaults(&p, num(rec, "line"));
	p.min_bps = num(rec, "min");
	p.ai_bps = num(rec, "ai");
	p.hai_bps = num(rec, "hai");
	p.reset_bytes = num(rec, "byte_reset");
	p.threshold = num(rec, "threshold");
	/* the events do not say what was drawn */
	CHECK(real(rec, "jitter") == 0, "jitter");
	CHECK(qcn_rp_valid(&p), "%s", json_object_to_json_string(rec));
	CHECK(json_object_object_get_ex(rec, "events", &events) &&
	      json_object_is_type(events, json_type_array), "no events");
	if (!json_object_is_type(events, json_type_array))
		return;
	qcn_rp_init(&rp, &p);
	for (i = 0; i < json_object_array_length(events); i++)
		rp_event(&rp, &p, json_object_array_get_idx(events, i), i);
}

void vector_qcn_cnm(struct json_object *rec)
{
	const char *hex = str(rec, "cnm"), *source = str(rec, "cnm_source");
	const char *qoffset = str(rec, "cnm_qoffset");
	struct qcn_cnm_params p = {};
	struct qcn_sample s = {};
	__u8 out[QCN_CNM_FRAME_MAX], *sampled;
	struct qcn_frame f, got;
	struct qcn_cnm cnm;
	unsigned int len, at;
	__u8 pcp;

	sampled = hex_octets(str(rec, "sampled"), &len);
	CHECK(source && (!strcmp(source, "cp") || !strcmp(source, "destination")),
	      "cnm_source");
	octets(rec, "cp_mac", p.mac, sizeof(p.mac));
	octets(rec, "cpid", p.cpid, sizeof(p.cpid));
	p.source = source && !strcmp(source, "destination") ?
		   QCN_CNM_SOURCE_DESTINATION : QCN_CNM_SOURCE_CP;
	p.qoffset = qoffset && !strcmp(qoffset, "seed") ?
		    QCN_CNM_QOFFSET_SEED : QCN_CNM_QOFFSET_STANDARD;
	p.priority = num(rec, "cnm_priority");
	p.msdu_max = num(rec, "min_header_octets");
	s.qntzfb = num(rec, "qntzfb");
	s.qoff_bytes = real(rec, "q_minus_qeq");
	s.qdelta_bytes = real(rec, "qdelta");

	if (!qcn_frame_parse(sampled, len, NULL, 0, 0, &f)) {
		CHECK(false, "%s", str(rec, "sampled"));
		goto out;
	}
	pcp = f.vlan_tpid ? qcn_pcp(f.vlan_tci) : 0;
	len = qcn_cnm_encode(&p, &f, pcp, &s, sampled + f.msdu, len - f.msdu, out);
	check_octets(out, hex, len);

	/* and back */
	CHECK(qcn_frame_parse(out, len, NULL, 0, 0, &got), "%s", hex);
	at = qcn_cnm_at(out, &got);
	CHECK(at && qcn_cnm_decode(out + at, len - at, &cnm), "%s", hex);
	CHECK(qcn_cnm_is_for(&got, f.src) && got.rpid == f.rpid, "%s", hex);
	CHECK(cnm.version == QCN_CNM_VERSION && cnm.qntzfb == s.qntzfb &&
	      cnm.priority == pcp && qcn_mac_eq(cnm.dst, f.dst) &&
	      !memcmp(cnm.cpid, p.cpid, sizeof(p.cpid)) &&
	      cnm.qdelta == qcn_cnm_units(s.qdelta_bytes), "%s", hex);
	CHECK(!memcmp(out + at + QCN_CNM_AT_MSDU, sampled + f.msdu, cnm.msdu_len),
	      "%s", hex);
out:
	free(sampled);
}
