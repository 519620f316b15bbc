/* SPDX-License-Identifier: MIT
 *
 * Words of network.publish and network.sockets, and the ways to the latter.
 */
#include "../test.h"

#include <sched.h>
#include <sys/mount.h>

#include "ga/base/path.h"
#include "ga/net/net.h"
#include "ga/sys/fd.h"
#include "net/relay-internal.h"

TEST(a_published_port_is_parsed_or_refused)
{
	static const struct {
		const char *word, *at;
		unsigned host_port, port;
	} cases[] = {
		{ "3000", "127.0.0.1", 3000, 3000 },
		{ "auto:3000", "127.0.0.1", 0, 3000 },
		{ "8080:3000", "127.0.0.1", 8080, 3000 },
		{ "127.0.0.1:8080:3000", "127.0.0.1", 8080, 3000 },
		{ "0.0.0.0:auto:65535", "0.0.0.0", 0, 65535 },
		{ "[::1]:8080:3000", "::1", 8080, 3000 },
		{ "[::1]:auto:1", "::1", 0, 1 },
	};
	static const char *const refused[] = {
		"", "0", "65536", "03000", "+3000", "3000 ", "auto", "auto:", ":3000", "0:3000",
		"8080:auto", "::3000", ":8080:3000", "::1:8080:3000", "[127.0.0.1]:8080:3000",
		"localhost:8080:3000", "127.1:8080:3000", "127.0.0.1:8080:3000/udp",
	};

	for_each (row, cases) {
		struct ga_net_publish p;
		cleanup_free char *at = NULL;

		if (!ga_net_publish_parse(row->word, &p) || !ga_net_publish_ok(row->word))
			fail_msg("'%s' is refused", row->word);
		at = ga_net_addr_text(&p.addr);
		STREQ(at, row->at);
		EQUAL(p.host_port, row->host_port);
		EQUAL(p.port, row->port);
	}
	for_each (row, refused) {
		struct ga_net_publish p;

		if (ga_net_publish_parse(*row, &p) || ga_net_publish_ok(*row))
			fail_msg("'%s' is accepted", *row);
	}
}

TEST(paths_of_sockets_are_absolute_and_clean)
{
	static const char *const good[] = { "/run/postgresql/.s.PGSQL.5432", "/tmp/a b", "~/a",
					    "/a:b", "/a:/b", "~/a:~/b", "/a:b:/c" };
	static const char *const bad[] = { "", "/", "a", "~", "~/", "~a/b", "~/../b", "/a:/",
					   ":/a", "/a:/b:/../c", "/a:~/", "/a/../b", "/a/./b", "/a//b", "/a/",
					   "/a\n", "/a\x7f" };

	for_each (row, good)
		assert_true(ga_net_socket_ok(*row));
	for_each (row, bad)
		if (ga_net_socket_ok(*row))
			fail_msg("'%s'", *row);
}

TEST(an_address_other_than_loopback_is_open_to_others)
{
	static const char *const here[] = { "1", "auto:1", "2:1", "127.0.0.1:2:1", "127.9.9.9:auto:1", "[::1]:auto:1" };
	static const char *const open[] = { "0.0.0.0:2:1", "192.0.2.1:auto:1", "[::]:2:1",
					    "[2001:db8::1]:2:1", "[::ffff:192.0.2.1]:2:1" };

	for_each (row, here)
		assert_false(ga_net_publish_open(*row));
	for_each (row, open)
		EQUAL(ga_net_publish_open(*row), ga_net_publish_ok(*row));
	assert_true(ga_net_publish_open(open[0]) && ga_net_publish_open(open[2]));
}

