// SPDX-License-Identifier: GPL-2.0
/*
 * A profile from a JSON file, as "domain export" writes it.  Every refusal names the
 * key; the result is whole and valid or there is none.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"

#define FILE_SIZE_MAX	(1 << 20)

static const char *file;

__attribute__((format(printf, 2, 3)))
static int bad(const char *key, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fail("%s: %s: %s", file, key, text);
	return -1;
}

static int get(struct json_object *o, const char *in, const char *key,
	       enum json_type type, struct json_object **v)
{
	char path[128];

	snprintf(path, sizeof(path), "%s%s", in, key);
	if (!json_object_object_get_ex(o, key, v))
		return bad(path, "is missing");
	if (!json_object_is_type(*v, type))
		return bad(path, "must be %s",
			   type == json_type_int ? "a whole number" :
			   type == json_type_array ? "a list" :
			   type == json_type_boolean ? "true or false" :
						       "a string");
	return 0;
}

static int get_number(struct json_object *o, const char *in, const char *key,
		      uint64_t max, uint64_t *n)
{
	struct json_object *v;
	char path[128];
	int64_t i;

	if (get(o, in, key, json_type_int, &v))
		return -1;
	snprintf(path, sizeof(path), "%s%s", in, key);
	i = json_object_get_int64(v);
	if (i < 0 || (uint64_t)i > max)
		return bad(path, "must be 0..%llu", (unsigned long long)max);
	*n = (uint64_t)i;
	return 0;
}

static int get_word(struct json_object *o, const char *in, const char *key,
		    const char *const *words, size_t n, uint8_t *w)
{
	struct json_object *v;
	char path[128];
	unsigned int i;

	if (get(o, in, key, json_type_string, &v))
		return -1;
	if (parse_word(json_object_get_string(v), words, n, &i)) {
		snprintf(path, sizeof(path), "%s%s", in, key);
		return bad(path, "\"%s\" is unknown",
			   json_object_get_string(v));
	}
	*w = (uint8_t)i;
	return 0;
}

static int get_tpid(struct json_object *o, const char *key, uint16_t *tpid)
{
	struct json_object *v;
	uint64_t n;

	if (get(o, "", key, json_type_string, &v))
		return -1;
	if (parse_uint(json_object_get_string(v), 0xffff, &n))
		return bad(key, "\"%s\" is not an EtherType",
			   json_object_get_string(v));
	*tpid = (uint16_t)n;
	return 0;
}

static int known_keys(struct json_object *o, const char *in,
		      const char *const *keys, size_t n)
{
	unsigned int i;

	if (!json_object_is_type(o, json_type_object))
		return bad(in[0] ? in : "the file", "must be an object");
	json_object_object_foreach(o, key, value) {
		(void)value;
		if (!parse_word(key, keys, n, &i))
			continue;
		return bad(key, "is not known%s%s", in[0] ? " in " : "", in);
	}
	return 0;
}

static int read_signal(struct json_object *o, const char *in,
		       struct csig_profile *p)
{
	static const char *const keys[] = {
		"t", "name", "source", "aggregate", "unit", "buckets", "base",
		"step",
	};
	struct csig_signal s = { .defined = 1 };
	struct json_object *list;
	uint64_t t, n;
	char path[128];
	size_t i;

	if (known_keys(o, in, keys, ARRAY_SIZE(keys)))
		return -1;
	snprintf(path, sizeof(path), "%s.", in);
	if (get_number(o, path, "t", CSIG_SIGNALS - 1, &t) ||
	    get_word(o, path, "source", source_words, 4, &s.source) ||
	    get_word(o, path, "aggregate", aggregate_words, 4, &s.aggregate) ||
	    get_number(o, path, "base", (1ULL << 62) - 1, &n))
		return -1;
	s.coding.base = n;
	if (get_number(o, path, "step", (1ULL << 43) - 1, &n))
		return -1;
	s.coding.step = n;
	if (get(o, path, "buckets", json_type_array, &list))
		return -1;
	if (p->signals[t].defined)
		return bad(in, "signal %u is there twice", (unsigned int)t);
	n = json_object_array_length(list);
	snprintf(path, sizeof(path), "%s.buckets", in);
	if (!n || n > CSIG_BOUNDS_MAX)
		return bad(path, "must be 1 to %u boundaries", CSIG_BOUNDS_MAX);
	for (i = 0; i < n; i++) {
		struct json_object *v = json_object_array_get_idx(list, i);
		int64_t b = json_object_get_int64(v);

		snprintf(path, sizeof(path), "%s.buckets[%zu]", in, i);
		if (!json_object_is_type(v, json_type_int) || b <= 0)
			return bad(path, "must be a whole number above 0");
		if (i && (uint64_t)b <= s.coding.bounds[i - 1])
			return bad(path, "must be above the one before");
		s.coding.bounds[s.coding.nbounds++] = (uint64_t)b;
	}
	if (!csig_coding_valid(&s.coding))
		return bad(in, "the step must not be 0");
	csig_coding_prepare(&s.coding);
	p->signals[t] = s;
	return 0;
}

static int read_fields(struct json_object *list, const char *in,
		       struct csig_lm_layout *l)
{
	static const char *const keys[] = { "name", "bits" };
	size_t i, n = json_object_array_length(list);
	char path[128], dot[132];
	struct json_object *v;
	uint64_t bits;

	if (n > CSIG_LM_FIELDS_MAX)
		return bad(in, "has more than %u fields", CSIG_LM_FIELDS_MAX);
	for (i = 0; i < n; i++) {
		struct json_object *o = json_object_array_get_idx(list, i);
		const char *name;

		snprintf(path, sizeof(path), "%s.fields[%zu]", in, i);
		if (known_keys(o, path, keys, ARRAY_SIZE(keys)))
			return -1;
		snprintf(dot, sizeof(dot), "%s.", path);
		if (get(o, dot, "name", json_type_string, &v) ||
		    get_number(o, dot, "bits", 16, &bits))
			return -1;
		name = json_object_get_string(v);
		if (!name[0] || strlen(name) > CSIG_LM_NAME_MAX)
			return bad(path, "name must be 1 to %u octets",
				   CSIG_LM_NAME_MAX);
		strcpy(l->fields[i].name, name);
		l->fields[i].bits = (uint8_t)bits;
	}
	l->nfields = (uint8_t)n;
	return 0;
}

static int read_layout(struct json_object *o, const char *in,
		       struct csig_profile *p)
{
	static const char *const keys[] = { "t", "format", "fields" };
	struct csig_lm_layout l = { 0 };
	struct json_object *v;
	uint64_t t = CSIG_LAYOUT_ANY;
	char path[128];
	uint8_t format;

	if (known_keys(o, in, keys, ARRAY_SIZE(keys)))
		return -1;
	snprintf(path, sizeof(path), "%s.", in);
	if (!json_object_object_get_ex(o, "t", &v))
		return bad(in, "t is missing (null: all signals)");
	if (v && get_number(o, path, "t", CSIG_SIGNALS - 1, &t))
		return -1;
	if (get_word(o, path, "format", format_words, 2, &format) ||
	    get(o, path, "fields", json_type_array, &v) ||
	    read_fields(v, in, &l))
		return -1;
	if (p->layouts[t][format].nfields)
		return bad(in, "this layout is there twice");
	if (!l.nfields || !csig_lm_valid(&l, format))
		return bad(in, "fields need different names and together 1 to %u bits",
			   csig_layout(format)->lm_bits);
	p->layouts[t][format] = l;
	return 0;
}

static int read_list(struct json_object *root, const char *key,
		     struct csig_profile *p,
		     int (*item)(struct json_object *, const char *,
				 struct csig_profile *))
{
	struct json_object *list;
	char path[64];
	size_t i;

	if (get(root, "", key, json_type_array, &list))
		return -1;
	for (i = 0; i < json_object_array_length(list); i++) {
		snprintf(path, sizeof(path), "%s[%zu]", key, i);
		if (item(json_object_array_get_idx(list, i), path, p))
			return -1;
	}
	return 0;
}

static int read_profile(struct json_object *root, struct csig_profile *p)
{
	static const char *const keys[] = {
		"digest", "compact_tpid", "expanded_tpid", "software_assist",
		"signals", "layouts",
	};
	struct json_object *v;
	char digest[20];

	memset(p, 0, sizeof(*p));
	if (known_keys(root, "", keys, ARRAY_SIZE(keys)) ||
	    get_tpid(root, "compact_tpid", &p->tpid[CSIG_FORMAT_COMPACT]) ||
	    get_tpid(root, "expanded_tpid", &p->tpid[CSIG_FORMAT_EXPANDED]) ||
	    get(root, "", "software_assist", json_type_boolean, &v))
		return -1;
	p->software_assist = json_object_get_boolean(v) ? 1 : 0;
	if (csig_tpid_refused(p->tpid[CSIG_FORMAT_COMPACT], p->software_assist))
		return bad("compact_tpid", "0x%04x is in use for something else",
			   p->tpid[CSIG_FORMAT_COMPACT]);
	if (csig_tpid_refused(p->tpid[CSIG_FORMAT_EXPANDED], false) ||
	    p->tpid[CSIG_FORMAT_EXPANDED] == p->tpid[CSIG_FORMAT_COMPACT])
		return bad("expanded_tpid", "0x%04x is in use for something else",
			   p->tpid[CSIG_FORMAT_EXPANDED]);
	if (read_list(root, "signals", p, read_signal) ||
	    read_list(root, "layouts", p, read_layout))
		return -1;
	if (!json_object_object_get_ex(root, "digest", &v))
		return 0;
	snprintf(digest, sizeof(digest), "%016llx",
		 (unsigned long long)csig_profile_digest(p));
	if (!json_object_is_type(v, json_type_string) ||
	    strcmp(json_object_get_string(v), digest))
		return bad("digest", "the contents give %s; remove the key after a change by hand",
			   digest);
	return 0;
}

static char *read_all(const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "r") : stdin;
	char *text = NULL;
	size_t n = 0;

	if (f)
		text = malloc(FILE_SIZE_MAX + 1);
	if (text) {
		n = fread(text, 1, FILE_SIZE_MAX + 1, f);
		text[n > FILE_SIZE_MAX ? 0 : n] = '\0';
	}
	if (!text || ferror(f)) {
		fail("%s: %s", file, strerror(errno));
		free(text);
		text = NULL;
	} else if (n > FILE_SIZE_MAX || strlen(text) != n) {
		fail("%s: not a profile in JSON", file);
		free(text);
		text = NULL;
	}
	if (f && f != stdin)
		fclose(f);
	return text;
}

/* ST_OK or ST_KERNEL; "-" is the standard input */
int profile_read(const char *path, struct csig_profile *p)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *root = NULL;
	int status = ST_KERNEL;
	char *text;

	file = strcmp(path, "-") ? path : "standard input";
	text = tok ? read_all(path) : NULL;
	if (text) {
		json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
		root = json_tokener_parse_ex(tok, text, (int)strlen(text) + 1);
		if (!root)
			fail("%s: not JSON: %s", file,
			     json_tokener_error_desc(json_tokener_get_error(tok)));
		else if (!read_profile(root, p))
			status = ST_OK;
	}
	json_object_put(root);
	if (tok)
		json_tokener_free(tok);
	free(text);
	return status;
}
