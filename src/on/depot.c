/* SPDX-License-Identifier: MIT
 *
 * Remote side: a depot for each repository that sends sessions. Runs as the user who logged in, and
 * uses nothing of the caller's directory.
 */
#include "on-internal.h"
#include "ga/session/session.h"

void depot_release(struct depot *d)
{
	free(d->self);
	free(d->dir);
	free(d->main);
	free(d->git);
	free(d->tree);
	free(d->state);
	json_decref(d->request);
	json_decref(d->input);
	json_decref(d->answer);
}

const char *depot_text(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "";
}

void depot_at(struct depot *d, const char *dir, const char *name, const char *directory)
{
	d->self = on_self();
	d->name = name;
	d->dir = ga_strdup(dir);
	d->main = ga_path_join(dir, "depot");
	d->git = ga_path_join(d->main, ".git");
	d->tree = ga_strf("%s/trees/%s/%s", dir, name, directory);
}

static void add_keys(json_t *keys, struct ga_strv *ret)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	const char *name;
	json_t *value;

	json_object_foreach(keys, name, value)
		if (*name && !name[strspn(name, letters)] && json_is_string(value))
			ga_strv_pushf(ret, "%s=%s", name, json_string_value(value));
}

int depot_run(const struct ga_strv *words, const struct depot_run *how, struct ga_buf *out,
	      struct ga_error *err)
{
	cleanup_strv struct ga_strv env = GA_STRV_INIT;
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	struct ga_process p;
	cleanup_free char *line = NULL;
	const char *hint, *said;
	int status;

	add_keys(how->keys, &env);
	ga_user_environ(&env);
	p = (struct ga_process){
		.argv = (const char *const *)words->v, .envp = (const char *const *)env.v,
		.cwd = how->cwd ? how->cwd : "/", .in = how->in ? how->in->ptr : NULL,
		.in_len = how->in ? how->in->len : 0, .in_fd = -1, .out = out,
		.out_max = how->out_max, .out_fd = -1, .errout = &why,
		.keep_fd = how->keep > 0 ? how->keep : -1, .timeout_ms = how->timeout_ms,
	};
	if (ga_process_run(&p, &status, err))
		return -1;
	if (!status)
		return 0;
	/* from git-agent: the error, then the hint */
	said = strstr(why.ptr, "git-agent: ");
	hint = said ? strstr(said, "\nhint: ") : NULL;
	line = said ? ga_strndup(said + 11, strcspn(said + 11, "\n")) : ga_git_last_line(&why);
	(void)ga_fail(err, GA_EFATAL, "%s", line ? line : "a command failed");
	if (!hint)
		return -1;
	hint += 7;
	return ga_hint(err, "%.*s", (int)strcspn(hint, "\n"), hint);
}

int depot_git(const struct depot *d, const struct ga_strv *args, const struct ga_buf *in,
	      struct ga_buf *out, struct ga_error *err)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;

	ga_strv_push_many(&words, "git", "-c", "core.hooksPath=/dev/null", NULL);
	ga_strv_pushf(&words, "--git-dir=%s", d->git);
	ga_strv_extend(&words, args);
	return depot_run(&words, DEPOT_RUN(.in = in), out, err);
}

char *depot_ref(const struct depot *d, const char *what)
{
	return ga_strf(DEPOT_REFS "%s/%s", d->name, what);
}

bool depot_has(const struct depot *d, const char *refs, const char *what)
{
	cleanup_free char *ref = ga_strf("%s%s/%s", refs, d->name, what);

	return !GIT(d, GA_IGNORED, "rev-parse", "--quiet", "--verify", ref);
}

int depot_forget(const struct depot *d, struct ga_error *err)
{
	cleanup_free char *on = ga_strf(DEPOT_REFS "%s", d->name);
	cleanup_free char *refs = ga_strf(GA_SESSION_REFS "%s", d->name);
	cleanup_free char *branch = ga_strf(GA_SESSION_BRANCHES "%s", d->name);
	cleanup_buf struct ga_buf out = GA_BUF_INIT;

	return GIT_OUT(d, NULL, &out, err, "for-each-ref", "--format=delete %(refname)", on, refs,
		       branch) ||
	       GIT_OUT(d, &out, NULL, err, "update-ref", "--stdin") ? -1 : 0;
}

void depot_agent(const struct depot *d, struct ga_strv *ret)
{
	ga_strv_push(ret, d->self);
	if (d->state)
		ga_strv_push_many(ret, "-c", d->state, NULL);
}

void depot_ready(struct depot *d)
{
	if (!d->ready && !d->passes && !json_is_true(json_object_get(d->request, "terminal")))
		(void)ga_write_full(STDOUT_FILENO, GA_ON_READY "\n", strlen(GA_ON_READY) + 1);
	d->ready = true;
}

int depot_connect(struct depot *d, const struct ga_strv *words, const char *cwd,
		  struct ga_error *err)
{
	const struct ga_process p = { .argv = (const char *const *)words->v, .cwd = cwd,
				      .in_fd = STDIN_FILENO, .out_fd = STDOUT_FILENO,
				      .keep_fd = -1 };

