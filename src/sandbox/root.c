/* SPDX-License-Identifier: MIT
 *
 * Plan the system around home and project, in a tmpfs of the stage and read-only mounts of the
 * system, before an agent's trees are attached.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/sandbox/plan.h"
#include "ga/sys/fd.h"
#include "sandbox-internal.h"

#define RUN_DIR "/run/git-agent"

/* Whole trees of configuration, and the top levels of /opt, which is too large to be walked at
 * every start. */
static const struct {
	const char *path;
	unsigned depth;
	/* files only, no programs that check owners (git: "dubious ownership") */
	bool disown;
} roots[] = { { "/etc", 16, true }, { "/usr/local/etc", 16, true }, { "/opt", 3, false } };

struct walk {
	struct ga_strv *files, *dirs;
	unsigned depth; /* levels left */
};

static int walk(struct walk *w, int parent, const char *name, const char *path,
		struct ga_error *err);

static int visit(struct walk *w, int dir, const char *name, const char *path, struct ga_error *err)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT
			       ? 0
			       : ga_fail_errno(err, GA_ESTART, errno, "cannot stat '%s'", path);
	if (S_ISDIR(st.st_mode) && st.st_mode & S_IXOTH)
		return w->depth ? walk(w, dir, name, path, err) : 0;
	if (S_ISDIR(st.st_mode))
		ga_strv_push(w->dirs, path);
	else if (S_ISSOCK(st.st_mode) || (!S_ISLNK(st.st_mode) && !(st.st_mode & S_IROTH)))
		ga_strv_push(w->files, path);
	return 0;
}

static int walk(struct walk *w, int parent, const char *name, const char *path,
		struct ga_error *err)
{
	cleanup_dir DIR *d = ga_dir_of(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
					      O_NONBLOCK | O_CLOEXEC));
	struct dirent *e;
	int rc = 0;

	if (!d) {
		/* hide unreadable directories */
		ga_strv_push(w->dirs, path);
		return 0;
	}
	w->depth--;
	while (!rc && (e = ga_dir_next(d))) {
		cleanup_free char *at = NULL;

		/* ignore symlinks: their target is walked as well, or not shown */
		if (e->d_type == DT_LNK)
			continue;
		at = ga_path_join(path, e->d_name);
		rc = visit(w, dirfd(d), e->d_name, at, err);
	}
	if (!rc && errno)
		ga_strv_push(w->dirs, path);
	w->depth++;
	return rc;
}

/* Find, for uid 0, which modes do not stop, files and directories of the system's configuration
 * that others cannot read. */
static int sandbox_private_files(struct ga_strv *files, struct ga_strv *dirs, struct ga_error *err)
{
	for (size_t i = 0; i < GA_NELEMS(roots); i++) {
		struct walk w = { files, dirs, roots[i].depth };
		struct stat st;

		if (!lstat(roots[i].path, &st) && S_ISDIR(st.st_mode) &&
		    visit(&w, AT_FDCWD, roots[i].path, roots[i].path, err))
			return -1;
	}
	ga_strv_sort_unique(files);
	ga_strv_sort_unique(dirs);
	return 0;
}

/* The directories to search, each shown by its own mount, so that files added later can be kept
 * from uid 0 as well. */
static void sandbox_disowned(struct ga_strv *ret)
{
	for (size_t i = 0; i < GA_NELEMS(roots); i++) {
		cleanup_free char *real = sandbox_real(roots[i].path);
		struct stat st;

		/* in a user namespace, uid 0 does not own the system's files */
		if (roots[i].disown && !strcmp(real, roots[i].path) && !lstat(real, &st) &&
		    S_ISDIR(st.st_mode) && st.st_uid == 0)
			ga_strv_push(ret, real);
	}
}

static bool exists(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

static const char *const data_dirs[] = {
#define X(path, readers) path,
#include "system-data.def"
#undef X
};

/* Is it a directory that only its owner can write? */
static bool is_data(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode) && !(st.st_mode & 022) &&
	       (!st.st_uid || st.st_uid != geteuid());
}

/* Add an operation with the same path on the host and inside. */
static void at_same_place(struct ga_buf *b, const char *op, const char *path)
{
	cleanup_free char *dest = ga_strf("root%s", path);

	sandbox_words(b, op, path, dest, NULL);
}

/* Uid 0 owns files that only root may read, and an owner needs no capability to read. So show those
 * directories as owned by nobody, if the kernel supports that, and mask their current files as
 * well. Each is in a system directory, or is one. */
static void disown_private(const struct ga_strv *dirs, struct ga_buf *b)
{
	for (size_t i = 0; i < dirs->n; i++)
		sandbox_words(b, "disown", dirs->v[i], NULL);
}

