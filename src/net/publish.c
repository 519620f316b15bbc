/* SPDX-License-Identifier: MIT
 *
 * The settings network.sockets and network.publish, and the listeners on the host for published
 * ports.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "netplan-internal.h"
#include "relay-internal.h"

#define BACKLOG 128

socklen_t net_sockaddr(const struct ga_net_addr *a, uint16_t port, struct sockaddr_storage *ret)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ret;
	struct sockaddr_in *in = (struct sockaddr_in *)ret;

	memset(ret, 0, sizeof(*ret));
	if (a->ip6) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		memcpy(&in6->sin6_addr, a->b, 16);
		return sizeof(*in6);
	}
	in->sin_family = AF_INET;
	in->sin_port = htons(port);
	memcpy(&in->sin_addr, a->b, 4);
	return sizeof(*in);
}

static bool parse_host_port(const char *s, size_t n, uint16_t *ret)
{
	if (n == 4 && !strncmp(s, "auto", 4)) {
		*ret = 0;
		return true;
	}
	return net_port_parse(s, n, ret);
}

bool ga_net_publish_parse(const char *word, struct ga_net_publish *ret)
{
	struct ga_net_publish p = { .addr = { .b = { 127, 0, 0, 1 } } };
	const char *inside = strrchr(word, ':'), *mid;
	struct ga_net_host host;

	if (!inside) {
		if (!net_port_parse(word, strlen(word), &p.port))
			return false;
		p.host_port = p.port;
		*ret = p;
		return true;
	}
	if (!net_port_parse(inside + 1, strlen(inside + 1), &p.port))
		return false;
	for (mid = inside; mid > word && mid[-1] != ':'; mid--)
		;
	if (!parse_host_port(mid, (size_t)(inside - mid), &p.host_port))
		return false;
	if (mid > word) {
		if (!ga_net_host_parse(word, (size_t)(mid - 1 - word), &host) || *host.name ||
		    (word[0] != '[') != !host.addr.ip6)
			return false;
		p.addr = host.addr;
	}
	*ret = p;
	return true;
}

bool ga_net_publish_ok(const char *word)
{
	struct ga_net_publish p;

	return ga_net_publish_parse(word, &p);
}

static char *socket_path(const char *text, size_t n, const char *home)
{
	cleanup_free char *path = ga_strndup(text, n);
	bool at_home = !strncmp(path, "~/", 2);
	const char *rel = path + (at_home ? 2 : 1);

	for (const char *p = path; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return NULL;
	if ((!at_home && path[0] != '/') || !ga_path_relative_ok(rel))
		return NULL;
	return at_home ? ga_path_join(home, rel) : ga_strdup(path);
}

bool ga_net_publish_open(const char *word)
{
	static const struct ga_net_addr one6 = { .ip6 = true, .b = { [15] = 1 } };
	struct ga_net_publish p;

	return ga_net_publish_parse(word, &p) &&
	       (p.addr.ip6 ? memcmp(p.addr.b, one6.b, 16) != 0 : p.addr.b[0] != 127);
}

/* The start of the second path: a ':' without "/" or "~/" after it is an ordinary character. */
static const char *find_inside(const char *word)
{
	for (const char *p = strchr(word, ':'); p; p = strchr(p + 1, ':'))
		if (p[1] == '/' || !strncmp(p + 1, "~/", 2))
			return p + 1;
	return NULL;
}

bool ga_net_socket_parse(const char *word, const char *home, struct ga_net_socket *ret)
{
	const char *inside = find_inside(word);
	size_t n = inside ? (size_t)(inside - 1 - word) : strlen(word);

	*ret = (struct ga_net_socket){
		.host = socket_path(word, n, home),
		.inside = inside ? socket_path(inside, strlen(inside), home)
				 : socket_path(word, n, home),
	};
	if (ret->host && ret->inside)
		return true;
	ga_net_socket_release(ret);
	return false;
}

void ga_net_socket_release(struct ga_net_socket *s)
{
	free(s->host);
	free(s->inside);
	*s = (struct ga_net_socket){ NULL, NULL };
}

bool ga_net_socket_ok(const char *word)
{
	cleanup_net_socket struct ga_net_socket s;

	return ga_net_socket_parse(word, "/", &s);
}

static int fail_published(const struct ga_net_publish *p, int errnum, struct ga_error *err)
{
	struct ga_net_host host = { .addr = p->addr };
	cleanup_free char *at = ga_net_host_text(&host, p->host_port);

	(void)ga_fail_errno(err, GA_ESTART, errnum, "cannot publish port %u at '%s'", p->port, at);
	if (errnum == EADDRINUSE)
		return ga_hint(err, "'auto:%u' uses any free port", p->port);
	return errnum == EACCES ? ga_hint(err, "use a port from 1024 on") : -1;
}

int net_listen_host(struct ga_net_publish *p, struct ga_error *err)
{
	cleanup_close int fd = -1;
	struct sockaddr_storage sa;
	socklen_t n = net_sockaddr(&p->addr, p->host_port, &sa);
	const int on = 1;

	fd = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    (p->addr.ip6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on))) ||
	    bind(fd, (const struct sockaddr *)&sa, n) || listen(fd, BACKLOG) ||
	    getsockname(fd, (struct sockaddr *)&sa, &n))
		return fail_published(p, errno, err);
	/* the port is at the same offset in both */
	p->host_port = ntohs(((const struct sockaddr_in *)(const void *)&sa)->sin_port);
	return ga_steal_fd(&fd);
}

/* Unix sockets of the host, by path. Programs inside can write to some directories of the host and
 * leave symlinks to any path there, so the path to a socket is walked component by component, and
 * refused when it enters such a directory. */

