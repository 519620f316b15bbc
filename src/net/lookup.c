/* SPDX-License-Identifier: MIT
 *
 * Names are resolved as the host resolves them, by getaddrinfo(3), which reads files, loads what
 * nsswitch.conf names, and may block for many seconds. So each look-up is a child process: nothing
 * waits for it, and it can be killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ga/sys/fd.h"
#include "net-internal.h"

static void take(const struct addrinfo *i, struct net_addrs *ret)
{
	const void *sa = i->ai_addr;

	if (i->ai_family == AF_INET6)
		ret->v[ret->n++] = ga_net_addr_make(true,
						    &((const struct sockaddr_in6 *)sa)->sin6_addr);
	else if (i->ai_family == AF_INET)
		ret->v[ret->n++] = ga_net_addr_make(false,
						    &((const struct sockaddr_in *)sa)->sin_addr);
}

static void __attribute__((noreturn)) look_up(const char *name, int out, pid_t parent)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM,
					.ai_flags = AI_ADDRCONFIG };
	struct addrinfo *list = NULL;
	struct net_addrs a = { 0 };

	/* close everything of the supervisor's: a sandbox lives as long as its socket is open */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent || dup2(out, 3) < 0 ||
	    fcntl(3, F_SETFD, FD_CLOEXEC) || syscall(SYS_close_range, 4u, ~0u, 0u))
		_exit(1);
	if (!getaddrinfo(name, NULL, &hints, &list))
		for (const struct addrinfo *i = list; i && a.n < NET_ADDRS_MAX; i = i->ai_next)
			take(i, &a);
	_exit(ga_write_full(3, &a, sizeof(a)) != 0);
}

bool net_lookup_begin(struct net_lookup *l, const char *name)
{
	pid_t self = getpid();
	int p[2];

	if (pipe2(p, O_CLOEXEC | O_NONBLOCK))
		return false;
	l->pid = fork();
	if (!l->pid)
		look_up(name, p[1], self);
	(void)close(p[1]);
	l->fd = p[0];
	if (l->pid > 0)
		return true;
	(void)close(ga_steal_fd(&l->fd));
	return false;
}

static void reap(struct net_lookup *l)
{
	(void)TEMP_FAILURE_RETRY(waitpid(l->pid, NULL, 0));
	(void)close(ga_steal_fd(&l->fd));
	l->pid = 0;
}

void net_lookup_end(struct net_lookup *l, struct net_addrs *ret)
{
	/* one write of less than PIPE_BUF bytes: all of it, or nothing */
	if (read(l->fd, ret, sizeof(*ret)) != (ssize_t)sizeof(*ret) || ret->n > NET_ADDRS_MAX)
		*ret = (struct net_addrs){ 0 };
	reap(l);
}

void net_lookup_abandon(struct net_lookup *l)
{
	if (l->pid <= 0)
		return;
	(void)kill(l->pid, SIGKILL);
	reap(l);
}
