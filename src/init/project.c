/* SPDX-License-Identifier: MIT
 *
 * A mount stays on the directory it was put on, wherever that is moved to, and
 * goes when it is removed. Both can happen to a directory of the agents' home: by
 * the agent, by another session that has not mounted anything there, on the host.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "init.h"

/* The kernel's own idea of where the directory is; looking a path up again
 * would be for the agent to make slow, closed or misleading. */
static int whereabouts(int fd, char at[PATH_MAX])
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
	return p->fd < 0 ? -1 : whereabouts(p->fd, p->at);
}

bool project_lost(struct project *p)
{
	char now[PATH_MAX];

	if (p->fd < 0 || (!whereabouts(p->fd, now) && !strcmp(now, p->at)))
		return false;
	(void)close(p->fd);
	p->fd = -1;
	return true;
}
