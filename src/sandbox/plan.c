/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/sandbox/plan.h"
#include "ga/sys/fd.h"
#include "sandbox-internal.h"

static bool exists(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

/* Uid 0 owns core_pattern and similar files, which it could write without any capability (a write
 * to /proc/scsi/scsi tells the kernel that a disk is gone), and lists that tell about the host; for
 * other users these are closed already. Each mount makes bwrap read the whole mount table, so none
 * is made without need. */
static void add_proc(const char *empty_file, struct ga_buf *b)
{
	static const char *const read_only[] = { "/proc/sys", "/proc/sysrq-trigger", "/proc/irq",
						 "/proc/bus", "/proc/acpi",	     "/proc/fs",
						 "/proc/scsi", "/proc/asound",	     "/proc/driver",
						 "/proc/dynamic_debug", "/proc/latency_stats" };
	static const char *const hidden[] = { "/proc/keys", "/proc/timer_list", "/proc/kcore",
					      "/proc/kmsg" };
	bool root = geteuid() == 0;

	sandbox_words(b, "--proc", "/proc", NULL);
	for (size_t i = 0; root && i < GA_NELEMS(read_only); i++)
		if (exists(read_only[i]))
			sandbox_words(b, "--ro-bind", read_only[i], read_only[i], NULL);
	/* keyrings have no namespace: the user's show in /proc/keys */
	for (size_t i = 0; i < (root ? GA_NELEMS(hidden) : 1); i++)
		if (exists(hidden[i]))
			sandbox_words(b, "--ro-bind", empty_file, hidden[i], NULL);
}

void ga_spec_bwrap_args(const struct ga_spec *s, struct ga_buf *ret)
{
	cleanup_free char *empty_file = ga_path_join(s->stage_dir, GA_PLAN_EMPTY_FILE);
	cleanup_free char *root = ga_path_join(s->stage_dir, "root");

	sandbox_words(ret, "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
		      "--unshare-cgroup", NULL);
	if (!s->network)
		sandbox_words(ret, "--unshare-net", NULL);
	if (!s->nested)
		sandbox_words(ret, "--disable-userns", NULL);
	sandbox_words(ret, "--cap-drop", "ALL", "--as-pid-1", NULL);
	/* a bind that allows devices; everything except the nodes of /dev is mounted nodev
	 * already */
	sandbox_words(ret, "--dev-bind", root, "/", NULL);
	add_proc(empty_file, ret);
	sandbox_words(ret, "--remount-ro", "/", "--chdir", "/", NULL);
}

static void count(struct ga_buf *b, size_t n)
{
	ga_buf_addf(b, "%zu", n);
	ga_buf_addch(b, '\0');
}

static int add_project(const struct ga_spec *s, const char *dest, struct ga_buf *b,
		       struct ga_error *err)
{
	cleanup_free char *git = ga_path_join(dest, ".git");

	if (!s->lowers.n || s->lowers.n > GA_PLAN_MAX_LAYERS)
		return ga_fail(err, GA_ESTART, "the project cannot have %zu layers", s->lowers.n);
	sandbox_words(b, "overlay", dest, s->upper, s->work, NULL);
	count(b, s->lowers.n);
	for (size_t i = 0; i < s->lowers.n; i++)
		ga_buf_add0(b, s->lowers.v[i]);
	if (s->git.lower)
		sandbox_words(b, "overlay", git, s->git.upper, s->git.work, "1", s->git.lower,
			      NULL);
	else
		sandbox_words(b, "bind-rw", s->git.upper, git, NULL);
	return 0;
}

/* Is it still the same directory, without a symlink in its path? A merged branch could have added
 * one. */
static bool still_there(const struct ga_spec *s, const struct ga_shared *sh)
{
	const char *rel = ga_path_below(sh->lower, s->project);
	cleanup_close int root = -1, fd = -1;
	struct stat st;

	if (!rel)
		return !stat(sh->lower, &st) && S_ISDIR(st.st_mode);
	root = open(s->project, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root >= 0)
		fd = ga_openat_beneath(root, rel, O_PATH | O_DIRECTORY, 0);
	return fd >= 0;
}

static int by_rel(const void *a, const void *b)
{
	const struct ga_shared *const *x = a, *const *y = b;

	return strcmp((*x)->rel, (*y)->rel);
}

static int add_shared(const struct ga_spec *s, const char *project, struct ga_buf *b,
		      struct ga_error *err)
{
	cleanup_free const struct ga_shared **v = ga_calloc(s->n_shared + 1, sizeof(*v));

	for (size_t i = 0; i < s->n_shared; i++)
		v[i] = &s->shared[i];
	/* parents before children */
	qsort(v, s->n_shared, sizeof(struct ga_shared *), by_rel);
	for (size_t i = 0; i < s->n_shared; i++) {
		cleanup_free char *dest = ga_path_join(project, v[i]->rel);

		if (!ga_path_relative_ok(v[i]->rel))
			return ga_fail(err, GA_ESTART, "'%s' is no path inside a project",
				       v[i]->rel);
		if (!still_there(s, v[i]))
			continue;
		sandbox_words(b, "overlay", dest, v[i]->upper, v[i]->work, v[i]->mask ? "2" : "1",
			      NULL);
		if (v[i]->mask)
			ga_buf_add0(b, v[i]->mask);
		ga_buf_add0(b, v[i]->lower);
	}
	return 0;
}

static int by_project(const void *a, const void *b)
{
	const struct ga_spec *const *x = a, *const *y = b;

	return strcmp((*x)->project, (*y)->project);
}

/* The layers of a project at `dest`, then those of its submodules in it. */
static int add_layers(const struct ga_spec *s, const char *dest, struct ga_buf *b,
		      struct ga_error *err)
{
	cleanup_free const struct ga_spec **v = ga_calloc(s->n_parts + 1, sizeof(*v));

	if (add_project(s, dest, b, err) || add_shared(s, dest, b, err))
		return -1;
	for (size_t i = 0; i < s->n_parts; i++)
		v[i] = &s->parts[i];
	qsort(v, s->n_parts, sizeof(struct ga_spec *), by_project);
	for (size_t i = 0; i < s->n_parts; i++) {
		const char *rel = ga_path_below(v[i]->project, s->project);
		cleanup_free char *sub = ga_path_join(dest, rel ? rel : "");

		if (!rel || !ga_path_relative_ok(rel))
			return ga_fail(err, GA_ESTART, "'%s' is no path inside a project",
				       v[i]->project);
		if (add_layers(v[i], sub, b, err))
			return -1;
	}
	return 0;
}

/* Show a host directory below home at the same place in the agents' home. */
static void add_at_home(const struct ga_spec *s, const char *op, const char *rel, struct ga_buf *b)
{
	cleanup_free char *dest = ga_path_join("home", rel), *source = ga_path_join(s->home, rel);

	sandbox_words(b, "mountpoint", dest, op, source, dest, NULL);
}

/* Bind each directory above the project onto itself, since a mount point cannot be renamed: a
 * rename would move the project, and later writes to the old path would go to the agents' home.
 * Comes before the toolchains, because these binds are recursive. */
static void fix_parents(const char *project, struct ga_buf *b)
{
	cleanup_free char *dest = ga_path_join("home", project);

	sandbox_words(b, "mountpoint", dest, NULL);
	for (char *p = strchr(dest + strlen("home/"), '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		sandbox_words(b, "move", dest, dest, NULL);
		*p = '/';
	}
}

/* The masked files of one directory: DEST COUNT NAME... */
static void hide_in(const char *parent, const struct ga_strv *masks, struct ga_buf *b)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	cleanup_free char *dest = ga_path_join("home", parent), *count = NULL;

	for (size_t i = 0; i < masks->n; i += 2) {
		cleanup_free char *in = ga_path_parent(masks->v[i + 1]);

		if (!strcmp(masks->v[i], "mask-file") && !strcmp(in, parent))
			ga_strv_push(&names, ga_path_base(masks->v[i + 1]));
	}
	count = ga_strf("%zu", names.n);
	sandbox_words(b, "hide", dest, count, NULL);
	for (size_t i = 0; i < names.n; i++)
		ga_buf_add0(b, names.v[i]);
}

/* Mask files that may hold credentials in these directories, before anything is mounted in them. A
 * single shown file has the agents' home around it. */
static void hide_credentials(const struct ga_spec *s, const struct ga_strv *shown, struct ga_buf *b)
{
	cleanup_strv struct ga_strv masks = GA_STRV_INIT, parents = GA_STRV_INIT;

	sandbox_tool_masks(s->home, shown, &masks);
	for (size_t i = 0; i < masks.n; i += 2)
		if (!strcmp(masks.v[i], "mask-file") && !ga_strv_has(shown, masks.v[i + 1]))
			ga_strv_take(&parents, ga_path_parent(masks.v[i + 1]));
	/* parents before children */
	ga_strv_sort_unique(&parents);
	for (size_t i = 0; i < parents.n; i++)
		hide_in(parents.v[i], &masks, b);
	for (size_t i = 0; i < masks.n; i += 2) {
		cleanup_free char *dest = ga_path_join("home", masks.v[i + 1]);

		if (strcmp(masks.v[i], "mask-file") || ga_strv_has(shown, masks.v[i + 1]))
			sandbox_words(b, masks.v[i], dest, NULL);
	}
}

void ga_spec_plan_home(const struct ga_spec *s, struct ga_buf *b)
{
	const char *project = ga_path_below(s->project, s->home);
	cleanup_strv struct ga_strv shown = GA_STRV_INIT;

	if (s->home_dir.upper)
		sandbox_words(b, "overlay", "home", s->home_dir.upper, s->home_dir.work, "1",
			      s->home_dir.source, NULL);
	else
		sandbox_words(b, "bind-rw", s->home_dir.source, "home", NULL);
	sandbox_make_links(s, true, b);
	if (project)
		fix_parents(project, b);
	for (size_t i = 0; i < s->host.tools.n; i++)
		/* a toolchain in the project is shown with it */
		if (!project || !ga_path_inside(s->host.tools.v[i], project))
			add_at_home(s, "bind-ro", s->host.tools.v[i], b);
	hide_credentials(s, &s->host.tools, b);
	for (size_t i = 0; i < s->host.ro.n; i++) {
		const char *rel = ga_path_below(s->host.ro.v[i], s->home);

		if (!rel)
			continue;
		add_at_home(s, "bind-ro", rel, b);
		ga_strv_push(&shown, rel);
	}
	hide_credentials(s, &shown, b);
	for (size_t i = 0; i < s->host.rw.n; i++) {
		const char *rel = ga_path_below(s->host.rw.v[i], s->home);

		if (rel)
			add_at_home(s, "bind-rw", rel, b);
	}
}

void ga_spec_home_places(const struct ga_spec *s, struct ga_strv *ret)
{
	cleanup_buf struct ga_buf plan = GA_BUF_INIT;
	const char *word, *dest;

	ga_spec_plan_home(s, &plan);
	for (size_t pos = 0; (word = ga_buf_next0(&plan, &pos));)
		if (!strcmp(word, "mountpoint") && (dest = ga_buf_next0(&plan, &pos)))
			ga_strv_push(ret, dest + strlen("home/"));
	for (size_t i = 0; i + 1 < s->kept.n; i += 2)
		ga_strv_push(ret, s->kept.v[i]);
	for (size_t i = 0; i < s->n_shown; i++) {
		const char *below = ga_path_below(s->shown[i].at, s->home);

		if (below)
			ga_strv_push(ret, below);
	}
}

static void add_objects(const char *host, struct ga_buf *b)
{
	cleanup_free char *inside = ga_spec_object_path(host);
	cleanup_free char *dest = ga_strf("odb%s", inside + strlen(GA_ODB_INSIDE));
	cleanup_free char *parent = ga_path_parent(host), *lfs = ga_path_join(parent, "lfs");
	cleanup_free char *alternates = ga_path_join(dest, "info/alternates");
	struct stat st;

	sandbox_words(b, "bind-ro", host, dest, NULL);
	/* alternates are listed already; these paths do not exist inside */
	sandbox_words(b, "mask-file", alternates, NULL);
	if (!lstat(lfs, &st)) {
		cleanup_free char *up = ga_path_parent(dest), *lfs_dest = ga_path_join(up, "lfs");

		sandbox_words(b, "bind-ro", lfs, lfs_dest, NULL);
	}
}

static void hide_object(const struct ga_spec *s, const char *file, struct ga_buf *b)
{
	for (size_t i = 0; i < s->object_dirs.n; i++) {
		const char *rel = ga_path_below(file, s->object_dirs.v[i]);
		cleanup_free char *inside = ga_spec_object_path(s->object_dirs.v[i]);
		cleanup_free char *dest = NULL;

		if (!rel)
			continue;
		dest = ga_strf("odb%s/%s", inside + strlen(GA_ODB_INSIDE), rel);
		sandbox_words(b, "mask-file", dest, NULL);
	}
}

/* Submodules may share alternates with the superproject. */
static void add_all_objects(const struct ga_spec *s, struct ga_strv *shown, struct ga_buf *b)
{
	for (size_t i = 0; i < s->object_dirs.n; i++) {
		if (ga_strv_has(shown, s->object_dirs.v[i]))
			continue;
		ga_strv_push(shown, s->object_dirs.v[i]);
		add_objects(s->object_dirs.v[i], b);
	}
	/* a submodule may share the superproject's */
	for (size_t i = 0; i < s->hidden_objects.n; i++)
		hide_object(s, s->hidden_objects.v[i], b);
	for (size_t i = 0; i < s->n_parts; i++)
		add_all_objects(&s->parts[i], shown, b);
}

/* Programs such as gpg check the modes of the directories above a socket: use the host's, or else
 * 0700. */
static unsigned mode_on_host(const char *path)
{
	struct stat st;

	return 0700 | (stat(path, &st) || !S_ISDIR(st.st_mode) ? 0 : st.st_mode & 0055);
}

/* Create the directories above `rel` in the stage's `tree`, with the modes they have on the host
 * below `top`. */
static void add_way(const char *tree, const char *top, const char *rel, struct ga_buf *b)
{
	for (const char *p = strchr(rel, '/'); p; p = strchr(p + 1, '/')) {
		cleanup_free char *part = ga_strndup(rel, (size_t)(p - rel));
		cleanup_free char *host = ga_path_join(top, part), *dest = ga_path_join(tree, part);

		ga_buf_add0(b, "dir");
		ga_buf_addf(b, "%04o", mode_on_host(host));
		ga_buf_addch(b, '\0');
		ga_buf_add0(b, dest);
	}
}

static void show_at(const struct ga_spec *s, const char *staged, const char *at, struct ga_buf *b)
{
	const char *below = ga_path_below(at, s->home);
	cleanup_free char *dest = below ? ga_path_join("home", below) : ga_strf("root%s", at);

	if (below) {
		add_way("home", s->home, below, b);
		sandbox_words(b, "file", dest, NULL);
	} else {
		add_way("root", "/", at + 1, b);
	}
	sandbox_words(b, "move", staged, dest, NULL);
}

static void add_odb(const struct ga_spec *s, struct ga_buf *b)
{
	cleanup_strv struct ga_strv shown = GA_STRV_INIT;

	sandbox_words(b, "tmpfs", "0755", "odb", NULL);
	add_all_objects(s, &shown, b);
	if (s->feedback)
		sandbox_words(b, "bind-ro", s->feedback, "odb/feedback", NULL);
	for (size_t i = 0; i < s->n_shown; i++) {
		const struct ga_shown *sh = &s->shown[i];
		cleanup_free char *at = ga_strf("odb/shown/%zu", i);

		if (sh->source) {
			sandbox_words(b, "bind-ro", sh->source, at, NULL);
			continue;
		}
		sandbox_words(b, "text", at, NULL);
		count(b, sh->text.len);
		ga_buf_add(b, sh->text.ptr, sh->text.len);
	}
	sandbox_words(b, "read-only", "odb", "move", "odb", "root" GA_ODB_INSIDE, NULL);
	for (size_t i = 0; i < s->n_shown; i++) {
		cleanup_free char *at = ga_strf("odb/shown/%zu", i);

		show_at(s, at, s->shown[i].at, b);
	}
}

/* Each mount point is below home, where no link is followed. */
static void add_kept(const struct ga_spec *s, struct ga_buf *b)
{
	for (size_t i = 0; i + 1 < s->kept.n; i += 2) {
		cleanup_free char *dest = ga_path_join("home", s->kept.v[i]);

		sandbox_words(b, "mountpoint", dest, "bind-rw", s->kept.v[i + 1], dest, NULL);
	}
}

/* Comes last, because nothing may be mounted afterwards in a place that an agent can write. */
static void add_trees(const struct ga_spec *s, struct ga_buf *b)
{
	const char *below = ga_path_below(s->project, s->home);
	cleanup_free char *home = ga_strf("root%s", s->home);
	cleanup_free char *project = ga_strf("root%s", s->project);

	if (below) {
		cleanup_free char *dest = ga_path_join("home", below);

		sandbox_words(b, "move", "project", dest, NULL);
	}
	sandbox_words(b, "move", "home", home, NULL);
	/* below home it is part of home's plan */
	if (!ga_path_inside(s->project, s->home))
		sandbox_words(b, "move", "project", project, NULL);
}

int ga_spec_plan_trees(const struct ga_spec *s, struct ga_buf *ret, struct ga_error *err)
{
	size_t before = ret->len;

	if (ga_spec_check(s, err) || add_layers(s, "project", ret, err))
		return -1;
	add_kept(s, ret);
	add_odb(s, ret);
	add_trees(s, ret);
	if (!sandbox_starts_early(s))
		ga_buf_add0(ret, "sandbox");
	ga_buf_add0(ret, "end");
	if (ret->len - before > GA_PLAN_MAX_BYTES / 2)
		return ga_fail(err, GA_ESTART, "too many directories to mount");
	return 0;
}
