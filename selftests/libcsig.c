// SPDX-License-Identifier: GPL-2.0
/*
 * What libcsig.sh compiles against the installed libcsig: sockets of two network
 * namespaces in one process.  Usage: libcsig TEST NS1 NS2 ADDRESS2
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csig/libcsig.h>

#define PORT	7777

/* A failed expectation ends the program. */
#define EXPECT(cond)							\
	do {								\
		if (!(cond)) {						\
			fprintf(stderr, "%s:%d: not true: %s (errno %d)\n", \
				__FILE__, __LINE__, #cond, errno);	\
			exit(1);					\
		}							\
	} while (0)

#define EXPECT_IS(expr, want)						\
	do {								\
		long got__ = (expr);					\
									\
		if (got__ != (want)) {					\
			fprintf(stderr, "%s:%d: %s is %ld (%s), not %ld\n", \
				__FILE__, __LINE__, #expr, got__,	\
				libcsig_strerror((int)got__), (long)(want)); \
			exit(1);					\
		}							\
	} while (0)

static void enter(const char *ns)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", ns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	EXPECT(fd >= 0 && !setns(fd, CLONE_NEWNET));
	close(fd);
}

static int socket_in(const char *ns, int family, int type)
{
	int fd;

	enter(ns);
	fd = socket(family, type | SOCK_CLOEXEC, 0);
	EXPECT(fd >= 0);
	return fd;
}

static struct sockaddr_in address(const char *text, unsigned short port)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = htons(port),
	};

	EXPECT(inet_pton(AF_INET, text, &a.sin_addr) == 1);
	return a;
}

/* --- no host is needed ------------------------------------------------------------ */

static void test_header(void)
{
	const struct libcsig_tag tag = {
		.format = LIBCSIG_COMPACT, .t = 1, .s = 23, .lm = 5,
	};
	struct libcsig_tag bad = tag, back;
	unsigned char buf[LIBCSIG_UDP_LEN_MAX];
	bool valid;

	EXPECT_IS(libcsig_udp_encode(LIBCSIG_COMPACT, &tag, buf, 3), 3);
	EXPECT(!memcmp(buf, "\x80\x2b\x85", 3));
	EXPECT_IS(libcsig_udp_decode(buf, 3, &back, &valid), 3);
	EXPECT(valid && back.t == 1 && back.s == 23 && back.lm == 5);
	EXPECT_IS(libcsig_udp_decode(buf, 2, &back, &valid), -EBADMSG);
	EXPECT_IS(libcsig_udp_decode(buf, 0, &back, &valid), -EBADMSG);
	EXPECT_IS(libcsig_udp_encode(LIBCSIG_EXPANDED, NULL, buf, sizeof(buf)), 7);
	EXPECT_IS(libcsig_udp_decode(buf, 7, &back, &valid), 7);
	EXPECT(!valid && buf[0] == 0x40);
	EXPECT_IS(libcsig_udp_encode(LIBCSIG_EXPANDED, NULL, buf, 6), -ENOSPC);
	EXPECT_IS(libcsig_udp_encode(LIBCSIG_EXPANDED, &tag, buf, 7), -EINVAL);
	EXPECT_IS(libcsig_udp_encode(2, NULL, buf, 7), -EINVAL);
	bad.s = 32;
	EXPECT_IS(libcsig_udp_encode(LIBCSIG_COMPACT, &bad, buf, 7), -EINVAL);
	bad.s = 0;
	bad.lm = 128;
	EXPECT_IS(libcsig_udp_encode(LIBCSIG_COMPACT, &bad, buf, 7), -EINVAL);
}

static void test_profile(const char *ns)
{
	struct libcsig_tag tag = {
		.format = LIBCSIG_COMPACT, .t = 0, .s = 24, .lm = 9,
	};
	struct libcsig_profile *p = libcsig_profile_default();
	struct libcsig_value v;

	EXPECT(p);
	EXPECT_IS(libcsig_decode(p, &tag, &v), 0);
	EXPECT(v.min == 100000000000 && v.max == 125000000000);
	EXPECT(!strcmp(v.unit, "bps") && !strcmp(v.source, "abw") &&
	       !strcmp(v.aggregate, "min"));
	EXPECT_IS(libcsig_field(p, &tag, "port"), 9);
	EXPECT_IS(libcsig_field(p, &tag, "nope"), -ENODATA);
	tag.t = 7;
	EXPECT_IS(libcsig_decode(p, &tag, &v), -ENODATA);
	tag.t = 8;
	EXPECT_IS(libcsig_decode(p, &tag, &v), -EINVAL);
	libcsig_profile_free(p);

	/* the kernel's: rates and names of libcsig.sh */
	enter(ns);
	EXPECT_IS(libcsig_profile_kernel(&p), 0);
	tag.t = 0;
	EXPECT_IS(libcsig_decode(p, &tag, &v), 0);
	EXPECT(v.min == 100000000 && v.max == 125000000);
	EXPECT_IS(libcsig_field(p, &tag, "hop"), 9);
	EXPECT_IS(libcsig_field(p, &tag, "port"), -ENODATA);
	tag.format = LIBCSIG_EXPANDED;
	tag.lm = 513;
	EXPECT_IS(libcsig_field(p, &tag, "hop"), 513);
	libcsig_profile_free(p);
}

