/* SPDX-License-Identifier: MIT
 *
 * Choose sessions, and find running ones.
 */
#include <poll.h>

#include "cli/cli.h"
#include "ga/on/on.h"
#include "ga/run/run.h"
#include "ga/session/session.h"
#include "ga/trash/trash.h"

int cli_capture_interrupted(struct cli *c, struct ga_session *s, int lock, struct ga_error *err)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT;

	cli_note("session '%s' was %s; capturing what it left", s->name,
		 s->damaged ? "damaged" : "interrupted");
	if (cli_session_settings(c, s, err))
		return -1;
	c->captured = true;
	return ga_start_capture(&c->env, s, lock, NULL, &r, err);
}

/* How long to wait for another command that holds a session's lock for a moment, as a list of all
 * sessions does. */
#define BUSY_MS 10000
#define BUSY_STEP_NS 10000000

bool cli_is_running(const struct ga_session *s)
{
	return s->state == GA_STATE_NEW ||
	       (s->state == GA_STATE_RUNNING && ga_run_alive(s->run.pid, s->run.pidns));
}

/* Beyond the depth of submodules that a start allows. */
#define DEPTH_MAX 100

/* Is it running, with a supervisor? If that was killed, the sandbox is about to end, and another
 * command may hold the lock while waiting for that. */
static bool is_supervised(const struct ga_session *s)
{
	cleanup_control_peer struct ga_control_peer peer = GA_CONTROL_PEER_INIT;
	cleanup_free char *dir = ga_strdup(s->id.within ? s->id.within : s->dir);

	/* the supervisor listens in the directory of the outermost session this is a part of */
	for (int depth = 0; s->id.within && depth < DEPTH_MAX; depth++) {
		cleanup_session struct ga_session above = GA_SESSION_INIT;

		if (ga_session_load_from(dir, s->name, &above, GA_IGNORED) || !above.id.within)
			break;
		free(dir);
		dir = ga_steal(&above.id.within);
	}
	return s->state == GA_STATE_RUNNING && cli_is_running(s) &&
	       ga_control_connect(dir, &peer, GA_IGNORED) <= 0;
}

/* Take the lock. 1: the session runs, or another command keeps the lock for too long; 2: the
 * session is gone. Reloads `s`. */
static int lock(struct cli *c, struct ga_session *s, bool wait, int *ret_lock, struct ga_error *err)
{
	cleanup_free char *name = ga_strdup(s->name);
	int64_t now = ga_now_ms(), say = now + BUSY_MS, until = say;

	for (;;) {
		struct timespec t = { 0, BUSY_STEP_NS };
		int rc = ga_session_lock(s, false, ret_lock, err);

		now = ga_now_ms();
		/* another command is capturing it, which may take long but does not wait for a
		 * user */
		if (s->state == GA_STATE_RUNNING)
			until = now + BUSY_MS;
		if (rc != 1 || !wait || is_supervised(s) || now > until)
			return rc;
		if (now > say) {
			cli_note("session '%s' is being captured by another command: waiting for "
				 "it", name);
			say = INT64_MAX;
		}
		(void)nanosleep(&t, NULL);
		ga_session_release(s);
		rc = ga_session_load(c->env.state_dir, name, s, err);
		if (rc)
			return rc < 0 ? -1 : 2;
	}
}

