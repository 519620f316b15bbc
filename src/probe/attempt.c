/* SPDX-License-Identifier: MIT
 *
 * Record attempts, and run them in child processes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

void attempt(struct result *r, bool ok, int errnum, const char *what, ...)
{
	va_list ap;

	if (r->failed)
		return;
	r->errnum = ok ? errnum : 0;
	r->failed = !ok;
	if (ok)
		return;
	va_start(ap, what);
	(void)vsnprintf(r->what, sizeof(r->what), what, ap);
	va_end(ap);
}

void attempt_call(struct result *r, long rc, const char *what)
{
	attempt(r, rc < 0, errno, "%s", what);
}

int in_child(long (*fn)(const void *arg), const void *arg)
{
	int p[2], status, e = -1;
	pid_t pid;

	if (pipe2(p, O_CLOEXEC))
		return errno;
	pid = fork();
	if (!pid) {
		e = fn(arg) < 0 ? errno : 0;
		_exit(write(p[1], &e, sizeof(e)) != (ssize_t)sizeof(e));
	}
	(void)close(p[1]);
	if (pid > 0 && read(p[0], &e, sizeof(e)) != (ssize_t)sizeof(e))
		e = -1;
	(void)close(p[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return EAGAIN;
	return WIFSIGNALED(status) ? KILLED + WTERMSIG(status) : e;
}

long slurp(const char *path, char *buf, size_t max)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got;

	if (fd < 0)
		return -1;
	while (n < max - 1 && (got = read(fd, buf + n, max - 1 - n)) > 0)
		n += (size_t)got;
	buf[n] = '\0';
	(void)close(fd);
	return (long)n;
}

bool starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

int connect_unix(const char *name, bool abstract)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t n = strlen(name), at = abstract ? 1 : 0;
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + at + n);
	int fd, e;

	if (at + n >= sizeof(a.sun_path))
		return ENAMETOOLONG;
	memcpy(a.sun_path + at, name, n);
	for (int type = SOCK_STREAM; type <= SOCK_SEQPACKET; type += SOCK_SEQPACKET - SOCK_STREAM) {
		fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
		if (fd < 0)
			return errno;
		e = connect(fd, (const struct sockaddr *)&a, len) ? errno : 0;
		(void)close(fd);
		if (e != EPROTOTYPE)
			break;
	}
	return e;
}

const char *env_value(const char *name)
{
	size_t n = strlen(name);

	for (char **e = environ; *e; e++)
		if (!strncmp(*e, name, n) && (*e)[n] == '=')
			return *e + n + 1;
	return NULL;
}
