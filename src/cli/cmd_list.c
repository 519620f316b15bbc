/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "ga/fd.h"
#include "ga/json.h"
#include "ga/parse.h"
#include "ga/quote.h"
#include "sessions.h"

#define COMMAND_WIDTH 40

struct options {
	bool json;
};

static const struct cli_opt opts[] = {
	CLI_FLAG_JSON,
};

static char *age(uint64_t since)
{
	uint64_t now = (uint64_t)time(NULL), s = now > since ? now - since : 0;

	if (s < 120)
		return ga_strf("%us ago", (unsigned)s);
	if (s < 7200)
		return ga_strf("%um ago", (unsigned)(s / 60));
	if (s < 172800)
		return ga_strf("%uh ago", (unsigned)(s / 3600));
	return ga_strf("%ud ago", (unsigned)(s / 86400));
}

/* Cut to the column's width, never within a character. */
static void shorten(struct ga_buf *b)
{
	size_t n = COMMAND_WIDTH - 3;

	if (b->len <= COMMAND_WIDTH)
		return;
	while (n && ((unsigned char)b->ptr[n] & 0xc0) == 0x80)
		n--;
	ga_buf_truncate(b, n);
	ga_buf_adds(b, "...");
}

/* What is left of a captured session that has no work of its own; "" if it has some. */
static const char *say_idle(struct cli *c, const struct ga_session *s)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *dir = NULL;

	if (s->state != GA_STATE_CAPTURED)
		return "";
	if (cli_has_work(s))
		return ga_oid_is_zero(&s->result.tip) && ga_oid_is_zero(&s->result.held)
		       ? "uncommitted changes"
									   : "";
	/* a part that cannot be looked at may have work */
	if (cli_part_work(&c->env, s, &dir, &ignored) || dir)
		return "in submodules";
	return cli_kept_refs(c->env.repo, s, NULL, &ignored) ? "other refs" : "no change";
}

/* How long a session is silent before that is said. */
#define IDLE_MS 60000

/* Of a session that runs: silent for long, or whether a terminal is attached. */
static char *say_live(const struct ga_session *s)
{
	cleanup_live_peer struct ga_live_peer p = GA_LIVE_PEER_INIT;

	cli_look_live(s, &p);
	if (p.fd < 0)
		return ga_strdup("");
	if (p.idle >= 120 * IDLE_MS)
		return ga_strf("idle %uh", (unsigned)(p.idle / (60 * IDLE_MS)));
	if (p.idle >= IDLE_MS)
		return ga_strf("idle %um", (unsigned)(p.idle / IDLE_MS));
	return ga_strdup(p.attached ? "attached" : p.detached ? "detached" : "");
}

/* Of a session that has ended: an exit status that is not 0, and say_idle(). */
static char *say_end(struct cli *c, const struct ga_session *s)
{
	const char *idle = say_idle(c, s);

	if (s->run.exit_status <= 0)
		return ga_strdup(idle);
	return ga_strf("exit %d%s%s", s->run.exit_status, *idle ? ", " : "", idle);
}

static const char *state_of(const struct ga_session *s, bool running)
{
	if (!running)
		return ga_state_name(s->state);
	return s->state == GA_STATE_NEW ? "starting" : s->run.finished ? "ending" : "running";
}