static bool is_system_dir(const char *path)
{
	for (size_t i = 0; sandbox_system_dirs[i]; i++)
		if (!strcmp(sandbox_system_dirs[i], path))
			return true;
	return false;
}

/* A user's symlink that leads there replaces it. */
static void add_brew(const struct ga_spec *s, const char *dir, struct ga_buf *b)
{
	cleanup_free char *place = ga_spec_place(s, dir), *dest = ga_strf("root%s", place);

	/* below home: see the toolchain table */
	if (exists(dir) && !ga_path_inside(place, s->home))
		sandbox_words(b, "bind-ro", dir, dest, NULL);
}

static int add_system(const struct ga_spec *s, struct ga_buf *b, struct ga_error *err)
{
	cleanup_strv struct ga_strv disowned = GA_STRV_INIT;

	if (geteuid() == 0)
		sandbox_disowned(&disowned);
	disown_private(&disowned, b);
	for (size_t i = 0; sandbox_system_dirs[i]; i++)
		if (exists(sandbox_system_dirs[i]))
			at_same_place(b, "bind-ro", sandbox_system_dirs[i]);
	for (size_t i = 0; i < disowned.n; i++)
		if (!is_system_dir(disowned.v[i]))
			at_same_place(b, "bind-ro", disowned.v[i]);
	for (size_t i = 0; i < GA_NELEMS(data_dirs); i++)
		if (is_data(data_dirs[i]))
			at_same_place(b, "bind-ro", data_dirs[i]);
	for (size_t i = 0; exists(sandbox_brew_dirs[0]) && sandbox_brew_dirs[i]; i++)
		add_brew(s, sandbox_brew_dirs[i], b);
	for (size_t i = 0; sandbox_root_names[i]; i++) {
		cleanup_free char *path = ga_path_join("/", sandbox_root_names[i]);
		cleanup_free char *dest = ga_strf("root%s", path);
		char target[4096];
		ssize_t n = readlink(path, target, sizeof(target) - 1);

		if (n >= 0) {
			target[n] = '\0';
			sandbox_words(b, "symlink", target, dest, NULL);
		} else if (errno == EINVAL) {
			sandbox_words(b, "bind-ro", path, dest, NULL);
		} else if (errno != ENOENT) {
			return ga_fail_errno(err, GA_ESTART, errno, "cannot stat '%s'", path);
		}
	}
	return 0;
}

static bool on_the_way(const struct ga_spec *s, const char *dir)
{
	for (size_t i = 0; i < s->host.ro.n; i++)
		if (ga_path_inside(s->host.ro.v[i], dir))
			return true;
	for (size_t i = 0; i < s->host.rw.n; i++)
		if (ga_path_inside(s->host.rw.v[i], dir))
			return true;
	return ga_path_inside(s->project, dir) || ga_path_inside(s->home, dir);
}

static int mask_private(const struct ga_spec *s, struct ga_buf *b, struct ga_error *err)
{
	cleanup_strv struct ga_strv files = GA_STRV_INIT, dirs = GA_STRV_INIT;

	if (geteuid() != 0)
		return 0;
	if (sandbox_private_files(&files, &dirs, err))
		return -1;
	for (size_t i = 0; i < files.n; i++) {
		cleanup_free char *dest = ga_strf("root%s", files.v[i]);

		sandbox_words(b, "mask-file", dest, NULL);
	}
	for (size_t i = 0; i < dirs.n; i++) {
		cleanup_free char *dest = ga_strf("root%s", dirs.v[i]);

		/* replace an unreadable parent of a shown path by one that can hold mount points */
		if (on_the_way(s, dirs.v[i]))
			sandbox_words(b, "tmpfs", "0755", dest, NULL);
		else
			sandbox_words(b, "mask-dir", dest, NULL);
	}
	return 0;
}

/* The standard devices, none that gives access to the machine. */
static void add_dev(struct ga_buf *b)
{
	static const char *const nodes[] = { "/dev/null",   "/dev/zero",    "/dev/full",
					     "/dev/random", "/dev/urandom", "/dev/tty" };
	static const char *const links[][2] = {
		{ "/proc/self/fd", "root/dev/fd" },	    { "/proc/self/fd/0", "root/dev/stdin" },
		{ "/proc/self/fd/1", "root/dev/stdout" }, { "/proc/self/fd/2", "root/dev/stderr" },
		{ "/proc/kcore", "root/dev/core" },	    { "pts/ptmx", "root/dev/ptmx" },
	};

	for (size_t i = 0; i < GA_NELEMS(nodes); i++)
		at_same_place(b, "device", nodes[i]);
	for (size_t i = 0; i < GA_NELEMS(links); i++)
		sandbox_words(b, "symlink", links[i][0], links[i][1], NULL);
	sandbox_words(b, "devpts", "root/dev/pts", "tmpfs", "1777", "root/dev/shm", NULL);
}

