/* SPDX-License-Identifier: MIT
 *
 * A command that was requested becomes a program, or says at which step it failed.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "init.h"
#include "renames.h"

struct request {
	char *bytes;
	size_t len, pos;
	char *cwd;
	char **argv, **envp;
};

/* Read the payload to end of file. Returns -1 with errno, E2BIG beyond the limit. */
static int read_payload(int fd, struct request *r)
{
	size_t cap = 0;

	for (;;) {
		ssize_t n;

		if (r->len == cap) {
			cap = cap ? cap * 2 : 64u << 10;
			if (cap > 2 * (size_t)GA_CTL_PAYLOAD_MAX) {
				errno = E2BIG;
				return -1;
			}
			r->bytes = realloc(r->bytes, cap);
			if (!r->bytes)
				return -1;
		}
		n = read(fd, r->bytes + r->len, cap - r->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (!n)
			break;
		r->len += (size_t)n;
	}
	if (r->len <= GA_CTL_PAYLOAD_MAX)
		return 0;
	errno = E2BIG;
	return -1;
}

static char *next_string(struct request *r)
{
	char *s = r->bytes + r->pos;
	char *end = r->pos < r->len ? memchr(s, '\0', r->len - r->pos) : NULL;

	if (!end)
		return NULL;
	r->pos = (size_t)(end - r->bytes) + 1;
	return s;
}

/* A count and that many strings; every string takes at least one byte. */
static char **next_vector(struct request *r)
{
	const char *count = next_string(r);
	char **v, *end;
	unsigned long n;

	if (!count || *count < '0' || *count > '9')
		return NULL;
	errno = 0;
	n = strtoul(count, &end, 10);
	if (errno || *end || n > r->len - r->pos)
		return NULL;
	v = calloc(n + 1, sizeof(*v));
	for (unsigned long i = 0; v && i < n; i++) {
		v[i] = next_string(r);
		if (!v[i])
			return NULL;
	}
	return v;
}

static int parse_request(struct request *r)
{
	r->cwd = next_string(r);
	r->argv = r->cwd ? next_vector(r) : NULL;
	r->envp = r->argv ? next_vector(r) : NULL;
	if (r->envp && r->argv[0] && r->pos == r->len)
		return 0;
	errno = EPROTO;
	return -1;
}

static void tell(int report, uint32_t step)
{
	struct exec_failure f = { .step = step, .errnum = errno };

	(void)TEMP_FAILURE_RETRY(write(report, &f, sizeof(f)));
}

void __attribute__((noreturn)) command_fail(int report, uint32_t step)
{
	tell(report, step);
	_exit(126);
}

bool read_failure(int fd, struct exec_failure *ret)
{
	ssize_t n = TEMP_FAILURE_RETRY(read(fd, ret, sizeof(*ret)));

	return n == (ssize_t)sizeof(*ret);
}

/* Reset all dispositions, as ignored signals would stay ignored through exec. */
static void default_signals(void)
{
	/* the kernel's struct sigaction, all zero: SIG_DFL. The raw call, because the C library
	 * refuses the two signals that it uses itself */
	static const unsigned long dfl[4];
	sigset_t none;

	for (int n = 1; n < NSIG; n++)
		(void)syscall(SYS_rt_sigaction, n, dfl, NULL, (size_t)8);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Enter the working directory, creating it if need be: git does not record empty directories, so
 * the one where the user is may be missing in the session. */
static int enter(char *cwd)
{
	if (!chdir(cwd))
		return 0;
	if (errno != ENOENT)
		return -1;
	for (char *p = strchr(cwd + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		(void)mkdir(cwd, 0777);
		*p = '/';
	}
	(void)mkdir(cwd, 0777);
	return chdir(cwd);
}

/* PWD is how the user spells the project. Make it that of the working directory, in `pwd`, as far
 * as it leads there; else there is none. */
static void spell(char **env, char pwd[2 * PATH_MAX])
{
	char here[PATH_MAX];
	struct stat want, st;

	while (*env && strncmp(*env, "PWD=", 4) != 0)
		env++;
	if (!*env || stat(".", &want) || !getcwd(here, sizeof(here)))
		return;
	for (size_t i = strlen(here) + 1; i--;) {
		if (here[i] && here[i] != '/')
			continue;
		(void)snprintf(pwd, (size_t)2 * PATH_MAX, "%s%s", *env, here + i);
		if (!stat(pwd + 4, &st) && st.st_dev == want.st_dev && st.st_ino == want.st_ino) {
			*env = pwd;
			return;
		}
	}
	do
		*env = env[1];
	while (*env++);
}

static void announce(int report, struct announced a)
{
	if (a.sock < 0 || !renames_announce(&a))
		return;
	tell(report, STEP_NO_RENAMES);
}

void command_exec(int payload, const int io[3], int report, struct announced a)
{
	char pwd[2 * PATH_MAX];
	struct request r = { 0 };

	if (read_payload(payload, &r) || parse_request(&r))
		command_fail(report, GA_CTL_STEP_SETUP);
	/* our descriptors are above 2 (main sees to that), so no dup2() overwrites another one's
	 * source */
	for (int i = 0; i < 3; i++)
		if (dup2(io[i], i) < 0)
			command_fail(report, GA_CTL_STEP_SETUP);
	if (enter(r.cwd))
		command_fail(report, GA_CTL_STEP_CWD);
	spell(r.envp, pwd);
	announce(report, a);
	default_signals();
	/* execvp() searches the PATH of environ, which must be the command's */
	environ = r.envp;
	(void)execvp(r.argv[0], r.argv);
	command_fail(report, GA_CTL_STEP_EXEC);
}
