/* SPDX-License-Identifier: MIT
 *
 * Finding sessions that run.
 */
#include <poll.h>

#include "cli/cli.h"
#include "cli/sessions.h"
#include "ga/base/clock.h"
#include "ga/base/parse.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"

/* While a session comes up, or its supervisor ends, nothing tells us when: look again. */
#define AGAIN_MS 20
/* A supervisor answers at once, unless it is stopped on its terminal. */
#define LOOK_MS 500
/* The same where it must answer: longer than it takes. */
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

void cli_look_live(const struct ga_session *s, struct ga_live_peer *ret)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	/* once its command has ended, the supervisor answers no more */
	if (s->state != GA_STATE_RUNNING || s->run.finished || s->id.within ||
	    ga_live_connect(s->dir, ret, &ignored))
		return;
	if (ga_live_ask(ret, LOOK_MS, &ignored))
		ga_live_peer_release(ret);
}

static int refuse_part(const struct ga_session *s, struct ga_error *err)
{
	(void)ga_fail(err, GA_EFATAL, "session '%s' is part of a superproject's session", s->name);
	return ga_hint(err, "run the command in the superproject");
}

/* State, lock and socket do not change in one step while a session starts or ends: look again until
 * they agree. */
int cli_pick_live(struct cli *c, const char *name, int ms, struct ga_session *ret, int *ret_lock,
		  struct ga_live_peer *peer, struct ga_error *err)
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
				return refuse_part(&s, err);
			rc = ga_live_connect(s.dir, peer, err);
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
		  struct ga_live_peer *peer, struct ga_error *err)
{
	int64_t deadline = ms < 0 ? 0 : ga_now_ms() + ms;
	int rc = 0;

	for (;;) {
		int left = ga_poll_timeout(deadline);

		if (peer->fd >= 0 && ga_live_wait(peer, left))
			return 2;
		ga_live_peer_release(peer);
		ga_session_release(ret);
		rc = cli_pick_live(c, name, ga_poll_timeout(deadline), ret, ret_lock, peer, err);
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
		     struct ga_live_peer *peer, struct ga_error *err)
{
	cleanup_free char *only = NULL;
	cleanup_close int lock = -1;
	int rc;

	if (!name) {
		if (cli_only_running(c, &only, err))
			return -1;
		name = only;
	}
	rc = cli_pick_live(c, name, CLI_COME_UP_MS, ret, &lock, peer, err);
	if (rc <= 0)
		return rc;
	if (rc == 2)
		return ga_fail(err, GA_EFATAL, "session '%s' does not come up",
			       name ? name : "");
	(void)ga_fail(err, GA_EFATAL, "session '%s' does not run: it is %s", ret->name,
		      ga_state_name(ret->state));
	return ga_hint(err, "'git agent resume %s' goes on with it", ret->name);
}

/* The terminal to attach to is the agent's, and there is none before it begins or after it ends. */
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

int cli_ask_detached(const struct ga_session *s, struct ga_live_peer *peer, struct ga_error *err)
{
	int rc = ga_live_ask(peer, ANSWER_MS, err);

	if (rc > 0)
		return ga_fail(err, GA_EFATAL, "session '%s' does not answer: it is about to end",
			       s->name);
	if (rc < 0)
		return rc;
	if (peer->is.detached && (peer->is.before || peer->is.after))
		return refuse_without_agent(peer->is.before, s->name, err);
	if (peer->is.detached)
		return 0;
	(void)ga_fail(err, GA_EFATAL, "session '%s' is on the terminal that it was started on",
		      s->name);
	return ga_hint(err, "Ctrl-\\ d there leaves it; 'git agent logs -f %s' shows its output",
		       s->name);
}
