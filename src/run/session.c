/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/sys/fd.h"
#include "run-internal.h"

/* From being asked to end until it is killed, and from then until it must be gone. */
#define HANGUP_GRACE_MS 10000
#define KILL_GRACE_MS 5000
/* The same for an auxiliary command. */
#define BESIDE_GRACE_MS 5000
/* From the request until it must be executed. */
#define START_MS 20000
/* More than a pty buffers in one direction. */
#define PTY_LEFTOVER ((size_t)64 << 10)

static void release_stream(struct run_stream *st)
{
	run_stream_close(st);
	free(st->filter);
}

static void session_release(struct session *s)
{
	for (int i = OUT; s->streams && i < N_STREAMS; i++)
		run_stream_undo(&s->streams[i], i);
	run_terminal_restore(&s->term);
	for (size_t i = 0; s->streams && i < N_STREAMS; i++)
		release_stream(&s->streams[i]);
	free(s->streams);
	ga_cleanup_closep(&s->master);
}

/* ---- what happens */

/* Tell the command to end, and kill it if it does not. Some programs end only on SIGTERM. */
static void end_within(void *payload, unsigned ms)
{
	struct session *s = payload;
	int64_t now = ga_now_ms();

	/* 0 means none */
	if (s->exited || s->killed || (s->deadline && s->deadline <= now + ms))
		return;
	if (!s->deadline) {
		run_send(s->sb, GA_CTL_SIGNAL, s->id, SIGHUP);
		run_send(s->sb, GA_CTL_SIGNAL, s->id, SIGCONT);
	}
	s->deadline = now + ms;
	s->term_at = now + ms / 2;
}

static void end(struct session *s)
{
	if (!s->deadline)
		end_within(s, HANGUP_GRACE_MS);
}

static void hang_up(struct session *s)
{
	ga_run_ignore_hangup();
	if (!s->tty) {
		end(s);
		return;
	}
	if (s->deadline)
		return;
	s->deadline = ga_now_ms() + HANGUP_GRACE_MS;
	/* the kernel tells the session leader inside, which tells the command */
	run_stream_close(&s->streams[IN]);
	run_stream_close(&s->streams[OUT]);
	ga_cleanup_closep(&s->master);
}

/* Release the caller's terminal. On failure nothing changes. */
static void detach_terminal(struct session *s)
{
	struct run_stream *in = &s->streams[IN], *out = &s->streams[OUT];
	cleanup_close int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int typed;

	in->leave = false;
	if (null < 0 || s->exited || run_control_detach(s->control, &typed, GA_IGNORED))
		return;
	run_stream_undo(out, OUT);
	run_terminal_write(OUT, "\r\n", 2);
	run_terminal_restore(&s->term);
	free(out->filter);
	run_stream_turn(out, ga_steal_fd(&null));
	in->from = typed;
	in->keys = NULL;
	s->term = (struct run_terminal){ .fd = -1 };
	s->detached = s->control_session.detached = true;
	s->c->leave(s->c->payload);
}

static void go_raw(struct session *s)
{
	if (s->term.fd < 0 || s->exited || s->master < 0)
		return;
	(void)run_terminal_raw(&s->term);
	session_resize(s);
}

static void continue_command(void *payload)
{
	const struct session *s = payload;

	run_send(s->sb, GA_CTL_CONT, s->id, 0);
}

/* Ctrl-Z inside stops us as well, in front of the shell we were started from, or the attached
 * client. */
static void suspend(struct session *s)
{
	/* if it stopped itself no shell could continue it */
	if (s->c->auxiliary && !s->suspended) {
		continue_command(s);
		return;
	}
	s->suspended = false;
	if (s->detached) {
		if (!run_control_stopped(s->control))
			continue_command(s);
		return;
	}
	run_terminal_restore(&s->term);
	run_signals_suspend(s->sb);
	go_raw(s);
	continue_command(s);
}

