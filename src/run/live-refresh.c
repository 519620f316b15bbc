/* SPDX-License-Identifier: MIT
 *
 * Everything a sandbox sees is mounted by its stage, which has no rights left. But it was made
 * by a process of this user, and who made a user namespace has all rights in it: so a child of
 * ours goes there, and does what takes them.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ga/clock.h"
#include "ga/fd.h"
#include "ga/mount.h"
#include "ga/ns.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "live-internal.h"

#define ANSWER_MS 20000
#define TEXT_MAX ((size_t)64 << 10)

static int ask_stage(int fd, int *ret, struct ga_error *err)
{
	int64_t deadline = ga_now_ms() + ANSWER_MS;

	if (live_say(fd, LIVE_STAGE, 0, 0) < 0)
		return live_fail(err);
	for (;;) {
		struct live_packet p;
		int rc = live_wait(fd, &p, deadline);

		if (!rc) {
			(void)ga_fail(err, GA_ETIME, "the session does not answer");
			return ga_hint(err, "it may be stopped, on another terminal");
		}
		if (rc < 0 || p.m.type == LIVE_EXITED)
			return live_fail(err);
		if (p.m.type == LIVE_STAGE_IS)
			*ret = ga_steal_fd(&p.fds[0]);
		live_close_fds(&p);
		if (p.m.type == LIVE_STAGE_IS)
			return *ret < 0 ? live_fail(err) : 0;
	}
}

/* Names below `dir` may be the agent's: none is followed elsewhere. */
static int refresh_one(int dir, const char *below)
{
	cleanup_close int at = ga_openat_beneath(dir, below, O_PATH | O_DIRECTORY, 0);

	return at < 0 ? -1 : ga_mount_refresh(at);
}

/* An overlay shows in several places of the stage, of which one will do. */
static int refresh_device(int dir, const char *stage_dir, const struct ga_strv *mounts, size_t i,
			  struct ga_error *err)
{
	cleanup_free char *q = ga_escape(mounts->v[i]);
	int errnum = ENOENT;

	for (size_t k = i; k < mounts->n; k += 3) {
		const char *below = ga_path_below(mounts->v[k], stage_dir);

		if (!below || strcmp(mounts->v[k + 2], mounts->v[i + 2]))
			continue;
		if (!refresh_one(dir, below))
			return 0;
		errnum = errno;
	}
	return ga_fail_errno(err, GA_EFATAL, errnum, "cannot refresh '%s'", q);
}

/* In the child. */
static int refresh(int pidfd, const char *stage_dir, struct ga_error *err)
{
	cleanup_strv struct ga_strv mounts = GA_STRV_INIT, done = GA_STRV_INIT;
	cleanup_close int dir = -1;

	if (ga_ns_join(pidfd))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot enter the session's mounts");
	dir = open(stage_dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the session's mounts");
	if (ga_mount_list(&mounts, err))
		return -1;
	for (size_t i = 0; i < mounts.n; i += 3) {
		if (strcmp(mounts.v[i + 1], "overlay") ||
		    !ga_path_below(mounts.v[i], stage_dir) || ga_strv_has(&done, mounts.v[i + 2]))
			continue;
		if (refresh_device(dir, stage_dir, &mounts, i, err))
			return -1;
		ga_strv_push(&done, mounts.v[i + 2]);
	}
	return done.n ? 0 : ga_fail(err, GA_EFATAL, "the session's mounts are not below '%s'",
				    stage_dir);
}

/* What went wrong is what it writes. */
static void __attribute__((noreturn)) child(int pidfd, const char *stage_dir, int out)
{
	struct ga_error err = GA_ERROR_INIT;
	int rc = refresh(pidfd, stage_dir, &err);

	if (rc)
		(void)ga_write_full(out, err.msg, strlen(err.msg));
	_exit(rc != 0);
}

int ga_live_refresh(const struct ga_live_peer *p, const char *stage_dir, struct ga_error *err)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	cleanup_close int pidfd = -1, in = -1;
	int pair[2], st = 0, rc;
	pid_t pid;

	if (ask_stage(p->fd, &pidfd, err))
		return -1;
	if (pipe2(pair, O_CLOEXEC))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot create a pipe");
	in = pair[0];
	pid = fork();
	if (!pid)
		child(pidfd, stage_dir, pair[1]);
	(void)close(pair[1]);
	if (pid < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot create a process");
	rc = ga_read_fd(in, TEXT_MAX, &text, err);
	while (waitpid(pid, &st, 0) < 0 && errno == EINTR)
		;
	if (rc || !st)
		return rc;
	return ga_fail(err, GA_EFATAL, "%s", text.len ? text.ptr : "it was killed half way");
}
