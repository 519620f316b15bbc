/* SPDX-License-Identifier: MIT
 *
 * No destination below lies in a tree an agent can write: home and project come
 * finished from the stage, and bwrap, which follows symlinks in destinations,
 * only ever names their roots.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/path.h"
#include "ga/plan.h"
#include "ga/quote.h"
#include "sandbox-internal.h"

#define RUN_DIR "/run/git-agent"
#define MAX_ARGS 9000 /* bwrap's own limit */

struct args {
	struct ga_buf *b;
	size_t n;
	const struct ga_spec *s;
	char *empty_file, *empty_dir; /* in the stage */
};

static void add(struct args *a, ...) __attribute__((sentinel));

static void add(struct args *a, ...)
{
	const char *word;
	va_list ap;

	va_start(ap, a);
	while ((word = va_arg(ap, const char *)) != NULL) {
		ga_buf_add0(a->b, word);
		a->n++;
	}
	va_end(ap);
}

static bool exists(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

static bool is_fresh(const char *path)
{
	return !strcmp(path, "/tmp") || !strcmp(path, "/var") || !strcmp(path, "/var/tmp") ||
	       !strcmp(path, "/run");
}

/* The directories on the way to a mount, which bwrap would make with mode 0700. */
static void add_parents(struct args *a, const char *path)
{
	cleanup_free char *at = ga_strdup(path);

	for (char *p = strchr(at + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (!sandbox_shown_by(a->s, at) && !is_fresh(at))
			add(a, "--perms", "0755", "--dir", at, NULL);
		*p = '/';
	}
}

static void add_namespaces(struct args *a)
{
	add(a, "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup",
	    NULL);
	if (!a->s->network)
		add(a, "--unshare-net", NULL);
	add(a, "--disable-userns", "--cap-drop", "ALL", "--as-pid-1", NULL);
}

static int add_system(struct args *a, struct ga_error *err)
{
	for (size_t i = 0; sandbox_system_dirs[i]; i++) {
		const char *dir = sandbox_system_dirs[i];

		if (!exists(dir))
			continue;
		add_parents(a, dir);
		add(a, "--ro-bind", dir, dir, NULL);
	}
	for (size_t i = 0; sandbox_root_names[i]; i++) {
		cleanup_free char *path = ga_path_join("/", sandbox_root_names[i]);
		char target[4096];
		ssize_t n = readlink(path, target, sizeof(target) - 1);

		if (n >= 0) {
			target[n] = '\0';
			add(a, "--symlink", target, path, NULL);
		} else if (errno == EINVAL) {
			add(a, "--ro-bind", path, path, NULL);
		} else if (errno != ENOENT) {
			return ga_fail_errno(err, GA_ESTART, errno, "cannot look at '%s'", path);
		}
	}
	return 0;
}

static bool on_the_way(const struct ga_spec *s, const char *dir)
{
	for (size_t i = 0; i < s->ro.n; i++)
		if (ga_path_inside(s->ro.v[i], dir))
			return true;
	return ga_path_inside(s->project, dir) || ga_path_inside(s->home, dir);
}

/* Uid 0 owns what the system keeps from everybody else, and an owner needs no
 * capability to read. */
static int mask_private(struct args *a, struct ga_error *err)
{
	cleanup_strv struct ga_strv files = GA_STRV_INIT, dirs = GA_STRV_INIT;

	if (geteuid() != 0)
		return 0;
	if (sandbox_private_files(&files, &dirs, err))
		return -1;
	for (size_t i = 0; i < files.n; i++)
		add(a, "--ro-bind", a->empty_file, files.v[i], NULL);
	for (size_t i = 0; i < dirs.n; i++) {
		/* a closed directory on the way to what is shown: one that takes mount points */
		if (on_the_way(a->s, dirs.v[i]))
			add(a, "--perms", "0755", "--tmpfs", dirs.v[i], NULL);
		else
			add(a, "--ro-bind", a->empty_dir, dirs.v[i], NULL);
	}
	return 0;
}

/* To uid 0 belong core_pattern and its like, which it may write without any
 * capability, and lists that tell about the host; to anybody else these
 * are closed already. Each mount costs bwrap a reading of the whole mount
 * table, so none is made without need. */
static void add_proc(struct args *a)
{
	static const char *const read_only[] = { "/proc/sys", "/proc/sysrq-trigger", "/proc/irq",
						 "/proc/bus", "/proc/acpi",	     "/proc/fs" };
	static const char *const hidden[] = { "/proc/keys", "/proc/timer_list", "/proc/kcore",
					      "/proc/kmsg" };
	bool root = geteuid() == 0;

	add(a, "--proc", "/proc", NULL);
	for (size_t i = 0; root && i < GA_NELEMS(read_only); i++)
		if (exists(read_only[i]))
			add(a, "--ro-bind", read_only[i], read_only[i], NULL);
	/* the user's keyrings have no namespace and show in /proc/keys */
	for (size_t i = 0; i < (root ? GA_NELEMS(hidden) : 1); i++)
		if (exists(hidden[i]))
			add(a, "--ro-bind", a->empty_file, hidden[i], NULL);
}

static void add_fresh(struct args *a)
{
	add(a, "--dev", "/dev", "--perms", "1777", "--tmpfs", "/dev/shm", NULL);
	add(a, "--perms", "1777", "--tmpfs", "/tmp", NULL);
	add(a, "--perms", "0755", "--dir", "/var", "--perms", "1777", "--tmpfs", "/var/tmp", NULL);
	add(a, "--perms", "0755", "--tmpfs", "/run", "--symlink", "../run", "/var/run", NULL);
}

/* Files that are symlinks into /run on many systems: what they lead to, at its
 * own place, as nothing can be mounted on a symlink. */
static void add_resolver(struct args *a)
{
	static const char *const names[] = { "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf" };

	for (size_t i = 0; i < GA_NELEMS(names); i++) {
		cleanup_free char *real = sandbox_real(names[i]);
		struct stat st;

		if (sandbox_shown_by(a->s, real) || stat(real, &st) || !S_ISREG(st.st_mode))
			continue;
		add_parents(a, real);
		add(a, "--ro-bind", real, real, NULL);
	}
}

static void add_read_only(struct args *a)
{
	for (size_t i = 0; i < a->s->ro.n; i++) {
		const char *dir = a->s->ro.v[i];

		/* below home the stage has put it */
		if (ga_path_inside(dir, a->s->home))
			continue;
		add_parents(a, dir);
		add(a, "--ro-bind", dir, dir, NULL);
	}
}

/* Where the home directory is reached through a symlink (/home -> /usr/home),
 * a system directory may show the real one. */
static void hide_real_home(struct args *a)
{
	cleanup_free char *real = sandbox_real(a->s->home);

	if (strcmp(real, a->s->home) && sandbox_shown_by(a->s, real))
		add(a, "--perms", "0755", "--tmpfs", real, "--remount-ro", real, NULL);
}

static void add_objects(struct args *a, size_t i)
{
	const char *host = a->s->object_dirs.v[i];
	cleanup_free char *inside = ga_spec_object_path(i);
	cleanup_free char *parent = ga_path_parent(host), *lfs = ga_path_join(parent, "lfs");
	cleanup_free char *alternates = ga_path_join(host, "info/alternates");

	add(a, "--ro-bind", host, inside, NULL);
	if (exists(alternates)) {
		cleanup_free char *dest = ga_path_join(inside, "info/alternates");

		/* the list is complete already, and these paths mean nothing inside */
		add(a, "--ro-bind", a->empty_file, dest, NULL);
	}
	if (exists(lfs)) {
		cleanup_free char *up = ga_path_parent(inside), *dest = ga_path_join(up, "lfs");

		add(a, "--ro-bind", lfs, dest, NULL);
	}
}

/* A mount of its own, so that it cannot be renamed away and replaced. */
static void add_run_dir(struct args *a, const char *init)
{
	add(a, "--perms", "0755", "--tmpfs", RUN_DIR, "--ro-bind", init, GA_INIT_INSIDE, NULL);
	if (a->s->object_dirs.n)
		add(a, "--perms", "0755", "--dir", RUN_DIR "/odb", NULL);
	for (size_t i = 0; i < a->s->object_dirs.n; i++) {
		cleanup_free char *inside = ga_spec_object_path(i), *up = ga_path_parent(inside);

		add(a, "--perms", "0755", "--dir", up, NULL);
		add_objects(a, i);
	}
	add(a, "--remount-ro", RUN_DIR, NULL);
}

static void add_trees(struct args *a)
{
	cleanup_free char *home = ga_path_join(a->s->stage_dir, "home");
	cleanup_free char *project = ga_path_join(a->s->stage_dir, "project");

	add_parents(a, a->s->home);
	add(a, "--bind", home, a->s->home, NULL);
	/* below home it came with it */
	if (ga_path_inside(a->s->project, a->s->home))
		return;
	add_parents(a, a->s->project);
	add(a, "--bind", project, a->s->project, NULL);
}

int ga_spec_bwrap_args(const struct ga_spec *s, const char *init, struct ga_buf *ret,
		       struct ga_error *err)
{
	cleanup_free char *file = ga_path_join(s->stage_dir, GA_PLAN_EMPTY_FILE);
	cleanup_free char *dir = ga_path_join(s->stage_dir, GA_PLAN_EMPTY_DIR);
	struct args a = { ret, 0, s, file, dir };

	if (ga_spec_check(s, err))
		return -1;
	add_namespaces(&a);
	if (add_system(&a, err) || mask_private(&a, err))
		return -1;
	add_proc(&a);
	add_fresh(&a);
	add_resolver(&a);
	add_read_only(&a);
	hide_real_home(&a);
	add_run_dir(&a, init);
	add_trees(&a);
	add(&a, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/", NULL);
	if (a.n > MAX_ARGS)
		return ga_fail(err, GA_ESTART, "too many directories to mount: bwrap takes %d arguments",
			       MAX_ARGS);
	return 0;
}
