/* SPDX-License-Identifier: MIT
 *
 * Call another machine: ssh's arguments, requests and answers.
 */
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "on-internal.h"

#define ANSWER_MAX ((size_t)1 << 20)
#define GREETING_MS 2000
/* sun_path, without what ssh appends to the name until it is bound, and %C's 40 digits */
#define SOCKET_DIR_MAX (108 - 18 - 41)

/* ---- words ----------------------------------------------------------------------------------- */

/* ssh greets clients on the socket of a shared connection. A hanging one does not, and its clients
 * wait forever. */
static bool hangs(const char *path)
{
	cleanup_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (fd < 0 || strlen(path) >= sizeof(a.sun_path))
		return false;
	memcpy(a.sun_path, path, strlen(path));
	if (connect(fd, (const struct sockaddr *)&a, sizeof(a)))
		return errno == EAGAIN;
	return !poll(&p, 1, GREETING_MS);
}

/* Remove the sockets of hanging connections. */
static void sweep_sockets(const char *dir)
{
	cleanup_dir DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = ga_dir_next(d))) {
		cleanup_free char *path = ga_path_join(dir, e->d_name);

		if (hangs(path))
			(void)unlink(path);
	}
}

/* The directory for sockets of shared connections, made if missing. NULL: there is no place for
 * one. */
static char *socket_dir(void)
{
	const char *run = ga_env_get("XDG_RUNTIME_DIR"), *home = ga_env_get("HOME");
	cleanup_free char *dir = run && *run == '/' ? ga_path_join(run, "git-agent")
			       : home ? ga_path_join(home, ".ssh/git-agent") : NULL;
	struct stat st;

	if (!dir || strlen(dir) > SOCKET_DIR_MAX || strpbrk(dir, "% \"'") ||
	    ga_mkdir_p(dir, 0700, GA_IGNORED) || stat(dir, &st) || st.st_uid != geteuid() ||
	    (st.st_mode & 077))
		return NULL;
	sweep_sockets(dir);
	return ga_steal(&dir);
}

char *on_pack(json_t *request)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	char *word;

	ga_json_add_text(request, &text);
	word = ga_base64(text.ptr, text.len);
	for (char *p = word; *p; p++)
		*p = *p == '+' ? '-' : *p == '/' ? '_' : *p;
	word[strcspn(word, "=")] = '\0';
	return word;
}

json_t *on_unpack(const char *word)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT, text = GA_BUF_INIT;

	for (const char *p = word; *p; p++)
		ga_buf_addch(&b, *p == '-' ? '+' : *p == '_' ? '/' : *p);
	while (b.len % 4)
		ga_buf_addch(&b, '=');
	return b.len && ga_base64_decode(b.ptr, &text) ? json_loadb(text.ptr, text.len, 0, NULL)
						       : NULL;
}

char *on_self(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));

	return ga_strndup(path, n > 0 ? (size_t)n : 0);
}

static void add_ssh(const struct ga_on *o, enum on_how how, struct ga_strv *ret)
{
	cleanup_free char *dir = socket_dir();

	ga_strv_push_many(ret, "ssh", how == ON_TERMINAL ? "-tt" : "-T", NULL);
	if (how == ON_UNASKED)
		ga_strv_push_many(ret, "-o", "BatchMode=yes", NULL);
	ga_strv_push_many(ret, "-o", "LogLevel=ERROR", "-o",
			  "ForwardAgent=no", "-o", "ForwardX11=no", "-o",
			  "ClearAllForwardings=yes", "-o", "RemoteCommand=none", "-o",
			  "ConnectTimeout=15", "-o", "ServerAliveInterval=15", NULL);
	if (dir) {
		ga_strv_push_many(ret, "-o", "ControlMaster=auto", "-o", "ControlPersist=60",
				  "-o", NULL);
		ga_strv_pushf(ret, "ControlPath=%s/%%C", dir);
	}
	ga_strv_push_many(ret, "--", o->way.ssh ? o->way.ssh : o->host, NULL);
}

void on_words_for(const struct ga_on *o, const char *action, json_t *more, enum on_how how,
		  struct ga_strv *ret)
{
	json_t *j = more ? more : json_object();
	cleanup_free char *word = NULL;

	ga_json_set(j, "do", json_string(action));
	ga_json_set(j, "project", json_string(o->project));
	ga_json_set(j, "name", json_string(o->far));
	ga_json_set(j, "directory", json_string(o->directory));
	word = on_pack(j);
	json_decref(j);
	if (o->way.run.n)
		ga_strv_extend(ret, how == ON_TERMINAL ? &o->way.terminal : &o->way.run);
	else
		add_ssh(o, how, ret);
	ga_strv_push_many(ret, "git", "agent", "depot", word, NULL);
}