/* A second signal does not wait. */
static void end_beside(struct session *s, int n)
{
	int64_t now = ga_now_ms();

	run_send(s->sb, GA_CTL_SIGNAL, s->id, n);
	run_send(s->sb, GA_CTL_SIGNAL, s->id, SIGCONT);
	s->term_at = s->signal ? 0 : now + BESIDE_GRACE_MS / 2;
	s->deadline = s->signal ? now : now + BESIDE_GRACE_MS;
	s->signal = n;
}

static void on_signal(struct session *s, int n)
{
	if (s->c->auxiliary && n != SIGWINCH && n != SIGCONT && n != SIGTSTP) {
		end_beside(s, n);
		return;
	}
	switch (n) {
	case SIGWINCH:
		if (s->master >= 0)
			session_resize(s);
		break;
	case SIGCONT:
		/* after a SIGSTOP, for which one cannot prepare, the shell has changed the
		 * terminal */
		go_raw(s);
		break;
	case SIGTSTP:
		/* without a terminal the command's group is orphaned and ignores SIGTSTP */
		s->suspended = true;
		run_send(s->sb, GA_CTL_SIGNAL, s->id, s->tty ? SIGTSTP : SIGSTOP);
		break;
	case SIGHUP:
		hang_up(s);
		break;
	default:
		s->signal = n;
		run_send(s->sb, GA_CTL_SIGNAL, s->id, n);
	}
}

static void on_signals(struct session *s)
{
	int n;

	while ((n = run_signals_act(s->sb))) {
		bool fatal = n != SIGWINCH && n != SIGCONT && n != SIGTSTP;

		/* the command has exited: the sender of the signal does not want its output */
		for (size_t i = 0; fatal && s->exited && i < N_STREAMS; i++)
			run_stream_close(&s->streams[i]);
		if (!s->exited)
			on_signal(s, n);
	}
}

/* The command's output is in the pipes by now; later output comes from its background processes,
 * which are not waited for. */
static void on_exit_status(struct session *s, int status)
{
	s->exited = true;
	s->status = status;
	run_stream_close(&s->streams[IN]);
	for (int i = OUT; i < N_STREAMS; i++) {
		struct run_stream *st = &s->streams[i];
		int n = 0;

		if (s->tty)
			run_stream_finish(st, PTY_LEFTOVER);
		else if (st->from >= 0 && !ioctl(st->from, FIONREAD, &n) && n >= 0)
			run_stream_finish(st, (size_t)n);
	}
}

static void on_start(struct session *s, const struct ga_ctl_msg *m)
{
	s->started = true;
	s->sb->is.no_renames = (int)m->flags;
	go_raw(s);
	if (s->c->started)
		s->c->started(s->c->payload);
}

static int on_one(struct session *s, const struct ga_ctl_msg *m, struct ga_error *err)
{
	/* what it writes from here on would not be found in its layers */
	if (m->type == GA_CTL_LOST)
		end(s);
	if (m->id != s->id)
		return 0;
	if (m->type == GA_CTL_FAILED)
		return run_spawn_failed(m, s->c->cwd, s->c->argv[0], err);
	if (m->type == GA_CTL_STARTED)
		on_start(s, m);
	else if (m->type == GA_CTL_STOPPED)
		suspend(s);
	else if (m->type == GA_CTL_EXITED)
		on_exit_status(s, m->value);
	return 0;
}

static int on_message(struct session *s, struct ga_error *err)
{
	for (;;) {
		cleanup_close int fd = -1;
		struct ga_ctl_msg m;
		int r = run_recv_fd(s->sb, &m, &fd, err);

		if (r <= 0)
			return r;
		/* further commands continue after this one ended, unless it is the last */
		if ((s->control && run_control_message(s->control, &m, &fd)) || s->exited)
			continue;
		if (on_one(s, &m, err))
			return -1;
	}
}

