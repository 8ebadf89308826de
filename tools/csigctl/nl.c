// SPDX-License-Identifier: GPL-2.0
/*
 * Requests and answers.  An answer is collected as a whole before anything of it is
 * shown; an interrupted dump is asked for again, a lost one is an error.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/csig.h>
#include <linux/qcn.h>

#include "nl.h"

#define DUMP_TRIES	5U
#define MSG_SIZE	65536	/* a whole profile is 14 kB */
#define RCVBUF_SIZE	(1 << 20)

static struct family csig_family = {
	.name = CSIG_GENL_NAME,
	.version = CSIG_GENL_VERSION,
	.module = "csig",
};

struct family qcn_family = {
	.name = QCN_GENL_NAME,
	.version = QCN_GENL_VERSION,
	.module = "sch_qcn",
};

static struct nl_sock *genl, *rtnl;
static char why[512];		/* the kernel's message for the last error */

/* One exchange */
struct talk {
	const struct nlmsghdr *request;
	struct answer *answer;
	int err;
	bool done;
	bool interrupted;
};

static struct nl_sock *sock_open(int protocol)
{
	struct nl_sock *sk = nl_socket_alloc();
	int one = 1;

	if (!sk)
		return NULL;
	if (protocol == NETLINK_GENERIC ? genl_connect(sk) :
					  nl_connect(sk, protocol)) {
		nl_socket_free(sk);
		return NULL;
	}
	nl_socket_set_buffer_size(sk, RCVBUF_SIZE, 0);
	nl_socket_set_msg_buf_size(sk, MSG_SIZE);
	nl_socket_disable_msg_peek(sk);
	setsockopt(nl_socket_get_fd(sk), SOL_NETLINK, NETLINK_EXT_ACK, &one,
		   sizeof(one));
	return sk;
}

bool csig_loaded(void)
{
	return csig_family.id || !access("/sys/module/csig", F_OK);
}

/* Its socket stays open for the next command of a batch. */
int family_open(struct family *f)
{
	int id;

	if (f->id)
		return ST_OK;
	if (!genl)
		genl = sock_open(NETLINK_GENERIC);
	if (!genl)
		return fail("netlink socket: %s", strerror(errno));
	id = genl_ctrl_resolve(genl, f->name);
	if (id < 0)
		return fail("the %s module is not loaded; try: modprobe %s",
			    f->module, f->module);
	f->id = id;
	return ST_OK;
}

int csig_open(void)
{
	return family_open(&csig_family);
}

/* One for events */
struct nl_sock *family_socket(void)
{
	return sock_open(NETLINK_GENERIC);
}

struct nl_sock *csig_socket(int *id)
{
	*id = csig_family.id;
	return family_socket();
}

void nl_shut(void)
{
	if (genl)
		nl_socket_free(genl);
	if (rtnl)
		nl_socket_free(rtnl);
	genl = NULL;
	rtnl = NULL;
}

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct talk *t = arg;
	struct nl_msg **v;

	if (!t->answer)
		return NL_OK;
	v = realloc(t->answer->msgs, (t->answer->n + 1) * sizeof(*v));
	if (!v) {
		t->err = -ENOMEM;
		return NL_OK;
	}
	nlmsg_get(msg);
	v[t->answer->n++] = msg;
	t->answer->msgs = v;
	return NL_OK;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct talk *t = arg;

	(void)msg;
	t->done = true;
	return NL_STOP;
}

/* Whose request is it?  NULL: rtnetlink's */
static const char *family_of(const struct nlmsghdr *request)
{
	if (csig_family.id && request->nlmsg_type == csig_family.id)
		return csig_family.name;
	if (qcn_family.id && request->nlmsg_type == qcn_family.id)
		return qcn_family.name;
	return NULL;
}

