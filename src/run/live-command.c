/* SPDX-License-Identifier: MIT
 *
 * A further command in the sandbox of a session: for ga_run_session(), the socket to the supervisor
 * looks like the one to init.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include "ga/base/clock.h"
#include "live-internal.h"

#define ANSWER_MS 20000
#define WORDS_MAX (8 * LIVE_BYTES)

static bool take_words(const struct live_packet *p, struct ga_strv *ret)
{
	size_t at = 0;

	while (at < p->n) {
		const char *end = memchr(p->bytes + at, '\0', p->n - at);

		if (!end)
			return false;
		ga_strv_push(ret, p->bytes + at);
		at = (size_t)(end - p->bytes) + 1;
	}
	return true;
}

/* Read the environment of the session's command. */
static int read_environment(int fd, struct ga_strv *ret, struct ga_error *err)
{
	int64_t deadline = ga_now_ms() + ANSWER_MS;

	for (;;) {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };
		struct live_packet p;
		int rc = live_recv(fd, &p);

		if (rc > 0)
			live_close_fds(&p);
		if (rc > 0 && p.m.type == LIVE_ENV && !p.n)
			return 0;
		if (rc < 0 || (rc > 0 && p.m.type == LIVE_EXITED) ||
		    (rc > 0 && p.m.type == LIVE_ENV && !take_words(&p, ret)))
			return ga_fail(err, GA_ESTART, "the session has just ended");
		if (!rc && poll(&pfd, 1, ga_poll_timeout(deadline)) <= 0 &&
		    ga_now_ms() >= deadline) {
			(void)ga_fail(err, GA_ESTART, "the session does not answer");
			return ga_hint(err, "it may be stopped, on another terminal");
		}
	}
}

/* Set TERM to the terminal it runs on, rather than the session's. */
static void set_term(struct ga_strv *env, const char *term)
{
	for (size_t i = 0; term && i < env->n; i++) {
		if (strncmp(env->v[i], "TERM=", 5))
			continue;
		free(env->v[i]);
		env->v[i] = ga_strf("TERM=%s", term);
		return;
	}
	if (term)
		ga_strv_pushf(env, "TERM=%s", term);
}

int ga_live_command(const struct ga_live_peer *p, const struct ga_run_command *c, const char *term,
		    int *ret_status, struct ga_error *err)
{
	cleanup_strv struct ga_strv env = GA_STRV_INIT;
	struct ga_run_command mine = *c;
	struct ga_sandbox *sb;
	int rc;

	/* requests follow HELLO, and are heard after its answer */
	if (live_say(p->fd, LIVE_SHELL, 0, 0) < 0)
		return ga_fail(err, GA_ESTART, "the session has just ended");
	if (read_environment(p->fd, &env, err))
		return -1;
	set_term(&env, term);
	mine.envp = (const char *const *)env.v;
	sb = run_sandbox_new();
	sb->elsewhere = true;
	sb->ctl = fcntl(p->fd, F_DUPFD_CLOEXEC, 3);
	rc = sb->ctl < 0 ? ga_fail_errno(err, GA_ESTART, errno, "cannot copy a descriptor")
			 : run_signals_take(sb, err);
	if (!rc)
		rc = ga_run_session(sb, &mine, ret_status, err);
	ga_run_finish(sb);
	return rc;
}
