/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <sys/inotify.h>

#include "cli/listing.h"

#define LOOK_MS 2000  /* --watch polls running sessions so often ... */
#define ASK_MS 10000  /* ... and other machines */
#define SETTLE_MS 300 /* files often change in groups */

struct options {
	bool json, watch;
};

static const struct cli_opt opts[] = {
	CLI_FLAG(watch, "watch", 'w', "show them again whenever something changes"),
	CLI_FLAG_JSON,
};

static void print(const struct cli_listing *l)
{
	size_t landed = 0;

	cli_listing_print(l, stdout);
	if (!isatty(STDOUT_FILENO))
		return;
	cli_listing_print_more(l, stdout);
	(void)fflush(stdout);
	for (size_t i = 0; i < l->n; i++)
		landed += l->v[i].s.state == GA_STATE_LANDED;
	if (!l->n)
		cli_note("no sessions yet: 'git agent start COMMAND' makes one");
	if (landed)
		cli_note("hint: 'git agent gc' moves what has landed to the trash");
}

/* Watch directories, since files are replaced: that of the sessions, each session's, and git's. */
static int watch_all(const struct cli *c, int fd, struct ga_error *err)
{
	const uint32_t changes = IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | IN_ONLYDIR;
	cleanup_free char *sessions = ga_path_join(c->env.state_dir, "sessions");
	cleanup_strv struct ga_strv names = GA_STRV_INIT;

	(void)inotify_add_watch(fd, sessions, changes);
	(void)inotify_add_watch(fd, ga_repo_info(c->env.repo)->gitdir, changes);
	if (ga_session_names(c->env.state_dir, &names, err))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		cleanup_free char *dir = ga_path_join(sessions, names.v[i]);

		(void)inotify_add_watch(fd, dir, changes);
	}
	return 0;
}

/* False if the terminal is gone. */
static bool print_anew(const struct cli_listing *l)
{
	(void)fputs("\033[H\033[J", stdout);
	print(l);
	return !fflush(stdout) && !ferror(stdout);
}

/* Wait until something changed, or other machines are due. Running sessions are polled meanwhile,
 * which reads no file. */
static void wait_for_change(int fd, struct cli_listing *l)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int64_t deadline = ga_now_ms() + ASK_MS;
	bool running = false, elsewhere = false;
	char events[4096];

	for (size_t i = 0; i < l->n; i++) {
		running |= l->v[i].running;
		elsewhere |= l->v[i].elsewhere != NULL;
	}
	while (poll(&p, 1, running ? LOOK_MS : elsewhere ? ASK_MS : -1) <= 0) {
		if (elsewhere && ga_now_ms() >= deadline)
			return;
		cli_listing_update(l);
		if (!print_anew(l))
			return;
	}
	(void)poll(NULL, 0, SETTLE_MS);
	while (read(fd, events, sizeof(events)) > 0)
		;
}

static int watch(struct cli *c, struct ga_error *err)
{
	cleanup_close int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (fd < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot watch the sessions");
	for (;;) {
		cleanup_listing struct cli_listing l = CLI_LISTING_INIT;

		/* before reading, so that no change is missed */
		if (watch_all(c, fd, err) || cli_listing_read(c, &l, err))
			return -1;
		if (!print_anew(&l))
			return 0;
		wait_for_change(fd, &l);
	}
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	cleanup_listing struct cli_listing l = CLI_LISTING_INIT;

	(void)argc;
	(void)argv;
	if (o->watch && (o->json || !isatty(STDOUT_FILENO)))
		return ga_fail(err, GA_EUSAGE, "--watch shows the sessions on a terminal" GA_HINT
			       "'git agent wait NAME' waits for one to end");
	if (o->watch)
		return watch(c, err);
	if (cli_listing_read(c, &l, err))
		return -1;
	if (o->json)
		return cli_print_json(cli_listing_json(&l), err);
	print(&l);
	return 0;
}

CLI_COMMAND(list, "[--watch | --json]", "show the sessions of this repository", NULL);