static void keep_why(const struct nlmsghdr *request, const struct nlattr *attrs,
		     int len)
{
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1];
	char name[128] = "";

	if (len <= 0 || nla_parse(tb, NLMSGERR_ATTR_MAX,
				  (struct nlattr *)(uintptr_t)attrs, len, NULL))
		return;
	if (request && family_of(request) && tb[NLMSGERR_ATTR_OFFS])
		nl_attr_name(family_of(request), request,
			     attr_u32(tb[NLMSGERR_ATTR_OFFS], 0), name,
			     sizeof(name));
	if (tb[NLMSGERR_ATTR_MSG])
		snprintf(why, sizeof(why), "%s%s%s%s",
			 attr_str(tb[NLMSGERR_ATTR_MSG], ""),
			 name[0] ? " (" : "", name, name[0] ? ")" : "");
}

/* The end of a dump may carry an error. */
static int on_finish(struct nl_msg *msg, void *arg)
{
	const struct nlmsghdr *h = nlmsg_hdr(msg);
	struct talk *t = arg;
	int32_t err;

	t->done = true;
	if (h->nlmsg_len < NLMSG_LENGTH(sizeof(err)))
		return NL_STOP;
	memcpy(&err, NLMSG_DATA(h), sizeof(err));
	if (err >= 0)
		return NL_STOP;
	t->err = err;
	if (h->nlmsg_flags & NLM_F_ACK_TLVS)
		keep_why(NULL, (void *)((char *)NLMSG_DATA(h) + sizeof(err)),
			 (int)(h->nlmsg_len - NLMSG_LENGTH(sizeof(err))));
	return NL_STOP;
}

static int on_interrupted(struct nl_msg *msg, void *arg)
{
	struct talk *t = arg;

	(void)msg;
	t->interrupted = true;
	return NL_OK;
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	const struct nlmsghdr *h = (void *)((char *)e - NLMSG_HDRLEN);
	size_t skip = sizeof(*e);
	struct talk *t = arg;

	(void)from;
	t->done = true;
	t->err = e->error ? e->error : -EPROTO;
	if (!(h->nlmsg_flags & NLM_F_CAPPED) && e->msg.nlmsg_len > NLMSG_HDRLEN)
		skip += NLMSG_ALIGN(e->msg.nlmsg_len - NLMSG_HDRLEN);
	if (h->nlmsg_flags & NLM_F_ACK_TLVS && h->nlmsg_len > NLMSG_LENGTH(skip))
		keep_why(t->request, (void *)((char *)e + skip),
			 (int)(h->nlmsg_len - NLMSG_LENGTH(skip)));
	return NL_STOP;
}

static int exchange(struct nl_sock *sk, struct nl_msg *msg, struct talk *t)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int err;

	if (!cb)
		return -ENOMEM;
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, t);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, t);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, t);
	nl_cb_set(cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, on_interrupted, t);
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, t);

	errno = 0;
	err = nl_send_auto(sk, msg);
	t->request = nlmsg_hdr(msg);
	if (err < 0)
		t->err = errno ? -errno : -EIO;
	while (err >= 0 && !t->done && !t->err) {
		errno = 0;
		err = nl_recvmsgs(sk, cb);
		if (err < 0 && !t->done && !t->err)
			t->err = errno ? -errno : -EIO;
	}
	nl_cb_put(cb);
	return t->err;
}

/* Frees the message. */
static int talk(struct nl_sock **sk, int protocol, struct nl_msg *msg,
		struct answer *answer)
{
	unsigned int tries;
	int err = -ENOMEM;

	why[0] = '\0';
	if (answer)
		*answer = (struct answer){ 0 };
	if (!msg)
		return err;
	if (!*sk)
		*sk = sock_open(protocol);
	if (!*sk) {
		nlmsg_free(msg);
		return errno ? -errno : -EIO;
	}
	for (tries = 0; tries < DUMP_TRIES; tries++) {
		struct talk t = { .answer = answer };

		nlmsg_hdr(msg)->nlmsg_seq = NL_AUTO_SEQ;
		err = exchange(*sk, msg, &t);
		if (err && answer)
			answer_free(answer);
		/* What is left of a broken answer must not meet the next one. */
		if (err && !t.done) {
			nl_socket_free(*sk);
			*sk = NULL;
		}
		if (err || !t.interrupted)
			break;
		if (answer)
			answer_free(answer);
		err = -EINTR;
		snprintf(why, sizeof(why),
			 "the list changed while it was read, %u times",
			 DUMP_TRIES);
	}
	if (err == -ENOBUFS && !why[0])
		snprintf(why, sizeof(why), "the answer was cut, nothing is shown");
	nlmsg_free(msg);
	return err;
}

