/* SPDX-License-Identifier: MIT
 *
 * git-agent-probe NAME=VALUE...: run inside a session, try what an agent might, and print a line
 * for each id of docs/threats.md: "ID\tHELD\tERRNO\tWHAT", HELD being "held", "failed" or "absent".
 * `git agent doctor --deep` runs it; it exits 1 if anything failed.
 *
 * git-agent-probe --linger FILE: make FILE, then wait to be killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

#define LIST_MAX 128

static const struct {
	const char *id;
	probe_fn *fn;
	const char *what;
} probes[] = {
	{ "SB-01", probe_caps, "no capability, and none to be had" },
	{ "SB-02", probe_namespaces, "no further namespaces" },
	{ "SB-03", probe_masks, "what is hidden stays hidden" },
	{ "SB-05", probe_environment, "nothing of the host's environment" },
	{ "SB-06", probe_descriptors, "no descriptor of the host's" },
	{ "SB-07", probe_keyring, "no key of the host's" },
	{ "SB-08", probe_sockets, "no socket by its path" },
	{ "SB-09", probe_abstract, "no abstract socket" },
	{ "SB-10", probe_bus, "no D-Bus, no systemd" },
	{ "SB-11", probe_display, "no display, no sound" },
	{ "SB-12", probe_agents, "no ssh-agent, no gpg-agent" },
	{ "SB-13", probe_proc, "/proc shows and changes nothing outside" },
	{ "SB-14", probe_devices, "no devices, no /sys" },
	{ "SB-15", probe_processes, "pid 1 cannot be read or traced" },
	{ "SB-16", probe_setuid, "no set-uid program works" },
	{ "SB-17", probe_table, "refused system calls, in every ABI" },
	{ "SB-18", probe_scope, "Landlock scopes sockets and signals" },
	{ "SB-19", probe_pivots, "no other way to the host's files" },
	{ "SB-22", probe_helpers, "our own programs cannot be written" },
	{ "TT-01", probe_typing, "nothing types into a terminal" },
	{ "TT-02", probe_console, "nothing changes a console" },
	{ "PS-03", probe_credentials, "no credentials beside the toolchains" },
};
#define N_PROBES (sizeof(probes) / sizeof(probes[0]))

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

/* ---- what the host will look for afterwards ---------------------------------- */

/* Being able to create it does not tell whether it reaches the host: that is checked there. */
static void leave_traces(const struct facts *f)
{
	for (const char **d = f->dirs; f->token && *d; d++) {
		char path[4096];
		int n = snprintf(path, sizeof(path), "%s/git-agent-probe-%s", *d, f->token), fd;

		if (n < 0 || (size_t)n >= sizeof(path))
			continue;
		fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
		if (fd >= 0)
			(void)close(fd);
	}
}

/* ---- --------------------------------------------------------------------------- */

static const char *errno_name(int e, char buf[16])
{
	static const struct {
		int e;
		const char *name;
	} names[] = {
		{ 0, "-" }, { EPERM, "EPERM" }, { ENOENT, "ENOENT" }, { EACCES, "EACCES" },
		{ ESRCH, "ESRCH" }, { EBUSY, "EBUSY" }, { ENOSYS, "ENOSYS" }, { EROFS, "EROFS" },
		{ ENOTTY, "ENOTTY" }, { EXDEV, "EXDEV" }, { ENOSPC, "ENOSPC" },
		{ ECONNREFUSED, "ECONNREFUSED" }, { EAFNOSUPPORT, "EAFNOSUPPORT" },
		{ EPROTONOSUPPORT, "EPROTONOSUPPORT" }, { EIO, "EIO" }, { EINVAL, "EINVAL" },
		{ KILLED + SIGSYS, "SIGSYS" }, { KILLED + SIGSEGV, "SIGSEGV" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].e == e)
			return names[i].name;
	(void)snprintf(buf, 16, "%d", e);
	return buf;
}

static void print(const char *id, const struct result *r, const char *what)
{
	char number[16];

	(void)printf("%s\t%s\t%s\t%s%s%s\n", id,
		     r->failed ? "failed" : r->absent ? "absent" : "held",
		     errno_name(r->errnum, number), what, r->failed ? ": " : "",
		     r->failed ? r->what : "");
}

static int linger(const char *file)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return 1;
	(void)close(fd);
	for (;;)
		(void)pause();
}

struct lists {
	const char *dirs[LIST_MAX + 1], *hidden[LIST_MAX + 1], *programs[LIST_MAX + 1];
};

static bool push(const char **list, const char *value)
{
	size_t n = 0;

	while (list[n])
		n++;
	if (n == LIST_MAX)
		return false;
	list[n] = value;
	return true;
}

static bool take_fact(struct facts *f, const char *arg)
{
	const struct {
		const char *name;
		const char **one, **list;
	} names[] = {
		{ "token=", &f->token, NULL },	   { "socket=", &f->socket, NULL },
		{ "abstract=", &f->abstract, NULL }, { "key=", &f->key, NULL },
		{ "pidns=", &f->pidns, NULL },	   { "dir=", NULL, f->dirs },
		{ "hidden=", NULL, f->hidden },	   { "program=", NULL, f->programs },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i].name);

		if (strncmp(arg, names[i].name, n) != 0)
			continue;
		if (names[i].list)
			return push(names[i].list, arg + n);
		*names[i].one = arg + n;
		return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	static struct lists lists;
	struct facts f = { .dirs = lists.dirs, .hidden = lists.hidden,
			   .programs = lists.programs };
	int status = 0;

	if (argc == 3 && !strcmp(argv[1], "--linger"))
		return linger(argv[2]);
	for (int i = 1; i < argc; i++) {
		if (!take_fact(&f, argv[i])) {
			(void)fprintf(stderr, "usage: git-agent-probe NAME=VALUE...\n"
					      "git-agent runs this program\n");
			return 129;
		}
	}
	leave_traces(&f);
	for (size_t i = 0; i < N_PROBES; i++) {
		struct result r = { .failed = false };

		probes[i].fn(&f, &r);
		print(probes[i].id, &r, probes[i].what);
		status = r.failed ? 1 : status;
		/* so that a child that is killed later does not print it again */
		(void)fflush(stdout);
	}
	return ferror(stdout) ? 1 : status;
}
