/* SPDX-License-Identifier: MIT
 *
 * Standard output for people: through the user's pager, chosen and started as git does it, and
 * with their colours.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "ga/fd.h"
#include "ga/parse.h"
#include "ga/process.h"
#include "ga/quote.h"

struct cli_pager {
	struct ga_process_job *job; /* NULL: there is none */
	int fd;                     /* where to write */
	char *command;
	struct sigaction was[4];
};

/* While a pager has the terminal, these signals are for it: we note them and wait for it to end. */
static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
static volatile sig_atomic_t caught;

static void note_signal(int sig)
{
	caught = sig;
}

/* ---- which --------------------------------------------------------------- */

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

static bool has_less(const struct cli *c)
{
	cleanup_free char *file = ga_find_program(c->env.path, "less");

	return file != NULL;
}

/* The pager, chosen as git does: the first of these that is set. NULL: none, also for "" or "cat".
 */
static const char *find_pager(struct cli *c, const char *what)
{
	bool off = false;
	const char *own = what ? own_pager(&c->env.config, what, &off) : NULL;
	const char *p = getenv("GIT_PAGER");

	if (off || !isatty(STDOUT_FILENO))
		return NULL;
	if (!p)
		p = own;
	if (!p)
		p = ga_gitconfig_get(&c->env.config, "core.pager");
	if (!p)
		p = getenv("PAGER");
	if (!p)
		p = has_less(c) ? "less" : "";
	return *p && strcmp(p, "cat") != 0 ? p : NULL;
}

/* ---- colours ------------------------------------------------------------- */

static bool want_colour(struct cli *c, const char *what)
{
	const struct ga_gitconfig *conf = &c->env.config;
	const char *v = ga_gitconfig_get(conf, "color.diff");
	bool in_use, paged, yes;

	if (!v)
		v = ga_gitconfig_get(conf, "color.ui");
	if (v && !strcasecmp(v, "always"))
		return true;
	if (v && (!strcasecmp(v, "never") || (ga_parse_bool(v, &yes) && !yes)))
		return false;
	/* git itself has started a pager for `git agent`, as pager.agent can say */
	v = getenv("GIT_PAGER_IN_USE");
	in_use = !isatty(STDOUT_FILENO) && v && ga_parse_bool(v, &yes) && yes;
	paged = in_use || find_pager(c, what);
	if (paged && !ga_gitconfig_bool(conf, "color.pager", true))
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

/* ---- running it ---------------------------------------------------------- */

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

/* Put the handlers back, and raise the signal that came meanwhile. */
static void uncatch(struct cli_pager *p)
{
	for (size_t i = 0; i < GA_NELEMS(signals); i++)
		(void)sigaction(signals[i], &p->was[i], NULL);
	if (caught)
		(void)raise(caught);
}

/* With what git adds for a pager. LESSOPEN would run a program on our text. */
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
	p->command = ga_strdup(command);
	catch(p);
	return 0;
}

int cli_pager_begin(struct cli *c, const char *what, struct ga_out *out, struct cli_pager **ret,
		    struct ga_error *err)
{
	const char *command = find_pager(c, what);
	struct cli_pager *p;

	if (fflush(stdout))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot write");
	p = ga_calloc(1, sizeof(*p));
	p->fd = STDOUT_FILENO;
	caught = 0;
	if (command && start(p, command, err)) {
		free(p);
		return -1;
	}
	out->write = write_on;
	out->to = p;
	*ret = p;
	return 0;
}

/* How a pager exits is not our concern, unless the shell could not run it at all. */
static int check_ran(const struct cli_pager *p, int status, struct ga_error *err)
{
	cleanup_free char *q = NULL;

	if (status != 126 && status != 127)
		return 0;
	q = ga_escape(p->command);
	(void)ga_fail(err, GA_EFATAL, "the pager '%s' cannot be run", q);
	return ga_hint(err, "GIT_PAGER=cat prints without one");
}

int cli_pager_end(struct cli_pager *p, struct ga_out *out, int rc, struct ga_error *err)
{
	int status, end = 0;

	if (!rc)
		rc = ga_out_flush(out, err);
	if (p->job) {
		cleanup_error struct ga_error second = GA_ERROR_INIT;

		(void)close(p->fd);
		end = ga_process_end(p->job, &status, rc < 0 ? &second : err);
		uncatch(p);
		if (!end && rc >= 0)
			end = check_ran(p, status, err);
	}
	free(p->command);
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
