/* SPDX-License-Identifier: MIT
 *
 * Shared by the commands that run an agent: start, resume, shell and attach.
 */
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "cli/cli.h"

#define TIMEOUT_MS 30000

/* Set variables for a notifier: our words, checked names and numbers, no text of the agent. */
static void choose_words(const struct cli *c, const struct ga_session *s, const struct ga_report *r,
			 struct ga_strv *ret)
{
	size_t open = r ? ga_report_open(r) : 0;

	if (strcmp(c->notify, "desktop") != 0) {
		ga_strv_push(ret, c->notify);
		return;
	}
	ga_strv_push(ret, "notify-send");
	ga_strv_push(ret, "--app-name=git agent");
	ga_strv_push(ret, "--");
	ga_strv_pushf(ret, "agent/%s has ended", s->name);
	if (!r)
		ga_strv_push(ret, "What it did could not be captured.");
	else if (s->state == GA_STATE_DROPPED)
		ga_strv_push(ret, "It changed nothing.");
	else if (open)
		ga_strv_pushf(ret, "Exit status %d, %zu open flag%s.", s->run.exit_status, open,
			      open == 1 ? "" : "s");
	else
		ga_strv_pushf(ret, "Exit status %d.", s->run.exit_status);
}

static void choose_environment(const struct ga_session *s, const struct ga_report *r,
			       struct ga_strv *ret)
{
	cleanup_strv struct ga_strv given = GA_STRV_INIT;

	ga_user_environ(&given);
	for (size_t i = 0; i < given.n; i++)
		if (strncmp(given.v[i], "GIT_AGENT_", 10) != 0)
			ga_strv_push(ret, given.v[i]);
	ga_strv_pushf(ret, "GIT_AGENT_SESSION=%s", s->name);
	ga_strv_pushf(ret, "GIT_AGENT_PROJECT=%s", s->id.project);
	ga_strv_pushf(ret, "GIT_AGENT_STATE=%s",
		      ga_state_name(r ? s->state : GA_STATE_INTERRUPTED));
	ga_strv_pushf(ret, "GIT_AGENT_EXIT_STATUS=%d", s->run.exit_status);
	ga_strv_pushf(ret, "GIT_AGENT_FLAGS_OPEN=%zu", r ? ga_report_open(r) : 0);
}

/* Tell the user that a session without a terminal has ended, as the setting `notify` says; `r`
 * NULL: it could not be captured. Releases `st` if there is anything to do. */
static void cli_notify(const struct cli *c, struct ga_start *st, const struct ga_report *r)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT, env = GA_STRV_INIT;
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_free char *dir = ga_strdup(st->session.dir);
	struct ga_process p;
	int status = 0;

	if (!c->notify || !strcmp(c->notify, "none"))
		return;
	choose_words(c, &st->session, r, &words);
	choose_environment(&st->session, r, &env);
	/* release the session first: a notified program may use it at once */
	ga_start_release(st);
	p = (struct ga_process)GA_PROCESS(.argv = (const char *const *)words.v,
					  .envp = (const char *const *)env.v,
					  .timeout_ms = TIMEOUT_MS);
	if (ga_process_run(&p, &status, &err))
		(void)ga_journal(dir, "notify", json_pack("{s:s}", "failed", err.msg));
	else
		(void)ga_journal(dir, "notify", json_pack("{s:i}", "status", status));
}

#define COLUMNS 80
#define ROWS 24

