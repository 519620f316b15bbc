/* SPDX-License-Identifier: MIT
 *
 * Drives a program on a pseudo terminal in steps, each with a deadline. The program's output is
 * copied to standard output. Exits 0 if every step succeeded, else 1 with the step that failed on
 * standard error.
 *
 *     ptydrive STEP... -- COMMAND [ARG...]
 *
 *     expect=TEXT     wait for TEXT in the output, after what the last expect matched
 *     send=TEXT       type it; \r \n \t \e \\ and \xNN are understood here and in expect
 *     resize=RxC      change the window's size; as the first step: the initial one (24x80)
 *     signal=NAME     INT, TERM, HUP, TSTP, CONT, WINCH, KILL, STOP, SEGV, ABRT or USR1, to the program itself
 *     mode=raw|cooked wait until the terminal is in this mode
 *     sleep=MS
 *     within=S        the deadline of the following steps in seconds (default 10)
 *     sh=COMMAND      run it in a shell, which must succeed; $PTYDRIVE_PID is the program's id
 *     close           hang up: close our end
 *     exit=N          wait until the program ends with exit status N, or 128 + signal
 *
 * After the last step the program is killed if it still runs. Of output that no step expected,
 * only the last MiB is kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "ga/base/buf.h"
#include "ga/base/parse.h"
#include "ga/sys/fd.h"

#define REMEMBERED ((size_t)1 << 20)

struct drive {
	int master; /* -1 once closed */
	pid_t pid;  /* 0 once reaped */
	int status;
	int64_t patience; /* milliseconds */
	struct ga_buf seen;
	size_t matched; /* length of the part of `seen` that steps have matched */
};

static int64_t now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int hex(char c)
{
	const char *digits = "0123456789abcdef", *p = c ? strchr(digits, c) : NULL;

	return p ? (int)(p - digits) : -1;
}

static void unescape(const char *s, struct ga_buf *out)
{
	static const char from[] = "rnte\\", to[] = "\r\n\t\033\\";

	for (; *s; s++) {
		const char *p;

		if (*s != '\\' || !s[1]) {
			ga_buf_addch(out, *s);
			continue;
		}
		s++;
		p = strchr(from, *s);
		if (p) {
			ga_buf_addch(out, to[p - from]);
		} else if (*s == 'x' && hex(s[1]) >= 0 && hex(s[2]) >= 0) {
			ga_buf_addch(out, (char)(hex(s[1]) * 16 + hex(s[2])));
			s += 2;
		} else {
			ga_buf_addch(out, *s);
		}
	}
}

static void forget(struct drive *d)
{
	size_t old = d->seen.len > 2 * REMEMBERED ? d->seen.len - REMEMBERED : 0;

	if (!old)
		return;
	memmove(d->seen.ptr, d->seen.ptr + old, d->seen.len - old);
	d->seen.len -= old;
	d->matched = d->matched > old ? d->matched - old : 0;
}

/* Read the output that comes within `ms`; false if none did. */
static bool pump(struct drive *d, int ms)
{
	struct pollfd p = { .fd = d->master, .events = POLLIN };
	char buf[65536];
	ssize_t n;

	if (poll(&p, 1, ms) <= 0 || !p.revents)
		return false;
	n = read(d->master, buf, sizeof(buf));
	if (n <= 0) {
		/* nobody has the other end open now; it may be opened again */
		(void)poll(NULL, 0, 5);
		return false;
	}
	(void)ga_write_full(1, buf, (size_t)n);
	ga_buf_add(&d->seen, buf, (size_t)n);
	forget(d);
	return true;
}

static bool reaped(struct drive *d)
{
	int st;

	if (!d->pid)
		return true;
	if (waitpid(d->pid, &st, WNOHANG) != d->pid)
		return false;
	d->pid = 0;
	d->status = WIFSIGNALED(st) ? 128 + WTERMSIG(st) : WEXITSTATUS(st);
	return true;
}

static bool step_expect(struct drive *d, const char *arg)
{
	cleanup_buf struct ga_buf want = GA_BUF_INIT;
	int64_t end = now_ms() + d->patience;

	unescape(arg, &want);
	for (;;) {
		const char *at = memmem(d->seen.ptr + d->matched, d->seen.len - d->matched, want.ptr, want.len);

		if (at) {
			d->matched = (size_t)(at - d->seen.ptr) + want.len;
			return true;
		}
		/* what was searched once need not be searched again */
		if (want.len && d->seen.len - d->matched >= want.len)
			d->matched = d->seen.len - want.len + 1;
		if (now_ms() >= end)
			return false;
		(void)pump(d, 50);
	}
}

/* A program that reads slowly must not keep us from reading its output. */
static bool step_send(struct drive *d, const char *arg)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	int64_t end = now_ms() + d->patience;
	size_t done = 0;

	unescape(arg, &text);
	while (done < text.len) {
		ssize_t n = write(d->master, text.ptr + done, text.len - done);

		if (n > 0)
			done += (size_t)n;
		else if (now_ms() >= end || (n < 0 && errno != EAGAIN && errno != EINTR))
			return false;
		else
			(void)pump(d, 20);
	}
	return true;
}

static bool step_resize(struct drive *d, const char *arg)
{
	cleanup_free char *rows = ga_strdup(arg);
	char *x = strchr(rows, 'x');
	struct winsize ws = { 0 };
	uint64_t r, c;

	if (!x)
		return false;
	*x = '\0';
	if (!ga_parse_u64(rows, 10000, &r) || !ga_parse_u64(x + 1, 10000, &c))
		return false;
	ws.ws_row = (unsigned short)r;
	ws.ws_col = (unsigned short)c;
	return !ioctl(d->master, TIOCSWINSZ, &ws);
}

