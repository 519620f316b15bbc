/* SPDX-License-Identifier: MIT
 *
 * Run git in the user's working tree, as the user; and rebase in memory, each commit by one merge
 * with its parent as the base.
 */
#include <string.h>
#include <time.h>

#include "ga/base/oid.h"
#include "ga/base/quote.h"
#include "ga/repo/history.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"
#include "ga/worktree/worktree.h"

#define USAGE 129 /* git's status for options that it does not know */

int ga_work_git(const struct ga_repo *r, const char *const *args, const char *in, int *ret_status,
		struct ga_buf *out, struct ga_buf *why, struct ga_error *err)
{
	const struct ga_git g = GA_GIT(.args = args, .work_tree = ga_repo_info(r)->workdir,
				  .as_user = true, .in = in, .in_len = in ? strlen(in) : 0,
				  .out = out, .errout = why);

	return ga_git_run(r, &g, ret_status, err);
}

int ga_work_run(struct ga_repo *r, const struct ga_gitconfig *c, const char *const *args,
		const struct ga_buf *in, struct ga_buf *out, struct ga_error *err)
{
	cleanup_strv struct ga_strv config = GA_STRV_INIT;
	struct ga_git g = GA_GIT(.args = args, .work_tree = ga_repo_info(r)->workdir, .out = out,
				 .in = in ? in->ptr : NULL, .in_len = in ? in->len : 0,
				 .private_dir = GA_PRIVATE_READ);

	ga_gitconfig_push_filters(c, g.work_tree, &config);
	g.config = (const char *const *)config.v;
	return ga_git_ok(r, &g, err);
}

int ga_work_checked_out(struct ga_repo *r, const struct ga_gitconfig *c, const char *path,
			const struct ga_oid *blob, struct ga_buf *ret, struct ga_error *err)
{
	cleanup_free char *option = ga_strf("--path=%s", path);
	const char *const args[] = { "cat-file", "--filters", option, GA_HEX(blob), NULL };

	return ga_work_run(r, c, args, NULL, ret, err);
}

/* A line of `git ls-files -v` begins with S for a file that is skip-worktree, with a small letter
 * for one that is assume-unchanged. */