static void test_no_host(const char *ns)
{
	int fd = socket_in(ns, AF_INET, SOCK_DGRAM);
	struct libcsig_host *host;

	EXPECT_IS(libcsig_open(fd, &host), -ENODEV);
	EXPECT(strstr(libcsig_strerror(-ENODEV), "csigctl host enable"));
	EXPECT_IS(libcsig_open(-1, &host), -EBADF);
	EXPECT_IS(libcsig_open(STDIN_FILENO, &host), -ENOTSOCK);
}

/* --- with a host ------------------------------------------------------------------- */

static void test_no_rights(const char *ns)
{
	int fd = socket_in(ns, AF_INET, SOCK_DGRAM);
	struct libcsig_host *host;

	EXPECT(!setresuid(65534, 65534, 65534));
	EXPECT_IS(libcsig_open(fd, &host), -EACCES);
}

static void test_errors(const char *ns)
{
	struct libcsig_host *host;
	struct libcsig_flow flow;
	int fd = socket_in(ns, AF_INET, SOCK_DGRAM);
	int unix_fd = socket_in(ns, AF_UNIX, SOCK_DGRAM);
	int tcp = socket_in(ns, AF_INET, SOCK_STREAM);

	EXPECT_IS(libcsig_open(fd, &host), 0);
	EXPECT(!libcsig_is_stale(host));
	EXPECT_IS(libcsig_flow_get(host, fd, &flow, sizeof(flow)), -ENODATA);
	EXPECT_IS(libcsig_flow_get(host, fd, &flow, 0), -EINVAL);
	EXPECT_IS(libcsig_flow_set(host, fd, 1 << 16, 0, 0), -EINVAL);
	EXPECT_IS(libcsig_flow_set(host, fd, 0, 65536, 0), -EINVAL);
	EXPECT_IS(libcsig_flow_set(host, fd, 0, 0, 4), -EINVAL);
	EXPECT_IS(libcsig_flow_set(host, unix_fd, 0, 0, 0), -EOPNOTSUPP);
	EXPECT_IS(libcsig_flow_set(host, tcp, 0, 0, 0), -ENOTCONN);
	EXPECT(!listen(tcp, 1));
	EXPECT_IS(libcsig_flow_set(host, tcp, 0, 0, 0), -EINVAL);
	EXPECT_IS(libcsig_flow_set(host, fd, 6, 3, 0), 0);
	EXPECT_IS(libcsig_flow_set(host, fd, 5, 2, 2), 0);
	EXPECT_IS(libcsig_flow_get(host, fd, &flow, sizeof(flow)), 0);
	EXPECT(flow.state == LIBCSIG_UDP && flow.signals == 5 &&
	       flow.every == 2 && !flow.rx_tagged);
	/* programs that were compiled with a smaller or a larger structure */
	memset(&flow, 0xee, sizeof(flow));
	EXPECT_IS(libcsig_flow_get(host, fd, &flow, 8), 0);
	EXPECT(flow.state == LIBCSIG_UDP && flow.signals == 0xeeeeeeee);
	libcsig_close(host);
	libcsig_close(NULL);
}

static bool has(const struct libcsig_flow *f, unsigned int t)
{
	return f->received[t].known;
}

