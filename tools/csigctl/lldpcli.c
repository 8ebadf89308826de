// SPDX-License-Identifier: GPL-2.0
/*
 * Runs lldpcli and reads its JSON ("json0": every element is a list).  It is started
 * directly, without a shell, in a process group of its own: Ctrl-C is csigctl's.
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lldpcli.h"

#define ANSWER_MS	10000	/* lldpd is local and idle */
#define ANSWER_MAX	(16u << 20)
#define TLV_OUI		"00,80,c2"
#define TLV_SUBTYPE	"8"

const char *lldp_socket;
static char why[512];

const char *lldp_why(void)
{
	return why;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* Words behind "lldpcli -u SOCKET -f json0" */
static int start(const char *const *words, int out, int err, pid_t *pid)
{
	const char *argv[24] = { "lldpcli" };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	size_t n = 1;
	int e;

	if (lldp_socket) {
		argv[n++] = "-u";
		argv[n++] = lldp_socket;
	}
	argv[n++] = "-f";
	argv[n++] = "json0";
	while (*words && n + 1 < ARRAY_SIZE(argv))
		argv[n++] = *words++;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP |
				 POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, out, 1);
	posix_spawn_file_actions_adddup2(&files, err, 2);
	e = posix_spawnp(pid, "lldpcli", &files, &attr,
			 (char *const *)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	if (e == ENOENT)
		snprintf(why, sizeof(why),
			 "lldpcli is not installed; try: apt install lldpd");
	else if (e == EACCES)
		snprintf(why, sizeof(why),
			 "no permission to run lldpcli; it takes root, or on Debian the group adm");
	else if (e)
		snprintf(why, sizeof(why), "lldpcli: %s", strerror(e));
	return e ? ST_KERNEL : ST_OK;
}

/* What lldpcli says when it can't, as something to do */
static void explain(const char *said)
{
	const char *last = said, *p;
	size_t len;

	if (strstr(said, "No such file") || strstr(said, "refused")) {
		snprintf(why, sizeof(why),
			 "lldpd does not run%s%s; try: systemctl start lldpd, or say its socket: socket PATH",
			 lldp_socket ? " at " : "",
			 lldp_socket ? lldp_socket : "");
		return;
	}
	if (strstr(said, "ermission denied")) {
		snprintf(why, sizeof(why),
			 "no permission to talk to lldpd%s%s; try as root",
			 lldp_socket ? " at " : "",
			 lldp_socket ? lldp_socket : "");
		return;
	}
	/* the last line, without time and place */
	for (p = said; *p; p++)
		if (*p == '\n' && p[1])
			last = p + 1;
	p = strstr(last, "] ");
	last = p ? p + 2 : last;
	len = strcspn(last, "\n");
	snprintf(why, sizeof(why), "lldpcli: %.*s", (int)len,
		 len ? last : "it failed");
}

/* All of both pipes, until they close */
static bool read_both(const int *fds, char **text)
{
	struct pollfd p[2] = { { .fd = fds[0], .events = POLLIN },
			       { .fd = fds[1], .events = POLLIN } };
	const int64_t end = now_ms() + ANSWER_MS;
	size_t len[2] = { 0 };
	ssize_t got;
	char *v;
	int i;

	while (p[0].fd >= 0 || p[1].fd >= 0) {
		int64_t left = end - now_ms();

		if (left <= 0 || (poll(p, 2, (int)left) <= 0 && errno != EINTR))
			return false;
		for (i = 0; i < 2; i++) {
			if (p[i].fd < 0 || !p[i].revents)
				continue;
			v = realloc(text[i], len[i] + 4097);
			if (!v || len[i] > ANSWER_MAX)
				return false;
			text[i] = v;
			got = read(p[i].fd, v + len[i], 4096);
			if (got < 0 && errno == EINTR)
				continue;
			if (got <= 0)
				p[i].fd = -1;
			else
				len[i] += (size_t)got;
			v[len[i]] = '\0';
		}
	}
	return true;
}

/* The answer is allocated. */
static int run(const char *const *words, char **answer)
{
	char *text[2] = { NULL, NULL };
	int out[2], err[2], fds[2];
	int state = 0, status;
	bool whole;
	pid_t pid;

	why[0] = '\0';
	*answer = NULL;
	if (pipe2(out, O_CLOEXEC)) {
		snprintf(why, sizeof(why), "pipe: %s", strerror(errno));
		return ST_KERNEL;
	}
	if (pipe2(err, O_CLOEXEC)) {
		snprintf(why, sizeof(why), "pipe: %s", strerror(errno));
		close(out[0]);
		close(out[1]);
		return ST_KERNEL;
	}
	status = start(words, out[1], err[1], &pid);
	close(out[1]);
	close(err[1]);
	fds[0] = out[0];
	fds[1] = err[0];
	if (!status) {
		whole = read_both(fds, text);
		if (!whole)
			kill(pid, SIGKILL);
		while (waitpid(pid, &state, 0) < 0 && errno == EINTR)
			;
		if (!whole) {
			snprintf(why, sizeof(why),
				 "lldpd does not answer; try: systemctl restart lldpd");
			status = ST_KERNEL;
		} else if (state) {
			explain(text[1] ? text[1] : "");
			status = ST_KERNEL;
		}
	}
	close(out[0]);
	close(err[0]);
	free(text[1]);
	if (status)
		free(text[0]);
	else
		*answer = text[0];
	return status;
}

/* "json0" has a list in each place; a member of its first element, or NULL */
static struct json_object *member(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	if (json_object_is_type(o, json_type_array))
		o = json_object_array_get_idx(o, 0);
	if (!o || !json_object_is_type(o, json_type_object) ||
	    !json_object_object_get_ex(o, key, &v))
		return NULL;
	return v;
}

static const char *text_of(struct json_object *o, const char *key)
{
	struct json_object *v = member(o, key);

	return v ? json_object_get_string(v) : "";
}

static size_t length(struct json_object *o)
{
	return o && json_object_is_type(o, json_type_array) ?
		json_object_array_length(o) : 0;
}

/* "08,00", upper or lower case; later versions may append something. */
static bool read_tlv(struct json_object *o, struct qcn_tlv *t)
{
	unsigned int cnpvs, ready;

	if (strcasecmp(text_of(o, "oui"), TLV_OUI) ||
	    strcmp(text_of(o, "subtype"), TLV_SUBTYPE) ||
	    sscanf(text_of(o, "value"), "%2x,%2x", &cnpvs, &ready) != 2)
		return false;
	t->cnpvs = (uint8_t)cnpvs;
	t->ready = (uint8_t)ready;
	return true;
}

static bool find_tlv(struct json_object *interface, struct qcn_tlv *t)
{
	struct json_object *list;
	size_t i;

	list = member(member(interface, "unknown-tlvs"), "unknown-tlv");
	for (i = 0; i < length(list); i++)
		if (read_tlv(json_object_array_get_idx(list, i), t))
			return true;
	return false;
}

static struct lldp_port *port_of(struct lldp_port *v, size_t n,
				 const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(v[i].ifname, name))
			return &v[i];
	return NULL;
}

