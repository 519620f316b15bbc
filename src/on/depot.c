/* SPDX-License-Identifier: MIT
 *
 * The other machine's side: a depot for each repository that sessions come from, and what is asked
 * about these. It runs as the user who logged in, and asks nothing of where it is called from.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/json.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "ga/session/session.h"
#include "ga/session/worktree.h"
#include "ga/sys/fd.h"
#include "ga/sys/process.h"
#include "on-internal.h"

#define INPUT_MAX ((size_t)1 << 20)
#define ID_DIGITS 16
/* of whatever session: a push sends what came after it, though all sessions were dropped */
#define LAST_BASE DEPOT_REFS "base"

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

static int read_input(struct depot *d, struct ga_error *err)
{
	cleanup_buf struct ga_buf in = GA_BUF_INIT;

	if (ga_read_fd(STDIN_FILENO, INPUT_MAX, &in, err))
		return -1;
	d->input = json_loadb(in.ptr, in.len, 0, NULL);
	return d->input ? 0 : ga_fail(err, GA_EFATAL, "what came with the request was cut");
}

/* ---- programs -------------------------------------------------------------------------------- */

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
	struct ga_process p = GA_PROCESS_INIT;
	cleanup_free char *line = NULL;
	const char *hint, *said;
	int status;

	p.argv = (const char *const *)words->v;
	p.cwd = how->cwd ? how->cwd : "/";
	p.in = how->in ? how->in->ptr : NULL;
	p.in_len = how->in ? how->in->len : 0;
	p.out = out;
	p.out_max = how->out_max;
	p.timeout_ms = how->timeout_ms;
	p.errout = &why;
	p.keep_fd = how->keep > 0 ? how->keep : -1;
	add_keys(how->keys, &env);
	ga_user_environ(&env);
	p.envp = (const char *const *)env.v;
	if (ga_process_run(&p, &status, err))
		return -1;
	if (!status)
		return 0;
	/* git-agent's own: the error, and behind it the hint */
	said = strstr(why.len ? why.ptr : "", "git-agent: ");
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
	cleanup_error struct ga_error none = GA_ERROR_INIT;

	return !GIT(d, &none, "rev-parse", "--quiet", "--verify", ref);
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

/* Say once that what follows is what was asked for, where nobody reads it on a terminal. */
static void ready(struct depot *d)
{
	if (!d->ready && !d->passes && !json_is_true(json_object_get(d->request, "terminal")))
		(void)ga_write_full(STDOUT_FILENO, GA_ON_READY "\n", strlen(GA_ON_READY) + 1);
	d->ready = true;
}

int depot_connect(struct depot *d, const struct ga_strv *words, const char *cwd,
		  struct ga_error *err)
{
	struct ga_process p = GA_PROCESS_INIT;

	ready(d);
	p.argv = (const char *const *)words->v;
	p.cwd = cwd;
	p.in_fd = STDIN_FILENO;
	p.out_fd = STDOUT_FILENO;
	return ga_process_run(&p, &d->status, err);
}

/* ---- what is asked --------------------------------------------------------------------------- */

/* Make it aside, and give it its name when it is whole: several may ask at once. */
int depot_make(struct depot *d, struct ga_error *err)
{
	cleanup_free char *aside = ga_path_join(d->dir, ".new-XXXXXX");
	cleanup_free char *git = NULL;
	struct depot new = { 0 };
	cleanup_error struct ga_error second = GA_ERROR_INIT;
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
	(void)ga_rmtree_at(AT_FDCWD, aside, &second);
	return rc;
}

static int check_depot(const struct depot *d, struct ga_error *err)
{
	if (!access(d->git, F_OK))
		return 0;
	(void)ga_fail(err, GA_EFATAL, "the depot of this repository is gone");
	return ga_hint(err, "what ran there is unknown; 'git agent drop --force' forgets it");
}

static int check_tree(const struct depot *d, struct ga_error *err)
{
	return access(d->tree, F_OK) ? ga_fail(err, GA_ENEGATIVE, "there is no such session there")
				     : 0;
}

/* For git, here: the other end of git there. */
static int do_git(struct depot *d, struct ga_error *err)
{
	static const char *const shown[][2] = {
		{ "heads/agent/", "" }, { "agent/", "/held" }, { "agent-on/", "/base" },
		{ "agent-on/", "/snapshot" },
	};
	const char *service = depot_text(d->request, "service");
	cleanup_strv struct ga_strv words = GA_STRV_INIT;

	if (strcmp(service, "receive-pack") && strcmp(service, "upload-pack"))
		return ga_fail(err, GA_EUSAGE, "unknown service");
	if (check_depot(d, err))
		return -1;
	/* git tells of commits that both have: only of this session's, and of the base before it */
	ga_strv_push_many(&words, "git", "-c", "transfer.hideRefs=refs/", "-c",
			  "receive.hideRefs=!" LAST_BASE, NULL);
	for (size_t i = 0; i < GA_NELEMS(shown); i++) {
		ga_strv_push(&words, "-c");
		ga_strv_pushf(&words, "transfer.hideRefs=!refs/%s%s%s", shown[i][0], d->name,
			      shown[i][1]);
	}
	ga_strv_push_many(&words, service, d->git, NULL);
	return depot_connect(d, &words, "/", err);
}

