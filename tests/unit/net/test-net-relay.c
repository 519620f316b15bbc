/* SPDX-License-Identifier: MIT
 *
 * The relay without a sandbox: what it makes of ends that go away, and of look-ups and helpers
 * that do not come back.
 */
#include "../test.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "ga/base/path.h"
#include "ga/net/net.h"
#include "ga/sys/fd.h"
#include "net/relay-internal.h"

/* Time stands still unless the test moves it. */
static int64_t now = 1000;
int64_t __wrap_ga_now_ms(void);
int64_t __wrap_ga_now_ms(void)
{
	return now;
}

/* No look-up ever ends. */
static size_t begun;
bool __wrap_net_lookup_begin(struct net_child *l, const char *name);
bool __wrap_net_lookup_begin(struct net_child *l, const char *name)
{
	int p[2];

	(void)name;
	EQUAL(pipe2(p, O_CLOEXEC | O_NONBLOCK), 0);
	*l = (struct net_child){ .pid = 0, .fd = p[0] };
	begun++;
	return true;
}

/* No socket inside is ever made. */
int __wrap_net_space_begin(const struct net_space *s, const struct ga_net_plan *setup,
			   const struct net_want *want, size_t n, struct net_child *ret,
			   struct ga_error *err);
static int never = -1;
int __wrap_net_space_begin(const struct net_space *s, const struct ga_net_plan *setup,
			   const struct net_want *want, size_t n, struct net_child *ret,
			   struct ga_error *err)
{
	int p[2];

	(void)s;
	(void)setup;
	(void)want;
	(void)n;
	(void)err;
	EQUAL(pipe2(p, O_CLOEXEC | O_NONBLOCK), 0);
	*ret = (struct net_child){ .pid = 0, .fd = p[0] };
	never = p[1];
	return 0;
}

static int unix_socket(const char *dir, const char *name, bool listens)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	const struct sockaddr *at = (const struct sockaddr *)&sa;

	assert_true(fd >= 0);
	assert_true(snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/%s", dir, name) <
		    (int)sizeof(sa.sun_path));
	if (listens) {
		EQUAL(bind(fd, at, sizeof(sa)), 0);
		EQUAL(listen(fd, 4), 0);
	} else {
		EQUAL(connect(fd, at, sizeof(sa)), 0);
	}
	return fd;
}

/* All that there is to do; false if that does not end. */
static bool serve(struct ga_relay *r)
{
	struct pollfd p = { ga_relay_fd(r), POLLIN, 0 };

	for (int i = 0; i < 100; i++) {
		if (poll(&p, 1, 0) == 0 && !ga_relay_next(r))
			return true;
		ga_relay_serve(r);
	}
	return false;
}

/* A child that was forked for a look-up holds copies of all that is open for a moment. What is
 * closed in that moment is not to be heard of again: its connection is freed. */
TEST(closed_while_a_child_holds_it)
{
	char dir[] = "/tmp/test-net-relay-XXXXXX";
	STRV(sockets);
	struct ga_relay_opts o = { .sockets = &sockets };
	cleanup_close int at = -1, server = -1, client = -1, target = -1;
	struct ga_relay *r = NULL;
	struct pollfd p = { .events = POLLIN };
	pid_t child;

	assert_non_null(mkdtemp(dir));
	at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	o.socket_dir = at;
	server = unix_socket(dir, "server", true);
	ga_strv_take(&sockets, ga_path_join(dir, "server"));
	OK(ga_relay_open(&o, &r, &err));
	OK(ga_relay_enter(r, getpid(), &err));
	client = unix_socket(dir, "0", false);
	assert_true(serve(r));
	target = accept4(server, NULL, NULL, SOCK_CLOEXEC);
	assert_true(target >= 0);

	child = fork();
	if (!child)
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!child)
		(void)pause();
	assert_true(child > 0);
	/* the relay cannot write that, and gives the connection up */
	EQUAL(shutdown(target, SHUT_RDWR), 0);
	EQUAL(write(client, "x", 1), 1);
	assert_true(serve(r));
	/* to the socket that only the child still holds */
	EQUAL(write(client, "y", 1), 1);
	p.fd = ga_relay_fd(r);
	EQUAL(poll(&p, 1, 0), 0);

	EQUAL(kill(child, SIGKILL), 0);
	EQUAL(waitpid(child, NULL, 0), child);
	ga_relay_close(r);
	EQUAL(unlinkat(at, "0", 0) | unlinkat(at, "server", 0), 0);
	EQUAL(rmdir(dir), 0);
}

