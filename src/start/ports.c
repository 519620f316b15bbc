/* SPDX-License-Identifier: MIT
 *
 * A range of ports for the servers of a session, where several sessions share the host's network.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "ga/base/path.h"
#include "ga/sys/fd.h"
#include "start-internal.h"

#define FIRST 20480
#define EACH 16
#define RANGES ((32768 - FIRST) / EACH) /* from 32768 on the kernel hands out ephemeral ports */

/* A range is taken by locking one byte of a file. The lock belongs to the open descriptor
 * (F_OFD_SETLK), and so goes with the supervisor, however that ends. */
static bool lock_range(int fd, unsigned i, short how)
{
	struct flock l = { .l_type = how, .l_whence = SEEK_SET, .l_start = i, .l_len = 1 };

	return !fcntl(fd, F_OFD_SETLK, &l);
}

/* Could a server of the session listen there? Found out by binding a socket, without listening. */
static bool port_free(unsigned port)
{
	const struct sockaddr_in6 any6 = { .sin6_family = AF_INET6,
					   .sin6_port = htons((uint16_t)port) };
	const struct sockaddr_in any4 = { .sin_family = AF_INET,
					  .sin_port = htons((uint16_t)port) };
	cleanup_close int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int on = 1, off = 0;
	bool ip6 = fd >= 0;

	if (!ip6)
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* connections that are closed do not count (SO_REUSEADDR); both address families do */
	return fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) &&
	       (!ip6 || !setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off))) &&
	       !bind(fd, ip6 ? (const struct sockaddr *)&any6 : (const struct sockaddr *)&any4,
		     ip6 ? sizeof(any6) : sizeof(any4));
}

static bool take(int fd, unsigned i, bool host)
{
	if (!lock_range(fd, i, F_WRLCK))
		return false;
	for (unsigned k = 0; host && k < EACH; k++) {
		if (port_free(FIRST + i * EACH + k))
			continue;
		(void)lock_range(fd, i, F_UNLCK);
		return false;
	}
	return true;
}

unsigned start_take_ports(const struct ga_env *e, uint64_t former, unsigned any, int *ret_fd)
{
	cleanup_free char *path = ga_path_join(e->state_root, "ports");
	cleanup_close int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool host = e->net.mode == GA_NETWORK_HOST;
	unsigned first = any % RANGES;

	if (former >= FIRST && former < FIRST + RANGES * EACH)
		first = (unsigned)(former - FIRST) / EACH;
	for (unsigned n = 0; fd >= 0 && n < RANGES; n++) {
		unsigned i = (first + n) % RANGES;

		if (!take(fd, i, host))
			continue;
		*ret_fd = ga_steal_fd(&fd);
		return FIRST + i * EACH;
	}
	return 0;
}
