// SPDX-License-Identifier: GPL-2.0
/*
 * The test vectors of the specification.  A file's name says what its records are:
 * csig-codec, csig-coding, csig-compare-replace, csig-walk, which use the default
 * profile, and those of vectors_qcn.c.  Other files are left alone.
 */
#include <csig/profile.h>
#include <csig/reflect.h>
#include <csig/walk.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "vectors.h"

static struct csig_profile profile;

const char *str(struct json_object *rec, const char *key)
{
	struct json_object *v;

	if (!json_object_object_get_ex(rec, key, &v) || !v)
		return NULL;
	return json_object_get_string(v);
}

__u64 num(struct json_object *rec, const char *key)
{
	struct json_object *v;
	bool found = json_object_object_get_ex(rec, key, &v) &&
		     json_object_is_type(v, json_type_int);

	CHECK(found, "no number \"%s\" in %s", key,
	      json_object_to_json_string(rec));
	return found ? json_object_get_uint64(v) : 0;
}

__u8 *hex_octets(const char *hex, unsigned int *len)
{
	unsigned int n = hex ? strlen(hex) / 2 : 0, i, v;
	__u8 *p = malloc(n ? n : 1);

	if (!p)
		abort();
	for (i = 0; i < n; i++) {
		if (sscanf(hex + 2 * i, "%2x", &v) != 1)
			break;
		p[i] = v;
	}
	*len = i;
	return p;
}

static int format_of(const __u8 *tag, unsigned int len)
{
	unsigned int f;

	for (f = 0; f < CSIG_FORMATS; f++)
		if (len == csig_layout(f)->len &&
		    csig_get16(tag) == profile.tpid[f])
			return f;
	return -1;
}

void check_octets(const __u8 *got, const char *hex, unsigned int len)
{
	unsigned int want_len;
	__u8 *want = hex_octets(hex, &want_len);

	CHECK(len == want_len && !memcmp(got, want, len), "%s", hex);
	free(want);
}

static void codec(struct json_object *rec)
{
	const char *hex = str(rec, "hex"), *format = str(rec, "format");
	struct csig_tag tag, built = {};
	unsigned int len;
	__u8 *octets = hex_octets(hex, &len), out[CSIG_TAG_LEN_MAX];
	int f = format_of(octets, len);
	__u8 udp[CSIG_UDP_LEN_MAX];

	CHECK(f >= 0 && format &&
	      !strcmp(format, f ? "expanded" : "compact"), "format of %s", hex);
	if (f >= 0) {
		csig_decode(f, octets + CSIG_TPID_LEN, &tag);
		CHECK_EQ(tag.format, (unsigned int)f, "%s", hex);
		CHECK_EQ(tag.t, num(rec, "t"), "%s", hex);
		CHECK_EQ(tag.r, num(rec, "r"), "%s", hex);
		CHECK_EQ(tag.s, num(rec, "s"), "%s", hex);
		CHECK_EQ(tag.lm, num(rec, "lm"), "%s", hex);

		built.format = f;
		built.t = num(rec, "t");
		built.r = num(rec, "r");
		built.s = num(rec, "s");
		built.lm = num(rec, "lm");
		csig_put16(out, profile.tpid[f]);
		csig_encode(&built, out + CSIG_TPID_LEN);
		check_octets(out, hex, len);

		/* UDP transports carry the same octets, behind one of flags */
		CHECK_EQ(csig_udp_encode(f, &built, udp), len - 1, "%s", hex);
		CHECK_EQ(udp[0], f ? 0xc0u : 0x80u, "%s", hex);
		CHECK(!memcmp(udp + 1, octets + CSIG_TPID_LEN, len - CSIG_TPID_LEN),
		      "%s", hex);
	}
	free(octets);
}

static void coding(struct json_object *rec)
{
	unsigned int t = num(rec, "t");
	__u64 value = num(rec, "value");
	const struct csig_coding *c = &profile.signals[t % CSIG_SIGNALS].coding;

	CHECK(t < CSIG_SIGNALS && profile.signals[t].defined, "T %u", t);
	CHECK_EQ(csig_code(c, CSIG_FORMAT_COMPACT, value), num(rec, "compact"),
		 "T %u value %llu", t, (unsigned long long)value);
	CHECK_EQ(csig_code(c, CSIG_FORMAT_EXPANDED, value),
		 num(rec, "expanded"), "T %u value %llu", t,
		 (unsigned long long)value);
}

