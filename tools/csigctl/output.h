/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One call prints a value as text or as JSON, whichever was asked for.
 */
#ifndef CSIGCTL_OUTPUT_H
#define CSIGCTL_OUTPUT_H

#include <stdbool.h>
#include <inttypes.h>
#include <stddef.h>

void out_begin(void);
int out_end(bool complete);
void out_discard(void);

void out_open_array(const char *key);
void out_close_array(void);
void out_open_object(const char *key);
void out_close_object(void);

/* @key: JSON, NULL in arrays; @fmt: text, NULL for JSON only */
void out_str(const char *key, const char *fmt, const char *v);
void out_u64(const char *key, const char *fmt, uint64_t v);
void out_s64(const char *key, const char *fmt, int64_t v);
void out_bool(const char *key, const char *fmt, bool v);
void out_null(const char *key, const char *text);
__attribute__((format(printf, 1, 2))) void out_text(const char *fmt, ...);

/* Number in JSON, number with unit in text; fmt takes a string */
void out_rate(const char *key, const char *fmt, uint64_t bps);
void out_time(const char *key, const char *fmt, uint64_t ns);
void out_ppm(const char *key, const char *fmt, uint64_t ppm);
void out_hex16(const char *key, const char *fmt, uint16_t v);
void out_digest(const char *key, const char *fmt, uint64_t v);
void out_value(const char *key, const char *fmt, unsigned int source,
	       uint64_t v);

/* Exact text of a value in the unit of a source, in a buffer that rotates */
const char *fmt_value(unsigned int source, uint64_t v);

#endif /* CSIGCTL_OUTPUT_H */
