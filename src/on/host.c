/* SPDX-License-Identifier: MIT
 *
 * The way to another machine: the words of ssh, requests and answers.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "ga/clock.h"
#include "ga/fd.h"
#include "ga/json.h"
#include "ga/path.h"
#include "ga/process.h"
#include "ga/quote.h"
#include "ga/session.h"
#include "ga/termfilter.h"
#include "on-internal.h"

#define ANSWER_MAX ((size_t)1 << 20)
#define NOISE_MAX ((size_t)1 << 16) /* what a login shell may print before */
#define CALL_MS 120000                /* hardware keys and passwords take their time */
#define GREETING_MS 2000
#define SSH_FAILED 255              /* ssh(1): an error of its own */
#define PIECE ((size_t)1 << 16)
/* sun_path, without what ssh appends to the name until it is bound, and %C's 40 digits */
#define SOCKET_DIR_MAX (108 - 18 - 41)

enum how { PLAIN, ON_TERMINAL, UNASKED };

/* ---- words ----------------------------------------------------------------------------------- */

/* ssh greets whoever connects to the socket of a shared connection. One that does not hangs, and
 * whoever uses it waits forever. */
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

/* Connections that hang are not used any more: their sockets go. */
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

/* Where the socket of a shared connection is, made if missing. NULL: there is no place for one. */
static char *socket_dir(void)
{
	const char *run = ga_env_get("XDG_RUNTIME_DIR"), *home = ga_env_get("HOME");
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *dir = run && *run == '/' ? ga_path_join(run, "git-agent")
			       : home ? ga_path_join(home, ".ssh/git-agent") : NULL;
	struct stat st;

	if (!dir || strlen(dir) > SOCKET_DIR_MAX || strpbrk(dir, "% \"'") ||
	    ga_mkdir_p(dir, 0700, &ignored) || stat(dir, &st) || st.st_uid != geteuid() ||
	    (st.st_mode & 077))
		return NULL;
	sweep_sockets(dir);
	return ga_steal(&dir);
}

