/* SPDX-License-Identifier: MIT
 *
 * Execute mount operations: every destination is opened beneath the staging directory without
 * following a symlink, and mounted on by that descriptor, so that nothing an agent left in its home
 * or project can redirect a mount.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/sys/fd.h"
#include "ga/sys/mount.h"
#include "ga/sys/ns.h"
#include "stage.h"

/* How often a file is masked again that others replace. */
#define MASK_TRIES 10

static int open_dest(int root, const char *dest, int flags)
{
	return ga_openat_beneath(root, dest, O_PATH | flags, 0);
}

static int open_source(const char *path, int flags)
{
	return open(path, O_PATH | O_CLOEXEC | flags);
}

/* Removing a mount point on the host would detach the mount in a running session. A mode without
 * write permission and a file inside make it hard to do so by accident; the file tells users what
 * it is. */
static int mark(int at, const char *name)
{
	static const char text[] =
		"made by git-agent; something is mounted here inside its sandbox\n";
	cleanup_close int dir = ga_openat_beneath(at, name, O_RDONLY | O_DIRECTORY, 0);
	cleanup_close int fd = -1;

	if (dir < 0)
		return -1;
	fd = openat(dir, GA_PLAN_MARKER, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0444);
	if (fd < 0 || ga_write_full(fd, text, sizeof(text) - 1))
		return -1;
	return fchmod(dir, 0555);
}

/* Make a directory searchable: an agent could remove all permissions from one in its home, and the
 * next session would not reach its project. The stage has the owner's rights whatever the mode. */
static int make_searchable(int dir)
{
	char path[32];
	struct stat st;

	if (fstat(dir, &st))
		return -1;
	if ((st.st_mode & S_IXUSR) || st.st_uid != geteuid())
		return 0;
	/* fchmod() does not take a descriptor that was opened by O_PATH */
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", dir);
	return chmod(path, (st.st_mode & 07777) | S_IRWXU);
}

/* Open the directory `name`, creating it if it is missing. */
static int open_subdir(int at, const char *name, unsigned mode, bool last, bool marked)
{
	bool made = !mkdirat(at, name, last ? mode : 0755);
	cleanup_close int dir = -1;

	if (!made && errno != EEXIST)
		return -1;
	if (made && last && marked && mark(at, name))
		return -1;
	dir = open_dest(at, name, O_DIRECTORY);
	if (dir < 0 || (!last && make_searchable(dir)))
		return -1;
	return ga_steal_fd(&dir);
}

/* Each component is opened without following a symlink; if somebody creates or removes a directory
 * meanwhile, the result is an error, never another place. Returns the last one, which gets `mode`
 * if it is created. */
static int make_dirs(int root, const char *dest, unsigned mode, bool marked)
{
	cleanup_close int at = fcntl(root, F_DUPFD_CLOEXEC, 3);
	const char *p = dest;

	while (at >= 0) {
		size_t n = strcspn(p, "/");
		cleanup_free char *name = ga_strndup(p, n);
		int next = open_subdir(at, name, mode, !p[n], marked);

		(void)close(at);
		at = next;
		if (!p[n])
			break;
		p += n + 1;
	}
	return ga_steal_fd(&at);
}

/* Open the parent of `dest`, creating it if it is missing. */
static int make_parent(int root, const char *dest)
{
	cleanup_free char *parent = ga_path_parent(dest);

	return make_dirs(root, parent, 0755, false);
}

/* Open a place to mount something on. Below "root" and "odb", which are the stage's own, it is
 * created if nothing is there; in a tree of the agent only "mountpoint" creates anything. */