static void print_row(struct cli *c, const struct ga_session *s, bool running,
		      const struct ga_report *r)
{
	cleanup_buf struct ga_buf cmd = GA_BUF_INIT;
	uint64_t since = s->run.finished ? s->run.finished : s->run.resumed ? s->run.resumed
		: s->id.started;
	cleanup_free char *when = age(since), *flags = NULL;
	cleanup_free char *idle = running ? say_live(s) : say_end(c, s);
	size_t open = ga_report_open(r);
	struct ga_report_counts n;

	ga_report_count(r, &n);
	for (size_t i = 0; i < s->id.command.n; i++) {
		if (i)
			ga_buf_addch(&cmd, ' ');
		ga_quote_add(&cmd, s->id.command.v[i], strlen(s->id.command.v[i]));
	}
	if (s->id.remote && !s->id.command.n) {
		ga_buf_adds(&cmd, "from ");
		ga_quote_add(&cmd, s->id.remote, strlen(s->id.remote));
	}
	shorten(&cmd);
	if (open)
		flags = ga_count(open, "open flag", "open flags");
	else if (n.all && !*idle)
		flags = ga_count(n.all, "flag", "flags");
	else
		flags = ga_strdup(idle);
	(void)printf("%-20s %-11s %-10s %-19s %s\n", s->name,
		     state_of(s, running), when, flags, cmd.ptr);
	for (size_t i = 0; running && i < s->run.published.n; i++)
		(void)printf("%-20s published at %s\n", "", s->run.published.v[i]);
}

/* Capture an interrupted session before it is shown. One that cannot be captured now is shown as
 * interrupted, behind the error. */
static void capture_first(struct cli *c, struct ga_session *s, int lock)
{
	cleanup_error struct ga_error why = GA_ERROR_INIT;

	if (!cli_capture_interrupted(c, s, lock, &why))
		return;
	cli_print_error(&why);
	s->state = GA_STATE_INTERRUPTED;
}

struct shown {
	size_t all, landed;
};

static void add_object(const struct ga_session *s, bool running, const struct ga_report *r,
		       json_t *list)
{
	cleanup_live_peer struct ga_live_peer peer = GA_LIVE_PEER_INIT;

	if (running)
		cli_look_live(s, &peer);
	ga_json_add(list, cli_session_json(s, running, r, &peer));
}

static int show_one(struct cli *c, const char *name, json_t *list, struct shown *n,
		    struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	cleanup_close int lock = -1;
	int rc = cli_load_session(c, name, false, &s, &lock, err);
	bool running;

	if (rc < 0)
		return -1;
	if (rc == 1)
		return 0;
	/* a session that another command has locked for a moment is shown as it was read */
	running = rc == 2 && (cli_is_running(&s) || s.state == GA_STATE_RUNNING);
	if (rc == 0 && s.state == GA_STATE_INTERRUPTED)
		capture_first(c, &s, lock);
	if (!running && ga_report_read(c->env.repo, &s, &r, err) < 0)
		return -1;
	if (rc == 0 && cli_notice_landed(c, &s, err))
		return -1;
	n->all++;
	n->landed += s.state == GA_STATE_LANDED;
	if (list)
		add_object(&s, running, &r, list);
	else
		print_row(c, &s, running, &r);
	return 0;
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	json_t *list = o->json ? json_array() : NULL;
	struct shown n = { 0, 0 };
	int rc = 0;

	(void)argc;
	(void)argv;
	if (ga_session_names(c->env.state_dir, &names, err))
		rc = -1;
	for (size_t i = 0; !rc && i < names.n; i++) {
		cleanup_error struct ga_error one = GA_ERROR_INIT;

		/* a damaged session must not hide the others, and the status says that it is
		 * missing */
		if (show_one(c, names.v[i], list, &n, &one)) {
			cli_print_error(&one);
			c->status = ga_error_status(one.code);
		}
	}
	if (rc) {
		json_decref(list);
		return -1;
	}
	if (list)
		return cli_print_json(list, err);
	if (!n.all && isatty(STDOUT_FILENO))
		cli_note("no sessions yet: 'git agent start COMMAND' makes one");
	if (n.landed && isatty(STDOUT_FILENO))
		cli_note("hint: 'git agent gc' moves what has landed to the trash");
	return 0;
}

const struct cli_command cli_list = {
	.name = "list",
	.usage = "[--json]",
	.summary = "show the sessions of this repository",
	CLI_OPTIONS(opts),
	.needs = CLI_NEED_REPO | CLI_NEED_STATE,
	.run = run,
};
