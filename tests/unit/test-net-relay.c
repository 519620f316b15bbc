/* SPDX-License-Identifier: MIT
 *
 * The relay without a sandbox: what it makes of ends that go away.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/net.h"
#include "ga/path.h"

static int unix_socket(const char *dir, const char *name, bool listens)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	const struct sockaddr *at = (const struct sockaddr *)&sa;

	assert_true(fd >= 0);
	assert_true(snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/%s", dir, name) <
		    (int)sizeof(sa.sun_path));
	if (listens) {
		assert_int_equal(bind(fd, at, sizeof(sa)), 0);
		assert_int_equal(listen(fd, 4), 0);
	} else {
		assert_int_equal(connect(fd, at, sizeof(sa)), 0);
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
static void closed_while_a_child_holds_it(void **state)
{
	char dir[] = "/tmp/test-net-relay-XXXXXX";
	cleanup_strv struct ga_strv sockets = GA_STRV_INIT;
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	struct ga_relay_opts o = { .sockets = &sockets };
	cleanup_close int at = -1, server = -1, client = -1, target = -1;
	struct ga_relay *r = NULL;
	struct pollfd p = { .events = POLLIN };
	pid_t child;

	(void)state;
	assert_non_null(mkdtemp(dir));
	at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	o.socket_dir = at;
	server = unix_socket(dir, "server", true);
	ga_strv_take(&sockets, ga_path_join(dir, "server"));
	assert_int_equal(ga_relay_open(&o, &r, &err), 0);
	assert_int_equal(ga_relay_enter(r, getpid(), &err), 0);
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
	assert_int_equal(shutdown(target, SHUT_RDWR), 0);
	assert_int_equal(write(client, "x", 1), 1);
	assert_true(serve(r));
	/* to the socket that only the child still holds */
	assert_int_equal(write(client, "y", 1), 1);
	p.fd = ga_relay_fd(r);
	assert_int_equal(poll(&p, 1, 0), 0);

	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	ga_relay_close(r);
	assert_int_equal(unlinkat(at, "0", 0) | unlinkat(at, "server", 0), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(closed_while_a_child_holds_it),
	};

	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
