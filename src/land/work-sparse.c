/* SPDX-License-Identifier: MIT
 *
 * New paths that a sparse checkout leaves out: as in a merge of git's they come into the index, as
 * skip-worktree, and not into the working tree.
 */
#include <fcntl.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "work.h"

/* Does the path come into index and working tree, where there is nothing? */
static bool is_new(const struct work_path *p)
{
	return !p->hurdle && !p->index.mode && !p->intended && !p->work.mode && p->to_index.mode &&
	       p->is_seen && !p->seen.mode && ga_entry_equal(&p->to_index, &p->to_work);
}

/* Git applies the patterns to an index when it merges a tree into it and into the working tree: an
 * empty directory here. Nothing is written there, as the index has all of the tree before. */
static int apply_patterns(struct land *l, const char *index, const char *dir, struct ga_error *err)
{
	const char *args[] = { "read-tree", "-m", "-u", NULL, NULL };
	struct ga_git g = GA_GIT_INIT;
	struct ga_oid tree;

	if (land_index_tree(l, index, &tree, err))
		return -1;
	args[3] = GA_HEX(&tree);
	g.args = args;
	g.work_tree = dir;
	g.index_file = index;
	return ga_git_ok(l->repo, &g, err);
}

static int mark(struct land *l, const char *index, struct ga_error *err)
{
	static const char *const args[] = { "ls-files", "-z", "-v", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *line;
	size_t pos = 0;

	if (land_ask_git(l, args, index, NULL, &out, err))
		return -1;
	while ((line = ga_buf_next0(&out, &pos))) {
		bool skipped = land_is_skipped(line[0]) && line[1] == ' ';
		struct work_path *p = skipped ? work_find(l->work, line + 2) : NULL;

		if (p)
			p->flagged_skip = p->absent = true;
	}
	return 0;
}

int work_leave_out(struct land *l, struct ga_error *err)
{
	cleanup_free char *index = ga_path_join(l->work->dir, "index.sparse");
	cleanup_free char *dir = ga_path_join(l->work->dir, "sparse");
	cleanup_buf struct ga_buf lines = GA_BUF_INIT;
	int rc;

	if (!ga_gitconfig_bool(&l->config, "core.sparsecheckout", false))
		return 0;
	for (size_t i = 0; i < l->work->n; i++)
		if (is_new(&l->work->v[i]))
			land_scratch_line(&lines, &l->work->v[i].to_index, l->work->v[i].path);
	if (!lines.len)
		return 0;
	rc = ga_mkdir_p(dir, 0700, err) || land_scratch_fill(l, index, &lines, err) ||
			     apply_patterns(l, index, dir, err) || mark(l, index, err)
		     ? -1
		     : 0;
	(void)unlink(index);
	(void)rmdir(dir);
	return rc;
}