TEST(a_socket_has_a_place_on_the_host_and_one_inside)
{
	static const char *const cases[][3] = {
		{ "/r/s", "/r/s", "/r/s" },
		{ "~/.gnupg/S", "/h/u/.gnupg/S", "/h/u/.gnupg/S" },
		{ "/r/S.extra:~/.gnupg/S", "/r/S.extra", "/h/u/.gnupg/S" },
		{ "~/a:/b", "/h/u/a", "/b" },
		{ "/a:0:/b:1", "/a:0", "/b:1" },
	};

	for_index (i, cases) {
		cleanup_net_socket struct ga_net_socket s;

		assert_true(ga_net_socket_parse(cases[i][0], "/h/u", &s));
		STREQ(s.host, cases[i][1]);
		STREQ(s.inside, cases[i][2]);
	}
}

static int listen_at(int dir, const char *name)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	(void)snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d/%s", dir, name);
	EQUAL(bind(fd, (const struct sockaddr *)&sa, sizeof(sa)), 0);
	EQUAL(listen(fd, 64), 0);
	return fd;
}

/* Links are followed, but not where what is inside writes: "w". */
TEST(sb08_no_way_to_a_socket_leads_through_what_agents_write)
{
	static const char *const links[][2] = {
		{ "../s", "d/up" },   { "d", "to-d" },	    { "to-d/../d/./up", "all" },
		{ "loop", "loop" },   { "../s", "w/out" },  { "..", "w/top" },
		{ "w", "to-w" },      { "w/out", "to-out" }, { "to-out", "chain" },
		{ "w/none", "to-none" }, { "d/../w/top/s", "through" }, { "none/../w", "odd" },
	};
	static const struct {
		const char *path;
		int errnum; /* 0: connected */
	} cases[] = {
		{ "s", 0 }, { "d/up", 0 }, { "to-d/up", 0 }, { "all", 0 },
		{ "none", ENOENT }, { "none/s", ENOENT }, { "loop", ELOOP }, { "d", ENOTSOCK },
		{ "s/x", ENOTDIR }, { "odd", ENOENT }, { "file", ENOTSOCK }, { "w2", ENOTSOCK },
		{ "w/s", EXDEV }, { "w", EXDEV }, { "w/none", EXDEV }, { "w/none/s", EXDEV },
		{ "to-w", EXDEV }, { "to-w/s", EXDEV }, { "to-w/none/s", EXDEV },
		{ "to-out", EXDEV }, { "chain", EXDEV }, { "to-none", EXDEV },
		{ "through", EXDEV }, { "w/top/s", EXDEV }, { "w/none/later/s", EXDEV },
		{ "later/none", ENOENT },
	};
	char dir[] = "/tmp/test-net-publish-XXXXXX";
	STRV(written);
	ERR(err);
	cleanup_close int at = -1, server = -1, other = -1;

	assert_non_null(mkdtemp(dir));
	at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	EQUAL(mkdirat(at, "d", 0700) | mkdirat(at, "w", 0700) | mkdirat(at, "w2", 0700), 0);
	server = listen_at(at, "s");
	other = listen_at(at, "w/s");
	EQUAL(ga_write_new(at, "file", "", 0, 0600, &err), 0);
	for_index (i, links)
		EQUAL(symlinkat(links[i][0], at, links[i][1]), 0);
	ga_strv_take(&written, ga_path_join(dir, "w"));
	for_each (row, cases) {
		cleanup_free char *path = ga_path_join(dir, row->path);
		cleanup_close int fd = -1;
		bool refused = net_check_unix(path, &written, &err) != 0;

		errno = 0;
		fd = net_dial_unix(path, &written);
		if (errno != row->errnum || (fd < 0) != !!row->errnum || refused != (row->errnum == EXDEV))
			fail_msg("%s: %d", row->path, errno);
		ga_error_release(&err);
	}
	EQUAL(ga_rmtree_at(AT_FDCWD, dir, &err), 0);
}