/* One word that every shell takes as it is: base64url without padding. */
static char *pack(json_t *request)
{
	cleanup_free char *text = json_dumps(request, JSON_COMPACT);
	char *word = ga_base64(text ? text : "", text ? strlen(text) : 0);

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

static char *request(const struct ga_on *o, const char *action, json_t *more)
{
	json_t *j = more ? more : json_object();
	char *word;

	ga_json_set(j, "do", json_string(action));
	ga_json_set(j, "project", json_string(o->project));
	ga_json_set(j, "name", json_string(o->far));
	ga_json_set(j, "directory", json_string(o->directory));
	word = pack(j);
	json_decref(j);
	return word;
}

static void words_to(const char *host, const char *word, enum how how, struct ga_strv *ret)
{
	cleanup_free char *dir = socket_dir();

	ga_strv_push_many(ret, "ssh", how == ON_TERMINAL ? "-tt" : "-T", NULL);
	if (how == UNASKED)
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
	ga_strv_push_many(ret, "--", host, "git", "agent", "depot", word, NULL);
}

/* The words that have it done, with these further members of the request (taken over). */
static void words_for(const struct ga_on *o, const char *action, json_t *more, enum how how,
		      struct ga_strv *ret)
{
	cleanup_free char *word = request(o, action, more);

	words_to(o->host, word, how, ret);
}

char *ga_on_url(const struct ga_on *o)
{
	cleanup_free char *word = request(o, "git", NULL);
	cleanup_free char *self = on_self();
	cleanup_buf struct ga_buf url = GA_BUF_INIT;
	const char *const words[] = { self, "depot", "--pipe", o->host, word, "%s" };

	ga_buf_adds(&url, "ext::");
	for (size_t i = 0; i < GA_NELEMS(words); i++) {
		ga_buf_adds(&url, i ? " " : "");
		for (const char *p = words[i]; *p; p++) {
			if (*p == ' ' || (*p == '%' && i + 1 < GA_NELEMS(words)))
				ga_buf_addch(&url, '%');
			ga_buf_addch(&url, *p);
		}
	}
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

/* There is a git-agent that says another GA_ON_READY. */
static bool is_other_version(const struct ga_buf *out)
{
	static const char mark[] = GA_ON_READY;

	return out && out->len && memmem(out->ptr, out->len, mark, strcspn(mark, " ") + 1) &&
	       !memmem(out->ptr, out->len, mark, strlen(mark));
}

static int fail_there(const char *host, int status, const struct ga_buf *out,
		      const struct ga_buf *why, struct ga_error *err)
{
	cleanup_free char *line = ga_git_last_line(why), *q = ga_escape(host);

	if (status == SSH_FAILED) {
		(void)ga_fail(err, GA_EFATAL, "cannot reach '%s': %s", q,
			      line ? line : "ssh failed");
		return ga_hint(err, "'ssh %s' shows why; it is unknown what runs there", q);
	}
	if (is_other_version(out))
		(void)ga_fail(err, GA_EFATAL, "git-agent on '%s' is of another version than here",
			      q);
	else
		(void)ga_fail(err, GA_EFATAL, "git-agent does not answer on '%s': %s", q,
			      line ? line : "no message");
	return ga_hint(err, "'ssh %s git agent --version' must print the version that is here", q);
}

/* What follows the line GA_ON_READY; NULL: there is none. */
static const char *behind_noise(const struct ga_buf *out)
{
	static const char mark[] = GA_ON_READY "\n";
	const char *at = out->len ? memmem(out->ptr, out->len, mark, strlen(mark)) : NULL;

	return at && (size_t)(at - out->ptr) <= NOISE_MAX ? at + strlen(mark) : NULL;
}

/* The answer of a call, behind what the login shell printed. Returns 1 if it is an error. */
static int take_answer(const struct ga_on *o, int status, const struct ga_buf *out,
		       const struct ga_buf *why, json_t **ret, struct ga_error *err)
{
	const char *ready = behind_noise(out);
	cleanup_free char *text = NULL, *hint = NULL, *safe = NULL;
	const char *said, *more;
	json_t *j = ready ? json_loads(ready, JSON_DISABLE_EOF_CHECK, NULL) : NULL;

	if (!json_is_object(j)) {
		json_decref(j);
		return fail_there(o->host, status, out, why, err);
	}
	said = json_string_value(json_object_get(j, "error"));
	more = json_string_value(json_object_get(j, "hint"));
	if (!said) {
		*ret = j;
		return 0;
	}
	text = ga_on_here(o, said);
	hint = more ? ga_on_here(o, more) : NULL;
	json_decref(j);
	(void)ga_fail(err, GA_EFATAL, "on '%s': %s", o->host, text);
	/* a hint may have lines, this one has none */
	safe = hint ? ga_escape(hint) : NULL;
	if (safe)
		(void)ga_hint(err, "on '%s': %s", o->host, safe);
	return 1;
}

static int call(const struct ga_on *o, const char *action, json_t *more, const struct ga_buf *in,
		size_t max, struct ga_buf *out, struct ga_buf *why, int *ret_status,
		struct ga_error *err)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;
	struct ga_process p = GA_PROCESS_INIT;

	words_for(o, action, more, PLAIN, &words);
	p.argv = (const char *const *)words.v;
	p.in = in ? in->ptr : NULL;
	p.in_len = in ? in->len : 0;
	p.out = out;
	p.out_max = max;
	p.errout = why;
	p.timeout_ms = CALL_MS;
	return ga_process_run(&p, ret_status, err)
		       ? ga_error_wrap(err, "no answer from '%s'", o->host) : 0;
}

int ga_on_call(const struct ga_on *o, const char *action, json_t *more, const struct ga_buf *in,
	       json_t **ret, struct ga_error *err)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT, why = GA_BUF_INIT;
	int status;

	return call(o, action, more, in, ANSWER_MAX, &out, &why, &status, err)
		       ? -1 : take_answer(o, status, &out, &why, ret, err);
}

