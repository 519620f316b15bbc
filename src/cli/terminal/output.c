/* SPDX-License-Identifier: MIT */
#include <sys/ioctl.h>
#include <wchar.h>

#include "cli/cli.h"

void cli_time_text(time_t t, char ret[CLI_TIME_MAX])
{
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(ret, CLI_TIME_MAX, "%Y-%m-%d %H:%M:%S %z", &tm))
		ret[0] = '\0';
}

size_t cli_width(FILE *f)
{
	struct winsize ws = { 0 };

	if (!isatty(fileno(f)))
		return 0;
	return ioctl(fileno(f), TIOCGWINSZ, &ws) || !ws.ws_col ? 80 : ws.ws_col;
}

/* Step over one character; returns its columns. Escaped text has no control characters. */
static size_t step(const char **p)
{
	mbstate_t st = { 0 };
	wchar_t c;
	size_t len = mbrtowc(&c, *p, strlen(*p), &st);
	bool odd = !len || len > strlen(*p);
	int width = odd ? 1 : wcwidth(c);

	*p += odd ? 1 : len;
	return width > 0 ? (size_t)width : 0;
}

size_t cli_columns(const char *s)
{
	size_t n = 0;

	while (*s)
		n += step(&s);
	return n;
}

char *cli_fit(const char *s, size_t room)
{
	size_t n = cli_columns(s);

	if (!room || n <= room)
		return ga_strdup(s);
	/* keep the end, the most telling part of a path */
	while (*s && n + 3 > room)
		n -= step(&s);
	return ga_strf("...%s", s);
}

int cli_print_json(json_t *j, struct ga_error *err)
{
	/* only ASCII: no control or bidirectional character reaches a terminal this way */
	char *text = json_dumps(j, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_ENSURE_ASCII);

	json_decref(j);
	if (!text)
		return ga_fail(err, GA_EFATAL, "cannot write JSON");
	/* the library escapes every control character but DEL, which occurs only in strings */
	for (const char *p = text; *p; p++)
		if (*p == 0x7f)
			(void)fputs("\\u007f", stdout);
		else
			(void)fputc(*p, stdout);
	free(text);
	(void)fputc('\n', stdout);
	if (!ferror(stdout))
		return 0;
	if (errno != EPIPE)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot write");
	/* a reader that went away wants no more: no error */
	clearerr(stdout);
	return 0;
}

bool cli_manual(const struct cli_command *cmd)
{
	cleanup_free char *page = ga_strf("git-agent-%s", cmd->name);
	const char *const argv[] = { "man", page, NULL };
	cleanup_buf struct ga_buf errout = GA_BUF_INIT;
	const struct ga_process p = { .argv = argv, .in_fd = STDIN_FILENO, .out_fd = STDOUT_FILENO,
				      .errout = &errout, .keep_fd = -1 };
	int status;

	return !ga_process_run(&p, &status, GA_IGNORED) && !status;
}

int cli_not_started(struct ga_error *err)
{
	if (err->code == GA_EFATAL)
		err->code = GA_ESTART;
	return -1;
}

void cli_print_error(const struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	/* messages quote agents' text already; escape the rest */
	ga_buf_adds(&b, "git-agent: ");
	ga_quote_add_text(&b, err->msg, strlen(err->msg));
	for (size_t i = 0; i < b.len; i++)
		if (b.ptr[i] == '\n')
			b.ptr[i] = ' ';
	ga_buf_addch(&b, '\n');
	if (err->hint) {
		ga_buf_adds(&b, "hint: ");
		ga_quote_add_text(&b, err->hint, strlen(err->hint));
		ga_buf_addch(&b, '\n');
	}
	(void)fputs(b.ptr, stderr);
}

void cli_tell(const struct ga_error *err, int *status)
{
	int own = ga_error_status(err->code);

	cli_print_error(err);
	if (own > *status)
		*status = own;
}

void cli_say(char *line)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	ga_quote_add_text(&b, line, strlen(line));
	(void)fprintf(stderr, "%s\n", b.ptr);
	free(line);
}

bool cli_colour_wanted(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && *no) && term && strcmp(term, "dumb") != 0;
}

struct cli_pager {
	struct ga_process_job *job; /* or NULL */
	int fd;                     /* where to write */
	struct sigaction was[4];
};

/* While a pager has the terminal, these signals are for it: record them and wait for its end. */
static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
static volatile sig_atomic_t caught;

static void note_signal(int sig)
{
	caught = sig;
}

/* The last value of pager.WHAT if it names a program, else NULL; `*off`: it turns paging off. */
static const char *own_pager(const struct ga_gitconfig *c, const char *what, bool *off)
{
	cleanup_free char *key = ga_strf("pager.%s", what);
	const char *v = ga_gitconfig_get(c, key);
	bool yes;

	if (!v || !ga_parse_bool(v, &yes))
		return v;
	*off = !yes;
	return NULL;
}

