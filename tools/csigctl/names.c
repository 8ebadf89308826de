// SPDX-License-Identifier: GPL-2.0
/*
 * A file of names: lines FIELD=V[,FIELD=V...] NAME.  The first line whose fields all
 * have their values names the place; "lm" is the whole of the locator metadata.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csigctl.h"
#include "names.h"

struct name {
	struct {
		char field[CSIG_LM_NAME_LEN];
		uint16_t value;
	} match[CSIG_LM_FIELDS_MAX];
	unsigned int n;
	char *name;
};

static struct name *names;
static size_t count;

static int parse_match(char *text, struct name *n)
{
	char *one, *save, *equals;
	uint64_t v;

	for (one = strtok_r(text, ",", &save); one;
	     one = strtok_r(NULL, ",", &save)) {
		equals = strchr(one, '=');
		if (n->n == CSIG_LM_FIELDS_MAX || !equals || equals == one)
			return -1;
		*equals = '\0';
		if (strlen(one) > CSIG_LM_NAME_MAX ||
		    parse_uint(equals + 1, 0xffff, &v))
			return -1;
		strcpy(n->match[n->n].field, one);
		n->match[n->n++].value = (uint16_t)v;
	}
	return n->n ? 0 : -1;
}

/* 1 when the line holds a name, 0 when it is empty */
static int parse_line(char *line, struct name *n)
{
	char *end;

	memset(n, 0, sizeof(*n));
	line += strspn(line, " \t");
	line[strcspn(line, "#\r\n")] = '\0';
	if (!*line)
		return 0;
	n->name = line + strcspn(line, " \t");
	if (!*n->name)
		return -1;
	*n->name++ = '\0';
	n->name += strspn(n->name, " \t");
	for (end = n->name + strlen(n->name);
	     end > n->name && strchr(" \t", end[-1]); end--)
		end[-1] = '\0';
	return *n->name && !parse_match(line, n) ? 1 : -1;
}

int names_read(const char *path, bool optional)
{
	unsigned int number = 0;
	int status = ST_OK, got;
	char *line = NULL;
	struct name n, *v;
	size_t size = 0;
	FILE *f;

	names_free();
	f = fopen(path, "r");
	if (!f)
		return optional && errno == ENOENT ? ST_OK :
			fail("%s: %s", path, strerror(errno));
	while (!status && getline(&line, &size, f) >= 0) {
		number++;
		got = parse_line(line, &n);
		if (!got)
			continue;
		if (got < 0) {
			status = fail("%s:%u: not FIELD=V[,FIELD=V...] NAME",
				      path, number);
			break;
		}
		v = realloc(names, (count + 1) * sizeof(*v));
		n.name = strdup(n.name);
		if (v)
			names = v;
		if (!v || !n.name) {
			free(n.name);
			status = fail("out of memory");
			break;
		}
		names[count++] = n;
	}
	if (!status && ferror(f))
		status = fail("%s: %s", path, strerror(errno));
	free(line);
	fclose(f);
	return status;
}

static bool matches(const struct csig_lm_layout *l, const char *field,
		    uint16_t value, uint16_t lm)
{
	unsigned int shift;
	uint16_t mask;

	if (csig_lm_find(l, field, &shift, &mask))
		return (lm >> shift & mask) == value;
	return !strcmp(field, "lm") && lm == value;
}

const char *names_find(const struct csig_profile *p, unsigned int t,
		       unsigned int format, uint16_t lm)
{
	const struct csig_lm_layout *l = csig_profile_layout(p, t, format);
	unsigned int j;
	size_t i;

	for (i = 0; i < count; i++) {
		for (j = 0; j < names[i].n; j++)
			if (!matches(l, names[i].match[j].field,
				     names[i].match[j].value, lm))
				break;
		if (j == names[i].n)
			return names[i].name;
	}
	return NULL;
}

void names_free(void)
{
	while (count)
		free(names[--count].name);
	free(names);
	names = NULL;
}