int ga_work_find_marked(const struct ga_repo *r, const struct ga_strv *paths, struct ga_strv *ret,
			struct ga_error *err)
{
	static const char *const args[] = { "ls-files", "-v", "-z", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT, why = GA_BUF_INIT;
	cleanup_close int root = ga_work_open(r, err);
	struct ga_work_stat now;
	const char *line;
	size_t pos = 0;
	int status;

	if (root < 0 || ga_work_git(r, args, NULL, &status, &out, &why, err))
		return -1;
	while ((line = ga_buf_next0(&out, &pos)))
		if ((*line == 'S' || (*line >= 'a' && *line <= 'z')) && line[1] &&
		    ga_strv_find(paths, line + 2) >= 0 &&
		    (!ga_work_stat(root, line + 2, &now) || now.mode))
			ga_strv_push(ret, line + 2);
	return 0;
}

/* `git merge-tree` answers with the tree's id, a NUL, and for each side of a conflict (status 1)
 * "mode id stage TAB path". */
int ga_work_merge_trees(const struct ga_repo *r, const char *ours, const char *theirs,
			struct ga_oid *ret, struct ga_strv *conflicts, struct ga_error *err)
{
	const char *const args[] = { "merge-tree", "--write-tree", "--no-messages", "-z",
				     ours, theirs, NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT, why = GA_BUF_INIT;
	const char *side;
	size_t pos;
	int status;

	if (ga_work_git(r, args, NULL, &status, &out, &why, err))
		return -1;
	if (status > 1 || !ga_oid_parse(out.ptr, strlen(out.ptr), ret)) {
		cleanup_free char *line = ga_git_last_line(&why);

		(void)ga_fail(err, GA_EFATAL, "git cannot merge it%s%s", line ? ": " : "",
			      line ? line : "");
		if (line && strstr(line, "unrelated histories"))
			return ga_hint(err, "'git agent land --rebase' applies only the session's "
				       "own commits");
		return status == USAGE ? ga_hint(err, "landing needs git 2.38 or newer") : -1;
	}
	pos = strlen(out.ptr) + 1;
	while (status && (side = ga_buf_next0(&out, &pos))) {
		const char *tab = strchr(side, '\t');

		if (tab)
			ga_strv_push(conflicts, tab + 1);
	}
	ga_strv_sort_unique(conflicts);
	return 0;
}

int ga_work_commit(const struct ga_repo *r, const struct ga_gitconfig *c, const struct ga_oid *tree,
		   const struct ga_oid *parents, size_t n, const struct ga_strv *env,
		   const char *message, struct ga_oid *ret, struct ga_error *err)
{
	cleanup_strv struct ga_strv args = GA_STRV_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT, why = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;

	ga_strv_push_many(&args, "commit-tree", GA_HEX(tree), "-F", "-", NULL);
	if (ga_gitconfig_bool(c, "commit.gpgsign", false))
		ga_strv_push(&args, "-S");
	for (size_t i = 0; i < n; i++)
		ga_strv_push_many(&args, "-p", GA_HEX(&parents[i]), NULL);
	g.args = (const char *const *)args.v;
	g.work_tree = ga_repo_info(r)->workdir;
	g.as_user = true;
	g.env = env ? (const char *const *)env->v : NULL;
	g.in = message;
	g.in_len = strlen(message);
	g.out = &out;
	g.errout = &why;
	if (ga_git_ok(r, &g, err))
		return -1;
	ga_buf_chomp(&out);
	return ga_oid_parse(out.ptr, out.len, ret)
		       ? 0 : ga_fail(err, GA_EFATAL, "git commit-tree printed no object id");
}

static bool converts(const char *attribute, const char *value, bool crlf)
{
	bool unset = !strcmp(value, "unset"), none = !strcmp(value, "unspecified");

	if (!strcmp(attribute, "text"))
		return crlf && !unset;
	if (!strcmp(attribute, "eol"))
		return !strcmp(value, "crlf");
	return !unset && !none;
}

int ga_work_find_converted(const struct ga_repo *r, const struct ga_gitconfig *c,
			   const struct ga_strv *paths, struct ga_strv *ret, struct ga_error *err)
{
	static const char *const args[] = { "check-attr", "-z", "--stdin", "text", "eol", "crlf",
					    "ident", "filter", "working-tree-encoding", NULL };
	const char *eol = ga_gitconfig_get(c, "core.eol"), *path, *attribute, *value;
	bool crlf = ga_gitconfig_bool(c, "core.autocrlf", false) || (eol && !strcmp(eol, "crlf"));
	cleanup_buf struct ga_buf in = GA_BUF_INIT, out = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;
	size_t pos = 0;

	for (size_t i = 0; i < paths->n; i++)
		ga_buf_add0(&in, paths->v[i]);
	g.args = args;
	g.work_tree = ga_repo_info(r)->workdir;
	g.in = in.ptr;
	g.in_len = in.len;
	g.out = &out;
	if (ga_git_ok(r, &g, err))
		return -1;
	while ((path = ga_buf_next0(&out, &pos)) && (attribute = ga_buf_next0(&out, &pos)) &&
	       (value = ga_buf_next0(&out, &pos)))
		if (converts(attribute, value, crlf))
			ga_strv_push(ret, path);
	ga_strv_sort_unique(ret);
	return 0;
}

#define COMMITS_MAX 1000000

/* A commit with the tree so far, and the parent of the commit that is rebased: then that parent is
 * the base of git's merge of the two. */
static int make_ours(struct ga_repo *r, const struct ga_oid *tree, const struct ga_oid *parent,
		     const char *who, struct ga_oid *ret, struct ga_error *err)
{
	struct ga_oid parents[] = { *parent };
	cleanup_free char *author = ga_strdup(who), *committer = ga_strdup(who);
	cleanup_free char *none = ga_strdup(""), *message = ga_strdup("replay\n");
	struct ga_commit c = { .tree = *tree, .parents = parents, .n_parents = 1, .author = author,
			       .committer = committer, .extra = none, .message = message };

	return ga_commit_write(r, &c, ret, err);
}

static int fail_conflict(const struct ga_oid *commit, const struct ga_strv *conflicts,
			 struct ga_error *err)
{
	cleanup_free char *list = ga_quote_list(conflicts, GA_LISTED);

	return ga_fail(err, GA_ELOSE, "commit %.10s conflicts in %s"
		       GA_HINT "'git cherry-pick %.10s' leaves the conflict for you to resolve; or "
		       "land with --merge", GA_HEX(commit), list, GA_HEX(commit));
}

/* The tree of `c` on top of `cur`. */
static int apply_commit(struct ga_repo *r, const struct ga_oid *oid, const struct ga_commit *c,
			const struct ga_oid *cur, const char *who, struct ga_oid *ret,
			struct ga_error *err)
{
	cleanup_strv struct ga_strv conflicts = GA_STRV_INIT;
	struct ga_oid base, ours;