int cli_load_session(struct cli *c, const char *name, bool capture, struct ga_session *ret,
		     int *ret_lock, struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_close int fd = -1;
	int rc = ga_session_load(c->env.state_dir, name, &s, err);

	if (rc)
		return rc;
	if (s.state == GA_STATE_DROPPED)
		return cli_finish_drop(c, name, err) < 0 ? -1 : 1;
	rc = lock(c, &s, capture, &fd, err);
	if (rc < 0)
		return -1;
	if (rc == 2)
		return 1;
	if (ga_wip_attach(c->env.repo, &s, err))
		return -1;
	if (rc) {
		ga_report_load(c->env.repo, &s);
		*ret = s;
		s = (struct ga_session)GA_SESSION_INIT;
		return 2;
	}
	/* another command may have finished it between our reading and locking */
	ga_session_release(&s);
	rc = ga_session_load(c->env.state_dir, name, &s, err);
	if (rc)
		return rc;
	rc = ga_start_recover(&c->env, &s, err);
	if (rc)
		return rc;
	if (s.state == GA_STATE_INTERRUPTED && capture && cli_capture_interrupted(c, &s, fd, err))
		return -1;
	*ret = s;
	s = (struct ga_session)GA_SESSION_INIT;
	*ret_lock = ga_steal_fd(&fd);
	return 0;
}

const char *cli_plain_name(const char *word)
{
	return strncmp(word, "agent/", 6) ? word : word + 6;
}

char *cli_resolve_path(const struct cli *c, const char *path,
		       bool (*known)(const void *where, const char *path), const void *where)
{
	cleanup_free char *cwd = getcwd(NULL, 0), *below = NULL;
	const char *prefix = cwd ? ga_path_below(cwd, ga_repo_info(c->env.repo)->workdir) : NULL;

	while (!strncmp(path, "./", 2))
		path += 2;
	if (prefix && *prefix && !known(where, path)) {
		below = ga_path_join(prefix, path);
		if (known(where, below))
			return ga_steal(&below);
	}
	return ga_strdup(path);
}

char *cli_path_from_top(const struct ga_repo *r, const char *path)
{
	const char *root = ga_repo_info(r)->workdir, *dir;
	cleanup_free char *cwd = getcwd(NULL, 0);

	if (!*path)
		return NULL;
	if (path[0] == '/') {
		dir = "";
		path = ga_path_below(path, root);
	} else {
		dir = cwd ? ga_path_below(cwd, root) : NULL;
	}
	if (!dir || !path)
		return NULL;
	return ga_path_resolve(dir, path + strspn(path, "/"));
}

/* Does a session of that name exist only in the trash? Read it into `ret`. */
static bool cli_find_trashed(struct cli *c, const char *name, struct ga_session *ret)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;

	name = cli_plain_name(name);
	return ga_session_load(c->env.state_dir, name, &s, GA_IGNORED) == 1 &&
	       !ga_trash_load(c->env.state_dir, name, NULL, ret, GA_IGNORED) &&
	       !strcmp(ret->name, name);
}

static int no_such_session(struct cli *c, const char *name, struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	const char *near;

	if (cli_find_trashed(c, name, &s))
		return ga_fail(err, GA_EFATAL, "session '%s' is in the trash" GA_HINT
			       "'git agent drop --restore %s' restores it, 'git agent resume "
			       "%s' also continues it", name, name, name);
	if (ga_session_names(c->env.state_dir, &names, err))
		return -1;
	(void)ga_fail(err, GA_EFATAL, "there is no session '%s'", name);
	near = ga_nearest(name, (const char *const *)names.v, names.n);
	if (near)
		return ga_hint(err, "did you mean '%s'?", near);
	return ga_hint(err, "'git agent list' shows the sessions of this repository");
}

int cli_check_names(struct cli *c, size_t n, char **names, struct ga_error *err)
{
	for (size_t i = 0; i < n; i++) {
		cleanup_session struct ga_session s = GA_SESSION_INIT;
		const char *name = cli_plain_name(names[i]);

		if (ga_session_load(c->env.state_dir, name, &s, GA_IGNORED) == 1)
			return no_such_session(c, name, err);
	}
	return 0;
}

int cli_sessions_where(struct cli *c, bool (*is)(const struct ga_session *s, bool running),
		       struct ga_strv *ret, struct ga_error *err)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;

	if (ga_session_names(c->env.state_dir, &names, err))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		cleanup_session struct ga_session s = GA_SESSION_INIT;
		cleanup_close int lock = -1;
		int rc = cli_load_session(c, names.v[i], false, &s, &lock, err);

		if (rc < 0)
			return -1;
		if (rc != 1 && is(&s, rc == 2))
			ga_strv_push(ret, names.v[i]);
	}
	return 0;
}