static bool step_signal(struct drive *d, const char *arg)
{
	static const struct {
		const char *name;
		int n;
	} names[] = { { "INT", SIGINT },   { "TERM", SIGTERM }, { "HUP", SIGHUP },
		      { "TSTP", SIGTSTP }, { "CONT", SIGCONT }, { "WINCH", SIGWINCH },
		      { "KILL", SIGKILL }, { "STOP", SIGSTOP },
		      { "SEGV", SIGSEGV }, { "ABRT", SIGABRT }, { "USR1", SIGUSR1 } };

	for (size_t i = 0; i < GA_NELEMS(names); i++)
		if (!strcmp(names[i].name, arg))
			return d->pid && !kill(d->pid, names[i].n);
	return false;
}

static bool step_mode(struct drive *d, const char *arg)
{
	int64_t end = now_ms() + d->patience;
	bool want = !strcmp(arg, "cooked");

	while (now_ms() < end) {
		struct termios t;

		/* on Linux tcgetattr() of the master gives the other end's modes */
		if (!tcgetattr(d->master, &t) && !(t.c_lflag & ICANON) == !want && !(t.c_lflag & ISIG) == !want)
			return true;
		(void)pump(d, 10);
	}
	return false;
}

static bool step_sleep(struct drive *d, const char *arg)
{
	int64_t end;
	uint64_t ms;

	if (!ga_parse_u64(arg, 3600000, &ms))
		return false;
	for (end = now_ms() + (int64_t)ms; now_ms() < end;)
		(void)pump(d, 10);
	return true;
}

/* The program's output is not read meanwhile. */
static bool step_sh(struct drive *d, const char *arg)
{
	char pid[16];

	(void)snprintf(pid, sizeof(pid), "%d", (int)d->pid);
	return !setenv("PTYDRIVE_PID", pid, 1) && !system(arg);
}

static bool step_within(struct drive *d, const char *arg)
{
	uint64_t s;

	if (!ga_parse_u64(arg, 3600, &s))
		return false;
	d->patience = (int64_t)s * 1000;
	return true;
}

static bool step_close(struct drive *d, const char *arg)
{
	(void)arg;
	(void)close(d->master);
	d->master = -1;
	return true;
}

static bool step_exit(struct drive *d, const char *arg)
{
	int64_t end = now_ms() + 2 * d->patience;
	uint64_t want;

	if (!ga_parse_u64(arg, 255, &want))
		return false;
	while (!reaped(d) && now_ms() < end)
		(void)pump(d, 20);
	while (d->master >= 0 && pump(d, 0))
		;
	if (d->pid)
		(void)fprintf(stderr, "ptydrive: it still runs\n");
	else if (d->status != (int)want)
		(void)fprintf(stderr, "ptydrive: it ended with status %d\n", d->status);
	return !d->pid && d->status == (int)want;
}

static const struct {
	const char *name;
	bool (*run)(struct drive *, const char *);
} steps[] = {
	{ "expect", step_expect }, { "send", step_send },   { "resize", step_resize },
	{ "signal", step_signal }, { "mode", step_mode },   { "sleep", step_sleep },
	{ "sh", step_sh },	   { "within", step_within },
	{ "close", step_close },   { "exit", step_exit },
};

static bool run_step(struct drive *d, const char *step)
{
	size_t n = strcspn(step, "=");

	for (size_t i = 0; i < GA_NELEMS(steps); i++)
		if (strlen(steps[i].name) == n && !strncmp(steps[i].name, step, n))
			return steps[i].run(d, step[n] ? step + n + 1 : "");
	(void)fprintf(stderr, "ptydrive: no such step\n");
	return false;
}

static void become(int slave, char **argv)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int n = 1; n < NSIG; n++)
		(void)sigaction(n, &dfl, NULL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (setsid() < 0 || ioctl(slave, TIOCSCTTY, 0))
		_exit(125);
	for (int i = 0; i < 3; i++)
		if (dup2(slave, i) < 0)
			_exit(125);
	(void)execvp(argv[0], argv);
	_exit(127);
}

static bool start(struct drive *d, const char *size, char **argv)
{
	int slave;

	d->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (d->master < 0 || grantpt(d->master) || unlockpt(d->master))
		return false;
	slave = ioctl(d->master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0 || !step_resize(d, size))
		return false;
	d->pid = fork();
	if (!d->pid)
		become(slave, argv);
	(void)close(slave);
	return d->pid > 0;
}

int main(int argc, char **argv)
{
	struct drive d = { .master = -1, .patience = 10000, .seen = GA_BUF_INIT };
	const char *size = "24x80";
	int dash = 1, rc = 0;

	while (dash < argc && strcmp(argv[dash], "--"))
		dash++;
	if (dash + 1 >= argc) {
		(void)fprintf(stderr, "usage: ptydrive STEP... -- COMMAND [ARG...]\n");
		return 129;
	}
	if (!strncmp(argv[1], "resize=", 7))
		size = argv[1] + 7;
	if (!start(&d, size, argv + dash + 1)) {
		(void)fprintf(stderr, "ptydrive: cannot start '%s': %s\n", argv[dash + 1], strerror(errno));
		return 1;
	}
	for (int i = 1; i < dash && !rc; i++) {
		if (!run_step(&d, argv[i])) {
			(void)fprintf(stderr, "ptydrive: step %d failed: %s\n", i, argv[i]);
			rc = 1;
		}
	}
	if (d.pid) {
		(void)kill(d.pid, SIGKILL);
		(void)waitpid(d.pid, NULL, 0);
	}
	ga_buf_release(&d.seen);
	return rc;
}