char *ga_on_url(const struct ga_on *o)
{
	cleanup_free char *self = on_self(), *word = NULL;
	cleanup_buf struct ga_buf url = GA_BUF_INIT;
	json_t *j = on_encode(o);

	(void)json_object_del(j, "options");
	(void)json_object_del(j, "command");
	word = on_pack(j);
	json_decref(j);
	ga_buf_adds(&url, "ext::");
	for (const char *p = self; *p; p++)
		ga_buf_addf(&url, *p == ' ' || *p == '%' ? "%%%c" : "%c", *p);
	ga_buf_addf(&url, " depot --pipe %s %%s", word);
	return ga_buf_steal(&url);
}

/* ---- calls ----------------------------------------------------------------------------------- */

char *ga_on_here(const struct ga_on *o, const char *text)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	const char *at;

	for (; (at = strstr(text, o->far)); text = at + strlen(o->far)) {
		ga_buf_add(&b, text, (size_t)(at - text));
		ga_buf_adds(&b, o->name);
	}
	ga_buf_adds(&b, text);
	return ga_buf_steal(&b);
}

/* Does a git-agent of another version answer? */
static bool is_other_version(const struct ga_buf *out)
{
	static const char mark[] = GA_ON_READY;

	return out && out->len && memmem(out->ptr, out->len, mark, strcspn(mark, " ") + 1) &&
	       !memmem(out->ptr, out->len, mark, strlen(mark));
}

int on_fail_there(const struct ga_on *o, int status, const struct ga_buf *out,
		  const struct ga_buf *why, struct ga_error *err)
{
	cleanup_free char *line = ga_git_last_line(why);
	cleanup_free char *way = o->way.run.n ? ga_quote_shell_words(&o->way.run)
					  : ga_strf("ssh %s", o->way.ssh ? o->way.ssh : o->host);

	if (status == ON_SSH_FAILED && !o->way.run.n)
		return ga_fail(err, GA_EFATAL,
			       "cannot reach '%s': %s" GA_HINT "'%s' shows why; it "
			       "is unknown what runs there",
			       o->host, line ? line : "ssh failed", way);
	if (is_other_version(out))
		(void)ga_fail(err, GA_EFATAL, "git-agent on '%s' is of another version than here",
			      o->host);
	else
		(void)ga_fail(err, GA_EFATAL, "git-agent does not answer on '%s': %s", o->host,
			      line ? line : "no message");
	return ga_hint(err, "'%s git agent --version' must print the version that is here",
		       way);
}

/* The text after the line GA_ON_READY, or NULL. */
static const char *skip_noise(const struct ga_buf *out)
{
	static const char mark[] = GA_ON_READY "\n";
	const char *at = out->len ? memmem(out->ptr, out->len, mark, strlen(mark)) : NULL;

	return at && (size_t)(at - out->ptr) <= ON_NOISE_MAX ? at + strlen(mark) : NULL;
}

/* Parse the answer of a call, after the login shell's output. Returns 1 if it is an error. */
static int parse_answer(const struct ga_on *o, int status, const struct ga_buf *out,
			const struct ga_buf *why, json_t **ret, struct ga_error *err)
{
	const char *ready = skip_noise(out);
	cleanup_free char *text = NULL, *hint = NULL, *safe = NULL;
	const char *said, *more;
	json_t *j = ready ? json_loads(ready, JSON_DISABLE_EOF_CHECK, NULL) : NULL;

	if (!json_is_object(j)) {
		json_decref(j);
		return on_fail_there(o, status, out, why, err);
	}
	said = json_string_value(json_object_get(j, "error"));
	more = json_string_value(json_object_get(j, "hint"));
	if (said) {
		text = ga_on_here(o, said);
		(void)ga_fail(err, GA_EFATAL, "on '%s': %s", o->host, text);
	} else if (ret) {
		*ret = json_incref(j);
	}
	if (said && more) {
		/* a hint may have several lines */
		hint = ga_on_here(o, more);
		safe = ga_escape(hint);
		(void)ga_hint(err, "on '%s': %s", o->host, safe);
	}
	json_decref(j);
	return text ? 1 : 0;
}

/* Call once. Returns 2 without a valid answer. */
static int ask(const struct ga_on *o, const char *action, const struct ga_buf *in, json_t **ret,
	       struct ga_error *err)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT, why = GA_BUF_INIT;
	struct ga_process p;
	int status, rc;

	on_words_for(o, action, NULL, ON_PIPES, &words);
	p = (struct ga_process)GA_PROCESS(
		.argv = (const char *const *)words.v, .in = in ? in->ptr : NULL,
		.in_len = in ? in->len : 0, .out = &out, .errout = &why, .timeout_ms = ON_CALL_MS,
		.out_max = strcmp(action, "patch") ? ANSWER_MAX : 2 * ON_PATCH_MAX);
	if (ga_process_run(&p, &status, err))
		return ga_error_wrap(err, "no answer from '%s'", o->host);
	rc = parse_answer(o, status, &out, &why, ret, err);
	return rc < 0 && status != ON_SSH_FAILED ? 2 : rc;
}

