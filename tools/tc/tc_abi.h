/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tc program of iproute2 offers to its plugins, as far as these use it: there
 * is no development package.  Only names whose prototype is the same from tc 6.1 on;
 * checked with 6.15 (Debian 13) and 7.1.
 */
#ifndef TC_ABI_H
#define TC_ABI_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifndef __noreturn
#define __noreturn	__attribute__((__noreturn__))
#endif

#define TC_KIND_LEN	16	/* FILTER_NAMESZ */
#define TC_MSG_MAX	16384	/* MAX_MSG */

struct qdisc_util {
	struct qdisc_util *next;
	const char *id;
	int (*parse_qopt)(const struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_qopt)(const struct qdisc_util *qu, FILE *f,
			  struct rtattr *opt);
	int (*print_xstats)(const struct qdisc_util *qu, FILE *f,
			    struct rtattr *xstats);
	int (*parse_copt)(const struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_copt)(const struct qdisc_util *qu, FILE *f,
			  struct rtattr *opt);
	int (*has_block)(const struct qdisc_util *qu, struct rtattr *opt,
			 __u32 block_idx, bool *p_has);
};

struct action_util {
	struct action_util *next;
	char id[TC_KIND_LEN];
	int (*parse_aopt)(const struct action_util *a, int *argc, char ***argv,
			  int code, struct nlmsghdr *n);
	int (*print_aopt)(const struct action_util *a, FILE *f,
			  struct rtattr *opt);
	int (*print_xstats)(const struct action_util *a, FILE *f,
			    struct rtattr *xstats);
};

extern int show_stats;

/* lib/libnetlink.c; addattr_l(): 0 or -1 without room */
int addattr_l(struct nlmsghdr *n, int maxlen, int type, const void *data,
	      int alen);
struct rtattr *addattr_nest(struct nlmsghdr *n, int maxlen, int type);
int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest);

/* lib/utils.c; these end the program with status 1 */
void __noreturn invarg(const char *msg, const char *arg);
void __noreturn duparg(const char *key, const char *arg);
void __noreturn incomplete_command(void);

/* tc/tc_util.c */
void parse_action_control_dflt(int *argc, char ***argv, int *result,
			       bool allow_num, int default_result);

/* lib/json_print.c */
enum output_type {
	PRINT_FP = 1,
	PRINT_JSON = 2,
	PRINT_ANY = 4,
};

enum color_attr {
	COLOR_IFNAME, COLOR_MAC, COLOR_INET, COLOR_INET6, COLOR_OPERSTATE_UP,
	COLOR_OPERSTATE_DOWN, COLOR_NONE,
};

void open_json_object(const char *key);
void close_json_object(void);
void open_json_array(enum output_type t, const char *key);
void close_json_array(enum output_type t, const char *end);
void print_nl(void);
int print_color_string(enum output_type t, enum color_attr color,
		       const char *key, const char *fmt, const char *value);
int print_color_uint(enum output_type t, enum color_attr color,
		     const char *key, const char *fmt, unsigned int value);
int print_color_u64(enum output_type t, enum color_attr color,
		    const char *key, const char *fmt, uint64_t value);
int print_color_int(enum output_type t, enum color_attr color,
		    const char *key, const char *fmt, int value);
int print_color_s64(enum output_type t, enum color_attr color,
		    const char *key, const char *fmt, int64_t value);
int print_color_bool(enum output_type t, enum color_attr color,
		     const char *key, const char *fmt, bool value);
int print_color_null(enum output_type t, enum color_attr color,
		     const char *key, const char *fmt, const char *value);

#define print_string(t, key, fmt, v)	\
	print_color_string(t, COLOR_NONE, key, fmt, v)
#define print_uint(t, key, fmt, v)	\
	print_color_uint(t, COLOR_NONE, key, fmt, v)
#define print_u64(t, key, fmt, v)	\
	print_color_u64(t, COLOR_NONE, key, fmt, v)
#define print_int(t, key, fmt, v)	\
	print_color_int(t, COLOR_NONE, key, fmt, v)
#define print_s64(t, key, fmt, v)	\
	print_color_s64(t, COLOR_NONE, key, fmt, v)
#define print_bool(t, key, fmt, v)	\
	print_color_bool(t, COLOR_NONE, key, fmt, v)
#define print_null(t, key, fmt, v)	\
	print_color_null(t, COLOR_NONE, key, fmt, v)

#endif /* TC_ABI_H */