/* Hold the session for as long as it is being started and runs. Returns 1 if somebody does. */
static int hold(struct depot *d, int *ret_fd, struct ga_error *err)
{
	cleanup_free char *above = ga_path_parent(d->tree);

	if (ga_mkdir_p(above, 0700, err))
		return -1;
	*ret_fd = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*ret_fd < 0)
		return ga_fail_path(err, errno, "open", above);
	return ga_flock(*ret_fd, true, false, err);
}

/* Take the claim: of all that come for this session one succeeds, ever, but if it died before there
 * was a session, and another holds it now. Returns 1 for others. */
static int claim(struct depot *d, struct ga_error *err)
{
	cleanup_free char *ref = depot_ref(d, "claim"), *base = depot_ref(d, "base");
	cleanup_error struct ga_error lost = GA_ERROR_INIT, ignored = GA_ERROR_INIT;

	(void)GIT(d, &ignored, "update-ref", LAST_BASE, base);
	if (!GIT(d, &lost, "update-ref", ref, base, ""))
		return 0;
	return depot_has(d, DEPOT_REFS, "claim") ? depot_has(d, GA_SESSION_REFS, "base")
						: ga_error_move(err, &lost);
}

/* ---- its working tree ------------------------------------------------------------------------ */

/* Run git there, without hooks. */
#define in_tree(d, err, ...) \
	({ \
		cleanup_strv struct ga_strv words_ = GA_STRV_INIT; \
		ga_strv_push_many(&words_, "git", "-c", "core.hooksPath=/dev/null", \
				  __VA_ARGS__, NULL); \
		depot_run(&words_, DEPOT_RUN(.cwd = (d)->tree), NULL, err); \
	})

/* And git's entry for it, or what there is of either. */
static void remove_tree(struct depot *d)
{
	cleanup_free char *entry = ga_strf("%s/worktrees/%s", d->git, d->name);
	cleanup_error struct ga_error none = GA_ERROR_INIT, ignored = GA_ERROR_INIT;

	(void)ga_rmtree_at(AT_FDCWD, entry, &none);
	(void)ga_rmtree_at(AT_FDCWD, d->tree, &ignored);
}

static int give_back(struct depot *d, struct ga_error *err)
{
	cleanup_free char *above = ga_path_parent(d->tree);

	remove_tree(d);
	(void)rmdir(above);
	return depot_forget(d, err);
}

static int add_tree(struct depot *d, const char *base, struct ga_error *err)
{
	cleanup_buf struct ga_buf id = GA_BUF_INIT;

	if (GIT_OUT(d, NULL, &id, err, "rev-parse", "--verify", base) ||
	    ga_mkdir_p(d->tree, 0700, err))
		return -1;
	ga_buf_chomp(&id);
	return ga_worktree_add(d->git, d->name, d->tree, id.ptr, err) ||
	       in_tree(d, err, "reset", "--quiet", "--hard") ? -1 : 0;
}

/* Make the working tree: the base and, as uncommitted changes, what the snapshot has. */
static int make_tree(struct depot *d, struct ga_error *err)
{
	cleanup_free char *base = depot_ref(d, "base"), *snapshot = depot_ref(d, "snapshot");

	remove_tree(d);
	if (add_tree(d, base, err))
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

static int do_start(struct depot *d, struct ga_error *err)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_close int held = -1;
	int rc = check_depot(d, err);

	if (!rc && !depot_has(d, DEPOT_REFS, "base"))
		rc = ga_fail(err, GA_EFATAL, "the base of the session is not there");
	if (!rc && json_is_true(json_object_get(d->input, "slurm")))
		rc = slurm_submit(d, err);
	else if (!rc && !(rc = hold(d, &held, err)) && !(rc = claim(d, err)) &&
		 depot_start(d, held, err)) {
		/* of a start that failed there is no record by which it could be dropped */
		(void)give_back(d, &ignored);
		rc = -1;
	}
	ga_json_set(d->answer, "claimed", json_boolean(rc > 0));
	return rc < 0 ? -1 : 0;
}

static int do_resume(struct depot *d, struct ga_error *err)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;

	depot_agent(d, &words);
	ga_strv_push_many(&words, "resume", "-q", "-d", "--keep", NULL);
	ga_json_words(json_object_get(d->input, "words"), &words);
	return check_tree(d, err) ||
	       depot_run(&words, DEPOT_RUN(.cwd = d->tree,
					   .keys = json_object_get(d->input, "keys")), NULL, err)
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

static int do_list(struct depot *d, struct ga_error *err)
{
	json_t *states = check_depot(d, err) ? NULL : depot_sessions(d, err);

	ga_json_set(d->answer, "sessions", states);
	return states ? slurm_list(d, states, err) : -1;
}

