/* SPDX-License-Identifier: MIT
 *
 * Move a session to its branch before a resume, by git in its sandbox: the agent wrote the files,
 * attributes and private git dir, so the host's git does not touch them.
 */
#include "resume-internal.h"
#include "ga/repo/gitdir.h"

/* A git dir in the sandbox's /tmp, empty at first. It makes the project another working tree of the
 * session's repository, with a HEAD and an index that the agent has not written. */
#define SCRATCH "/tmp/git-agent-resume"
#define UNSEEN "cannot read the layers"
#define UNBROUGHT "changes to the branch cannot be applied to the session"
#define MAX_OUTPUT ((size_t)256 << 20)
#define MOST 10u /* `patience` for commands that may read many files */

struct inside {
	struct ga_env *e;
	struct ga_start *st;
	struct ga_strv env;      /* environment of git with the session's own HEAD and index ... */
	struct ga_strv scratch;  /* ... and with those in SCRATCH */
	unsigned patience;       /* timeout of a command, as a multiple of limits.git_time */
};

static void inside_release(struct inside *x)
{
	ga_strv_release(&x->env);
	ga_strv_release(&x->scratch);
}

/* git's error: the first path that it lists, or else its last line. Caller frees. */
static char *reason(const struct ga_buf *errout)
{
	const char *path = errout->len ? strstr(errout->ptr, "\n\t") : NULL;
	cleanup_free char *first = path ? ga_strndup(path + 2, strcspn(path + 2, "\n")) : NULL;

	return first ? ga_quote(first) : ga_git_last_line(errout);
}

static int run(struct inside *x, const struct ga_strv *env, const struct ga_strv *argv,
	       const struct ga_buf *in, struct ga_buf *out, int *ret_status, char **ret_line,
	       struct ga_error *err)
{
	cleanup_buf struct ga_buf errout = GA_BUF_INIT;
	const struct ga_run_exec r = {
		.cwd = x->st->session.id.project,
		.argv = (const char *const *)argv->v,
		.envp = (const char *const *)env->v,
		.in = in,
		.out = out,
		.out_max = MAX_OUTPUT,
		.out_fd = -1,
		.errout = &errout,
		.timeout_ms = (unsigned)(x->e->conf.limits.git_time * 1000 * x->patience),
	};

	if (ga_run_exec(x->st->sandbox, &r, ret_status, err))
		return -1;
	*ret_line = *ret_status ? reason(&errout) : NULL;
	return 0;
}

/* 1 if git fails; then `*ret_line` (`ret_line` may be NULL) is why. */
static int git(struct inside *x, const struct ga_strv *env, const char *const *args,
	       const struct ga_buf *in, struct ga_buf *out, char **ret_line, struct ga_error *err)
{
	cleanup_strv struct ga_strv argv = GA_STRV_INIT;
	cleanup_free char *line = NULL;
	int status;

	/* override the agent's configuration */
	ga_strv_push_many(&argv, "git", "-c", "core.hooksPath=/dev/null", "-c",
			  "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c",
			  "core.bare=false", "-c", "submodule.recurse=false", NULL);
	for (; *args; args++)
		ga_strv_push(&argv, *args);
	if (run(x, env, &argv, in, out, &status, &line, err))
		return -1;
	if (ret_line)
		*ret_line = ga_steal(&line);
	return status != 0;
}

static int refuse(const struct inside *x, const char *what, const char *line, struct ga_error *err)
{
	(void)ga_fail(err, GA_ESTART, "%s: %s", what, line ? line : "git inside failed");
	return resume_anew_hint(&x->st->session, err);
}

static int git_ok(struct inside *x, const struct ga_strv *env, const char *const *args,
		  const struct ga_buf *in, const char *what, struct ga_error *err)
{
	cleanup_free char *line = NULL;
	int rc = git(x, env, args, in, NULL, &line, err);

	return rc > 0 ? refuse(x, what, line, err) : rc;
}

/* 1 if the script fails; then `*ret_line` is why. */
static int try_shell(struct inside *x, const char *script, const char *arg, const struct ga_buf *in,
		     struct ga_buf *out, char **ret_line, struct ga_error *err)
{
	cleanup_strv struct ga_strv argv = GA_STRV_INIT;
	int status;

	ga_strv_push_many(&argv, "sh", "-c", script, "sh", arg, NULL);
	if (run(x, &x->env, &argv, in, out, &status, ret_line, err))
		return -1;
	return status != 0;
}

static int shell(struct inside *x, const char *script, const char *arg, struct ga_error *err)
{
	cleanup_free char *line = NULL;
	int rc = try_shell(x, script, arg, NULL, NULL, &line, err);

	return rc > 0 ? refuse(x, UNSEEN, line, err) : rc;
}