	depot_ready(d);
	return ga_process_run(&p, &d->status, err);
}

/* Make it under another name and rename it when complete: requests may be concurrent. */
int depot_make(struct depot *d, struct ga_error *err)
{
	cleanup_free char *aside = ga_path_join(d->dir, ".new-XXXXXX");
	cleanup_free char *git = NULL;
	struct depot new = { 0 };
	int rc;

	if (!access(d->git, F_OK))
		return 0;
	if (ga_mkdir_p(d->dir, 0700, err))
		return -1;
	if (!mkdtemp(aside))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot write '%s'", d->dir);
	new.git = git = ga_path_join(aside, ".git");
	rc = GIT(&new, err, "init", "--quiet", "--template=", aside) ||
	     GIT(&new, err, "config", "gc.auto", "0") ||
	     GIT(&new, err, "config", "receive.autoGC", "false") ||
	     GIT(&new, err, "config", "receive.denyDeletes", "true") ||
	     GIT(&new, err, "config", "transfer.fsckObjects", "true") ? -1 : 0;
	if (!rc && !renameat2(AT_FDCWD, aside, AT_FDCWD, d->main, RENAME_NOREPLACE))
		return 0;
	if (!rc && errno != EEXIST)
		rc = ga_fail_errno(err, GA_EFATAL, errno, "cannot make '%s'", d->main);
	(void)ga_rmtree_at(AT_FDCWD, aside, GA_IGNORED);
	return rc;
}

/* Run git there, without hooks. */
#define in_tree(d, err, ...) \
	({ \
		cleanup_strv struct ga_strv words_ = GA_STRV_INIT; \
		ga_strv_push_many(&words_, "git", "-c", "core.hooksPath=/dev/null", \
				  __VA_ARGS__, NULL); \
		depot_run(&words_, DEPOT_RUN(.cwd = (d)->tree), NULL, err); \
	})

void depot_remove_tree(const struct depot *d)
{
	cleanup_free char *entry = ga_strf("%s/worktrees/%s", d->git, d->name);

	(void)ga_rmtree_at(AT_FDCWD, entry, GA_IGNORED);
	(void)ga_rmtree_at(AT_FDCWD, d->tree, GA_IGNORED);
}

/* Make the working tree: the base, with the snapshot as uncommitted changes. */
static int make_tree(struct depot *d, struct ga_error *err)
{
	cleanup_free char *base = depot_ref(d, "base"), *snapshot = depot_ref(d, "snapshot");
	cleanup_buf struct ga_buf id = GA_BUF_INIT;

	depot_remove_tree(d);
	if (GIT_OUT(d, NULL, &id, err, "rev-parse", "--verify", base) ||
	    ga_mkdir_p(d->tree, 0700, err))
		return -1;
	ga_buf_chomp(&id);
	if (ga_worktree_add(d->git, d->name, d->tree, id.ptr, err) ||
	    in_tree(d, err, "reset", "--quiet", "--hard"))
		return -1;
	return !depot_has(d, DEPOT_REFS, "snapshot") ? 0
	       : in_tree(d, err, "read-tree", "-u", "--reset", snapshot) ||
	       in_tree(d, err, "reset", "--quiet") ? -1 : 0;
}

int depot_start(struct depot *d, int held, struct ga_error *err)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT, trust = GA_STRV_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;

	depot_agent(d, &words);
	ga_strv_push_many(&words, "start", "-q", "-d", "--keep", "-n", d->name, NULL);
	ga_json_words(json_object_get(d->input, "options"), &words);
	ga_strv_push(&words, "--");
	ga_json_words(json_object_get(d->input, "command"), &words);
	depot_agent(d, &trust);
	ga_strv_push_many(&trust, "trust", "--yes", NULL);
	return make_tree(d, err) ||
	       (json_is_true(json_object_get(d->input, "trusted")) &&
		depot_run(&trust, DEPOT_RUN(.cwd = d->tree), NULL, err)) ||
	       ga_fault_stop("depot:start", err) ||
	       depot_run(&words, DEPOT_RUN(.cwd = d->tree, .keep = held,
					   .keys = json_object_get(d->input, "keys")), &out, err)
		       ? -1 : 0;
}

json_t *depot_sessions(const struct depot *d, struct ga_error *err)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	json_t *list, *one, *ret = json_object();
	size_t i;

	depot_agent(d, &words);
	ga_strv_push_many(&words, "list", "--json", NULL);
	if (depot_run(&words, DEPOT_RUN(.cwd = d->main), &out, err))
		return NULL;
	list = json_loadb(out.ptr, out.len, 0, NULL);
	json_array_foreach(list, i, one)
		ga_json_set(ret, depot_text(one, "name"),
			    json_pack("{s:O, s:O?, s:O?, s:O?}", "state",
				      json_object_get(one, "state"), "tip",
				      json_object_get(one, "tip"), "held",
				      json_object_get(one, "held"), "exit",
				      json_object_get(one, "exit_status")));
	json_decref(list);
	return ret;
}