static int dest_for(int root, const char *dest, bool dir)
{
	cleanup_close int fd = open_dest(root, dest, dir ? O_DIRECTORY : 0), at = -1;

	if (fd >= 0 || errno != ENOENT ||
	    (!ga_path_inside(dest, "root") && !ga_path_inside(dest, "odb")))
		return ga_steal_fd(&fd);
	if (dir)
		return make_dirs(root, dest, 0755, false);
	at = make_parent(root, dest);
	if (at < 0)
		return -1;
	fd = openat(at, ga_path_base(dest), O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
	if (fd < 0)
		return -1;
	(void)close(ga_steal_fd(&fd));
	return open_dest(root, dest, 0);
}

static int open_layers(const struct stage_op *op, int *fds, struct stage_fault *f)
{
	for (size_t i = 0; i < op->n_layers; i++) {
		fds[i] = open_source(op->layers[i], O_DIRECTORY);
		if (fds[i] < 0)
			return stage_fail(f, GA_STEP_SOURCE, errno, op->layers[i]);
	}
	return 0;
}

static int overlay_on(int dest, const struct stage_op *op, const int *layers, struct stage_fault *f)
{
	cleanup_close int upper = -1, work = -1;

	upper = open_source(op->upper, O_DIRECTORY);
	if (upper < 0)
		return stage_fail(f, GA_STEP_SOURCE, errno, op->upper);
	work = open_source(op->work, O_DIRECTORY);
	if (work < 0)
		return stage_fail(f, GA_STEP_SOURCE, errno, op->work);
	/* if the kernel refuses this, the reason is nearly always the upper's file system */
	if (ga_mount_overlay(dest, layers, op->n_layers, upper, work))
		return stage_fail(f, GA_STEP_OVERLAY, errno, op->upper);
	return 0;
}

static int do_overlay(int root, const struct stage_op *op, struct stage_fault *f)
{
	cleanup_close int dest = open_dest(root, op->dest, O_DIRECTORY);
	int fds[GA_PLAN_MAX_LAYERS];
	int rc;

	if (dest < 0)
		return stage_fail(f, GA_STEP_DEST, errno, op->dest);
	for (size_t i = 0; i < op->n_layers; i++)
		fds[i] = -1;
	rc = open_layers(op, fds, f);
	if (!rc)
		rc = overlay_on(dest, op, fds, f);
	for (size_t i = 0; i < op->n_layers; i++)
		ga_cleanup_closep(&fds[i]);
	return rc;
}

/* Attach a copy of what is at the source, on the host or, to be moved, in the stage. */
static int do_bind(int root, const struct stage_op *op, enum ga_copy how, struct stage_fault *f)
{
	bool move = op->kind == STAGE_MOVE;
	cleanup_close int copy = -1, dest = -1,
		source = move ? open_dest(root, op->source, 0) : open_source(op->source, 0);
	struct stat st;

	if (source < 0)
		return stage_fail(f, move ? GA_STEP_DEST : GA_STEP_SOURCE, errno, op->source);
	dest = dest_for(root, op->dest, !fstat(source, &st) && S_ISDIR(st.st_mode));
	if (dest < 0)
		return stage_fail(f, GA_STEP_DEST, errno, op->dest);
	copy = ga_mount_copy(source, how);
	return copy < 0 || ga_mount_attach(copy, dest)
		       ? stage_fail(f, GA_STEP_BIND, errno, op->dest)
		       : 0;
}

static int do_bind_ro(int root, const struct stage_op *op, const struct stage_disowned *d,
		      struct stage_fault *f)
{
	int copy = stage_disowned_copy(d, op->source);
	cleanup_close int dest = -1;

	if (copy < 0)
		return do_bind(root, op, GA_COPY_RO, f);
	dest = dest_for(root, op->dest, true);
	if (dest < 0)
		return stage_fail(f, GA_STEP_DEST, errno, op->dest);
	return ga_mount_attach(copy, dest) ? stage_fail(f, GA_STEP_BIND, errno, op->dest) : 0;
}

/* Where a host's file was removed or replaced since it was opened, the kernel answers ENOENT, and
 * what is there now is masked. */
static int do_mask(int root, const struct stage_op *op, struct stage_fault *f)
{
	bool dir = op->kind == STAGE_MASK_DIR;
	const char *empty = dir ? GA_PLAN_EMPTY_DIR : GA_PLAN_EMPTY_FILE;
	cleanup_close int copy = -1, source = openat(root, empty, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (source < 0)
		return stage_fail(f, GA_STEP_TMPFS, errno, op->dest);
	copy = ga_mount_copy(source, GA_COPY_RO);
	if (copy < 0)
		return stage_fail(f, GA_STEP_BIND, errno, op->dest);
	for (int i = 0; i < MASK_TRIES; i++) {
		cleanup_close int dest = open_dest(root, op->dest, dir ? O_DIRECTORY : 0);

		if (dest < 0)
			return errno == ENOENT ? 0
					       : stage_fail(f, GA_STEP_DEST, errno, op->dest);
		if (!ga_mount_attach(copy, dest))
			return 0;
		if (errno != ENOENT)
			break;
	}
	return stage_fail(f, GA_STEP_BIND, errno, op->dest);
}

/* A directory of the stage's own with an empty file of each name. */
static int make_cover(int root, const struct stage_op *op)
{
	cleanup_free char *name = NULL;
	cleanup_close int dir = -1;

	for (unsigned i = 0; !name; i++) {
		name = ga_strf("hide-%u", i);
		if (!mkdirat(root, name, 0755))
			break;
		if (errno != EEXIST)
			return -1;
		free(ga_steal(&name));
	}
	dir = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; dir >= 0 && i < op->n_names; i++) {
		cleanup_close int fd = openat(dir, op->names[i], O_WRONLY | O_CREAT | O_EXCL |
					      O_NOFOLLOW | O_CLOEXEC, 0444);

		if (fd < 0)
			return -1;
	}
	return ga_steal_fd(&dir);
}

/* Mask each file separately, where no overlay is possible. */
static int cover_each(int root, const struct stage_op *op, struct stage_fault *f)
{
	for (size_t i = 0; i < op->n_names; i++) {
		const struct stage_op one = { .kind = STAGE_MASK_FILE,
					      .dest = ga_path_join(op->dest, op->names[i]) };

		/* the words of a plan live as long as the program */
		if (do_mask(root, &one, f))
			return -1;
	}
	return 0;
}

/* The kernel answers EINVAL for a directory that cannot be a lower layer: something is mounted in
 * it, its file system is unsuitable, or it is a stack of overlays already. */
static int do_hide(int root, const struct stage_op *op, struct ga_strv *loose,
		   struct stage_fault *f)
{
	cleanup_close int dest = open_dest(root, op->dest, O_DIRECTORY), cover = -1;
	int layers[2];

	if (dest < 0 && errno == ENOENT)
		return 0;
	if (dest < 0)
		return stage_fail(f, GA_STEP_DEST, errno, op->dest);
	cover = make_cover(root, op);
	if (cover < 0)
		return stage_fail(f, GA_STEP_TMPFS, errno, op->dest);
	layers[0] = cover;
	layers[1] = dest;
	if (!ga_mount_overlay(dest, layers, 2, -1, -1))
		return 0;
	if (errno != EINVAL)
		return stage_fail(f, GA_STEP_HIDE, errno, op->dest);
	ga_strv_push(loose, op->dest);
	return cover_each(root, op, f);
}

/* `share`: what is attached below "root" from now on appears inside. */
static int share_root(int root, bool share, struct stage_fault *f)
{
	cleanup_close int fd = open_dest(root, "root", O_DIRECTORY);

	return fd < 0 || ga_mount_share(fd, share) ? stage_fail(f, GA_STEP_PROPAGATION, errno, "")
						   : 0;
}

/* Make what a plan's tree needs: a directory, a file, a link, or what is to be mounted on. */
static bool make_place(int root, const struct stage_op *op)
{
	bool dirs = op->kind == STAGE_DIR || op->kind == STAGE_MOUNTPOINT;
	cleanup_close int fd = -1, at = dirs ? make_dirs(root, op->dest,
							 op->kind == STAGE_DIR ? op->mode : 0755,
							 op->kind == STAGE_MOUNTPOINT)
					     : make_parent(root, op->dest);
	const char *name = ga_path_base(op->dest);

	/* what the agents have there stays: init finds out where a path leads */
	if (op->kind == STAGE_SYMLINK)
		return (at >= 0 && !symlinkat(op->source, at, name)) ||
		       ga_path_inside(op->dest, "home");
	if (at < 0 || dirs)
		return at >= 0;
	if (op->kind == STAGE_TEXT)
		return !ga_write_new(at, name, op->text, op->n_text, 0444, GA_IGNORED);
	/* any existing file in the agents' home may be mounted on */
	fd = openat(at, name, O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd >= 0 || errno == EEXIST;
}

/* Mount something of the kernel's, or change what is mounted. */
static int mount_own(int root, const struct stage_op *op, struct stage_fault *f)
{
	cleanup_close int fs = -1, dest = op->kind == STAGE_READ_ONLY
		? open_dest(root, op->dest, O_DIRECTORY) : dest_for(root, op->dest, true);
	bool failed;

	if (dest < 0)
		return stage_fail(f, GA_STEP_DEST, errno, op->dest);
	if (op->kind == STAGE_TMPFS)
		failed = (fs = ga_mount_tmpfs(dest, op->mode, NULL)) < 0;
	else
		failed =
			op->kind == STAGE_DEVPTS ? ga_mount_devpts(dest) : ga_mount_read_only(dest);
	return failed ? stage_fail(f, GA_STEP_BIND, errno, op->dest) : 0;
}

static int run_op(int root, const struct stage_op *op, const struct stage_disowned *d,
		  struct ga_strv *loose, struct stage_fault *f)
{
	switch (op->kind) {
	case STAGE_OVERLAY:
		return do_overlay(root, op, f);
	case STAGE_BIND_RW:
	case STAGE_MOVE:
		return do_bind(root, op, GA_COPY_RW, f);
	case STAGE_BIND_RO:
		return do_bind_ro(root, op, d, f);
	case STAGE_DEVICE:
		return do_bind(root, op, GA_COPY_DEVICE, f);
	case STAGE_DEVPTS:
	case STAGE_TMPFS:
	case STAGE_READ_ONLY:
		return mount_own(root, op, f);
	case STAGE_MASK_FILE:
	case STAGE_MASK_DIR:
		return do_mask(root, op, f);
	case STAGE_HIDE:
		return do_hide(root, op, loose, f);
	case STAGE_MOUNTPOINT:
	case STAGE_SYMLINK:
	case STAGE_DIR:
	case STAGE_FILE:
	case STAGE_TEXT:
		return make_place(root, op) ? 0 : stage_fail(f, GA_STEP_DEST, errno, op->dest);
	case STAGE_SANDBOX:
		return share_root(root, true, f);
	case STAGE_DISOWN: /* not reached: "disown" comes before all other operations */
		break;
	}
	return stage_fail(f, GA_STEP_PLAN, EINVAL, op->dest);
}

static int open_stage(const char *dir, struct stage_fault *f)
{
	static const char *const trees[] = { "root", "project", "home", "odb" };
	cleanup_close int at = open_source(dir, O_DIRECTORY | O_NOFOLLOW);
	cleanup_close int stage = -1, dest = -1, root = -1, file = -1;

	if (at < 0)
		return stage_fail(f, GA_STEP_TMPFS, errno, dir);
	/* it contains nothing but mount points */
	stage = ga_mount_tmpfs(at, 0755, "64k");
	for (size_t i = 0; stage >= 0 && i < GA_NELEMS(trees); i++)
		if (mkdirat(stage, trees[i], 0755))
			return stage_fail(f, GA_STEP_TMPFS, errno, dir);
	if (stage < 0 || mkdirat(stage, GA_PLAN_EMPTY_DIR, 0555))
		return stage_fail(f, GA_STEP_TMPFS, errno, dir);
	file = openat(stage, GA_PLAN_EMPTY_FILE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	if (file < 0)
		return stage_fail(f, GA_STEP_TMPFS, errno, dir);
	/* a separate mount, so that it alone can be shared */
	dest = open_dest(stage, "root", O_DIRECTORY);
	if (dest >= 0)
		root = ga_mount_tmpfs(dest, 0755, "64k");
	return root < 0 ? stage_fail(f, GA_STEP_TMPFS, errno, dir) : ga_steal_fd(&stage);
}

struct hook {
	int (*start)(void *payload, struct stage_fault *f);
	void *payload;
};

/* Execute the plan from the operation `op` on. */
static int run_ops(struct stage_plan *plan, struct stage_op *op, const struct stage_disowned *d,
		   const struct hook *h, struct ga_strv *loose, struct stage_fault *f)
{
	cleanup_close int root = open_stage(plan->dir, f);
	int rc;

	if (root < 0)
		return -1;
	do
		if (run_op(root, op, d, loose, f) ||
		    (op->kind == STAGE_SANDBOX && h->start(h->payload, f)))
			return -1;
	while ((rc = stage_plan_next(plan, op, f)) > 0);
	return rc ? rc : share_root(root, false, f);
}

int stage_mount(int fd, int (*start)(void *payload, struct stage_fault *f), void *payload,
		struct ga_strv *ret_loose, struct stage_fault *f)
{
	const struct hook hook = { start, payload };
	struct stage_disowned d;
	struct stage_plan plan;
	struct stage_op op;

	/* a plan without any other operation is an error as well */
	if (stage_plan_open(fd, &plan, f) || stage_disown(&plan, &d, &op, ret_loose, f) < 1)
		return -1;
	if (stage_enter_user(plan.dir, f))
		return -1;
	if (ga_ns_unshare_mounts())
		return stage_fail(f, GA_STEP_MOUNTNS, errno, "");
	if (run_ops(&plan, &op, &d, &hook, ret_loose, f))
		return -1;
	stage_disowned_close(&d);
	return 0;
}