static int on_deadline(struct session *s, struct ga_error *err)
{
	if (!s->exited && s->term_at && ga_now_ms() >= s->term_at) {
		s->term_at = 0;
		run_send(s->sb, GA_CTL_SIGNAL, s->id, SIGTERM);
	}
	/* until then it cannot be interrupted or reached; this is not the command's fault, as
	 * others may have run before */
	if (!s->started && !s->exited && ga_now_ms() >= s->start_by)
		return ga_fail(err, GA_EFATAL, "the command is not started in the sandbox");
	if (s->exited || !s->deadline || ga_now_ms() < s->deadline)
		return 0;
	if (s->killed)
		return ga_fail(err, GA_EFATAL, "the command does not end");
	s->killed = true;
	s->deadline = ga_now_ms() + KILL_GRACE_MS;
	run_send(s->sb, GA_CTL_SIGNAL, s->id, SIGKILL);
	return 0;
}

static bool has_ended(const struct session *s)
{
	if (!s->exited)
		return false;
	for (size_t i = 0; i < N_STREAMS; i++)
		if (!run_stream_done(&s->streams[i]))
			return false;
	return true;
}

static int timeout(const struct session *s)
{
	const int64_t all[] = { s->exited ? 0 : s->deadline,
				s->exited ? 0 : s->term_at,
				s->tick,
				s->started || s->exited ? 0 : s->start_by,
				s->control ? run_control_next(s->control) : 0,
				run_relay_next(s->sb) };
	int64_t next = 0;

	for (size_t i = 0; i < N_STREAMS; i++)
		if (run_stream_stop_waiting(&s->streams[i]))
			return 0;
	for (size_t i = 0; i < GA_NELEMS(all); i++)
		if (all[i] && (!next || all[i] < next))
			next = all[i];
	return ga_poll_timeout(next);
}

static void on_tick(struct session *s)
{
	if (!s->tick || s->exited || ga_now_ms() < s->tick)
		return;
	s->tick = ga_now_ms() + s->c->tick_ms;
	if (s->c->written)
		*s->c->written = s->streams[OUT].total + s->streams[ERR].total;
	if (s->c->tick(s->c->payload)) {
		s->tick = 0;
		end(s);
	}
}

/* What to poll for: the sandbox, signals, its network, streams, services, and clients. */
enum { CTL, SIGNALS, RELAY, STREAMS, SERVICES = STREAMS + N_STREAMS * RUN_STREAM_POLLS,
       CONTROL = SERVICES + GA_RUN_SERVICES_MAX,
       N_POLLS = CONTROL + RUN_CONTROL_POLLS };

static size_t prepare_polls(const struct session *s, struct pollfd p[N_POLLS])
{
	p[CTL] = (struct pollfd){ .fd = s->sb->ctl, .events = POLLIN };
	/* until the command is executed, signals and clients wait */
	p[SIGNALS] = (struct pollfd){ .fd = s->started ? s->sb->sigfd : -1, .events = POLLIN };
	p[RELAY] = run_relay_poll(s->sb);
	for (size_t i = 0; i < N_STREAMS; i++)
		run_stream_poll(&s->streams[i], p + STREAMS + i * RUN_STREAM_POLLS);
	/* the caller's input is for a command that runs */
	if (!s->started)
		p[STREAMS + IN * RUN_STREAM_POLLS].fd = -1;
	/* and its output for a terminal that is raw by then */
	if (!s->started && s->term.fd >= 0)
		p[STREAMS + OUT * RUN_STREAM_POLLS].fd = -1;
	run_services_poll(s->sb, p + SERVICES);
	if (!s->control || !s->started)
		return CONTROL;
	run_control_poll(s->control, p + CONTROL);
	return N_POLLS;
}

