/* SPDX-License-Identifier: MIT */
#include "ga/later.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "ga/fd.h"

struct ga_sync_later {
	pthread_t thread;
	pthread_mutex_t lock; /* of `ended` */
	pthread_cond_t cond;
	bool ended;
	struct timespec when;
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

static void *wait_and_sync(void *p)
{
	struct ga_sync_later *l = p;
	bool ended;

	(void)pthread_mutex_lock(&l->lock);
	while (!l->ended && pthread_cond_timedwait(&l->cond, &l->lock, &l->when) != ETIMEDOUT)
		;
	ended = l->ended;
	(void)pthread_mutex_unlock(&l->lock);
	if (!ended)
		ga_sync_paths(&l->paths);
	return NULL;
}

static void release(struct ga_sync_later *l)
{
	(void)pthread_cond_destroy(&l->cond);
	(void)pthread_mutex_destroy(&l->lock);
	ga_strv_release(&l->paths);
	free(l);
}

static void set_deadline(struct ga_sync_later *l, unsigned ms)
{
	pthread_condattr_t attr;

	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&l->cond, &attr);
	(void)pthread_condattr_destroy(&attr);
	(void)clock_gettime(CLOCK_MONOTONIC, &l->when);
	l->when.tv_sec += ms / 1000;
	l->when.tv_nsec += (long)(ms % 1000) * 1000000;
	if (l->when.tv_nsec >= 1000000000) {
		l->when.tv_nsec -= 1000000000;
		l->when.tv_sec++;
	}
}

int ga_sync_later(struct ga_strv *paths, unsigned ms, struct ga_sync_later **ret,
		  struct ga_error *err)
{
	struct ga_sync_later *l = ga_calloc(1, sizeof(*l));
	sigset_t all, old;
	int rc;

	l->paths = *paths;
	*paths = (struct ga_strv)GA_STRV_INIT;
	(void)pthread_mutex_init(&l->lock, NULL);
	set_deadline(l, ms);
	/* the thread inherits the mask: signals are for those who wait for them */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&l->thread, NULL, wait_and_sync, l);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc) {
		release(l);
		return ga_fail_errno(err, GA_EFATAL, rc, "cannot create a thread");
	}
	*ret = l;
	return 0;
}

void ga_sync_later_end(struct ga_sync_later *l)
{
	if (!l)
		return;
	(void)pthread_mutex_lock(&l->lock);
	l->ended = true;
	(void)pthread_cond_signal(&l->cond);
	(void)pthread_mutex_unlock(&l->lock);
	(void)pthread_join(l->thread, NULL);
	release(l);
}
