/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ga/sys/fd.h"
#include "run/run-internal.h"

/* The one piece of state that a signal handler can reach: a program that dies of a signal must not
 * leave the user's terminal raw. Signals that it causes itself (SIGSEGV, SIGABRT) do not come
 * through a descriptor. And another process that watched for our death would change the terminal
 * after the shell, which waits for us, is in the foreground again. */
static struct {
	volatile sig_atomic_t armed;
	int fd;
	struct ga_termfilter *filter;
	struct termios saved;
	struct sigaction old[NSIG];
} rescue;

/* Signals that end a program and are not taken over by signals.c. */
static const int deadly[] = { SIGSEGV, SIGBUS,	SIGILL,	 SIGFPE,    SIGABRT, SIGSYS,  SIGTRAP,
			      SIGXCPU, SIGXFSZ, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2 };

static void rescue_modes(void)
{
	struct pollfd p = { .fd = rescue.fd, .events = POLLOUT };
	char end[GA_TERMFILTER_END];
	size_t n = rescue.filter ? ga_termfilter_end(rescue.filter, true, end) : 0;
	ssize_t done = 0;

	/* a terminal that takes nothing must not block us here */
	if (n && poll(&p, 1, 0) == 1)
		done = write(rescue.fd, end, n);
	(void)done;
}

static void rescue_terminal(int n)
{
	if (rescue.armed) {
		rescue.armed = 0;
		rescue_modes();
		(void)tcsetattr(rescue.fd, TCSANOW, &rescue.saved);
	}
	/* with SA_RESETHAND the default action follows */
	(void)raise(n);
}

static void arm(const struct run_terminal *t)
{
	struct sigaction sa = { .sa_handler = rescue_terminal, .sa_flags = (int)SA_RESETHAND };

	if (rescue.armed)
		return;
	rescue.fd = t->fd;
	rescue.saved = t->saved;
	rescue.filter = t->filter;
	for (size_t i = 0; i < GA_NELEMS(deadly); i++) {
		int n = deadly[i];

		/* a handler that exists already (a sanitizer's, say) stays */
		if (!sigaction(n, NULL, &rescue.old[n]) && rescue.old[n].sa_handler == SIG_DFL)
			(void)sigaction(n, &sa, NULL);
	}
	rescue.armed = 1;
}

static void disarm(void)
{
	if (!rescue.armed)
		return;
	rescue.armed = 0;
	for (size_t i = 0; i < GA_NELEMS(deadly); i++)
		(void)sigaction(deadly[i], &rescue.old[deadly[i]], NULL);
}

/* In the background the kernel stops us here until we are brought to the foreground, like any
 * program that sets the terminal. */
static int set(int fd, const struct termios *t)
{
	return (int)TEMP_FAILURE_RETRY(tcsetattr(fd, TCSADRAIN, t));
}

/* Block SIGTTOU, so that writing works in the background, too, whatever the terminal's settings. */
static void block_ttou(sigset_t *ret_old)
{
	sigset_t s;

	(void)sigemptyset(&s);
	(void)sigaddset(&s, SIGTTOU);
	(void)sigprocmask(SIG_BLOCK, &s, ret_old);
}

int run_open_again(int fd)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

void run_terminal_write(int fd, const char *p, size_t n)
{
	cleanup_close int own = run_open_again(fd);
	sigset_t old;

	block_ttou(&old);
	while (n) {
		struct pollfd pfd = { .fd = own < 0 ? fd : own, .events = POLLOUT };
		ssize_t k;

		if (poll(&pfd, 1, 1000) <= 0 || (pfd.revents & (POLLERR | POLLHUP | POLLNVAL)))
			break;
		k = write(pfd.fd, p, n);
		if (k < 0 && errno != EINTR && errno != EAGAIN)
			break;
		p += k > 0 ? k : 0;
		n -= k > 0 ? (size_t)k : 0;
	}
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
}

int run_terminal_raw(struct run_terminal *t)
{
	struct termios raw;

	if (!t->raw && tcgetattr(t->fd, &t->saved))
		return -1;
	raw = t->saved;
	cfmakeraw(&raw);
	arm(t);
	t->raw = true;
	return set(t->fd, &raw);
}

/* With SIGTTOU blocked this works in the background, too, and cannot stop us. */
void run_terminal_restore(struct run_terminal *t)
{
	sigset_t old;

	if (!t->raw)
		return;
	block_ttou(&old);
	/* not TCSADRAIN: a terminal that takes nothing must not block us here */
	(void)TEMP_FAILURE_RETRY(tcsetattr(t->fd, TCSANOW, &t->saved));
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	t->raw = false;
	disarm();
}

