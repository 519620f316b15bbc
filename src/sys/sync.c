/* SPDX-License-Identifier: MIT */
#include "ga/sync.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "ga/fd.h"

struct ga_sync_beside {
	pthread_t thread;
	struct ga_strv paths;
};

void ga_sync_paths(const struct ga_strv *paths)
{
	for (size_t i = 0; i < paths->n; i++) {
		cleanup_close int fd = open(paths->v[i],
					    O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

		if (fd >= 0)
			(void)fsync(fd);
	}
}

static void *sync_all(void *p)
{
	const struct ga_sync_beside *b = p;

	ga_sync_paths(&b->paths);
	return NULL;
}

static void release(struct ga_sync_beside *b)
{
	ga_strv_release(&b->paths);
	free(b);
}

struct ga_sync_beside *ga_sync_beside(struct ga_strv *paths)
{
	struct ga_sync_beside *b = ga_calloc(1, sizeof(*b));
	sigset_t all, old;
	int rc;

	b->paths = *paths;
	*paths = (struct ga_strv)GA_STRV_INIT;
	/* the thread inherits the mask: signals are for those who wait for them */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&b->thread, NULL, sync_all, b);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!rc)
		return b;
	ga_sync_paths(&b->paths);
	release(b);
	return NULL;
}

void ga_sync_beside_end(struct ga_sync_beside *b)
{
	if (!b)
		return;
	(void)pthread_join(b->thread, NULL);
	release(b);
}