/* Two pairs of sockets that ask for different signals: nobody sees the other's. */
static void test_udp(const char *ns1, const char *ns2, const char *to)
{
	const unsigned int signals[2] = { 1 << 0, 1 << 2 };
	struct libcsig_host *h1, *h2;
	struct libcsig_flow flow;
	int tx[2], rx[2], i, n;
	char buf[16];

	for (i = 0; i < 2; i++) {
		struct sockaddr_in a = address(to, PORT + i);

		rx[i] = socket_in(ns2, AF_INET, SOCK_DGRAM);
		EXPECT(!bind(rx[i], (void *)&a, sizeof(a)));
		tx[i] = socket_in(ns1, AF_INET, SOCK_DGRAM);
		EXPECT(!connect(tx[i], (void *)&a, sizeof(a)));
	}
	EXPECT_IS(libcsig_open(tx[0], &h1), 0);
	EXPECT_IS(libcsig_open(rx[0], &h2), 0);
	for (i = 0; i < 2; i++) {
		EXPECT_IS(libcsig_flow_set(h2, rx[i], 0, 0, 0), 0);
		EXPECT_IS(libcsig_flow_set(h1, tx[i], signals[i], 1, 1U << i), 0);
	}
	for (n = 0; n < 20; n++) {
		for (i = 0; i < 2; i++) {
			EXPECT(send(tx[i], "hello", 5, 0) == 5);
			EXPECT(recv(rx[i], buf, sizeof(buf), 0) == 5);
		}
	}
	for (i = 0; i < 2; i++) {
		EXPECT_IS(libcsig_flow_get(h1, tx[i], &flow, sizeof(flow)), 0);
		EXPECT(flow.tx_tagged == 20 && flow.tx_packets == 20);
		EXPECT_IS(libcsig_flow_get(h2, rx[i], &flow, sizeof(flow)), 0);
		EXPECT(flow.rx_tagged == 20);
		EXPECT(has(&flow, 0) == !i && has(&flow, 2) == i);
		EXPECT(!has(&flow, 1) && !flow.reflected[0].known);
		EXPECT(flow.received[i * 2].tag.format == i);
		EXPECT(flow.received[i * 2].age_ns < 60000000000);
	}
	/* bandwidth: port2 of libcsig.sh */
	EXPECT_IS(libcsig_flow_get(h2, rx[0], &flow, sizeof(flow)), 0);
	EXPECT(flow.received[0].tag.s == 24 && flow.received[0].tag.lm == 9);
	libcsig_close(h1);
	libcsig_close(h2);
}

/* The far end reflects; the near end knows, and asks for something else then. */
static void test_tcp(const char *ns1, const char *ns2, const char *to)
{
	struct sockaddr_in a = address(to, PORT);
	int listener = socket_in(ns2, AF_INET, SOCK_STREAM), in;
	int fd = socket_in(ns1, AF_INET, SOCK_STREAM), n;
	struct libcsig_flow flow;
	struct libcsig_host *h;
	char buf[16];

	EXPECT(!bind(listener, (void *)&a, sizeof(a)) && !listen(listener, 1));
	EXPECT(!connect(fd, (void *)&a, sizeof(a)));
	in = accept(listener, NULL, NULL);
	EXPECT(in >= 0);
	EXPECT_IS(libcsig_open(fd, &h), 0);
	EXPECT_IS(libcsig_flow_set(h, fd, 0, 0, 1), -EINVAL);
	EXPECT_IS(libcsig_flow_set(h, fd, 1 << 0, 1, 0), 0);
	for (n = 0; n < 20; n++) {
		EXPECT(send(fd, "hello", 5, 0) == 5);
		EXPECT(recv(in, buf, 5, MSG_WAITALL) == 5);
		EXPECT(send(in, "world", 5, 0) == 5);
		EXPECT(recv(fd, buf, 5, MSG_WAITALL) == 5);
	}
	EXPECT_IS(libcsig_flow_get(h, fd, &flow, sizeof(flow)), 0);
	EXPECT(flow.state == LIBCSIG_ON && flow.path == LIBCSIG_PATH_CAPABLE);
	EXPECT(flow.signals == 1 && flow.every == 1);
	EXPECT(flow.tx_tagged && flow.reflections_in);
	EXPECT(flow.reflected[0].known && flow.reflected[0].tag.s == 24 &&
	       flow.reflected[0].tag.lm == 9);
	EXPECT(flow.received[0].known);		/* and the way back */
	libcsig_close(h);
}

static void test_stale(const char *ns)
{
	int fd = socket_in(ns, AF_INET, SOCK_DGRAM);
	struct libcsig_host *host;

	EXPECT_IS(libcsig_open(fd, &host), 0);
	printf("open\n");
	fflush(stdout);
	EXPECT(getchar() == '1' && libcsig_is_stale(host));
	EXPECT(getchar() == '2' && libcsig_is_stale(host));
	libcsig_close(host);
	EXPECT_IS(libcsig_open(fd, &host), 0);
	EXPECT(!libcsig_is_stale(host));
	libcsig_close(host);
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	alarm(60);	/* what does not arrive fails the test */
	if (!strcmp(argv[1], "header"))
		test_header();
	else if (!strcmp(argv[1], "profile"))
		test_profile(argv[2]);
	else if (!strcmp(argv[1], "no_host"))
		test_no_host(argv[2]);
	else if (!strcmp(argv[1], "no_rights"))
		test_no_rights(argv[2]);
	else if (!strcmp(argv[1], "errors"))
		test_errors(argv[2]);
	else if (!strcmp(argv[1], "udp"))
		test_udp(argv[2], argv[3], argv[4]);
	else if (!strcmp(argv[1], "tcp"))
		test_tcp(argv[2], argv[3], argv[4]);
	else if (!strcmp(argv[1], "stale"))
		test_stale(argv[2]);
	else
		return 2;
	return 0;
}