/* In a mount namespace of its own. 0: refused through the second place too, and nowhere else. */
static int try_second_place(const char *dir, const struct ga_strv *written)
{
	static const char *const inside[] = { "again", "again/s", "again/none", "sub/deep/s" };
	cleanup_free char *w = ga_path_join(dir, "w"), *again = ga_path_join(dir, "again");
	cleanup_free char *deep = ga_path_join(dir, "sub/deep"), *plain = ga_path_join(dir, "sub/s");

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) || mount(w, again, "none", MS_BIND, NULL) ||
	    mount(w, deep, "none", MS_BIND, NULL))
		return 77;
	for_index (i, inside) {
		cleanup_free char *path = ga_path_join(dir, inside[i]);
		ERR(err);

		if (!net_check_unix(path, written, &err))
			return 1 + (int)i;
		if (net_dial_unix(path, written) >= 0 || errno != EXDEV)
			return 11 + (int)i;
	}
	return net_dial_unix(plain, written) < 0 ? 20 : 0;
}

/* What agents write in may be mounted elsewhere on the host too. */
TEST(a_directory_that_agents_write_is_known_in_two_places)
{
	char dir[] = "/tmp/test-net-publish-XXXXXX";
	STRV(written);
	cleanup_close int at = -1, server = -1, other = -1;
	int status;
	pid_t pid;

	assert_non_null(mkdtemp(dir));
	at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	EQUAL(mkdirat(at, "w", 0700) | mkdirat(at, "again", 0700) |
	      mkdirat(at, "sub", 0700) | mkdirat(at, "sub/deep", 0700), 0);
	server = listen_at(at, "w/s");
	other = listen_at(at, "sub/s");
	ga_strv_take(&written, ga_path_join(dir, "w"));
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(try_second_place(dir, &written));
	EQUAL(waitpid(pid, &status, 0), pid);
	OK(ga_rmtree_at(AT_FDCWD, dir, &err));
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	EQUAL(WEXITSTATUS(status), 0);
}

/* "-": not through the proxy. */
TEST(the_proxy_of_the_host_is_found_and_used_except_for_what_needs_none)
{
	static const struct {
		const char *proxy, *no, *host, *expect;
	} cases[] = {
		{ "https_proxy=http://u:p%40:x@Proxy.corp:8080/", "no_proxy=", "f.org", "proxy.corp:8080 dTpwQDp4" },
		{ "ALL_PROXY=10.0.0.1:8080", "NO_PROXY=a.org, .b.org,*.c.org", "xa.org", "10.0.0.1:8080" },
		{ "http_proxy=localhost", "no_proxy=10.0.0.0/8", "11.0.0.1", "127.0.0.1:1080" },
		{ "https_proxy=[2001:db8::1]:1", "no_proxy=2001:db8::/32", "192.0.2.1", "[2001:db8::1]:1" },
		{ "https_proxy=p:1", "no_proxy=A.org", "x.a.org", "-" },
		{ "https_proxy=p:1", "no_proxy=.b.org", "b.org", "-" },
		{ "https_proxy=p:1", "no_proxy=*", "b.org", "-" },
		{ "https_proxy=p:1", "no_proxy=", "127.0.0.1", "-" },
		{ "https_proxy=p:1", "no_proxy=10.0.0.0/8", "10.9.9.9", "-" },
		{ "https_proxy=socks5://p:1", "no_proxy=", "b.org", "-" },
		{ "https_proxy=https://p:1", "no_proxy=", "b.org", "-" },
		{ "https_proxy=p:0", "no_proxy=", "b.org", "-" },
		{ "https_proxy=", "no_proxy=", "b.org", "-" },
	};

	for_each (row, cases) {
		const char *const env[] = { row->proxy, row->no, NULL };
		struct net_via v = { 0 };
		struct ga_net_host h;
		cleanup_free char *at = NULL, *got = NULL;

		net_via_find(env, &v);
		assert_true(ga_net_host_parse(row->host, strlen(row->host), &h));
		if (net_via_for(&v, &h))
			at = ga_net_host_text(&v.host, v.port);
		got = ga_strf("%s%s%s", at ? at : "-", at && v.login ? " " : "", at && v.login ? v.login : "");
		STREQ(got, row->expect);
		net_via_release(&v);
	}
}

TEST_MAIN(NULL, NULL)