/* More names than are looked up at a time, and none is answered: whoever waits for its turn does so
 * no longer than a look-up takes. */
TEST(who_waits_for_a_lookup_waits_no_longer_than_one_takes)
{
	enum { N = 2 * NET_JOBS + 8 };
	cleanup_net_plan struct ga_net_plan plan = GA_NET_PLAN_INIT;
	STRV(allow);
	const struct ga_net_options po = { .ip6 = false };
	struct ga_relay_opts o = { .plan = &plan, .socket_dir = -1 };
	const struct net_listener l = { .kind = NET_L_PROXY };
	struct ga_relay *r = NULL;
	size_t answered = 0;
	int client[N];

	ga_strv_push(&allow, "*.example.org:80");
	OK(ga_net_plan_make(&allow, &po, &plan, &err));
	OK(ga_relay_open(&o, &r, &err));
	for (int i = 0; i < N; i++) {
		int pair[2];

		EQUAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
		client[i] = pair[0];
		assert_true(dprintf(pair[0], "CONNECT n%d.example.org:80 HTTP/1.1\r\n\r\n", i) > 0);
		net_conn_begin(r, &l, pair[1]);
	}
	for (int i = 0; i < 10; i++)
		ga_relay_serve(r);
	EQUAL(begun, NET_JOBS);
	now += 30000;
	assert_true(ga_relay_next(r) && ga_relay_next(r) <= now);
	for (int i = 0; i < 10; i++)
		ga_relay_serve(r);
	for (int i = 0; i < N; i++) {
		char got[64] = "";

		answered += read(client[i], got, sizeof(got) - 1) > 0;
		(void)close(client[i]);
	}
	/* those that were looked up, and those whose turn did not come; the next are under way */
	EQUAL(begun, 2 * NET_JOBS);
	EQUAL(answered, N - NET_JOBS);
	ga_relay_close(r);
}

/* A published port, and sockets inside that do not come: nothing else waits, and this one not for
 * ever. */
TEST(a_published_port_without_a_socket_inside_is_closed_in_time)
{
	STRV(publish);
	struct ga_relay_opts o = { .publish = &publish, .socket_dir = -1 };
	const struct net_listener l = { .kind = NET_L_PUBLISH };
	struct ga_relay *r = NULL;
	int pair[2][2];
	char got[8];

	ga_strv_push(&publish, "auto:3000");
	OK(ga_relay_open(&o, &r, &err));
	for (int i = 0; i < 2; i++) {
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair[i]), 0);
		net_conn_begin(r, &l, pair[i][1]);
		ga_relay_serve(r);
	}
	/* who goes is forgotten */
	EQUAL(close(pair[1][0]), 0);
	for (int i = 0; i < 3; i++)
		ga_relay_serve(r);
	EQUAL(r->n_conns, 1);
	/* one family after the other */
	for (int i = 0; i < 2; i++) {
		assert_true(read(pair[0][0], got, sizeof(got)) < 0);
		EQUAL(ga_relay_next(r), now + 10000);
		now += 10000;
		(void)close(never);
		for (int k = 0; k < 3; k++)
			ga_relay_serve(r);
	}
	EQUAL(read(pair[0][0], got, sizeof(got)), 0);
	EQUAL(r->n_conns, 0);
	(void)close(pair[0][0]);
	ga_relay_close(r);
}

int main(void)
{
	(void)signal(SIGPIPE, SIG_IGN);
	return RUN_TESTS(NULL, NULL);
}
