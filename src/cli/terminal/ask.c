/* SPDX-License-Identifier: MIT */
#include <termios.h>

#include "cli/cli.h"

#define LINE_MAX_BYTES 4096

static struct termios cooked, keys;
static volatile sig_atomic_t changed; /* the terminal has the mode `keys` */

static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP };

/* Signal handler: restore the terminal and raise the signal with its default action. After a stop
 * and SIGCONT, ask again. */
static void restore(int sig)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL }, was;
	int saved = errno;
	sigset_t set;

	if (changed)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &cooked);
	(void)sigaction(sig, &dfl, &was);
	(void)raise(sig);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, sig);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	/* stopped and continued */
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)sigaction(sig, &was, NULL);
	if (changed)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &keys);
	errno = saved;
}

static int print(const char *prompt, struct ga_error *err)
{
	if (fputs(prompt, stdout) < 0 || fflush(stdout))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot write");
	return 0;
}

/* Read one byte. 1: end of input, or the terminal hung up (EIO). */
static int read_byte(char *ret, struct ga_error *err)
{
	ssize_t n = TEMP_FAILURE_RETRY(read(STDIN_FILENO, ret, 1));

	if (n < 0 && errno != EIO)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read from the terminal");
	return n <= 0;
}

/* Read a line, without its newline; `*ret_end`: end of input. */
static int ask_line(const char *prompt, struct ga_buf *ret, bool *ret_end, struct ga_error *err)
{
	char c;
	int rc;

	*ret_end = false;
	if (print(prompt, err))
		return -1;
	while (!(rc = read_byte(&c, err)) && c != '\n')
		if (ret->len < LINE_MAX_BYTES)
			ga_buf_addch(ret, c);
	*ret_end = rc == 1;
	return rc < 0 ? -1 : 0;
}

/* Blocked while `changed` and the terminal may disagree, which the handler reads. */
static void block_signals(sigset_t *ret_old)
{
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < GA_NELEMS(signals); i++)
		(void)sigaddset(&set, signals[i]);
	(void)sigprocmask(SIG_BLOCK, &set, ret_old);
}

static void leave(const struct sigaction was[GA_NELEMS(signals)])
{
	sigset_t old;

	block_signals(&old);
	(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &cooked);
	changed = 0;
	for (size_t i = 0; i < GA_NELEMS(signals); i++)
		(void)sigaction(signals[i], &was[i], NULL);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
}

/* Enter the mode in which keys are read one by one; leave() goes back. After a failure nothing is
 * changed. */
static int enter(struct sigaction was[GA_NELEMS(signals)], struct ga_error *err)
{
	struct sigaction sa = { .sa_handler = restore, .sa_flags = SA_RESTART };
	sigset_t old;
	int rc;

	if (tcgetattr(STDIN_FILENO, &cooked))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot ask on the terminal");
	keys = cooked;
	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	keys.c_cc[VMIN] = 1;
	keys.c_cc[VTIME] = 0;
	block_signals(&old);
	for (size_t i = 0; i < GA_NELEMS(signals); i++)
		(void)sigaction(signals[i], &sa, &was[i]);
	rc = tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
	if (rc)
		(void)ga_fail_errno(err, GA_EFATAL, errno, "cannot ask on the terminal");
	changed = 1;
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	if (rc)
		leave(was);
	return rc;
}

static int ask_key(const char *prompt, struct ga_error *err)
{
	struct sigaction was[GA_NELEMS(signals)];
	char c = 0;
	int rc;

	if (enter(was, err))
		return -1;
	rc = print(prompt, err);
	if (!rc)
		rc = read_byte(&c, err);
	leave(was);
	if (rc < 0)
		return -1;
	/* not echoed by the terminal */
	(void)printf("%c\n", c >= ' ' && c < 0x7f ? c : ' ');
	/* in this mode ^D is an ordinary key */
	if (rc || c == '\004')
		return CLI_ASK_END;
	return c > ' ' ? c : 0;
}

int cli_ask(const char *prompt, bool single_key, struct ga_error *err)
{
	cleanup_buf struct ga_buf line = GA_BUF_INIT;
	const char *p;
	bool end;

	if (single_key)
		return ask_key(prompt, err);
	if (ask_line(prompt, &line, &end, err))
		return -1;
	if (end)
		return CLI_ASK_END;
	p = line.ptr + strspn(line.ptr, " \t");
	return *p > 0 ? *p : 0;
}