/* The pager that git would use for `what`, or NULL. Caller frees. */
static char *find_pager(const struct cli *c, const char *what)
{
	static const char *const argv[] = { "git", "var", "GIT_PAGER", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const struct ga_process p = GA_PROCESS(.argv = argv, .out = &out);
	bool off = false;
	const char *own = what ? own_pager(&c->env.config, what, &off) : NULL;
	int status;

	if (off || !isatty(STDOUT_FILENO))
		return NULL;
	if (own && !getenv("GIT_PAGER"))
		ga_buf_adds(&out, own);
	else if (ga_process_run(&p, &status, GA_IGNORED) || status)
		return NULL;
	ga_buf_chomp(&out);
	if (!out.len || !strcmp(out.ptr, "cat"))
		return NULL;
	/* git runs a single word without a shell, and ignores a missing program */
	if (!strpbrk(out.ptr, "|&;<>()$`\\\"' \t\n*?[#~=%/")) {
		cleanup_free char *found = ga_find_program(c->env.path, out.ptr);

		if (!found)
			return NULL;
	}
	return ga_buf_steal(&out);
}

static bool want_colour(struct cli *c, const char *what)
{
	const struct ga_gitconfig *conf = &c->env.config;
	const char *v = ga_gitconfig_get(conf, "color.diff");
	cleanup_free char *pager = NULL;
	bool in_use, yes;

	if (!v)
		v = ga_gitconfig_get(conf, "color.ui");
	if (v && !strcasecmp(v, "always"))
		return true;
	if (v && (!strcasecmp(v, "never") || (ga_parse_bool(v, &yes) && !yes)))
		return false;
	/* git itself has started a pager for `git agent`, as pager.agent can say */
	v = getenv("GIT_PAGER_IN_USE");
	in_use = !isatty(STDOUT_FILENO) && v && ga_parse_bool(v, &yes) && yes;
	if (!ga_gitconfig_bool(conf, "color.pager", true) &&
	    (in_use || (pager = find_pager(c, what))))
		return false;
	return c->colour || (in_use && cli_colour_wanted());
}

int cli_palette(struct cli *c, const char *what, struct ga_palette *p,
		const struct ga_palette **ret, struct ga_error *err)
{
	*ret = NULL;
	if (!want_colour(c, what))
		return 0;
	if (ga_palette_read(c->env.repo, &c->env.config, p, err))
		return -1;
	*ret = p;
	return 0;
}

static int write_on(void *to, const char *text, size_t n, struct ga_error *err)
{
	const struct cli_pager *p = to;

	if (caught)
		return 1;
	if (!ga_write_full(p->fd, text, n))
		return 0;
	/* a reader that went away wants no more: no error */
	return errno == EPIPE || errno == EINTR ?
		       1 : ga_fail_errno(err, GA_EFATAL, errno, "cannot write");
}

static void catch(struct cli_pager *p)
{
	struct sigaction sa = { .sa_handler = note_signal };

	caught = 0;
	for (size_t i = 0; i < GA_NELEMS(signals); i++) {
		(void)sigaction(signals[i], NULL, &p->was[i]);
		if (p->was[i].sa_handler != SIG_IGN)
			(void)sigaction(signals[i], &sa, NULL);
	}
}

/* The environment as git sets it for a pager, without LESSOPEN, which would run a program on our
 * text. */
static void pager_environment(struct ga_strv *ret)
{
	cleanup_strv struct ga_strv given = GA_STRV_INIT;

	ga_user_environ(&given);
	for (size_t i = 0; i < given.n; i++)
		if (strncmp(given.v[i], "LESSOPEN=", 9) != 0 &&
		    strncmp(given.v[i], "GIT_PAGER_IN_USE=", 17) != 0)
			ga_strv_push(ret, given.v[i]);
	if (!getenv("LESS"))
		ga_strv_push(ret, "LESS=FRX");
	if (!getenv("LV"))
		ga_strv_push(ret, "LV=-c");
	if (!getenv("COLUMNS"))
		ga_strv_pushf(ret, "COLUMNS=%zu", cli_width(stdout));
}

static int start(struct cli_pager *p, const char *command, struct ga_error *err)
{
	const char *argv[] = { "sh", "-c", command, NULL };
	struct ga_process proc = GA_PROCESS_INIT;
	cleanup_strv struct ga_strv env = GA_STRV_INIT;
	int ends[2], rc;

	pager_environment(&env);
	if (pipe2(ends, O_CLOEXEC))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot create a pipe");
	proc.argv = argv;
	proc.envp = (const char *const *)env.v;
	proc.in_fd = ends[0];
	proc.out_fd = STDOUT_FILENO;
	rc = ga_process_begin(&proc, &p->job, err);
	(void)close(ends[0]);
	if (rc) {
		(void)close(ends[1]);
		return -1;
	}
	p->fd = ends[1];
	catch(p);
	return 0;
}

int cli_pager_begin(struct cli *c, const char *what, struct ga_out *out, struct cli_pager **ret,
		    struct ga_error *err)
{
	cleanup_free char *command = NULL;
	struct cli_pager *p;

	if (fflush(stdout))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot write");
	p = ga_calloc(1, sizeof(*p));
	p->fd = STDOUT_FILENO;
	caught = 0;
	command = find_pager(c, what);
	if (command && start(p, command, err)) {
		free(p);
		return -1;
	}
	out->write = write_on;
	out->to = p;
	*ret = p;
	return 0;
}

int cli_pager_end(struct cli_pager *p, struct ga_out *out, int rc, struct ga_error *err)
{
	int status, end = 0;

	if (!rc)
		rc = ga_out_flush(out, err);
	if (p->job) {
		(void)close(p->fd);
		/* its status does not matter */
		end = ga_process_end(p->job, &status, rc < 0 ? GA_IGNORED : err);
		/* now handle the signal it received */
		for (size_t i = 0; i < GA_NELEMS(signals); i++)
			(void)sigaction(signals[i], &p->was[i], NULL);
		if (caught)
			(void)raise(caught);
	}
	free(p);
	return rc < 0 || end ? -1 : 0;
}

int cli_page(struct cli *c, const char *text, size_t n, struct ga_error *err)
{
	cleanup_out struct ga_out out = GA_OUT_INIT;
	struct cli_pager *p;

	if (cli_pager_begin(c, NULL, &out, &p, err))
		return -1;
	ga_buf_add(&out.text, text, n);
	return cli_pager_end(p, &out, 0, err);
}
