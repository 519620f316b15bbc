/* SPDX-License-Identifier: MIT
 *
 * Refresh the mounts of a running sandbox. Its stage, which made them, has dropped its
 * capabilities. But a process of this user created the user namespace, and its creator has all
 * capabilities in it: so a child of ours enters it and does the mounting.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/base/path.h"
#include "ga/sys/fd.h"
#include "ga/sys/mount.h"
#include "ga/sys/ns.h"
#include "control-internal.h"

#define ANSWER_MS 20000
#define TEXT_MAX ((size_t)64 << 10)

/* What to do, and where. */
struct within {
	int stage, init;       /* pidfds */
	const char *stage_dir;
	const char *project;
	const struct ga_shared *shared; /* a directory that was recreated; NULL: none */
};

static int ask_stage(int fd, struct within *ret, struct ga_error *err)
{
	int64_t deadline = ga_now_ms() + ANSWER_MS;

	if (control_send_message(fd, CONTROL_STAGE, 0, 0) < 0)
		return control_fail(err);
	for (;;) {
		struct control_packet p;
		int rc = control_wait(fd, &p, deadline);

		if (!rc)
			return ga_fail(err, GA_ETIME, "the session does not answer"
				       GA_HINT "it may be stopped, on another terminal");
		if (rc < 0 || p.m.type == CONTROL_EXITED)
			return control_fail(err);
		if (p.m.type == CONTROL_STAGE_IS) {
			ret->stage = ga_steal_fd(&p.fds[0]);
			ret->init = ga_steal_fd(&p.fds[1]);
		}
		control_close_fds(&p);
		if (p.m.type == CONTROL_STAGE_IS)
			return ret->stage < 0 || ret->init < 0 ? control_fail(err) : 0;
	}
}

/* Names below `dir` may be the agent's: no symlink among them is followed. */
static int refresh_one(int dir, const char *below)
{
	cleanup_close int at = ga_openat_beneath(dir, below, O_PATH | O_DIRECTORY, 0);

	return at < 0 ? -1 : ga_mount_refresh(at);
}

/* An overlay is mounted in several places of the stage, any one of which will do. */
static int refresh_device(int dir, const char *stage_dir, const struct ga_strv *mounts, size_t i,
			  struct ga_error *err)
{
	const char *device = mounts->v[i + GA_MOUNT_DEVICE];
	int errnum = ENOENT;

	for (size_t k = i; k < mounts->n; k += GA_MOUNT_WORDS) {
		const char *below = ga_path_below(mounts->v[k], stage_dir);

		if (!below || strcmp(mounts->v[k + GA_MOUNT_DEVICE], device))
			continue;
		if (!refresh_one(dir, below))
			return 0;
		errnum = errno;
	}
	return ga_fail_path(err, errnum, "refresh", mounts->v[i]);
}