static const int fatal[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* In the supervisor: leave the terminal, and tell the process that the user called, which
 * ends. */
static void leave_terminal(struct cli_detach *d, const struct ga_session *s)
{
	cleanup_close int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		(void)dup2(null, fd);
	(void)ga_write_full(d->fd, s->name, strlen(s->name) + 1);
	(void)close(ga_steal_fd(&d->fd));
	d->left = true;
}

/* Once the agent runs. */
static void begun(const struct ga_session *s, void *payload)
{
	struct cli_detach *d = payload;

	if (!d->left)
		leave_terminal(d, s);
}

static void choose_size(struct ga_detach *d)
{
	struct winsize ws;

	d->columns = COLUMNS;
	d->rows = ROWS;
	for (int fd = 0; fd <= 2; fd++) {
		if (ioctl(fd, TIOCGWINSZ, &ws) || !ws.ws_col || !ws.ws_row)
			continue;
		d->columns = ws.ws_col;
		d->rows = ws.ws_row;
		return;
	}
}

/* Close inherited descriptors, which must not stay open for a whole session: those without
 * close-on-exec, which all of ours have. */
static void close_inherited(int keep)
{
	cleanup_dir DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	while ((e = ga_dir_next(d))) {
		uint64_t fd;

		if (ga_parse_u64(e->d_name, INT32_MAX, &fd) && fd > STDERR_FILENO &&
		    (int)fd != keep && !fcntl((int)fd, F_GETFD))
			(void)close((int)fd);
	}
}

/* Once the user typed Ctrl-\ d. */
static void leave(const struct ga_session *s, void *payload)
{
	struct cli_detach *d = payload;

	cli_note("agent/%s: runs on; 'git agent attach %s' shows it, 'git agent stop %s' ends it",
		 s->name, s->name, s->name);
	(void)setsid();
	close_inherited(d->fd);
	leave_terminal(d, s);
}

/* In the child. Until begun() it ends if its parent does. */
static int become_supervisor(pid_t parent, const sigset_t *mask)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	if (getppid() != parent || setsid() < 0)
		_exit(ga_error_status(GA_ESTART));
	(void)sigprocmask(SIG_SETMASK, mask, NULL);
	return 0;
}

static int exit_status(pid_t pid)
{
	int st = 0;

	(void)TEMP_FAILURE_RETRY(waitpid(pid, &st, 0));
	return WIFSIGNALED(st) ? 128 + WTERMSIG(st) : WEXITSTATUS(st);
}

