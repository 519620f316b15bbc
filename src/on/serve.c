/* SPDX-License-Identifier: MIT
 *
 * Remote side: handle each action of a request, and answer it.
 */
#include "on-internal.h"

#define INPUT_MAX ((size_t)1 << 20)
#define ID_DIGITS 16
/* kept without sessions: a push sends only later objects */
#define LAST_BASE DEPOT_REFS "base"

static int read_input(struct depot *d, struct ga_error *err)
{
	cleanup_buf struct ga_buf in = GA_BUF_INIT;

	if (ga_read_fd(STDIN_FILENO, INPUT_MAX, &in, err))
		return -1;
	d->input = json_loadb(in.ptr, in.len, 0, NULL);
	return d->input ? 0 : ga_fail(err, GA_EFATAL, "what came with the request was cut");
}

static int check_depot(const struct depot *d, struct ga_error *err)
{
	if (!access(d->git, F_OK))
		return 0;
	return ga_fail(err, GA_EFATAL, "the depot of this repository is gone" GA_HINT
		       "what ran there is unknown; 'git agent drop --force' forgets it");
}

static int check_tree(const struct depot *d, struct ga_error *err)
{
	return access(d->tree, F_OK) ? ga_fail(err, GA_ENEGATIVE, "there is no such session there")
				     : 0;
}

/* Run the remote end of git. */
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
	/* let git announce only commits of this session, and of the base before it */
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

/* Claim the session: only one process ever succeeds, except that another may take over the claim of
 * one that died before the session existed. Returns 1 for the others. */
static int claim(struct depot *d, struct ga_error *err)
{
	cleanup_free char *ref = depot_ref(d, "claim"), *base = depot_ref(d, "base");
	cleanup_error struct ga_error lost = GA_ERROR_INIT;

	if (!GIT(d, &lost, "update-ref", ref, base, ""))
		return 0;
	return depot_has(d, DEPOT_REFS, "claim") ? depot_has(d, GA_SESSION_REFS, "base")
						: ga_error_move(err, &lost);
}

static int give_back(struct depot *d, struct ga_error *err)
{
	cleanup_free char *above = ga_path_parent(d->tree);

	depot_remove_tree(d);
	(void)rmdir(above);
	return depot_forget(d, err);
}

static int do_start(struct depot *d, struct ga_error *err)
{
	cleanup_free char *above = ga_path_parent(d->tree), *base = depot_ref(d, "base");
	cleanup_close int held = -1;
	int rc = check_depot(d, err);

	if (!rc && GIT(d, GA_IGNORED, "update-ref", LAST_BASE, base))
		rc = ga_fail(err, GA_EFATAL, "the base of the session is not there");
	if (!rc && json_is_true(json_object_get(d->input, "slurm")))
		rc = slurm_submit(d, err);
	else if (!rc && (ga_mkdir_p(above, 0700, err) ||
			 (held = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0))
		rc = err->msg ? -1 : ga_fail_path(err, errno, "open", above);
	/* held while the session starts and runs */
	else if (!rc && !(rc = ga_flock(held, true, false, err)) && !(rc = claim(d, err)) &&
		 depot_start(d, held, err)) {
		/* a failed start has no record by which it could be dropped */
		(void)give_back(d, GA_IGNORED);
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

static int do_list(struct depot *d, struct ga_error *err)
{
	json_t *states = check_depot(d, err) ? NULL : depot_sessions(d, err);

	ga_json_set(d->answer, "sessions", states);
	return states ? slurm_list(d, states, err) : -1;
}

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

/* The patch on top of the snapshot. */
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

/* Is it a directory's name that is safe to show? */
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

	if (strlen(project) != ID_DIGITS || project[strspn(project, "0123456789abcdef")] ||
	    !ga_session_name_ok(name) || !is_plain(directory))
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

int ga_on_serve(const char *word, const char *home, int *ret_status, struct ga_error *err)
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
		/* the command line reports a failure */
		d.passes = false;
		depot_ready(&d);
		on_end_print(d.request, *ret_status);
		*ret_status = rc ? *ret_status : 0;
	}
	return rc;
}