static int enter_stage(const struct within *w, struct ga_error *err)
{
	int dir;

	if (ga_ns_join(w->stage))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot enter the session's mounts");
	dir = open(w->stage_dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the session's mounts");
	return dir;
}

static int refresh(const struct within *w, struct ga_error *err)
{
	cleanup_strv struct ga_strv mounts = GA_STRV_INIT, done = GA_STRV_INIT;
	cleanup_close int dir = enter_stage(w, err);

	if (dir < 0 || ga_mount_list(&mounts, err))
		return -1;
	for (size_t i = 0; i < mounts.n; i += GA_MOUNT_WORDS) {
		if (strcmp(mounts.v[i + GA_MOUNT_TYPE], "overlay") ||
		    !ga_path_below(mounts.v[i], w->stage_dir) ||
		    ga_strv_has(&done, mounts.v[i + GA_MOUNT_DEVICE]))
			continue;
		if (refresh_device(dir, w->stage_dir, &mounts, i, err))
			return -1;
		ga_strv_push(&done, mounts.v[i + GA_MOUNT_DEVICE]);
	}
	return done.n ? 0 : ga_fail(err, GA_EFATAL, "the session's mounts are not below '%s'",
				    w->stage_dir);
}

/* Open the place where the former overlay is mounted; the agent may have moved what is on the
 * way. */
static int open_former(int at, const char *path, struct ga_error *err)
{
	cleanup_close int fd = ga_openat_beneath(at, path, O_PATH | O_DIRECTORY, 0);

	if (fd >= 0 && ga_mount_is_overlay(fd))
		return ga_steal_fd(&fd);
	return ga_fail(err, GA_EFATAL, "the former one is not there inside");
}

/* Open the directory that was checked before, as this namespace sees it. */
static int open_lower(const struct within *w, struct ga_error *err)
{
	cleanup_close int project = open(w->project, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
	const char *rel = ga_path_below(w->shared->lower, w->project);
	struct stat st;

	if (project >= 0 && rel)
		fd = ga_openat_beneath(project, rel, O_PATH | O_DIRECTORY, 0);
	if (fd < 0 || fstat(fd, &st))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open it");
	if (st.st_dev != w->shared->dev || st.st_ino != w->shared->ino)
		return ga_fail(err, GA_EFATAL, "it is a mount of its own, or was replaced again");
	return ga_steal_fd(&fd);
}

static int open_layer(const char *path, struct ga_error *err)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? ga_fail_errno(err, GA_EFATAL, errno, "cannot open a layer") : fd;
}

/* Mount the new overlay. Two overlays then have the same upper, which the kernel allows without an
 * index; the former is visible only to those who have something in it open. */
static int mount_on(int at, const struct within *w, struct ga_error *err)
{
	const struct ga_shared *sh = w->shared;
	cleanup_close int lower = open_lower(w, err), mask = -1, upper = -1, work = -1;
	int layers[2], n = 0;

	if (lower < 0)
		return -1;
	upper = open_layer(sh->upper, err);
	work = upper < 0 ? -1 : open_layer(sh->work, err);
	if (work < 0)
		return -1;
	if (sh->mask) {
		mask = open_layer(sh->mask, err);
		if (mask < 0)
			return -1;
		layers[n++] = mask;
	}
	layers[n++] = lower;
	return ga_mount_overlay(at, layers, (size_t)n, upper, work) ?
		       ga_fail_errno(err, GA_EFATAL, errno, "cannot mount it") : 0;
}

/* Mount it in the stage, and return an unattached copy of it. */
static int mount_and_copy(const struct within *w, struct ga_error *err)
{
	cleanup_close int dir = enter_stage(w, err), at = -1, made = -1;
	cleanup_free char *place = ga_path_join("project",
						ga_path_below(w->shared->lower, w->project));
	int copy;

	if (dir < 0)
		return -1;
	at = open_former(dir, place, err);
	if (at < 0 || mount_on(at, w, err))
		return -1;
	made = open_former(dir, place, err);
	if (made < 0)
		return -1;
	copy = ga_mount_copy(made, GA_COPY_RW);
	return copy < 0 ? ga_fail_errno(err, GA_EFATAL, errno, "cannot copy the mount") : copy;
}

/* What is attached in the stage no longer propagates inside. But whoever has all capabilities in
 * the stage's user namespace has them in namespaces made from it, bwrap's mount namespace included.
 * Mounts there are locked and cannot be removed, but one can be mounted on top. Nothing is
 * executed. */
static int remount(const struct within *w, struct ga_error *err)
{
	cleanup_close int copy = mount_and_copy(w, err), root = -1, at = -1;

	if (copy < 0)
		return -1;
	if (ga_ns_join_mounts(w->init))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot enter the sandbox's mounts");
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	at = root < 0 ? -1 : open_former(root, w->shared->lower + 1, err);
	if (at < 0)
		return -1;
	return ga_mount_attach(copy, at) ?
		       ga_fail_errno(err, GA_EFATAL, errno, "cannot attach it") : 0;
}

/* It writes what went wrong to `out`. */
static void __attribute__((noreturn)) child(const struct within *w, int out)
{
	struct ga_error err = GA_ERROR_INIT;
	int rc = w->shared ? remount(w, &err) : refresh(w, &err);

	if (rc)
		(void)ga_write_full(out, err.msg, strlen(err.msg));
	_exit(rc != 0);
}

static int run_child(const struct within *w, struct ga_error *err)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	cleanup_close int in = -1;
	int pair[2], st = 0, rc;
	pid_t pid;

	if (pipe2(pair, O_CLOEXEC))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot create a pipe");
	in = pair[0];
	pid = fork();
	if (!pid)
		child(w, pair[1]);
	(void)close(pair[1]);
	if (pid < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot create a process");
	rc = ga_read_fd(in, TEXT_MAX, &text, err);
	(void)TEMP_FAILURE_RETRY(waitpid(pid, &st, 0));
	if (rc || !st)
		return rc;
	return ga_fail(err, GA_EFATAL, "%s", text.len ? text.ptr : "the process was killed");
}

static int within(const struct ga_control_peer *p, struct within *w, struct ga_error *err)
{
	int rc = ask_stage(p->fd, w, err) || run_child(w, err) ? -1 : 0;

	ga_cleanup_closep(&w->stage);
	ga_cleanup_closep(&w->init);
	return rc;
}

int ga_control_refresh(const struct ga_control_peer *p, const char *stage_dir, struct ga_error *err)
{
	struct within w = { .stage = -1, .init = -1, .stage_dir = stage_dir };

	return within(p, &w, err);
}

int ga_control_remount(const struct ga_control_peer *p, const char *stage_dir, const char *project,
		       const struct ga_shared *sh, struct ga_error *err)
{
	struct within w = { .stage = -1, .init = -1, .stage_dir = stage_dir, .project = project,
			    .shared = sh };

	return within(p, &w, err);
}