static bool is_open(const struct ga_session *s, bool running)
{
	(void)running;
	return s->state != GA_STATE_LANDED && s->state != GA_STATE_DROPPED;
}

static bool is_over(const struct ga_session *s, bool running)
{
	return !running && is_open(s, running);
}

/* Keep those that are running or have work. */
static int find_with_work(struct cli *c, const struct ga_strv *open, struct ga_strv *ret,
			struct ga_error *err)
{
	for (size_t i = 0; i < open->n; i++) {
		cleanup_session struct ga_session s = GA_SESSION_INIT;
		int rc = ga_session_load(c->env.state_dir, open->v[i], &s, err);

		if (rc < 0)
			return -1;
		if (rc)
			continue;
		ga_report_load(c->env.repo, &s);
		if (cli_has_running_state(&s) || cli_has_work(&s))
			ga_strv_push(ret, open->v[i]);
	}
	return 0;
}

#define CANDIDATES 6

/* List the candidates, one per line. */
static int fail_many(struct cli *c, const struct ga_strv *names, struct ga_error *err)
{
	(void)ga_fail(err, GA_EUSAGE, "there are %zu sessions: say which", names->n);
	for (size_t i = 0; i < names->n && i < CANDIDATES; i++) {
		cleanup_session struct ga_session s = GA_SESSION_INIT;
		int rc = ga_session_load(c->env.state_dir, names->v[i], &s, GA_IGNORED);
		cleanup_free char *command = NULL;

		if (rc < 0)
			continue;
		command = ga_quote_shell_words(&s.id.command);
		command[strcspn(command, "\n")] = '\0';
		(void)ga_hint_more(err, "%-16s %-10s %s", names->v[i],
				   rc ? "elsewhere" : ga_state_name(s.state), command);
	}
	if (names->n > CANDIDATES)
		return ga_hint_more(err, "and %zu more: 'git agent list'", names->n - CANDIDATES);
	return ga_hint(err, "'git agent list' shows them");
}

int cli_pick_only(struct cli *c, bool running_too, char **ret, struct ga_error *err)
{
	cleanup_strv struct ga_strv open = GA_STRV_INIT, with_work = GA_STRV_INIT;
	cleanup_ons struct ga_ons elsewhere = GA_ONS_INIT;
	const struct ga_strv *of = &open;

	if (cli_sessions_where(c, running_too ? is_open : is_over, &open, err) ||
	    ga_on_list(c->env.state_dir, &elsewhere, err) ||
	    (open.n + elsewhere.n > 1 && find_with_work(c, &open, &with_work, err)))
		return -1;
	for (size_t i = 0; i < elsewhere.n; i++)
		if (elsewhere.v[i].runs)
			ga_strv_push(&with_work, elsewhere.v[i].name);
	ga_strv_sort_unique(&with_work);
	if (with_work.n)
		of = &with_work;
	if (of->n == 1) {
		*ret = ga_strdup(of->v[0]);
		return 0;
	}
	if (!of->n)
		return ga_fail(err, GA_ENEGATIVE, "there is no session to work on" GA_HINT
			       "'git agent list' shows all, 'git agent start COMMAND' makes one");
	return fail_many(c, of, err);
}

static int pick(struct cli *c, const char *name, bool running_too, bool capture,
		struct ga_session *ret, int *ret_lock, struct ga_error *err)
{
	cleanup_free char *only = NULL;
	int rc;