/*
 * Where several neighbours are on one port, all of them must have a priority, and the
 * TLV: a domain is as strong as its weakest member.
 */
static void add_port(struct json_object *interface, struct lldp_port *v,
		     size_t *n)
{
	struct qcn_tlv tlv = { 0 };
	bool has = find_tlv(interface, &tlv);
	const char *name = text_of(interface, "name");
	struct lldp_port *p = port_of(v, *n, name);
	uint64_t ttl = 0;

	if (parse_uint(text_of(member(member(interface, "port"), "ttl"),
			       "value"), LLDP_TTL_MAX, &ttl))
		ttl = 0;
	if (!p) {
		p = &v[(*n)++];
		snprintf(p->ifname, sizeof(p->ifname), "%s", name);
		p->has_tlv = has;
		p->tlv = tlv;
		p->ttl = (uint32_t)ttl;
		return;
	}
	p->has_tlv = p->has_tlv && has;
	p->tlv.cnpvs &= tlv.cnpvs;
	p->tlv.ready &= tlv.ready;
	if (ttl < p->ttl)
		p->ttl = (uint32_t)ttl;
}

/* Devices that have LLDP neighbours, or those that lldpd has */
int lldp_ports(bool neighbours, struct lldp_port **v, size_t *n)
{
	static const char *const show_neighbours[] = {
		"show", "neighbors", "details", NULL
	}, *const show_interfaces[] = {
		"show", "interfaces", "details", NULL
	};
	struct json_object *root, *list, *o;
	char *answer;
	int status;
	size_t i;

	*v = NULL;
	*n = 0;
	status = run(neighbours ? show_neighbours : show_interfaces, &answer);
	if (status)
		return status;
	root = json_tokener_parse(answer ? answer : "");
	free(answer);
	if (!member(root, "lldp")) {
		json_object_put(root);
		snprintf(why, sizeof(why),
			 "the answer of lldpcli is not understood");
		return ST_KERNEL;
	}
	list = member(member(root, "lldp"), "interface");
	*v = calloc(length(list) + 1, sizeof(**v));
	for (i = 0; *v && i < length(list); i++) {
		o = json_object_array_get_idx(list, i);
		/* CDP and the like are no LLDP. */
		if (!neighbours || !strcmp(text_of(o, "via"), "LLDP"))
			add_port(o, *v, n);
	}
	json_object_put(root);
	if (*v)
		return ST_OK;
	snprintf(why, sizeof(why), "out of memory");
	return ST_KERNEL;
}

