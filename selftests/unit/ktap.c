// SPDX-License-Identifier: GPL-2.0
/*
 * KTAP output, check counters and random numbers of the unit tests.  See ktap.h.
 */
#include <linux/types.h>

#include "ktap.h"

#define DIAGNOSTICS_MAX	5

static unsigned int results, failures;
static unsigned long checks, mismatches;
static __u64 state;

void ktap_plan(unsigned int tests)
{
	printf("KTAP version 1\n1..%u\n", tests);
}

void ktap_begin(void)
{
	checks = 0;
	mismatches = 0;
}

void ktap_end(const char *name)
{
	bool ok = checks && !mismatches;

	results++;
	failures += !ok;
	printf("%s %u %s # %lu checks, %lu mismatches\n",
	       ok ? "ok" : "not ok", results, name, checks, mismatches);
	fflush(stdout);
}

int ktap_exit(void)
{
	printf("# Totals: pass:%u fail:%u\n", results - failures, failures);
	return failures || !results;
}

bool check_count(bool ok)
{
	checks++;
	if (ok)
		return true;
	/* true spares the caller's line */
	return mismatches++ >= DIAGNOSTICS_MAX;
}

void rnd_seed(__u64 seed)
{
	state = seed ? seed : 1;
}

__u64 rnd(void)
{
	/* xorshift64* */
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 2685821657736338717ULL;
}

__u64 rnd_below(__u64 n)
{
	return rnd() % n;
}

__u64 rnd_bits(unsigned int max_bits)
{
	unsigned int bits = rnd_below(max_bits + 1);

	return bits ? rnd() >> (64 - bits) : 0;
}
