/* SPDX-License-Identifier: MIT
 *
 * The client's side of ga/run/live.h, for those that do not watch the output.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "live-internal.h"

/* From SIGKILL of the command until it must be gone, with a margin. */
#define SLACK_MS 8000

void ga_live_peer_release(struct ga_live_peer *p)
{
	ga_cleanup_closep(&p->fd);
	*p = (struct ga_live_peer)GA_LIVE_PEER_INIT;
}

int ga_live_connect(const char *dir, struct ga_live_peer *ret, struct ga_error *err)
{
	*ret = (struct ga_live_peer)GA_LIVE_PEER_INIT;
	ret->fd = live_dial(dir, &ret->pid);
	if (ret->fd >= 0) {
		(void)live_say(ret->fd, LIVE_HELLO, LIVE_VERSION, 0);
		return 0;
	}
	if (errno == ENOENT || errno == ECONNREFUSED)
		return 1;
	return ga_fail_path(err, errno, "reach the session of", dir);
}

int live_wait(int fd, struct live_packet *p, int64_t deadline)
{
	for (;;) {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };
		int rc = live_recv(fd, p);

		if (rc)
			return rc;
		if (poll(&pfd, 1, ga_poll_timeout(deadline)) == 0)
			return 0;
		if (deadline && ga_now_ms() >= deadline)
			return 0;
	}
}

int live_fail(struct ga_error *err)
{
	(void)ga_fail(err, GA_EFATAL, "the session does not talk to us");
	return ga_hint(err, "it has just ended, or another version of git-agent runs it");
}

/* It was installed anew, or another one is first in PATH. */
static int fail_version(const struct ga_live_peer *p, struct ga_error *err)
{
	cleanup_free char *link = ga_strf("/proc/%d/exe", (int)p->pid), *q = NULL;
	char program[PATH_MAX + 1] = "";

	(void)TEMP_FAILURE_RETRY(readlink(link, program, PATH_MAX));
	q = ga_escape(program);
	(void)ga_fail(err, GA_EFATAL, "another version of git-agent runs the session: '%s'", q);
	return ga_hint(err, "'kill %d' ends it, and its work is captured", (int)p->pid);
}

int ga_live_ask(struct ga_live_peer *p, unsigned ms, struct ga_error *err)
{
	int64_t deadline = ga_now_ms() + ms;
	struct live_packet k;
	int rc = live_wait(p->fd, &k, deadline);

	if (!rc)
		return 1;
	if (rc > 0)
		live_close_fds(&k);
	if (rc < 0 || k.m.type == LIVE_EXITED)
		return rc < 0 ? live_fail(err) : 1;
	if (k.m.type == LIVE_STATUS && k.m.value != LIVE_VERSION)
		return fail_version(p, err);
	if (k.m.type != LIVE_STATUS || k.n != sizeof(p->is))
		return live_fail(err);
	memcpy(&p->is, k.bytes, sizeof(p->is));
	return 0;
}

/* Wait for a packet of a type. 1: the supervisor is gone; 2: neither happened until then. */
static int wait_for(const struct ga_live_peer *p, uint32_t type, int64_t deadline)
{
	struct live_packet k;

	do {
		int rc = live_wait(p->fd, &k, deadline);

		if (rc <= 0)
			return rc ? 1 : 2;
		live_close_fds(&k);
	} while (k.m.type != type);
	return 0;
}

int ga_live_wait(const struct ga_live_peer *p, int ms)
{
	/* nothing is sent that has the type of a question */
	return wait_for(p, LIVE_HELLO, ms < 0 ? 0 : ga_now_ms() + ms) == 2;
}

void ga_live_stop(const struct ga_live_peer *p, unsigned ms)
{
	/* a peer that is gone is noticed when waiting for it */
	(void)live_say(p->fd, LIVE_STOP, (int32_t)ms, 0);
}

int ga_live_wait_exit(const struct ga_live_peer *p, unsigned ms)
{
	return wait_for(p, LIVE_EXITED, ga_now_ms() + ms + SLACK_MS);
}

int ga_live_send(const struct ga_live_peer *p, const char *text, size_t n, struct ga_error *err)
{
	struct ga_ctl_msg m = { .type = LIVE_SEND };

	if (!live_send(p->fd, &m, text, n, NULL, 0) &&
	    !wait_for(p, LIVE_DONE, ga_now_ms() + SLACK_MS))
		return 0;
	(void)ga_fail(err, GA_EFATAL, "the session took no input");
	return ga_hint(err, "it reads none, has just ended, or another version of git-agent runs "
			    "it");
}

/* The output of a running session, for a client that only reads it. */

static int show(const struct ga_live_watch *w, struct ga_termfilter *f, const struct live_packet *p)
{
	char out[GA_TERMFILTER_ROOM(LIVE_BYTES)];

	return w->output(w->payload, out, ga_termfilter(f, p->bytes, p->n, out));
}

/* Returns 1 if there is no more. */
static int on_packet(const struct ga_live_watch *w, struct ga_termfilter *f, bool *begun,
		     const struct live_packet *p)
{
	switch (p->m.type) {
	case LIVE_RESET:
		*f = (struct ga_termfilter)GA_TERMFILTER_INIT;
		if (*begun && w->missed)
			w->missed(w->payload);
		*begun = true;
		return 0;
	case LIVE_OUTPUT:
		return show(w, f, p);
	case LIVE_DONE:
	case LIVE_EXITED:
		return 1;
	default:
		return 0;
	}
}

int ga_live_watch(const struct ga_live_peer *p, const struct ga_live_watch *w)
{
	struct ga_termfilter f = GA_TERMFILTER_INIT;
	bool begun = false;
	int rc = 0;

	if (live_say(p->fd, LIVE_WATCH, w->follow, 0) < 0)
		return GA_LIVE_OVER;
	while (!rc) {
		struct live_packet k;

		rc = live_wait(p->fd, &k, 0);
		if (rc < 0)
			break;
		live_close_fds(&k);
		rc = on_packet(w, &f, &begun, &k);
	}
	if (rc < 0 && !begun)
		return GA_LIVE_OVER;
	return rc == GA_LIVE_UNREAD ? GA_LIVE_UNREAD : 0;
}

/* A further command in the sandbox of a session: for ga_run_session(), the socket to the supervisor
 * looks like the one to init. */

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
		struct live_packet p;
		int rc = live_wait(fd, &p, deadline);

		if (rc > 0)
			live_close_fds(&p);
		if (rc > 0 && p.m.type == LIVE_ENV && !p.n)
			return 0;
		if (rc < 0 || (rc > 0 && p.m.type == LIVE_EXITED) ||
		    (rc > 0 && p.m.type == LIVE_ENV && !take_words(&p, ret)))
			return ga_fail(err, GA_ESTART, "the session has just ended");
		if (!rc) {
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