static void add_fresh(struct ga_buf *b)
{
	sandbox_words(b, "tmpfs", "1777", "root/tmp", "tmpfs", "1777", "root/var/tmp", "tmpfs",
		      "0755", "root/run", "symlink", "../run", "root/var/run", NULL);
}

/* Files that are often symlinks into /run: show their targets, as a symlink cannot be a mount
 * point. */
static void add_resolver(const struct ga_spec *s, struct ga_buf *b)
{
	static const char *const names[] = { "/etc/resolv.conf", "/etc/hosts",
					     "/etc/nsswitch.conf" };

	for (size_t i = 0; i < GA_NELEMS(names); i++) {
		cleanup_free char *real = sandbox_real(names[i]);
		struct stat st;

		if (!sandbox_shown_by(s, real) && !ga_path_inside(real, s->home) &&
		    !ga_path_inside(real, s->project) && !stat(real, &st) &&
		    S_ISREG(st.st_mode))
			at_same_place(b, "bind-ro", real);
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Parents come before children. */
static void add_mounts(const struct ga_spec *s, struct ga_buf *b)
{
	cleanup_free const char **v = ga_calloc(s->host.ro.n + s->host.rw.n + 1, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < s->host.ro.n; i++)
		v[n++] = s->host.ro.v[i];
	for (size_t i = 0; i < s->host.rw.n; i++)
		v[n++] = s->host.rw.v[i];
	qsort(v, n, sizeof(char *), by_text);
	for (size_t i = 0; i < n; i++)
		/* those below home are in the plan for home */
		if (!ga_path_inside(v[i], s->home))
			at_same_place(b, ga_strv_has(&s->host.rw, v[i]) ? "bind-rw" : "bind-ro",
				      v[i]);
}

/* Mask possible credentials in environments outside of home. */
static void mask_environments(const struct ga_spec *s, struct ga_buf *b)
{
	cleanup_strv struct ga_strv shown = GA_STRV_INIT, masks = GA_STRV_INIT;

	for (size_t i = 0; i < s->host.ro.n; i++)
		if (!ga_path_inside(s->host.ro.v[i], s->home))
			ga_strv_push(&shown, s->host.ro.v[i] + 1);
	sandbox_tool_masks("/", &shown, &masks);
	for (size_t i = 0; i < masks.n; i += 2) {
		cleanup_free char *dest = ga_path_join("root", masks.v[i + 1]);

		sandbox_words(b, masks.v[i], dest, NULL);
	}
}

/* If the home directory is reached through a symlink (/home -> /usr/home), a system directory might
 * show the real one. */
static void hide_real_home(const struct ga_spec *s, struct ga_buf *b)
{
	cleanup_free char *real = sandbox_real(s->home), *dest = ga_strf("root%s", real);

	if (strcmp(real, s->home) && sandbox_shown_by(s, real))
		sandbox_words(b, "mask-dir", dest, NULL);
}

/* A separate mount cannot be renamed and replaced. The object directories are attached once the
 * repositories are known. */
static void add_run_dir(const char *init, struct ga_buf *b)
{
	sandbox_words(b, "tmpfs", "0755", "root" RUN_DIR, "bind-ro", init, "root" GA_INIT_INSIDE,
		      "dir", "0755", "root" GA_ODB_INSIDE, "read-only", "root" RUN_DIR, NULL);
}

int ga_spec_plan_system(const struct ga_spec *s, struct ga_buf *b, struct ga_error *err)
{
	if (ga_spec_check(s, err))
		return -1;
	sandbox_words(b, GA_PLAN_MAGIC, s->stage_dir, NULL);
	if (add_system(s, b, err))
		return -1;
	add_dev(b);
	add_fresh(b);
	return 0;
}

int ga_spec_plan_root(const struct ga_spec *s, const char *init, struct ga_buf *b,
		      struct ga_error *err)
{
	size_t before = b->len;

	if (mask_private(s, b, err))
		return -1;
	add_resolver(s, b);
	add_mounts(s, b);
	for (size_t i = 0; i < s->host.devices.n; i++)
		at_same_place(b, "device", s->host.devices.v[i]);
	mask_environments(s, b);
	sandbox_make_links(s, false, b);
	hide_real_home(s, b);
	add_run_dir(init, b);
	if (sandbox_starts_early(s))
		sandbox_words(b, "sandbox", NULL);
	if (b->len - before > GA_PLAN_MAX_BYTES / 2)
		return ga_fail(err, GA_ESTART, "too many system files to hide");
	return 0;
}