	*ret_lock = -1;
	if (!name) {
		if (cli_pick_only(c, running_too, &only, err))
			return -1;
		name = only;
	}
	name = cli_plain_name(name);
	rc = cli_load_session(c, name, capture, ret, ret_lock, err);
	if (rc < 0)
		return -1;
	if (rc == 1)
		return no_such_session(c, name, err);
	if (rc != 2 || running_too)
		return 0;
	/* its lock is held by its supervisor, or by a command that waits for its user */
	if (cli_has_running_state(ret))
		return ga_fail(err, GA_EFATAL, "session '%s' is running" GA_HINT "end the agent "
			       "first; 'git agent diff %s' shows what it did so far", ret->name,
			       ret->name);
	return ga_fail(err, GA_EFATAL, "another command is using session '%s'" GA_HINT
		       "end that first, such as a 'git agent review -i' in another terminal",
		       ret->name);
}

int cli_peek_session(struct cli *c, const char *name, struct ga_session *ret,
		     struct ga_error *err)
{
	cleanup_close int lock = -1;

	return pick(c, name, true, false, ret, &lock, err);
}

int cli_read_session(struct cli *c, const char *name, struct ga_session *ret, int *ret_lock,
		     struct ga_error *err)
{
	if (pick(c, name, true, false, ret, ret_lock, err))
		return -1;
	return *ret_lock >= 0 && ret->state == GA_STATE_INTERRUPTED
		       ? cli_capture_interrupted(c, ret, *ret_lock, err) : 0;
}

int cli_pick_session(struct cli *c, const char *name, bool running_too, struct ga_session *ret,
		     int *ret_lock, struct ga_error *err)
{
	return pick(c, name, running_too, true, ret, ret_lock, err);
}

bool cli_has_running_state(const struct ga_session *s)
{
	return s->state == GA_STATE_NEW || s->state == GA_STATE_RUNNING;
}

/* Poll interval while a session starts or its supervisor ends. */
#define AGAIN_MS 20
/* A supervisor answers within this time unless it is stopped. */
#define LOOK_MS 500
/* The same where an answer is required. */
#define ANSWER_MS 5000
#define TIMEOUT_MAX (7 * 86400)

int cli_parse_timeout(const char *value, int otherwise, int *ret, struct ga_error *err)
{
	cleanup_free char *q = value ? ga_escape(value) : NULL;
	uint64_t seconds;

	*ret = otherwise;
	if (!value)
		return 0;
	if (!ga_parse_seconds(value, TIMEOUT_MAX, &seconds))
		return ga_fail(err, GA_EUSAGE, "--timeout takes seconds, or 5m, not '%s'", q);
	*ret = (int)(seconds * 1000);
	return 0;
}

void cli_query_supervisor(const struct ga_session *s, struct ga_control_peer *ret)
{
	/* after its command has ended, the supervisor does not answer */
	if (s->state != GA_STATE_RUNNING || s->run.finished || s->id.within ||
	    ga_control_connect(s->dir, ret, GA_IGNORED))
		return;
	if (ga_control_ask(ret, LOOK_MS, GA_IGNORED))
		ga_control_peer_release(ret);
}

/* State, lock and socket do not change atomically while a session starts or ends: retry until they
 * agree. */
int cli_connect_or_lock(struct cli *c, const char *name, int ms, struct ga_session *ret,
			int *ret_lock, struct ga_control_peer *peer, struct ga_error *err)
{
	int64_t deadline = ms < 0 ? 0 : ga_now_ms() + ms;

	for (;;) {
		cleanup_session struct ga_session s = GA_SESSION_INIT;
		cleanup_close int lock = -1;
		int rc = cli_pick_session(c, name, true, &s, &lock, err);

		if (rc)
			return -1;
		if (lock < 0 && cli_has_running_state(&s)) {
			if (s.id.within)
				return ga_fail(err, GA_EFATAL, "session '%s' is part of a "
					       "superproject's session" GA_HINT "run the command "
					       "in the superproject", s.name);
			rc = ga_control_connect(s.dir, peer, err);
			if (rc < 0)
				return -1;
		}
		if (!rc || !cli_has_running_state(&s) || lock >= 0) {
			rc = lock >= 0 || !cli_has_running_state(&s);
			*ret = s;
			s = (struct ga_session)GA_SESSION_INIT;
			*ret_lock = ga_steal_fd(&lock);
			return rc;
		}
		if (deadline && ga_now_ms() >= deadline)
			return 2;
		(void)poll(NULL, 0, AGAIN_MS);
	}
}