int ga_on_output(const struct ga_on *o, const struct ga_strv *words, size_t max,
		 struct ga_buf *ret, struct ga_error *err)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT, why = GA_BUF_INIT;
	const char *ready;
	int status;

	if (call(o, "run", json_pack("{s:o}", "words", ga_json_strv(words)), NULL, max, &out, &why,
		 &status, err))
		return -1;
	ready = behind_noise(&out);
	if (!ready || status)
		return fail_there(o->host, status, &out, &why, err);
	ga_buf_add(ret, ready, out.len - (size_t)(ready - out.ptr));
	return 0;
}

/* ---- what they do ---------------------------------------------------------------------------- */

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

static void take_states(struct ga_ons *l, const struct ga_on *asked, const json_t *answer)
{
	const json_t *sessions = json_object_get(answer, "sessions");

	for (size_t i = 0; i < l->n; i++) {
		struct ga_on *o = &l->v[i];
		const json_t *one = json_object_get(sessions, o->far);
		const char *state = json_string_value(json_object_get(one, "state"));
		enum ga_state known;

		if (!o->submitted || strcmp(o->host, asked->host) != 0 ||
		    strcmp(o->project, asked->project) != 0)
			continue;
		if (state && !ga_state_parse(state, &known))
			continue;
		set_state(o, state ? state : "absent");
		take_oid(one, "tip", &o->tip);
		take_oid(one, "held", &o->held);
	}
}

static bool is_asked(const struct ga_ons *l, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (l->v[k].submitted && !strcmp(l->v[k].host, l->v[i].host) &&
		    !strcmp(l->v[k].project, l->v[i].project))
			return true;
	return false;
}

void ga_on_ask(struct ga_ons *l, unsigned timeout_ms)
{
	struct question *v = ga_calloc(l->n + 1, sizeof(*v));

	for (size_t i = 0; i < l->n; i++) {
		cleanup_error struct ga_error ignored = GA_ERROR_INIT;
		struct question *q = &v[i];

		l->v[i].answers = false;
		if (!l->v[i].submitted)
			set_state(&l->v[i], "absent");
		if (!l->v[i].submitted || is_asked(l, i))
			continue;
		words_for(&l->v[i], "list", NULL, UNASKED, &q->words);
		q->p = (struct ga_process)GA_PROCESS_INIT;
		q->p.argv = (const char *const *)q->words.v;
		q->p.out = &q->out;
		q->p.out_max = ANSWER_MAX;
		q->p.errout = &q->why;
		q->p.timeout_ms = timeout_ms;
		(void)ga_process_begin(&q->p, &q->job, &ignored);
	}
	for (size_t i = 0; i < l->n; i++) {
		cleanup_error struct ga_error ignored = GA_ERROR_INIT;
		json_t *answer = NULL;
		int status;

		if (v[i].job && !ga_process_end(v[i].job, &status, &ignored) &&
		    !take_answer(&l->v[i], status, &v[i].out, &v[i].why, &answer, &ignored))
			take_states(l, &l->v[i], answer);
		json_decref(answer);
		ga_strv_release(&v[i].words);
		ga_buf_release(&v[i].out);
		ga_buf_release(&v[i].why);
	}
	free(v);
}

int ga_on_look(struct ga_on *o, struct ga_error *err)
{
	struct ga_ons one = { .v = o, .n = 1 };
	json_t *answer = NULL;

	if (!o->submitted) {
		set_state(o, "absent");
		return 0;
	}
	o->answers = false;
	if (ga_on_call(o, "list", NULL, NULL, &answer, err))
		return -1;
	take_states(&one, o, answer);
	json_decref(answer);
	return o->answers ? 0 : ga_fail(err, GA_EFATAL, "'%s' gives an answer that is none",
					o->host);
}

/* ---- connected ------------------------------------------------------------------------------- */

/* Read until behind the line GA_ON_READY, byte by byte, so that nothing of what follows is taken.
 * Returns 1 if it ended before, 2 if nothing came in time. */
static int skip_noise(struct ga_process_job *job, int fd)
{
	static const char ready[] = GA_ON_READY "\n";
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	int64_t deadline = ga_now_ms() + CALL_MS;
	size_t at = 0;
	char c;

	for (size_t n = 0; n < NOISE_MAX; n++) {
		if (ga_process_readable(job, fd, deadline, &ignored) <= 0)
			return 2;
		if (read(fd, &c, 1) != 1)
			return 1;
		at = c == ready[at] ? at + 1 : c == ready[0];
		if (at == sizeof(ready) - 1)
			return 0;
	}
	return 1;
}