	if (ga_commit_tree(r, &c->parents[0], &base, err))
		return -1;
	*ret = ga_oid_equal(&base, cur) ? c->tree : *cur;
	if (ga_oid_equal(&base, cur) || ga_oid_equal(&base, &c->tree))
		return 0;
	if (make_ours(r, cur, &c->parents[0], who, &ours, err) ||
	    ga_work_merge_trees(r, GA_HEX(&ours), GA_HEX(oid), ret, &conflicts, err))
		return -1;
	return conflicts.n ? fail_conflict(oid, &conflicts, err) : 0;
}

/* "Name <mail> seconds zone" as the three variables by which git commit-tree is told the author. */
static void push_author(struct ga_strv *env, const char *author)
{
	const char *lt = strstr(author, " <"), *gt = lt ? strstr(lt, "> ") : NULL;

	if (!gt)
		return;
	ga_strv_pushf(env, "GIT_AUTHOR_NAME=%.*s", (int)(lt - author), author);
	ga_strv_pushf(env, "GIT_AUTHOR_EMAIL=%.*s", (int)(gt - lt - 2), lt + 2);
	ga_strv_pushf(env, "GIT_AUTHOR_DATE=%s", gt + 2);
}

int ga_work_replay(struct ga_repo *r, const struct ga_gitconfig *c, const struct ga_oid *tip,
		   const struct ga_oid *base, const struct ga_oid *onto, struct ga_oid **ret,
		   size_t *ret_n, struct ga_error *err)
{
	const struct ga_oid hide[] = { *onto, base ? *base : *onto };
	cleanup_free struct ga_oid *v = NULL, *made = NULL;
	cleanup_free char *who = NULL;
	struct ga_oid tree, cur = *onto;
	size_t n = 0, n_made = 0;

	if (ga_rev_list(r, tip, 1, hide, 2, COMMITS_MAX, &v, &n, err) ||
	    ga_commit_tree(r, onto, &tree, err) ||
	    ga_repo_signature(r, c, time(NULL), &who, err))
		return -1;
	made = ga_calloc(n + 1, sizeof(*made));
	for (size_t i = 0; i < n; i++) {
		cleanup_commit struct ga_commit old = { .n_parents = 0 };
		cleanup_strv struct ga_strv env = GA_STRV_INIT;
		struct ga_oid new;

		if (ga_commit_read(r, &v[i], &old, err))
			return -1;
		if (old.n_parents != 1)
			continue;
		if (apply_commit(r, &v[i], &old, &tree, who, &new, err))
			return -1;
		if (ga_oid_equal(&new, &tree))
			continue;
		tree = new;
		push_author(&env, old.author);
		if (ga_work_commit(r, c, &tree, &cur, 1, &env, old.message, &made[n_made], err))
			return -1;
		cur = made[n_made++];
	}
	*ret = ga_steal(&made);
	*ret_n = n_made;
	return 0;
}

/* ---- versions of a file: from an object, as an object, and three of them merged ---- */

int ga_work_from_entry(struct ga_repo *r, const struct ga_gitconfig *c, const char *path,
		       const struct ga_entry *e, bool converted, struct ga_work_file *ret,
		       struct ga_error *err)
{
	int rc;

	if (!e->mode)
		return 0;
	if (e->mode != GA_MODE_LINK && converted)
		rc = ga_work_checked_out(r, c, path, &e->oid, &ret->bytes, err);
	else
		rc = ga_blob_read(r, &e->oid, GA_WORK_FILE_MAX, &ret->bytes, err);
	if (rc)
		return rc < 0 ? -1 : ga_fail(err, GA_ELOSE, "a file is too large");
	ret->look.mode = ga_work_mode(e->mode);
	return ga_blob_id_of(ret->bytes.ptr, ret->bytes.len, &ret->look.oid, err);
}

int ga_work_store(struct ga_repo *r, const struct ga_work_file *f, struct ga_entry *ret,
		  struct ga_error *err)
{
	ret->mode = !f->look.mode ? GA_MODE_NONE
		    : S_ISLNK(f->look.mode) ? GA_MODE_LINK
		    : f->look.mode & S_IXUSR ? GA_MODE_EXEC : GA_MODE_FILE;
	return ret->mode ? ga_blob_write(r, f->bytes.ptr, f->bytes.len, &ret->oid, err) : 0;
}

/* Keep the permissions of the replaced file, except execution, which those who may read it get or
 * lose. */
static void keep_permissions(struct ga_work_file *f, const struct ga_work_file *now)
{
	mode_t m = now->look.mode & 0777;

	if (S_ISREG(f->look.mode) && S_ISREG(now->look.mode))
		f->look.mode = S_IFREG | (f->look.mode & S_IXUSR ? m | ((m & 0444) >> 2)
								 : m & ~(mode_t)0111);
}

int ga_work_merge(struct ga_repo *r, const struct ga_work_file *now,
		  const struct ga_work_file *base, const struct ga_work_file *theirs,
		  struct ga_work_file *ret, struct ga_error *err)
{
	struct ga_entry n = { 0 }, b = { 0 }, t = { 0 }, made;
	int rc = ga_work_store(r, now, &n, err) || ga_work_store(r, base, &b, err) ||
		 ga_work_store(r, theirs, &t, err)
			 ? -1 : ga_merge_entry(r, &b, &n, &t, &made, err);

	if (rc || !made.mode)
		return rc;
	ret->look.mode = ga_work_mode(made.mode);
	ret->look.oid = made.oid;
	keep_permissions(ret, now);
	return ga_blob_read(r, &made.oid, GA_WORK_FILE_MAX, &ret->bytes, err);
}
