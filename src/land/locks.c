/* SPDX-License-Identifier: MIT
 *
 * The lock on landings in a working tree.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "landing.h"

#define PATIENCE_MS 3000
#define PAUSE_NS 20000000

/* `running`: the file that says that a landing is running, from which on locks are its own. */
static int remove_locks(struct ga_repo *r, int running, struct ga_error *err)
{
	struct stat st;

	return fstat(running, &st) || !st.st_size ? 0
	       : ga_work_remove_locks(r, &st.st_mtim, err);
}

/* Take it. Whoever has it, or a git of one that was killed, is given a moment to end. */
static int take(int fd, const char *file, struct ga_error *err)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	const int64_t until = ga_now_ms() + PATIENCE_MS;
	cleanup_free char *word = ga_quote_shell(file);
	int rc;

	while ((rc = ga_flock(fd, true, false, err)) > 0 && ga_now_ms() < until)
		(void)nanosleep(&pause, NULL);
	if (rc <= 0)
		return rc;
	(void)ga_fail(err, GA_EFATAL, "a landing, or git of one that was killed, is running here");
	return ga_hint(err, "wait for it to end; 'fuser -v %s' names it", word);
}

int land_lock(struct ga_repo *r, struct land_lock *ret, struct ga_error *err)
{
	cleanup_free char *file = ga_path_join(ga_repo_info(r)->gitdir, "git-agent/landing/lock");
	cleanup_free char *dir = ga_path_parent(file);
	cleanup_close int fd = -1;

	if (ga_mkdir_p(dir, 0700, err))
		return -1;
	fd = open(file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return ga_fail_path(err, errno, "open", file);
	if (take(fd, file, err) || remove_locks(r, fd, err))
		return -1;
	if (ftruncate(fd, 0) || ga_write_full(fd, "running\n", 8))
		return ga_fail_path(err, errno, "write", file);
	ret->repo = r;
	ret->fd = ga_steal_fd(&fd);
	ga_repo_hold(r, ret->fd);
	return 0;
}

int land_remove_locks(const struct land_lock *l, struct ga_error *err)
{
	return remove_locks(l->repo, l->fd, err);
}

void land_unlock(struct land_lock *l)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	if (l->fd < 0)
		return;
	if (l->failed)
		(void)land_remove_locks(l, &ignored);
	(void)!ftruncate(l->fd, 0);
	ga_repo_hold(l->repo, -1);
	/* what a hook left running may still have it open */
	ga_funlock(l->fd);
	ga_cleanup_closep(&l->fd);
}
