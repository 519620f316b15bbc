/* SPDX-License-Identifier: MIT */
#include "ga/sync.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "ga/fd.h"

#define THREADS 3

struct ga_sync_beside {
	struct ga_strv own;
	const struct ga_strv *paths;
	atomic_size_t next; /* which of them nobody has taken yet */
	pthread_t threads[THREADS];
	size_t started;
};

static void *sync_next(void *p)
{
	struct ga_sync_beside *b = p;
	size_t i;

	while ((i = atomic_fetch_add(&b->next, 1)) < b->paths->n) {
		cleanup_close int fd = open(b->paths->v[i],
					    O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

		if (fd >= 0)
			(void)fsync(fd);
	}
	return NULL;
}

/* The disk takes several at once, and most of an fsync is waiting for it. */
static void start(struct ga_sync_beside *b, size_t most)
{
	sigset_t all, old;

	/* a thread inherits the mask: signals are for those who wait for them */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	while (b->started < most &&
	       !pthread_create(&b->threads[b->started], NULL, sync_next, b))
		b->started++;
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void finish(struct ga_sync_beside *b)
{
	(void)sync_next(b);
	while (b->started)
		(void)pthread_join(b->threads[--b->started], NULL);
}

void ga_sync_paths(const struct ga_strv *paths)
{
	struct ga_sync_beside b = { .paths = paths };

	/* for one or two a thread is not worth it */
	start(&b, paths->n / 3 < THREADS ? paths->n / 3 : THREADS);
	finish(&b);
}

struct ga_sync_beside *ga_sync_beside(struct ga_strv *paths)
{
	struct ga_sync_beside *b = ga_calloc(1, sizeof(*b));

	b->own = *paths;
	b->paths = &b->own;
	*paths = (struct ga_strv)GA_STRV_INIT;
	start(b, b->own.n < THREADS ? b->own.n : THREADS);
	if (b->started)
		return b;
	ga_sync_beside_end(b);
	return NULL;
}

void ga_sync_beside_end(struct ga_sync_beside *b)
{
	if (!b)
		return;
	finish(b);
	ga_strv_release(&b->own);
	free(b);
}
