/* SPDX-License-Identifier: MIT */

#include "cli/cli.h"
#include "cli/sessions.h"
#include "ga/base/trace.h"
#include "ga/run/record.h"
#include "ga/sys/fd.h"

struct options {
	const char *service;
	bool follow;
};

static const struct cli_opt opts[] = {
	CLI_VALUE(service, "service", 0, "SERVICE",
		  "print the output of a service, also of a session that has ended"),
	CLI_FLAG(follow, "follow", 'f', "go on until the session ends"),
};

struct printer {
	struct ga_record_text text;
	struct ga_buf line;
};

static int print(struct printer *w)
{
	bool failed = fwrite(w->line.ptr, 1, w->line.len, stdout) != w->line.len || fflush(stdout);

	ga_buf_clear(&w->line);
	return failed ? GA_LIVE_UNREAD : 0;
}

static int output(void *payload, const char *p, size_t n)
{
	struct printer *w = payload;

	ga_record_text(&w->text, p, n, &w->line);
	return w->line.len ? print(w) : 0;
}

static void missed(void *payload)
{
	struct printer *w = payload;

	ga_record_text_end(&w->text, &w->line);
	(void)print(w);
	cli_note("some output came faster than it was read, and is missing here");
}

static int show_service(struct cli *c, const struct options *o, const char *name,
			struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_close int lock = -1;

	if (o->follow)
		return ga_fail(err, GA_EUSAGE, "--service and --follow cannot be used together");
	return cli_pick_session(c, name, true, &s, &lock, err) ||
	       cli_service_log(&s, o->service, err) ? -1 : 0;
}

static int fail_over(const struct ga_session *s, struct ga_error *err)
{
	(void)ga_fail(err, GA_ENEGATIVE, "session '%s' does not run", s->name);
	return ga_hint(err, "'git agent show --text %s' shows what was recorded of it", s->name);
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	cleanup_live_peer struct ga_live_peer peer = GA_LIVE_PEER_INIT;
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_close int lock = -1;
	cleanup_free char *only = NULL;
	struct printer w = { .text = GA_RECORD_TEXT_INIT, .line = GA_BUF_INIT };
	const struct ga_live_watch watch = { .follow = o->follow, .output = output,
					     .missed = missed, .payload = &w };
	int rc;

	if (o->service)
		return show_service(c, o, argc ? argv[0] : NULL, err);
	if (!argc && cli_only_running(c, &only, err))
		return -1;
	rc = cli_pick_live(c, argc ? argv[0] : only, CLI_COME_UP_MS, &s, &lock, &peer, err);
	if (rc < 0)
		return -1;
	if (rc)
		return fail_over(&s, err);
	(void)ga_fault("logs:connected");
	rc = ga_live_watch(&peer, &watch);
	if (!rc) {
		ga_record_text_end(&w.text, &w.line);
		(void)print(&w);
	}
	ga_record_text_release(&w.text);
	ga_buf_release(&w.line);
	if (rc == GA_LIVE_OVER)
		return fail_over(&s, err);
	return 0;
}

const struct cli_command cli_logs = {
	.name = "logs",
	.usage = "[-f | --service SERVICE] [NAME]",
	.summary = "show the last output of a running session, as text",
	CLI_OPTIONS(opts),
	.needs = CLI_NEED_REPO | CLI_NEED_STATE,
	.max_args = 1,
	.words = "SESSION",
	.run = run,
};