int ga_on_call(const struct ga_on *o, const char *action, const struct ga_buf *in, json_t **ret,
	       struct ga_error *err)
{
	cleanup_error struct ga_error first = GA_ERROR_INIT;
	int rc = ask(o, action, in, ret, &first);

	/* idempotent requests: a session is claimed once */
	if (rc == 2 && ga_has_word("open start list patch drop", action))
		rc = ask(o, action, in, ret, err);
	else if (rc)
		(void)ga_error_move(err, &first);
	return rc == 2 ? -1 : rc;
}

int ga_on_patch(const struct ga_on *o, struct ga_buf *ret, struct ga_error *err)
{
	json_t *answer = NULL;
	int rc = ga_on_call(o, "patch", NULL, &answer, err);
	const char *patch = json_string_value(json_object_get(answer, "patch"));

	if (!rc && (!patch || !ga_base64_decode(patch, ret)))
		rc = ga_fail(err, GA_EFATAL, "on '%s': the patch is damaged", o->host);
	json_decref(answer);
	return rc ? -1 : 0;
}

/* ---- states of sessions ---------------------------------------------------------------------- */

/* A question to one host about one repository, and its answer. */
struct question {
	struct ga_strv words;
	struct ga_buf out, why;
	struct ga_process p;
	struct ga_process_job *job;
};

static void take_oid(const json_t *j, const char *key, struct ga_oid *ret)
{
	const char *hex = json_string_value(json_object_get(j, key));

	if (!hex || !ga_oid_parse(hex, strlen(hex), ret))
		*ret = ga_oid_none;
}

static void set_state(struct ga_on *o, const char *state)
{
	char *mine = ga_strdup(state);

	free(o->state);
	o->state = mine;
	o->asked = (uint64_t)time(NULL);
	o->answers = true;
}

/* Both have one question. */
static bool is_along(const struct ga_on *a, const struct ga_on *b)
{
	return !strcmp(a->host, b->host) && !strcmp(a->project, b->project);
}

static void take_states(struct ga_ons *l, const struct ga_on *asked, const json_t *answer)
{
	const json_t *sessions = json_object_get(answer, "sessions");

	for (size_t i = 0; i < l->n; i++) {
		struct ga_on *o = &l->v[i];
		const json_t *one = json_object_get(sessions, o->far);
		const char *state = json_string_value(json_object_get(one, "state"));
		const char *why = json_string_value(json_object_get(one, "why"));
		const json_t *end = json_object_get(one, "exit");
		enum ga_state known;

		if (!o->submitted || !is_along(o, asked))
			continue;
		free(o->why);
		o->why = why ? ga_escape(why) : NULL;
		if (state && !ga_state_parse(state, &known) &&
		    !ga_has_word("absent " GA_ON_STATES, state))
			continue;
		set_state(o, state ? state : "absent");
		take_oid(one, "tip", &o->tip);
		take_oid(one, "held", &o->held);
		o->exit = json_is_integer(end) ? (int)json_integer_value(end) & 255 : -1;
	}
}

void ga_on_ask(struct ga_ons *l, unsigned timeout_ms)
{
	struct question *v = ga_calloc(l->n + 1, sizeof(*v));

	for (size_t i = 0; i < l->n; i++) {
		struct question *q = &v[i];
		bool asked = false;

		l->v[i].answers = false;
		if (!l->v[i].submitted)
			set_state(&l->v[i], "absent");
		for (size_t k = 0; k < i; k++)
			asked |= l->v[k].submitted && is_along(&l->v[k], &l->v[i]);
		if (!l->v[i].submitted || asked)
			continue;
		on_words_for(&l->v[i], "list", NULL, ON_UNASKED, &q->words);
		q->p = (struct ga_process)GA_PROCESS(
			.argv = (const char *const *)q->words.v, .out = &q->out,
			.out_max = ANSWER_MAX, .errout = &q->why, .timeout_ms = timeout_ms);
		(void)ga_process_begin(&q->p, &q->job, GA_IGNORED);
	}
	for (size_t i = 0; i < l->n; i++) {
		json_t *answer = NULL;
		int status;

		if (v[i].job && !ga_process_end(v[i].job, &status, GA_IGNORED) &&
		    !parse_answer(&l->v[i], status, &v[i].out, &v[i].why, &answer, GA_IGNORED))
			take_states(l, &l->v[i], answer);
		json_decref(answer);
		ga_strv_release(&v[i].words);
		ga_buf_release(&v[i].out);
		ga_buf_release(&v[i].why);
	}
	free(v);
}

int ga_on_query(struct ga_on *o, struct ga_error *err)
{
	struct ga_ons one = { .v = o, .n = 1 };
	json_t *answer = NULL;

	if (!o->submitted) {
		set_state(o, "absent");
		return 0;
	}
	o->answers = false;
	if (ga_on_call(o, "list", NULL, &answer, err))
		return -1;
	take_states(&one, o, answer);
	json_decref(answer);
	return o->answers ? 0 : ga_fail(err, GA_EFATAL, "on '%s': %s", o->host,
					o->why ? o->why : "the answer is none");
}
