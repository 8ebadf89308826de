// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the pure headers in user space: every csig-*.json and qcn-*.json of a
 * folder of vectors, then the tests of this folder.  Usage: unit [--corpus OUT] VECTORS
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"

static const struct test *const own[] = {
	tests_wire, tests_walk, tests_coding, tests_estimate, tests_profile,
	tests_reflect, tests_qcn, tests_qcn_rp, tests_qcn_pace, tests_qcn_frame,
	tests_qcn_cnd, tests_qcn_loop,
};

static int is_vector_file(const struct dirent *d)
{
	return vectors_known(d->d_name);
}

int main(int argc, char **argv)
{
	bool corpus = argc == 4 && !strcmp(argv[1], "--corpus");
	const char *dir = argv[argc - 1], *seed = getenv("SEED");
	const struct test *t;
	struct dirent **files;
	unsigned int plan;
	char path[4096];
	size_t s;
	int n, i;

	if (argc != 2 && !corpus) {
		fprintf(stderr, "usage: unit [--corpus OUT] VECTORS\n");
		return 2;
	}
	n = scandir(dir, &files, is_vector_file, alphasort);
	if (n <= 0) {
		fprintf(stderr, "%s: no csig-*.json or qcn-*.json\n", dir);
		return 1;
	}
	plan = n;
	for (s = 0; s < ARRAY_SIZE(own); s++)
		for (t = own[s]; t->name; t++)
			plan++;
	if (!corpus)
		ktap_plan(plan);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]->d_name);
		if (corpus) {
			vectors_corpus(path, argv[2]);
		} else {
			ktap_begin();
			vectors_run(path);
			ktap_end(files[i]->d_name);
		}
		free(files[i]);
	}
	free(files);
	if (corpus)
		return 0;

	for (s = 0; s < ARRAY_SIZE(own); s++) {
		for (t = own[s]; t->name; t++) {
			rnd_seed(seed ? strtoull(seed, NULL, 0) : 0xc516);
			ktap_begin();
			t->run();
			ktap_end(t->name);
		}
	}
	return ktap_exit();
}