/* Make an index in SCRATCH of only these paths, before (`old`) or after the changes. */
static int load_index(struct inside *x, const struct ga_changes *all, bool old,
		      struct ga_error *err)
{
	static const char *const load[] = { "update-index", "-z", "--index-info", NULL };
	cleanup_buf struct ga_buf in = GA_BUF_INIT;

	for (size_t i = 0; i < all->n; i++) {
		const struct ga_entry *e = old ? &all->v[i].old : &all->v[i].new;

		if (e->mode == GA_MODE_NONE)
			continue;
		ga_buf_addf(&in, "%06o %s\t", e->mode, GA_HEX(&e->oid));
		ga_buf_add0(&in, all->v[i].path);
	}
	return shell(x, "rm -f " SCRATCH "/index", "", err) ||
	       git_ok(x, &x->scratch, load, &in, UNSEEN, err) ? -1 : 0;
}

/* The same, and refresh it, so that git knows which files match. */
static int load_and_compare(struct inside *x, const struct ga_changes *all, bool old,
			    struct ga_error *err)
{
	static const char *const refresh[] = { "update-index", "-q", "--refresh", NULL };

	if (load_index(x, all, old, err))
		return -1;
	/* exit status 1 means that a file differs, no failure */
	return git(x, &x->scratch, refresh, NULL, NULL, NULL, err) < 0 ? -1 : 0;
}

static void split(const struct ga_buf *out, struct ga_strv *ret)
{
	const char *path;
	size_t pos = 0;

	while ((path = ga_buf_next0(out, &pos)))
		ga_strv_push(ret, path);
	ga_strv_sort_unique(ret);
}

static const char *const differ[] = { "diff-files", "-z", "--name-only", NULL };

static int list(struct inside *x, const char *const *args, struct ga_strv *ret,
		struct ga_error *err)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	int rc = git(x, &x->scratch, args, NULL, &out, NULL, err);

	if (rc)
		return rc < 0 ? -1 : refuse(x, UNSEEN, NULL, err);
	split(&out, ret);
	return 0;
}

/* List the contents of directories in the place of a new file. */
static int list_below(struct inside *x, const struct ga_changes *todo, struct ga_strv *ret,
		      struct ga_error *err)
{
	static const char script[] =
		"xargs -0 sh -c 'for p; do if [ -d \"./$p\" ] && [ ! -L \"./$p\" ]; then "
		"find \"./$p\" ! -type d -print0 || exit 255; fi; done' sh";
	cleanup_buf struct ga_buf in = GA_BUF_INIT, out = GA_BUF_INIT;
	cleanup_free char *line = NULL;
	int rc;

	for (size_t i = 0; i < todo->n; i++)
		if (todo->v[i].new.mode != GA_MODE_NONE && todo->v[i].new.mode != GA_MODE_GITLINK)
			ga_buf_add0(&in, todo->v[i].path);
	rc = try_shell(x, script, "", &in, &out, &line, err);
	if (rc)
		return rc < 0 ? -1 : refuse(x, UNSEEN, line, err);
	split(&out, ret);
	for (size_t i = 0; i < ret->n; i++)
		(void)memmove(ret->v[i], ret->v[i] + 2, strlen(ret->v[i] + 2) + 1);
	return 0;
}

static int refuse_path(const struct inside *x, const char *path, struct ga_error *err)
{
	return refuse(x, UNBROUGHT, GA_QUOTED(path), err);
}

/* Must a file be removed where `path` needs a parent directory? If that is a link to itself, git
 * reports `path` neither as existing nor as missing. */
static bool is_behind_file(const struct ga_changes *all, const char *path)
{
	for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
		cleanup_free char *dir = ga_strndup(path, (size_t)(p - path));
		const struct ga_change *c = ga_changes_find(all, dir);

		if (c && c->new.mode == GA_MODE_NONE)
			return true;
	}
	return false;
}

/* Find the changes still to apply. */
static int find_todo(struct inside *x, const struct ga_changes *all, struct ga_changes *ret,
		     struct ga_error *err)
{
	cleanup_strv struct ga_strv others = GA_STRV_INIT;

	if (load_and_compare(x, all, false, err) || list(x, differ, &others, err))
		return -1;
	for (size_t i = 0; i < all->n; i++) {
		const struct ga_change *c = &all->v[i];

		if (c->new.mode == GA_MODE_NONE || is_behind_file(all, c->path) ||
		    ga_strv_find(&others, c->path) >= 0)
			(void)ga_changes_add(ret, c->path, &c->old, &c->new);
	}
	return 0;
}