void run_pty_resize(const struct run_terminal *t, int master)
{
	struct winsize ws;

	if (!ioctl(t->fd, TIOCGWINSZ, &ws))
		(void)ioctl(master, TIOCSWINSZ, &ws);
}

/* What is typed on its way to a session, and our own keys in it: Ctrl-\ and then d. Terminals send
 * keys as bytes or, if the program asked for it, as sequences with the number of the key (CSI
 * number ; modifiers u, CSI 27 ; modifiers ; number ~). A sequence is recognised only if all of it
 * arrives at once, as it does in practice: the Escape key must not be delayed. */

#define CTRL_BACKSLASH '\034'
#define WITH_SHIFT 1u
#define WITH_CTRL 4u
#define WITH_LOCKS (64u | 128u)
#define RELEASE 3

struct key {
	unsigned code, modifiers, event;
	bool known; /* it is a key, not another sequence */
};

/* Parse "12:3;4:5" into numbers, those behind a colon into `sub`; returns how many there are, and
 * where they end. */
static size_t numbers(const char *in, size_t n, unsigned v[3], unsigned sub[3], size_t *ret_at)
{
	size_t at = 0, k = 0;
	unsigned *to = &v[0];

	memset(v, 0, 3 * sizeof(*v));
	memset(sub, 0, 3 * sizeof(*sub));
	for (; at < n && ((in[at] >= '0' && in[at] <= '9') || in[at] == ';' || in[at] == ':');
	     at++) {
		if (in[at] == ';') {
			if (++k == 3)
				break;
			to = &v[k];
		} else if (in[at] == ':') {
			to = &sub[k];
			*to = 0;
		} else if (*to < 100000) {
			*to = *to * 10 + (unsigned)(in[at] - '0');
		}
	}
	*ret_at = at;
	return k + 1;
}

/* Parse what follows CSI. Returns its length, 0 if it is not complete. */
static size_t read_sequence(const char *in, size_t n, struct key *ret)
{
	unsigned v[3], sub[3];
	size_t at, k = numbers(in, n, v, sub, &at), end = at;

	while (end < n && (in[end] < 0x40 || in[end] > 0x7e))
		end++;
	if (end >= n)
		return 0;
	if (end == at && in[at] == 'u')
		*ret = (struct key){ v[0], v[1] ? v[1] - 1 : 0, sub[1], true };
	else if (end == at && in[at] == '~' && k == 3 && v[0] == 27)
		*ret = (struct key){ v[2], v[1] ? v[1] - 1 : 0, 0, true };
	return end + 1;
}

/* Parse the key at `in`; returns its length in bytes. */
static size_t read_key(const char *in, size_t n, struct key *ret)
{
	size_t k;

	*ret = (struct key){ .known = false };
	if (n > 2 && in[0] == '\033' && in[1] == '[') {
		k = read_sequence(in + 2, n - 2, ret);
		if (k)
			return 2 + k;
	}
	if (in[0] == CTRL_BACKSLASH)
		*ret = (struct key){ '\\', WITH_CTRL, 0, true };
	else
		*ret = (struct key){ (unsigned char)in[0], 0, 0, true };
	return 1;
}

static bool is_prefix(const struct key *k)
{
	return k->known && k->code == '\\' &&
	       (k->modifiers & ~(WITH_LOCKS | WITH_SHIFT)) == WITH_CTRL;
}

/* Modifier keys alone do not count as the second key. */
static bool is_modifier(const struct key *k)
{
	return k->known && k->code >= 57441 && k->code <= 57454;
}

static bool is_detach(const struct key *k)
{
	return k->known && k->code == 'd' && !(k->modifiers & ~WITH_LOCKS);
}

bool run_keys(struct run_keys *k, const char *in, size_t n, char *out, size_t *ret_n)
{
	char *to = out;

	for (size_t at = 0, len; at < n; at += len) {
		struct key key;

		len = read_key(in + at, n - at, &key);
		if (k->n && key.known && !is_modifier(&key) && key.event != RELEASE) {
			if (is_detach(&key)) {
				*ret_n = (size_t)(to - out);
				return true;
			}
			memcpy(to, k->held, k->n);
			to += k->n;
			k->n = 0;
			/* typed twice: the program gets one */
			if (is_prefix(&key))
				continue;
		} else if (is_prefix(&key) && key.event != RELEASE && len <= sizeof(k->held)) {
			memcpy(k->held, in + at, len);
			k->n = len;
			continue;
		}
		memcpy(to, in + at, len);
		to += len;
	}
	*ret_n = (size_t)(to - out);
	return false;
}
