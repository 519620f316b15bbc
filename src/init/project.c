/* SPDX-License-Identifier: MIT
 *
 * A mount stays on the directory on which it was mounted, wherever that is moved, and is detached
 * when that is removed. Both can happen to a directory of the agents' home: by the agent, by
 * another session that has nothing mounted there, or on the host.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "init.h"

/* The directory's path as the kernel reports it; looking the path up again could be made slow,
 * closed or misleading by the agent. */
static int current_path(int fd, char at[PATH_MAX])
{
	char link[32];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, at, PATH_MAX - 1);
	if (n < 0)
		return -1;
	at[n] = '\0';
	return 0;
}

int project_open(struct project *p)
{
	if (p->opened)
		return 0;
	p->opened = true;
	p->fd = open(p->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return p->fd < 0 ? -1 : current_path(p->fd, p->at);
}

bool project_lost(struct project *p)
{
	char now[PATH_MAX];

	if (p->fd < 0 || (!current_path(p->fd, now) && !strcmp(now, p->at)))
		return false;
	(void)close(p->fd);
	p->fd = -1;
	return true;
}
