/* SPDX-License-Identifier: MIT
 *
 * Start a session on a host, and connect commands there to this terminal.
 */
#include <ctype.h>

#include "on-internal.h"
#include "ga/run/termfilter.h"

#define PUSH_MS 3600000

/* Send base and snapshot to the depot. git sends only missing objects. */
static int push_base(struct ga_repo *r, const struct ga_on *o, struct ga_error *err)
{
	static const char *const config[] = { "protocol.ext.allow=always", "push.followTags=false",
					      "push.negotiate=false", NULL };
	bool carries = !ga_oid_is_zero(&o->snapshot);
	cleanup_free char *url = ga_on_url(o), *line = NULL;
	cleanup_free char *base = ga_strf("%s:refs/agent-on/%s/base", GA_HEX(&o->base), o->far);
	cleanup_free char *snapshot = ga_strf("%s:refs/agent-on/%s/snapshot",
					      GA_HEX(&o->snapshot), o->far);
	const char *const args[] = { "push", "--quiet", "--no-verify", "--no-signed",
				     "--recurse-submodules=no", "--", url, base,
				     carries ? snapshot : NULL, NULL };
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	const struct ga_git g = GA_GIT(.args = args, .config = config, .errout = &why,
				       .private_dir = GA_PRIVATE_READ, .timeout_ms = PUSH_MS,
				       .lazy_fetch = true);
	int status;

	if (ga_git_run(r, &g, &status, err))
		return -1;
	if (!status)
		return 0;
	line = ga_git_last_line(&why);
	return ga_fail(err, GA_EFATAL, "cannot push the base of '%s' to '%s': %s", o->name,
		       o->host, line ? line : "git failed");
}

static json_t *values_of(const char *const *keys)
{
	json_t *ret = json_object();

	for (; keys && *keys; keys++)
		if (ga_env_get(*keys))
			ga_json_set(ret, *keys, json_string(ga_env_get(*keys)));
	return ret;
}

/* Call the action there, with this input (taken over). */
static int call(const struct ga_on *o, const char *action, json_t *input, struct ga_error *err)
{
	cleanup_buf struct ga_buf in = GA_BUF_INIT;

	ga_json_add_text(input, &in);
	json_decref(input);
	return ga_on_call(o, action, &in, NULL, err);
}

static int start(struct ga_on *o, const char *const *keys, struct ga_error *err)
{
	json_t *input = json_pack("{s:o, s:o, s:b, s:o, s:b, s:s?, s:o}", "options",
				  ga_json_strv(&o->options), "command", ga_json_strv(&o->command),
				  "trusted", o->trusted, "keys", values_of(keys), "slurm",
				  o->way.slurm, "scratch", o->way.scratch, "sbatch",
				  ga_json_strv(&o->way.sbatch));
	int rc = call(o, "start", input, err);

	o->submitted = rc <= 0;
	return rc ? -1 : 0;
}

int ga_on_resume(const struct ga_on *o, const struct ga_strv *words,
		 const char *const *keys, struct ga_error *err)
{
	return call(o, "resume", json_pack("{s:o, s:o}", "words", ga_json_strv(words), "keys",
					   values_of(keys)), err) ? -1 : 0;
}

int ga_on_submit(struct ga_repo *r, const char *state_dir, struct ga_on *o,
		 const char *const *keys, struct ga_error *err)
{
	if (ga_on_call(o, "open", NULL, NULL, err) || ga_fault_stop("on:opened", err) ||
	    push_base(r, o, err) || ga_fault_stop("on:pushed", err))
		return -1;
	o->submitted = true;
	return ga_on_save(state_dir, o, err) || ga_fault_stop("on:noted", err) ||
	       start(o, keys, err) || ga_fault_stop("on:started", err) ? -1 : 0;
}

#define PIECE ((size_t)1 << 16)
/* first byte of a mark: ordinary output has none, so it is never delayed */
#define MARK '\x1e'

static int end_make(struct on_end *e, json_t *request, struct ga_error *err)
{
	unsigned char random[ON_END_DIGITS / 2];

	*e = (struct on_end){ .mark = { MARK }, .status = -1 };
	if (ga_random(random, sizeof(random), err))
		return -1;
	for (size_t i = 0; i < sizeof(random); i++)
		for (unsigned k = 0; k < 2; k++)
			e->mark[1 + 2 * i + k] = "0123456789abcdef"[random[i] >> (4 * k) & 15];
	ga_json_set(request, "end", json_string(e->mark + 1));
	return 0;
}

/* Copy output without the mark to `out`, which has room for `n` bytes and a mark. Returns the
 * size. */
static size_t end_strip(struct on_end *e, const char *in, size_t n, char *out)
{
	size_t k = 0;

	for (const char *c = in; c < in + n; c++) {
		if (e->mark[e->at] && *c == e->mark[e->at]) {
			e->at++;
		} else if (e->mark[e->at]) {
			/* only its first byte is such a byte */
			memcpy(out + k, e->mark, e->at);
			k += e->at;
			e->at = *c == MARK;
			if (!e->at)
				out[k++] = *c;
		} else if (e->n < 3 && isdigit((unsigned char)*c)) {
			e->digits[e->n++] = *c;
			if (e->n == 3)
				e->status = (e->digits[0] - '0') * 100 +
					    (e->digits[1] - '0') * 10 + e->digits[2] - '0';
		} else {
			out[k++] = *c;
		}
	}
	return k;
}

