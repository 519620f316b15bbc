/* SPDX-License-Identifier: MIT
 *
 * Roll back what git did of going from one commit to another when it was stopped in the middle: first
 * index entries, then files, path by path. What is neither as git found it nor as it writes it, nor a
 * beginning of that, is somebody else's and stays.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/strmap.h"
#include "ga/trace.h"
#include "landing.h"

/* What is at work. */
struct back {
	struct ga_repo *repo;
	const struct ga_gitconfig *config;
	const struct ga_changes *changes; /* old: as before; new: as git makes it */
	struct ga_strv names;   /* paths of the index, ... */
	struct ga_strmap index; /* ... and their place in ... */
	struct ga_entry *entries; /* ... this; mode 0: unmerged */
	char *skipped;          /* ... and this: is it marked skip-worktree? */
	char *scratch;          /* a directory of ours */
};

static void back_release(struct back *b)
{
	ga_strmap_release(&b->index);
	ga_strv_release(&b->names);
	free(b->entries);
	free(b->skipped);
	free(b->scratch);
}

static int run(const struct back *b, const char *const *args, const char *index,
	       const struct ga_buf *in, struct ga_buf *out, struct ga_error *err)
{
	cleanup_strv struct ga_strv config = GA_STRV_INIT;
	struct ga_git g = GA_GIT_INIT;

	ga_gitconfig_push_filters(b->config, ga_repo_info(b->repo)->workdir, &config);
	g.args = args;
	g.config = (const char *const *)config.v;
	g.work_tree = ga_repo_info(b->repo)->workdir;
	g.index_file = index;
	g.in = in ? in->ptr : NULL;
	g.in_len = in ? in->len : 0;
	g.out = out;
	return ga_git_ok(b->repo, &g, err);
}

/* ---- the index ------------------------------------------------------------------------------- */

/* A line of `git ls-files -s -v`: "LETTER MODE ID STAGE<tab>PATH". */
static bool add_entry(struct back *b, const char *line)
{
	const char *tab = strchr(line, '\t');
	struct ga_entry e = { 0 };
	char *end;

	if (!tab || line[0] == '\0' || line[1] != ' ')
		return false;
	e.mode = (uint32_t)strtoul(line + 2, &end, 8);
	if (*end != ' ' || tab - end < GA_OID_HEXSZ + 3 ||
	    !ga_oid_parse(end + 1, GA_OID_HEXSZ, &e.oid))
		return false;
	if (tab[-1] != '0')
		e = (struct ga_entry){ 0 };
	if (b->names.n && !strcmp(b->names.v[b->names.n - 1], tab + 1))
		return true;
	ga_strv_push(&b->names, tab + 1);
	b->entries[b->names.n - 1] = e;
	b->skipped[b->names.n - 1] = *line == 'S' || *line == 's';
	return true;
}