static int loop(struct session *s, struct ga_error *err)
{
	struct pollfd p[N_POLLS];

	while (!has_ended(s)) {
		bool in_open = s->streams[IN].from >= 0;
		size_t n = prepare_polls(s, p);

		if (poll(p, n, timeout(s)) < 0) {
			if (errno != EINTR)
				return ga_fail_errno(err, GA_EFATAL, errno,
						     "cannot wait for the command");
			continue;
		}
		for (size_t i = 0; i < N_STREAMS; i++)
			run_stream_move(&s->streams[i], p + STREAMS + i * RUN_STREAM_POLLS);
		if (s->streams[IN].leave)
			detach_terminal(s);
		/* a terminal has no other end of file than being hung up */
		if (s->tty && in_open && s->streams[IN].from < 0 && !s->exited)
			hang_up(s);
		run_relay_serve(s->sb, &p[RELAY]);
		if (p[SIGNALS].revents)
			on_signals(s);
		if ((p[CTL].revents && on_message(s, err)) || on_deadline(s, err))
			return -1;
		run_services_move(s->sb, p + SERVICES);
		if (n == N_POLLS)
			run_control_move(s->control, p + CONTROL);
		on_tick(s);
	}
	return 0;
}

static int begin_control(struct session *s, const struct ga_run_command *c, struct ga_error *err)
{
	s->control_session = (struct run_control_session){
		.sb = s->sb,
		.envp = c->envp,
		.detached = s->detached,
		.renames = c->renames,
		.auxiliary = c->auxiliary,
		.after = c->after,
		.columns = c->columns,
		.rows = c->rows,
		.payload = s,
		.size = session_set_size,
		.stop = end_within,
		.resume = continue_command,
	};
	return c->control ? run_control_begin(c->control, &s->control_session, &s->streams[IN].from,
					      err)
			  : 0;
}

/* Open a pty or pipes, and start the command on the other ends. */
static int start(struct session *s, struct ga_error *err)
{
	const struct ga_run_command *c = s->c;
	uint32_t flags = (s->tty ? GA_SPAWN_TTY : 0) | (c->renames ? GA_SPAWN_RENAMES : 0);
	int theirs[3] = { -1, -1, -1 };
	int rc = session_open(s, theirs, err);

	if (!rc)
		rc = run_spawn(s->sb, flags, c->cwd, c->argv, c->envp, theirs, s->tty ? 1 : 3,
			       &s->id, err);
	for (size_t i = 0; i < GA_NELEMS(theirs); i++)
		ga_cleanup_closep(&theirs[i]);
	return rc;
}

/* If the command was told to end, no other command follows. */
static void end_control(const struct session *s, int status)
{
	const struct ga_run_command *c = s->c;

	if (c->control && c->auxiliary && !s->deadline)
		run_control_pause(c->control);
	else if (c->control)
		run_control_end(c->control, status);
}

void ga_run_relay(struct ga_sandbox *sb, struct ga_relay *r)
{
	sb->relay = r;
}

int ga_run_session(struct ga_sandbox *sb, const struct ga_run_command *c, int *ret_status,
		   struct ga_error *err)
{
	cleanup_(session_release) struct session s = {
		.sb = sb, .master = -1, .unfiltered = c->unfiltered, .c = c, .control = c->control,
		.tty = !c->auxiliary && (c->detached || (isatty(0) && isatty(1))),
		.detached = c->detached,
		.start_by = ga_now_ms() + START_MS,
		.tick = c->tick ? ga_now_ms() + c->tick_ms : 0,
		.term = { .fd = -1 },
		.sink = { .output = session_output }, .typed = { .output = session_typed },
	};
	int rc, n;

	s.sink.payload = s.typed.payload = &s;
	s.streams = ga_calloc(N_STREAMS, sizeof(*s.streams));
	for (size_t i = 0; i < N_STREAMS; i++)
		s.streams[i].from = s.streams[i].to = -1;
	s.term.fd = s.tty && !c->detached ? 0 : -1;
	rc = begin_control(&s, c, err) || start(&s, err) || loop(&s, err) ? -1 : 0;
	end_control(&s, rc ? -1 : s.status);
	if (rc)
		return -1;
	/* signals that came while the command ended were for the command */
	while ((n = run_signals_act(sb)))
		if (n != SIGWINCH && n != SIGCONT && n != SIGTSTP)
			s.signal = n;
	if (c->signal)
		*c->signal = s.signal;
	if (c->ended)
		*c->ended = s.deadline != 0;
	*ret_status = s.status;
	return 0;
}
