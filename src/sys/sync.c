/* SPDX-License-Identifier: MIT */
#include "ga/sys/sync.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "ga/base/trace.h"
#include "ga/sys/fd.h"

#define THREADS 3

struct ga_sync_job {
	struct ga_strv own;
	const struct ga_strv *paths;
	atomic_size_t next; /* index of the next path to sync */
	atomic_int error;   /* errno of the first failure, 0: none */
	size_t failed;      /* index of that path; to be read when no thread is left */
	pthread_t threads[THREADS];
	size_t started;
};

static int sync_one(const char *path)
{
	cleanup_close int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	return ga_fault("sync") || ga_fsync(fd) ? -1 : 0;
}

static void *sync_next(void *p)
{
	struct ga_sync_job *b = p;
	size_t i;

	while ((i = atomic_fetch_add(&b->next, 1)) < b->paths->n) {
		int none = 0;

		if (sync_one(b->paths->v[i]) &&
		    atomic_compare_exchange_strong(&b->error, &none, errno))
			b->failed = i;
	}
	return NULL;
}

/* Several fsyncs run in parallel: a disk handles many at once, and most of an fsync is waiting for
 * it. */
static void start(struct ga_sync_job *b, size_t most)
{
	sigset_t all, old;

	/* a thread inherits the mask, so signals go to the main thread alone */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	while (b->started < most &&
	       !pthread_create(&b->threads[b->started], NULL, sync_next, b))
		b->started++;
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static int finish(struct ga_sync_job *b, struct ga_error *err)
{
	(void)sync_next(b);
	while (b->started)
		(void)pthread_join(b->threads[--b->started], NULL);
	if (!b->error)
		return 0;
	return ga_fail_path(err, b->error, "sync", b->paths->v[b->failed]);
}

int ga_sync_paths(const struct ga_strv *paths, struct ga_error *err)
{
	struct ga_sync_job b = { .paths = paths };

	/* starting a thread is not worth it for one or two paths */
	start(&b, paths->n / 3 < THREADS ? paths->n / 3 : THREADS);
	return finish(&b, err);
}

struct ga_sync_job *ga_sync_begin(struct ga_strv *paths, size_t threads)
{
	struct ga_sync_job *b;

	if (!paths->n)
		return NULL;
	b = ga_calloc(1, sizeof(*b));
	b->own = *paths;
	b->paths = &b->own;
	*paths = (struct ga_strv)GA_STRV_INIT;
	start(b, threads < THREADS ? threads : THREADS);
	if (!b->started)
		(void)sync_next(b);
	return b;
}

int ga_sync_end(struct ga_sync_job *b, struct ga_error *err)
{
	int rc;

	if (!b)
		return 0;
	rc = finish(b, err);
	ga_strv_release(&b->own);
	free(b);
	return rc;
}