static int read_index(struct back *b, struct ga_error *err)
{
	static const char *const args[] = { "ls-files", "-s", "-v", "-z", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	size_t pos = 0, lines = 1;
	const char *line;

	if (run(b, args, NULL, NULL, &out, err))
		return -1;
	for (size_t i = 0; i < out.len; i++)
		lines += !out.ptr[i];
	b->entries = ga_calloc(lines, sizeof(*b->entries));
	b->skipped = ga_calloc(lines, 1);
	while ((line = ga_buf_next0(&out, &pos)))
		if (!add_entry(b, line))
			return ga_fail(err, GA_EFATAL, "cannot understand what git ls-files says");
	for (size_t i = 0; i < b->names.n; i++)
		ga_strmap_add(&b->index, b->names.v[i], strlen(b->names.v[i]), (uint32_t)i);
	return 0;
}

/* Is the index entry what git makes it? */
static bool is_new(const struct back *b, const struct ga_change *c)
{
	int32_t node = ga_strmap_first(&b->index, c->path, strlen(c->path));
	const struct ga_entry *e = node < 0 ? NULL : &b->entries[b->index.nodes[node].value];

	if (!e || !c->new.mode)
		return !e && !c->new.mode;
	return !e->mode || ga_entry_equal(e, &c->new);
}

static bool is_skipped(const struct back *b, const char *path)
{
	int32_t node = ga_strmap_first(&b->index, path, strlen(path));

	return node >= 0 && b->skipped[b->index.nodes[node].value];
}

static void add_line(struct ga_buf *lines, const struct ga_entry *e, const char *path)
{
	ga_buf_addf(lines, "%o %s\t", (unsigned)e->mode, GA_HEX(&e->oid));
	ga_buf_add0(lines, path);
}

/* What goes away before what comes: a file and a directory may have changed places. */
static int restore_index(struct back *b, struct ga_error *err)
{
	static const char *const args[] = { "update-index", "-z", "--index-info", NULL };
	static const struct ga_entry none;
	cleanup_buf struct ga_buf gone = GA_BUF_INIT, lines = GA_BUF_INIT;

	for (size_t i = 0; i < b->changes->n; i++) {
		const struct ga_change *c = &b->changes->v[i];

		if (is_new(b, c))
			add_line(c->old.mode ? &lines : &gone, c->old.mode ? &c->old : &none,
				 c->path);
	}
	ga_buf_add(&gone, lines.ptr, lines.len);
	return gone.len ? run(b, args, NULL, &gone, NULL, err) : 0;
}

/* In a sparse checkout git knows which files are not to be in the working tree. */
static int reapply_sparse(struct back *b, struct ga_error *err)
{
	static const char *const args[] = { "sparse-checkout", "reapply", NULL };

	if (!ga_gitconfig_bool(b->config, "core.sparsecheckout", false))
		return 0;
	if (run(b, args, NULL, NULL, NULL, err))
		return -1;
	ga_strmap_release(&b->index);
	ga_strv_release(&b->names);
	free(b->entries);
	free(b->skipped);
	b->index = (struct ga_strmap)GA_STRMAP_INIT;
	b->entries = NULL;
	b->skipped = NULL;
	return read_index(b, err);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* All of one side as files, written by git as a checkout writes them, below `name` in the scratch
 * directory. */
static int write_side(const struct back *b, const char *name, bool old, struct ga_error *err)
{
	static const char *const fill[] = { "update-index", "-z", "--index-info", NULL };
	cleanup_free char *index = ga_strf("%s/%s.index", b->scratch, name);
	cleanup_free char *prefix = ga_strf("--prefix=%s/%s/", b->scratch, name);
	cleanup_free char *dir = ga_path_join(b->scratch, name);
	const char *const write[] = { "checkout-index", "-a", "-q", prefix, NULL };
	cleanup_buf struct ga_buf lines = GA_BUF_INIT;

	for (size_t i = 0; i < b->changes->n; i++) {
		const struct ga_change *c = &b->changes->v[i];
		const struct ga_entry *e = old ? &c->old : &c->new;

		if (e->mode && e->mode != GA_MODE_GITLINK)
			add_line(&lines, e, c->path);
	}
	if (ga_mkdir_p(dir, 0700, err))
		return -1;
	return lines.len && (run(b, fill, index, &lines, NULL, err) ||
			     run(b, write, index, NULL, NULL, err)) ? -1 : 0;
}

/* Are the bytes of the file at `path` a beginning of those in the other directory? */
static bool is_beginning(int root, int side, const char *path)
{
	cleanup_(land_here_release) struct land_here now = { .fd = -1 }, whole = { .fd = -1 };
	char a[8192], w[8192];
	ssize_t n;

	if (land_open_here(root, path, &now) || now.fd < 0 || land_open_here(side, path, &whole) ||
	    whole.fd < 0 || now.size >= whole.size)
		return false;
	while ((n = read(now.fd, a, sizeof(a))) > 0)
		if (read(whole.fd, w, (size_t)n) != n || memcmp(a, w, (size_t)n) != 0)
			return false;
	return !n;
}

static int restore_file(const struct back *b, int root, int olds, int news,
			const struct ga_change *c, struct ga_strv *left, struct ga_error *err)
{
	struct land_copy copy = { .from = olds, .name = c->path, .part = ".git-agent-rollback" };
	struct land_look now, old, new;

	if (is_skipped(b, c->path) || c->old.mode == GA_MODE_GITLINK ||
	    c->new.mode == GA_MODE_GITLINK)
		return 0;
	land_sweep(root, c->path, copy.part);
	if (!land_look_here(olds, c->path, &old) || !land_look_here(news, c->path, &new))
		return ga_fail(err, GA_EFATAL, "cannot read what git wrote");
	if (!land_look_here(root, c->path, &now)) {
		ga_strv_push(left, c->path);
		return 0;
	}
	if (land_look_equal(&now, &old))
		return 0;
	if ((now.mode && !land_look_equal(&now, &new) && !is_beginning(root, news, c->path)) ||
	    (!now.mode && land_dir_here(root, c->path) && land_remove_hollow(root, c->path))) {
		ga_strv_push(left, c->path);
		return 0;
	}
	return old.mode ? land_put(&copy, root, c->path, &now, err)
			: land_remove(root, c->path, &now, err);
}

static int restore_files(const struct back *b, struct ga_strv *left, struct ga_error *err)
{
	cleanup_free char *old = ga_path_join(b->scratch, "old"), *new = ga_path_join(b->scratch, "new");
	cleanup_close int olds = -1, news = -1, root = land_open_root(b->repo, err);

	if (root < 0 || write_side(b, "old", true, err) || write_side(b, "new", false, err))
		return -1;
	olds = open(old, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	news = open(new, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (olds < 0 || news < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open '%s'", b->scratch);
	for (int comes = 0; comes < 2; comes++)
		for (size_t i = 0; i < b->changes->n; i++)
			if (comes == (b->changes->v[i].old.mode != 0) &&
			    restore_file(b, root, olds, news, &b->changes->v[i], left, err))
				return -1;
	return 0;
}

int land_roll_back(struct ga_repo *r, const struct ga_gitconfig *c, const struct record *rec,
		   const struct ga_oid *from, const struct ga_oid *to, struct ga_strv *left,
		   struct ga_error *err)
{
	static const char *const refresh[] = { "update-index", "-q", "--refresh", NULL };
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	__attribute__((cleanup(back_release))) struct back b = {
		.repo = r, .config = c, .changes = &changes, .names = GA_STRV_INIT,
		.scratch = ga_path_join(rec->dir, "rollback")
	};
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	struct ga_oid old;

	if ((!ga_oid_is_zero(from) && ga_commit_tree(r, from, &old, err)) ||
	    ga_tree_diff(r, ga_oid_is_zero(from) ? NULL : &old, to, &changes, err) ||
	    ga_rmtree_at(AT_FDCWD, b.scratch, err) || ga_mkdir_p(b.scratch, 0700, err) ||
	    land_remove_locks(r, rec, err) || read_index(&b, err) || restore_index(&b, err) ||
	    ga_fault_stop("land:index-restored", err) || reapply_sparse(&b, err) ||
	    restore_files(&b, left, err) || ga_rmtree_at(AT_FDCWD, b.scratch, err))
		return -1;
	/* of files that git cannot look at, the next git says so */
	(void)run(&b, refresh, NULL, NULL, NULL, &ignored);
	return 0;
}