struct nl_msg *family_request(const struct family *f, uint8_t cmd, int flags)
{
	struct nl_msg *msg = nlmsg_alloc_size(MSG_SIZE);

	if (msg && !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, f->id, 0, flags,
				cmd, f->version)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

struct nl_msg *csig_request(uint8_t cmd, int flags)
{
	return family_request(&csig_family, cmd, flags);
}

int csig_talk(struct nl_msg *msg, struct answer *answer)
{
	return talk(&genl, NETLINK_GENERIC, msg, answer);
}

struct nl_msg *rtnl_request(uint16_t type, int flags, const void *header,
			    size_t len)
{
	struct nl_msg *msg = nlmsg_alloc_size(MSG_SIZE);

	if (msg && (!nlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, type, 0, flags) ||
		    nlmsg_append(msg, (void *)(uintptr_t)header, len,
				 NLMSG_ALIGNTO))) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

int rtnl_talk(struct nl_msg *msg, struct answer *answer)
{
	return talk(&rtnl, NETLINK_ROUTE, msg, answer);
}

void answer_free(struct answer *a)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		nlmsg_free(a->msgs[i]);
	free(a->msgs);
	*a = (struct answer){ 0 };
}

const char *nl_why(int err)
{
	if (!why[0])
		snprintf(why, sizeof(why), "%s", strerror(-err));
	return why;
}

int nl_refused(int err, const char *what)
{
	return fail("%s: %s", what, nl_why(err));
}

int csig_attrs(const struct nl_msg *msg, int max, struct nlattr **tb)
{
	struct nlmsghdr *h = nlmsg_hdr((struct nl_msg *)(uintptr_t)msg);

	return genlmsg_parse(h, 0, tb, max, NULL);
}

/* For attributes that are there several times: go on with nla_next(). */
struct nlattr *csig_attr_first(const struct nl_msg *msg, int *rem)
{
	struct genlmsghdr *g;

	g = nlmsg_data(nlmsg_hdr((struct nl_msg *)(uintptr_t)msg));
	*rem = genlmsg_attrlen(g, 0);
	return genlmsg_attrdata(g, 0);
}

uint8_t csig_cmd(const struct nl_msg *msg)
{
	struct genlmsghdr *g;

	g = nlmsg_data(nlmsg_hdr((struct nl_msg *)(uintptr_t)msg));
	return g->cmd;
}

uint64_t attr_u64(const struct nlattr *a, uint64_t deflt)
{
	return a && nla_len(a) >= 8 ? nla_get_u64(a) : deflt;
}

uint32_t attr_u32(const struct nlattr *a, uint32_t deflt)
{
	return a && nla_len(a) >= 4 ? nla_get_u32(a) : deflt;
}

uint16_t attr_u16(const struct nlattr *a, uint16_t deflt)
{
	return a && nla_len(a) >= 2 ? nla_get_u16(a) : deflt;
}

uint8_t attr_u8(const struct nlattr *a, uint8_t deflt)
{
	return a && nla_len(a) >= 1 ? nla_get_u8(a) : deflt;
}

const char *attr_str(const struct nlattr *a, const char *deflt)
{
	return a && nla_len(a) && !((char *)nla_data(a))[nla_len(a) - 1] ?
		nla_data(a) : deflt;
}

void attr_nested(const struct nlattr *a, int max, struct nlattr **tb)
{
	if (!a || nla_parse(tb, max, nla_data(a), nla_len(a), NULL))
		memset(tb, 0, sizeof(*tb) * (size_t)(max + 1));
}
