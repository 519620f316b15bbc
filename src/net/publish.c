/* SPDX-License-Identifier: MIT
 *
 * What crosses the boundary by path or by port, as words: unix sockets and published ports; and the
 * host's listeners for the latter.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ga/base/path.h"
#include "ga/sys/fd.h"
#include "netplan-internal.h"
#include "relay-internal.h"

#define BACKLOG 128

/* The host's port, which may be "auto". */
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

/* Where the second path begins: a ':' that no "/" or "~/" follows is an ordinary character. */
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
		return ga_hint(err, "'auto:%u' takes any that is free", p->port);
	return errnum == EACCES ? ga_hint(err, "ports below 1024 are the system's") : -1;
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