/* Fail if a file would be overwritten or removed that differs from its capture: also an ignored
 * one, at a new directory's place, or in a replaced directory. Git would keep ignored files only in
 * commands that are not atomic when killed. */
static int check_todo(struct inside *x, const struct ga_changes *todo, struct ga_error *err)
{
	/* git reports a file as deleted if a directory replaced it, or a parent became a link */
	static const char *const there[] = { "diff-files", "-z", "--name-only", "--diff-filter=d",
					     NULL };
	static const char *const killed[] = { "ls-files", "-z", "--killed", NULL };
	cleanup_strv struct ga_strv changed = GA_STRV_INIT, found = GA_STRV_INIT;
	cleanup_strv struct ga_strv ways = GA_STRV_INIT, below = GA_STRV_INIT;

	if (load_and_compare(x, todo, true, err) || list(x, there, &changed, err))
		return -1;
	if (changed.n)
		return refuse_path(x, changed.v[0], err);
	if (load_index(x, todo, false, err) || list(x, there, &found, err) ||
	    list(x, killed, &ways, err) || list_below(x, todo, &below, err))
		return -1;
	ga_strv_extend(&found, &ways);
	ga_strv_extend(&found, &below);
	for (size_t i = 0; i < found.n; i++) {
		const struct ga_change *c = ga_changes_find(todo, found.v[i]);

		if (!c || c->old.mode == GA_MODE_NONE)
			return refuse_path(x, found.v[i], err);
	}
	return 0;
}

/* Apply the changes over existing files: they were checked, or an interrupted resume wrote them. */
static int put(struct inside *x, const struct ga_changes *all, struct ga_error *err)
{
	cleanup_changes struct ga_changes add = GA_CHANGES_INIT;
	char tree[GA_OID_HEXSZ + 1];
	const char *const args[] = { "read-tree", "--reset", "-u", tree, NULL };
	struct ga_oid oid;

	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].new.mode != GA_MODE_NONE)
			(void)ga_changes_add(&add, all->v[i].path, &(struct ga_entry){ 0 },
					     &all->v[i].new);
	if (ga_tree_apply(x->e->repo, NULL, NULL, &add, &oid, err))
		return -1;
	(void)ga_oid_hex(&oid, tree);
	return load_index(x, all, true, err) ||
	       git_ok(x, &x->scratch, args, NULL, UNBROUGHT, err) ? -1 : 0;
}

/* Record in the state file, before writing anything, the trees that the layers will show. The rest
 * of it is unchanged until the session runs. */
static int note(const struct inside *x, const struct resume_point *p, struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	const struct ga_session *old = &x->st->session;

	/* an interrupted resume recorded the same, and is repeated */
	if (ga_oid_equal(&old->view.target, &p->view) &&
	    ga_oid_equal(&old->view.target_full, &p->full))
		return 0;
	if (ga_session_load_from(old->dir, old->name, &s, err))
		return -1;
	s.view.tree = p->was;
	s.view.full = p->was_full;
	s.view.target = p->view;
	s.view.target_full = p->full;
	return ga_session_save(&s, err);
}

static int apply_changes(struct inside *x, const struct resume_point *p, struct ga_error *err)
{
	cleanup_changes struct ga_changes todo = GA_CHANGES_INIT;

	if ((p->again.n && put(x, &p->again, err)) ||
	    (p->apply.n && (find_todo(x, &p->apply, &todo, err) || check_todo(x, &todo, err))))
		return -1;
	return note(x, p, err) || ga_fault_stop("resume:noted", err) ||
	       (todo.n && put(x, &todo, err)) ? -1 : 0;
}

/* Do the layers or the branch differ from the last capture, or will they? */
static bool has_news(const struct inside *x, const struct resume_point *p)
{
	const struct ga_session *s = &x->st->session;

	return p->apply.n || !ga_oid_is_zero(&s->view.target) ||
	       !ga_oid_equal(&p->branch_base, ga_oid_is_zero(&s->result.tip)
			     ? ga_session_own_base(s) : &s->result.tip);
}

static int reset_index(struct inside *x, struct ga_error *err)
{
	static const char *const reset[] = { "reset", "--quiet", "--mixed", NULL };
	static const char *const refresh[] = { "update-index", "-q", "--refresh", NULL };
	int rc;

	x->patience = MOST;
	rc = git(x, &x->env, reset, NULL, NULL, NULL, err);
	if (rc > 0)
		rc = shell(x, "rm -f .git/index", "", err) ||
		     git_ok(x, &x->env, reset, NULL, "the session's git dir cannot be used", err);
	if (rc)
		return -1;
	return git(x, &x->env, refresh, NULL, NULL, NULL, err) < 0 ? -1 : 0;
}