/* Run the command, in the session's working tree. */
static int do_run(struct depot *d, struct ga_error *err)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT, all = GA_STRV_INIT;

	ga_json_words(json_object_get(d->request, "words"), &words);
	if (!words.n || !ga_has_word("attach logs shell stop send show diff", words.v[0]))
		return ga_fail(err, GA_EUSAGE, "unknown command");
	if (depot_has(d, DEPOT_REFS, "slurm"))
		return slurm_do(d, &words, err);
	if (check_tree(d, err))
		return -1;
	depot_agent(d, &all);
	ga_strv_extend(&all, &words);
	return depot_connect(d, &all, d->tree, err);
}

/* What there is on top of the snapshot. */
static int do_patch(struct depot *d, struct ga_error *err)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	cleanup_free char *ref = depot_ref(d, "patch"), *text = NULL;
	bool left = depot_has(d, DEPOT_REFS, "patch");
	const struct depot_run how = { .cwd = left ? "/" : d->tree, .out_max = ON_PATCH_MAX };

	if (left) {
		ga_strv_push_many(&words, "git", "--git-dir", d->git, "cat-file", "blob", ref,
				  NULL);
	} else {
		depot_agent(d, &words);
		ga_strv_push_many(&words, "diff", "--uncommitted", d->name, NULL);
	}
	if (depot_run(&words, &how, &out, err))
		return -1;
	text = ga_base64(out.ptr, out.len);
	ga_json_set(d->answer, "patch", json_string(text));
	return 0;
}

static int do_drop(struct depot *d, struct ga_error *err)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;

	if (depot_has(d, DEPOT_REFS, "slurm"))
		return slurm_drop(d, err);
	ga_strv_push_many(&words, d->self, "drop", "--force", d->name, NULL);
	if (!access(d->tree, F_OK) && depot_has(d, GA_SESSION_REFS, "base") &&
	    depot_run(&words, DEPOT_RUN(.cwd = d->tree), NULL, err))
		return -1;
	return give_back(d, err);
}

/* ---- requests -------------------------------------------------------------------------------- */

static bool is_id(const char *s)
{
	return strlen(s) == ID_DIGITS && strspn(s, "0123456789abcdef") == ID_DIGITS;
}

/* A directory's name that may be shown anywhere. */
static bool is_plain(const char *s)
{
	return *s && *s != '.' && *s != '-' && strlen(s) <= GA_SESSION_NAME_MAX &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
		       strlen(s);
}

static int open_depot(struct depot *d, const char *home, struct ga_error *err)
{
	const char *data = ga_env_get("XDG_DATA_HOME");
	bool set = data && *data == '/';
	const char *project = depot_text(d->request, "project");
	const char *directory = depot_text(d->request, "directory");
	const char *name = depot_text(d->request, "name");
	cleanup_free char *dir = ga_strf("%s%s/git-agent/on/%s", set ? data : home,
					 set ? "" : "/.local/share", project);

	if (!is_id(project) || !ga_session_name_ok(name) || !is_plain(directory))
		return ga_fail(err, GA_EUSAGE, "the request is not understood");
	depot_at(d, dir, name, directory);
	return 0;
}

static void answer(const struct depot *d, const struct ga_error *err)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT;

	if (err) {
		ga_json_set_bytes(d->answer, "error", err->msg);
		ga_json_set_bytes(d->answer, "hint", err->hint);
	}
	ga_buf_adds(&out, GA_ON_READY "\n");
	ga_json_add_text(d->answer, &out);
	ga_buf_addch(&out, '\n');
	(void)ga_write_full(STDOUT_FILENO, out.ptr, out.len);
}

int ga_on_serve(const char *word, const char *home, int *ret_status,
		struct ga_error *err)
{
	static const struct {
		const char *name;
		int (*fn)(struct depot *d, struct ga_error *err);
		bool reads, connects;
	} actions[] = {
		{ "", NULL, false, false }, { "open", depot_make, false, false },
		{ "git", do_git, false, true }, { "start", do_start, true, false },
		{ "resume", do_resume, true, false }, { "list", do_list, false, false },
		{ "run", do_run, false, true }, { "patch", do_patch, false, false },
		{ "drop", do_drop, false, false },
		{ "job", slurm_job, false, true }, { "inside", slurm_inside, false, true },
	};
	cleanup_depot struct depot d = { .request = on_unpack(word), .answer = json_object() };
	size_t i = GA_NELEMS(actions) - 1;
	int rc = -1;

	while (i && strcmp(actions[i].name, depot_text(d.request, "do")) != 0)
		i--;
	if (!i)
		(void)ga_fail(err, GA_EUSAGE, "the request is not understood: another version?");
	else if (!open_depot(&d, home, err) && !(actions[i].reads && read_input(&d, err)))
		rc = actions[i].fn(&d, err);
	*ret_status = rc ? ga_error_status(err->code) : d.status;
	if (!actions[i].connects) {
		answer(&d, rc ? err : NULL);
		ga_error_release(err);
		rc = 0;
	} else if (json_object_get(d.request, "end") && (rc || !d.passes)) {
		/* if it failed, the command line says why */
		d.passes = false;
		ready(&d);
		on_end_print(d.request, *ret_status);
		*ret_status = rc ? *ret_status : 0;
	}
	return rc;
}