#define BACKLOG 128
#define LINKS_MAX 40 /* the kernel's own limit (path_resolution(7)) */

struct walk {
	int fd;         /* `at`, opened with O_PATH */
	char *at;       /* path of where the walk is, without symlinks */
	char *rest;     /* the rest of the path, from there */
	unsigned links; /* symlinks that were followed */
};

static void walk_release(struct walk *w)
{
	ga_cleanup_closep(&w->fd);
	free(w->at);
	free(w->rest);
}

static void set_text(char **at, char *text)
{
	free(*at);
	*at = text;
}

static void set_current(struct walk *w, int *fd, char **at)
{
	ga_cleanup_closep(&w->fd);
	w->fd = ga_steal_fd(fd);
	set_text(&w->at, ga_steal(at));
}

static int enter_root(struct walk *w)
{
	cleanup_close int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *at = ga_strdup("/");

	if (fd < 0)
		return -1;
	set_current(w, &fd, &at);
	return 0;
}

/* Compare by inode, because the path may differ: a directory mounted in two places is written in
 * both. */
static bool is_written_dir(const struct ga_strv *written, const struct stat *st)
{
	for (size_t i = 0; written && i < written->n; i++) {
		struct stat root;

		if (!lstat(written->v[i], &root) && root.st_dev == st->st_dev &&
		    root.st_ino == st->st_ino)
			return true;
	}
	return false;
}

/* Put the target of the symlink `link` in front of the rest. */
static int follow(struct walk *w, int link)
{
	char to[PATH_MAX];
	ssize_t n = readlinkat(link, "", to, sizeof(to));

	if (n < 0 || n == (ssize_t)sizeof(to) || ++w->links > LINKS_MAX) {
		errno = n < 0 ? errno : ELOOP;
		return -1;
	}
	set_text(&w->rest, ga_strf("%.*s/%s", (int)n, to, w->rest));
	return w->rest[0] == '/' ? enter_root(w) : 0;
}

/* Walk to the entry `name` of the current directory. */
static int enter(struct walk *w, const char *name, const struct ga_strv *written)
{
	bool up = !strcmp(name, "..");
	cleanup_free char *at = up ? ga_path_parent(w->at) : ga_path_join(w->at, name);
	cleanup_free char *whole = ga_path_join(at, w->rest);
	cleanup_close int fd = -1;
	struct stat st;

	if (written && ga_strv_above(written, at)) {
		errno = EXDEV;
		return -1;
	}
	fd = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	/* it may be created later, by whoever can write there */
	if (fd < 0 && errno == ENOENT && written && ga_strv_above(written, whole))
		errno = EXDEV;
	if (fd < 0 || fstat(fd, &st))
		return -1;
	if (is_written_dir(written, &st)) {
		errno = EXDEV;
		return -1;
	}
	if (S_ISLNK(st.st_mode))
		return follow(w, fd);
	set_current(w, &fd, &at);
	return 0;
}

/* Resolve and open the path with O_PATH. -1 with errno; EXDEV: the path enters a `written`
 * place. */
static int open_way(const char *path, const struct ga_strv *written)
{
	cleanup_(walk_release) struct walk w = { .fd = -1, .rest = ga_strdup(path) };

	if (enter_root(&w))
		return -1;
	for (;;) {
		size_t blank = strspn(w.rest, "/"), n = strcspn(w.rest + blank, "/");
		cleanup_free char *name = ga_strndup(w.rest + blank, n);

		if (!n)
			return ga_steal_fd(&w.fd);
		n += blank;
		set_text(&w.rest, ga_strdup(w.rest + n + strspn(w.rest + n, "/")));
		if (strcmp(name, ".") != 0 && enter(&w, name, written))
			return -1;
	}
}

int net_check_unix(const char *path, const struct ga_strv *written, struct ga_error *err)
{
	cleanup_close int fd = open_way(path, written);
	cleanup_free char *q = NULL;

	/* the server may be started later: the path is resolved at each connection */
	if (fd >= 0 || errno != EXDEV)
		return 0;
	q = ga_escape(path);
	return ga_fail(err, GA_ESTART, "the socket '%s' cannot be shown inside"
		       GA_HINT "agents can write to its directory or one above, and "
		       "replace it by a link to another socket", q);
}

int net_listen_unix(const char *path, int dir, size_t i, struct ga_error *err)
{
	cleanup_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	cleanup_free char *name = ga_strf("/%zu", i), *q = NULL;
	struct sockaddr_un sa;

	if (fd >= 0 && ga_unix_address(dir, name, &sa) &&
	    !bind(fd, (const struct sockaddr *)&sa, sizeof(sa)) &&
	    !fchmodat(dir, name + 1, 0600, 0) && !listen(fd, BACKLOG))
		return ga_steal_fd(&fd);
	q = ga_escape(path);
	return ga_fail_errno(err, GA_ESTART, errno, "cannot make a socket in place of '%s'", q);
}

int net_dial_unix(const char *path, const struct ga_strv *written)
{
	cleanup_close int at = open_way(path, written), fd = -1;
	struct sockaddr_un sa;
	struct stat st;

	if (at < 0 || fstat(at, &st))
		return -1;
	if (!S_ISSOCK(st.st_mode)) {
		errno = ENOTSOCK;
		return -1;
	}
	/* connect to the socket that was found, even if another file has its name now */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || !ga_unix_address(at, "", &sa) ||
	    connect(fd, (const struct sockaddr *)&sa, sizeof(sa)))
		return -1;
	return ga_steal_fd(&fd);
}