/* lldpcli is content with devices that lldpd does not have: read it back. */
int lldp_announce(const char *ifname, const struct qcn_tlv *tlv)
{
	char info[8];
	const char *const words[] = {
		"configure", "ports", ifname, "lldp", "custom-tlv", "replace",
		"oui", TLV_OUI, "subtype", TLV_SUBTYPE, "oui-info", info, NULL
	};
	struct lldp_port *v, *p;
	char *answer;
	int status;
	size_t n;

	snprintf(info, sizeof(info), "%02x,%02x", tlv->cnpvs, tlv->ready);
	status = run(words, &answer);
	free(answer);
	if (!status)
		status = lldp_ports(false, &v, &n);
	if (status)
		return status;
	p = port_of(v, n, ifname);
	if (!p)
		snprintf(why, sizeof(why),
			 "lldpd does not have this device: it runs in another network namespace (socket PATH names another lldpd), or its interface pattern leaves the device out");
	else if (!p->has_tlv || p->tlv.cnpvs != tlv->cnpvs ||
		 p->tlv.ready != tlv->ready)
		snprintf(why, sizeof(why),
			 "lldpd did not take the TLV; it needs custom TLVs, and no other of this kind");
	free(v);
	return why[0] ? ST_KERNEL : ST_OK;
}

int lldp_take_back(const char *ifname)
{
	const char *const words[] = {
		"unconfigure", "ports", ifname, "lldp", "custom-tlv",
		"oui", TLV_OUI, "subtype", TLV_SUBTYPE, NULL
	};
	char *answer;
	int status = run(words, &answer);

	free(answer);
	return status;
}

int lldp_watch_start(struct lldp_watch *w)
{
	static const char *const words[] = { "watch", NULL };
	int out[2], null, status;

	w->pid = 0;
	w->fd = -1;
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null < 0 || pipe2(out, O_CLOEXEC | O_NONBLOCK)) {
		snprintf(why, sizeof(why), "pipe: %s", strerror(errno));
		if (null >= 0)
			close(null);
		return ST_KERNEL;
	}
	/* Only our end must not block. */
	fcntl(out[1], F_SETFL, 0);
	status = start(words, out[1], null, &w->pid);
	close(null);
	close(out[1]);
	if (status) {
		close(out[0]);
		w->pid = 0;
		return status;
	}
	w->fd = out[0];
	return ST_OK;
}

bool lldp_watch_read(const struct lldp_watch *w)
{
	char buf[4096];
	ssize_t got;

	do {
		got = read(w->fd, buf, sizeof(buf));
	} while (got > 0 || (got < 0 && errno == EINTR));
	return got < 0;
}

void lldp_watch_stop(struct lldp_watch *w)
{
	if (!w->pid)
		return;
	close(w->fd);
	kill(w->pid, SIGTERM);
	while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
		;
	w->pid = 0;
	w->fd = -1;
}
