/* SPDX-License-Identifier: MIT
 *
 * Services: background commands that run until they are ended. Their output goes to files of
 * bounded size.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "run-internal.h"
#include "run/run-internal.h"

#define CHUNK ((size_t)16 << 10)
/* Bytes of one file; there are two, the current and the previous one. */
#define LOG_MAX ((uint64_t)4 << 20)
/* Bytes that are still read from a service that has ended. */
#define LAST ((size_t)64 << 10)

struct service {
	char *name;
	uint32_t id;
	int out;           /* our end of its output; -1: closed */
	int log;           /* -1: it cannot be written to */
	uint64_t logged;
	bool over, failed; /* `failed`: it was not executed, and `status` is an errno */
	int status;
	struct ga_tail tail;
};

struct run_services {
	int dir;
	size_t n;
	struct service v[GA_RUN_SERVICES_MAX];
};

static void open_log(const struct run_services *all, struct service *s)
{
	cleanup_free char *name = ga_strf("%s.log", s->name);
	cleanup_free char *old = ga_strf("%s.log.old", s->name);

	ga_cleanup_closep(&s->log);
	(void)renameat(all->dir, name, all->dir, old);
	s->log = openat(all->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	s->logged = 0;
}

static void log_output(const struct run_services *all, struct service *s, const char *p, size_t n)
{
	ga_tail_add(&s->tail, p, n);
	if (s->logged + n > LOG_MAX)
		open_log(all, s);
	/* on a write error only the log ends here; a full disk ends the session elsewhere */
	if (s->log >= 0 && !ga_write_full(s->log, p, n))
		s->logged += n;
}

/* One read. Returns false if there is nothing now, or ever. */
static bool take(const struct run_services *all, struct service *s)
{
	char buf[CHUNK];
	ssize_t n = s->out < 0 ? -1 : read(s->out, buf, sizeof(buf));

	if (n > 0)
		log_output(all, s, buf, (size_t)n);
	else if (s->out >= 0 && (!n || (errno != EAGAIN && errno != EINTR)))
		(void)close(ga_steal_fd(&s->out));
	return n > 0;
}

void run_services_poll(const struct ga_sandbox *sb, struct pollfd p[GA_RUN_SERVICES_MAX])
{
	for (size_t i = 0; i < GA_RUN_SERVICES_MAX; i++)
		p[i] = (struct pollfd){ .fd = sb->services && i < sb->services->n ?
					sb->services->v[i].out : -1, .events = POLLIN };
}

void run_services_move(const struct ga_sandbox *sb, const struct pollfd p[GA_RUN_SERVICES_MAX])
{
	for (size_t i = 0; sb->services && i < sb->services->n; i++)
		if (p[i].revents && p[i].fd == sb->services->v[i].out)
			(void)take(sb->services, &sb->services->v[i]);
}

void run_services_message(const struct ga_sandbox *sb, const struct ga_ctl_msg *m)
{
	for (size_t i = 0; sb->services && i < sb->services->n; i++) {
		struct service *s = &sb->services->v[i];

		if (s->id != m->id || s->over)
			continue;
		if (m->type == GA_CTL_STOPPED)
			run_send(sb, GA_CTL_CONT, s->id, 0);
		if (m->type != GA_CTL_EXITED && m->type != GA_CTL_FAILED)
			return;
		s->over = true;
		s->failed = m->type == GA_CTL_FAILED;
		s->status = m->value;
		/* other processes of the service may still write */
		for (size_t k = 0; k < LAST / CHUNK && take(sb->services, s); k++)
			;
	}
}

static int open_services(struct ga_sandbox *sb, const char *dir, struct ga_error *err)
{
	if (sb->services)
		return 0;
	sb->services = ga_calloc(1, sizeof(*sb->services));
	sb->services->dir = open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return sb->services->dir < 0 ? ga_fail_errno(err, GA_ESTART, errno, "cannot open '%s'", dir)
				     : 0;
}

/* Standard input is empty; one pipe takes all output. */
static int open_pipes(struct service *s, int theirs[3], struct ga_error *err)
{
	int in = -1, rc;

	rc = run_pipe(&in, &theirs[0], false, err) || run_pipe(&s->out, &theirs[1], true, err);
	theirs[2] = theirs[1];
	ga_cleanup_closep(&in);
	return rc ? -1 : 0;
}

int ga_run_service(struct ga_sandbox *sb, const struct ga_run_service *v, struct ga_error *err)
{
	int theirs[3] = { -1, -1, -1 };
	struct service *s;
	int rc;

	if (open_services(sb, v->log, err))
		return -1;
	if (sb->services->n == GA_RUN_SERVICES_MAX)
		GA_BUG("more services than there may be");
	s = &sb->services->v[sb->services->n];
	*s = (struct service){ .name = ga_strdup(v->name), .out = -1, .log = -1 };
	sb->services->n++;
	open_log(sb->services, s);
	rc = open_pipes(s, theirs, err);
	if (!rc)
		rc = run_spawn(sb, v->renames ? GA_SPAWN_RENAMES : 0, v->cwd, v->argv, v->envp,
			       theirs, 3, &s->id, err);
	ga_cleanup_closep(&theirs[0]);
	ga_cleanup_closep(&theirs[1]);
	/* a service that was never started has ended */
	s->over = s->failed = rc != 0;
	return rc;
}

size_t ga_run_services(const struct ga_sandbox *sb)
{
	return sb->services ? sb->services->n : 0;
}

void ga_run_service_state(const struct ga_sandbox *sb, size_t i, struct ga_run_service_state *ret)
{
	const struct service *s = &sb->services->v[i];

	*ret = (struct ga_run_service_state){ .over = s->over, .failed = s->failed,
					      .status = s->status, .tail = &s->tail };
}

void run_services_free(struct ga_sandbox *sb)
{
	struct run_services *all = sb->services;

	if (!all)
		return;
	for (size_t i = 0; i < all->n; i++) {
		ga_cleanup_closep(&all->v[i].out);
		ga_cleanup_closep(&all->v[i].log);
		free(all->v[i].name);
	}
	ga_cleanup_closep(&all->dir);
	free(all);
	sb->services = NULL;
}

bool run_services_over(const struct run_services *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (!all->v[i].over)
			return false;
	return true;
}

void run_services_signal(const struct ga_sandbox *sb, int n)
{
	for (size_t i = 0; i < sb->services->n; i++)
		if (!sb->services->v[i].over)
			run_send(sb, GA_CTL_SIGNAL, sb->services->v[i].id, n);
}
