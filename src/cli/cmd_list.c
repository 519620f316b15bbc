/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "ga/fd.h"
#include "ga/json.h"
#include "ga/parse.h"
#include "ga/quote.h"
#include "compare.h"
#include "sessions.h"

#define COLUMNS 80
#define NEXT_SHOWN 3

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

/* Cut to `room` bytes, never within a character; "" if that would say nothing. */
static void shorten(struct ga_buf *b, size_t room)
{
	size_t n = room > 8 ? room - 3 : 0;

	if (b->len <= room)
		return;
	if (!n) {
		ga_buf_clear(b);
		return;
	}
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

static char *say_flags(struct cli *c, const struct ga_session *s, bool running,
		       const struct ga_report *r)
{
	cleanup_free char *idle = running ? say_live(s) : say_end(c, s);
	size_t open = ga_report_open(r);
	struct ga_report_counts n;

	ga_report_count(r, &n);
	if (open)
		return ga_count(open, "open flag", "open flags");
	return n.all && !*idle ? ga_count(n.all, "flag", "flags") : ga_steal(&idle);
}

static void put_command(const struct ga_session *s, struct ga_buf *ret)
{
	for (size_t i = 0; i < s->id.command.n; i++) {
		if (i)
			ga_buf_addch(ret, ' ');
		ga_quote_add(ret, s->id.command.v[i], strlen(s->id.command.v[i]));
	}
	if (s->id.remote && !s->id.command.n) {
		ga_buf_adds(ret, "from ");
		ga_quote_add(ret, s->id.remote, strlen(s->id.remote));
	}
}

static void print_row(struct cli *c, const struct ga_session *s, bool running,
		      const struct ga_report *r, size_t behind)
{
	uint64_t since = s->run.finished ? s->run.finished : s->run.resumed ? s->run.resumed
		: s->id.started;
	cleanup_free char *when = age(since), *flags = say_flags(c, s, running, r), *row = NULL;
	cleanup_free char *lag = behind ? ga_strf("%s%zu%s behind", *flags ? ", " : "", behind,
						  behind == CLI_BEHIND_MAX ? " or more" : "")
					: ga_strdup("");
	cleanup_free char *says = ga_strf("%s%s", flags, lag);
	cleanup_buf struct ga_buf cmd = GA_BUF_INIT;

	row = ga_strf("%-20s %-11s %-10s %-19s ", s->name, state_of(s, running), when, says);
	put_command(s, &cmd);
	shorten(&cmd, COLUMNS > strlen(row) ? COLUMNS - strlen(row) : 0);
	if (!cmd.len)
		row[strlen(row) - 1] = '\0';
	(void)printf("%s%s\n", row, cmd.len ? cmd.ptr : "");
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
	size_t all, landed, n_next;
	struct cli_compare compare;
	struct ga_buf next; /* lines with the next commands of the first sessions */
};

static void shown_release(struct shown *n)
{
	cli_compare_release(&n->compare);
	ga_buf_release(&n->next);
}

static void add_object(const struct ga_session *s, bool running, const struct ga_report *r,
		       size_t behind, json_t *list)
{
	cleanup_live_peer struct ga_live_peer peer = GA_LIVE_PEER_INIT;
	json_t *j;

	if (running)
		cli_look_live(s, &peer);
	j = cli_session_json(s, running, r, &peer);
	ga_json_set(j, "behind", json_integer((json_int_t)behind));
	ga_json_set(j, "overlaps", json_array());
	ga_json_add(list, j);
}

/* Once all are known. */
static void add_overlaps(const struct shown *n, json_t *list)
{
	size_t at;
	json_t *j;

	json_array_foreach(list, at, j)
		for (size_t i = 0; i < n->compare.n; i++) {
			cleanup_strv struct ga_strv with = GA_STRV_INIT;

			if (strcmp(json_string_value(json_object_get(j, "name")),
				   n->compare.v[i].name) != 0)
				continue;
			cli_compare_overlaps(&n->compare, i, &with);
			for (size_t k = 0; k < with.n; k += 2)
				ga_json_add(json_object_get(j, "overlaps"),
					    json_string(with.v[k]));
		}
}

/* Each pair once. */
static void say_overlaps(const struct shown *n)
{
	for (size_t i = 0; i < n->compare.n; i++) {
		cleanup_strv struct ga_strv with = GA_STRV_INIT;

		cli_compare_overlaps(&n->compare, i, &with);
		for (size_t k = 0; k < with.n; k += 2) {
			cleanup_free char *q = ga_quote(with.v[k + 1]);

			if (strcmp(n->compare.v[i].name, with.v[k]) < 0)
				cli_note("%s and %s both change %s", n->compare.v[i].name,
					 with.v[k], q);
		}
	}
}

/* Note what to do about a session that has ended and not landed. */
static int note_next(struct cli *c, const struct ga_session *s, const struct ga_report *r,
		     struct shown *n, struct ga_error *err)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f;
	int rc;

	if (s->state != GA_STATE_CAPTURED || n->n_next == NEXT_SHOWN)
		return 0;
	f = open_memstream(&text, &len);
	if (!f)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot remember a line");
	rc = cli_say_next(c, s, r, f, err);
	(void)fclose(f);
	n->n_next += len > 0;
	ga_buf_add(&n->next, text, len);
	free(text);
	return rc;
}

static int show_one(struct cli *c, const char *name, json_t *list, struct shown *n,
		    struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	cleanup_close int lock = -1;
	int rc = cli_load_session(c, name, false, &s, &lock, err);
	size_t behind;
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
	if (cli_compare_add(c, &n->compare, &s, &behind, err))
		return -1;
	n->all++;
	n->landed += s.state == GA_STATE_LANDED;
	if (list) {
		add_object(&s, running, &r, behind, list);
		return 0;
	}
	print_row(c, &s, running, &r, behind);
	return running || !isatty(STDOUT_FILENO) ? 0 : note_next(c, &s, &r, n, err);
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	json_t *list = o->json ? json_array() : NULL;
	cleanup_(shown_release) struct shown n = { .compare = CLI_COMPARE_INIT,
						   .next = GA_BUF_INIT };
	int rc = 0;

	(void)argc;
	(void)argv;
	if (ga_session_names(c->env.state_dir, &names, err) ||
	    cli_compare_begin(c, &n.compare, err))
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
	if (list) {
		add_overlaps(&n, list);
		return cli_print_json(list, err);
	}
	(void)fwrite(n.next.ptr, 1, n.next.len, stdout);
	if (isatty(STDOUT_FILENO))
		say_overlaps(&n);
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
