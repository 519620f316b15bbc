/* SPDX-License-Identifier: MIT
 *
 * Further commands in the sandbox of a session. A client that sent CONTROL_SHELL speaks with init
 * as the supervisor does (ga/run/init-protocol.h), relayed by us: it may ask for a terminal, start
 * one command and send that signals. What the command reads and writes does not pass through here.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/sys/fd.h"
#include "run/control-internal.h"

/* The end of a client. */

/* For a command whose client is gone: from SIGHUP to SIGKILL. */
#define GRACE_MS 10000

/* Its terminal, if it had one, is hung up already. */
static void shell_gone(struct ga_control *l, struct control_client *c)
{
	for (size_t i = 0; i < l->n_ptys; i++)
		if (l->ptys[i] == (int)(c - l->clients))
			l->ptys[i] = -1;
	if (!c->id || !l->s)
		return;
	run_send(l->s->sb, GA_CTL_SIGNAL, c->id, SIGHUP);
	run_send(l->s->sb, GA_CTL_SIGNAL, c->id, SIGCONT);
	c->deadline = ga_now_ms() + GRACE_MS;
}

void control_resume_shells(struct ga_control *l)
{
	if (l->stopped && l->s)
		l->s->resume(l->s->payload);
	l->stopped = false;
}

void control_drop(struct ga_control *l, struct control_client *c)
{
	bool typed = c->role == CONTROL_TYPES;

	if (c->fd < 0)
		return;
	(void)close(ga_steal_fd(&c->fd));
	if (c->role == CONTROL_COMMANDS)
		shell_gone(l, c);
	if (typed)
		control_resume_shells(l);
}

#define ENV_MAX (8 * CONTROL_BYTES)

/* Send the environment; each message contains whole variables. */
int control_shell_begin(struct ga_control *l, struct control_client *c)
{
	const char *const *env = l->s->envp;
	struct ga_ctl_msg m = { .type = CONTROL_ENV };
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	size_t sent = 0;

	for (; *env; env++) {
		size_t n = strlen(*env) + 1;

		if (n > CONTROL_BYTES || sent + b.len + n > ENV_MAX)
			continue;
		if (b.len + n > CONTROL_BYTES) {
			if (control_send(c->fd, &m, b.ptr, b.len, NULL, 0))
				return -1;
			sent += b.len;
			ga_buf_truncate(&b, 0);
		}
		ga_buf_add0(&b, *env);
	}
	return (b.len && control_send(c->fd, &m, b.ptr, b.len, NULL, 0)) ||
	       control_send(c->fd, &m, NULL, 0, NULL, 0) ? -1 : 0;
}

static bool is_pipe(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISFIFO(st.st_mode);
}

/* Is it the slave end of a pty, as a command gets? */
static bool is_pty(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISCHR(st.st_mode) && major(st.st_rdev) >= 136 &&
	       major(st.st_rdev) <= 143;
}

/* Accept only pipes and terminals into a sandbox. */
static size_t check_fds(const struct control_packet *p)
{
	bool tty = p->m.flags & GA_SPAWN_TTY;
	size_t n = 0, want = tty ? 2 : 4;

	while (n < CONTROL_FDS && p->fds[n] >= 0 &&
	       (tty && n == 1 ? is_pty(p->fds[n]) : is_pipe(p->fds[n])))
		n++;
	return n == want && (n == CONTROL_FDS || p->fds[n] < 0) ? n : 0;
}

static int send_failed(const struct control_client *c, uint32_t id, int errnum)
{
	struct ga_ctl_msg m = { .type = GA_CTL_FAILED, .id = id, .flags = GA_CTL_STEP_SETUP,
				.value = errnum };

	return control_send(c->fd, &m, NULL, 0, NULL, 0) ? -1 : 0;
}

