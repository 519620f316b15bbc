/* SPDX-License-Identifier: MIT
 *
 * Git in the user's working tree, as the user.
 */
#include <string.h>

#include "ga/base/oid.h"
#include "ga/sys/fd.h"
#include "ga/worktree/work.h"

#define USAGE 129 /* git's status for options that it does not know */

int ga_work_git(const struct ga_repo *r, const char *const *args, const char *in, int *ret_status,
		struct ga_buf *out, struct ga_buf *why, struct ga_error *err)
{
	const struct ga_git g = GA_GIT(.args = args, .work_tree = ga_repo_info(r)->workdir,
				  .as_user = true, .in = in, .in_len = in ? strlen(in) : 0,
				  .out = out, .errout = why);

	return ga_git_run(r, &g, ret_status, err);
}

/* A line of `git ls-files -v` begins with S for a file that is skip-worktree, with a small letter
 * for one that is assume-unchanged. */
int ga_work_find_marked(const struct ga_repo *r, const struct ga_strv *paths, struct ga_strv *ret,
			struct ga_error *err)
{
	static const char *const args[] = { "ls-files", "-v", "-z", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT, why = GA_BUF_INIT;
	cleanup_close int root = ga_work_open(r, err);
	struct ga_work_look now;
	const char *line;
	size_t pos = 0;
	int status;

	if (root < 0 || ga_work_git(r, args, NULL, &status, &out, &why, err))
		return -1;
	while ((line = ga_buf_next0(&out, &pos)))
		if ((*line == 'S' || (*line >= 'a' && *line <= 'z')) && line[1] &&
		    ga_strv_find(paths, line + 2) >= 0 &&
		    (!ga_work_look(root, line + 2, &now) || now.mode))
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