void on_end_print(const json_t *request, int status)
{
	const char *mark = json_string_value(json_object_get(request, "end"));
	cleanup_free char *line = NULL;

	if (!mark || strlen(mark) != ON_END_DIGITS)
		return;
	line = ga_strf("%c%s%03d", MARK, mark, status & 255);
	(void)ga_write_full(STDOUT_FILENO, line, strlen(line));
}

/* Read up to the line GA_ON_READY, byte by byte, so that nothing after it is consumed. Returns 1 at
 * end of file, 2 after a timeout. */
static int skip_noise(struct ga_process_job *job, int fd)
{
	static const char ready[] = GA_ON_READY "\n";
	int64_t deadline = ga_now_ms() + ON_CALL_MS;
	size_t at = 0;
	char c;

	for (size_t n = 0; n < ON_NOISE_MAX; n++) {
		if (ga_process_readable(job, fd, deadline, GA_IGNORED) <= 0)
			return 2;
		if (read(fd, &c, 1) != 1)
			return 1;
		at = c == ready[at] ? at + 1 : c == ready[0];
		if (at == sizeof(ready) - 1)
			return 0;
	}
	return 1;
}

/* Copy output without the mark to standard output, through the filter `f` unless NULL. */
static void copy_out(struct ga_process_job *job, int fd, struct on_end *end,
		     struct ga_termfilter *f)
{
	size_t room = PIECE + sizeof(end->mark);
	cleanup_free char *raw = ga_malloc(PIECE), *in = ga_malloc(room);
	cleanup_free char *out = ga_malloc(GA_TERMFILTER_ROOM(room));
	ssize_t got;

	while (ga_process_readable(job, fd, 0, GA_IGNORED) > 0 &&
	       (got = read(fd, raw, PIECE)) > 0) {
		size_t n = end ? end_strip(end, raw, (size_t)got, in) : (size_t)got;
		size_t k = f ? ga_termfilter(f, in, n, out) : 0;

		if (ga_write_full(STDOUT_FILENO, f ? out : end ? in : raw, f ? k : n))
			return;
	}
	if (f) {
		size_t k = ga_termfilter_end(f, false, out);

		(void)ga_write_full(STDOUT_FILENO, out, k);
	}
}

/* Print the command's messages, unchanged or, for a session, with its local name. */
static void pass_messages(const struct ga_on *o, const struct ga_buf *why)
{
	cleanup_buf struct ga_buf safe = GA_BUF_INIT;
	cleanup_free char *said = o->far ? ga_on_here(o, why->ptr) : ga_strdup(why->ptr);

	ga_quote_add_text(&safe, said, strlen(said));
	(void)ga_write_full(STDERR_FILENO, safe.ptr, safe.len);
}

/* Run the command with our input, and its output after `ready` with our output. The exit status
 * follows the mark, if one is expected. */
static int connect_to(const struct ga_on *o, const struct ga_strv *words, bool ready,
		      struct on_end *end, struct ga_termfilter *f, int *ret_status,
		      struct ga_error *err)
{
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	cleanup_free char *line = NULL;
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
	if (ready)
		rc = skip_noise(job, from);
	if (!rc)
		copy_out(job, from, end, f);
	ga_cleanup_closep(&from);
	if (rc == 2) {
		ga_process_abandon(job);
		return ga_fail(err, GA_EFATAL, "no answer from '%s' within %d s", o->host,
			       ON_CALL_MS / 1000);
	}
	if (ga_process_end(job, ret_status, err))
		return -1;
	if (rc || (*ret_status == ON_SSH_FAILED && !(end && end->status >= 0)))
		return on_fail_there(o, *ret_status, NULL, &why, err);
	line = ga_git_last_line(&why);
	if (end && end->status < 0) /* the output ended without its mark */
		return ga_fail(err, GA_EFATAL, "the connection to '%s' broke%s%s" GA_HINT
			       "'git agent list' asks what runs there", o->host, line ? ": " : "",
			       line ? line : "");
	if (end)
		*ret_status = end->status;
	pass_messages(o, &why);
	return 0;
}

int ga_on_run(const struct ga_on *o, json_t *more, bool terminal, int *ret_status,
	      struct ga_error *err)
{
	struct ga_termfilter filter = GA_TERMFILTER_INIT;
	cleanup_strv struct ga_strv words = GA_STRV_INIT;
	struct on_end end;

	if (end_make(&end, more, err) || (terminal && o->way.run.n && !o->way.terminal.n)) {
		json_decref(more);
		if (err->msg)
			return -1;
		return ga_fail(err, GA_EUSAGE, "'%s' of the setting 'hosts' has no 'terminal'",
			       o->host);
	}
	ga_json_set(more, "terminal", json_boolean(terminal));
	on_words_for(o, "run", more, terminal ? ON_TERMINAL : ON_PIPES, &words);
	return connect_to(o, &words, !terminal, &end, isatty(STDOUT_FILENO) ? &filter : NULL,
			  ret_status, err);
}

int ga_on_pipe(const char *record, const char *service, int *ret_status, struct ga_error *err)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;
	cleanup_on struct ga_on o = GA_ON_INIT;
	json_t *j = on_unpack(record);
	bool ok = on_decode(j, &o);

	json_decref(j);
	if (!ok)
		return ga_fail(err, GA_EUSAGE, "this is for git to call");
	on_words_for(&o, "git", json_pack("{s:s}", "service", service), ON_PIPES, &words);
	return connect_to(&o, &words, true, NULL, NULL, ret_status, err);
}
