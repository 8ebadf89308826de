/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the unit tests share: KTAP lines, checks with diagnostics of the first
 * mismatches, reproducible random numbers.  No test lives here.
 */
#ifndef KTAP_H
#define KTAP_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

struct test {
	const char *name;
	void (*run)(void);
};

/* The tests of each file; a NULL name ends the list. */
extern const struct test tests_wire[], tests_walk[], tests_coding[];
extern const struct test tests_estimate[], tests_profile[], tests_reflect[];
extern const struct test tests_qcn[], tests_qcn_rp[], tests_qcn_pace[];
extern const struct test tests_qcn_frame[], tests_qcn_cnd[], tests_qcn_loop[];

void ktap_plan(unsigned int tests);
void ktap_begin(void);
void ktap_end(const char *name);
int ktap_exit(void);

bool check_count(bool ok);
#define CHECK(cond, fmt, ...)						\
	do {								\
		if (!check_count(cond))					\
			printf("# %s:%d: %s: " fmt "\n", __FILE__,	\
			       __LINE__, #cond, ##__VA_ARGS__);		\
	} while (0)

#define CHECK_EQ(a, b, fmt, ...)					\
	do {								\
		unsigned long long a__ = (a), b__ = (b);		\
									\
		if (!check_count(a__ == b__))				\
			printf("# %s:%d: %s is %llu, not %llu: " fmt "\n", \
			       __FILE__, __LINE__, #a, a__, b__,	\
			       ##__VA_ARGS__);				\
	} while (0)

void rnd_seed(__u64 seed);
__u64 rnd(void);
/* 0..n-1 */
__u64 rnd_below(__u64 n);
/* any number of bits with the same probability */
__u64 rnd_bits(unsigned int max_bits);

/* Run the records of one vector file; false when its kind is unknown. */
bool vectors_known(const char *name);
void vectors_run(const char *path);
/* Write the frames and tags of a vector file as seeds of the fuzzer. */
void vectors_corpus(const char *path, const char *dir);

/* Octets from hexadecimal digits, in a block of exactly their size. */
__u8 *hex_octets(const char *hex, unsigned int *len);

#endif /* KTAP_H */
