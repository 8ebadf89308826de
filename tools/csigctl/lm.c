// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl lm: layouts of the locator metadata.  Values are settings of ports, names
 * of places are names.c.
 */
#include <string.h>

#include "csigctl.h"
#include "nl.h"
#include "output.h"
#include "profile.h"

static const char help[] =
	"Usage: csigctl lm [ show ]\n"
	"       csigctl lm set signal { T | all } format { compact | expanded }\n"
	"                      fields { NAME:BITS[,NAME:BITS...] | none }\n"
	"where  the first field is the most significant; compact has 7 bits, expanded 16.\n"
	"       \"ttl\" is filled in from the packet, \"d\" is kept as it is.\n"
	"       A signal without a layout of its own has that of \"signal all\".\n";

static int lm_show(struct args *a)
{
	unsigned int t, f;
	struct domain d;
	int status;

	status = arg_end(a);
	if (!status)
		status = domain_get(&d);
	if (status)
		return status;
	out_open_array(NULL);
	for (t = 0; t <= CSIG_LAYOUT_ANY; t++)
		for (f = 0; f < CSIG_FORMATS; f++)
			if (d.profile.layouts[t][f].nfields)
				print_layout(&d.profile, t, f);
	out_close_array();
	return ST_OK;
}

static int parse_fields(struct args *a, const char *text,
			struct csig_lm_layout *l)
{
	uint64_t bits;
	char one[64];

	if (!strcmp(text, "none"))
		return ST_OK;
	for (;;) {
		size_t len = strcspn(text, ",");
		struct csig_lm_field *f = &l->fields[l->nfields];
		char *colon;

		if (l->nfields == CSIG_LM_FIELDS_MAX)
			return usage(a, "more than %u fields",
				     CSIG_LM_FIELDS_MAX);
		if (len >= sizeof(one))
			return usage(a, "field \"%s\" is too long", text);
		memcpy(one, text, len);
		one[len] = '\0';
		colon = strchr(one, ':');
		if (!colon || colon == one || strpbrk(one, "= \t"))
			return usage(a, "field \"%s\" is not NAME:BITS", one);
		*colon = '\0';
		if (strlen(one) > CSIG_LM_NAME_MAX)
			return usage(a, "name \"%s\" is longer than %u", one,
				     CSIG_LM_NAME_MAX);
		if (parse_uint(colon + 1, 16, &bits) || !bits)
			return usage(a, "field \"%s\": bits \"%s\" is not 1..16",
				     one, colon + 1);
		strcpy(f->name, one);
		f->bits = (uint8_t)bits;
		l->nfields++;
		if (!text[len])
			return ST_OK;
		text += len + 1;
	}
}

static int lm_set(struct args *a)
{
	const char *signal = NULL, *format = NULL, *fields = NULL;
	const struct {
		const char *word;
		const char **value;
	} words[] = {
		{ "signal", &signal }, { "format", &format },
		{ "fields", &fields },
	};
	struct csig_lm_layout l = { 0 };
	uint64_t t = CSIG_LAYOUT_ANY;
	struct nl_msg *msg;
	unsigned int f;
	int err, status;
	size_t i;

	while (a->argc) {
		for (i = 0; i < ARRAY_SIZE(words); i++)
			if (arg_is(a, words[i].word))
				break;
		if (i == ARRAY_SIZE(words))
			return arg_unknown(a);
		if (*words[i].value)
			return usage(a, "\"%s\" is given twice", words[i].word);
		if (arg_value(a, words[i].word, words[i].value))
			return ST_USAGE;
	}
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!*words[i].value)
			return usage(a, "\"%s\" is missing", words[i].word);
	if (strcmp(signal, "all") && parse_uint(signal, CSIG_SIGNALS - 1, &t))
		return usage(a, "signal \"%s\" is not 0..%u or all", signal,
			     CSIG_SIGNALS - 1);
	if (parse_word(format, format_words, 2, &f))
		return usage(a, "format \"%s\" is unknown", format);
	status = parse_fields(a, fields, &l);
	if (status)
		return status;
	if (!csig_lm_valid(&l, f))
		return usage(a, "fields \"%s\" need different names and at most %u bits together",
			     fields, csig_layout(f)->lm_bits);
	status = csig_open();
	if (status)
		return status;
	msg = csig_request(CSIG_CMD_DOMAIN_SET, 0);
	if (!msg)
		return fail("out of memory");
	put_layout(msg, (unsigned int)t, f, &l);
	err = csig_talk(msg, NULL);
	return err ? nl_refused(err, "lm") : ST_OK;
}

int do_lm(struct args *a)
{
	static const struct command commands[] = {
		{ "show", lm_show },
		{ "set", lm_set },
	};

	return run_command(a, commands, ARRAY_SIZE(commands), "show", help);
}