static void compare_replace(struct json_object *rec)
{
	const char *hex = str(rec, "tag");
	struct json_object *changed;
	const struct csig_signal *sig;
	struct csig_tag tag;
	unsigned int len;
	__u8 *octets = hex_octets(hex, &len);
	int f = format_of(octets, len);
	__u32 local, s;

	CHECK(f >= 0, "format of %s", hex);
	if (f < 0)
		goto out;
	csig_decode(f, octets + CSIG_TPID_LEN, &tag);
	sig = &profile.signals[tag.t];
	s = tag.s;
	if (sig->defined) {
		local = csig_code(&sig->coding, f, num(rec, "local_value"));
		s = csig_aggregate(sig->aggregate, f, tag.s, local);
	}
	CHECK(json_object_object_get_ex(rec, "changed", &changed) &&
	      json_object_get_boolean(changed) == (s != tag.s),
	      "%s becomes S %u", hex, s);
	if (s != tag.s) {
		tag.s = s;
		tag.lm = num(rec, "port_lm");
	}
	csig_encode(&tag, octets + CSIG_TPID_LEN);
	check_octets(octets, str(rec, "out"), len);
out:
	free(octets);
}

static void walk(struct json_object *rec)
{
	static const char *const names[] = {
		[CSIG_WALK_NONE] = "none", [CSIG_WALK_TAG] = "tag",
		[CSIG_WALK_MALFORMED] = "malformed",
	};
	const char *hex = str(rec, "frame"), *want = str(rec, "status");
	const char *inner = str(rec, "inner"), *format = str(rec, "format");
	unsigned int len;
	__u8 *frame = hex_octets(hex, &len);
	struct csig_walk w;
	int status = csig_walk(frame, len, profile.tpid, 0, &w);

	CHECK(want && !strcmp(names[status], want), "%s is %s, not %s", hex,
	      names[status], want);
	CHECK_EQ(w.status, (unsigned int)status, "%s", hex);
	if (status == CSIG_WALK_TAG) {
		CHECK_EQ(w.offset, num(rec, "offset"), "%s", hex);
		CHECK(format && !strcmp(format, w.format ? "expanded" :
					"compact"), "%s", hex);
	}
	if (status != CSIG_WALK_MALFORMED)
		CHECK(inner && strtoul(inner, NULL, 16) == w.inner,
		      "%s: inner %04x, not %s", hex, w.inner, inner);
	free(frame);
}

static const struct kind {
	const char *prefix;
	void (*run)(struct json_object *rec);
	const char *octets;	/* key of what the fuzzer starts from */
} kinds[] = {
	{ "csig-codec", codec, "hex" },
	{ "csig-coding", coding, NULL },
	{ "csig-compare-replace", compare_replace, "tag" },
	{ "csig-walk", walk, "frame" },
	{ "qcn-cnm", vector_qcn_cnm, "sampled" },
	{ "qcn-cp", vector_qcn_cp, NULL },
	{ "qcn-rp", vector_qcn_rp, NULL },
};

static const struct kind *kind_of(const char *name)
{
	size_t i, len = strlen(name);

	if (len < 5 || strcmp(name + len - 5, ".json"))
		return NULL;
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix)))
			return &kinds[i];
	return NULL;
}

static struct json_object *load(const char *path, const struct kind **kind)
{
	const char *slash = strrchr(path, '/');

	*kind = kind_of(slash ? slash + 1 : path);
	return json_object_from_file(path);
}

bool vectors_known(const char *name)
{
	return kind_of(name);
}

void vectors_run(const char *path)
{
	const struct kind *kind;
	struct json_object *list = load(path, &kind);
	size_t i, n;

	CHECK(kind && list && json_object_is_type(list, json_type_array),
	      "%s: no list of records", path);
	if (!kind || !list || !json_object_is_type(list, json_type_array))
		goto out;
	csig_profile_preset(&profile, CSIG_PRESET_DEFAULT);
	n = json_object_array_length(list);
	CHECK(n, "%s is empty", path);
	for (i = 0; i < n; i++)
		kind->run(json_object_array_get_idx(list, i));
out:
	json_object_put(list);
}

void vectors_corpus(const char *path, const char *dir)
{
	/* a fuzzer's input starts with an octet of options; no addresses in tags */
	static const __u8 options, macs[CSIG_MACS_LEN], inner[2] = { 8, 0 };
	const struct kind *kind;
	struct json_object *list = load(path, &kind);
	size_t i, n = list ? json_object_array_length(list) : 0;

	for (i = 0; kind && kind->octets && i < n; i++) {
		struct json_object *rec = json_object_array_get_idx(list, i);
		bool tag = kind->run != walk && kind->run != vector_qcn_cnm;
		char name[4096];
		unsigned int len;
		__u8 *octets = hex_octets(str(rec, kind->octets), &len);
		FILE *f;

		snprintf(name, sizeof(name), "%s/%s-%zu", dir, kind->prefix, i);
		f = fopen(name, "w");
		if (!f) {
			perror(name);
			exit(1);
		}
		fwrite(&options, 1, 1, f);
		if (tag)
			fwrite(macs, 1, sizeof(macs), f);
		fwrite(octets, 1, len, f);
		if (tag)
			fwrite(inner, 1, sizeof(inner), f);
		fclose(f);
		free(octets);
	}
	json_object_put(list);
}