/* 1 if HEAD is right and no file was changed: then the agent's index is valid. An unreadable one is
 * not kept. */
static int keeps_index(struct inside *x, const struct resume_point *p, struct ga_error *err)
{
	static const char *const branch[] = { "symbolic-ref", "-q", "HEAD", NULL };
	static const char *const head[] = { "rev-parse", "-q", "--verify", "HEAD", NULL };
	static const char *const read[] = { "ls-files", "-s", NULL };
	cleanup_buf struct ga_buf name = GA_BUF_INIT, at = GA_BUF_INIT;
	char hex[GA_OID_HEXSZ + 1];
	int rc;

	if (has_news(x, p))
		return 0;
	rc = git(x, &x->env, branch, NULL, &name, NULL, err);
	if (!rc)
		rc = git(x, &x->env, head, NULL, &at, NULL, err);
	if (!rc)
		rc = git(x, &x->env, read, NULL, NULL, NULL, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	ga_buf_chomp(&name);
	ga_buf_chomp(&at);
	return !strcmp(name.ptr, x->st->session.id.branch) &&
	       !strcmp(at.ptr, ga_oid_hex(&p->agent_base, hex));
}

static int move_git(struct inside *x, const struct resume_point *p, struct ga_error *err)
{
	static const char *const quit[] = { "rebase", "--quit", NULL };
	const struct ga_session *s = &x->st->session;
	char hex[GA_OID_HEXSZ + 1];
	const char *const head[] = { "symbolic-ref", "-m", "resume", "HEAD", s->id.branch, NULL };
	const char *const ref[] = { "update-ref", "-m", "resume", s->id.branch,
				    ga_oid_hex(&p->agent_base, hex), NULL };
	int keep;

	/* fails without a rebase, which is fine; HEAD does not move */
	if (shell(x, "cd .git && rm -f index.lock HEAD.lock packed-refs.lock config.lock "
		  "\"$1.lock\"", s->id.branch, err) ||
	    git(x, &x->env, quit, NULL, NULL, NULL, err) < 0)
		return -1;
	keep = keeps_index(x, p, err);
	if (keep)
		return keep < 0 ? -1 : 0;
	return git_ok(x, &x->env, ref, NULL, "the session's git dir cannot be used", err) ||
	       git_ok(x, &x->env, head, NULL, "the session's git dir cannot be used", err) ||
	       reset_index(x, err) ? -1 : 0;
}

static int move_layers(struct inside *x, const struct resume_point *p, struct ga_error *err)
{
	cleanup_strv struct ga_strv lost = GA_STRV_INIT;
	bool news = has_news(x, p);

	if (!news && !p->doubt.n)
		return 0;
	x->patience = MOST;
	/* git recognises a git dir by its HEAD */
	if (shell(x, "mkdir -p " SCRATCH " && echo ref: refs/heads/none >" SCRATCH "/HEAD", "",
		  err) ||
	    (p->doubt.n && (load_and_compare(x, &p->doubt, false, err) ||
			    list(x, differ, &lost, err))))
		return -1;
	/* let git compare, since capture may have converted it */
	if (lost.n)
		return resume_layers_lost(&x->st->session, lost.v[0], err);
	if (news && apply_changes(x, p, err))
		return -1;
	return shell(x, "rm -rf " SCRATCH, "", err);
}

int resume_move_to_point(struct ga_env *e, struct ga_start *st, const struct resume_point *p,
			 struct ga_error *err)
{
	cleanup_(inside_release) struct inside x = { .e = e, .st = st, .patience = 1 };
	cleanup_free char *dir = ga_session_path(&st->session, "git");
	const char *project = st->session.id.project;

	for (size_t i = 0; ga_start_git_env[i]; i++)
		ga_strv_push(&x.env, ga_start_git_env[i]);
	ga_strv_pushf(&x.env, "GIT_WORK_TREE=%s", project);
	ga_strv_extend(&x.scratch, &x.env);
	ga_strv_pushf(&x.env, "GIT_DIR=%s/.git", project);
	ga_strv_push(&x.scratch, "GIT_DIR=" SCRATCH);
	ga_strv_pushf(&x.scratch, "GIT_COMMON_DIR=%s/.git", project);
	if (ga_gitdir_has_trap(dir))
		return refuse(&x, "the session's git dir cannot be used",
			      "it holds a fifo, a link among its refs or a closed directory", err);
	if (!move_layers(&x, p, err) && !ga_fault_stop("resume:applied", err)) {
		x.patience = 1;
		if (!move_git(&x, p, err))
			return ga_fault_stop("resume:moved", err);
	}
	return err->hint ? -1 : resume_anew_hint(&st->session, err);
}