/* Copy to standard output what comes; through the filter if `f` is not NULL. */
static void copy_out(struct ga_process_job *job, int fd, struct ga_termfilter *f)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *in = ga_malloc(PIECE), *out = ga_malloc(GA_TERMFILTER_ROOM(PIECE));
	ssize_t n;

	while (ga_process_readable(job, fd, 0, &ignored) > 0 && (n = read(fd, in, PIECE)) > 0) {
		size_t k = f ? ga_termfilter(f, in, (size_t)n, out) : 0;

		if (ga_write_full(STDOUT_FILENO, f ? out : in, f ? k : (size_t)n))
			return;
	}
	if (f) {
		size_t k = ga_termfilter_end(f, false, out);

		(void)ga_write_full(STDOUT_FILENO, out, k);
	}
}

/* Run the command with our input, and what it prints behind `ready` with our output; its messages
 * as they are for `o`, if that is not NULL. */
static int connect_to(const char *host, const struct ga_on *o, const struct ga_strv *words,
		      bool ready, struct ga_termfilter *f, int *ret_status, struct ga_error *err)
{
	cleanup_buf struct ga_buf why = GA_BUF_INIT, safe = GA_BUF_INIT;
	cleanup_free char *said = NULL;
	cleanup_close int from = -1, to = -1;
	struct ga_process p = GA_PROCESS_INIT;
	struct ga_process_job *job = NULL;
	int fds[2], rc = 0;

	if (pipe2(fds, O_CLOEXEC))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot make a pipe");
	from = fds[0];
	to = fds[1];
	p.argv = (const char *const *)words->v;
	p.in_fd = STDIN_FILENO;
	p.out_fd = to;
	p.errout = &why;
	if (ga_process_begin(&p, &job, err))
		return -1;
	ga_cleanup_closep(&to);
	to = -1;
	if (ready)
		rc = skip_noise(job, from);
	if (!rc)
		copy_out(job, from, f);
	ga_cleanup_closep(&from);
	from = -1;
	if (rc == 2) {
		ga_process_abandon(job);
		return ga_fail(err, GA_EFATAL, "no answer from '%s' within %d s", host,
			       CALL_MS / 1000);
	}
	if (ga_process_end(job, ret_status, err))
		return -1;
	if (rc || *ret_status == SSH_FAILED)
		return fail_there(host, *ret_status, NULL, &why, err);
	ga_buf_addch(&why, '\0');
	said = o ? ga_on_here(o, why.ptr) : ga_strdup(why.ptr);
	ga_quote_add_text(&safe, said, strlen(said));
	(void)ga_write_full(STDERR_FILENO, safe.ptr, safe.len);
	return 0;
}

int ga_on_run(const struct ga_on *o, json_t *more, bool terminal, int *ret_status,
	      struct ga_error *err)
{
	struct ga_termfilter filter = GA_TERMFILTER_INIT;
	cleanup_strv struct ga_strv words = GA_STRV_INIT;

	ga_json_set(more, "terminal", json_boolean(terminal));
	words_for(o, "run", more, terminal ? ON_TERMINAL : PLAIN, &words);
	return connect_to(o->host, o, &words, !terminal, isatty(STDOUT_FILENO) ? &filter : NULL,
			  ret_status, err);
}

int ga_on_pipe(const char *host, const char *word, const char *service, int *ret_status,
	       struct ga_error *err)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;
	cleanup_free char *with = NULL;
	json_t *j = on_unpack(word);

	if (!ga_on_host_ok(host) || !json_is_object(j)) {
		json_decref(j);
		return ga_fail(err, GA_EUSAGE, "this is for git to call");
	}
	ga_json_set(j, "service", json_string(service));
	with = pack(j);
	json_decref(j);
	words_to(host, with, PLAIN, &words);
	return connect_to(host, NULL, &words, true, NULL, ret_status, err);
}