int cli_wait_over(struct cli *c, const char *name, int ms, struct ga_session *ret, int *ret_lock,
		  struct ga_control_peer *peer, struct ga_error *err)
{
	int64_t deadline = ms < 0 ? 0 : ga_now_ms() + ms;
	int rc = 0;

	for (;;) {
		int left = ga_poll_timeout(deadline);

		if (peer->fd >= 0 && ga_control_wait(peer, left))
			return 2;
		ga_control_peer_release(peer);
		ga_session_release(ret);
		rc = cli_connect_or_lock(c, name, ga_poll_timeout(deadline), ret, ret_lock, peer,
					 err);
		if (rc < 0 && name && cli_find_trashed(c, name, ret)) {
			ga_error_release(err);
			return 1;
		}
		if (rc)
			return rc;
		/* its supervisor is about to end, or it was resumed: wait for that too */
		(void)poll(NULL, 0, AGAIN_MS);
	}
}

bool cli_runs(const struct ga_session *s, bool running)
{
	return running && cli_has_running_state(s) && !s->id.within;
}

int cli_only_running(struct cli *c, char **ret, struct ga_error *err)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;

	if (cli_sessions_where(c, cli_runs, &names, err))
		return -1;
	*ret = names.n == 1 ? ga_strdup(names.v[0]) : NULL;
	return 0;
}

int cli_pick_running(struct cli *c, const char *name, struct ga_session *ret,
		     struct ga_control_peer *peer, struct ga_error *err)
{
	cleanup_free char *only = NULL;
	cleanup_close int lock = -1;
	int rc;

	if (!name) {
		if (cli_only_running(c, &only, err))
			return -1;
		name = only;
	}
	rc = cli_connect_or_lock(c, name, CLI_COME_UP_MS, ret, &lock, peer, err);
	if (rc <= 0)
		return rc;
	if (rc == 2)
		return ga_fail(err, GA_EFATAL, "session '%s' does not come up",
			       name ? name : "");
	return ga_fail(err, GA_EFATAL, "session '%s' does not run: it is %s" GA_HINT
		       "'git agent resume %s' continues it", ret->name,
		       ga_state_name(ret->state), ret->name);
}

/* The agent's terminal exists only while the agent is running. */
static int refuse_without_agent(bool before, const char *name, struct ga_error *err)
{
	(void)ga_fail(err, GA_EFATAL, before ?
		      "the agent of session '%s' has not begun: what is run before it still runs" :
		      "the agent of session '%s' has ended: what is run after it still runs", name);
	return ga_hint(err, before ? "'git agent logs -f %s' shows that, and once the agent runs "
				     "'git agent attach %s' attaches" :
				     "'git agent logs -f %s' shows that, 'git agent wait %s' waits "
				     "for its end", name, name);
}

int cli_ask_detached(const struct ga_session *s, struct ga_control_peer *peer, struct ga_error *err)
{
	int rc = ga_control_ask(peer, ANSWER_MS, err);

	if (rc > 0)
		return ga_fail(err, GA_EFATAL, "session '%s' does not answer: it is about to end",
			       s->name);
	if (rc < 0)
		return rc;
	if (peer->is.detached && (peer->is.before || peer->is.after))
		return refuse_without_agent(peer->is.before, s->name, err);
	if (peer->is.detached)
		return 0;
	return ga_fail(err, GA_EFATAL, "session '%s' is on the terminal that it was started on"
		       GA_HINT "Ctrl-\\ d there leaves it; 'git agent logs -f %s' shows its output",
		       s->name, s->name);
}

int cli_restore_trashed(struct cli *c, const char *name, struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;

	return name && cli_find_trashed(c, name, &s) &&
	       cli_restore(&c->env, s.name, NULL, err) ? -1 : 0;
}