static void pass_on(int sigfd, pid_t pid)
{
	struct signalfd_siginfo si;

	while (read(sigfd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		(void)kill(pid, (int)si.ssi_signo);
}

/* Read the session's name from the supervisor, forwarding signals. False if it ended before. */
static bool read_name(int fd, int sigfd, pid_t pid, char name[GA_SESSION_NAME_MAX + 1])
{
	size_t n = 0;

	for (;;) {
		struct pollfd p[] = { { .fd = fd, .events = POLLIN },
				      { .fd = sigfd, .events = POLLIN } };
		ssize_t got;

		if (poll(p, GA_NELEMS(p), -1) < 0)
			continue;
		if (p[1].revents)
			pass_on(sigfd, pid);
		if (!p[0].revents)
			continue;
		got = read(fd, name + n, GA_SESSION_NAME_MAX + 1 - n);
		if (got > 0)
			n += (size_t)got;
		else if (!got || errno != EINTR)
			return n && !name[n - 1] && ga_session_name_ok(name);
	}
}

static int wait_for_begin(int fd, pid_t pid, const sigset_t *watch, bool quiet, int *ret_status,
			  struct ga_error *err)
{
	cleanup_close int sigfd = signalfd(-1, watch, SFD_CLOEXEC | SFD_NONBLOCK);
	char name[GA_SESSION_NAME_MAX + 1] = "";

	if (sigfd < 0)
		return ga_fail_errno(err, GA_ESTART, errno, "cannot open a signal descriptor");
	if (!read_name(fd, sigfd, pid, name)) {
		/* the supervisor has printed the error */
		*ret_status = exit_status(pid);
		return 1;
	}
	(void)printf("%s\n", name);
	if (!quiet)
		cli_note("agent/%s: runs; 'git agent attach %s' shows it, 'git agent stop %s' ends "
			 "it", name, name, name);
	return 1;
}

/* The same for a session on a terminal, which leaves it when the user types Ctrl-\ d: then the
 * process that git-agent made for that (CLI_KEEPER) ends. Without one it stays. */
static void may_leave(const struct cli *c, struct cli_detach *ret)
{
	*ret = (struct cli_detach){ .fd = c->keeper };
	if (c->keeper >= 0)
		ret->how = (struct ga_detach){ .leave = leave, .payload = ret };
}

static int cli_detach(struct cli *c, bool quiet, struct cli_detach *ret, struct ga_error *err)
{
	sigset_t watch, old;
	pid_t pid, parent = getpid();
	int p[2], rc;

	*ret = (struct cli_detach){ .how = { .now = true, .begun = begun, .payload = ret },
				    .fd = -1 };
	choose_size(&ret->how);
	/* children that git-agent began would end with this process */
	ga_run_finish(ga_steal(&c->begun));
	ga_gitconfig_abandon(ga_steal(&c->env.loading));
	if (pipe2(p, O_CLOEXEC))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot create a pipe");
	(void)sigemptyset(&watch);
	for (size_t i = 0; i < GA_NELEMS(fatal); i++)
		(void)sigaddset(&watch, fatal[i]);
	(void)sigprocmask(SIG_BLOCK, &watch, &old);
	pid = fork();
	if (!pid) {
		(void)close(p[0]);
		ret->fd = p[1];
		close_inherited(p[1]);
		return become_supervisor(parent, &old);
	}
	(void)close(p[1]);
	rc = pid < 0 ? ga_fail_errno(err, GA_ESTART, errno, "cannot create a process")
		     : wait_for_begin(p[0], pid, &watch, quiet, &c->status, err);
	(void)close(p[0]);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	return rc;
}

int cli_parse_filter(const char *value, bool detach, struct cli_filter *ret, struct ga_error *err)
{
	cleanup_free char *q = value ? ga_escape(value) : NULL;
	bool filter = true;

	if (value && (!*value || !ga_parse_bool(value, &filter)))
		return ga_fail(err, GA_EUSAGE, "--terminal-filter takes on or off, not '%s'", q);
	if (value && detach)
		return ga_fail(err, GA_EUSAGE, "--terminal-filter cannot be used with --detach: "
			       "there is no terminal" GA_HINT "give it to 'git agent attach'");
	*ret = (struct cli_filter){ .given = value != NULL, .off = !filter };
	return 0;
}

static bool unfiltered(const struct cli_filter *f, const struct ga_config *conf)
{
	return f->given ? f->off : !conf->terminal_filter;
}

int cli_session_unfiltered(struct cli *c, const struct cli_filter *f, const struct ga_session *s,
			   bool *ret, struct ga_error *err)
{
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;

	if (cli_settings(c, &s->id.onto, &conf, err))
		return -1;
	*ret = unfiltered(f, &conf);
	return 0;
}

void cli_apply_settings(struct cli *c, const struct ga_config *conf,
			const struct cli_filter *filter, struct ga_start_opts *ret)
{
	cli_take_settings(&c->env, conf);
	ret->unfiltered = unfiltered(filter, conf);
	free(c->notify);
	c->notify = ga_strdup(conf->notify);
	c->keep |= conf->keep_unchanged;
}

/* Set one key, and note it as KEY=VALUE in `ret`, for the session to be resumed with the same. */
static int set_word(struct ga_config *conf, struct ga_strv *ret, const char *key, const char *value,
		    struct ga_error *err)
{
	ga_strv_pushf(ret, "%s=%s", key, value);
	return ga_config_set_key(conf, key, value, err);
}

int cli_set_network(const struct cli_network *o, const struct ga_strv *former,
		    struct ga_config *conf, struct ga_strv *ret, struct ga_error *err)
{
	const char *mode = o->none ? "none" : o->mode;

	if (o->none && o->mode && strcmp(o->mode, "none") != 0)
		return ga_fail(err, GA_EUSAGE,
			       "--network and --no-network cannot be used together");
	if (!mode && !o->allow.n && former) {
		ga_strv_extend(ret, former);
		return ga_config_set_words(conf, former, err);
	}
	if (mode && strcmp(mode, "allow") != 0 && o->allow.n)
		return ga_fail(err, GA_EUSAGE, "--allow goes with --network allow only" GA_HINT
			       "without --network, --allow means just that");
	if ((mode || o->allow.n) &&
	    set_word(conf, ret, "network.mode", mode ? mode : "allow", err))
		return -1;
	for (size_t i = 0; i < o->allow.n; i++)
		if (set_word(conf, ret, "network.allow", o->allow.v[i], err))
			return -1;
	return 0;
}

void cli_apply_network(struct cli *c, const struct ga_config *conf, const struct ga_strv *options)
{
	free(c->allow_at);
	/* warn about an unused setting, unless the command line chose the other mode: the list may
	 * serve other sessions */
	c->allow_at = conf->net.allow.n && conf->net.mode != GA_NETWORK_ALLOW &&
		      ga_config_set_by(conf, "network.mode") != GA_ORIGIN_COMMAND ?
			      ga_config_place(conf, "network.allow") : NULL;
	c->env.net = (struct ga_env_network){
		.mode = (enum ga_network)conf->net.mode,
		.allow = &conf->net.allow,
		.sockets = &conf->net.sockets,
		.publish = &conf->net.publish,
		.allow_at = c->allow_at,
		.options = options,
		.by_repository = conf->net.mode > c->settings.net.mode,
	};
}

static bool is_there(const void *where, const char *path)
{
	cleanup_free char *full = ga_path_join(where, path);
	struct stat st;

	return !lstat(full, &st);
}

int cli_find_exposed(struct cli *c, const struct ga_strv *paths, struct ga_strv *ret,
		     struct ga_error *err)
{
	const char *workdir = ga_repo_info(c->env.repo)->workdir;

	for (size_t i = 0; i < paths->n; i++) {
		cleanup_free char *rel = cli_resolve_path(c, paths->v[i], is_there, workdir);

		for (size_t n = strlen(rel); n && rel[n - 1] == '/'; n--)
			rel[n - 1] = '\0';
		if (!ga_path_relative_ok(rel) || !is_there(workdir, rel))
			return ga_fail(err, GA_EUSAGE, "--expose: there is no '%s' in the project",
				       paths->v[i]);
		ga_strv_take(ret, ga_path_join(workdir, rel));
	}
	return 0;
}

int cli_apply_run(struct cli *c, const struct cli_run_options *o, struct cli_detach *detach,
		  struct ga_start_opts *so, struct cli_filter *ret_filter, struct ga_error *err)
{
	int rc;

	c->untrusted = o->untrusted;
	c->verbose = o->verbose;
	c->keep = o->keep;
	so->message = o->message;
	so->no_services = o->no_services;
	so->no_finish = o->no_finish;
	so->quiet = o->quiet;
	if (cli_parse_filter(o->filter, o->detach, ret_filter, err))
		return -1;
	if (!detach)
		return 0;
	so->detach = &detach->how;
	if (!o->detach) {
		may_leave(c, detach);
		return 0;
	}
	rc = cli_detach(c, o->quiet, detach, err);
	return rc < 0 ? cli_not_started(err) : rc;
}

void cli_show_progress(struct cli *c, bool quiet)
{
	c->env.progress = c->verbose || (c->env.progress && !quiet);
}

void cli_before_run(struct cli *c, bool quiet)
{
	if (geteuid() == 0 && !quiet)
		cli_note("warning: running as root: the sandbox holds, but an ordinary user is "
			 "safer");
	cli_show_progress(c, quiet);
}

/* Drop a session that changed nothing, if its command succeeded. First close its socket, which is
 * in the directory that moves. */
static void drop_unchanged(struct cli *c, struct ga_start *st, bool quiet)
{
	bool left = false;

	if (c->status < 0 || (!c->rm && (c->keep || c->status || st->stopped ||
					 cli_has_work(&st->session))))
		return;
	ga_control_close(ga_steal(&st->control));
	/* else the summary prints it */
	if (cli_drop_at_end(c, &st->session, &left) && left && quiet)
		cli_print_dropped(&st->session, left);
}

int cli_run_and_capture(struct cli *c, struct ga_start *st, bool quiet, struct ga_error *err)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	cleanup_error struct ga_error run_err = GA_ERROR_INIT;
	int rc;

	for (size_t i = 0; !quiet && i < st->banner.n; i++)
		cli_note("agent/%s: %s", st->session.name, st->banner.v[i]);
	rc = ga_start_run(&c->env, st, &c->status, &run_err);
	/* the agent was never started: there is nothing to capture */
	if (rc && st->session.state == GA_STATE_NEW) {
		(void)ga_error_move(err, &run_err);
		return cli_not_started(err);
	}
	if (ga_start_capture(&c->env, &st->session, st->lock, &st->sandbox, &r, err)) {
		if (!st->detach.now)
			return -1;
		/* without a terminal it goes to the journal and the notification */
		(void)ga_journal(st->session.dir, "capture",
				 json_pack("{s:s}", "failed", err->msg));
		cli_notify(c, st, NULL);
		return -1;
	}
	drop_unchanged(c, st, quiet || st->detach.now);
	if (st->detach.now) {
		cli_notify(c, st, &r);
		return 0;
	}
	if (!quiet && cli_summary(c, &st->session, &r, stderr, err))
		return -1;
	/* print errors, such as a service that ended, even with --quiet */
	for (size_t i = 0; quiet && i < st->session.run.remarks.n; i++)
		cli_note("agent/%s: %s", st->session.name, st->session.run.remarks.v[i]);
	if (quiet && st->session.view.incomplete)
		cli_note("agent/%s: session incomplete: %s", st->session.name,
			 st->session.view.incomplete);
	return rc ? ga_error_move(err, &run_err) : 0;
}