static int spawn(struct ga_control *l, struct control_client *c, struct control_packet *p)
{
	struct ga_ctl_msg m = { .type = GA_CTL_SPAWN, .flags = p->m.flags & GA_SPAWN_TTY };
	size_t n = check_fds(p);

	if (c->id || !n)
		return -1;
	if (l->s->renames)
		m.flags |= GA_SPAWN_RENAMES | run_shares_flags(l->s->sb);
	m.id = ++l->s->sb->last_id;
	if (control_send(l->s->sb->ctl, &m, NULL, 0, p->fds, n))
		return errno == ETOOMANYREFS ? send_failed(c, p->m.id, errno) : -1;
	/* from now on init reports how it ends */
	c->theirs = p->m.id;
	c->id = m.id;
	return 0;
}

static int ask_pty(struct ga_control *l, struct control_client *c)
{
	if (c->waits_pty || l->n_ptys == CONTROL_CLIENTS)
		return -1;
	c->waits_pty = true;
	l->ptys[l->n_ptys++] = (int)(c - l->clients);
	run_send(l->s->sb, GA_CTL_PTY, 0, 0);
	return 0;
}

int control_shell_packet(struct ga_control *l, struct control_client *c, struct control_packet *p)
{
	if (p->n)
		return -1;
	switch (p->m.type) {
	case GA_CTL_PTY:
		return ask_pty(l, c);
	case GA_CTL_SPAWN:
		return spawn(l, c, p);
	case GA_CTL_SIGNAL:
	case GA_CTL_CONT:
		/* a command that has ended gets no signal */
		if (c->id && p->m.id == c->theirs)
			run_send(l->s->sb, p->m.type, c->id, p->m.value);
		return 0;
	default:
		return -1;
	}
}

/* Answers come in the order of the requests. */
static void on_pty(struct ga_control *l, const struct ga_ctl_msg *m, int fd)
{
	struct ga_ctl_msg copy = *m;
	int who = l->ptys[0], rc;

	memmove(l->ptys, l->ptys + 1, --l->n_ptys * sizeof(*l->ptys));
	if (who < 0)
		return;
	l->clients[who].waits_pty = false;
	rc = control_send(l->clients[who].fd, &copy, NULL, 0, &fd, fd >= 0 ? 1 : 0);
	if (rc < 0 && errno == ETOOMANYREFS) {
		copy.value = errno;
		rc = control_send(l->clients[who].fd, &copy, NULL, 0, NULL, 0);
	}
	if (rc)
		control_drop(l, &l->clients[who]);
}

bool control_shell_message(struct ga_control *l, const struct ga_ctl_msg *m, int *fd)
{
	struct ga_ctl_msg copy = *m;

	if (m->type == GA_CTL_PTY_OPEN) {
		if (l->n_ptys)
			on_pty(l, m, *fd);
		return true;
	}
	for (size_t i = 0; m->id && i < CONTROL_CLIENTS; i++) {
		struct control_client *c = &l->clients[i];

		if (c->id != m->id)
			continue;
		copy.id = c->theirs;
		if (m->type == GA_CTL_EXITED || m->type == GA_CTL_FAILED)
			c->id = 0;
		if (c->fd >= 0 && control_send(c->fd, &copy, NULL, 0, NULL, 0))
			control_drop(l, c);
		return true;
	}
	return false;
}

int64_t control_shell_next(const struct ga_control *l)
{
	int64_t next = 0;

	for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
		const struct control_client *c = &l->clients[i];

		if (c->fd < 0 && c->id && c->deadline && (!next || c->deadline < next))
			next = c->deadline;
	}
	return next;
}

void control_shell_tick(struct ga_control *l)
{
	for (size_t i = 0; l->s && i < CONTROL_CLIENTS; i++) {
		struct control_client *c = &l->clients[i];

		if (c->fd >= 0 || !c->id || !c->deadline || ga_now_ms() < c->deadline)
			continue;
		run_send(l->s->sb, GA_CTL_SIGNAL, c->id, SIGKILL);
		c->deadline = 0;
	}
}
